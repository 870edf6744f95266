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

/* n doubles rounded up to an odd number of cache lines */
static ptrdiff_t odd_lines(ptrdiff_t n) { return ((n + 7) / 8 | 1) * 8; }

/* blocks of a row that have interior points */
static int inner_blocks(int nx) { return (nx - 2) / LANES + 1; }

enum { C_DOUBLES = sizeof(struct block) / sizeof(double) };

/* A core's buffer: C of a group of lines; and along x, the group turned round and a row of the zone
 * for lanes that have no line. */
static ptrdiff_t longest(int nx, int ny, int nz) {
    int x = inner_blocks(nx) * LANES, yz = ny > nz ? ny : nz;
    return x > yz ? x : yz;
}
static size_t own_doubles(int nx, int ny, int nz) {
    ptrdiff_t c = longest(nx, ny, nz) * C_DOUBLES, row = inner_blocks(nx) * BT_BLOCK;
    return (size_t)odd_lines(c + (LANES + 1) * row);
}

/* fills the shape; doubles of b */
static size_t work_shape(struct bt_work *w, int nx, int ny, int nz) {
    w->blocks = inner_blocks(nx);
    w->bj = odd_lines(w->blocks * BT_BLOCK);
    w->bk = odd_lines(w->bj * ny);
    return (size_t)(w->bk * nz);
}

struct bt_work bt_work(const struct problem *p, const struct zone *z, const struct scratch *s,
                       const struct team *t) {
    struct bt_work w;
    size_t shared = work_shape(&w, z->nx, z->ny, z->nz);
    w.b = s->memory;
    w.residual = w.b + shared;
    w.own = w.residual + residual_scratch(p, t->cores) +
            (size_t)t->core * own_doubles(z->nx, z->ny, z->nz);
    w.scale = 8 * p->h[0] * p->h[1] * p->h[2] / (p->dt * p->dt);
    return w;
}

static size_t bt_scratch(const struct problem *p, int cores) {
    struct bt_work w;
    return work_shape(&w, p->max_nx, p->max_ny, p->max_nz) + residual_scratch(p, cores) +
           (size_t)cores * own_doubles(p->max_nx, p->max_ny, p->max_nz);
}

/* ---- residual ------------------------------------------------------------------------------ */

INLINE void rhs_put(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                    const struct residual_point *q) {
    const struct bt_work *w = with;
    double *b = w->b + k * w->bk + j * w->bj + i / LANES * BT_BLOCK;
    const vec volume = 1.0 / q->u[0];
    (void)inside;
    for (int c = 0; c < NC; c++) vec_store(b + (BT_X + c) * LANES, w->scale * r[c]);
    for (int n = 0; n < 3; n++) vec_store(b + (BT_V + n) * LANES, q->v[n]);
    vec_store(b + BT_ENERGY * LANES, q->u[NC - 1] * volume);
    vec_store(b + BT_PRESSURE * LANES, q->p * volume);
    vec_store(b + BT_VOLUME * LANES, volume);
}

void bt_rhs(const struct problem *p, const struct zone *z, const struct bt_work *w,
            const struct team *t) {
    residual_with(p, z, z->u, z->f, w->residual, t, rhs_put, w);
}

/* ---- x ------------------------------------------------------------------------------------- */

/* row of line number n of the planes from k0 on */
static double *x_row(const struct zone *z, const struct bt_work *w, int k0, int n) {
    const int rows = z->ny - 2;
    return w->b + (k0 + n / rows) * w->bk + (1 + n % rows) * w->bj;
}

/* In the last group, lanes beyond the last line repeat it and give their answer to a row that
 * nobody reads. */
void bt_x(const struct problem *p, const struct zone *z, const struct bt_work *w,
          const struct team *t, int k0, int k1) {
    const struct scheme c = scheme(p->h[0], DELTA(0), p->dt);
    const int lines = (z->ny - 2) * (k1 - k0);
    double *turned = w->own + longest(z->nx, z->ny, z->nz) * C_DOUBLES;
    double *nobody = turned + w->blocks * LANES * BT_BLOCK;
    struct line line = {.at = turned,
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
            to[l] = real ? row : nobody;
        }
        line.next =
            group + 1 < hi ? x_row(z, w, k0, after) : from[0]; /* the others lie behind it */
        for (int i = 0; i < w->blocks; i++)
            for (int v = 0; v < BT_VALUES; v++)
                transpose_in(from, i * BT_BLOCK + v * LANES,
                             turned + i * LANES * BT_BLOCK + v * LANES, BT_BLOCK);
        line_solve(&line, &c);
        for (int i = 0; i < w->blocks; i++)
            for (int v = 0; v < NC; v++)
                transpose_out(turned + i * LANES * BT_BLOCK + v * LANES, BT_BLOCK, to,
                              i * BT_BLOCK + v * LANES);
    }
}

/* ---- y and z --------------------------------------------------------------------------------- */

/* Lanes are points along i: the lines through a block go together. Where they begin: */
static double *y_lines(const struct bt_work *w, int k0, int group) {
    return w->b + (k0 + group / w->blocks) * w->bk + group % w->blocks * BT_BLOCK;
}
static double *z_lines(const struct bt_work *w, int group) {
    return w->b + (1 + group / w->blocks) * w->bj + group % w->blocks * BT_BLOCK;
}

void bt_y(const struct problem *p, const struct zone *z, const struct bt_work *w,
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
        line_solve(&line, &c);
    }
}

void bt_z(const struct problem *p, struct zone *z, const struct bt_work *w, const struct team *t) {
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
        line_solve_update(&line, &c, &u);
    }
}

/* ---- the step ------------------------------------------------------------------------------ */

/* Lines along x and along y lie in planes k, so both directions are done for a few planes before
 * the next: as many as stay in the second-level caches of the team. Evenly cut. */
#ifndef CHUNK
enum { CHUNK = 1 << 20 }; /* bytes a core */
#endif
static int chunk_planes(const struct zone *z, const struct bt_work *w, const struct team *t) {
    int inner = z->nz - 2;
    ptrdiff_t fit = CHUNK / 8 * t->cores / w->bk;
    if (fit < 1) fit = 1;
    if (fit >= inner) return inner;
    int chunks = (int)((inner + fit - 1) / fit);
    return (inner + chunks - 1) / chunks;
}

static void bt_step(const struct problem *p, struct zone *z, struct scratch *s,
                    const struct team *t) {
    const struct bt_work w = bt_work(p, z, s, t);
    phase_start(s, t);
    bt_rhs(p, z, &w, t);
    team_barrier(t);
    phase_mark(s, t, NPBMZ_RHS);
    const int planes = chunk_planes(z, &w, t);
    for (int k = 1; k < z->nz - 1; k += planes) {
        int end = k + planes < z->nz - 1 ? k + planes : z->nz - 1;
        bt_x(p, z, &w, t, k, end);
        team_barrier(t);
        phase_mark(s, t, NPBMZ_X);
        bt_y(p, z, &w, t, k, end);
        phase_mark(s, t, NPBMZ_Y);
    }
    team_barrier(t);
    phase_mark(s, t, NPBMZ_Y);
    bt_z(p, z, &w, t);
    team_barrier(t);
    phase_mark(s, t, NPBMZ_Z);
}

const struct solver solver_bt = {.name = "bt-mz", .scratch = bt_scratch, .step = bt_step};
