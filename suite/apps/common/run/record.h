/* The record: one JSON object about a run. */
#pragma once

#include "common/run/run.h"
#include <cjson/cJSON.h>
#include <evener.h>
#include <evener/trace.h>
#include <stdio.h>

/* Adds a number with 17 digits; null where it is not finite (JSON has none). */
void record_number(cJSON *object, const char *key, double value);
cJSON *record_numbers(const double *value, int n);

/* "machine" and "build" of a record. */
cJSON *record_machine(const evn_machine *machine);
cJSON *record_build(void);

/* Results of a run, as keys of its record; `bytes`: of a task's data, for each of its weight. */
void record_result(cJSON *root, const struct run_result *result, const char *schedule,
                   const evn_problem *tasks, double bytes);

/* Adds what a trace has of the instances from `first` on: the bursts to a list; and the messages
 * between ranks that were there after the first of these bursts had begun. */
void record_bursts(cJSON *list, const evn_trace *trace, int first);
void record_messages(cJSON *list, const evn_trace *trace, int first);

/* A record with one list that may be too long for memory, written as it comes: first the keys
 * before it and its own, then one item after another, then the keys behind it. All take the objects
 * they are given. 0, or -1: it could not be written, or there was no memory. */
int record_list_begin(FILE *out, cJSON *before, const char *key);
int record_list_add(FILE *out, cJSON *item, long index);
int record_list_end(FILE *out, cJSON *behind);

/* The text of a record, to be freed; NULL if there is no memory. Consumes `root`. */
char *record_text(cJSON *root);
