/* The spatial operator (residual.h) against plain.c, and what it promises beside the numbers:
 * which points it writes, that neither the team nor what lies between the rows changes a bit, and
 * that it stays within its scratch memory. */
#include "check.h"
#include "npbmz/mesh/mesh.h"
#include "padding.h"
#include "plain.h"
#include "npbmz/host/residual.h"

#include <math.h>
#include <omp.h>

/* Widths of 1, 0, -1 .. points beyond whole vectors, the smallest zone, and zones whose planes are
 * cut into several blocks on one core. */
static const int shapes[][3] = {{6, 6, 6},    {13, 8, 28}, {29, 6, 8},   {57, 38, 28}, {16, 11, 17},
                                {17, 9, 7},   {9, 6, 6},   {8, 13, 6},   {10, 7, 9},   {15, 6, 11},
                                {121, 40, 6}, {64, 35, 6}, {32, 32, 16}, {700, 12, 6}};
enum { SHAPES = sizeof shapes / sizeof *shapes, UNTOUCHED = 7 };

/* one zone by itself, its plain twin, and a result */
struct bench {
    struct problem p;
    struct zone z;
    struct plain_zone plain;
    double *block, *out;
    double *work; /* followed by GUARD doubles */
    size_t doubles;
};
enum { GUARD = 64 };
#define GUARD_VALUE 1234.5

static double *doubles(size_t n) {
    void *a = NULL;
    assert_int_equal(posix_memalign(&a, 64, n * sizeof(double)), 0);
    return a;
}

static size_t field(const struct zone *z) { return (size_t)(NC * z->sc); }

static void open_bench(struct bench *b, const int n[3]) {
    memset(b, 0, sizeof *b);
    b->p.benchmark = NPBMZ_SP;
    b->p.h[0] = 1 / (n[0] - 1.2), b->p.h[1] = 1 / (n[1] - 0.9), b->p.h[2] = 1.0 / (n[2] - 1);
    b->z.nx = n[0], b->z.ny = n[1], b->z.nz = n[2];
    zone_strides(&b->z);
    assert_int_equal(zone_alloc(&b->p, &b->z), 0);
    b->p.zones = 1, b->p.zone = &b->z;
    b->p.max_nx = n[0], b->p.max_ny = n[1], b->p.max_nz = n[2];
    b->p.max_sj = b->z.sj, b->p.max_sk = b->z.sk, b->p.max_sc = b->z.sc;

    plain_zone_open(&b->plain, NPBMZ_SP, n[0], n[1], n[2], b->p.h, 1e-3);
    plain_gas(&b->plain, b->plain.u, 5);
    plain_noise(&b->plain, b->plain.f, 6, 0); /* at the boundary, too, where it has no say */
    for (size_t i = 0; i < plain_points(&b->plain); i++)
        for (int m = 0; m < NC; m++) b->plain.f[i][m] *= 100; /* of the operator's own size */
    plain_put(&b->z, b->z.u, b->plain.u);
    plain_put(&b->z, b->z.f, b->plain.f);

    b->block = doubles(field(&b->z) + 2 * ZONE_SLACK);
    b->out = b->block + ZONE_SLACK;
}

static void close_bench(struct bench *b) {
    plain_zone_close(&b->plain);
    zone_free(&b->z);
    free(b->block);
}

/* out = residual of u with `cores` cores, from work that holds NaN, in an out full of UNTOUCHED */
static void run(struct bench *b, const double *f, double scale, int cores) {
    size_t n = residual_scratch(&b->p, cores);
    double *work = doubles(n + GUARD);
    for (size_t i = 0; i < n; i++) work[i] = NAN;
    for (size_t i = n; i < n + GUARD; i++) work[i] = GUARD_VALUE;
    for (size_t i = 0; i < field(&b->z); i++) b->out[i] = UNTOUCHED;
    int cores_had = 0;
#pragma omp parallel num_threads(cores)
    {
        struct team t = {omp_get_thread_num(), omp_get_num_threads(), NULL};
        if (t.core == 0) cores_had = t.cores;
        residual(&b->p, &b->z, b->z.u, f, scale, b->out, work, &t);
    }
    assert_int_equal(cores_had, cores);
    for (size_t i = n; i < n + GUARD; i++) assert_true(work[i] == GUARD_VALUE);
    free(work);
}

/* interior points of out */
static plain_point *interior(const struct bench *b) {
    plain_point *a = plain_field(&b->plain), *all = plain_field(&b->plain);
    plain_get(&b->z, b->out, all);
    for (int k = 1; k < b->z.nz - 1; k++)
        for (int j = 1; j < b->z.ny - 1; j++)
            for (int i = 1; i < b->z.nx - 1; i++)
                memcpy(a[plain_at(&b->plain, i, j, k)], all[plain_at(&b->plain, i, j, k)],
                       sizeof *a);
    free(all);
    return a;
}

/* plain.c's scale * (f + L(u)), and in terms[m] the largest of f and L(u) */
static plain_point *reference(const struct bench *b, plain_point *f, double scale,
                              double terms[NC]) {
    plain_point *a = plain_field(&b->plain), *l = plain_field(&b->plain);
    plain_residual(&b->plain, b->plain.u, f, a);
    plain_operator(&b->plain, b->plain.u, l);
    for (int m = 0; m < NC; m++) terms[m] = 0;
    for (size_t i = 0; i < plain_points(&b->plain); i++)
        for (int m = 0; m < NC; m++) {
            a[i][m] *= scale;
            terms[m] = fmax(terms[m], fabs(scale * l[i][m]));
            if (f) terms[m] = fmax(terms[m], fabs(scale * f[i][m]));
        }
    free(l);
    return a;
}

static void assert_same_as_plain(struct bench *b, plain_point *f, double scale) {
    double terms[NC];
    plain_point *want = reference(b, f, scale, terms), *got = interior(b);
    for (int k = 0; k < b->z.nz; k++)
        for (int j = 0; j < b->z.ny; j++)
            for (int i = 0; i < b->z.nx; i++)
                for (int m = 0; m < NC; m++) {
                    size_t at = plain_at(&b->plain, i, j, k);
                    if (!(fabs(got[at][m] - want[at][m]) <= 1e-13 * terms[m]))
                        fail_msg("%dx%dx%d, point (%d,%d,%d), component %d: %.17g, plain %.17g",
                                 b->z.nx, b->z.ny, b->z.nz, i, j, k, m, got[at][m], want[at][m]);
                }
    free(want);
    free(got);
}

/* ---- numbers --------------------------------------------------------------------------------- */

TEST(agrees_with_plain) {
    for (int s = 0; s < SHAPES; s++) {
        struct bench b;
        open_bench(&b, shapes[s]);
        run(&b, b.z.f, 1, 1);
        assert_same_as_plain(&b, b.plain.f, 1);
        run(&b, b.z.f, 0.37, 1);
        assert_same_as_plain(&b, b.plain.f, 0.37);
        run(&b, NULL, 1, 1);
        assert_same_as_plain(&b, NULL, 1);
        close_bench(&b);
    }
}

/* ---- which points are written ---------------------------------------------------------------- */

TEST(zero_beside_the_interior) {
    for (int s = 0; s < SHAPES; s++)
        for (int cores = 1; cores <= 3; cores++) {
            struct bench b;
            open_bench(&b, shapes[s]);
            const struct zone *z = &b.z;
            run(&b, z->f, 1, cores);
            size_t touched = 0, left = 0;
            for (int m = 0; m < NC; m++)
                for (int k = 1; k < z->nz - 1; k++)
                    for (int j = 1; j < z->ny - 1; j++) {
                        const double *row = b.out + m * z->sc + zone_at(z, 0, j, k);
                        for (int i = 0; i < z->sj; i++)
                            if (i < 1 || i > z->nx - 2) {
                                if (row[i] != 0)
                                    fail_msg("%dx%dx%d: out(%d,%d,%d) of component %d is %g", z->nx,
                                             z->ny, z->nz, i, j, k, m, row[i]);
                            }
                        touched += (size_t)z->sj;
                    }
            for (size_t i = 0; i < field(z); i++) left += b.out[i] == UNTOUCHED;
            assert_int_equal(left, field(z) - touched);
            close_bench(&b);
        }
}

/* ---- bits ------------------------------------------------------------------------------------ */

TEST(any_team_gives_the_same_bits) {
    static const int teams[] = {2, 3, 5, 7, 19};
    for (int s = 0; s < SHAPES; s++) {
        struct bench b;
        open_bench(&b, shapes[s]);
        double *alone = doubles(field(&b.z));
        run(&b, b.z.f, 0.37, 1);
        memcpy(alone, b.out, field(&b.z) * sizeof(double));
        for (size_t t = 0; t < sizeof teams / sizeof *teams; t++) {
            run(&b, b.z.f, 0.37, teams[t]);
            for (size_t i = 0; i < field(&b.z); i++)
                if (memcmp(&b.out[i], &alone[i], sizeof(double)) != 0)
                    fail_msg("%dx%dx%d, %d cores: double %zu is %.17g, alone %.17g", b.z.nx, b.z.ny,
                             b.z.nz, teams[t], i, b.out[i], alone[i]);
        }
        free(alone);
        close_bench(&b);
    }
}

/* a number that may lie in the padding: finite, of either sign, not a sound gas, sometimes 0 */
static double garbage(ptrdiff_t i) {
    static const double some[] = {0, -3, 1e150, 2e-310, -1e-20, 0.5, 77};
    return some[((size_t)i * 2654435761u >> 7) % 7];
}

TEST(padding_changes_no_bit) {
    for (int s = 0; s < SHAPES; s++) {
        struct bench b;
        open_bench(&b, shapes[s]);
        for (int cores = 1; cores <= 2; cores++) {
            run(&b, b.z.f, 1, cores);
            double *clean = doubles(field(&b.z));
            memcpy(clean, b.out, field(&b.z) * sizeof(double));
            padding_fill(&b.z, b.z.u, garbage);
            padding_fill(&b.z, b.z.f, garbage);
            run(&b, b.z.f, 1, cores);
            if (memcmp(clean, b.out, field(&b.z) * sizeof(double)) != 0)
                fail_msg("%dx%dx%d: padding is felt", b.z.nx, b.z.ny, b.z.nz);
            free(clean);
        }
        close_bench(&b);
    }
}

/* ---- scratch --------------------------------------------------------------------------------- */

/* A zone of a problem whose largest extents belong to other zones: run() looks at the guard. */
TEST(scratch_of_the_largest_zone_serves_all) {
    for (int s = 0; s < SHAPES; s++)
        for (int other = 0; other < SHAPES; other++) {
            struct bench b;
            open_bench(&b, shapes[s]);
            struct zone o = {
                .nx = shapes[other][0], .ny = shapes[other][1], .nz = shapes[other][2]};
            zone_strides(&o);
            if (o.ny > b.p.max_ny) b.p.max_ny = o.ny;
            if (o.sj > b.p.max_sj) b.p.max_sj = o.sj;
            for (int cores = 1; cores <= 3; cores += 2) run(&b, b.z.f, 1, cores);
            close_bench(&b);
        }
}

int main(void) {
    omp_set_dynamic(0);
    return run_all_tests(NULL, NULL);
}
