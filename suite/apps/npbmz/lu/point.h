/* One grid point of LU-SSOR: the block operators applied to a vector, without ever forming a block.
 *
 * The increment of U at a point is kept as the increments it means for density, velocities and
 * specific energy, x = (d rho, dv_1, dv_2, dv_3, de). In these the diagonal block D is diagonal but
 * for its energy row, and both the Jacobian A_d of the flux and the Jacobian N_d of the viscous
 * potential (NPB report, RNR-94-007, section 3) are directional derivatives that share nearly
 * all their terms. Written out, with b = +2/h_d below and -2/h_d above the diagonal,
 *
 *     2 h_d/dt [ tau2 A_d + b h_d/2 .. ] x   =   A_d x + b (N_d + delta_d I) x   =   w
 *
 *     w_rho = rho dv_d + (v_d + b delta_d) drho
 *     w_n   = v_n w_rho + G_d dv_n,   and for n = d also  + Y_d
 *     w_E   = e w_rho + G_d de + v_d Y_d + p dv_d + b (c1345 - c34) z
 *
 *     G_d = rho (v_d + b delta_d) + b c34,   z = de - v . dv,
 *     dp  = (p/rho) drho + c2 rho z,         Y_d = dp + b (c34/3) dv_d
 *
 * The text uses + - * / on `vec` only, so it is also the text of a device's work item (value.h).
 */
#pragma once

#include "npbmz/host/value.h"

/* Constants of all points; made by coefficients.h. Everything is divided by K = 1 + 2 sum tau1_d
 * delta_d, the part of D that is a multiple of the identity, and v is carried as v K/dt: so the
 * sweeps need no multiplication by the time step or K. */
struct lu_coefficients {
    vec a[3];               /* omega tau2_d / K: weight of the neighbour in direction d */
    vec bdelta[3];          /* b delta_d */
    vec bc[3], bc_third[3]; /* b c34, b c34/3 */
    vec bz[3];              /* b (c1345 - c34) */
    vec dv[3], de;          /* D: viscous part of the momentum rows and of the energy row, over K */
    vec h[3];               /* D: coupling of the energy row to v_n dv_n, over K */
    vec update;             /* dt / (K omega (2 - omega)): from v to the increment of U */
};

/* The state at a point, as the sweeps need it. */
struct lu_point {
    vec alive;           /* 1, or 0 where there is no interior point: then x comes out as 0 */
    vec rho, v[3], e, p; /* density, velocities, E/rho, pressure */
    vec p_rho, c2rho;    /* p/rho, c2 rho */
    vec inv[3], inve;    /* 1 / (rho * row of D) for the momenta and for the energy */
};

/* Further state of a point for the scatter. A host core computes it when it scatters, which is
 * cheaper than storing it; a device computes it after the state, since the upper sweep has no room
 * for it in 128 registers otherwise. */
struct lu_flow {
    vec f[3], g[3]; /* v_d + b delta_d, G_d */
};
INLINE void lu_flow(const struct lu_coefficients *c, const struct lu_point *q, struct lu_flow *o) {
    for (int d = 0; d < 3; d++) {
        o->f[d] = q->v[d] + c->bdelta[d];
        o->g[d] = q->rho * o->f[d] + c->bc[d];
    }
}

/* rho times the rows of D, and products of them */
struct lu_pivots {
    vec d0, d1, d2, d3, d01, d23, all;
};
INLINE void lu_pivots(const struct lu_coefficients *c, vec rho, struct lu_pivots *w) {
    w->d0 = rho + c->dv[0], w->d1 = rho + c->dv[1], w->d2 = rho + c->dv[2], w->d3 = rho + c->de;
    w->d01 = w->d0 * w->d1, w->d23 = w->d2 * w->d3;
    w->all = w->d01 * w->d23;
}

/* One division serves the five reciprocals. `alive` is its dividend, so that every quotient is 0 in
 * a dead lane, whatever finite numbers that lane was given (with rho != 0). */
INLINE vec lu_quotient(const struct lu_pivots *w, vec rho, vec alive) {
    return alive / (rho * w->all);
}

/* The state, when the quotient is there (`over`). */
INLINE void lu_state_of(const vec u[NC], vec alive, const struct lu_pivots *w, vec over,
                        struct lu_point *q) {
    vec rho = u[0];
    vec d0 = w->d0, d1 = w->d1, d2 = w->d2, d3 = w->d3, d01 = w->d01, d23 = w->d23;
    vec s = over * w->all, t = over * rho;
    vec t01 = t * d23, t23 = t * d01;
    q->inv[0] = t01 * d1;
    q->inv[1] = t01 * d0;
    q->inv[2] = t23 * d3;
    q->inve = t23 * d2;
    q->alive = alive;
    q->rho = rho;
    vec v0 = u[1] * s, v1 = u[2] * s, v2 = u[3] * s, e = u[4] * s;
    vec c2 = vec_set(C2);
    q->v[0] = v0, q->v[1] = v1, q->v[2] = v2, q->e = e;
    q->c2rho = c2 * rho;
    q->p_rho = c2 * e - (c2 * vec_set(0.5)) * (v0 * v0 + v1 * v1 + v2 * v2);
    q->p = q->p_rho * rho;
}

INLINE void lu_state(const struct lu_coefficients *c, const vec u[NC], vec alive,
                     struct lu_point *q) {
    struct lu_pivots w;
    lu_pivots(c, u[0], &w);
    lu_state_of(u, alive, &w, lu_quotient(&w, u[0], alive), q);
}

/* x = D^-1 y (v == 0), or x = v - D^-1 y; y is a conserved increment, v and x are primitive
 * ones. Also z, which the scatter needs: it is on the way from one point to the next, so it is made
 * without waiting for x. */
INLINE void lu_solve(const struct lu_coefficients *c, const struct lu_point *q, const vec y[NC],
                     const vec *v, vec x[NC], vec *z) {
    vec dv0 = (y[1] - q->v[0] * y[0]) * q->inv[0];
    vec dv1 = (y[2] - q->v[1] * y[0]) * q->inv[1];
    vec dv2 = (y[3] - q->v[2] * y[0]) * q->inv[2];
    vec energy = y[4] - q->e * y[0];
    energy = energy - (c->h[0] * q->v[0]) * dv0;
    energy = energy - (c->h[1] * q->v[1]) * dv1;
    energy = energy - (c->h[2] * q->v[2]) * dv2;
    x[0] = y[0] * q->alive;
    if (v) {
        x[0] = v[0] - x[0];
        dv0 = v[1] - dv0, dv1 = v[2] - dv1, dv2 = v[3] - dv2;
    }
    vec kinetic = q->v[0] * dv0 + q->v[1] * dv1 + q->v[2] * dv2;
    x[1] = dv0, x[2] = dv1, x[3] = dv2;
    if (v) {
        x[4] = v[4] - energy * q->inve;
        *z = (v[4] - kinetic) - energy * q->inve;
    } else {
        x[4] = energy * q->inve;
        *z = energy * q->inve - kinetic;
    }
}

/* w[d] = (A_d + b (N_d + delta_d)) x: what the point gives its neighbours in direction d */
INLINE void lu_scatter(const struct lu_coefficients *c, const struct lu_point *q,
                       const struct lu_flow *o, const vec x[NC], vec z, vec w[3][NC]) {
    const vec *v = q->v;
    vec dp = q->p_rho * x[0] + q->c2rho * z;
    for (int d = 0; d < 3; d++) {
        vec dv = x[1 + d];
        vec mass = q->rho * dv + o->f[d] * x[0];
        vec push = c->bc_third[d] * dv + dp;
        vec energy = ((q->e * mass + q->p * dv) + o->g[d] * x[4]) + c->bz[d] * z;
        w[d][0] = mass;
        for (int n = 0; n < 3; n++) w[d][1 + n] = v[n] * mass + o->g[d] * x[1 + n];
        w[d][1 + d] = w[d][1 + d] + push;
        w[d][4] = energy + v[d] * push;
    }
}

/* the increment of U that x means */
INLINE void lu_conserved(const struct lu_point *q, const vec x[NC], vec du[NC]) {
    du[0] = x[0];
    for (int n = 0; n < 3; n++) du[1 + n] = q->rho * x[1 + n] + q->v[n] * x[0];
    du[4] = q->rho * x[4] + q->e * x[0];
}
