/* LU-MZ's kernels, on emulated devices and on OpenCL where there is one, against the host's solver
 * and plain.c: zones of unequal shapes in one batch with random gases, the bits where compilers may
 * not fuse, the official norms of class S; what a step launches, reads and leaves alone.
 *
 * Run: ctest -R gpu-lu. EVENER_TEST_DEVICE=NAME: on this device only. */
#define NPBMZ_ITEM
#include "npbmz/lu/wave.h"

#include "npbmz/mesh/exact.h"
#include "copy_faces.h"
#include "npbmz/device/gpu.h"
#include "npbmz/mesh/mesh.h"
#include "plain.h"
#include "npbmz/host/verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIPPED = 77 };

extern const evn_kernel_source lu_kernels;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        evn_status status_ = (call);                                                               \
        if (status_) fail_msg("%s: status %d: %s", #call, status_, evn_message());                 \
    } while (0)

static const char *device_name = "emulated";

/* One bundle and many; bundles that are full and that stick out by all but one line; lines shorter
 * than a bundle is wide, and longer than all of a wave's launches. */
static const int shapes[][3] = {
    {6, 6, 6},  {5, 5, 5},   {16, 16, 8},  {29, 6, 8},  {57, 38, 28}, {13, 11, 17}, {17, 26, 5},
    {9, 43, 7}, {76, 10, 6}, {12, 18, 10}, {7, 34, 18}, {21, 19, 11}, {5, 35, 27},  {140, 8, 12},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const struct team alone = {0, 1};

/* Some zones, on the host and on a device. */
struct both {
    struct problem p;
    struct scratch s;
    evn_device *device;
    evn_queue *queue;
    evn_buffer *field;
    struct gpu *gpu;
    int *number; /* the batch: zones from the last to the first */
    size_t *at;  /* of each entry of the batch */
};

/* entry of the batch that is zone n */
static int entry(const struct both *b, int n) { return b->p.zones - 1 - n; }

static void put_on_device(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        size_t bytes;
        void *block = zone_block(&b->p, &b->p.zone[n], &bytes);
        assert_ok(evn_copy_to_device(b->queue, b->field, b->at[entry(b, n)], block, bytes));
    }
    assert_ok(evn_queue_finish(b->queue));
}

/* Zone n as the device has it: *z with a block of its own. */
static void get_from_device(struct both *b, int n, struct zone *z) {
    size_t bytes;
    *z = b->p.zone[n];
    assert_int_equal(zone_alloc(&b->p, z), 0);
    void *block = zone_block(&b->p, z, &bytes);
    assert_ok(evn_copy_to_host(b->queue, block, b->field, b->at[entry(b, n)], bytes));
    assert_ok(evn_queue_finish(b->queue));
}

static void device_open(struct both *b, size_t max_work) {
    struct problem *p = &b->p;
    b->s.doubles = p->solver->scratch(p, 1);
    size_t bytes = (b->s.doubles * sizeof(double) + 63) / 64 * 64, sum = 256;
    b->s.memory = aligned_alloc(64, bytes);
    assert_non_null(b->s.memory);
    memset(b->s.memory, 0, bytes);
    b->number = calloc((size_t)p->zones, sizeof *b->number);
    b->at = calloc((size_t)p->zones, sizeof *b->at);
    assert_true(b->number && b->at);
    for (int e = 0; e < p->zones; e++) {
        b->number[e] = p->zones - 1 - e;
        b->at[e] = sum;
        zone_block(p, &p->zone[b->number[e]], &bytes);
        sum += (bytes + 255) / 256 * 256 + 256;
    }
    assert_ok(evn_device_open(&b->device, device_name, 0));
    assert_ok(evn_queue_open(&b->queue, b->device));
    assert_ok(evn_buffer_open(&b->field, b->device, sum));
    assert_ok(gpu_open(&b->gpu, p, &gpu_lu, b->device, b->queue, max_work));
    assert_ok(gpu_batch(b->gpu, b->field, p->zones, b->number, b->at));
    put_on_device(b);
}

static void both_close(struct both *b) {
    gpu_close(b->gpu);
    evn_buffer_close(b->field);
    evn_queue_close(b->queue);
    evn_device_close(b->device);
    free(b->s.memory);
    free(b->number);
    free(b->at);
    problem_close(&b->p);
}

/* zones with these shapes and random gases, forcings and residuals */
static void both_open(struct both *b, const int shape[][3], int zones, double dt, size_t max_work) {
    memset(b, 0, sizeof *b);
    struct problem *p = &b->p;
    assert_int_equal(problem_class(p, NPBMZ_LU, 'A'), 0);
    p->h[0] = 1 / 22.0, p->h[1] = 1 / 19.0, p->h[2] = 1 / 17.0; /* no two alike */
    p->dt = dt;
    p->zones = zones;
    p->zone = calloc((size_t)zones, sizeof *p->zone);
    assert_non_null(p->zone);
    p->max_nx = p->max_ny = p->max_nz = 0;
    p->max_sj = p->max_sk = p->max_sc = 0;
    for (int n = 0; n < zones; n++) {
        struct zone *z = &p->zone[n];
        z->nx = shape[n][0], z->ny = shape[n][1], z->nz = shape[n][2];
        zone_strides(z);
#define LARGEST(of) p->max_##of = z->of > p->max_##of ? z->of : p->max_##of
        LARGEST(nx), LARGEST(ny), LARGEST(nz), LARGEST(sj), LARGEST(sk), LARGEST(sc);
#undef LARGEST
        assert_int_equal(zone_alloc(p, z), 0);
        struct plain_zone q;
        plain_zone_open(&q, NPBMZ_LU, z->nx, z->ny, z->nz, p->h, p->dt);
        plain_gas(&q, q.u, 5 + (unsigned)n);
        plain_noise(&q, q.f, 6 + (unsigned)n, 1);
        plain_noise(&q, q.r, 7 + (unsigned)n, 1);
        plain_put(z, z->u, q.u);
        plain_put(z, z->f, q.f);
        plain_put(z, z->r, q.r);
        plain_zone_close(&q);
    }
    device_open(b, max_work);
}

static void host_steps(struct both *b, int steps) {
    for (int t = 0; t < steps; t++)
        for (int n = 0; n < b->p.zones; n++) b->p.solver->step(&b->p, &b->p.zone[n], &b->s, &alone);
}

static void device_steps(struct both *b, int steps) {
    for (int t = 0; t < steps; t++) {
        assert_ok(gpu_step(b->gpu));
        assert_ok(gpu_finish(b->gpu));
    }
    assert_ok(evn_queue_finish(b->queue));
}

/* Largest difference over a field's points, component by component in units of its largest value.
 * Not a number where either has one. */
static double difference(const struct zone *z, const double *a, const double *reference) {
    double worst = 0;
    for (int m = 0; m < NC; m++) {
        double largest = 0, max = 0;
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++)
                for (int i = 0; i < z->nx; i++) {
                    const ptrdiff_t at = m * z->sc + zone_at(z, i, j, k);
                    if (fabs(reference[at]) > largest) largest = fabs(reference[at]);
                    if (!(fabs(a[at] - reference[at]) <= max)) max = fabs(a[at] - reference[at]);
                }
        if (!(max / largest <= worst)) worst = max / largest;
    }
    return worst;
}

/* what may be between host and device */
static double tolerance(void) { return lu_kernels.contract ? 1e-12 : 0; }

static void assert_near(const struct zone *z, int n, const char *what, const double *a,
                        const double *reference, double max) {
    double d = difference(z, a, reference);
    if (!(d <= max))
        fail_msg("zone %d, %dx%dx%d: %s differs by %g", n, z->nx, z->ny, z->nz, what, d);
}

/* All of the device's zones are the host's: also where nothing should have been written. */
static void assert_alike(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        const struct zone *host = &b->p.zone[n];
        struct zone z;
        size_t bytes;
        get_from_device(b, n, &z);
        assert_near(&z, n, "u", z.u, host->u, tolerance());
        assert_near(&z, n, "r", z.r, host->r, tolerance());
        /* then the interior may be made equal, and the rest must be: ghosts, padding, forcing */
        for (int m = 0; m < NC; m++)
            for (int k = 1; k < z.nz - 1; k++)
                for (int j = 1; j < z.ny - 1; j++) {
                    const ptrdiff_t at = m * z.sc + zone_at(&z, 1, j, k);
                    const size_t row = (size_t)(z.nx - 2) * sizeof(double);
                    memcpy(z.u + at, host->u + at, row);
                    memcpy(z.r + at, host->r + at, row);
                }
        const double *got = zone_block(&b->p, &z, &bytes);
        const double *want = zone_block(&b->p, host, &bytes);
        for (size_t at = 0; at < bytes / sizeof *got; at++)
            if (memcmp(&got[at], &want[at], sizeof *got))
                fail_msg("zone %d, %dx%dx%d: place %td after u, which is no interior point, was %g "
                         "and became %g",
                         n, z.nx, z.ny, z.nz, got + at - z.u, want[at], got[at]);
        zone_free(&z);
    }
}

/* ---- the step ------------------------------------------------------------------------------ */

static void same_as_host(void **state) {
    (void)state;
    struct both b;
    both_open(&b, shapes, SHAPES, 0.01, 0);
    host_steps(&b, 3);
    device_steps(&b, 3);
    assert_alike(&b);
    both_close(&b);
}

/* Each shape by itself: then the number of steps of a launch is its own. */
static void one_zone(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct both b;
        both_open(&b, shapes + n, 1, 0.3, 0);
        host_steps(&b, 2);
        device_steps(&b, 2);
        assert_alike(&b);
        both_close(&b);
    }
}

static void same_as_plain(void **state) {
    (void)state;
    struct both b;
    both_open(&b, shapes, SHAPES, 0.7, 0);
    device_steps(&b, 1);
    for (int n = 0; n < b.p.zones; n++) {
        struct plain_zone q;
        struct zone z, expected = b.p.zone[n];
        plain_zone_of(&q, &b.p, &b.p.zone[n]);
        plain_step(&q);
        get_from_device(&b, n, &z);
        assert_int_equal(zone_alloc(&b.p, &expected), 0);
        plain_put(&expected, expected.u, q.u);
        plain_put(&expected, expected.r, q.r);
        assert_near(&z, n, "u", z.u, expected.u, 1e-12);
        assert_near(&z, n, "r", z.r, expected.r, 1e-12);
        zone_free(&z);
        zone_free(&expected);
        plain_zone_close(&q);
    }
    both_close(&b);
}

static void prepare_makes_the_residual(void **state) {
    (void)state;
    struct both b;
    both_open(&b, shapes, SHAPES, 0.01, 0);
    for (int n = 0; n < b.p.zones; n++) b.p.solver->prepare(&b.p, &b.p.zone[n], &b.s, &alone);
    assert_ok(gpu_prepare(b.gpu));
    assert_alike(&b);
    both_close(&b);
}

/* ---- what it reads ------------------------------------------------------------------------- */

static int is_interior(const struct zone *z, int i, int j, int k) {
    return i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
}

/* Puts NaN where the sweeps have no business: into all of u and r that is no interior point. */
static void poison(struct zone *z) {
    for (int m = 0; m < NC; m++)
        for (ptrdiff_t at = m ? 0 : -ZONE_SLACK; at < z->sc; at++) {
            const int k = (int)(at / z->sk), j = (int)(at % z->sk / z->sj);
            const int i = (int)(at % z->sk % z->sj);
            if (at < 0 || !is_interior(z, i, j, k))
                z->u[m * z->sc + at] = z->r[m * z->sc + at] = NAN;
        }
}

/* The ghosts come in after the sweeps: nothing there is used before the residual. */
static void sweeps_need_no_ghosts(void **state) {
    (void)state;
    struct both b;
    both_open(&b, shapes, SHAPES, 0.01, 0);
    struct zone saved[SHAPES];
    for (int n = 0; n < SHAPES; n++) {
        get_from_device(&b, n, &saved[n]);
        poison(&b.p.zone[n]);
    }
    put_on_device(&b);
    assert_ok(gpu_step(b.gpu));
    for (int n = 0; n < SHAPES; n++) {
        struct zone z;
        get_from_device(&b, n, &z);
        for (int m = 0; m < NC; m++)
            for (int k = 0; k < z.nz; k++)
                for (int j = 0; j < z.ny; j++)
                    for (int i = 0; i < z.nx; i++) {
                        const ptrdiff_t at = m * z.sc + zone_at(&z, i, j, k);
                        if (is_interior(&z, i, j, k))
                            assert_true(isfinite(z.u[at]));
                        else
                            assert_true(isnan(z.u[at])); /* left alone */
                    }
        /* the interior as the sweeps have made it, and all else as it was */
        for (int m = 0; m < NC; m++)
            for (int k = 1; k < z.nz - 1; k++)
                for (int j = 1; j < z.ny - 1; j++) {
                    const ptrdiff_t at = m * z.sc + zone_at(&z, 1, j, k);
                    memcpy(saved[n].u + at, z.u + at, (size_t)(z.nx - 2) * sizeof(double));
                }
        zone_free(&z);
        zone_free(&b.p.zone[n]);
        b.p.zone[n] = saved[n];
    }
    put_on_device(&b);
    assert_ok(gpu_finish(b.gpu));
    /* the host, from the start */
    struct both c;
    both_open(&c, shapes, SHAPES, 0.01, 0);
    host_steps(&c, 1);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z;
        get_from_device(&b, n, &z);
        assert_near(&z, n, "u", z.u, c.p.zone[n].u, tolerance());
        assert_near(&z, n, "r", z.r, c.p.zone[n].r, tolerance());
        zone_free(&z);
    }
    both_close(&c);
    both_close(&b);
}

/* ---- what it costs ------------------------------------------------------------------------- */

static long long launched(struct both *b, int steps) {
    evn_counts before = evn_device_counts(b->device);
    device_steps(b, steps);
    evn_counts after = evn_device_counts(b->device);
    long long launches = after.launches - before.launches;
    after.launches = before.launches;
    assert_memory_equal(&before, &after, sizeof before); /* nothing is copied */
    return launches;
}

/* As many launches for 16 zones as for one of them, and no more than a few for a small one. */
static void launches(void **state) {
    (void)state;
    static const int sizes[][4] = {/* extents, most launches a step */
                                   {6, 6, 6, 3},
                                   {16, 16, 8, 3},
                                   {32, 32, 16, 15},
                                   {76, 52, 17, 27}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int shape[16][3];
        for (int n = 0; n < 16; n++) memcpy(shape[n], sizes[s], sizeof shape[n]);
        long long one = 0;
        for (int zones = 1; zones <= 16; zones += 15) {
            struct both b;
            both_open(&b, (const int(*)[3])shape, zones, 0.01, 0);
            long long n = launched(&b, 2);
            assert_int_equal(n % 2, 0);
            if (zones == 1) one = n;
            assert_int_equal(n, one);
            assert_true(n <= 2 * sizes[s][3]);
            both_close(&b);
        }
    }
}

static void in_parts(void **state) {
    (void)state;
    struct both b;
    size_t max = 0;
    both_open(&b, shapes, SHAPES, 0.01, 0);
    for (int n = 0; n < SHAPES; n++) {
        size_t work = gpu_lu.work(&b.p, &b.p.zone[n]);
        if (work > max) max = work;
    }
    long long whole = launched(&b, 1);
    both_close(&b);
    both_open(&b, shapes, SHAPES, 0.01, (max + 31) / 32 * 32 * sizeof(double));
    host_steps(&b, 1);
    assert_true(launched(&b, 1) > whole);
    assert_alike(&b);
    both_close(&b);
}

/* The cut into bundles: every interior line once, none empty; and into groups of the residual. */
static void pieces(void **state) {
    (void)state;
    assert_int_equal(gpu_lu.cuts, 2);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = {.nx = shapes[n][0], .ny = shapes[n][1], .nz = shapes[n][2]};
        zone_strides(&z);
        int y = 0, x = 0;
        while (y * LU_LINES_Y < z.ny - 2) y++;
        while (x * LU_LINES_Z < z.nz - 2) x++;
        assert_int_equal(gpu_lu.pieces(NULL, &z, 0), y * x);
        int groups = gpu_lu.pieces(NULL, &z, 1);
        assert_int_equal(groups % (z.nz - 2), 0);
        groups /= z.nz - 2;
        assert_true(groups * LU_RESIDUAL_ITEMS >= z.sj * (z.ny - 2) &&
                    (groups - 1) * LU_RESIDUAL_ITEMS < z.sj * (z.ny - 2));
    }
}

/* ---- an official run ----------------------------------------------------------------------- */

/* All of class S, with the exchange done by the host between the two parts of a step, as late as
 * it may be: planes taken before the sweeps, put in after them. */
static void class_s(void **state) {
    (void)state;
    struct both b;
    memset(&b, 0, sizeof b);
    struct problem *p = &b.p;
    assert_int_equal(problem_class(p, NPBMZ_LU, 'S'), 0);
    assert_int_equal(problem_zones(p), 0);
    double *forcing =
        aligned_alloc(64, (zone_forcing_scratch(p, 1) * sizeof(double) + 63) / 64 * 64);
    assert_non_null(forcing);
    for (int n = 0; n < p->zones; n++) {
        assert_int_equal(zone_alloc(p, &p->zone[n]), 0);
        zone_forcing(p, &p->zone[n], forcing, &alone);
        zone_initialise(p, &p->zone[n]);
    }
    free(forcing);
    device_open(&b, 0);
    assert_ok(gpu_prepare(b.gpu));
    for (int t = 0; t < p->steps; t++) {
        struct zone z;
        size_t bytes;
        for (int n = 0; n < p->zones; n++) { /* as it is before the step */
            get_from_device(&b, n, &z);
            void *from = zone_block(p, &z, &bytes);
            memcpy(zone_block(p, &p->zone[n], &bytes), from, bytes);
            zone_free(&z);
        }
        for (int n = 0; n < p->zones; n++) copy_faces(p, n);
        assert_ok(gpu_step(b.gpu));
        for (int n = 0; n < p->zones; n++) {
            get_from_device(&b, n, &z);
            for (int m = 0; m < NC; m++)
                for (int k = 1; k < z.nz - 1; k++)
                    for (int j = 1; j < z.ny - 1; j++) {
                        const ptrdiff_t at = m * z.sc + zone_at(&z, 1, j, k);
                        memcpy(p->zone[n].u + at, z.u + at, (size_t)(z.nx - 2) * sizeof(double));
                    }
            zone_free(&z);
        }
        put_on_device(&b);
        assert_ok(gpu_finish(b.gpu));
    }
    struct norms zone[64], total;
    assert_true(p->zones <= 64);
    memset(zone, 0, sizeof zone);
    for (int n = 0; n < p->zones; n++) {
        struct zone z;
        get_from_device(&b, n, &z);
        zone_residual_norm(&z, z.r, zone[n].residual);
        zone_error_norm(p, &z, zone[n].error);
        zone[n].surface = zone_surface(p, &z);
        zone_free(&z);
    }
    norms_sum(zone, p->zones, &total);
    assert_int_equal(verify_run(p, p->steps, &total), 1);
    both_close(&b);
}

int main(void) {
    const char *chosen = getenv("EVENER_TEST_DEVICE");
    if (chosen) device_name = chosen;
    int count;
    char why[256];
    if (evn_devices_count(device_name, &count, why, sizeof why) || count == 0) {
        printf("skipped: %s: %s\n", device_name, count == 0 ? why : evn_message());
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces),
        cmocka_unit_test(same_as_plain),
        cmocka_unit_test(same_as_host),
        cmocka_unit_test(one_zone),
        cmocka_unit_test(prepare_makes_the_residual),
        cmocka_unit_test(sweeps_need_no_ghosts),
        cmocka_unit_test(launches),
        cmocka_unit_test(in_parts),
        cmocka_unit_test(class_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
