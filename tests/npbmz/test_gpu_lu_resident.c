/* LU-MZ's sweeps as one launch each (npbmz/variants.h), whose groups wait for each other: the
 * host's bits where nothing is fused; how many launches they are; and a device that has no such
 * launches takes the others. Whole runs are command-cuda's and command-hash's.
 *
 * On emulated devices of one core, where one group does all bundles, and of several, where the last
 * group that can goes on: a bundle that begins too early has other bits, each time.
 * Run: ctest -R gpu_lu_resident */
#define NPBMZ_ITEM
#include "npbmz/lu/wave.h"

#include "both.h"
#include "check.h"
#include "device/fake_cuda.h"
#include "npbmz/npbmz.h"
#include "npbmz/variants.h"

#include <dlfcn.h>
#include <math.h>

extern const evn_kernel_source lu_kernels, lu_resident_kernels;

/* One bundle and many, full and with few lines; lines shorter and longer than a bundle is wide. */
static const int shapes[][3] = {
    {6, 6, 6},    {57, 38, 28}, {13, 11, 17}, {9, 43, 7},
    {12, 18, 10}, {7, 34, 18},  {5, 35, 27},  {140, 8, 12},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* The devices of the test: one that is given, or emulated ones. */
static const char *const emulated[] = {"emulated", "emulated:cores=3", "emulated:cores=64"};
static const char *given;
static int devices(void) { return given ? 1 : 3; }
static void choose(int number) {
    if (!given) setenv("EVENER_TEST_DEVICE", emulated[number], 1);
}

static int has_resident(void) {
    OWN(device) *d = OPEN(device, test_device(), 0);
    const int has = evn_device_traits(d)->resident;
    return has;
}

static struct fake_cuda *fake_driver(void) {
    const char *file = getenv("EVENER_LIBCUDA");
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    return library ? dlsym(library, "fake") : NULL;
}

static void open_zones(struct both *b, const int shape[][3], int zones, size_t max_work) {
    both_zones(b, NPBMZ_LU, 0.01, shape, zones);
    both_device(b, &gpu_lu_resident, max_work);
}

TEST(same_as_host) {
    for (int d = 0; d < devices(); d++) {
        ENDS(both_close) struct both b;
        choose(d);
        open_zones(&b, shapes, SHAPES, 0);
        both_host_steps(&b, 3);
        both_device_steps(&b, 3);
        both_assert_alike(&b, &lu_kernels);
    }
}

TEST(launches) {
    struct fake_cuda *fake = fake_driver();
    for (int d = 0; d < devices(); d++) {
        ENDS(both_close) struct both b;
        choose(d);
        open_zones(&b, shapes, SHAPES, 0);
        const int before = fake ? fake->together : 0;
        const long long n = both_launches(&b, 2);
        if (evn_device_traits(b.device)->resident)
            assert_int_equal(n, 2 * 3); /* two sweeps and the residual */
        else
            assert_true(n > 2 * 3);
        if (fake) assert_int_equal(fake->together - before, 2 * 2);
    }
}

/* Counts and times by the model, as docs/npbmz.md has them for class C's zones; and the choice. */
TEST(model) {
    const struct lu_sweep_cost c = lu_sweep_cost(120, 80, 28), w = lu_sweep_cost(16, 16, 8);
    assert_int_equal(c.launches, 18);
    assert_int_equal(c.steps, 20);
    assert_int_equal(c.path, 248);
    assert_int_equal(c.waits, 62);
    assert_true(fabs(c.launches_s - 180e-6) < 1e-9 && fabs(c.one_s - 120.8e-6) < 1e-9);
    assert_int_equal(w.launches, 1);
    assert_true(w.one_s > w.launches_s);
    if (given) return;
    static const struct {
        const char *device;
        int is_one;
        const char *reason;
    } cases[] = {{"emulated:cores=64", 1,
                  "one launch, 121 us by the model, beside 180 us as 18 launches of "
                  "20 steps"},
                 {"emulated:cores=3", 0,
                  "18 launches of 20 steps: there is room for 3 groups at a time, and "
                  "one launch has 20"}};
    static const int shape[][3] = {{120, 80, 28}};
    for (int i = 0; i < 2; i++) {
        ENDS(both_close) struct both b;
        const struct gpu_solver *solver;
        char reason[200];
        setenv("EVENER_TEST_DEVICE", cases[i].device, 1);
        open_zones(&b, shape, 1, 0);
        assert_ok(lu_sweeps_choose(&solver, &b.p, b.device, LU_SWEEPS_AUTO, reason, sizeof reason));
        assert_string_equal(reason, cases[i].reason);
        assert_true(solver == (cases[i].is_one ? &gpu_lu_resident : &gpu_lu));
        assert_ok(
            lu_sweeps_choose(&solver, &b.p, b.device, LU_SWEEPS_LAUNCHES, reason, sizeof reason));
        assert_true(solver == &gpu_lu);
    }
}

/* Each shape by itself: then other bundles are the first ones of groups. */
TEST(one_zone) {
    choose(1);
    for (int n = 0; n < SHAPES; n++) {
        ENDS(both_close) struct both b;
        open_zones(&b, shapes + n, 1, 0);
        both_host_steps(&b, 2);
        both_device_steps(&b, 2);
        both_assert_alike(&b, &lu_kernels);
    }
}

/* In work space for a part of the zones, whose flags lie elsewhere in each; and with norms between
 * steps, for which the work space is used too. */
TEST(in_parts) {
    ENDS(both_close) struct both b;
    struct norms norms[SHAPES];
    choose(1);
    open_zones(&b, shapes, SHAPES, 0);
    const size_t max_work = both_largest_work(&b, &gpu_lu_resident);
    both_close(&b);
    open_zones(&b, shapes, SHAPES, max_work);
    both_host_steps(&b, 3);
    for (int step = 0; step < 3; step++) {
        both_device_steps(&b, 1);
        assert_ok(gpu_norms(b.gpu, norms, NULL));
    }
    both_assert_alike(&b, &lu_kernels);
}

/* Batches that change: fewer zones, then all again, which takes more flags. */
TEST(other_batches) {
    ENDS(both_close) struct both b;
    choose(1);
    both_zones(&b, NPBMZ_LU, 0.01, shapes, SHAPES);
    both_device(&b, &gpu_lu_resident, 0);
    both_host_steps(&b, 3);
    for (int step = 0; step < 3; step++)
        for (int first = 0, count; first < SHAPES; first += count) {
            count = step == 2 ? SHAPES : 1 + first;
            if (first + count > SHAPES) count = SHAPES - first;
            assert_ok(gpu_batch(b.gpu, b.field, count, b.number + first, b.at + first));
            assert_ok(gpu_step(b.gpu));
            assert_ok(gpu_finish(b.gpu));
        }
    both_assert_alike(&b, &lu_kernels);
}

/* A driver whose devices have no such launches: as gpu_lu. */
TEST(without) {
    struct fake_cuda *fake = fake_driver();
    if (!fake) return;
    fake->resident = 0;
    const int before = fake->together;
    struct both b;
    open_zones(&b, shapes, SHAPES, 0);
    both_host_steps(&b, 2);
    assert_true(both_launches(&b, 2) > 2 * 3);
    both_assert_alike(&b, &lu_kernels);
    both_close(&b);
    assert_int_equal(fake->together, before);
    fake->resident = 1;
}

int main(void) {
    given = getenv("EVENER_TEST_DEVICE");
    const int missing = test_devices(&lu_resident_kernels, NULL);
    if (missing) return missing;
    /* what takes gpu_lu's launches is tested with gpu_lu, but for the first two */
    if (!has_resident()) tests_count = 2;
    return run_all_tests(NULL, NULL);
}
