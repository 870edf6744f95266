/* Parts of bench put: tables of three ways, and the way between devices of two ranks. */
#pragma once

#include "bench/pair.h"

enum { PUT_WAYS = 3 };

/* The head of a table: the ways' latencies, then `columns` rates. */
void put_print_head(FILE *page, const char *latency, const char *flood, const char *const *name,
                    int columns);
/* A row of it: seconds of each way, and of each column of rates; NaN: - */
void put_print_row(FILE *page, size_t bytes, const double *latency, const double *flood,
                   int columns);

/* From a device of rank 0 to one of rank 1 and back; all ranks call it. */
evn_status put_between(struct pair *p, const char *devices);
