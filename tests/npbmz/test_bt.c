/* BT-MZ's step against plain.c: each phase by itself and the whole step, on zones of odd shapes
 * with random gases; official runs; and what the step must leave alone: points that are not
 * interior, and the bits whatever the team, the padding and the lane. Run: ctest -R '^bt$'. */
#include "npbmz/bt/bt.h"

#include "npbmz/mesh/mesh.h"
#include "plain.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int shapes[][3] = {
    {6, 6, 6},    {13, 8, 28}, {29, 6, 8}, {57, 38, 28},
    {16, 11, 17}, {5, 7, 9},   {9, 7, 5}, /* 3 rows are the least a line can have */
    {17, 10, 6},  {18, 9, 12},            /* nx - 1 and nx - 2 are multiples of LANES */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* A zone in the layout of the application, and in plain.c's. */
struct pair {
    struct problem p;
    struct zone z;
    struct scratch s;
    struct plain_zone q;
};

static void pair_open(struct pair *a, const int n[3], int cores) {
    memset(a, 0, sizeof *a);
    struct problem *p = &a->p;
    assert_int_equal(problem_class(p, NPBMZ_BT, 'A'), 0);
    p->h[0] = 1 / 22.0, p->h[1] = 1 / 19.0, p->h[2] = 1 / 17.0; /* no two alike */
    p->dt = 0.01;
    a->z = (struct zone){.nx = n[0], .ny = n[1], .nz = n[2]};
    zone_strides(&a->z);
    p->zones = 1;
    p->zone = &a->z;
    p->max_nx = n[0], p->max_ny = n[1], p->max_nz = n[2];
    p->max_sj = a->z.sj, p->max_sk = a->z.sk, p->max_sc = a->z.sc;
    assert_int_equal(zone_alloc(p, &a->z), 0);
    a->s.doubles = p->solver->scratch(p, cores);
    size_t bytes = (a->s.doubles * sizeof(double) + 63) / 64 * 64;
    a->s.memory = aligned_alloc(64, bytes);
    assert_non_null(a->s.memory);
    memset(a->s.memory, 0, bytes);

    plain_zone_open(&a->q, NPBMZ_BT, n[0], n[1], n[2], p->h, p->dt);
    plain_gas(&a->q, a->q.u, 5);
    plain_noise(&a->q, a->q.f, 6, 1);
    plain_put(&a->z, a->z.u, a->q.u);
    plain_put(&a->z, a->z.f, a->q.f);
}

static void pair_close(struct pair *a) {
    plain_zone_close(&a->q);
    zone_free(&a->z);
    free(a->s.memory);
}

static const struct team alone = {0, 1};

static int interior(const struct zone *z, int i, int j, int k) {
    return i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
}
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
        if (!interior(&b->z, i, j, k))
            for (int v = 0; v < BT_VALUES; v++) at[v * LANES] = NAN;
    }
}

/* right-hand side or increment of interior points */
static plain_point *blocks_get(const struct pair *b, const struct workspace *w) {
    plain_point *a = plain_field(&b->q);
    EACH_POINT(&b->z, i, j, k)
    if (interior(&b->z, i, j, k))
        for (int c = 0; c < NC; c++)
            a[plain_at(&b->q, i, j, k)][c] = block(w, i, j, k)[(BT_X + c) * LANES];
    return a;
}

static void assert_close(const struct pair *b, const plain_point *got, const plain_point *want,
                         const char *what) {
    double d = plain_difference(&b->q, got, want);
    if (!(d <= 1e-12))
        fail_msg("%s, zone %dx%dx%d: differs by %g", what, b->z.nx, b->z.ny, b->z.nz, d);
}

static double tau(const struct problem *p, int d) { return p->dt / (2 * p->h[d]); }

/* ---- the phases ---------------------------------------------------------------------------- */

static void right_hand_side_and_gas(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, shapes[n], 1);
        struct workspace w = bt_work(&b.p, &b.z, &b.s, &alone);
        bt_rhs(&b.p, &b.z, &w, &alone);
        plain_point *got = blocks_get(&b, &w), *want = plain_field(&b.q);
        plain_residual(&b.q, b.q.u, b.q.f, want);
        double scale = b.p.dt / (tau(&b.p, 0) * tau(&b.p, 1) * tau(&b.p, 2));
        for (size_t m = 0; m < plain_points(&b.q); m++)
            for (int c = 0; c < NC; c++) want[m][c] *= scale;
        assert_close(&b, got, want, "right-hand side");

        struct pair e; /* the same blocks as the other tests make them */
        pair_open(&e, shapes[n], 1);
        struct workspace v = bt_work(&e.p, &e.z, &e.s, &alone);
        blocks_put(&e, &v, want, 1);
        EACH_POINT(&b.z, i, j, k)
        if (interior(&b.z, i, j, k))
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
        pair_open(&b, shapes[n], 1);
        struct workspace w = bt_work(&b.p, &b.z, &b.s, &alone);
        plain_point *x = plain_field(&b.q), *got;
        plain_noise(&b.q, x, 7, 1);
        blocks_put(&b, &w, x, 1 / tau(&b.p, d));
        plain_bt_lines(&b.q, d, x);
        if (d < 2) { /* the planes in two parts */
            (d ? bt_y : bt_x)(&b.p, &b.z, &w, &alone, 1, 3);
            (d ? bt_y : bt_x)(&b.p, &b.z, &w, &alone, 3, b.z.nz - 1);
            got = blocks_get(&b, &w);
        } else {
            bt_z(&b.p, &b.z, &w, &alone);
            got = plain_field(&b.q);
            plain_get(&b.z, b.z.u, got);
            for (size_t m = 0; m < plain_points(&b.q); m++)
                for (int c = 0; c < NC; c++) got[m][c] -= b.q.u[m][c];
        }
        assert_close(&b, got, x, name[d]);
        free(got);
        free(x);
        pair_close(&b);
    }
}
static void lines_along_x(void **state) {
    (void)state;
    lines_along(0);
}
static void lines_along_y(void **state) {
    (void)state;
    lines_along(1);
}
static void lines_along_z(void **state) {
    (void)state;
    lines_along(2);
}

/* ---- the step ------------------------------------------------------------------------------ */

static void step(struct pair *b, int cores) {
    int got = 0;
#pragma omp parallel num_threads(cores)
    {
        struct team t = {omp_get_thread_num(), omp_get_num_threads()};
#pragma omp single
        got = t.cores;
        if (got == cores) b->p.solver->step(&b->p, &b->z, &b->s, &t);
    }
    assert_int_equal(got, cores);
}

static void whole_step(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, shapes[n], 1);
        step(&b, 1);
        plain_step(&b.q);
        plain_point *got = plain_field(&b.q);
        plain_get(&b.z, b.z.u, got);
        assert_close(&b, got, b.q.u, "step");
        free(got);
        pair_close(&b);
    }
}

/* The step between plain.c's set-up, exchange and norms: NAS-03-010's figures for a whole run. */
static void official_run(char class_, int steps, const double residual[NC],
                         const double error[NC]) {
    struct plain q;
    plain_open(&q, NPBMZ_BT, class_);
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_BT, class_), 0);
    assert_int_equal(problem_zones(&p), 0);
    assert_int_equal(p.steps, steps);
    struct scratch s = {.doubles = p.solver->scratch(&p, 1)};
    size_t bytes = (s.doubles * sizeof(double) + 63) / 64 * 64;
    s.memory = aligned_alloc(64, bytes);
    assert_non_null(s.memory);
    memset(s.memory, 0, bytes);
    for (int n = 0; n < p.zones; n++) {
        assert_int_equal(zone_alloc(&p, &p.zone[n]), 0);
        plain_put(&p.zone[n], p.zone[n].f, q.zone[n].f);
    }
    for (int t = 0; t < steps; t++) {
        plain_exchange(&q);
        for (int n = 0; n < p.zones; n++) {
            struct zone *z = &p.zone[n];
            plain_put(z, z->u, q.zone[n].u);
            p.solver->step(&p, z, &s, &alone);
            plain_get(z, z->u, q.zone[n].u);
        }
    }
    double r[NC], e[NC];
    plain_residual_norm(&q, r);
    plain_error_norm(&q, e);
    for (int c = 0; c < NC; c++)
        if (!(fabs(r[c] / residual[c] - 1) <= 1e-11 && fabs(e[c] / error[c] - 1) <= 1e-11))
            fail_msg("class %c, component %d: %.13e and %.13e, not %.13e and %.13e", class_, c + 1,
                     r[c], e[c], residual[c], error[c]);
    free(s.memory);
    problem_close(&p);
    plain_close(&q);
}

static void official_runs(void **state) {
    (void)state;
    official_run('S', 60,
                 (const double[]){0.1047687395830e+04, 0.9419911314792e+02, 0.2124737403068e+03,
                                  0.1422173591794e+03, 0.1135441572375e+04},
                 (const double[]){0.1775416062982e+03, 0.1875540250835e+02, 0.3863334844506e+02,
                                  0.2634713890362e+02, 0.1965566269675e+03});
    official_run('W', 200,
                 (const double[]){0.5562611195402e+05, 0.5151404119932e+04, 0.1080453907954e+05,
                                  0.6576058591929e+04, 0.4528609293561e+05},
                 (const double[]){0.7185154786403e+04, 0.7040472738068e+03, 0.1437035074443e+04,
                                  0.8570666307849e+03, 0.5991235147368e+04});
}

/* ---- what must not change ------------------------------------------------------------------ */

/* all of memory: boundary points, padding and slack keep their bits, f keeps all */
static void only_interior_points_change(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, shapes[n], 3);
        struct zone *z = &b.z;
        /* zeros that adding a zero would turn positive */
        for (size_t m = 0; m < plain_points(&b.q); m++)
            for (int c = 1; c <= 3; c++)
                if (m % 3 == 0) b.q.u[m][c] = -0.0;
        plain_put(z, z->u, b.q.u);
        size_t bytes;
        char *now = zone_block(&b.p, z, &bytes), *before = malloc(bytes);
        assert_non_null(before);
        memcpy(before, now, bytes);
        step(&b, 3);
        EACH_POINT(z, i, j, k)
        if (interior(z, i, j, k))
            for (int c = 0; c < NC; c++) {
                char *at = (char *)(z->u + c * z->sc + zone_at(z, i, j, k));
                if (!memcmp(at, before + (at - now), sizeof(double)))
                    fail_msg("point (%d,%d,%d) has not changed", i, j, k);
                memcpy(before + (at - now), at, sizeof(double));
            }
        if (memcmp(before, now, bytes))
            fail_msg("zone %dx%dx%d: more has changed than interior points", z->nx, z->ny, z->nz);
        free(before);
        pair_close(&b);
    }
}

/* the solution after two steps */
static plain_point *after_steps(const int n[3], int cores, void (*poison)(struct pair *)) {
    struct pair b;
    pair_open(&b, n, cores);
    for (int t = 0; t < 2; t++) {
        if (poison) poison(&b);
        step(&b, cores);
    }
    plain_point *u = plain_field(&b.q);
    plain_get(&b.z, b.z.u, u);
    pair_close(&b);
    return u;
}

static int same_bits(const plain_point *a, const plain_point *b, const int n[3]) {
    return !memcmp(a, b, (size_t)n[0] * (size_t)n[1] * (size_t)n[2] * sizeof *a);
}

static void bits_do_not_depend_on_the_team(void **state) {
    (void)state;
    static const int cores[] = {2, 3, 5};
    for (int n = 0; n < SHAPES; n++) {
        plain_point *one = after_steps(shapes[n], 1, NULL);
        for (int c = 0; c < 3; c++) {
            plain_point *more = after_steps(shapes[n], cores[c], NULL);
            if (!same_bits(one, more, shapes[n]))
                fail_msg("zone %dx%dx%d: %d cores give other bits than one", shapes[n][0],
                         shapes[n][1], shapes[n][2], cores[c]);
            free(more);
        }
        free(one);
    }
}

/* finite, of all magnitudes, now and then 0 */
static double garbage(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x % 11 ? ldexp((double)(int64_t)x, (int)(x % 600) - 363) : 0;
}
static void poison_field(const struct zone *z, double *field) {
    for (ptrdiff_t l = 1; l <= ZONE_SLACK; l++)
        field[-l] = garbage(), field[NC * z->sc + l - 1] = garbage();
    for (ptrdiff_t l = 0; l < NC * z->sc; l++) {
        ptrdiff_t at = l % z->sc;
        if (at / z->sk >= z->nz || at % z->sk / z->sj >= z->ny || at % z->sk % z->sj >= z->nx)
            field[l] = garbage();
    }
}
static void poison(struct pair *b) {
    poison_field(&b->z, b->z.u);
    poison_field(&b->z, b->z.f);
    for (size_t l = 0; l < b->s.doubles; l++) b->s.memory[l] = l % 3 ? garbage() : NAN;
}

static void bits_do_not_depend_on_padding_and_scratch(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        plain_point *clean = after_steps(shapes[n], 1, NULL);
        for (int cores = 1; cores <= 3; cores += 2) {
            plain_point *dirty = after_steps(shapes[n], cores, poison);
            if (!same_bits(clean, dirty, shapes[n]))
                fail_msg("zone %dx%dx%d, %d cores: padding or scratch has an influence",
                         shapes[n][0], shapes[n][1], shapes[n][2], cores);
            free(dirty);
        }
        free(clean);
    }
}

/* The same line everywhere gets the same bits everywhere, whatever block and lane it is in. */
static void bits_do_not_depend_on_the_lane(void **state) {
    (void)state;
    static const int n[3] = {21, 22, 23};
    for (int d = 0; d < 3; d++) {
        struct pair b;
        pair_open(&b, n, 1);
        struct workspace w = bt_work(&b.p, &b.z, &b.s, &alone);
        plain_point *x = plain_field(&b.q), *line = plain_field(&b.q);
        plain_noise(&b.q, line, 8, 1);
        EACH_POINT(&b.z, i, j, k) {
            size_t to = plain_at(&b.q, i, j, k);
            size_t from = plain_at(&b.q, d == 0 ? i : 9, d == 1 ? j : 9, d == 2 ? k : 9);
            if (to != from) memcpy(b.q.u[to], b.q.u[from], sizeof *b.q.u);
            if (interior(&b.z, i, j, k)) memcpy(x[to], line[from], sizeof *x);
        }
        plain_put(&b.z, b.z.u, b.q.u);
        blocks_put(&b, &w, x, 1);
        if (d == 0) bt_x(&b.p, &b.z, &w, &alone, 1, b.z.nz - 1);
        if (d == 1) bt_y(&b.p, &b.z, &w, &alone, 1, b.z.nz - 1);
        if (d == 2) bt_z(&b.p, &b.z, &w, &alone);
        plain_point *got = d == 2 ? plain_field(&b.q) : blocks_get(&b, &w);
        if (d == 2) plain_get(&b.z, b.z.u, got);
        EACH_POINT(&b.z, i, j, k) {
            size_t from = plain_at(&b.q, d == 0 ? i : 9, d == 1 ? j : 9, d == 2 ? k : 9);
            if (interior(&b.z, i, j, k) &&
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_hand_side_and_gas),
        cmocka_unit_test(lines_along_x),
        cmocka_unit_test(lines_along_y),
        cmocka_unit_test(lines_along_z),
        cmocka_unit_test(whole_step),
        cmocka_unit_test(official_runs),
        cmocka_unit_test(only_interior_points_change),
        cmocka_unit_test(bits_do_not_depend_on_the_team),
        cmocka_unit_test(bits_do_not_depend_on_padding_and_scratch),
        cmocka_unit_test(bits_do_not_depend_on_the_lane),
    };
    return cmocka_run_group_tests_name("bt", tests, NULL, NULL);
}
