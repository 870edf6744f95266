/* SP-MZ's kernels against the host's solver and plain.c: zones of all shapes in one batch, to the
 * bit where nothing is fused, else to rounding; how many launches a step takes, and what it must
 * leave alone. Official runs are command-hash's. The device is check.h's. Run: ctest -R gpu_sp */
#include "both.h"
#include "check.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/sp/sp_zone.h"
#include "plain.h"

extern const evn_kernel_source sp_kernels;

/* Lines of odd and even numbers of points from the least there is; groups that are full, that are
 * not, and one line more; in each direction lines of two windows, of just one, and of three. */
static const int shapes[][3] = {
    {5, 5, 5},  {6, 6, 6},  {7, 5, 6},  {6, 10, 18}, {18, 18, 5},  {19, 7, 18},  {13, 8, 28},
    {9, 11, 5}, {34, 6, 7}, {35, 5, 8}, {67, 6, 7},  {8, 34, 6},   {7, 35, 9},   {6, 70, 6},
    {9, 6, 34}, {5, 8, 35}, {6, 7, 75}, {131, 5, 6}, {32, 32, 16}, {38, 26, 17},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void open_zones(struct both *b, double dt, const int n[][3], int zones) {
    both_zones(b, NPBMZ_SP, dt, n, zones);
    both_device(b, &gpu_sp, 0);
}

/* With a step of this length the random gases have positive densities and pressures for a few
 * steps; after one of 0.004 they have not, and the next one gives what is no number. */
static const double SMALL = 0.0003;

/* ---- one step and some --------------------------------------------------------------------- */

/* The increments of a step, since these are small beside the solution. */
TEST(like_plain) {
    struct both b;
    open_zones(&b, 0.004, shapes, SHAPES);
    both_device_steps(&b, 1);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = both_get(&b, n);
        struct plain_zone q;
        plain_zone_of(&q, &b.p, &b.p.zone[n]);
        plain_point *got = plain_field(&q), *before = plain_field(&q);
        memcpy(before, q.u, plain_points(&q) * sizeof *before);
        plain_step(&q);
        plain_get(&z, z.u, got);
        for (size_t a = 0; a < plain_points(&q); a++)
            for (int c = 0; c < NC; c++) got[a][c] -= before[a][c], q.u[a][c] -= before[a][c];
        double d = plain_difference(&q, got, q.u);
        if (!(d <= 1e-10)) fail_msg("zone %dx%dx%d: increments differ by %g", z.nx, z.ny, z.nz, d);
        free(got);
        free(before);
        zone_free(&z);
        plain_zone_close(&q);
    }
    both_close(&b);
}

/* Three steps beside the host's solver: the same bits without fusing, the same numbers with it; all
 * that is not an interior point of the solution is as it was. */
TEST(like_the_host) {
    struct both b;
    open_zones(&b, SMALL, shapes, SHAPES);
    both_device_steps(&b, 3);
    both_host_steps(&b, 3);
    both_assert_alike(&b, &sp_kernels);
    both_close(&b);
}

/* A zone's bits do not depend on what else is in its batch. */
TEST(alone_or_not) {
    struct both all;
    open_zones(&all, SMALL, shapes, SHAPES);
    both_device_steps(&all, 2);
    for (int n = 0; n < SHAPES; n++) {
        struct zone want = both_get(&all, n);
        struct both one;
        open_zones(&one, SMALL, shapes + n, 1);
        size_t bytes;
        const void *from = zone_block(&all.p, &all.p.zone[n], &bytes);
        memcpy(zone_block(&one.p, one.p.zone, &bytes), from, bytes);
        both_put(&one);
        both_device_steps(&one, 2);
        struct zone got = both_get(&one, 0);
        assert_memory_equal(zone_block(&one.p, &got, &bytes), zone_block(&all.p, &want, &bytes),
                            bytes);
        zone_free(&got);
        zone_free(&want);
        both_close(&one);
    }
    both_close(&all);
}

/* Four launches a step and nothing else, however many zones there are. */
TEST(launches) {
    static const int zones[] = {1, 7, SHAPES};
    for (int n = 0; n < 3; n++) {
        struct both b;
        open_zones(&b, SMALL, shapes, zones[n]);
        assert_int_equal(both_launches(&b, 5), 5 * 4);
        both_close(&b);
    }
}

/* 7 doubles a point of rows of multiples of 4; a window of rows more for each pair of full ones. */
TEST(work_space) {
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_SP, 'C'), 0);
    struct zone z = {.nx = 30, .ny = 20, .nz = 28};
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 28 * 18 * 26);
    z.nx = 31;
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 32 * 18 * 26);
    z.nx = 34;
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 32 * 18 * 26);
    z.nx = 35;
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 36 * 18 * 26 + 16 * 11 * 32 * ((18 * 26 + 15) / 16));
}

int main(void) {
    const int missing = test_devices(&sp_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(NULL, NULL);
}
