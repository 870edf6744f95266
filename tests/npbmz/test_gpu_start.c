/* What zones begin with, made on a device (start.kernel.c), against the host's: memory as it is
 * before use, forcing, initial state and LU's first residual, every byte of a zone's block to the
 * bit where nothing is fused, else points to rounding. On the device nothing has been written: all
 * is NaN. The device is check.h's. Run: ctest -R gpu_start */
#include "both.h"
#include "check.h"
#include "npbmz/device/start_gpu.h"
#include "npbmz/host/exact.h"
#include "npbmz/mesh/mesh.h"

#include <math.h>

/* Widths around whole vectors and groups of items, the smallest zone, narrow and long ones, and
 * more columns than the host's tables have at a time. */
static const int shapes[][3] = {{6, 6, 6},  {13, 8, 28}, {57, 38, 9}, {16, 11, 17}, {17, 9, 7},
                                {8, 13, 6}, {66, 7, 9},  {65, 6, 8},  {300, 12, 6}, {5, 5, 5}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A field's points, those on the boundary too. */
static void copy_points(const struct zone *z, double *to, const double *from) {
    for (int m = 0; m < NC; m++)
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++) {
                const ptrdiff_t at = m * z->sc + zone_at(z, 0, j, k);
                memcpy(to + at, from + at, (size_t)z->nx * sizeof *to);
            }
}

/* The device's zones are the host's; of blocks every byte, where points may differ they do not
 * count. */
static void assert_alike(struct both *b, const char *what) {
    for (int n = 0; n < b->p.zones; n++) {
        const struct zone *host = &b->p.zone[n];
        struct zone z = both_get(b, n);
        double *const got[] = {z.u, z.f, z.r}, *const want[] = {host->u, host->f, host->r};
        for (int f = 0; f < zone_fields(&b->p); f++) {
            char name[64];
            snprintf(name, sizeof name, "%s, field %d", what, f);
            both_assert_field(&z, n, &start_kernels, name, got[f], want[f]);
            copy_points(&z, got[f], want[f]);
        }
        size_t bytes;
        const double *a = zone_block(&b->p, &z, &bytes), *c = zone_block(&b->p, host, &bytes);
        for (size_t at = 0; at < bytes / sizeof *a; at++)
            if (memcmp(&a[at], &c[at], sizeof *a))
                fail_msg("%s, zone %d, %dx%dx%d: double %zu of its block is %g, on the host %g",
                         what, n, z.nx, z.ny, z.nz, at, a[at], c[at]);
        zone_free(&z);
    }
}

static void fill_with_nan(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        size_t bytes;
        double *block = zone_block(&b->p, &b->p.zone[n], &bytes);
        for (size_t i = 0; i < bytes / sizeof *block; i++) block[i] = NAN;
    }
}

/* The host's solver expects its work space zeroed. */
static void host_begins(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        zone_initialise(&b->p, &b->p.zone[n]);
        memset(b->s.memory, 0, b->s.doubles * sizeof(double));
        if (b->p.solver->prepare) b->p.solver->prepare(&b->p, &b->p.zone[n], &b->s, &both_alone);
    }
}

/* All points of u, and LU's residual inside, are something else. */
static void forget_state(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        const struct zone *z = &b->p.zone[n];
        copy_points(z, z->u, z->f);
        if (z->r) both_copy_interior(z, z->r, z->f);
    }
}

static void host_forces(struct both *b) {
    HEAP double *work = both_memory(zone_forcing_scratch(&b->p, 1) * sizeof *work);
    for (int n = 0; n < b->p.zones; n++) {
        zone_clear(&b->p, &b->p.zone[n]);
        zone_forcing(&b->p, &b->p.zone[n], work, &both_alone);
    }
}

/* On the device nothing is copied; `launches` for all zones, in however many parts. */
static void on_the_device(struct both *b, evn_status (*what)(struct gpu *g), int launches) {
    const evn_counts before = evn_device_counts(b->device, NULL);
    assert_ok(what(b->gpu));
    assert_ok(evn_queue_finish(b->queue));
    evn_counts after = evn_device_counts(b->device, NULL);
    if (launches) assert_int_equal(after.launches - before.launches, launches);
    after.launches = before.launches;
    after.waits--; /* this one's */
    assert_memory_equal(&before, &after, sizeof before);
}

static void as_the_host(enum npbmz_benchmark benchmark, const struct gpu_solver *solver,
                        int in_parts) {
    ENDS(both_close) struct both b;
    const int lu = benchmark == NPBMZ_LU;
    both_zones(&b, benchmark, 1e-3, shapes, SHAPES);
    fill_with_nan(&b);
    both_device(&b, solver, in_parts ? both_largest_work(&b, solver) + 4096 : 0);
    on_the_device(&b, gpu_force, in_parts ? 0 : 3);
    host_forces(&b);
    assert_alike(&b, "forcing");
    on_the_device(&b, gpu_begin, in_parts ? 0 : 1 + lu);
    host_begins(&b);
    assert_alike(&b, "initial state");
    /* once more, when the state has become another one */
    forget_state(&b);
    both_put(&b);
    on_the_device(&b, gpu_begin, 0);
    host_begins(&b);
    assert_alike(&b, "initial state again");
}

TEST(bt) { as_the_host(NPBMZ_BT, &gpu_bt, 0); }
TEST(sp_in_parts) { as_the_host(NPBMZ_SP, &gpu_sp, 1); }
TEST(lu) { as_the_host(NPBMZ_LU, &gpu_lu, 0); }

int main(void) {
    const int missing = test_devices(&start_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(NULL, NULL);
}
