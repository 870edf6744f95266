/* The stages of a sweep, and the order in which strips go through them. */
#include "mg/slabs/sweep.h"
#include "common/run/huge_alloc.h"
#include "common/simd/lanes.h"
#include <stdlib.h>
#include <string.h>

/* Bytes of a strip's part of a plane. Some ten of these are under way, in the second-level cache:
 * processors with 8 lanes have larger ones. */
enum { STRIP = (LANES == 8 ? 64 : 32) << 10 };

enum { AVERAGED = 5 }; /* fine rows a coarse one */

ptrdiff_t work_doubles(int n) {
    const struct level l = level_shape(n);
    return (3 + SWEEP_ASIDE) * l.plane + (2 * AVERAGED + 2 * GRID_SIDES) * l.row;
}

int work_open(struct work *w, int n) {
    const struct level l = level_shape(n);
    w->memory = room((size_t)work_doubles(n) * sizeof(double));
    if (!w->memory) return -1;
    w->r = w->memory;
    w->aside = w->r + 3 * l.plane;
    w->row = w->aside + SWEEP_ASIDE * l.plane;
    w->sides = w->row + 2 * AVERAGED * l.row;
    w->strip = STRIP;
    return 0;
}

void work_close(struct work *w) {
    free(w->memory);
    memset(w, 0, sizeof *w);
}

/* A sweep under way: a range of a level. */
struct sweep {
    const struct problem *p;
    const struct level *level, *below;
    struct work *work;
    int finest, begin, end, what;
    double *aside;
};

/* Address where plane k of u is computed. */
static double *plane_u(const struct sweep *s, int k) {
    if (k < s->begin) return s->aside + (k - s->begin + 2) * s->level->plane;
    if (k >= s->end) return s->aside + (k - s->end + 2) * s->level->plane;
    return s->level->u + k * s->level->plane;
}

static double *plane_r(const struct sweep *s, int k) {
    return s->work->r + (k - s->begin + 3) % 3 * s->level->plane;
}

/* Row j of a plane, whatever side it is beyond. */
static double *row_of(const struct level *level, double *plane, int j) {
    return plane + (j & (level->n - 1)) * level->row;
}

static void gather(const struct level *level, double *const plane[3], int b, struct rows *rows) {
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 4; j++) rows->at[k][j] = row_of(level, plane[k], 2 * b - 1 + j);
}

/* ---- strips --------------------------------------------------------------------------------- */

/* Pairs of rows a strip. */
static int strip_of(const struct sweep *s) {
    const int pairs = s->work->strip / (int)(2 * s->level->row * (int)sizeof(double));
    return pairs > 4 ? pairs : 4;
}

/* r of plane k where strips meet: the last four rows of the strip before, and the first four of
 * all, which the last strip is beside. Those of planes beside the range are its own. */
enum side { LAST, FIRST, SIDE_ROWS = GRID_SIDES / 2 };

static double *side_of(const struct sweep *s, int k, enum side side) {
    const ptrdiff_t plane = GRID_SIDES * s->level->row;
    double *sides = k < s->begin ? s->work->sides
                    : k < s->end ? s->p->grid.sides + k * plane
                                 : s->work->sides + plane;
    return sides + side * SIDE_ROWS * s->level->row;
}

static void keep(const struct sweep *s, int k, enum side side, int j) {
    memcpy(side_of(s, k, side), row_of(s->level, plane_r(s, k), j),
           (size_t)(SIDE_ROWS * s->level->row) * sizeof(double));
}

static void bring(const struct sweep *s, int k, enum side side, int j) {
    memcpy(row_of(s->level, plane_r(s, k), j), side_of(s, k, side),
           (size_t)(SIDE_ROWS * s->level->row) * sizeof(double));
}

/* ---- the stages, of rows 2 b and 2 b + 1 of plane k ---------------------------------------- */

static void interpolate(const struct sweep *s, int k, int b) {
    const struct level *below = s->below;
    const int up = (k & (s->level->n - 1)) / 2, even = !(k & 1);
    double *z[2] = {level_plane(below, below->u, up - even), level_plane(below, below->u, up)};
    const double *from[2][2];
    for (int q = 0; q < 2; q++)
        for (int j = 0; j < 2; j++) from[q][j] = row_of(below, z[q], b - 1 + j);
    double *u = plane_u(s, k);
    double *const to[2] = {row_of(s->level, u, 2 * b), row_of(s->level, u, 2 * b + 1)};
    rows_interpolate(to, from, s->level->n, s->finest);
}

static void add_charges(const struct sweep *s, double *const row[2], int k, int b) {
    const int n = s->level->n;
    for (int j = 0; j < 2; j++)
        charges_add(&s->p->charges, row[j], (2 * b + j) & (n - 1), k & (n - 1));
}

/* Fields of levels from so many points a side on come from memory: fetched while another stage
 * computes, or the stage that reads them would wait for it. */
enum { FETCH_FROM = 128 };

/* Rows of u that the first stage takes on the next plane, beside pair b of plane k in the third
 * one. */
static double *const *next_u(const struct sweep *s, int k, int b, double *row[2]) {
    if (s->level->n < FETCH_FROM || k + 3 >= s->end + 2) return NULL;
    for (int j = 0; j < 2; j++) row[j] = row_of(s->level, plane_u(s, k + 3), 2 * (b + 2) + j);
    return row;
}

static void residual(const struct sweep *s, int k, int b) {
    const struct level *level = s->level;
    double *const u[3] = {plane_u(s, k - 1), plane_u(s, k), plane_u(s, k + 1)};
    struct rows rows;
    gather(level, u, b, &rows);
    double *r = plane_r(s, k);
    double *const out[2] = {row_of(level, r, 2 * b), row_of(level, r, 2 * b + 1)};
    if (s->finest) {
        rows_residual(out, NULL, &rows, NULL, level->n);
        add_charges(s, out, k, b);
    } else {
        const double *v[2], *soon[2];
        for (int j = 0; j < 2; j++) {
            v[j] = row_of(level, level_plane(level, level->r, k), 2 * b + j);
            soon[j] = row_of(level, level_plane(level, level->r, k + 1), 2 * b + j);
        }
        rows_residual(out, v, &rows, level->n < FETCH_FROM ? NULL : soon, level->n);
    }
}

static void smooth(const struct sweep *s, int k, int b) {
    double *const r[3] = {plane_r(s, k - 1), plane_r(s, k), plane_r(s, k + 1)};
    struct rows rows;
    gather(s->level, r, b, &rows);
    double *u = plane_u(s, k);
    double *const to[2] = {row_of(s->level, u, 2 * b), row_of(s->level, u, 2 * b + 1)};
    rows_smooth(to, &rows, &s->p->smoother, next_u(s, k, b, (double *[2]){0}), s->level->n);
}

/* Row j of coarse planes from rows 2 j .. 2 j + 2 of fine plane k, where they are for planes of
 * [begin, end). An odd plane is the middle of one coarse plane; an even one begins one and ends
 * another. */
static void restrict_row(const struct level *to, int n, int k, int j, const double *const row[3],
                         int begin, int end) {
    const int up = k >> 1, odd = k & 1, more = odd ? up : up - 1;
    double *first = NULL, *add = NULL;
    if (!odd && up >= begin && up < end) first = row_of(to, level_plane(to, to->r, up), j);
    if (more >= begin && more < end) add = row_of(to, level_plane(to, to->r, more), j);
    if (first || add) rows_restrict(first, add, row, odd ? 0.5 : 0.25, n);
}

/* The last residual of rows 2 b and 2 b + 1 of plane k, for its squares. */
static void square(const struct sweep *s, double *const u[3], int k, int b) {
    const struct level *level = s->level;
    struct rows rows;
    gather(level, u, b, &rows);
    double *const out[2] = {s->work->row, s->work->row + level->row};
    rows_residual(out, NULL, &rows, NULL, level->n);
    add_charges(s, out, k, b);
    for (int j = 0; j < 2; j++)
        rows_square(s->p->square + 8 * (k & (level->n - 1)), out[j], level->n);
}

static void begin_squares(const struct sweep *s, int k) {
    memset(s->p->square + 8 * (k & (s->level->n - 1)), 0, 8 * sizeof(double));
}

/* Where the two averages along z of fine row j are kept: as many as a coarse row has need of. */
static double *average(const struct sweep *s, int which, int j) {
    return s->work->row + (AVERAGED * which + j % AVERAGED) * s->level->row;
}

/* The fourth stage, of coarse plane k: takes pair b of its five planes. */
static void average_pair(const struct sweep *s, double *const u[5], int b) {
    for (int j = 2 * b; j < 2 * b + 2; j++) {
        const double *row[5];
        for (int q = 0; q < 5; q++) row[q] = row_of(s->level, u[q], j);
        rows_averages(average(s, 0, j), average(s, 1, j), row, s->level->n);
    }
}

/* Coarse row b - 1, which pair b completes after pairs b - 2 and b - 1. */
static void restrict_pairs(const struct sweep *s, int k, int b) {
    const struct level *to = s->below;
    const double *from[2][5];
    for (int which = 0; which < 2; which++)
        for (int q = 0; q < 5; q++) from[which][q] = average(s, which, 2 * b - 3 + q);
    double *r = row_of(to, level_plane(to, to->r, k), b - 1);
    rows_last(r, from[0], from[1], s->level->n);
    charges_restrict(&s->p->charges, r, s->level->n, (b - 1) & (to->n - 1), k);
}

/* Pairs [from, to); pairs come in order from 1 on; pair n/2 is 0 again, and n/2 + 1 and n/2 + 2 are
 * there once more for the last rows. A strip makes the averages of two pairs of the one before
 * again. */
static void restrict_strip(const struct sweep *s, double *const u[5], int k, int from, int to) {
    for (int b = from > 2 ? from - 2 : 1; b < to; b++) {
        average_pair(s, u, b);
        if (b >= 3 && b >= from) restrict_pairs(s, k, b);
    }
}

/* ---- a plane through the stages ------------------------------------------------------------ */

static int within(int k, int begin, int end) { return k >= begin && k < end; }

/* A strip of pairs of rows, [from, to) of 0 to n/2 + 6. */
struct strip {
    int from, to;
};

/* r of pairs two behind, with what the strips beside this one have need of. */
static void residual_strip(const struct sweep *s, int k, struct strip strip) {
    const int pairs = s->level->n / 2, last = strip.to > pairs;
    if (strip.from) bring(s, k, LAST, 2 * strip.from - 7);
    for (int b = strip.from; b < strip.to; b++)
        if (within(b, 2, pairs + 2)) residual(s, k, b - 2);
    if (!last) keep(s, k, LAST, 2 * strip.to - 7);
    if (!strip.from && !last) keep(s, k, FIRST, 0);
    if (strip.from && last) bring(s, k, FIRST, 0);
}

/* Plane t enters; r is two pairs of rows behind it and a plane, u two more; what is made of the
 * last residual follows u: the coarse plane whose five planes are complete with this one, or the
 * squares of the plane before. */
static void sweep_plane(const struct sweep *s, int t, struct strip strip) {
    const int pairs = s->level->n / 2, k = (t - 5) / 2;
    const int third = s->what & SWEEP_RESTRICT && t & 1 && within(t - 5, s->begin + 1, s->end - 3),
              squares = s->what & SWEEP_SQUARES && within(t - 3, s->begin + 1, s->end - 1);
    double *u[5] = {NULL};
    for (int q = 0; (third || squares) && q < 5; q++)
        if (t - 6 + q >= s->begin) u[q] = plane_u(s, t - 6 + q);
    for (int b = strip.from; t < s->end + 2 && b < strip.to; b++)
        if (b < pairs) interpolate(s, t, (b + pairs - 1) % pairs);
    if (within(t - 1, s->begin - 1, s->end + 1)) residual_strip(s, t - 1, strip);
    for (int b = strip.from; within(t - 2, s->begin, s->end) && b < strip.to; b++)
        if (within(b, 4, pairs + 4)) smooth(s, t - 2, b - 3);
    if (third) restrict_strip(s, u, k, strip.from - 3, strip.to - 3);
    if (squares && !strip.from) begin_squares(s, t - 3);
    for (int b = strip.from; squares && b < strip.to; b++)
        if (b >= 6) square(s, u + 2, t - 3, b - 4);
}

void sweep_up(const struct problem *p, struct work *work, int l, int begin, int end, double *aside,
              int what) {
    const struct sweep s = {.p = p,
                            .level = &p->grid.level[l],
                            .below = &p->grid.level[l - 1],
                            .work = work,
                            .finest = l == p->grid.finest,
                            .begin = begin,
                            .end = end,
                            .what = what,
                            .aside = aside ? aside : work->aside};
    const int pairs = s.level->n / 2, most = strip_of(&s);
    for (int from = 0, to; from < pairs; from = to) {
        to = from + most < pairs ? from + most : pairs + 6;
        for (int t = begin - 2; t < end + 2; t++) sweep_plane(&s, t, (struct strip){from, to});
    }
}

/* Plane k of the finest level's u, wherever it is. */
static double *finest_plane(const struct problem *p, int k) {
    return p->grid.plane[k & (p->grid.level[p->grid.finest].n - 1)];
}

void sweep_aside(const struct problem *p, int begin, int end, double *aside) {
    const struct level *level = &p->grid.level[p->grid.finest];
    for (int q = 0; q < SWEEP_ASIDE; q++)
        memcpy(aside + q * level->plane, finest_plane(p, q < 2 ? begin - 2 + q : end + q - 2),
               (size_t)level->plane * sizeof(double));
}

/* ---- the residual of swept planes ---- */

static void square_plane(const struct sweep *s, int k) {
    double *u[3];
    for (int q = 0; q < 3; q++) u[q] = finest_plane(s->p, k - 1 + q);
    begin_squares(s, k);
    for (int b = 2; b < s->level->n / 2 + 2; b++) square(s, u, k, b);
}

static void restrict_plane(const struct sweep *s, int k) {
    double *u[5];
    for (int q = 0; q < 5; q++) u[q] = finest_plane(s->p, 2 * k - 1 + q);
    restrict_strip(s, u, k, 1, s->level->n / 2 + 3);
}

static struct sweep of_finest(const struct problem *p, struct work *work) {
    return (struct sweep){.p = p,
                          .level = &p->grid.level[p->grid.finest],
                          .below = &p->grid.level[p->grid.finest - 1],
                          .work = work,
                          .finest = 1};
}

void sweep_residual(const struct problem *p, struct work *work, int begin, int end, int what) {
    const struct sweep s = of_finest(p, work);
    for (int k = begin; k < end && what & SWEEP_SQUARES; k++) square_plane(&s, k);
    for (int k = begin / 2; k < end / 2 && what & SWEEP_RESTRICT; k++) restrict_plane(&s, k);
}

void sweep_edges(const struct problem *p, struct work *work, int begin, int end, int what) {
    const struct sweep s = of_finest(p, work);
    if (what & SWEEP_RESTRICT) {
        restrict_plane(&s, begin / 2);
        if (end - begin > 2) restrict_plane(&s, end / 2 - 1);
    }
    if (what & SWEEP_SQUARES) {
        square_plane(&s, begin);
        square_plane(&s, end - 1);
    }
}

/* ---- levels below --------------------------------------------------------------------------- */

void sweep_down(const struct problem *p, int l, int begin, int end) {
    const struct level *from = &p->grid.level[l], *to = &p->grid.level[l - 1];
    for (int k = 2 * begin; k <= 2 * end; k++)
        for (int j = 0; j < to->n; j++) {
            const double *row[3];
            for (int q = 0; q < 3; q++)
                row[q] = row_of(from, level_plane(from, from->r, k), 2 * j + q);
            restrict_row(to, from->n, k, j, row, begin, end);
        }
}

/* u_1 = S r_1, on 2 points a side. */
static void smooth_coarsest(const struct problem *p) {
    const struct level *level = &p->grid.level[1];
    for (int k = 0; k < 2; k++) {
        double *const r[3] = {level_plane(level, level->r, k - 1), level_plane(level, level->r, k),
                              level_plane(level, level->r, k + 1)};
        double *u = level_plane(level, level->u, k);
        struct rows rows;
        gather(level, r, 0, &rows);
        memset(u, 0, (size_t)level->plane * sizeof *u);
        rows_smooth((double *[2]){row_of(level, u, 0), row_of(level, u, 1)}, &rows, &p->smoother,
                    NULL, level->n);
    }
}

void sweep_below(const struct problem *p, struct work *work, int top) {
    for (int l = top; l > 1; l--) sweep_down(p, l, 0, p->grid.level[l - 1].n);
    smooth_coarsest(p);
    for (int l = 2; l <= top; l++) sweep_up(p, work, l, 0, p->grid.level[l].n, NULL, 0);
}
