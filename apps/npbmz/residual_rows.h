/* The spatial operator of NPB-MZ as rows of vectors: f + L(U), with what is done to each point's
 * residual before it is stored left open, so that a solver can fuse its first pointwise step.
 *
 * residual_with() is inlined into its caller together with a function `finish` (residual_finish
 * below). residual() is residual_with() with a finish that scales; SP-MZ writes its own:
 *
 *     static inline void first_transform(vec r[NC], const struct residual_point *q, const void *with)
 *     { .. r[0] = ..; }
 *     residual_with(p, z, z->u, z->f, rhs, work, t, first_transform, &my_constants);
 *
 * Source of the operator: "The NAS Parallel Benchmarks" (RNR-94-007), section 3: fluxes, diffusion,
 * and the second- and fourth-order dissipation with its one-sided ends.
 */
#ifndef NPBMZ_RESIDUAL_ROWS_H
#define NPBMZ_RESIDUAL_ROWS_H

#include "lanes.h"
#include "problem.h"
#include "residual.h"

#define INLINE static inline __attribute__((always_inline))

/* A point (LANES points along i) as the operator sees it. */
struct residual_point {
    vec u[NC]; /* density, momenta, energy */
    vec v[3];  /* velocities m_n / rho */
    vec p;     /* pressure c2 (E - q), q = |m|^2 / (2 rho) */
    vec g;     /* (1 - c1 c5) |v|^2/2 + c1 c5 E/rho: what conducts heat */
};

/* Takes the residual r = f + L(U) of the points (i .. i+LANES-1, j, k), whose state is q, and puts it
 * somewhere; may change r on the way. Lanes where `inside` is 0 are no interior points and hold
 * anything, even NaN. Every row is put from i = 0 to its last interior point. `with` is what
 * residual_with() was given. Hints: the temperature E/rho - |v|^2/2 = p / (c2 rho), hence the square
 * of the speed of sound is c1 p / rho. Must not depend on the lane or on the place. */
typedef void residual_put(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                          const struct residual_point *q);

enum { RESIDUAL_DERIVED = 5, RESIDUAL_SLOTS = 4 }; /* v1 v2 v3 p g; planes k-1 .. k+2 */

/* One direction: a = -1/(2h) of the flux, t = c3 c4 / h^2 of the diffusion. */
struct residual_axis {
    double a, t, t43; /* t43 = 4/3 t: along the direction itself */
    double b;         /* t / (6 a) */
};

/* All linear terms of one direction, second- and fourth-order dissipation, in one row of five. */
struct residual_row5 {
    double far_lo, lo, mid, hi, far_hi;
};

struct residual_constants {
    struct residual_axis axis[3];
    double v[3], vv[3], g; /* factors of v_n, v_n^2 and g at the point itself */
};

INLINE struct residual_row5 residual_row5(double h, double delta, int s, int n) {
    double second = delta / (h * h);
    struct residual_row5 r;
    r.far_lo = s - 2 >= 1 ? -EPS4 : 0;
    r.lo = second + (s - 1 >= 1 ? 4 * EPS4 : 0);
    r.mid = -2 * second - (s == 1 || s == n - 2 ? 5 : 6) * EPS4;
    r.hi = second + (s + 1 <= n - 2 ? 4 * EPS4 : 0);
    r.far_hi = s + 2 <= n - 2 ? -EPS4 : 0;
    return r;
}

INLINE void residual_load(vec u[NC], const double *p, ptrdiff_t sc) {
    u[0] = vec_load(p);
    u[1] = vec_load(p + sc);
    u[2] = vec_load(p + 2 * sc);
    u[3] = vec_load(p + 3 * sc);
    u[4] = vec_load(p + 4 * sc);
}

INLINE void residual_loadu(vec u[NC], const double *p, ptrdiff_t sc) {
    u[0] = vec_loadu(p);
    u[1] = vec_loadu(p + sc);
    u[2] = vec_loadu(p + 2 * sc);
    u[3] = vec_loadu(p + 3 * sc);
    u[4] = vec_loadu(p + 4 * sc);
}

INLINE void residual_load_derived(struct residual_point *q, const double *w, ptrdiff_t wc) {
    q->v[0] = vec_load(w);
    q->v[1] = vec_load(w + wc);
    q->v[2] = vec_load(w + 2 * wc);
    q->p = vec_load(w + 3 * wc);
    q->g = vec_load(w + 4 * wc);
}

INLINE void residual_loadu_derived(struct residual_point *q, const double *w, ptrdiff_t wc) {
    q->v[0] = vec_loadu(w);
    q->v[1] = vec_loadu(w + wc);
    q->v[2] = vec_loadu(w + 2 * wc);
    q->p = vec_loadu(w + 3 * wc);
    q->g = vec_loadu(w + 4 * wc);
}

/* velocities, pressure and g from q->u */
INLINE void residual_derive(struct residual_point *q) {
    vec inverse = vec_set(1) / q->u[0];
    q->v[0] = q->u[1] * inverse;
    q->v[1] = q->u[2] * inverse;
    q->v[2] = q->u[3] * inverse;
    vec twice = q->u[1] * q->v[0]; /* 2 q */
    twice += q->u[2] * q->v[1];
    twice += q->u[3] * q->v[2];
    vec pressure = vec_set(C2) * q->u[4];
    q->p = pressure - vec_set(0.5 * C2) * twice;
    vec heat = vec_set(C15) * q->u[4];
    heat += vec_set(0.5 * (1 - C15)) * twice;
    q->g = heat * inverse;
}

INLINE void residual_store_derived(double *w, ptrdiff_t wc, const struct residual_point *q) {
    vec_store(w, q->v[0]);
    vec_store(w + wc, q->v[1]);
    vec_store(w + 2 * wc, q->v[2]);
    vec_store(w + 3 * wc, q->p);
    vec_store(w + 4 * wc, q->g);
}

/* adds what the neighbour n at side +1 or -1 in direction d gives to a point. All five components
 * are carried by the same velocity, so flux and linear term have one common factor c. */
INLINE void residual_near(vec r[NC], const struct residual_point *n, int d, int side, vec linear,
                          const struct residual_axis *x) {
    vec carry = vec_set(x->a) * n->v[d];
    vec c = side > 0 ? linear + carry : linear - carry;
    r[0] += c * n->u[0];
    vec across = vec_set(x->t) + c * n->u[0];
    vec along = vec_set(x->t43) + c * n->u[0];
    r[1] += (d == 0 ? along : across) * n->v[0];
    r[2] += (d == 1 ? along : across) * n->v[1];
    r[3] += (d == 2 ? along : across) * n->v[2];
    r[4] += c * n->u[4];
    r[4] += vec_set(x->t) * n->g;
    if (side > 0) {
        r[1 + d] += vec_set(x->a) * n->p;
        r[4] += carry * (n->p + vec_set(x->b) * n->v[d]);
    } else {
        r[1 + d] -= vec_set(x->a) * n->p;
        r[4] -= carry * (n->p - vec_set(x->b) * n->v[d]);
    }
}

/* adds the neighbour at distance 2, which only dissipates */
INLINE void residual_far(vec r[NC], const vec u[NC], vec linear) {
    r[0] += linear * u[0];
    r[1] += linear * u[1];
    r[2] += linear * u[2];
    r[3] += linear * u[3];
    r[4] += linear * u[4];
}

/* adds the point itself */
INLINE void residual_here(vec r[NC], const struct residual_point *n, vec linear,
                          const struct residual_constants *c) {
    residual_far(r, n->u, linear);
    r[1] += vec_set(c->v[0]) * n->v[0];
    r[2] += vec_set(c->v[1]) * n->v[1];
    r[3] += vec_set(c->v[2]) * n->v[2];
    r[4] += vec_set(c->g) * n->g;
    r[4] += (vec_set(c->vv[0]) * n->v[0]) * n->v[0];
    r[4] += (vec_set(c->vv[1]) * n->v[1]) * n->v[1];
    r[4] += (vec_set(c->vv[2]) * n->v[2]) * n->v[2];
}

/* One row of points in each of one or two planes (k, and k+1): where its sources and results are.
 * All pointers are at i = 0. */
struct residual_rows {
    ptrdiff_t sc, fc, wc;     /* component strides of u and out, of f, of the derived values */
    const double *z[6];       /* u at row j of planes k-2 .. k+planes+1 */
    const double *y[2][4];    /* u at rows j-2, j-1, j+1, j+2 of the plane */
    const double *f[2];
    int j, k;
    double *wz[4];            /* derived values at row j of planes k-1 .. k+planes */
    double *wy[2][2];         /* and at rows j-1 and j+1 of the plane */
    const double *x[5];       /* tables over i of residual_row5 in x: far_lo lo hi far_hi mid */
    struct residual_row5 ly, lz[2];
    int nx, width;            /* points, and points to write: sj */
};

/* `planes` (1 or 2) rows. On the way the derived values of row j of plane k+planes are made, and, of
 * two planes, those of row j+1 of plane k+1: the last ones that are needed and not there yet. */
INLINE void residual_do_rows(const struct residual_rows *w, const int planes,
                             const struct residual_constants *c, residual_put *put,
                             const void *with) {
    const ptrdiff_t sc = w->sc, wc = w->wc;
    int i = 0;
    for (; i < w->nx - 1; i += LANES) {
        struct residual_point n;
        vec r[2][NC];
        if (planes == 2) {
            residual_load(n.u, w->y[1][2] + i, sc);
            residual_derive(&n);
            residual_store_derived(w->wy[1][1] + i, wc, &n);
        }
        for (int d = 0; d < planes; d++) {
            const double *f = w->f[d] + i;
            r[d][0] = vec_load(f);
            r[d][1] = vec_load(f + w->fc);
            r[d][2] = vec_load(f + 2 * w->fc);
            r[d][3] = vec_load(f + 3 * w->fc);
            r[d][4] = vec_load(f + 4 * w->fc);
        }
        /* z: each plane's row is loaded once for all that need it */
        residual_load(n.u, w->z[0] + i, sc);
        residual_far(r[0], n.u, vec_set(w->lz[0].far_lo));
        residual_load(n.u, w->z[1] + i, sc);
        residual_load_derived(&n, w->wz[0] + i, wc);
        residual_near(r[0], &n, 2, -1, vec_set(w->lz[0].lo), &c->axis[2]);
        if (planes == 2) residual_far(r[1], n.u, vec_set(w->lz[1].far_lo));
        vec mid = vec_load(w->x[4] + i);
        residual_load(n.u, w->z[2] + i, sc);
        residual_load_derived(&n, w->wz[1] + i, wc);
        residual_here(r[0], &n, mid + vec_set(w->ly.mid + w->lz[0].mid), c);
        if (planes == 2) {
            residual_near(r[1], &n, 2, -1, vec_set(w->lz[1].lo), &c->axis[2]);
            residual_load(n.u, w->z[3] + i, sc);
            residual_load_derived(&n, w->wz[2] + i, wc);
            residual_here(r[1], &n, mid + vec_set(w->ly.mid + w->lz[1].mid), c);
            residual_near(r[0], &n, 2, 1, vec_set(w->lz[0].hi), &c->axis[2]);
        }
        residual_load(n.u, w->z[planes + 2] + i, sc);
        residual_derive(&n);
        residual_store_derived(w->wz[planes + 1] + i, wc, &n);
        residual_near(r[planes - 1], &n, 2, 1, vec_set(w->lz[planes - 1].hi), &c->axis[2]);
        if (planes == 2) residual_far(r[0], n.u, vec_set(w->lz[0].far_hi));
        residual_load(n.u, w->z[planes + 3] + i, sc);
        residual_far(r[planes - 1], n.u, vec_set(w->lz[planes - 1].far_hi));
        /* y */
        for (int d = 0; d < planes; d++) {
            residual_load(n.u, w->y[d][0] + i, sc);
            residual_far(r[d], n.u, vec_set(w->ly.far_lo));
            residual_load(n.u, w->y[d][1] + i, sc);
            residual_load_derived(&n, w->wy[d][0] + i, wc);
            residual_near(r[d], &n, 1, -1, vec_set(w->ly.lo), &c->axis[1]);
            residual_load(n.u, w->y[d][2] + i, sc);
            residual_load_derived(&n, w->wy[d][1] + i, wc);
            residual_near(r[d], &n, 1, 1, vec_set(w->ly.hi), &c->axis[1]);
            residual_load(n.u, w->y[d][3] + i, sc);
            residual_far(r[d], n.u, vec_set(w->ly.far_hi));
        }
        /* x */
        for (int d = 0; d < planes; d++) {
            const double *u = w->z[2 + d] + i, *q = w->wz[1 + d] + i;
            residual_loadu(n.u, u - 2, sc);
            residual_far(r[d], n.u, vec_load(w->x[0] + i));
            residual_loadu(n.u, u - 1, sc);
            residual_loadu_derived(&n, q - 1, wc);
            residual_near(r[d], &n, 0, -1, vec_load(w->x[1] + i), &c->axis[0]);
            residual_loadu(n.u, u + 1, sc);
            residual_loadu_derived(&n, q + 1, wc);
            residual_near(r[d], &n, 0, 1, vec_load(w->x[2] + i), &c->axis[0]);
            residual_loadu(n.u, u + 2, sc);
            residual_far(r[d], n.u, vec_load(w->x[3] + i));
        }
        ivec inside = vec_interior(i, w->nx);
        for (int d = 0; d < planes; d++) {
            residual_load(n.u, w->z[2 + d] + i, sc);
            residual_load_derived(&n, w->wz[1 + d] + i, wc);
            put(with, i, w->j, w->k + d, inside, r[d], &n);
        }
    }
    if (i < w->nx) { /* the last boundary point alone in its vector: a neighbour still */
        struct residual_point n;
        for (int d = 0; d < planes; d++) {
            residual_load(n.u, (d == 0 ? w->z[planes + 2] : w->y[1][2]) + i, sc);
            residual_derive(&n);
            residual_store_derived((d == 0 ? w->wz[planes + 1] : w->wy[1][1]) + i, wc, &n);
        }
    }
}

/* derived values of one whole row */
INLINE void residual_derive_row(double *w, ptrdiff_t wc, const double *u, ptrdiff_t sc, int nx) {
    for (int i = 0; i < nx; i += LANES) {
        struct residual_point n;
        residual_load(n.u, u + i, sc);
        residual_derive(&n);
        residual_store_derived(w + i, wc, &n);
    }
}

/* What a core needs for a zone: tables, a row of zeros in the place of a missing f, and the window of
 * derived values, RESIDUAL_SLOTS planes of `rows` + 2 rows. */
struct residual_tile {
    int rows, blocks; /* rows of a block, and blocks along j */
    ptrdiff_t wc;     /* length of a row of derived values with its margins */
};

/* Cuts the interior of a zone into blocks of rows for the team; see residual.c. */
struct residual_tile residual_cut(const struct zone *z, int cores);
void residual_constants(struct residual_constants *c, const struct problem *p);
size_t residual_core_doubles(ptrdiff_t sj, int ny);

/* Does what residual() does, with finish(.., with) in the place of the factor. The pointers finish
 * and with must be known where this is inlined. */
INLINE void residual_with(const struct problem *p, const struct zone *z, const double *u,
                          const double *f, double *work, const struct team *t,
                          residual_put *put, const void *with) {
    const int nx = z->nx, ny = z->ny, nz = z->nz;
    const struct residual_tile tile = residual_cut(z, t->cores);
    const int pairs = (nz - 1) / 2; /* of planes: k = 1 + 2 pair, and the next if it is interior */
    struct residual_constants c;
    residual_constants(&c, p);
    struct residual_rows w;
    w.sc = z->sc;
    w.wc = tile.wc;
    w.nx = nx;
    w.width = (int)z->sj;

    double *mine = work + (size_t)t->core * residual_core_doubles(p->max_sj, p->max_ny);
    double *zeros = mine + 5 * z->sj;
    double *window = zeros + z->sj + 8;
    for (int i = 0; i < z->sj; i++) {
        struct residual_row5 r = residual_row5(p->h[0], DELTA(0), i, nx);
        mine[i] = r.far_lo;
        mine[z->sj + i] = r.lo;
        mine[2 * z->sj + i] = r.hi;
        mine[3 * z->sj + i] = r.far_hi;
        mine[4 * z->sj + i] = r.mid;
        zeros[i] = 0;
    }
    for (int m = 0; m < 5; m++) w.x[m] = mine + m * z->sj;
    w.fc = f ? z->sc : 0;

    int lo, hi;
    team_share(t, tile.blocks * pairs, &lo, &hi);
    int block = -1, j0 = 0, j1 = 0; /* the block's rows, j0 <= j < j1 */
#define RESIDUAL_U(j, k)       (u + zone_at(z, 0, (j), (k)))
#define RESIDUAL_WINDOW(j, k)                                                                      \
    (window + (((k) % RESIDUAL_SLOTS) * (tile.rows + 2) + (j)-j0 + 1) * RESIDUAL_DERIVED * w.wc)
#define RESIDUAL_DERIVE(j, k)                                                                      \
    residual_derive_row(RESIDUAL_WINDOW(j, k), w.wc, RESIDUAL_U(j, k), w.sc, nx)
    for (int piece = lo; piece < hi; piece++) {
        const int k = 1 + 2 * (piece % pairs), planes = k + 1 <= nz - 2 ? 2 : 1;
        if (piece / pairs != block) { /* enter a block: the two planes that nobody made on the way */
            block = piece / pairs;
            j0 = 1 + (int)((int64_t)block * (ny - 2) / tile.blocks);
            j1 = 1 + (int)((int64_t)(block + 1) * (ny - 2) / tile.blocks);
            for (int j = j0; j < j1; j++) RESIDUAL_DERIVE(j, k - 1);
            for (int j = j0; j < j1; j++) RESIDUAL_DERIVE(j, k);
        }
        RESIDUAL_DERIVE(j0 - 1, k);
        RESIDUAL_DERIVE(j1, k);
        if (planes == 2) {
            RESIDUAL_DERIVE(j0 - 1, k + 1);
            RESIDUAL_DERIVE(j0, k + 1);
        }
        for (int d = 0; d < planes; d++) {
            w.lz[d] = residual_row5(p->h[2], DELTA(2), k + d, nz);
        }
        for (int j = j0; j < j1; j++) {
            w.j = j, w.k = k;
            w.ly = residual_row5(p->h[1], DELTA(1), j, ny);
            for (int s = 0; s < planes + 4; s++) {
                int plane = k - 2 + s;
                plane = plane < 0 ? 0 : plane > nz - 1 ? nz - 1 : plane;
                w.z[s] = RESIDUAL_U(j, plane);
            }
            for (int s = 0; s < planes + 2; s++) w.wz[s] = RESIDUAL_WINDOW(j, k - 1 + s);
            for (int d = 0; d < planes; d++) {
                w.y[d][0] = RESIDUAL_U(j >= 2 ? j - 2 : 0, k + d);
                w.y[d][1] = RESIDUAL_U(j - 1, k + d);
                w.y[d][2] = RESIDUAL_U(j + 1, k + d);
                w.y[d][3] = RESIDUAL_U(j + 2 <= ny - 1 ? j + 2 : ny - 1, k + d);
                w.wy[d][0] = RESIDUAL_WINDOW(j - 1, k + d);
                w.wy[d][1] = RESIDUAL_WINDOW(j + 1, k + d);
                w.f[d] = f ? f + zone_at(z, 0, j, k + d) : zeros;
            }
            if (planes == 2)
                residual_do_rows(&w, 2, &c, put, with);
            else
                residual_do_rows(&w, 1, &c, put, with);
        }
    }
#undef RESIDUAL_U
#undef RESIDUAL_WINDOW
#undef RESIDUAL_DERIVE
}

#endif
