/* SP-MZ's step against plain.c: each phase by itself and the whole step, on zones of odd shapes
 * with random gases; and that the bits depend neither on the size of the team nor on what lies in
 * padding and scratch. Run: ctest -R '^sp$'. */
#include "npbmz/sp/sp.h"

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
    {6, 6, 6},   {13, 8, 28}, {29, 6, 8},  {57, 38, 28}, {38, 26, 17},
    {12, 12, 6}, {9, 7, 5},   {17, 10, 6}, /* nx - 1 = 8, 16: the last block is all boundary */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* One zone in the layout of the application and the same zone in plain.c's. Spacings and step are
 * those of class A. */
struct both {
    struct problem p;
    struct zone z;
    struct scratch s;
    struct plain_zone q;
};

static void both_open(struct both *b, const int n[3], int cores) {
    memset(b, 0, sizeof *b);
    assert_int_equal(problem_class(&b->p, NPBMZ_SP, 'A'), 0);
    b->z = (struct zone){.nx = n[0], .ny = n[1], .nz = n[2]};
    zone_strides(&b->z);
    struct problem *p = &b->p;
    p->zones = 1;
    p->zone = &b->z;
    p->max_nx = n[0], p->max_ny = n[1], p->max_nz = n[2];
    p->max_sj = b->z.sj, p->max_sk = b->z.sk, p->max_sc = b->z.sc;
    assert_int_equal(zone_alloc(p, &b->z), 0);
    b->s.doubles = solver_sp.scratch(p, cores);
    size_t bytes = (b->s.doubles * sizeof(double) + 63) / 64 * 64;
    b->s.memory = aligned_alloc(64, bytes);
    assert_non_null(b->s.memory);
    memset(b->s.memory, 0, bytes);

    plain_zone_open(&b->q, NPBMZ_SP, n[0], n[1], n[2], p->h, p->dt);
    plain_gas(&b->q, b->q.u, 17);
    plain_noise(&b->q, b->q.f, 18, 1);
    plain_put(&b->z, b->z.u, b->q.u);
    plain_put(&b->z, b->z.f, b->q.f);
}

static void both_close(struct both *b) {
    plain_zone_close(&b->q);
    zone_free(&b->z);
    free(b->s.memory);
}

static const struct team alone = {0, 1};

/* Right-hand sides to and from the blocks between the phases. On the way there 1/rho and the speed
 * of sound are written too, as the residual's phase does. */
static double *block(const struct workspace *w, int i, int j, int k) {
    return w->b + k * w->bk + j * w->bj + i / LANES * SP_BLOCK + i % LANES;
}

#define EACH_INTERIOR(b, i, j, k)                                                                  \
    for (int k = 1; k < (b)->z.nz - 1; k++)                                                        \
        for (int j = 1; j < (b)->z.ny - 1; j++)                                                    \
            for (int i = 1; i < (b)->z.nx - 1; i++)

static void blocks_put(const struct both *b, const struct workspace *w, const plain_point *a) {
    EACH_INTERIOR(b, i, j, k) {
        double *at = block(w, i, j, k);
        const double *r = a[plain_at(&b->q, i, j, k)], *u = b->q.u[plain_at(&b->q, i, j, k)];
        double q = (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]);
        for (int c = 0; c < NC; c++) at[c * LANES] = r[c];
        at[SP_RHO_INV * LANES] = 1 / u[0];
        at[SP_SOUND * LANES] = sqrt(C1 * C2 * (u[4] - q) / u[0]);
    }
}

static plain_point *blocks_get(const struct both *b, const struct workspace *w) {
    plain_point *a = plain_field(&b->q);
    EACH_INTERIOR(b, i, j, k)
    for (int c = 0; c < NC; c++) a[plain_at(&b->q, i, j, k)][c] = block(w, i, j, k)[c * LANES];
    return a;
}

static void assert_same(const struct both *b, plain_point *got, plain_point *want,
                        const char *what) {
    double d = plain_difference(&b->q, got, want);
    if (!(d <= 1e-12))
        fail_msg("%s of zone %dx%dx%d: differs by %g", what, b->z.nx, b->z.ny, b->z.nz, d);
    free(got);
    free(want);
}

static void times(const struct both *b, plain_point *a, double factor) {
    for (size_t n = 0; n < plain_points(&b->q); n++)
        for (int c = 0; c < NC; c++) a[n][c] *= factor;
}

/* ---- the phases ---------------------------------------------------------------------------- */

static void residual_phase(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct both b;
        both_open(&b, shapes[n], 1);
        struct workspace w = sp_work(&b.p, &b.z, &b.s, &alone);
        sp_rhs(&b.p, &b.z, &w, &alone);
        plain_point *want = plain_field(&b.q), *got = blocks_get(&b, &w);
        plain_residual(&b.q, b.q.u, b.q.f, want);
        times(&b, want, 1 / EPS4); /* right-hand sides are divided by dt eps4 */
        plain_sp_transform(&b.q, 0, want);
        assert_same(&b, got, want, "residual and first transform");

        /* what goes with it */
        EACH_INTERIOR(&b, i, j, k) {
            const double *u = b.q.u[plain_at(&b.q, i, j, k)], *at = block(&w, i, j, k);
            double q = (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]);
            double a = sqrt(C1 * C2 * (u[4] - q) / u[0]);
            assert_true(fabs(at[SP_RHO_INV * LANES] * u[0] - 1) < 1e-14);
            assert_true(fabs(at[SP_SOUND * LANES] - a) < 1e-14 * a);
        }
        both_close(&b);
    }
}

typedef void plane_phase(const struct problem *p, const struct zone *z, const struct workspace *w,
                         const struct team *t, int k0, int k1);

/* lines along x or y, with the transform that follows; the planes in two parts */
static void lines_in_planes(int d, plane_phase *phase) {
    for (int n = 0; n < SHAPES; n++) {
        struct both b;
        both_open(&b, shapes[n], 1);
        struct workspace w = sp_work(&b.p, &b.z, &b.s, &alone);
        plain_point *want = plain_field(&b.q);
        plain_noise(&b.q, want, 19, 1);
        blocks_put(&b, &w, want);
        phase(&b.p, &b.z, &w, &alone, 1, 3);
        phase(&b.p, &b.z, &w, &alone, 3, b.z.nz - 1);
        plain_sp_lines(&b.q, d, want);
        plain_sp_transform(&b.q, d + 1, want);
        assert_same(&b, blocks_get(&b, &w), want, d ? "lines along y" : "lines along x");
        both_close(&b);
    }
}

static void lines_along_x(void **state) {
    (void)state;
    lines_in_planes(0, sp_x);
}

static void lines_along_y(void **state) {
    (void)state;
    lines_in_planes(1, sp_y);
}

static void lines_along_z(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct both b;
        both_open(&b, shapes[n], 1);
        struct workspace w = sp_work(&b.p, &b.z, &b.s, &alone);
        plain_point *want = plain_field(&b.q), *got = plain_field(&b.q);
        plain_noise(&b.q, want, 20, 1);
        /* large, so that adding them to u loses nothing that the comparison could see */
        times(&b, want, 1e6);
        blocks_put(&b, &w, want);
        sp_z(&b.p, &b.z, &w, &alone);
        plain_get(&b.z, b.z.u, got);
        plain_sp_lines(&b.q, 2, want);
        plain_sp_transform(&b.q, 3, want);
        times(&b, want, b.p.dt * EPS4);
        for (size_t m = 0; m < plain_points(&b.q); m++)
            for (int c = 0; c < NC; c++) want[m][c] += b.q.u[m][c];
        assert_same(&b, got, want, "lines along z");
        both_close(&b);
    }
}

/* ---- the step ------------------------------------------------------------------------------ */

static void step(struct both *b, int cores) {
    int got = 0;
#pragma omp parallel num_threads(cores)
    {
        struct team t = {omp_get_thread_num(), omp_get_num_threads()};
#pragma omp single
        got = t.cores;
        if (got == cores) solver_sp.step(&b->p, &b->z, &b->s, &t);
    }
    assert_int_equal(got, cores);
}

static void whole_step(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct both b;
        both_open(&b, shapes[n], 1);
        step(&b, 1);
        plain_point *before = plain_field(&b.q), *got = plain_field(&b.q);
        memcpy(before, b.q.u, plain_points(&b.q) * sizeof *before);
        plain_step(&b.q);
        plain_get(&b.z, b.z.u, got);
        double d = plain_difference(&b.q, got, b.q.u);
        if (!(d <= 1e-12)) fail_msg("step: solution differs by %g", d);
        /* and the increments alone, which are small */
        for (size_t m = 0; m < plain_points(&b.q); m++)
            for (int c = 0; c < NC; c++) got[m][c] -= before[m][c], b.q.u[m][c] -= before[m][c];
        d = plain_difference(&b.q, got, b.q.u);
        if (!(d <= 1e-10)) fail_msg("step: increments differ by %g", d);
        free(before);
        free(got);
        both_close(&b);
    }
}

static int boundary(const struct zone *z, int i, int j, int k) {
    return i == 0 || i == z->nx - 1 || j == 0 || j == z->ny - 1 || k == 0 || k == z->nz - 1;
}

/* compares bits, so that a zero's sign counts */
static int same_bits(const plain_point *a, const plain_point *b, size_t points) {
    return memcmp(a, b, points * sizeof *a) == 0;
}

static void only_interior_points_change(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct both b;
        both_open(&b, shapes[n], 2);
        size_t points = plain_points(&b.q);
        /* a zero that an addition would turn positive */
        for (size_t m = 0; m < points; m++)
            for (int c = 1; c <= 3; c++)
                if (m % 3 == 0) b.q.u[m][c] = -0.0;
        plain_put(&b.z, b.z.u, b.q.u);
        step(&b, 2);
        plain_point *u = plain_field(&b.q), *f = plain_field(&b.q);
        plain_get(&b.z, b.z.u, u);
        plain_get(&b.z, b.z.f, f);
        assert_true(same_bits(f, b.q.f, points));
        for (int k = 0; k < b.z.nz; k++)
            for (int j = 0; j < b.z.ny; j++)
                for (int i = 0; i < b.z.nx; i++) {
                    size_t m = plain_at(&b.q, i, j, k);
                    if (same_bits(&u[m], &b.q.u[m], 1) != boundary(&b.z, i, j, k))
                        fail_msg("point (%d,%d,%d) of %dx%dx%d", i, j, k, b.z.nx, b.z.ny, b.z.nz);
                }
        free(u);
        free(f);
        both_close(&b);
    }
}

/* the solution after three steps */
static plain_point *after_steps(const int n[3], int cores, int (*poison)(struct both *)) {
    struct both b;
    both_open(&b, n, cores);
    for (int s = 0; s < 3; s++) {
        if (poison) assert_int_equal(poison(&b), 0);
        step(&b, cores);
    }
    plain_point *u = plain_field(&b.q);
    plain_get(&b.z, b.z.u, u);
    both_close(&b);
    return u;
}

/* zones of classes A and D too: the first's planes are done at once, the second's in parts */
static const int larger[][3] = {{32, 32, 16}, {51, 38, 34}};

static void bits_do_not_depend_on_the_team(void **state) {
    (void)state;
    static const int cores[] = {2, 3, 5};
    for (int n = 0; n < SHAPES + 2; n++) {
        const int *shape = n < SHAPES ? shapes[n] : larger[n - SHAPES];
        size_t points = (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2];
        plain_point *one = after_steps(shape, 1, NULL);
        for (int c = 0; c < 3; c++) {
            plain_point *more = after_steps(shape, cores[c], NULL);
            if (!same_bits(one, more, points))
                fail_msg("zone %dx%dx%d: %d cores give other bits than one", shape[0], shape[1],
                         shape[2], cores[c]);
            free(more);
        }
        free(one);
    }
}

static double garbage(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    double a = (double)(int64_t)x / 9.3e18; /* -1 to 1 */
    return x % 7 == 0 ? 0 : x % 5 == 0 ? 1e200 * a : 100 * a;
}

/* all that is no point: padding, slack before and after the field */
static void poison_field(const struct zone *z, double *field) {
    for (ptrdiff_t l = 1; l <= ZONE_SLACK; l++) {
        field[-l] = garbage();
        field[NC * z->sc + l - 1] = garbage();
    }
    for (int c = 0; c < NC; c++)
        for (ptrdiff_t l = 0; l < z->sc; l++) {
            ptrdiff_t k = l / z->sk, j = l % z->sk / z->sj, i = l % z->sk % z->sj;
            if (k >= z->nz || j >= z->ny || i >= z->nx) field[c * z->sc + l] = garbage();
        }
}

static int poison(struct both *b) {
    poison_field(&b->z, b->z.u);
    poison_field(&b->z, b->z.f);
    for (size_t l = 0; l < b->s.doubles; l++) b->s.memory[l] = l % 3 ? garbage() : NAN;
    return 0;
}

static void bits_do_not_depend_on_padding(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++)
        for (int cores = 1; cores <= 2; cores++) {
            const int *s = shapes[n];
            plain_point *clean = after_steps(s, cores, NULL),
                        *dirty = after_steps(s, cores, poison);
            if (!same_bits(clean, dirty, (size_t)s[0] * (size_t)s[1] * (size_t)s[2]))
                fail_msg("zone %dx%dx%d: padding or scratch has an influence", s[0], s[1], s[2]);
            free(clean);
            free(dirty);
        }
}

/* A line's answer must not depend on the lane and block that it falls into: the same row of points
 * everywhere gives the same bits everywhere. */
static void bits_do_not_depend_on_the_lane(void **state) {
    (void)state;
    struct both b;
    const int n[3] = {21, 21, 21};
    both_open(&b, n, 1);
    struct workspace w = sp_work(&b.p, &b.z, &b.s, &alone);
    for (int d = 0; d < 2; d++) {
        plain_point *line = plain_field(&b.q), *u = plain_field(&b.q);
        plain_noise(&b.q, line, 21, 1);
        EACH_INTERIOR(&b, i, j, k) { /* values of the middle line of direction d everywhere */
            size_t from = d ? plain_at(&b.q, 10, j, 10) : plain_at(&b.q, i, 10, 10);
            memcpy(u[plain_at(&b.q, i, j, k)], b.q.u[from], sizeof *u);
            memcpy(line[plain_at(&b.q, i, j, k)], line[from], sizeof *line);
        }
        memcpy(b.q.u, u, plain_points(&b.q) * sizeof *u);
        plain_put(&b.z, b.z.u, u);
        blocks_put(&b, &w, line);
        (d ? sp_y : sp_x)(&b.p, &b.z, &w, &alone, 1, b.z.nz - 1);
        plain_point *got = blocks_get(&b, &w);
        EACH_INTERIOR(&b, i, j, k) {
            size_t from = d ? plain_at(&b.q, 10, j, 10) : plain_at(&b.q, i, 10, 10);
            if (!same_bits(&got[plain_at(&b.q, i, j, k)], &got[from], 1))
                fail_msg("direction %d: the line at (%d,%d,%d) has bits of its own", d, i, j, k);
        }
        plain_gas(&b.q, b.q.u, 17);
        free(line);
        free(u);
        free(got);
    }
    both_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_phase),
        cmocka_unit_test(lines_along_x),
        cmocka_unit_test(lines_along_y),
        cmocka_unit_test(lines_along_z),
        cmocka_unit_test(whole_step),
        cmocka_unit_test(only_interior_points_change),
        cmocka_unit_test(bits_do_not_depend_on_the_team),
        cmocka_unit_test(bits_do_not_depend_on_padding),
        cmocka_unit_test(bits_do_not_depend_on_the_lane),
    };
    return cmocka_run_group_tests_name("sp", tests, NULL, NULL);
}
