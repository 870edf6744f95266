/* Pieces of a record's text: keys with their values, each after a comma; and the beginnings and
 * ends of units and devices, which sessions over ranks write apart. */
#pragma once

#include <evener/record.h>
#include <stdio.h>

void put_key(FILE *out, const char *key);
void put(FILE *out, const char *key, double value);
void put_text(FILE *out, const char *key, const char *text);

/* A time that is never below 0, although a virtual clock and the wall's may differ so. */
void put_seconds(FILE *out, const char *key, double value);

/* A unit's entry up to its results, without its end; and these. */
void put_unit_description(FILE *out, const evn_recorded_unit *unit);
void put_unit_numbers(FILE *out, int tasks, double weight, const evn_unit_stats *stats);

/* A device's entry after its number, without its end. */
void put_device_counts(FILE *out, const evn_counts *counts);
