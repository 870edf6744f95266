/* Norms and hashes of a device against those of norms.h: to the bit where nothing is fused, else to
 * rounding. The device is check.h's. Run: ctest -R '^gpu_norms$' */
#include "both.h"
#include "check.h"
#include "npbmz/device/norms_gpu.h"
#include "npbmz/host/residual.h"
#include "npbmz/mesh/mesh.h"

#include <math.h>

/* Widths around whole vectors and groups of items, the smallest zone, narrow and long ones. */
static const int shapes[][3] = {{6, 6, 6},  {13, 8, 28}, {57, 38, 28}, {16, 11, 17},
                                {17, 9, 7}, {8, 13, 6},  {66, 7, 9},   {67, 6, 8},
                                {10, 7, 9}, {64, 35, 6}, {300, 12, 6}, {5, 5, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

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

static const evn_kernel_source *const norms_alone[] = {&norms_kernels, NULL};
static const struct gpu_solver no_solver = {.sources = norms_alone, .work = norms_work};

static void norms_of_host(const struct both *b, int n, struct norms *want) {
    const struct problem *p = &b->p;
    const struct zone *z = &p->zone[n];
    memset(want, 0, sizeof *want);
    if (p->benchmark == NPBMZ_LU) {
        zone_residual_norm(z, z->r, want->residual);
        want->surface = zone_surface(p, z);
    } else {
        HEAP double *scratch = both_memory(residual_scratch(p, 1) * sizeof(double));
        HEAP double *block = both_memory((size_t)(NC * z->sc + 2 * ZONE_SLACK) * sizeof(double));
        residual(p, z, z->u, z->f, 1, block + ZONE_SLACK, scratch, &both_alone);
        zone_residual_norm(z, block + ZONE_SLACK, want->residual);
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
    ENDS(both_close) struct both b;
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
    const int missing = test_devices(&norms_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(NULL, NULL);
}
