/* Phases of a run's time, printed and in the record. */
#pragma once

#include "common/run/run.h"
#include <cjson/cJSON.h>
#include <stdio.h>

/* Name and seconds of `count` phases; those without any are left out. */
void phases_print(FILE *out, int count, const char *(*name)(int), const double *seconds);
void phases_record(cJSON *root, int count, const char *(*name)(int), const double *seconds);

/* Prints the times of launches on timed devices, a table a device. */
void phases_print_devices(FILE *out, const struct run_result *r);
