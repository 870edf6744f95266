/* BT-MZ's time step: the block-tridiagonal solver, four passes over a zone.
 *
 * The approximate factorisation of "The NAS Parallel Benchmarks" (RNR-94-007, section 4.3), per
 * zone as in NAS-03-010. The arithmetic is in gas.h (a point), row.h (a row of the elimination) and
 * line.h (a line); here a zone's lines are put into groups of LANES and the groups handed out to
 * the team. Along y and z a group is a block of points beside one another along i, or two halves
 * of blocks that are packed; along x it is any LANES lines, transposed on the way to a buffer and
 * back, which takes 16 shuffles for each of the 11 values that go and the 5 that come back of
 * LANES x LANES points.
 */
#include "npbmz/bt/bt.h"

#include "npbmz/bt/line.h"
#include "npbmz/host/residual_rows.h"
#include "npbmz/host/transpose.h"

enum { C_DOUBLES = sizeof(struct block) / sizeof(double) };

/* A core's buffer: C of a group of lines; the group's points where they are transposed or packed,
 * along z with their u; and along x a row of the zone for lanes that have no line. */
enum { MOVED_DOUBLES = BT_BLOCK + NC * LANES };
static ptrdiff_t longest(int nx, int ny, int nz) {
    int x = inner_blocks(nx) * LANES, yz = ny > nz ? ny : nz;
    return x > yz ? x : yz;
}
static size_t own_doubles(int nx, int ny, int nz) {
    ptrdiff_t points = longest(nx, ny, nz) * (C_DOUBLES + MOVED_DOUBLES);
    return (size_t)odd_lines(points + inner_blocks(nx) * BT_BLOCK);
}
static double *moved(const struct zone *z, const struct workspace *w) {
    return w->own + longest(z->nx, z->ny, z->nz) * C_DOUBLES;
}

struct workspace bt_work(const struct problem *p, const struct zone *z, const struct scratch *s,
                         const struct team *t) {
    return workspace(p, z, s, t, BT_BLOCK, own_doubles(z->nx, z->ny, z->nz));
}

static size_t bt_scratch(const struct problem *p, int cores) {
    return workspace_scratch(p, cores, BT_BLOCK, own_doubles(p->max_nx, p->max_ny, p->max_nz));
}

/* ---- residual ------------------------------------------------------------------------------ */

struct rhs_out {
    struct workspace w;
    double scale;
};
INLINE void rhs_put(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                    const struct residual_point *q) {
    const struct rhs_out *o = with;
    const struct workspace *w = &o->w;
    double *b = w->b + k * w->bk + j * w->bj + i / LANES * BT_BLOCK;
    const vec volume = 1.0 / q->u[0];
    (void)inside;
    for (int c = 0; c < NC; c++) vec_store(b + (BT_X + c) * LANES, o->scale * r[c]);
    for (int n = 0; n < 3; n++) vec_store(b + (BT_V + n) * LANES, q->v[n]);
    vec_store(b + BT_ENERGY * LANES, q->u[NC - 1] * volume);
    vec_store(b + BT_PRESSURE * LANES, q->p * volume);
    vec_store(b + BT_VOLUME * LANES, volume);
}

void bt_rhs(const struct problem *p, const struct zone *z, const struct workspace *w,
            const struct team *t) {
    const struct rhs_out out = {*w, 8 * p->h[0] * p->h[1] * p->h[2] / (p->dt * p->dt)};
    residual_with(p, z, z->u, z->f, w->residual, t, rhs_put, &out);
}

/* ---- x ------------------------------------------------------------------------------------- */

/* row of line number n of the planes from k0 on */
static double *x_row(const struct zone *z, const struct workspace *w, int k0, int n) {
    const int rows = z->ny - 2;
    return w->b + (k0 + n / rows) * w->bk + (1 + n % rows) * w->bj;
}

/* points of block i of a row that are solved for or lie before these */
static int first_points(const struct zone *z, int i) {
    const int left = z->nx - 1 - i * LANES;
    return left < LANES ? left : LANES;
}

/* In the last group, lanes beyond the last line repeat it and give their answer to a spare
 * row. */
void bt_x(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1) {
    const struct scheme c = scheme(p->h[0], DELTA(0), p->dt);
    const int lines = (z->ny - 2) * (k1 - k0);
    double *transposed = moved(z, w);
    double *spare = transposed + longest(z->nx, z->ny, z->nz) * MOVED_DOUBLES;
    struct line line = {.at = transposed,
                        .step = BT_BLOCK,
                        .n = z->nx,
                        .d = 0,
                        .p = LANES,
                        .q = 2 * LANES,
                        .work = (struct block *)w->own,
                        .next_step = BT_BLOCK};
    int lo, hi;
    team_share(t, (lines + LANES - 1) / LANES, &lo, &hi);
    for (int group = lo; group < hi; group++) {
        const int first = group * LANES, after = first + LANES;
        const double *from[LANES];
        double *to[LANES];
        for (int l = 0; l < LANES; l++) {
            const int real = first + l < lines;
            double *row = x_row(z, w, k0, real ? first + l : lines - 1);
            from[l] = row;
            to[l] = real ? row : spare;
        }
        line.next =
            group + 1 < hi ? x_row(z, w, k0, after) : from[0]; /* the others lie behind it */
        for (int i = 0; i < w->blocks; i++)
            for (int v = 0; v < BT_VALUES; v++)
                transpose_in_first(first_points(z, i), from, i * BT_BLOCK + v * LANES,
                                   transposed + i * LANES * BT_BLOCK + v * LANES, BT_BLOCK);
        line_solve(&line, &c, NULL);
        for (int i = 0; i < w->blocks; i++)
            for (int v = 0; v < NC; v++)
                transpose_out_first(first_points(z, i),
                                    transposed + i * LANES * BT_BLOCK + v * LANES, BT_BLOCK, to,
                                    i * BT_BLOCK + v * LANES);
    }
}

/* ---- y and z --------------------------------------------------------------------------------- */

/* Lanes are points along i: the lines through a block are a group. Where the last block of a row
 * has interior points in its lower half alone, two such blocks, of rows beside one another, are one
 * group. A row is what has all blocks along i: of a plane k along y, of a j along z. */
struct groups {
    int whole; /* blocks of a row that are a group each */
    int rows;
    int pairs; /* pairs of rows whose last blocks are one group; the last may lack its second row */
};
struct group {
    int row, block;
    int paired; /* with the same block of the next row */
};
static struct groups groups(const struct zone *z, const struct workspace *w, int rows) {
    const int half = (z->nx - 2) % LANES < LANES / 2;
    const struct groups g = {w->blocks - half, rows, half ? (rows + 1) / 2 : 0};
    return g;
}
static int groups_count(const struct groups *g) { return g->whole * g->rows + g->pairs; }
static struct group group_of(const struct groups *g, int n) {
    const int pair = n - g->whole * g->rows, row = 2 * pair;
    struct group o = {row, g->whole, row + 1 < g->rows};
    if (pair < 0) o.row = n / g->whole, o.block = n % g->whole, o.paired = 0;
    return o;
}

/* Packs the lower halves of `values` vectors from a on, and of those `other` doubles behind them.
 */
INLINE void pack(const double *a, ptrdiff_t other, ptrdiff_t step, int values, double *to) {
    for (int v = 0; v < values; v++)
        vec_store(to + v * LANES, halves(a + v * step, a + other + v * step));
}
INLINE void unpack(const double *from, int values, double *a, ptrdiff_t other, ptrdiff_t step) {
    for (int v = 0; v < values; v++) {
        const vec x = vec_load(from + v * LANES);
        store_half(a + v * step, x, 0);
        store_half(a + other + v * step, x, 1);
    }
}

/* Begins of a group's lines. */
static double *y_lines(const struct workspace *w, int k0, struct group g) {
    return w->b + (k0 + g.row) * w->bk + g.block * BT_BLOCK;
}
static double *z_lines(const struct workspace *w, struct group g) {
    return w->b + (1 + g.row) * w->bj + g.block * BT_BLOCK;
}

void bt_y(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1) {
    const struct scheme c = scheme(p->h[1], DELTA(1), p->dt);
    const struct groups all = groups(z, w, k1 - k0);
    double *packed = moved(z, w);
    struct line line = {.next_step = w->bj,
                        .n = z->ny,
                        .d = LANES,
                        .p = 0,
                        .q = 2 * LANES,
                        .work = (struct block *)w->own};
    int lo, hi;
    team_share(t, groups_count(&all), &lo, &hi);
    for (int n = lo; n < hi; n++) {
        const struct group g = group_of(&all, n);
        double *at = y_lines(w, k0, g);
        line.at = at;
        line.step = w->bj;
        line.next = y_lines(w, k0, group_of(&all, n + 1 < hi ? n + 1 : n));
        if (g.paired) {
            for (int j = 1; j < z->ny - 1; j++)
                pack(at + j * w->bj, w->bk, LANES, BT_VALUES, packed + j * BT_BLOCK);
            line.at = packed;
            line.step = BT_BLOCK;
        }
        line_solve(&line, &c, NULL);
        if (g.paired)
            for (int j = 1; j < z->ny - 1; j++)
                unpack(packed + j * BT_BLOCK, NC, at + j * w->bj, w->bk, LANES);
    }
}

/* u of the points of lines, whose components lie `component` doubles from one another, as lines
 * along z see it; block `block`, or in both halves the lower half of it */
static struct line_update z_update(double *u, ptrdiff_t step, ptrdiff_t component, int nx,
                                   struct group g) {
    struct line_update o = {.u = u,
                            .step = step,
                            .d = 3 * component,
                            .p = component,
                            .q = 2 * component,
                            .e = (NC - 1) * component};
    const ivec lanes = vec_iota(),
               i = (g.paired ? lanes & (LANES / 2 - 1) : lanes) + g.block * LANES;
    o.inside = (i >= 1) & (i <= (int64_t)nx - 2);
    return o;
}

void bt_z(const struct problem *p, struct zone *z, const struct workspace *w,
          const struct team *t) {
    const struct scheme c = scheme(p->h[2], DELTA(2), p->dt);
    const struct groups all = groups(z, w, z->ny - 2);
    double *packed = moved(z, w);
    struct line line = {.next_step = w->bk,
                        .n = z->nz,
                        .d = 2 * LANES,
                        .p = 0,
                        .q = LANES,
                        .work = (struct block *)w->own};
    int lo, hi;
    team_share(t, groups_count(&all), &lo, &hi);
    for (int n = lo; n < hi; n++) {
        const struct group g = group_of(&all, n);
        double *at = z_lines(w, g), *u = z->u + zone_at(z, g.block * LANES, 1 + g.row, 0);
        line.next = z_lines(w, group_of(&all, n + 1 < hi ? n + 1 : n));
        struct line_update update;
        if (g.paired) {
            for (int k = 1; k < z->nz - 1; k++) {
                double *to = packed + k * MOVED_DOUBLES;
                pack(at + k * w->bk, w->bj, LANES, BT_VALUES, to);
                pack(u + k * z->sk, z->sj, z->sc, NC, to + BT_BLOCK);
            }
            line.at = packed;
            line.step = MOVED_DOUBLES;
            update = z_update(packed + BT_BLOCK, MOVED_DOUBLES, LANES, z->nx, g);
        } else {
            line.at = at;
            line.step = w->bk;
            update = z_update(u, z->sk, z->sc, z->nx, g);
        }
        line_solve(&line, &c, &update);
        if (g.paired)
            for (int k = 1; k < z->nz - 1; k++)
                unpack(packed + k * MOVED_DOUBLES + BT_BLOCK, NC, u + k * z->sk, z->sj, z->sc);
    }
}

/* ---- the step ------------------------------------------------------------------------------ */

/* half of a second-level cache of 1 MB: C and the lines of a group are there, too */
static const struct passes passes = {1 << 19, bt_rhs, bt_x, bt_y, bt_z};

static void bt_step(const struct problem *p, struct zone *z, struct scratch *s,
                    const struct team *t) {
    const struct workspace w = bt_work(p, z, s, t);
    passes_step(&passes, p, z, s, &w, t);
}

static void bt_phase(const struct problem *p, struct zone *z, struct scratch *s,
                     const struct team *t, int phase) {
    const struct workspace w = bt_work(p, z, s, t);
    passes_phase(&passes, p, z, s, &w, t, phase);
}

static size_t bt_kept(const struct zone *z) { return workspace_kept(z, BT_BLOCK); }

const struct solver solver_bt = {.name = "bt-mz",
                                 .scratch = bt_scratch,
                                 .step = bt_step,
                                 .phases = 4,
                                 .phase = bt_phase,
                                 .kept = bt_kept};
