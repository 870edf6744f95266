/* The spatial operator of NPB-MZ as rows of vectors: f + L(U). The caller decides where and how
 * each point's residual is stored, so that a solver can fuse its first pointwise step.
 *
 * residual_with() is inlined into its caller together with a function `put` (residual_put below).
 * residual() is residual_with() with a put that scales and stores; a solver writes its own:
 *
 *     INLINE void my_put(const void *with, int i, int j, int k, ivec inside, vec r[NC],
 *                        const struct residual_point *q) { .. }
 *
 *     residual_with(p, z, z->u, z->f, work, t, my_put, &my_constants);
 *
 * The operator and the arithmetic of a point are in residual_point.h; with few registers
 * residual_few.h computes a row. Three properties make it cheap:
 *
 * - velocity, pressure and g (below) are computed once a point and kept for three planes, so there
 *   is one division a point; the solution is read in place;
 * - both dissipations, which are linear in U, are one row of five coefficients a direction. At the
 *   sides of the zone the coefficients differ, not the code;
 * - all five components are carried by the same velocity: flux and linear term of a neighbour have
 *   one common factor, and the momentum's part is its mass times its velocity.
 *
 * 8 points on AVX-512 take 137 operations, a division and 10 lane shifts on two ports: 75 cycles,
 * or 9.4 a point; so arithmetic is the bound. Loads, caches, measurements and variants:
 * docs/notes/tuning.md. */
#pragma once

#include "common/simd/lanes.h"
#include "npbmz/problem.h"
#include "npbmz/host/residual.h"
#include "npbmz/host/residual_point.h"

/* Takes the residual r = f + L(U) of the points (i .. i+LANES-1, j, k), whose state is q, and
 * puts it somewhere; may change r on the way. Lanes where `inside` is 0 are no interior points
 * and hold anything, even NaN. Every interior row is put from i = 0 up to the vector of its last
 * interior point. `with` is what residual_with() was given. Hint: E/rho - |v|^2/2 = p / (c2
 * rho), hence the square of the speed of sound is c1 p / rho. */
typedef void residual_put(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                          const struct residual_point *q);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Keeps the compiler from writing an address as base + index: measured on Sapphire Rapids, a loop
 * bound by arithmetic and loads runs 10 to 15 % faster with base and constant offset alone, and
 * adding up pointers costs nothing beside the arithmetic. */
#define RESIDUAL_IN_REGISTER(p) __asm__("" : "+r"(p))

INLINE const double *residual_at(const double *p) {
    RESIDUAL_IN_REGISTER(p);
    return p;
}

/* the five components of a field at p, each `step` doubles from the one before */
INLINE void residual_load(vec u[NC], const double *p, ptrdiff_t step) {
    p = residual_at(p);
    u[0] = vec_load(p);
    p = residual_at(p + step);
    u[1] = vec_load(p);
    p = residual_at(p + step);
    u[2] = vec_load(p);
    p = residual_at(p + step);
    u[3] = vec_load(p);
    p = residual_at(p + step);
    u[4] = vec_load(p);
}

/* loads, and asks for the lines `ahead` doubles further on, which are expected in memory */
INLINE void residual_load_ahead(vec u[NC], const double *p, ptrdiff_t step, int ahead) {
    p = residual_at(p);
    u[0] = vec_load(p);
    __builtin_prefetch(p + ahead);
    p = residual_at(p + step);
    u[1] = vec_load(p);
    __builtin_prefetch(p + ahead);
    p = residual_at(p + step);
    u[2] = vec_load(p);
    __builtin_prefetch(p + ahead);
    p = residual_at(p + step);
    u[3] = vec_load(p);
    __builtin_prefetch(p + ahead);
    p = residual_at(p + step);
    u[4] = vec_load(p);
    __builtin_prefetch(p + ahead);
}

/* density and energy */
INLINE void residual_load_ends(vec u[NC], const double *p, ptrdiff_t step) {
    p = residual_at(p);
    u[0] = vec_load(p);
    p = residual_at(p + 4 * step);
    u[4] = vec_load(p);
}

/* Derived values lie vector by vector: v1 v2 v3 p g of LANES points, then of the next LANES. */
enum { RESIDUAL_DERIVED = 5, RESIDUAL_VECTOR = RESIDUAL_DERIVED * LANES, RESIDUAL_PLANES = 3 };

INLINE void residual_load_derived(struct residual_point *q, const double *w) {
    q->v[0] = vec_load(w);
    q->v[1] = vec_load(w + LANES);
    q->v[2] = vec_load(w + 2 * LANES);
    q->p = vec_load(w + 3 * LANES);
    q->g = vec_load(w + 4 * LANES);
}

INLINE void residual_store_derived(double *w, const struct residual_point *q) {
    vec_store(w, q->v[0]);
    vec_store(w + LANES, q->v[1]);
    vec_store(w + 2 * LANES, q->v[2]);
    vec_store(w + 3 * LANES, q->p);
    vec_store(w + 4 * LANES, q->g);
}

/* the points at i-1, and at i+1, of a vector that lies between two others */
INLINE vec residual_before(vec previous, vec here) {
#if LANES == 8
    return __builtin_shufflevector(previous, here, 7, 8, 9, 10, 11, 12, 13, 14);
#elif LANES == 4
    return __builtin_shufflevector(previous, here, 3, 4, 5, 6);
#else
    return __builtin_shufflevector(previous, here, 1, 2);
#endif
}
INLINE vec residual_after(vec here, vec next) {
#if LANES == 8
    return __builtin_shufflevector(here, next, 1, 2, 3, 4, 5, 6, 7, 8);
#elif LANES == 4
    return __builtin_shufflevector(here, next, 1, 2, 3, 4);
#else
    return __builtin_shufflevector(here, next, 1, 2);
#endif
}
INLINE vec residual_w_before(const double *w) {
    return residual_before(vec_load(w - RESIDUAL_VECTOR), vec_load(w));
}
INLINE vec residual_w_after(const double *w) {
    return residual_after(vec_load(w), vec_load(w + RESIDUAL_VECTOR));
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* One row of points: where its sources are, at i = 0. */
struct residual_row {
    int nx, j, k;
    ptrdiff_t sc, fc;                /* component strides of u and f */
    const double *u, *f;             /* the row in both fields */
    ptrdiff_t y_far_lo, y, y_far_hi; /* from u to rows j-2, j+1 (and back to j-1), j+2 */
    ptrdiff_t z_far_lo, z, z_far_hi; /* from u to rows k-2, k+1 (and back to k-1), k+2; where there
                                        is none, somewhere harmless */
    const double *below, *here;      /* derived values of planes k-1 and k */
    double *above;                   /* derived values of plane k+1, which this row makes */
    ptrdiff_t next;                  /* from one row of derived values to the next */
    const double *x;                 /* coefficients along x, vector by vector: residual_x_table */
    const struct residual_row5 *ly, *lz; /* coefficients along y and z */
};

/* the coefficients along x: RESIDUAL_VECTOR doubles a vector, far_lo lo hi far_hi mid */
INLINE void residual_x_table(double *x, double second, int nx, ptrdiff_t sj) {
    for (int i = 0; i < sj; i++) {
        struct residual_row5 r = residual_row5(second, i, nx);
        double *at = x + i / LANES * RESIDUAL_VECTOR + i % LANES;
        at[0] = r.far_lo;
        at[LANES] = r.lo;
        at[2 * LANES] = r.hi;
        at[3 * LANES] = r.far_hi;
        at[4 * LANES] = r.mid;
    }
}

enum { RESIDUAL_AHEAD = 16 }; /* doubles; about 300 cycles */

#if LANES < 8
#    include "npbmz/host/residual_few.h"
#else
/* Makes the residual of a row and, on the way, the derived values of the row above it. */
INLINE void residual_do_row(const struct residual_row *w, const struct residual_constants *c,
                            residual_put *put, const void *with) {
    const ptrdiff_t sc = w->sc;
    const double *u = w->u, *f = w->f, *x = w->x, *below = w->below, *here = w->here;
    double *above = w->above;
    const struct residual_row5 *ly = w->ly, *lz = w->lz;
    const vec mid = vec_set(ly->mid + lz->mid);
    /* A division is begun one vector before its result is used; else it is the one thing that
     * the core cannot hide. */
    vec inverse = vec_set(1) / vec_load(u + w->z);
    for (int i = 0; i < w->nx - 1; i += LANES) {
        RESIDUAL_IN_REGISTER(u);
        RESIDUAL_IN_REGISTER(f);
        RESIDUAL_IN_REGISTER(x);
        RESIDUAL_IN_REGISTER(below);
        RESIDUAL_IN_REGISTER(here);
        RESIDUAL_IN_REGISTER(above);
        RESIDUAL_IN_REGISTER(ly);
        RESIDUAL_IN_REGISTER(lz);
        const double *u1 = residual_at(u + sc), *u2 = residual_at(u1 + sc);
        const double *u3 = residual_at(u2 + sc), *u4 = residual_at(u3 + sc);
        struct residual_point lo, hi;
        vec r[NC], e;

        vec next_inverse = vec_set(1) / vec_load(residual_at(u + w->z) + LANES);
        residual_load_ahead(r, f, w->fc, RESIDUAL_AHEAD);
        struct residual_point q = {
            .u = {vec_load(u), vec_load(u1), vec_load(u2), vec_load(u3), vec_load(u4)}};
        residual_load_derived(&q, here);
        residual_here(r, &e, &q, vec_load(x + 4 * LANES) + mid, c);

        const vec x_far_lo = vec_load(x), x_far_hi = vec_load(x + 3 * LANES);
        r[0] += x_far_lo * vec_loadu(u - 2);
        r[0] += x_far_hi * vec_loadu(u + 2);
        r[1] += x_far_lo * vec_loadu(u1 - 2);
        r[1] += x_far_hi * vec_loadu(u1 + 2);
        r[2] += x_far_lo * vec_loadu(u2 - 2);
        r[2] += x_far_hi * vec_loadu(u2 + 2);
        r[3] += x_far_lo * vec_loadu(u3 - 2);
        r[3] += x_far_hi * vec_loadu(u3 + 2);
        r[4] += x_far_lo * vec_loadu(u4 - 2);
        r[4] += x_far_hi * vec_loadu(u4 + 2);
        lo.u[0] = vec_loadu(u - 1), hi.u[0] = vec_loadu(u + 1);
        lo.u[4] = vec_loadu(u4 - 1), hi.u[4] = vec_loadu(u4 + 1);
        lo.v[0] = residual_w_before(here), hi.v[0] = residual_w_after(here);
        lo.v[1] = residual_w_before(here + LANES), hi.v[1] = residual_w_after(here + LANES);
        lo.v[2] = residual_w_before(here + 2 * LANES), hi.v[2] = residual_w_after(here + 2 * LANES);
        lo.p = residual_w_before(here + 3 * LANES), hi.p = residual_w_after(here + 3 * LANES);
        lo.g = residual_w_before(here + 4 * LANES), hi.g = residual_w_after(here + 4 * LANES);
        residual_near(r, &e, &lo, &hi, 0, vec_load(x + LANES), vec_load(x + 2 * LANES),
                      &c->axis[0]);

        residual_load(q.u, u + w->y_far_lo, sc);
        residual_linear(r, q.u, vec_set(ly->far_lo));
        residual_load(q.u, u + w->y_far_hi, sc);
        residual_linear(r, q.u, vec_set(ly->far_hi));
        residual_load_ends(lo.u, u - w->y, sc);
        residual_load_derived(&lo, residual_at(here - w->next));
        residual_load_ends(hi.u, u + w->y, sc);
        residual_load_derived(&hi, residual_at(here + w->next));
        residual_near(r, &e, &lo, &hi, 1, vec_set(ly->lo), vec_set(ly->hi), &c->axis[1]);

        residual_load(q.u, u + w->z_far_lo, sc);
        residual_linear(r, q.u, vec_set(lz->far_lo));
        residual_load_ahead(q.u, u + w->z_far_hi, sc, RESIDUAL_AHEAD);
        residual_linear(r, q.u, vec_set(lz->far_hi));
        residual_load_ends(lo.u, u - w->z, sc);
        residual_load_derived(&lo, below);
        residual_load(hi.u, u + w->z, sc);
        residual_derive(&hi, inverse);
        inverse = next_inverse;
        residual_store_derived(above, &hi);
        residual_near(r, &e, &lo, &hi, 2, vec_set(lz->lo), vec_set(lz->hi), &c->axis[2]);
        r[4] += e;

        q.u[0] = vec_load(u), q.u[1] = vec_load(u1), q.u[2] = vec_load(u2);
        q.u[3] = vec_load(u3), q.u[4] = vec_load(u4);
        residual_load_derived(&q, here);
        put(with, i, w->j, w->k, vec_interior(i, w->nx), r, &q);
        u += LANES, f += LANES, x += RESIDUAL_VECTOR;
        below += RESIDUAL_VECTOR, here += RESIDUAL_VECTOR, above += RESIDUAL_VECTOR;
    }
}
#endif

/* ---- a zone ---------------------------------------------------------------------------------- */

/* Division of a zone: the interior rows of a plane into blocks, so that the planes that a block
 * needs stay in the second-level cache. A piece of work is one plane of one block; a core processes
 * consecutive pieces along z. */
struct residual_cut {
    int blocks, rows; /* blocks along j, and the rows of the largest */
};
struct residual_cut residual_cut(const struct zone *z, int cores);

/* doubles of work of one core */
size_t residual_core_doubles(ptrdiff_t sj, int ny);

/* doubles of a row of derived values: one vector more than the row, which is the margin of this
 * row and the next */
INLINE ptrdiff_t residual_derived_row(ptrdiff_t sj) { return (sj + LANES) * RESIDUAL_DERIVED; }

/* makes the derived values of the points from i on of one row */
static inline void residual_derive_row(double *w, const double *u, ptrdiff_t sc, int i, int nx) {
    for (; i < nx; i += LANES) {
        struct residual_point q;
        residual_load(q.u, u + i, sc);
        residual_derive(&q, vec_set(1) / q.u[0]);
        residual_store_derived(w + i * RESIDUAL_DERIVED, &q);
    }
}

/* Does what residual() does, but gives each vector of points to put(with, ..). Both must be
 * known where this is inlined. */
INLINE void residual_with(const struct problem *p, const struct zone *z, const double *u,
                          const double *f, double *work, const struct team *t, residual_put *put,
                          const void *with) {
    const int nx = z->nx, ny = z->ny, nz = z->nz, planes = nz - 2;
    /* a row makes the derived values at i < made of the row above it */
    const int made = (nx - 1 + LANES - 1) / LANES * LANES;
    const struct residual_cut cut = residual_cut(z, t->cores);
    struct residual_constants c;
    residual_constants(&c, p);

    double *x = work + (size_t)t->core * residual_core_doubles(p->max_sj, p->max_ny);
    struct residual_row5 *y = (struct residual_row5 *)(x + z->sj * RESIDUAL_DERIVED);
    double *zeros = x + (z->sj + (ny + 7) / 8 * 8) * RESIDUAL_DERIVED;
    double *window = zeros + z->sj + RESIDUAL_VECTOR;
    residual_x_table(x, c.axis[0].second, nx, z->sj);
    for (int j = 0; j < ny; j++) y[j] = residual_row5(c.axis[1].second, j, ny);
    for (int i = 0; i < z->sj; i++) zeros[i] = 0;

    struct residual_row w = {.nx = nx,
                             .sc = z->sc,
                             .fc = f ? z->sc : 0,
                             .y = z->sj,
                             .z = z->sk,
                             .next = residual_derived_row(z->sj),
                             .x = x};
    int lo, hi, block = -1, j0 = 0, j1 = 0;
    team_share(t, cut.blocks * planes, &lo, &hi);
#define RESIDUAL_W(j, k) (window + ((k) % RESIDUAL_PLANES * (cut.rows + 2) + (j)-j0 + 1) * w.next)
#define RESIDUAL_MAKE(j, k)                                                                        \
    residual_derive_row(RESIDUAL_W(j, k), u + zone_at(z, 0, (j), (k)), z->sc, 0, nx)
    for (int piece = lo; piece < hi; piece++) {
        const int k = 1 + piece % planes;
        if (piece / planes != block) { /* the two planes that no row of mine has made */
            block = piece / planes;
            j0 = 1 + (int)((int64_t)block * (ny - 2) / cut.blocks);
            j1 = 1 + (int)((int64_t)(block + 1) * (ny - 2) / cut.blocks);
            for (int j = j0; j < j1; j++) RESIDUAL_MAKE(j, k - 1);
            for (int j = j0; j < j1; j++) RESIDUAL_MAKE(j, k);
        }
        RESIDUAL_MAKE(j0 - 1, k);
        RESIDUAL_MAKE(j1, k);
        w.k = k;
        const struct residual_row5 lz = residual_row5(c.axis[2].second, k, nz);
        w.lz = &lz;
        w.z_far_lo = k - 2 >= 0 ? -2 * z->sk : 0;
        w.z_far_hi = k + 2 <= nz - 1 ? 2 * z->sk : 0;
        for (int j = j0; j < j1; j++) {
            w.j = j;
            w.ly = y + j;
            w.y_far_lo = j - 2 >= 0 ? -2 * z->sj : 0;
            w.y_far_hi = j + 2 <= ny - 1 ? 2 * z->sj : 0;
            w.u = u + zone_at(z, 0, j, k);
            w.f = f ? f + zone_at(z, 0, j, k) : zeros;
            w.below = RESIDUAL_W(j, k - 1);
            w.here = RESIDUAL_W(j, k);
            w.above = RESIDUAL_W(j, k + 1);
            residual_do_row(&w, &c, put, with);
            if (made < nx) /* the last boundary point, alone in its vector */
                residual_derive_row(w.above, w.u + z->sk, z->sc, made, nx);
        }
    }
#undef RESIDUAL_W
#undef RESIDUAL_MAKE
}
