/* Conjugate gradients as host and devices agree on it: chunks of rows, the tree of a sum, and the
 * scalars of an iteration. The same bits follow wherever nothing is fused.
 *
 * The form with one vector product (Chronopoulos and Gear, "s-step iterative methods for symmetric
 * linear systems", Journal of Computational and Applied Mathematics 25 (1989) 153-168). M is M_0
 * scaled by its diagonal D from both sides, D^(-1/2) M_0 D^(-1/2), and a and b accordingly, which
 * is what a preconditioner D would do, without its vector. With r = b - M a and w = M r:
 *
 *     gamma = r.r    delta = r.w
 *     beta = gamma / last gamma    alpha = gamma / (delta - beta gamma / last alpha)
 *     p = r + beta p    s = w + beta s    a += alpha p    r -= alpha s
 *
 * s is M p without a product of its own. So an iteration is two sweeps over the rows, w and delta
 * in one, all vectors and the next gamma in the other, and there are two barriers (or launches).
 *
 * Sums: of a chunk's rows along a binary tree, row i and row i + 32, then 16, ..; of chunks the
 * same, after chunks c, c + 64, c + 128, .. one after another.
 */
#pragma once

#include <evener/kernel.h>

/* Rows of a chunk (a power of two), and rows of a strip: a strip's entries lie one from each of its
 * rows after the other. */
#define SOLVE_CHUNK 64
#define SOLVE_STRIP 8

/* State of an iteration, for the next one and for queries. */
struct solve_state {
    double gamma, alpha;
    double target; /* gamma where it may stop */
    double delta;
    int done; /* a SOLVE_.. number */
    int iterations;
    double unused[3]; /* SOLVE_DOUBLES in all: a device keeps states and solutions together */
};

/* Arguments of a device's sweep. */
struct solve_sweep {
    double tolerance; /* tolerance, squared */
    int rows, chunks; /* rows: SOLVE_CHUNK * chunks */
    int k;            /* the iteration, from 0 */
    int step;         /* step of the group: it has states and a solution of its own */
    int steps;        /* number of steps that the group has room for */
    int before;       /* state of the step before, as SOLVE_READY wants it */
    int single;       /* the solution is rounded to float */
    int unused;       /* fills a hole */
};

#define SOLVE_GOES_ON      0
#define SOLVE_CONVERGED    1
#define SOLVE_ZERO         2 /* b is, or so small that its square is lost: and so is the solution */
#define SOLVE_NOT_FINITE   3
#define SOLVE_NOT_DEFINITE 4 /* r.Mr is not above 0 */
#define SOLVE_WAITS        5 /* the step before is not solved yet */

/* A step has two states, of iterations k and k - 1, by turns. */
#define SOLVE_STATE(step, k) (2 * (step) + ((k)&1))

#define SOLVE_DOUBLES 8

/* Position of a step's solution, behind the states of all `steps` steps of a group. */
#define SOLVE_SOLUTION(step, steps, rows) (2 * SOLVE_DOUBLES * (steps) + (evn_long)(step) * (rows))

/* Work submitted in advance runs only if the previous step is solved: `at` is that step's last
 * state, -1 for none. */
#define SOLVE_READY(state, at)                                                                     \
    ((at) < 0 || state[at].done == SOLVE_CONVERGED || state[at].done == SOLVE_ZERO)

EVN_DEVICE_FUNCTION double solve_beta(int k, double gamma, double last_gamma) {
    return k ? gamma / last_gamma : 0;
}
EVN_DEVICE_FUNCTION double solve_alpha(int k, double gamma, double delta, double beta,
                                       double last_alpha) {
    return gamma / (k ? delta - beta * gamma / last_alpha : delta);
}

/* Meaning of gamma. */
EVN_DEVICE_FUNCTION int solve_done(double gamma, double target) {
    if (target <= 1e-280) return SOLVE_ZERO;
    if (gamma <= target) return SOLVE_CONVERGED;
    /* false for NaN too */
    return gamma <= 1.7e308 ? SOLVE_GOES_ON : SOLVE_NOT_FINITE;
}
