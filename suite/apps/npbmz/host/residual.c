/* The residual f + L(U) of a zone, scaled, and how a zone is cut for it. The arithmetic is in
 * residual_rows.h. */
#include "npbmz/host/residual_rows.h"

/* Doubles of derived values that a core keeps at a time: together with the planes of u that go with
 * them, at home in the second-level cache: processors with 8 lanes have 1 MB or more, others half
 * of it. Rows at a block's sides are read once more from behind that cache, so blocks are few.
 * Blocks of fewer rows than FEWEST would make most derived values twice. */
enum { WINDOW = LANES == 8 ? 33000 : 16000, FEWEST = 4 };

/* the window of a block of `rows` rows */
static ptrdiff_t window_doubles(ptrdiff_t sj, int rows) {
    return RESIDUAL_PLANES * (rows + 2) * residual_derived_row(sj);
}

/* the most rows of a block */
static int max_rows(ptrdiff_t sj, int ny) {
    int rows = ny - 2;
    while (rows > FEWEST && window_doubles(sj, rows) > WINDOW) rows--;
    return rows;
}

size_t residual_core_doubles(ptrdiff_t sj, int ny) {
    /* A smaller zone of the problem may have more rows in its blocks than one of this size, but
     * beyond FEWEST rows no window is larger than WINDOW. */
    ptrdiff_t window = window_doubles(sj, ny - 2 < FEWEST ? ny - 2 : FEWEST);
    ptrdiff_t all = window_doubles(sj, ny - 2);
    if (window < WINDOW) window = all < WINDOW ? all : WINDOW;
    ptrdiff_t tables = (RESIDUAL_DERIVED + 1) * sj + RESIDUAL_DERIVED * (ny + 8);
    return (size_t)(tables + window + 2 * RESIDUAL_VECTOR + 15) / 8 * 8;
}

size_t residual_scratch(const struct problem *p, int cores) {
    return (size_t)cores * residual_core_doubles(p->max_sj, p->max_ny);
}

/* The cut whose busiest core has least to do, counted in rows. Derived values cost about a sixth
 * of a row: beside its rows, a piece makes two rows of them, and a core that enters a block two
 * planes of it. */
struct residual_cut residual_cut(const struct zone *z, int cores) {
    const int inner = z->ny - 2, planes = z->nz - 2, max = max_rows(z->sj, z->ny);
    struct residual_cut best = {0, 0};
    double least = 0;
    for (int blocks = (inner + max - 1) / max; blocks <= inner; blocks++) {
        int rows = (inner + blocks - 1) / blocks;
        int pieces = (blocks * planes + cores - 1) / cores;
        int entries = pieces % planes == 0 ? pieces / planes : pieces / planes + 2;
        double cost = pieces * (rows + 2 / 6.0) + entries * rows * 2 / 6.0;
        if (best.blocks == 0 || cost < least)
            least = cost, best = (struct residual_cut){blocks, rows};
        if (blocks * planes > 8 * cores && best.blocks < blocks) break;
    }
    return best;
}

void residual_constants(struct residual_constants *c, const struct problem *p) {
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        struct residual_axis *x = &c->axis[d];
        double h = p->h[d], t = C34 / (h * h);
        x->a = -1 / (2 * h);
        x->t = t;
        x->t43 = t * (4.0 / 3);
        x->b = t / (6 * x->a);
        x->second = DELTA(d) / (h * h);
        sum += t;
    }
    for (int d = 0; d < 3; d++) {
        c->v[d] = -2 * (sum + c->axis[d].t / 3);
        c->vv[d] = -2 * c->axis[d].t / 6;
    }
    c->g = -2 * sum;
}

/* where the rows go */
struct field {
    double *at;
    ptrdiff_t sj, sk, sc;
    double scale;
};

INLINE void put_in_field(const struct field *o, int i, int j, int k, ivec inside, const vec r[NC]) {
    double *to = o->at + k * o->sk + j * o->sj + i;
    RESIDUAL_IN_REGISTER(to);
    for (int m = 0; m < NC; m++) {
        vec_store(to, (vec)((ivec)r[m] & inside));
        to += o->sc;
        RESIDUAL_IN_REGISTER(to);
    }
}

INLINE void put_scaled(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                       const struct residual_point *q) {
    const struct field *o = with;
    (void)q;
    for (int m = 0; m < NC; m++) r[m] = vec_set(o->scale) * r[m];
    put_in_field(o, i, j, k, inside, r);
}

INLINE void put_plain(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                      const struct residual_point *q) {
    (void)q;
    put_in_field(with, i, j, k, inside, r);
}

/* Aligned: the place of its loop within 64 bytes makes up to 20 % of difference with clang on
 * Sapphire Rapids. */
__attribute__((aligned(64))) void residual(const struct problem *p, const struct zone *z,
                                           const double *u, const double *f, double scale,
                                           double *out, double *work, const struct team *t) {
    const struct field o = {out, z->sj, z->sk, z->sc, scale};
    if (scale == 1)
        residual_with(p, z, u, f, work, t, put_plain, &o);
    else
        residual_with(p, z, u, f, work, t, put_scaled, &o);

    /* vectors beyond the last interior point, which residual_with does not visit
     */
    const int beyond = (z->nx - 1 + LANES - 1) / LANES * LANES, inner = z->ny - 2;
    int lo, hi;
    team_share(t, inner * (z->nz - 2), &lo, &hi);
    for (int row = beyond < z->sj ? lo : hi; row < hi; row++)
        for (int m = 0; m < NC; m++) {
            double *to = out + m * z->sc + zone_at(z, 0, 1 + row % inner, 1 + row / inner);
            for (int i = beyond; i < z->sj; i += LANES) vec_store(to + i, (vec){0});
        }
}
