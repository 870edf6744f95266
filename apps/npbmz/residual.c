/* The residual f + L(U) of a zone, scaled, and how a zone is cut for it. The arithmetic is in
 * residual_rows.h. */
#include "residual_rows.h"

/* doubles of derived values that one core keeps at a time: what is at home in a second-level cache
 * beside the planes of u it goes with */
enum { WINDOW = 40000 };

static ptrdiff_t row_length(ptrdiff_t sj) { return sj + 8; }

static ptrdiff_t largest_window(ptrdiff_t sj, int ny) {
    ptrdiff_t one_row = RESIDUAL_SLOTS * RESIDUAL_DERIVED * row_length(sj);
    ptrdiff_t all = one_row * ny, least = 3 * one_row;
    return all < WINDOW ? all : WINDOW > least ? WINDOW : least;
}

size_t residual_core_doubles(ptrdiff_t sj, int ny) {
    size_t n = (size_t)(6 * sj + 8 + largest_window(sj, ny) + 8);
    return (n + 15) / 8 * 8;
}

size_t residual_scratch(const struct problem *p, int cores) {
    return (size_t)cores * residual_core_doubles(p->max_sj, p->max_ny);
}

struct residual_tile residual_cut(const struct zone *z, int cores) {
    struct residual_tile t;
    t.wc = row_length(z->sj);
    const int inner = z->ny - 2, pairs = (z->nz - 1) / 2;
    ptrdiff_t fit = largest_window(z->sj, z->ny) / (RESIDUAL_SLOTS * RESIDUAL_DERIVED * t.wc) - 2;
    int most = fit < inner ? (int)fit : inner;
    if (most < 1) most = 1;
    /* the cut whose slowest core has least to do, counted in rows: a piece has its rows in two
     * planes and the making of derived values beside it, a block two planes of those more */
    double best = 0;
    t.rows = most, t.blocks = (inner + most - 1) / most;
    for (int blocks = t.blocks; blocks <= inner; blocks++) {
        int rows = (inner + blocks - 1) / blocks;
        int pieces = (blocks * pairs + cores - 1) / cores;
        int entries = 1 + (pieces + pairs - 1) / pairs;
        if (pieces == blocks * pairs) entries = blocks;
        double cost = pieces * (2 * rows + 4 * 0.2) + entries * 2 * rows * 0.2;
        if (best == 0 || cost < best) best = cost, t.rows = rows, t.blocks = blocks;
    }
    return t;
}

void residual_constants(struct residual_constants *c, const struct problem *p) {
    double t[3], sum = 0;
    for (int d = 0; d < 3; d++) {
        t[d] = C34 / (p->h[d] * p->h[d]);
        sum += t[d];
    }
    for (int d = 0; d < 3; d++) {
        struct residual_axis *x = &c->axis[d];
        x->a = -1 / (2 * p->h[d]);
        x->t = t[d];
        x->t43 = t[d] * (4.0 / 3);
        x->b = t[d] / (6 * x->a);
        c->v[d] = -2 * (sum + t[d] / 3);
        c->vv[d] = -2 * t[d] / 6;
    }
    c->g = -2 * sum;
}

/* where residual() puts its rows */
struct field {
    double *at;
    ptrdiff_t sj, sk, sc;
    int nx;
    double scale;
};

INLINE void put(const void *with, int i, int j, int k, ivec inside, vec r[NC], int scaled) {
    const struct field *o = with;
    double *to = o->at + k * o->sk + j * o->sj;
    for (int m = 0; m < NC; m++) {
        vec a = scaled ? vec_set(o->scale) * r[m] : r[m];
        vec_store(to + m * o->sc + i, (vec)((ivec)a & inside));
    }
    if (i + LANES >= o->nx - 1)
        for (i += LANES; i < o->sj; i += LANES)
            for (int m = 0; m < NC; m++) vec_store(to + m * o->sc + i, (vec){0});
}

static inline void put_scaled(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                              const struct residual_point *q) {
    (void)q;
    put(with, i, j, k, inside, r, 1);
}

static inline void put_plain(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                             const struct residual_point *q) {
    (void)q;
    put(with, i, j, k, inside, r, 0);
}

void residual(const struct problem *p, const struct zone *z, const double *u, const double *f,
              double scale, double *out, double *work, const struct team *t) {
    const struct field o = {out, z->sj, z->sk, z->sc, z->nx, scale};
    if (scale == 1)
        residual_with(p, z, u, f, work, t, put_plain, &o);
    else
        residual_with(p, z, u, f, work, t, put_scaled, &o);
}
