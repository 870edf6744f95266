/* BT-MZ's step against plain.c: each phase by itself and the whole step, on zones of odd shapes
 * with random gases; official runs; and what the step must leave alone: points that are not
 * interior, and the bits whatever the team, the padding and the lane. Run: ctest -R '^bt$'. */
#include "check.h"
#include "npbmz/bt/bt.h"
#include "npbmz/mesh/mesh.h"
#include "official_bt.h"
#include "pair.h"

#include <math.h>

static const int shapes[][3] = {
    {6, 6, 6},    {13, 8, 28}, {29, 6, 8}, {57, 38, 28},
    {16, 11, 17}, {5, 7, 9},   {9, 7, 5}, /* 3 rows are the least a line can have */
    {17, 10, 6},  {18, 9, 12},            /* nx - 1 and nx - 2 are multiples of LANES */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* the step's length */
static const double DT = 0.01;

#define EACH_POINT(z, i, j, k)                                                                     \
    for (int k = 0; k < (z)->nz; k++)                                                              \
        for (int j = 0; j < (z)->ny; j++)                                                          \
            for (int i = 0; i < (z)->nx; i++)

static double *block(const struct workspace *w, int i, int j, int k) {
    return w->b + k * w->bk + j * w->bj + i / LANES * BT_BLOCK + i % LANES;
}

/* the gas, and `a` times `factor` as right-hand side, as bt_rhs leaves them; not a number where
 * nothing may be expected */
static void blocks_put(const struct pair *b, const struct workspace *w, const plain_point *a,
                       double factor) {
    EACH_POINT(&b->z, i, j, k) {
        if (i / LANES >= w->blocks) continue;
        double *at = block(w, i, j, k);
        const double *r = a[plain_at(&b->q, i, j, k)], *u = b->q.u[plain_at(&b->q, i, j, k)];
        double kinetic = 0;
        for (int c = 0; c < NC; c++) at[(BT_X + c) * LANES] = r[c] * factor;
        for (int n = 0; n < 3; n++) {
            double v = u[1 + n] / u[0];
            kinetic += v * v / 2;
            at[(BT_V + n) * LANES] = v;
        }
        at[BT_ENERGY * LANES] = u[4] / u[0];
        at[BT_PRESSURE * LANES] = C2 * (u[4] / u[0] - kinetic);
        at[BT_VOLUME * LANES] = 1 / u[0];
        if (!pair_interior(&b->z, i, j, k))
            for (int v = 0; v < BT_VALUES; v++) at[v * LANES] = NAN;
    }
}

/* right-hand side or increment of interior points */
static plain_point *blocks_get(const struct pair *b, const struct workspace *w) {
    plain_point *a = plain_field(&b->q);
    EACH_POINT(&b->z, i, j, k)
    if (pair_interior(&b->z, i, j, k))
        for (int c = 0; c < NC; c++)
            a[plain_at(&b->q, i, j, k)][c] = block(w, i, j, k)[(BT_X + c) * LANES];
    return a;
}

static double tau(const struct problem *p, int d) { return p->dt / (2 * p->h[d]); }

/* ---- the phases ---------------------------------------------------------------------------- */

TEST(right_hand_side_and_gas) {
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, NPBMZ_BT, DT, shapes[n], 1);
        struct workspace w = bt_work(&b.p, &b.z, &b.s, &pair_alone);
        bt_rhs(&b.p, &b.z, &w, &pair_alone);
        plain_point *got = blocks_get(&b, &w), *want = plain_field(&b.q);
        plain_residual(&b.q, b.q.u, b.q.f, want);
        double scale = b.p.dt / (tau(&b.p, 0) * tau(&b.p, 1) * tau(&b.p, 2));
        for (size_t m = 0; m < plain_points(&b.q); m++)
            for (int c = 0; c < NC; c++) want[m][c] *= scale;
        pair_assert_close(&b, got, want, "right-hand side");

        struct pair e; /* the same blocks as the other tests make them */
        pair_open(&e, NPBMZ_BT, DT, shapes[n], 1);
        struct workspace v = bt_work(&e.p, &e.z, &e.s, &pair_alone);
        blocks_put(&e, &v, want, 1);
        EACH_POINT(&b.z, i, j, k)
        if (pair_interior(&b.z, i, j, k))
            for (int c = BT_V; c < BT_VALUES; c++) {
                double x = block(&w, i, j, k)[c * LANES], y = block(&v, i, j, k)[c * LANES];
                if (!(fabs(x - y) <= 1e-13 * (1 + fabs(y))))
                    fail_msg("value %d of (%d,%d,%d) is %.17g, not %.17g", c, i, j, k, x, y);
            }
        pair_close(&e);
        free(got);
        free(want);
        pair_close(&b);
    }
}

static void lines_along(int d) {
    static const char *const name[] = {"lines along x", "lines along y", "lines along z"};
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, NPBMZ_BT, DT, shapes[n], 1);
        struct workspace w = bt_work(&b.p, &b.z, &b.s, &pair_alone);
        plain_point *x = plain_field(&b.q), *got;
        plain_noise(&b.q, x, 7, 1);
        blocks_put(&b, &w, x, 1 / tau(&b.p, d));
        plain_bt_lines(&b.q, d, x);
        if (d < 2) { /* the planes in two parts */
            (d ? bt_y : bt_x)(&b.p, &b.z, &w, &pair_alone, 1, 3);
            (d ? bt_y : bt_x)(&b.p, &b.z, &w, &pair_alone, 3, b.z.nz - 1);
            got = blocks_get(&b, &w);
        } else {
            bt_z(&b.p, &b.z, &w, &pair_alone);
            got = plain_field(&b.q);
            plain_get(&b.z, b.z.u, got);
            for (size_t m = 0; m < plain_points(&b.q); m++)
                for (int c = 0; c < NC; c++) got[m][c] -= b.q.u[m][c];
        }
        pair_assert_close(&b, got, x, name[d]);
        free(got);
        free(x);
        pair_close(&b);
    }
}
TEST(lines_along_x) { lines_along(0); }
TEST(lines_along_y) { lines_along(1); }
TEST(lines_along_z) { lines_along(2); }

/* ---- the step ------------------------------------------------------------------------------ */

TEST(whole_step) { pair_steps_agree(NPBMZ_BT, DT, shapes, SHAPES); }

/* The step between plain.c's set-up, exchange and norms: NAS-03-010's figures for a whole run. */
static void official_run(const struct official_bt *o) {
    struct plain q;
    plain_open(&q, NPBMZ_BT, o->class_);
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_BT, o->class_), 0);
    assert_int_equal(problem_zones(&p), 0);
    assert_int_equal(p.steps, o->steps);
    struct scratch s = {.doubles = p.solver->scratch(&p, 1)};
    size_t bytes = (s.doubles * sizeof(double) + 63) / 64 * 64;
    s.memory = aligned_alloc(64, bytes);
    assert_non_null(s.memory);
    memset(s.memory, 0, bytes);
    for (int n = 0; n < p.zones; n++) {
        assert_int_equal(zone_alloc(&p, &p.zone[n]), 0);
        plain_put(&p.zone[n], p.zone[n].f, q.zone[n].f);
    }
    for (int t = 0; t < o->steps; t++) {
        plain_exchange(&q);
        for (int n = 0; n < p.zones; n++) {
            struct zone *z = &p.zone[n];
            plain_put(z, z->u, q.zone[n].u);
            p.solver->step(&p, z, &s, &pair_alone);
            plain_get(z, z->u, q.zone[n].u);
        }
    }
    assert_official_bt(&q, o);
    free(s.memory);
    problem_close(&p);
    plain_close(&q);
}

TEST(official_runs) {
    for (int c = 0; c < 2; c++) official_run(&official_bt[c]);
}

/* ---- what must not change ------------------------------------------------------------------ */

TEST(only_interior_points_change) { pair_others_stay(NPBMZ_BT, DT, shapes, SHAPES); }
TEST(bits_do_not_depend_on_the_team) { pair_team_has_no_say(NPBMZ_BT, DT, shapes, SHAPES, 3); }
TEST(bits_do_not_depend_on_padding_and_scratch) {
    pair_padding_has_no_say(NPBMZ_BT, DT, shapes, SHAPES);
}

/* The same line everywhere gets the same bits everywhere, whatever block and lane it is in. */
TEST(bits_do_not_depend_on_the_lane) {
    static const int n[3] = {21, 22, 23};
    for (int d = 0; d < 3; d++) {
        struct pair b;
        pair_open(&b, NPBMZ_BT, DT, n, 1);
        struct workspace w = bt_work(&b.p, &b.z, &b.s, &pair_alone);
        plain_point *x = plain_field(&b.q), *line = plain_field(&b.q);
        plain_noise(&b.q, line, 8, 1);
        EACH_POINT(&b.z, i, j, k) {
            size_t to = plain_at(&b.q, i, j, k);
            size_t from = plain_at(&b.q, d == 0 ? i : 9, d == 1 ? j : 9, d == 2 ? k : 9);
            if (to != from) memcpy(b.q.u[to], b.q.u[from], sizeof *b.q.u);
            if (pair_interior(&b.z, i, j, k)) memcpy(x[to], line[from], sizeof *x);
        }
        plain_put(&b.z, b.z.u, b.q.u);
        blocks_put(&b, &w, x, 1);
        if (d == 0) bt_x(&b.p, &b.z, &w, &pair_alone, 1, b.z.nz - 1);
        if (d == 1) bt_y(&b.p, &b.z, &w, &pair_alone, 1, b.z.nz - 1);
        if (d == 2) bt_z(&b.p, &b.z, &w, &pair_alone);
        plain_point *got = d == 2 ? plain_field(&b.q) : blocks_get(&b, &w);
        if (d == 2) plain_get(&b.z, b.z.u, got);
        EACH_POINT(&b.z, i, j, k) {
            size_t from = plain_at(&b.q, d == 0 ? i : 9, d == 1 ? j : 9, d == 2 ? k : 9);
            if (pair_interior(&b.z, i, j, k) &&
                memcmp(got[plain_at(&b.q, i, j, k)], got[from], sizeof *got))
                fail_msg("direction %d: the line through (%d,%d,%d) has bits of its own", d, i, j,
                         k);
        }
        free(x);
        free(line);
        free(got);
        pair_close(&b);
    }
}

RUN_TESTS(NULL, NULL)
