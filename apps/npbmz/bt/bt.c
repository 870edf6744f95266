/* BT-MZ's time step: the block-tridiagonal solver, four passes over a zone.
 *
 * The approximate factorisation of "The NAS Parallel Benchmarks" (RNR-94-007, section 4.3), per
 * zone as in NAS-03-010. The arithmetic is in gas.h (a point), row.h (a row of the elimination) and
 * line.h (a line); here a zone's lines are put into groups of LANES and the groups handed out to
 * the team. Along y and z a group is a block of points beside one another along i; along x it is
 * any LANES lines, transposed on the way to a buffer and back, which takes 16 shuffles for each
 * of the 11 values that go and the 5 that come back of LANES x LANES points.
 */
#include "npbmz/bt/bt.h"

#include "npbmz/bt/line.h"
#include "npbmz/host/residual_rows.h"
#include "npbmz/host/transpose.h"

enum { C_DOUBLES = sizeof(struct block) / sizeof(double) };

/* A core's buffer: C of a group of lines; and along x, the group transposed and a row of the zone
 * for lanes that have no line. */
static ptrdiff_t longest(int nx, int ny, int nz) {
    int x = inner_blocks(nx) * LANES, yz = ny > nz ? ny : nz;
    return x > yz ? x : yz;
}
static size_t own_doubles(int nx, int ny, int nz) {
    ptrdiff_t c = longest(nx, ny, nz) * C_DOUBLES, row = inner_blocks(nx) * BT_BLOCK;
    return (size_t)odd_lines(c + (LANES + 1) * row);
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

/* In the last group, lanes beyond the last line repeat it and give their answer to a spare
 * row. */
void bt_x(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1) {
    const struct scheme c = scheme(p->h[0], DELTA(0), p->dt);
    const int lines = (z->ny - 2) * (k1 - k0);
    double *transposed = w->own + longest(z->nx, z->ny, z->nz) * C_DOUBLES;
    double *spare = transposed + w->blocks * LANES * BT_BLOCK;
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
                transpose_in(from, i * BT_BLOCK + v * LANES,
                             transposed + i * LANES * BT_BLOCK + v * LANES, BT_BLOCK);
        line_solve(&line, &c, NULL);
        for (int i = 0; i < w->blocks; i++)
            for (int v = 0; v < NC; v++)
                transpose_out(transposed + i * LANES * BT_BLOCK + v * LANES, BT_BLOCK, to,
                              i * BT_BLOCK + v * LANES);
    }
}

/* ---- y and z --------------------------------------------------------------------------------- */

/* Lanes are points along i: the lines through a block go together. Where they begin: */
static double *y_lines(const struct workspace *w, int k0, int group) {
    return w->b + (k0 + group / w->blocks) * w->bk + group % w->blocks * BT_BLOCK;
}
static double *z_lines(const struct workspace *w, int group) {
    return w->b + (1 + group / w->blocks) * w->bj + group % w->blocks * BT_BLOCK;
}

void bt_y(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1) {
    const struct scheme c = scheme(p->h[1], DELTA(1), p->dt);
    struct line line = {.step = w->bj,
                        .next_step = w->bj,
                        .n = z->ny,
                        .d = LANES,
                        .p = 0,
                        .q = 2 * LANES,
                        .work = (struct block *)w->own};
    int lo, hi;
    team_share(t, w->blocks * (k1 - k0), &lo, &hi);
    for (int group = lo; group < hi; group++) {
        line.at = y_lines(w, k0, group);
        line.next = y_lines(w, k0, group + 1 < hi ? group + 1 : group);
        line_solve(&line, &c, NULL);
    }
}

void bt_z(const struct problem *p, struct zone *z, const struct workspace *w,
          const struct team *t) {
    const struct scheme c = scheme(p->h[2], DELTA(2), p->dt);
    struct line line = {.step = w->bk,
                        .next_step = w->bk,
                        .n = z->nz,
                        .d = 2 * LANES,
                        .p = 0,
                        .q = LANES,
                        .work = (struct block *)w->own};
    struct line_update u = {
        .step = z->sk, .d = 3 * z->sc, .p = z->sc, .q = 2 * z->sc, .e = (NC - 1) * z->sc};
    int lo, hi;
    team_share(t, w->blocks * (z->ny - 2), &lo, &hi);
    for (int group = lo; group < hi; group++) {
        const int j = 1 + group / w->blocks, i = group % w->blocks * LANES;
        line.at = z_lines(w, group);
        line.next = z_lines(w, group + 1 < hi ? group + 1 : group);
        u.u = z->u + zone_at(z, i, j, 0);
        u.inside = vec_interior(i, z->nx);
        line_solve(&line, &c, &u);
    }
}

/* ---- the step ------------------------------------------------------------------------------ */

static void bt_step(const struct problem *p, struct zone *z, struct scratch *s,
                    const struct team *t) {
    static const struct passes passes = {1 << 20, bt_rhs, bt_x, bt_y, bt_z};
    const struct workspace w = bt_work(p, z, s, t);
    passes_step(&passes, p, z, s, &w, t);
}

const struct solver solver_bt = {.name = "bt-mz", .scratch = bt_scratch, .step = bt_step};
