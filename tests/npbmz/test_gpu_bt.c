/* BT-MZ's kernels against the host's solver and plain.c: zones of unequal shapes in one batch with
 * random gases, the bits where nothing is fused; how many launches a step takes, and what it must
 * leave alone. Official runs are command-hash's. The device is check.h's. Run: ctest -R gpu_bt */
#include "both.h"
#include "check.h"
#include "npbmz/bt/bt_gpu.h"
#include "npbmz/mesh/mesh.h"
#include "padding.h"

extern const evn_kernel_source bt_kernels;

/* From the least there is, 3 interior points, to several segments on each side; odd and even; 16
 * and 17 lines, a group and one more. */
static const int shapes[][3] = {
    {5, 5, 5},   {6, 6, 6},    {13, 8, 28}, {29, 6, 8},   {18, 5, 7},  {16, 11, 17},
    {5, 7, 9},   {9, 7, 5},    {37, 10, 6}, {19, 24, 12}, {6, 35, 23}, {10, 18, 19},
    {22, 23, 9}, {11, 12, 30}, {8, 13, 14}, {7, 33, 10},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void open_zones(struct both *b, int zones, size_t max_work) {
    both_zones(b, NPBMZ_BT, 0.01, shapes, zones);
    both_device(b, &gpu_bt, max_work);
}

/* ---- a step -------------------------------------------------------------------------------- */

TEST(same_as_host) {
    struct both b;
    open_zones(&b, SHAPES, 0);
    both_host_steps(&b, 2);
    both_device_steps(&b, 2);
    both_assert_alike(&b, &bt_kernels);
    both_close(&b);
}

TEST(same_as_plain) {
    struct both b;
    open_zones(&b, SHAPES, 0);
    both_device_steps(&b, 1);
    both_assert_plain_step(&b);
    both_close(&b);
}

/* Launches and nothing else, as many as ever; a batch in parts gives the same. */
TEST(launches) {
    for (int zones = 1; zones <= SHAPES; zones += SHAPES - 1) {
        struct both b;
        open_zones(&b, zones, 0);
        assert_int_equal(both_launches(&b, 3), 3 * 4);
        both_close(&b);
    }
}

TEST(in_parts) {
    struct both b;
    both_zones(&b, NPBMZ_BT, 0.01, shapes, SHAPES);
    both_device(&b, &gpu_bt, both_largest_work(&b, &gpu_bt));
    both_host_steps(&b, 1);
    assert_true(both_launches(&b, 1) > 4);
    both_assert_alike(&b, &bt_kernels);
    both_close(&b);
}

/* The cut into pieces covers each point and line, without a piece that has nothing to do. */
TEST(pieces) {
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_BT, 'A'), 0);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = {.nx = shapes[n][0], .ny = shapes[n][1], .nz = shapes[n][2]};
        const int x = z.nx - 2, y = z.ny - 2, w = z.nz - 2;
        const int blocks = (w + BT_PLANES - 1) / BT_PLANES;
        const int things[4] = {x * y, y * w, x * w, x * y};
        const int size[4] = {BT_POINTS, BT_LINES, BT_LINES, BT_LINES};
        zone_strides(&z);
        assert_int_equal(gpu_bt.cuts, 4);
        for (int c = 0; c < 4; c++) {
            int count = gpu_bt.pieces(&p, &z, c) / (c ? 1 : blocks);
            assert_int_equal(gpu_bt.pieces(&p, &z, c) % (c ? 1 : blocks), 0);
            assert_true(count * size[c] >= things[c] && (count - 1) * size[c] < things[c]);
        }
    }
}

static double other(ptrdiff_t n) { return n % 3 ? 1e3 * (double)(n % 17 - 8) : 0; }

/* Padding is finite and else has no say: the host steps with one, the device with another. */
TEST(padding) {
    struct both b;
    open_zones(&b, SHAPES, 0);
    for (int n = 0; n < SHAPES; n++) {
        padding_fill(&b.p.zone[n], b.p.zone[n].u, other);
        padding_fill(&b.p.zone[n], b.p.zone[n].f, other);
    }
    both_host_steps(&b, 1);
    both_device_steps(&b, 1);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = both_get(&b, n);
        both_assert_field(&z, n, &bt_kernels, "u", z.u, b.p.zone[n].u);
        zone_free(&z);
    }
    both_close(&b);
}

int main(void) {
    const int missing = test_devices(&bt_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(NULL, NULL);
}
