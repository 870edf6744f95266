/* The arithmetic of a point of the spatial operator of NPB-MZ, f + L(U), for host and device.
 *
 * Source of the operator: "The NAS Parallel Benchmarks" (RNR-94-007), section 3: fluxes, diffusion,
 * and second- and fourth-order dissipation with one-sided ends. residual_rows.h says in which order
 * a host core goes through a zone and why it is written like this; residual.kernel.h is the same
 * for one work item.
 */
#pragma once

#include "npbmz/host/value.h"

/* A point (on the host LANES points along i) as the operator sees it. */
struct residual_point {
    vec u[NC]; /* density, momenta, energy */
    vec v[3];  /* velocities m_n / rho */
    vec p;     /* pressure c2 (E - q), q = |m|^2 / (2 rho) */
    vec g;     /* (1 - c1 c5) |v|^2/2 + c1 c5 E/rho: what conducts heat */
};

/* One direction: a = -1/(2h) of the flux, t = c3 c4 / h^2 of the diffusion. */
struct residual_axis {
    double a, t, t43; /* t43 = 4/3 t: along the direction itself */
    double b;         /* t / (6 a) */
    double second;    /* delta / h^2 of the second-order dissipation */
};

/* All linear terms of one direction at one position: what the points s-2 .. s+2 are multiplied
 * with. */
struct residual_row5 {
    double far_lo, lo, mid, hi, far_hi;
};

/* Made by residual_constants() (residual.h); a kernel is given it in its value. */
struct residual_constants {
    struct residual_axis axis[3];
    double v[3], vv[3], g; /* factors of v_n, v_n^2 and g at the point itself */
};

/* 1 for a > 0, else 0. Not a comparison, from which compilers make branches, and the items of a
 * group do not become lanes of a host. */
INLINE double residual_one_if(int a) {
    a = a < 0 ? 0 : a;
    return a > 1 ? 1 : a;
}

/* Boundary points, s = 0 and s = n-1, take no part in the fourth differences. For 1 <= s <= n-2;
 * elsewhere it holds some numbers. n >= 4. */
INLINE struct residual_row5 residual_row5(double second, int s, int n) {
    const double lo = residual_one_if(s - 1), hi = residual_one_if(n - 2 - s);
    struct residual_row5 r;
    r.far_lo = 0 - EPS4 * residual_one_if(s - 2);
    r.lo = second + 4 * EPS4 * lo;
    r.mid = -2 * second - EPS4 * (4 + lo + hi);
    r.hi = second + 4 * EPS4 * hi;
    r.far_hi = 0 - EPS4 * residual_one_if(n - 3 - s);
    return r;
}

/* Velocities, pressure and g from q->u and its 1/rho. With i = E - q, p = c2 i and, as the
 * factors of kinetic and total energy in g add up to 1, g = (E + (c1 c5 - 1) i) / rho. No sum
 * here is of two products: which of them a compiler fuses would be its choice, and two rows that
 * meet this function in different places could differ in the last bit. */
INLINE void residual_derive(struct residual_point *q, vec inverse) {
    q->v[0] = q->u[1] * inverse;
    q->v[1] = q->u[2] * inverse;
    q->v[2] = q->u[3] * inverse;
    vec twice = q->u[4] + q->u[4]; /* 2 i */
    twice -= q->u[1] * q->v[0];
    twice -= q->u[2] * q->v[1];
    twice -= q->u[3] * q->v[2];
    q->p = vec_set(C2 / 2) * twice;
    q->g = (q->u[4] + vec_set((C15 - 1) / 2) * twice) * inverse;
}

/* Adds what a neighbour in direction d carries to a point; `carried` is its linear term and flux, a
 * factor of all five components. Of a neighbour, momenta are not needed. */
INLINE void residual_side(vec r[NC], const struct residual_point *n, int d, vec carried,
                          const struct residual_axis *x) {
    r[0] += carried * n->u[0];
    const vec across = vec_set(x->t) + carried * n->u[0];
    const vec along = vec_set(x->t43) + carried * n->u[0];
    r[1] += (d == 0 ? along : across) * n->v[0];
    r[2] += (d == 1 ? along : across) * n->v[1];
    r[3] += (d == 2 ? along : across) * n->v[2];
    r[4] += carried * n->u[4];
}

/* Adds what two neighbours conduct of heat and what pressure and friction do between them; as it
 * is not carried with the velocity it goes to *e, a second sum of the energy, so that the chain of
 * additions is shorter. */
INLINE void residual_work(vec *e, const struct residual_point *lo, const struct residual_point *hi,
                          int d, const struct residual_axis *x) {
    const vec b = vec_set(x->b);
    *e += vec_set(x->t) * (lo->g + hi->g);
    /* work of the pressure, and t/6 v_d^2 of the diffusion */
    vec yl = lo->p - b * lo->v[d];
    vec yh = hi->p + b * hi->v[d];
    vec h = hi->v[d] * yh;
    h -= lo->v[d] * yl;
    *e += vec_set(x->a) * h;
}

/* adds all that the two neighbours in direction d give to a point */
INLINE void residual_near(vec r[NC], vec *e, const struct residual_point *lo,
                          const struct residual_point *hi, int d, vec linear_lo, vec linear_hi,
                          const struct residual_axis *x) {
    const vec a = vec_set(x->a);
    vec cl = linear_lo - a * lo->v[d];
    vec ch = linear_hi + a * hi->v[d];
    residual_side(r, lo, d, cl, x);
    residual_side(r, hi, d, ch, x);
    r[1 + d] += a * (hi->p - lo->p);
    residual_work(e, lo, hi, d, x);
}

/* adds a point that is met by its linear term only */
INLINE void residual_linear(vec r[NC], const vec u[NC], vec factor) {
    r[0] += factor * u[0];
    r[1] += factor * u[1];
    r[2] += factor * u[2];
    r[3] += factor * u[3];
    r[4] += factor * u[4];
}

/* adds the point itself */
INLINE void residual_here(vec r[NC], vec *e, const struct residual_point *n, vec linear,
                          const struct residual_constants *c) {
    residual_linear(r, n->u, linear);
    r[1] += vec_set(c->v[0]) * n->v[0];
    r[2] += vec_set(c->v[1]) * n->v[1];
    r[3] += vec_set(c->v[2]) * n->v[2];
    *e = vec_set(c->g) * n->g;
    *e += (vec_set(c->vv[0]) * n->v[0]) * n->v[0];
    *e += (vec_set(c->vv[1]) * n->v[1]) * n->v[1];
    *e += (vec_set(c->vv[2]) * n->v[2]) * n->v[2];
}
