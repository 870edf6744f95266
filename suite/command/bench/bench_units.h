/* Parts of the study of --units auto. */
#pragma once

#include "common/cli/options.h"

enum { UNITS_ROUNDS_MAX = 100 };

/* Data of the measurement on this machine. */
struct units_real {
    int steps, rounds; /* of each run, of each list */
    const char *json;  /* NULL: no record */
    double within;     /* auto may need so much more than the best */
};

/* Measures auto beside all lists of all cores of this machine, in turn. 0, EXIT_UNVERIFIED if it
 * exceeds the allowed excess, or an exit status after a message. */
int bench_units_real(const struct option_list *apps, const char *classes,
                     const struct units_real *how);
