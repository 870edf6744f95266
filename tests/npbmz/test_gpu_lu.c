/* LU-MZ's kernels against the host's solver and plain.c: zones of unequal shapes in one batch with
 * random gases, the bits where nothing is fused; what a step launches, reads and leaves alone.
 * Official runs are command-hash's. The device is check.h's. Run: ctest -R gpu_lu */
#define NPBMZ_ITEM
#include "npbmz/lu/wave.h"

#include "both.h"
#include "check.h"
#include "npbmz/mesh/mesh.h"

#include <math.h>

extern const evn_kernel_source lu_kernels;

/* One bundle and many; bundles that are full and that stick out by all but one line; lines shorter
 * than a bundle is wide, and longer than all of a wave's launches. */
static const int shapes[][3] = {
    {6, 6, 6},  {5, 5, 5},   {16, 16, 8},  {29, 6, 8},  {57, 38, 28}, {13, 11, 17}, {17, 26, 5},
    {9, 43, 7}, {76, 10, 6}, {12, 18, 10}, {7, 34, 18}, {21, 19, 11}, {5, 35, 27},  {140, 8, 12},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void open_zones(struct both *b, const int shape[][3], int zones, double dt,
                       size_t max_work) {
    both_zones(b, NPBMZ_LU, dt, shape, zones);
    both_device(b, &gpu_lu, max_work);
}

/* ---- the step ------------------------------------------------------------------------------ */

TEST(same_as_host) {
    struct both b;
    open_zones(&b, shapes, SHAPES, 0.01, 0);
    both_host_steps(&b, 3);
    both_device_steps(&b, 3);
    both_assert_alike(&b, &lu_kernels);
    both_close(&b);
}

/* Each shape by itself: then the number of steps of a launch is its own. */
TEST(one_zone) {
    for (int n = 0; n < SHAPES; n++) {
        struct both b;
        open_zones(&b, shapes + n, 1, 0.3, 0);
        both_host_steps(&b, 2);
        both_device_steps(&b, 2);
        both_assert_alike(&b, &lu_kernels);
        both_close(&b);
    }
}

TEST(same_as_plain) {
    struct both b;
    open_zones(&b, shapes, SHAPES, 0.7, 0);
    both_device_steps(&b, 1);
    both_assert_plain_step(&b);
    both_close(&b);
}

TEST(prepare_makes_the_residual) {
    struct both b;
    open_zones(&b, shapes, SHAPES, 0.01, 0);
    for (int n = 0; n < b.p.zones; n++) b.p.solver->prepare(&b.p, &b.p.zone[n], &b.s, &both_alone);
    assert_ok(gpu_prepare(b.gpu));
    both_assert_alike(&b, &lu_kernels);
    both_close(&b);
}

/* ---- what it reads ------------------------------------------------------------------------- */

/* Puts NaN where the sweeps have no business: into all of u and r that is no interior point. */
static void poison(struct zone *z) {
    for (int m = 0; m < NC; m++)
        for (ptrdiff_t at = m ? 0 : -ZONE_SLACK; at < z->sc; at++) {
            const int k = (int)(at / z->sk), j = (int)(at % z->sk / z->sj);
            const int i = (int)(at % z->sk % z->sj);
            if (at < 0 || !both_interior(z, i, j, k))
                z->u[m * z->sc + at] = z->r[m * z->sc + at] = NAN;
        }
}

/* The ghosts come in after the sweeps: nothing there is used before the residual. */
TEST(sweeps_need_no_ghosts) {
    struct both b;
    open_zones(&b, shapes, SHAPES, 0.01, 0);
    struct zone saved[SHAPES];
    for (int n = 0; n < SHAPES; n++) {
        saved[n] = both_get(&b, n);
        poison(&b.p.zone[n]);
    }
    both_put(&b);
    assert_ok(gpu_step(b.gpu));
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = both_get(&b, n);
        for (int m = 0; m < NC; m++)
            for (int k = 0; k < z.nz; k++)
                for (int j = 0; j < z.ny; j++)
                    for (int i = 0; i < z.nx; i++) {
                        const ptrdiff_t at = m * z.sc + zone_at(&z, i, j, k);
                        if (both_interior(&z, i, j, k))
                            assert_true(isfinite(z.u[at]));
                        else
                            assert_true(isnan(z.u[at])); /* left alone */
                    }
        /* the interior as the sweeps have made it, and all else as it was */
        both_copy_interior(&z, saved[n].u, z.u);
        zone_free(&z);
        zone_free(&b.p.zone[n]);
        b.p.zone[n] = saved[n];
    }
    both_put(&b);
    assert_ok(gpu_finish(b.gpu));
    /* the host, from the start */
    struct both c;
    both_zones(&c, NPBMZ_LU, 0.01, shapes, SHAPES);
    both_host_steps(&c, 1);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = both_get(&b, n);
        both_assert_field(&z, n, &lu_kernels, "u", z.u, c.p.zone[n].u);
        both_assert_field(&z, n, &lu_kernels, "r", z.r, c.p.zone[n].r);
        zone_free(&z);
    }
    both_close(&c);
    both_close(&b);
}

/* ---- what it costs ------------------------------------------------------------------------- */

/* As many launches for 16 zones as for one of them, and no more than a few for a small one. */
TEST(launches) {
    static const int sizes[][4] = {/* extents, launches a step at most */
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
            open_zones(&b, (const int(*)[3])shape, zones, 0.01, 0);
            long long n = both_launches(&b, 2);
            assert_int_equal(n % 2, 0);
            if (zones == 1) one = n;
            assert_int_equal(n, one);
            assert_true(n <= 2 * sizes[s][3]);
            both_close(&b);
        }
    }
}

TEST(in_parts) {
    struct both b;
    open_zones(&b, shapes, SHAPES, 0.01, 0);
    const size_t max_work = both_largest_work(&b, &gpu_lu);
    long long whole = both_launches(&b, 1);
    both_close(&b);
    open_zones(&b, shapes, SHAPES, 0.01, max_work);
    both_host_steps(&b, 1);
    assert_true(both_launches(&b, 1) > whole);
    both_assert_alike(&b, &lu_kernels);
    both_close(&b);
}

/* The cut into bundles: every interior line once, none empty; and into groups of the residual. */
TEST(pieces) {
    assert_int_equal(gpu_lu.cuts, 2);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = {.nx = shapes[n][0], .ny = shapes[n][1], .nz = shapes[n][2]};
        zone_strides(&z);
        int y = 0, x = 0;
        while (y * LU_LINES_Y < z.ny - 2) y++;
        while (x * LU_LINES_Z < z.nz - 2) x++;
        assert_int_equal(gpu_lu.pieces(NULL, &z, 0), y * x);
        int groups = gpu_lu.pieces(NULL, &z, 1);
        const int blocks = (z.nz - 2 + LU_PLANES - 1) / LU_PLANES;
        assert_int_equal(groups % blocks, 0);
        groups /= blocks;
        assert_true(groups * LU_RESIDUAL_ITEMS >= z.sj * (z.ny - 2) &&
                    (groups - 1) * LU_RESIDUAL_ITEMS < z.sj * (z.ny - 2));
    }
}

int main(void) {
    const int missing = test_devices(&lu_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(NULL, NULL);
}
