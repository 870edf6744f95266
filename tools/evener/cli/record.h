/* The record: one JSON object about a run, on disk whole or not at all. */
#ifndef TOOL_RECORD_H
#define TOOL_RECORD_H

#include <cjson/cJSON.h>
#include <evener.h>
#include <stdio.h>

/* A file to be: written beside its place and renamed at the end, so that a failed run leaves an
 * earlier file whole. */
struct output {
    const char *path; /* "-": standard output */
    char *beside;
    int fd;
    FILE *stream;
};

/* Opens the file beside `path`; 0, or -1 after a message if it cannot be written there. path NULL
 * or "-": nothing to open. */
int output_open(struct output *o, const char *path);
/* A stream into it, for what is too long for one text; closed by commit or discard. NULL after a
 * message. */
FILE *output_stream(struct output *o);
/* Writes the text (NULL: no more than the stream has) and puts it in place; 0, or -1 after a
 * message. */
int output_commit(struct output *o, const char *text);
/* Leaves things as they were. */
void output_discard(struct output *o);

/* Adds a number with 17 digits; null where it is not finite (JSON has none). */
void record_number(cJSON *object, const char *key, double value);
cJSON *record_numbers(const double *value, int n);

/* The imbalance of the units' compute times; NAN without memory. */
double unit_imbalance(const evn_unit_stats *unit, int units);

/* "machine" and "build" of a record. */
cJSON *record_machine(const evn_machine *machine);
cJSON *record_build(void);

/* The text of a record, to be freed; NULL if there is no memory. Consumes `root`. */
char *record_text(cJSON *root);

/* What each of the devices was asked to do, one object each. */
cJSON *record_devices(const evn_counts *device, int devices);

#endif
