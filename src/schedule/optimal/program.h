/* The integer program of the exact schedule. */
#ifndef SCHEDULE_OPTIMAL_PROGRAM_H
#define SCHEDULE_OPTIMAL_PROGRAM_H

#include "schedule/optimal/bound.h"

struct optimal_options {
    double limit, gap; /* seconds of the solver, 0: not started; fraction */
    long nodes;        /* nodes of its tree; 0: no limit */
};

/* Solves the program; `owner` is the best assignment so far, of largest load `longest`, and
 * receives the solver's; no load is below `bound`. Returns the bound proven by the solver, 0 if
 * none. */
double optimal_solve(const struct optimal_model *m, const struct optimal_options *options,
                     double bound, double longest, int *owner, int *nodes);

#endif
