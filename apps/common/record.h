/* The record: one JSON object about a run. */
#ifndef COMMON_RECORD_H
#define COMMON_RECORD_H

#include <cjson/cJSON.h>
#include <evener.h>

/* Adds a number with 17 digits; null where it is not finite (JSON has none). */
void record_number(cJSON *object, const char *key, double value);
cJSON *record_numbers(const double *value, int n);

/* "machine" and "build" of a record. */
cJSON *record_machine(const evn_machine *machine);
cJSON *record_build(void);

/* The text of a record, to be freed; NULL if there is no memory. Consumes `root`. */
char *record_text(cJSON *root);

/* What each of the devices was asked to do, one object each. */
cJSON *record_devices(const evn_counts *device, int devices);

#endif
