/* A zone beside plain.c's, and what a step must do. */
#include "pair.h"

#include "check.h"
#include "npbmz/mesh/mesh.h"
#include "padding.h"

#include <math.h>
#include <omp.h>

enum { STEPS = 3 };

const struct team pair_alone = {0, 1, NULL};

void pair_open(struct pair *a, enum npbmz_benchmark benchmark, double dt, const int shape[3],
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
    a->s.doubles = p->solver->scratch(p, cores);
    const size_t bytes = (a->s.doubles * sizeof(double) + 63) / 64 * 64;
    a->s.memory = aligned_alloc(64, bytes);
    assert_non_null(a->s.memory);
    memset(a->s.memory, 0, bytes);

    plain_zone_open(&a->q, benchmark, z->nx, z->ny, z->nz, p->h, dt);
    plain_gas(&a->q, a->q.u, 5);
    plain_noise(&a->q, a->q.f, 6, 1);
    plain_put(z, z->u, a->q.u);
    plain_put(z, z->f, a->q.f);
    if (!z->r) return;
    plain_noise(&a->q, a->q.r, 7, 1);
    plain_put(z, z->r, a->q.r);
}

void pair_close(struct pair *a) {
    plain_zone_close(&a->q);
    zone_free(&a->z);
    free(a->s.memory);
}

void pair_step(struct pair *a, int cores) {
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

void pair_assert_close(const struct pair *a, const plain_point *got, const plain_point *want,
                       const char *what) {
    const double d = plain_difference(&a->q, got, want);
    if (!(d <= 1e-12))
        fail_msg("%s, zone %dx%dx%d: differs by %g", what, a->z.nx, a->z.ny, a->z.nz, d);
}

int pair_interior(const struct zone *z, int i, int j, int k) {
    return i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
}

/* ---- a step -------------------------------------------------------------------------------- */

void pair_steps_agree(enum npbmz_benchmark benchmark, double dt, const int shape[][3], int shapes) {
    for (int n = 0; n < shapes; n++)
        for (int cores = 1; cores <= 2; cores++) {
            struct pair a;
            pair_open(&a, benchmark, dt, shape[n], cores);
            pair_step(&a, cores);
            plain_step(&a.q);
            plain_point *got = plain_field(&a.q);
            plain_get(&a.z, a.z.u, got);
            pair_assert_close(&a, got, a.q.u, "u after a step");
            if (a.z.r) {
                plain_get(&a.z, a.z.r, got);
                pair_assert_close(&a, got, a.q.r, "r after a step");
            }
            free(got);
            pair_close(&a);
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

void pair_others_stay(enum npbmz_benchmark benchmark, double dt, const int shape[][3], int shapes) {
    for (int n = 0; n < shapes; n++) {
        struct pair a;
        pair_open(&a, benchmark, dt, shape[n], 3);
        struct zone *z = &a.z;
        /* zeros that adding a zero would make positive */
        for (size_t m = 0; m < plain_points(&a.q); m += 3)
            for (int c = 1; c <= 3; c++) a.q.u[m][c] = -0.0;
        plain_put(z, z->u, a.q.u);
        size_t bytes;
        char *block = zone_block(&a.p, z, &bytes), *before = malloc(bytes);
        assert_non_null(before);
        memcpy(before, block, bytes);
        pair_step(&a, 3);
        take_over(z, z->u, before, block);
        if (z->r) take_over(z, z->r, before, block);
        if (memcmp(before, block, bytes))
            fail_msg("zone %dx%dx%d: more has changed than interior points", z->nx, z->ny, z->nz);
        free(before);
        pair_close(&a);
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

static void after_steps(struct pair *a, enum npbmz_benchmark benchmark, double dt,
                        const int shape[3], int cores, int is_poisoned) {
    pair_open(a, benchmark, dt, shape, cores);
    for (int t = 0; t < STEPS; t++) {
        if (is_poisoned) poison(a);
        pair_step(a, cores);
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

void pair_team_has_no_say(enum npbmz_benchmark benchmark, double dt, const int shape[][3],
                          int shapes, int teams) {
    static const int cores[] = {2, 3, 5, 4, 7, 12};
    assert_true(teams <= (int)(sizeof cores / sizeof *cores));
    for (int n = 0; n < shapes; n++) {
        struct pair one, more;
        after_steps(&one, benchmark, dt, shape[n], 1, 0);
        for (int c = 0; c < teams; c++) {
            after_steps(&more, benchmark, dt, shape[n], cores[c], 0);
            assert_same_bits(&one, &more, "the team", cores[c]);
            pair_close(&more);
        }
        pair_close(&one);
    }
}

void pair_padding_has_no_say(enum npbmz_benchmark benchmark, double dt, const int shape[][3],
                             int shapes) {
    for (int n = 0; n < shapes; n++) {
        struct pair clean, dirty;
        after_steps(&clean, benchmark, dt, shape[n], 1, 0);
        for (int cores = 1; cores <= 3; cores++) {
            after_steps(&dirty, benchmark, dt, shape[n], cores, 1);
            assert_same_bits(&clean, &dirty, "padding or scratch", cores);
            pair_close(&dirty);
        }
        pair_close(&clean);
    }
}
