/* A step of BT-MZ, SP-MZ and LU-MZ on the host, on zones of odd shapes with random gases: the bits
 * do not depend on the team, the padding, or what its scratch memory has served, and points that
 * are not interior stay. The values are those of official runs (command-hash) and of another
 * implementation, the devices' (gpu_steps).
 * Run: ctest -R '^steps$'; it makes teams larger than the number of processors. */
#include "both.h"
#include "check.h"
#include "npbmz/mesh/mesh.h"
#include "padding.h"

#include <math.h>
#include <omp.h>

enum { STEPS = 2, GUARD = 64 };

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
    double dt; /* after a few such steps the gas is one still */
    const int (*shape)[3];
    int shapes;
} subjects[] = {
    {NPBMZ_BT, 0.01, ALL(of_bt)}, {NPBMZ_SP, 0.0003, ALL(of_sp)}, {NPBMZ_LU, 0.01, ALL(of_lu)}};

/* Finite, of all magnitudes, now and then 0. */
static double garbage(ptrdiff_t n) {
    static uint64_t x = 88172645463325252u;
    (void)n;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x % 11 ? ldexp((double)(int64_t)x, (int)(x % 600) - 363) : 0;
}

/* LU's scratch is the sweeps' progress, and not filled. */
static void poison(struct both *b, struct zone *z) {
    padding_fill(z, z->u, garbage);
    padding_fill(z, z->f, garbage);
    if (z->r) padding_fill(z, z->r, garbage);
    for (size_t l = 0; !z->r && l < b->s.doubles; l++) b->s.memory[l] = l % 3 ? garbage(0) : NAN;
}

static void step(struct both *b, struct zone *z, int cores) {
    int got = 0;
#pragma omp parallel num_threads(cores)
    {
        struct team t = {omp_get_thread_num(), omp_get_num_threads(), NULL};
#pragma omp single
        got = t.cores;
        if (got == cores) b->p.solver->step(&b->p, z, &b->s, &t);
    }
    assert_int_equal(got, cores);
}

/* A step in which interior points of u and r change, and nothing else. */
static void guarded_step(struct both *b, struct zone *z, int cores) {
    size_t bytes;
    double *block = zone_block(&b->p, z, &bytes), *before = malloc(bytes);
    assert_non_null(before);
    memcpy(before, block, bytes);
    step(b, z, cores);
    double *const field[] = {z->u, z->r};
    for (int f = 0; f < 2 && field[f]; f++)
        for (int c = 0; c < NC; c++) {
            double *old = before + (field[f] - block) + c * z->sc;
            const ptrdiff_t at = zone_at(z, z->nx / 2, z->ny / 2, z->nz / 2);
            assert_true(memcmp(old + at, field[f] + c * z->sc + at, sizeof *old));
        }
    both_copy_interior(z, before + (z->u - block), z->u);
    if (z->r) both_copy_interior(z, before + (z->r - block), z->r);
    if (memcmp(before, block, bytes))
        fail_msg("zone %dx%dx%d: more has changed than interior points", z->nx, z->ny, z->nz);
    free(before);
}

static void assert_same_points(const struct zone *z, const double *a, const double *b, int cores) {
    for (int c = 0; c < NC; c++)
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++) {
                const ptrdiff_t at = c * z->sc + zone_at(z, 0, j, k);
                assert_true(isfinite(a[at + z->nx / 2]));
                if (memcmp(a + at, b + at, (size_t)z->nx * sizeof *a))
                    fail_msg("zone %dx%dx%d: bits differ with %d cores or other padding", z->nx,
                             z->ny, z->nz, cores);
            }
}

TEST(nothing_else_has_a_say) {
    static const int cores[] = {1, 2, 7};
    for (const struct subject *s = subjects; s < subjects + 3; s++) {
        ENDS(both_close) struct both one;
        both_zones(&one, s->benchmark, s->dt, s->shape, s->shapes);
        both_host_steps(&one, STEPS);
        for (size_t c = 0; c < sizeof cores / sizeof *cores; c++) {
            ENDS(both_close) struct both b;
            both_zones(&b, s->benchmark, s->dt, s->shape, s->shapes);
            free(b.s.memory);
            b.s.doubles = b.p.solver->scratch(&b.p, cores[c]);
            b.s.memory = both_memory((b.s.doubles + GUARD) * sizeof(double));
            for (int t = 0; t < STEPS; t++)
                for (int n = 0; n < s->shapes; n++) {
                    if (t) poison(&b, &b.p.zone[n]);
                    (t ? step : guarded_step)(&b, &b.p.zone[n], cores[c]);
                }
            for (int n = 0; n < s->shapes; n++) {
                assert_same_points(&b.p.zone[n], one.p.zone[n].u, b.p.zone[n].u, cores[c]);
                if (one.p.zone[n].r)
                    assert_same_points(&b.p.zone[n], one.p.zone[n].r, b.p.zone[n].r, cores[c]);
            }
            for (int i = 0; i < GUARD; i++) assert_true(b.s.memory[b.s.doubles + (size_t)i] == 0);
        }
    }
}

RUN_TESTS(NULL, NULL)
