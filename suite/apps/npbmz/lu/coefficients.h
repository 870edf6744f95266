/* The coefficients of LU's sweeps, from the time step and the mesh spacing of a problem: the same
 * numbers for a host core's lanes and, where NPBMZ_ITEM is defined, for a device's kernels. */
#pragma once

#include "npbmz/lu/point.h"
#include "npbmz/problem.h"

/* sign: +1 for the lower sweep, -1 for the upper */
static inline void lu_coefficients(const struct problem *p, double sign,
                                   struct lu_coefficients *c) {
    double tau1[3], sum = 0, K = 1;
    for (int d = 0; d < 3; d++) {
        tau1[d] = p->dt / (p->h[d] * p->h[d]);
        sum += tau1[d];
        K += 2 * tau1[d] * DELTA(d);
    }
    for (int d = 0; d < 3; d++) {
        double b = sign * 2 / p->h[d];
        c->a[d] = vec_set(OMEGA * p->dt / (2 * p->h[d]) / K);
        c->bdelta[d] = vec_set(b * DELTA(d));
        c->bc[d] = vec_set(b * C34);
        c->bc_third[d] = vec_set(b * C34 / 3);
        c->bz[d] = vec_set(b * (C1345 - C34));
        c->dv[d] = vec_set(2 * C34 * (sum + tau1[d] / 3) / K);
        c->h[d] = vec_set(2 * ((C34 - C1345) * sum + C34 * tau1[d] / 3) / K);
    }
    c->de = vec_set(2 * C1345 * sum / K);
    c->update = vec_set(p->dt / (K * OMEGA * (2 - OMEGA)));
}
