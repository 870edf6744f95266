/* Common parts of `evener report`: checked records, and the page that shows them. */
#pragma once

#include <cjson/cJSON.h>
#include <evener/output.h>
#include <stdio.h>

/* -- records (report_record.c) -- */

/* Reads a record and checks it, as below; or a table, where the name ends with .csv. NULL after a
 * message. */
cJSON *report_read(const char *file);
/* The report_table.c part: a table of td-bem; NULL after a message. */
cJSON *report_table(const char *file);
/* 0 if all that the page shows is there and of the right kind, so that its script can trust it;
 * else EXIT_USAGE after a message that names `file`. */
int report_check(const char *file, const cJSON *record);

/* -- the page (report_page.c) -- */

/* Writes the page with these records in it, record[i] from file[i]. */
void report_page(FILE *out, int records, const cJSON *const *record, const char *const *file);
/* report_page() of one record that `maker` has made as `text`, with a check and a commit; 0, or an
 * exit status after a message. */
int report_made(evn_output *output, const char *maker, const char *text);
