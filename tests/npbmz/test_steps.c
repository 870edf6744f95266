/* A step of BT-MZ, SP-MZ and LU-MZ against plain.c's, on zones of odd shapes with random gases; and
 * what it must leave alone: points that are not interior, and the bits whatever the team, the
 * padding and what else its scratch memory has served. Official runs are command-hash's.
 * Run: ctest -R '^steps$'; it makes teams larger than the number of processors. */
#include "check.h"
#include "npbmz/mesh/mesh.h"
#include "padding.h"
#include "plain.h"
#include "npbmz/host/residual.h"

#include <math.h>
#include <omp.h>

enum { STEPS = 3, MOST = 16, GUARD = 64 };

/* The least there are; rows of widths of 1, 0, -1 .. points beyond whole vectors, and long ones;
 * several blocks, and blocks that stick out; planes that are done at once and in parts. */
static const int of_bt[][3] = {{6, 6, 6}, {13, 8, 28}, {29, 6, 8},  {57, 38, 28}, {16, 11, 17},
                               {5, 7, 9}, {9, 7, 5},   {17, 10, 6}, {18, 9, 12}};
static const int of_sp[][3] = {{6, 6, 6},   {13, 8, 28}, {29, 6, 8},  {57, 38, 28}, {38, 26, 17},
                               {12, 12, 6}, {9, 7, 5},   {17, 10, 6}, {32, 32, 16}, {51, 38, 34},
                               {10, 7, 9},  {15, 6, 11}, {700, 8, 5}};
static const int of_lu[][3] = {{6, 6, 6},    {16, 16, 8}, {29, 6, 8}, {57, 38, 28},
                               {13, 11, 17}, {17, 26, 5}, {9, 43, 7}, {76, 10, 6}};
#define ALL(shape) shape, sizeof shape / sizeof *shape

static const struct subject {
    enum npbmz_benchmark benchmark;
    double step, few; /* length of one step, and of a few after which the gas is one still */
    int teams;        /* so many of those that are tried */
    const int (*shape)[3];
    int shapes;
} subjects[] = {{NPBMZ_BT, 0.01, 0.01, 3, ALL(of_bt)},
                {NPBMZ_SP, 0.0003, 0.0003, 3, ALL(of_sp)},
                {NPBMZ_LU, 0.7, 0.01, 6, ALL(of_lu)}};

#define EACH_SHAPE(s, n)                                                                           \
    for (const struct subject *s = subjects; s < subjects + 3; s++)                                \
        for (int n = 0; n < s->shapes; n++)

/* A zone in the application's layout and in plain.c's. */
struct pair {
    struct problem p; /* of this zone alone */
    struct zone z;
    struct scratch s;
    struct plain_zone q;
};

static struct scratch scratch_of(const struct problem *p, int cores) {
    struct scratch s = {.doubles = p->solver->scratch(p, cores)};
    const size_t bytes = ((s.doubles + GUARD) * sizeof(double) + 63) / 64 * 64;
    s.memory = aligned_alloc(64, bytes);
    assert_non_null(s.memory);
    memset(s.memory, 0, bytes);
    return s;
}

/* Nothing was written behind it. */
static void free_scratch(struct scratch *s) {
    for (size_t i = s->doubles; i < s->doubles + GUARD; i++) assert_true(s->memory[i] == 0);
    free(s->memory);
}

/* A random gas, forcing and (LU) residual, and scratch for a team; spacings differ in all
 * directions. */
static void open_pair(struct pair *a, enum npbmz_benchmark benchmark, double dt, const int shape[3],
                      int cores) {
    memset(a, 0, sizeof *a);
    struct problem *p = &a->p;
    struct zone *z = &a->z;
    assert_int_equal(problem_class(p, benchmark, 'A'), 0);
    p->h[0] = 1 / 22.0, p->h[1] = 1 / 19.0, p->h[2] = 1 / 17.0;
    p->dt = dt;
    *z = (struct zone){.nx = shape[0], .ny = shape[1], .nz = shape[2]};
    zone_strides(z);
    p->zones = 1;
    p->zone = z;
    p->max_nx = z->nx, p->max_ny = z->ny, p->max_nz = z->nz;
    p->max_sj = z->sj, p->max_sk = z->sk, p->max_sc = z->sc;
    assert_int_equal(zone_alloc(p, z), 0);
    a->s = scratch_of(p, cores);

    plain_zone_open(&a->q, benchmark, z->nx, z->ny, z->nz, p->h, dt);
    plain_gas(&a->q, a->q.u, 5);
    plain_noise(&a->q, a->q.f, 6, 1);
    plain_put(z, z->u, a->q.u);
    plain_put(z, z->f, a->q.f);
    if (!z->r) return;
    plain_noise(&a->q, a->q.r, 7, 1);
    plain_put(z, z->r, a->q.r);
}

static void close_pair(struct pair *a) {
    plain_zone_close(&a->q);
    zone_free(&a->z);
    free_scratch(&a->s);
}

static void step_pair(struct pair *a, int cores) {
    int got = 0;
#pragma omp parallel num_threads(cores)
    {
        struct team t = {omp_get_thread_num(), omp_get_num_threads(), NULL};
#pragma omp single
        got = t.cores;
        if (got == cores) a->p.solver->step(&a->p, &a->z, &a->s, &t);
    }
    assert_int_equal(got, cores);
}

/* To this part of the largest value, component by component. */
static void assert_close(const struct pair *a, const plain_point *got, const plain_point *want,
                         double tolerance, const char *what) {
    const double d = plain_difference(&a->q, got, want);
    if (!(d <= tolerance))
        fail_msg("%s, zone %dx%dx%d: differs by %g", what, a->z.nx, a->z.ny, a->z.nz, d);
}

/* ---- a step -------------------------------------------------------------------------------- */

static void subtract(const struct pair *a, plain_point *from, const plain_point *what) {
    for (size_t m = 0; m < plain_points(&a->q); m++)
        for (int c = 0; c < NC; c++) from[m][c] -= what[m][c];
}

/* And the increments by themselves, which may be small beside the solution. */
TEST(agrees_with_plain) {
    EACH_SHAPE(s, n)
    for (int cores = 1; cores <= 2; cores++) {
        struct pair a;
        open_pair(&a, s->benchmark, s->step, s->shape[n], cores);
        plain_point *before = plain_field(&a.q), *got = plain_field(&a.q);
        plain_get(&a.z, a.z.u, before);
        step_pair(&a, cores);
        plain_step(&a.q);
        if (a.z.r) {
            plain_get(&a.z, a.z.r, got);
            assert_close(&a, got, a.q.r, 1e-12, "r after a step");
        }
        plain_get(&a.z, a.z.u, got);
        assert_close(&a, got, a.q.u, 1e-12, "u after a step");
        subtract(&a, got, before);
        subtract(&a, a.q.u, before);
        assert_close(&a, got, a.q.u, 1e-10, "increments");
        free(before);
        free(got);
        close_pair(&a);
    }
}

/* LU's first residual. */
TEST(prepare_makes_the_residual) {
    const struct subject *s = &subjects[2];
    const struct team alone = {0, 1, NULL};
    struct pair a;
    open_pair(&a, s->benchmark, s->step, s->shape[3], 1);
    plain_point *got = plain_field(&a.q), *want = plain_field(&a.q);
    a.p.solver->prepare(&a.p, &a.z, &a.s, &alone);
    plain_residual(&a.q, a.q.u, a.q.f, want);
    plain_get(&a.z, a.z.r, got);
    assert_close(&a, got, want, 1e-12, "first residual");
    free(got);
    free(want);
    close_pair(&a);
}

/* The residual by itself, scaled as the forcing is; it is 0 beside the interior points of its rows.
 */
TEST(residual_agrees_with_plain) {
    const struct subject *s = &subjects[1];
    const struct team alone = {0, 1, NULL};
    for (int n = 0; n < s->shapes; n++) {
        struct pair a;
        open_pair(&a, s->benchmark, s->step, s->shape[n], 1);
        const struct zone *z = &a.z;
        double *block = calloc((size_t)(NC * z->sc) + 2 * ZONE_SLACK + 8, sizeof *block);
        assert_non_null(block);
        double *out = block + (64 - (uintptr_t)block % 64) / 8 + ZONE_SLACK;
        plain_point *got = plain_field(&a.q), *want = plain_field(&a.q);
        for (int c = 0; c < NC; c++)
            for (int k = 1; k < z->nz - 1; k++)
                for (int j = 1; j < z->ny - 1; j++)
                    for (int i = 0; i < z->sj; i++) out[c * z->sc + zone_at(z, i, j, k)] = NAN;
        residual(&a.p, z, z->u, z->f, 0.37, out, a.s.memory, &alone);
        for (int c = 0; c < NC; c++)
            for (int k = 1; k < z->nz - 1; k++)
                for (int j = 1; j < z->ny - 1; j++)
                    for (int i = z->nx - 1; i <= z->sj; i++)
                        assert_true(out[c * z->sc + zone_at(z, i % (int)z->sj, j, k)] == 0);
        plain_residual(&a.q, a.q.u, a.q.f, want);
        for (size_t m = 0; m < plain_points(&a.q); m++)
            for (int c = 0; c < NC; c++) want[m][c] *= 0.37;
        plain_get(z, out, got);
        assert_close(&a, got, want, 1e-13, "residual");
        free(got);
        free(want);
        free(block);
        close_pair(&a);
    }
}

/* Interior points of a field to where the same zone's block was copied; each must have changed. */
static void take_over(const struct zone *z, const double *field, char *copy, const char *block) {
    for (int c = 0; c < NC; c++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++)
                for (int i = 1; i < z->nx - 1; i++) {
                    const double *at = field + c * z->sc + zone_at(z, i, j, k);
                    char *before = copy + ((const char *)at - block);
                    if (!memcmp(at, before, sizeof *at))
                        fail_msg("zone %dx%dx%d: point (%d,%d,%d) has not changed", z->nx, z->ny,
                                 z->nz, i, j, k);
                    memcpy(before, at, sizeof *at);
                }
}

/* All interior points of u (LU: and r) change, and no other bit of the zone. */
TEST(others_stay) {
    EACH_SHAPE(s, n) {
        struct pair a;
        open_pair(&a, s->benchmark, s->step, s->shape[n], 3);
        struct zone *z = &a.z;
        /* zeros that adding a zero would make positive */
        for (size_t m = 0; m < plain_points(&a.q); m += 3)
            for (int c = 1; c <= 3; c++) a.q.u[m][c] = -0.0;
        plain_put(z, z->u, a.q.u);
        size_t bytes;
        char *block = zone_block(&a.p, z, &bytes), *before = malloc(bytes);
        assert_non_null(before);
        memcpy(before, block, bytes);
        step_pair(&a, 3);
        take_over(z, z->u, before, block);
        if (z->r) take_over(z, z->r, before, block);
        if (memcmp(before, block, bytes))
            fail_msg("zone %dx%dx%d: more has changed than interior points", z->nx, z->ny, z->nz);
        free(before);
        close_pair(&a);
    }
}

/* ---- bits ---------------------------------------------------------------------------------- */

/* finite, of all magnitudes, now and then 0 */
static double garbage(ptrdiff_t n) {
    static uint64_t x = 88172645463325252u;
    (void)n;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x % 11 ? ldexp((double)(int64_t)x, (int)(x % 600) - 363) : 0;
}

static void poison(struct pair *a) {
    padding_fill(&a->z, a->z.u, garbage);
    padding_fill(&a->z, a->z.f, garbage);
    if (a->z.r) {
        padding_fill(&a->z, a->z.r, garbage);
        return;
    }
    for (size_t l = 0; l < a->s.doubles; l++) a->s.memory[l] = l % 3 ? garbage(0) : NAN;
}

static void after_steps(struct pair *a, const struct subject *s, int n, int cores,
                        int is_poisoned) {
    open_pair(a, s->benchmark, s->few, s->shape[n], cores);
    for (int t = 0; t < STEPS; t++) {
        if (is_poisoned) poison(a);
        step_pair(a, cores);
    }
    plain_get(&a->z, a->z.u, a->q.u);
    if (a->z.r) plain_get(&a->z, a->z.r, a->q.r);
}

static int is_finite(const struct plain_zone *q, const plain_point *a) {
    for (size_t n = 0; n < plain_points(q); n++)
        for (int c = 0; c < NC; c++)
            if (!isfinite(a[n][c])) return 0;
    return 1;
}

static void assert_same_bits(const struct pair *a, const struct pair *b, const char *what,
                             int cores) {
    const size_t bytes = plain_points(&a->q) * sizeof *a->q.u;
    if (!is_finite(&a->q, a->q.u)) fail_msg("the steps are too long for this gas");
    if (memcmp(a->q.u, b->q.u, bytes) || (a->q.r && memcmp(a->q.r, b->q.r, bytes)))
        fail_msg("zone %dx%dx%d, %d cores: %s has an influence", a->z.nx, a->z.ny, a->z.nz, cores,
                 what);
}

TEST(teams_have_no_say) {
    static const int cores[] = {2, 3, 5, 4, 7, 12};
    EACH_SHAPE(s, n) {
        struct pair one, more;
        after_steps(&one, s, n, 1, 0);
        for (int c = 0; c < s->teams; c++) {
            after_steps(&more, s, n, cores[c], 0);
            assert_same_bits(&one, &more, "the team", cores[c]);
            close_pair(&more);
        }
        close_pair(&one);
    }
}

/* LU's scratch is the sweeps' progress, and not filled. */
TEST(padding_and_scratch_have_no_say) {
    EACH_SHAPE(s, n) {
        struct pair clean, dirty;
        after_steps(&clean, s, n, 1, 0);
        for (int cores = 1; cores <= 3; cores++) {
            after_steps(&dirty, s, n, cores, 1);
            assert_same_bits(&clean, &dirty, "padding or scratch", cores);
            close_pair(&dirty);
        }
        close_pair(&clean);
    }
}

/* One scratch serves zones of several shapes one after another, as a unit's does. */
TEST(scratch_is_used_again) {
    enum { CORES = 3 };
    for (const struct subject *s = subjects; s < subjects + 3; s++) {
        struct pair a[MOST], alone;
        struct problem largest = {0};
        for (int n = 0; n < s->shapes; n++) {
            open_pair(&a[n], s->benchmark, s->few, s->shape[n], CORES);
            const struct problem *p = &a[n].p;
            if (!n) largest = *p;
#define GROW(member)                                                                               \
    if (largest.member < p->member) largest.member = p->member
            GROW(max_nx);
            GROW(max_ny);
            GROW(max_nz);
            GROW(max_sj);
            GROW(max_sk);
            GROW(max_sc);
#undef GROW
        }
        struct scratch all = scratch_of(&largest, CORES);
        for (int round = 0; round < STEPS; round++)
            for (int n = 0; n < s->shapes; n++) {
                const struct scratch own = a[n].s;
                a[n].s = all;
                step_pair(&a[n], CORES);
                a[n].s = own;
            }
        for (int n = 0; n < s->shapes; n++) {
            after_steps(&alone, s, n, 1, 0);
            plain_get(&a[n].z, a[n].z.u, a[n].q.u);
            if (a[n].z.r) plain_get(&a[n].z, a[n].z.r, a[n].q.r);
            assert_same_bits(&alone, &a[n], "a scratch that others use", CORES);
            close_pair(&alone);
            close_pair(&a[n]);
        }
        free_scratch(&all);
    }
}

RUN_TESTS(NULL, NULL)
