/* Medians. */
#include "common/run/median.h"
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *sample, int n) {
    qsort(sample, (size_t)n, sizeof *sample, by_value);
    return sample[(n - 1) / 2];
}
