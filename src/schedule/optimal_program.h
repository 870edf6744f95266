/* The integer program of the exact schedule. */
#ifndef SCHEDULE_OPTIMAL_PROGRAM_H
#define SCHEDULE_OPTIMAL_PROGRAM_H

#include "schedule/optimal_bound.h"

struct optimal_options {
    double limit, gap; /* seconds of the solver, 0: it is not started; fraction */
    long nodes;        /* of its tree; 0: as many as it likes */
};

/* Solves it; `owner` is the best assignment so far, of largest load `longest`, and becomes the
 * solver's; no load is below `bound`. Returns the bound that the solver has proven, 0 if none. */
double optimal_solve(const struct optimal_model *m, const struct optimal_options *options,
                     double bound, double longest, int *owner, int *nodes);

#endif
