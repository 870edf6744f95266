/* The operator in kernels (npbmz/device/residual.kernel.h) against the host's residual(), and norms
 * and hashes of a device against those of norms.h: to the bit where nothing is fused, else to
 * rounding. The device is check.h's. Run: ctest -R gpu_residual */
#include "both.h"
#include "check.h"
#include "npbmz/device/norms_gpu.h"
#include "npbmz/host/residual.h"
#include "npbmz/host/residual_rows.h"
#include "npbmz/mesh/mesh.h"

#include <math.h>

extern const evn_kernel_source residual_probe_kernels;

/* Widths around whole vectors and groups of items, the smallest zone, narrow and long ones. */
static const int shapes[][3] = {{6, 6, 6},  {13, 8, 28}, {57, 38, 28}, {16, 11, 17},
                                {17, 9, 7}, {8, 13, 6},  {66, 7, 9},   {67, 6, 8},
                                {10, 7, 9}, {64, 35, 6}, {300, 12, 6}, {5, 5, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes, FIELDS = 15 };

/* All zones of `shapes`, and on the device beside them what a kernel is given. */
struct batch {
    struct both both;
    evn_buffer *work, *zones;
    struct gpu_zone table[SHAPES];
    size_t work_doubles;
};

static evn_buffer *send(struct both *b, const void *from, size_t bytes) {
    evn_buffer *buffer;
    assert_ok(evn_buffer_open(&buffer, b->device, bytes));
    assert_ok(evn_copy_to_device(b->queue, buffer, 0, from, bytes));
    assert_ok(evn_queue_finish(b->queue));
    return buffer;
}

/* The forcing is of the operator's own size. */
static void open_zones(struct both *b, enum npbmz_benchmark benchmark) {
    both_zones(b, benchmark, 1e-3, shapes, SHAPES);
    for (int n = 0; n < SHAPES; n++) {
        const struct zone *z = &b->p.zone[n];
        for (ptrdiff_t at = 0; at < NC * z->sc; at++) z->f[at] *= 100;
        if (z->r) memcpy(z->r, z->f, (size_t)(NC * z->sc) * sizeof *z->r);
    }
    both_device(b, NULL, 0);
}

static void open_batch(struct batch *b) {
    memset(b, 0, sizeof *b);
    open_zones(&b->both, NPBMZ_SP);
    for (int n = 0; n < SHAPES; n++) {
        const struct zone *z = &b->both.p.zone[n];
        size_t bytes;
        const double *block = zone_block(&b->both.p, z, &bytes);
        const evn_long start = (evn_long)(both_at(&b->both, n) / sizeof *block);
        b->table[n] = (struct gpu_zone){.u = start + (z->u - block),
                                        .f = start + (z->f - block),
                                        .work = (evn_long)b->work_doubles,
                                        .sj = z->sj,
                                        .sk = z->sk,
                                        .sc = z->sc,
                                        .nx = z->nx,
                                        .ny = z->ny,
                                        .nz = z->nz,
                                        .number = n};
        b->work_doubles += (size_t)(FIELDS * z->sc) / 32 * 32 + 32;
    }
    assert_ok(evn_buffer_open(&b->work, b->both.device, b->work_doubles * sizeof(double)));
    b->zones = send(&b->both, b->table, sizeof b->table);
}

static void close_batch(struct batch *b) {
    evn_buffer_close(b->zones);
    evn_buffer_close(b->work);
    both_close(&b->both);
}

/* Runs a kernel on pieces(zone) pieces of each zone, in one launch. */
static void launch(struct batch *b, const evn_kernel_source *source, const char *name,
                   int (*pieces)(const struct problem *p, const struct zone *z), const void *value,
                   size_t bytes) {
    int count = 0;
    for (int n = 0; n < SHAPES; n++) count += pieces(&b->both.p, &b->both.p.zone[n]);
    struct gpu_piece *piece = both_memory((size_t)count * sizeof *piece);
    count = 0;
    for (int n = 0; n < SHAPES; n++)
        for (int i = 0; i < pieces(&b->both.p, &b->both.p.zone[n]); i++)
            piece[count++] = (struct gpu_piece){n, i};
    evn_buffer *table = send(&b->both, piece, (size_t)count * sizeof *piece);
    evn_program *program;
    evn_kernel *kernel;
    assert_ok(evn_program_open(&program, b->both.device, source, NULL));
    assert_ok(evn_kernel_open(&kernel, program, name));
    const evn_argument argument[] = {{.buffer = b->both.field},
                                     {.buffer = b->work},
                                     {.buffer = b->zones},
                                     {.buffer = table},
                                     {.value = value, .bytes = bytes}};
    assert_ok(evn_launch(b->both.queue, kernel, count, evn_kernel_items(kernel), argument, 5));
    assert_ok(evn_queue_finish(b->both.queue));
    evn_kernel_close(kernel);
    evn_program_close(program);
    evn_buffer_close(table);
    free(piece);
}

static double *work_of(struct batch *b) {
    double *work = both_memory(b->work_doubles * sizeof *work);
    assert_ok(evn_copy_to_host(b->both.queue, work, b->work, 0, b->work_doubles * sizeof *work));
    assert_ok(evn_queue_finish(b->both.queue));
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

TEST(same_as_the_host) {
    struct batch b;
    open_batch(&b);
    const struct problem *p = &b.both.p;
    struct residual_constants c;
    residual_constants(&c, p);
    launch(&b, &residual_probe_kernels, "residual_probe", rows, &c, sizeof c);
    double *work = work_of(&b);
    double worst = 0;
    double *scratch = both_memory(residual_scratch(p, 1) * sizeof(double));
    for (int n = 0; n < SHAPES; n++) {
        const struct zone *z = &p->zone[n];
        double *want = both_memory((size_t)(FIELDS * z->sc) * sizeof *want);
        const double *got = work + b.table[n].work;
        residual_with(p, z, z->u, z->f, scratch, &both_alone, put_all, &(struct fields){want, z});
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

static const evn_kernel_source *const probes[] = {&residual_probe_kernels, NULL};
static const struct gpu_solver no_solver = {.sources = probes, .work = norms_work};

static void norms_of_host(const struct both *b, int n, struct norms *want) {
    const struct problem *p = &b->p;
    const struct zone *z = &p->zone[n];
    memset(want, 0, sizeof *want);
    if (p->benchmark == NPBMZ_LU) {
        zone_residual_norm(z, z->r, want->residual);
        want->surface = zone_surface(p, z);
    } else {
        double *scratch = both_memory(residual_scratch(p, 1) * sizeof(double));
        double *block = both_memory((size_t)(NC * z->sc + 2 * ZONE_SLACK) * sizeof(double));
        residual(p, z, z->u, z->f, 1, block + ZONE_SLACK, scratch, &both_alone);
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
    struct both b;
    open_zones(&b, benchmark);
    size_t at[SHAPES];
    int zone[SHAPES], zones = 0;
    for (int n = SHAPES - 1; n >= 0; n--)
        if (n != 3) {
            zone[zones] = n;
            at[zones++] = both_at(&b, n);
        }
    struct gpu *g;
    assert_ok(gpu_open(&g, &b.p, &no_solver, b.device, b.queue,
                       in_parts ? both_largest_work(&b, &no_solver) : 0));
    assert_ok(gpu_batch(g, b.field, zones, zone, at));
    struct norms norms[SHAPES];
    uint64_t hash[SHAPES], again[SHAPES];
    assert_ok(gpu_norms(g, norms, hash));
    for (int i = 0; i < zones; i++) {
        const struct zone *z = &b.p.zone[zone[i]];
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
    assert_ok(gpu_norms(g, NULL, again));
    assert_ok(gpu_norms(g, alone, NULL));
    assert_ok(gpu_norms(g, NULL, NULL));
    assert_memory_equal(again, hash, (size_t)zones * sizeof *hash);
    assert_memory_equal(alone, norms, (size_t)zones * sizeof *norms);
    gpu_close(g);
    both_close(&b);
}

TEST(norms_of_bt) { norms_as_the_host(NPBMZ_BT, 0); }
TEST(norms_of_sp_in_parts) { norms_as_the_host(NPBMZ_SP, 1); }
TEST(norms_of_lu) {
    norms_as_the_host(NPBMZ_LU, 0);
    norms_as_the_host(NPBMZ_LU, 1);
}

/* More zones than a group collects at once; their hashes tell whether each result is its zone's. */
TEST(many_zones) {
    struct both b;
    open_zones(&b, NPBMZ_SP);
    enum { MANY = 1000 };
    static const int small[] = {0, 5, 11, 4, 8};
    size_t at[MANY];
    int zone[MANY];
    for (int i = 0; i < MANY; i++) zone[i] = small[i * i % 5], at[i] = both_at(&b, zone[i]);
    /* gpu_open() has room for as many zones as the problem has */
    struct problem many = b.p;
    many.zones = MANY;
    many.zone = both_memory(MANY * sizeof *many.zone);
    memcpy(many.zone, b.p.zone, SHAPES * sizeof *many.zone);
    struct gpu *g;
    assert_ok(gpu_open(&g, &many, &no_solver, b.device, b.queue, 0));
    assert_ok(gpu_batch(g, b.field, MANY, zone, at));
    uint64_t hash[MANY], want[SHAPES];
    assert_ok(gpu_norms(g, NULL, hash));
    for (int n = 0; n < SHAPES; n++) want[n] = zone_hash(&b.p.zone[n]);
    for (int i = 0; i < MANY; i++) assert_true(hash[i] == want[zone[i]]);
    gpu_close(g);
    both_close(&b);
    free(many.zone);
}

int main(void) {
    const int missing = test_devices(&residual_probe_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(NULL, NULL);
}
