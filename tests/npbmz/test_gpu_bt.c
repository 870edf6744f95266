/* BT-MZ's kernels against the host's solver and plain.c: zones of unequal shapes in one batch with
 * random gases, the bits where nothing is fused, official runs; how many launches a step takes, and
 * what it must leave alone. The device is check.h's. Run: ctest -R gpu_bt */
#include "both.h"
#include "check.h"
#include "npbmz/bt/bt_gpu.h"
#include "npbmz/mesh/mesh.h"
#include "padding.h"
#include "plain.h"

#include <math.h>

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

static void same_as_host(void **state) {
    (void)state;
    struct both b;
    open_zones(&b, SHAPES, 0);
    both_host_steps(&b, 2);
    both_device_steps(&b, 2);
    both_assert_alike(&b, &bt_kernels);
    both_close(&b);
}

static void same_as_plain(void **state) {
    (void)state;
    struct both b;
    open_zones(&b, SHAPES, 0);
    both_device_steps(&b, 1);
    both_assert_plain_step(&b);
    both_close(&b);
}

/* Launches and nothing else, as many as ever; a batch in parts gives the same. */
static void launches(void **state) {
    (void)state;
    for (int zones = 1; zones <= SHAPES; zones += SHAPES - 1) {
        struct both b;
        open_zones(&b, zones, 0);
        assert_int_equal(both_launches(&b, 3), 3 * 4);
        both_close(&b);
    }
}

static void in_parts(void **state) {
    (void)state;
    struct both b;
    both_zones(&b, NPBMZ_BT, 0.01, shapes, SHAPES);
    both_device(&b, &gpu_bt, both_largest_work(&b, &gpu_bt));
    both_host_steps(&b, 1);
    assert_true(both_launches(&b, 1) > 4);
    both_assert_alike(&b, &bt_kernels);
    both_close(&b);
}

/* The cut into pieces covers each point and line, without a piece that has nothing to do. */
static void pieces(void **state) {
    (void)state;
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_BT, 'A'), 0);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = {.nx = shapes[n][0], .ny = shapes[n][1], .nz = shapes[n][2]};
        const int x = z.nx - 2, y = z.ny - 2, w = z.nz - 2;
        const int things[4] = {x * y * w, y * w, x * w, x * y};
        const int size[4] = {BT_POINTS, BT_LINES, BT_LINES, BT_LINES};
        zone_strides(&z);
        assert_int_equal(gpu_bt.cuts, 4);
        for (int c = 0; c < 4; c++) {
            int count = gpu_bt.pieces(&p, &z, c);
            assert_true(count * size[c] >= things[c] && (count - 1) * size[c] < things[c]);
        }
    }
}

static double other(ptrdiff_t n) { return n % 3 ? 1e3 * (double)(n % 17 - 8) : 0; }

/* Padding is finite and else has no say: the host steps with one, the device with another. */
static void padding(void **state) {
    (void)state;
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

/* Official runs: NAS-03-010's figures, with plain.c's set-up, exchange and norms. */
static void official_run(char class_, const double residual[NC], const double error[NC]) {
    struct plain q;
    plain_open(&q, NPBMZ_BT, class_);
    struct both b;
    both_class(&b, NPBMZ_BT, class_);
    for (int n = 0; n < b.p.zones; n++) plain_put(&b.p.zone[n], b.p.zone[n].f, q.zone[n].f);
    both_device(&b, &gpu_bt, 0);
    for (int t = 0; t < b.p.steps; t++) {
        plain_exchange(&q);
        for (int n = 0; n < b.p.zones; n++) plain_put(&b.p.zone[n], b.p.zone[n].u, q.zone[n].u);
        both_put(&b);
        both_device_steps(&b, 1);
        both_fetch(&b);
        for (int n = 0; n < b.p.zones; n++) plain_get(&b.p.zone[n], b.p.zone[n].u, q.zone[n].u);
    }
    double r[NC], e[NC];
    plain_residual_norm(&q, r);
    plain_error_norm(&q, e);
    for (int c = 0; c < NC; c++)
        if (!(fabs(r[c] / residual[c] - 1) <= 1e-11 && fabs(e[c] / error[c] - 1) <= 1e-11))
            fail_msg("class %c, component %d: %.13e and %.13e, not %.13e and %.13e", class_, c + 1,
                     r[c], e[c], residual[c], error[c]);
    both_close(&b);
    plain_close(&q);
}

static void class_s(void **state) {
    (void)state;
    official_run('S',
                 (const double[]){0.1047687395830e+04, 0.9419911314792e+02, 0.2124737403068e+03,
                                  0.1422173591794e+03, 0.1135441572375e+04},
                 (const double[]){0.1775416062982e+03, 0.1875540250835e+02, 0.3863334844506e+02,
                                  0.2634713890362e+02, 0.1965566269675e+03});
}
static void class_w(void **state) {
    (void)state;
    official_run('W',
                 (const double[]){0.5562611195402e+05, 0.5151404119932e+04, 0.1080453907954e+05,
                                  0.6576058591929e+04, 0.4528609293561e+05},
                 (const double[]){0.7185154786403e+04, 0.7040472738068e+03, 0.1437035074443e+04,
                                  0.8570666307849e+03, 0.5991235147368e+04});
}

int main(void) {
    const int missing = test_devices(&bt_kernels, NULL);
    if (missing) return missing;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_plain), cmocka_unit_test(same_as_host), cmocka_unit_test(launches),
        cmocka_unit_test(in_parts),      cmocka_unit_test(pieces),       cmocka_unit_test(padding),
        cmocka_unit_test(class_s),       cmocka_unit_test(class_w),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
