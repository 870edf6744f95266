/* The operator in kernels (residual_item.h) against the host's residual(), and norms and hashes of
 * a device against those of norms.h: to the bit where nothing is fused, else to rounding.
 * EVENER_TEST_DEVICE is the device, emulated if it is not set; where there is none the test is
 * skipped (exit status 77). Run: ctest -R gpu_residual */
#include "npbmz/mesh/exact.h"
#include "npbmz/device/gpu.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/device/norms_gpu.h"
#include "plain.h"
#include "npbmz/host/residual.h"
#include "npbmz/host/residual_rows.h"
#include <evener/device.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const evn_kernel_source residual_probe_kernels;

static const char *spec;

#define OK(call)                                                                                   \
    do {                                                                                           \
        evn_status ok_status = (call);                                                             \
        if (ok_status) fail_msg("%s: %s: %s", #call, evn_status_text(ok_status), evn_message());   \
    } while (0)

/* Widths around whole vectors and groups of items, the smallest zone, narrow and long ones. */
static const int shapes[][3] = {{6, 6, 6},  {13, 8, 28}, {57, 38, 28}, {16, 11, 17},
                                {17, 9, 7}, {8, 13, 6},  {66, 7, 9},   {67, 6, 8},
                                {10, 7, 9}, {64, 35, 6}, {300, 12, 6}, {5, 5, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes, FIELDS = 15 };

/* All zones of `shapes` as one batch on the device. */
struct batch {
    struct problem p;
    struct zone zone[SHAPES];
    evn_device *device;
    evn_queue *queue;
    evn_buffer *field, *work, *zones;
    struct gpu_zone table[SHAPES];
    size_t work_doubles;
};

static void *memory(size_t bytes) {
    void *a = NULL;
    assert_int_equal(posix_memalign(&a, 64, bytes), 0);
    return a;
}

static evn_buffer *send(struct batch *b, const void *from, size_t bytes) {
    evn_buffer *buffer;
    OK(evn_buffer_open(&buffer, b->device, bytes));
    OK(evn_copy_to_device(b->queue, buffer, 0, from, bytes));
    OK(evn_queue_finish(b->queue));
    return buffer;
}

/* Every zone another random gas; the forcing of the operator's own size. */
static void open_batch(struct batch *b, enum npbmz_benchmark benchmark) {
    memset(b, 0, sizeof *b);
    b->p.benchmark = benchmark;
    b->p.h[0] = 1 / 56.3, b->p.h[1] = 1 / 37.1, b->p.h[2] = 1 / 27.0;
    b->p.zones = SHAPES, b->p.zone = b->zone;
    OK(evn_device_open(&b->device, spec, 0));
    OK(evn_queue_open(&b->queue, b->device));
    size_t doubles = 0;
    for (int n = 0; n < SHAPES; n++) {
        struct zone *z = &b->zone[n];
        z->nx = shapes[n][0], z->ny = shapes[n][1], z->nz = shapes[n][2];
        zone_strides(z);
        assert_int_equal(zone_alloc(&b->p, z), 0);
        struct plain_zone plain;
        plain_zone_open(&plain, benchmark, z->nx, z->ny, z->nz, b->p.h, 1e-3);
        plain_gas(&plain, plain.u, 5 + (unsigned)n);
        plain_noise(&plain, plain.f, 6 + (unsigned)n, 1);
        for (size_t i = 0; i < plain_points(&plain); i++)
            for (int m = 0; m < NC; m++) plain.f[i][m] *= 100;
        plain_put(z, z->u, plain.u);
        plain_put(z, z->f, plain.f);
        if (z->r) plain_put(z, z->r, plain.f);
        plain_zone_close(&plain);

        struct problem *p = &b->p;
        if (z->nx > p->max_nx) p->max_nx = z->nx;
        if (z->ny > p->max_ny) p->max_ny = z->ny;
        if (z->nz > p->max_nz) p->max_nz = z->nz;
        if (z->sj > p->max_sj) p->max_sj = z->sj;
        if (z->sk > p->max_sk) p->max_sk = z->sk;
        if (z->sc > p->max_sc) p->max_sc = z->sc;

        size_t bytes;
        const double *block = zone_block(p, z, &bytes);
        struct gpu_zone *g = &b->table[n];
        g->u = (evn_long)doubles + (z->u - block);
        g->f = (evn_long)doubles + (z->f - block);
        g->r = z->r ? (evn_long)doubles + (z->r - block) : 0;
        g->work = (evn_long)b->work_doubles;
        g->sj = z->sj, g->sk = z->sk, g->sc = z->sc;
        g->nx = z->nx, g->ny = z->ny, g->nz = z->nz;
        g->number = n;
        doubles += bytes / sizeof(double);
        b->work_doubles += (size_t)(FIELDS * z->sc) / 32 * 32 + 32;
    }
    OK(evn_buffer_open(&b->field, b->device, doubles * sizeof(double)));
    doubles = 0;
    for (int n = 0; n < SHAPES; n++) {
        size_t bytes;
        const void *block = zone_block(&b->p, &b->zone[n], &bytes);
        OK(evn_copy_to_device(b->queue, b->field, doubles, block, bytes));
        doubles += bytes;
    }
    OK(evn_queue_finish(b->queue));
    OK(evn_buffer_open(&b->work, b->device, b->work_doubles * sizeof(double)));
    b->zones = send(b, b->table, sizeof b->table);
}

static void close_batch(struct batch *b) {
    evn_buffer_close(b->zones);
    evn_buffer_close(b->work);
    evn_buffer_close(b->field);
    evn_queue_close(b->queue);
    evn_device_close(b->device);
    for (int n = 0; n < SHAPES; n++) zone_free(&b->zone[n]);
}

/* Runs a kernel on pieces(zone) pieces of each zone, in one launch. */
static void launch(struct batch *b, const evn_kernel_source *source, const char *name,
                   int (*pieces)(const struct problem *p, const struct zone *z), const void *value,
                   size_t bytes) {
    int count = 0;
    for (int n = 0; n < SHAPES; n++) count += pieces(&b->p, &b->zone[n]);
    struct gpu_piece *piece = memory((size_t)count * sizeof *piece);
    count = 0;
    for (int n = 0; n < SHAPES; n++)
        for (int i = 0; i < pieces(&b->p, &b->zone[n]); i++)
            piece[count++] = (struct gpu_piece){n, i};
    evn_buffer *table = send(b, piece, (size_t)count * sizeof *piece);
    evn_program *program;
    evn_kernel *kernel;
    OK(evn_program_open(&program, b->device, source, NULL));
    OK(evn_kernel_open(&kernel, program, name));
    const evn_argument argument[] = {{.buffer = b->field},
                                     {.buffer = b->work},
                                     {.buffer = b->zones},
                                     {.buffer = table},
                                     {.value = value, .bytes = bytes}};
    OK(evn_launch(b->queue, kernel, count, evn_kernel_items(kernel), argument, 5));
    OK(evn_queue_finish(b->queue));
    evn_kernel_close(kernel);
    evn_program_close(program);
    evn_buffer_close(table);
    free(piece);
}

static double *work_of(struct batch *b) {
    double *work = memory(b->work_doubles * sizeof *work);
    OK(evn_copy_to_host(b->queue, work, b->work, 0, b->work_doubles * sizeof *work));
    OK(evn_queue_finish(b->queue));
    return work;
}

/* ---- residual_item --------------------------------------------------------------------------- */

static int rows(const struct problem *p, const struct zone *z) {
    (void)p;
    return (z->ny - 2) * (z->nz - 2);
}

/* the host's residual and points, FIELDS fields */
struct fields {
    double *at;
    const struct zone *z;
};
INLINE void put_all(const void *with, int i, int j, int k, ivec inside, vec r[NC],
                    const struct residual_point *q) {
    const struct fields *o = with;
    const vec a[FIELDS] = {r[0],    r[1],    r[2],    r[3],    r[4],    q->u[0], q->u[1], q->u[2],
                           q->u[3], q->u[4], q->v[0], q->v[1], q->v[2], q->p,    q->g};
    for (int n = 0; n < FIELDS; n++)
        for (int l = 0; l < LANES; l++)
            if (inside[l]) o->at[n * o->z->sc + zone_at(o->z, i + l, j, k)] = a[n][l];
}

static void same_as_the_host(void **state) {
    (void)state;
    struct batch b;
    open_batch(&b, NPBMZ_SP);
    struct residual_constants c;
    residual_constants(&c, &b.p);
    launch(&b, &residual_probe_kernels, "residual_probe", rows, &c, sizeof c);
    double *work = work_of(&b);
    double worst = 0;
    double *scratch = memory(residual_scratch(&b.p, 1) * sizeof(double));
    for (int n = 0; n < SHAPES; n++) {
        const struct zone *z = &b.zone[n];
        const struct team alone = {0, 1};
        double *want = memory((size_t)(FIELDS * z->sc) * sizeof *want);
        const double *got = work + b.table[n].work;
        residual_with(&b.p, z, z->u, z->f, scratch, &alone, put_all, &(struct fields){want, z});
        double largest = 0;
        for (int m = 0; m < FIELDS; m++)
            for (int k = 1; k < z->nz - 1; k++)
                for (int j = 1; j < z->ny - 1; j++)
                    for (int i = 1; i < z->nx - 1; i++)
                        largest = fmax(largest, fabs(want[m * z->sc + zone_at(z, i, j, k)]));
        for (int m = 0; m < FIELDS; m++)
            for (int k = 1; k < z->nz - 1; k++)
                for (int j = 1; j < z->ny - 1; j++)
                    for (int i = 1; i < z->nx - 1; i++) {
                        const ptrdiff_t at = m * z->sc + zone_at(z, i, j, k);
                        const double d = fabs(got[at] - want[at]) / (m < NC ? largest : 1);
                        if (residual_probe_kernels.contract
                                ? !(d <= 2e-14)
                                : memcmp(&got[at], &want[at], sizeof *got))
                            fail_msg("%dx%dx%d, point (%d,%d,%d), value %d: %.17g, host %.17g",
                                     z->nx, z->ny, z->nz, i, j, k, m, got[at], want[at]);
                        worst = fmax(worst, d);
                    }
        free(want);
    }
    print_message("largest difference %.2g\n", worst);
    free(scratch);
    free(work);
    close_batch(&b);
}

/* ---- norms ----------------------------------------------------------------------------------- */

static evn_status no_step(struct gpu *g, const struct problem *p) {
    (void)g;
    (void)p;
    return EVN_OK;
}
static size_t no_work(const struct problem *p, const struct zone *z) {
    (void)p;
    (void)z;
    return 1;
}
static const evn_kernel_source *const probes[] = {&residual_probe_kernels, NULL};
static const struct gpu_solver no_solver = {.sources = probes, .work = no_work, .step = no_step};
static const struct solver named = {.name = "test"};

static void norms_of_host(const struct batch *b, int n, struct norms *want) {
    const struct problem *p = &b->p;
    const struct zone *z = &b->zone[n];
    const struct team alone = {0, 1};
    memset(want, 0, sizeof *want);
    if (p->benchmark == NPBMZ_LU) {
        zone_residual_norm(z, z->r, want->residual);
        want->surface = zone_surface(p, z);
    } else {
        double *scratch = memory(residual_scratch(p, 1) * sizeof(double));
        double *block = memory((size_t)(NC * z->sc + 2 * ZONE_SLACK) * sizeof(double));
        residual(p, z, z->u, z->f, 1, block + ZONE_SLACK, scratch, &alone);
        zone_residual_norm(z, block + ZONE_SLACK, want->residual);
        free(block);
        free(scratch);
    }
    zone_error_norm(p, z, want->error);
}

static void assert_norm(const struct zone *z, const char *what, int m, double got, double want) {
    const int good = norms_kernels.contract ? fabs(got - want) <= 1e-13 * want
                                            : !memcmp(&got, &want, sizeof got);
    if (!good)
        fail_msg("%dx%dx%d, %s %d: %.17g, host %.17g", z->nx, z->ny, z->nz, what, m, got, want);
}

/* Zones of a batch, last one first and one left out, and all in one go or in parts. */
static void norms_as_the_host(enum npbmz_benchmark benchmark, int in_parts) {
    struct batch b;
    open_batch(&b, benchmark);
    b.p.solver = &named;
    size_t max = 0, start[SHAPES], at[SHAPES];
    int zone[SHAPES], zones = 0;
    start[0] = 0;
    for (int n = 0; n < SHAPES; n++) {
        size_t bytes, work = norms_work(&b.p, &b.zone[n]);
        zone_block(&b.p, &b.zone[n], &bytes);
        if (n + 1 < SHAPES) start[n + 1] = start[n] + bytes;
        if (work > max) max = work;
    }
    for (int n = SHAPES - 1; n >= 0; n--)
        if (n != 3) {
            zone[zones] = n;
            at[zones++] = start[n];
        }
    struct gpu *g;
    OK(gpu_open(&g, &b.p, &no_solver, b.device, b.queue,
                in_parts ? (max + 31) / 32 * 32 * sizeof(double) : 0));
    OK(gpu_batch(g, b.field, zones, zone, at));
    struct norms norms[SHAPES];
    uint64_t hash[SHAPES], again[SHAPES];
    OK(gpu_norms(g, norms, hash));
    for (int i = 0; i < zones; i++) {
        const struct zone *z = &b.zone[zone[i]];
        struct norms want;
        norms_of_host(&b, zone[i], &want);
        for (int m = 0; m < NC; m++) {
            assert_true(want.residual[m] > 0.1 && want.error[m] > 0.1);
            assert_norm(z, "residual", m, norms[i].residual[m], want.residual[m]);
            assert_norm(z, "error", m, norms[i].error[m], want.error[m]);
        }
        assert_norm(z, "surface", 0, norms[i].surface, want.surface);
        if (hash[i] != zone_hash(z))
            fail_msg("%dx%dx%d: hash %llx, host %llx", z->nx, z->ny, z->nz,
                     (unsigned long long)hash[i], (unsigned long long)zone_hash(z));
    }
    /* one without the other */
    struct norms alone[SHAPES];
    OK(gpu_norms(g, NULL, again));
    OK(gpu_norms(g, alone, NULL));
    OK(gpu_norms(g, NULL, NULL));
    assert_memory_equal(again, hash, (size_t)zones * sizeof *hash);
    assert_memory_equal(alone, norms, (size_t)zones * sizeof *norms);
    gpu_close(g);
    close_batch(&b);
}

static void norms_of_bt(void **state) {
    (void)state;
    norms_as_the_host(NPBMZ_BT, 0);
}
static void norms_of_sp_in_parts(void **state) {
    (void)state;
    norms_as_the_host(NPBMZ_SP, 1);
}
static void norms_of_lu(void **state) {
    (void)state;
    norms_as_the_host(NPBMZ_LU, 0);
    norms_as_the_host(NPBMZ_LU, 1);
}

/* More zones than a group collects at once; their hashes tell whether each result is its zone's. */
static void many_zones(void **state) {
    (void)state;
    struct batch b;
    open_batch(&b, NPBMZ_SP);
    b.p.solver = &named;
    enum { MANY = 1000 };
    size_t start[SHAPES], at[MANY];
    int zone[MANY];
    start[0] = 0;
    for (int n = 0; n + 1 < SHAPES; n++) {
        size_t bytes;
        zone_block(&b.p, &b.zone[n], &bytes);
        start[n + 1] = start[n] + bytes;
    }
    static const int small[] = {0, 5, 11, 4, 8};
    for (int i = 0; i < MANY; i++) zone[i] = small[i * i % 5], at[i] = start[zone[i]];
    /* gpu_open() has room for as many zones as the problem has */
    struct zone *all = memory(MANY * sizeof *all);
    memset(all, 0, MANY * sizeof *all);
    memcpy(all, b.zone, sizeof b.zone);
    b.p.zones = MANY, b.p.zone = all;
    struct gpu *g;
    OK(gpu_open(&g, &b.p, &no_solver, b.device, b.queue, 0));
    OK(gpu_batch(g, b.field, MANY, zone, at));
    uint64_t hash[MANY], want[SHAPES];
    OK(gpu_norms(g, NULL, hash));
    for (int n = 0; n < SHAPES; n++) want[n] = zone_hash(&b.zone[n]);
    for (int i = 0; i < MANY; i++) assert_true(hash[i] == want[zone[i]]);
    gpu_close(g);
    close_batch(&b);
    free(all);
}

int main(void) {
    spec = getenv("EVENER_TEST_DEVICE");
    if (!spec) spec = "emulated";
    int devices = 0;
    char why[256];
    if (evn_devices_count(spec, &devices, why, sizeof why)) {
        fprintf(stderr, "%s\n", evn_message());
        return 1;
    }
    if (!devices) {
        printf("skipped: %s\n", why);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_the_host),
                                       cmocka_unit_test(norms_of_bt),
                                       cmocka_unit_test(norms_of_sp_in_parts),
                                       cmocka_unit_test(norms_of_lu), cmocka_unit_test(many_zones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
