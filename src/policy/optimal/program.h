/* The integer program of the exact schedule. */
#pragma once

#include "policy/optimal/bound.h"

struct optimal_options {
    double limit, gap; /* seconds of the solver, 0: not started; fraction */
    long nodes;        /* nodes of its tree; 0: no limit */
};

struct optimal_solution {
    int answered; /* 0: time was over, or the solver failed; then the rest is 0 */
    int nodes;
    double proven; /* bound proven by the solver; 0: none */
};

/* Solves the program; `owner` is the best assignment so far, of largest load `longest`, and
 * receives the solver's; no load is below `bound`. EVN_MISSING: the solver is; EVN_MEMORY;
 * EVN_SYSTEM. */
evn_status optimal_solve(const struct optimal_model *m, const struct optimal_options *options,
                         double bound, double longest, int *owner,
                         struct optimal_solution *solution);
