/* How often the host waits for a device: a step of BT-MZ, SP-MZ and LU-MZ on one device waits
 * once, for its end. Counted by the device, and on the fake CUDA driver (tests/device/fake_cuda.c)
 * also by the driver, which is late with its work and counts the calls that find some undone. The
 * difference of two runs is looked at, so that what comes before and after the steps is not.
 * Run: ctest -R '^waits' */
#include "check.h"
#include "device/fake_cuda.h"
#include "npbmz/npbmz.h"
#include <dlfcn.h>

struct waits {
    long long device, driver;
    uint64_t hash;
};

/* The fake driver, where the environment says that it is in the place of the real one. */
static struct fake_cuda *fake_driver(void) {
    const char *file = getenv("EVENER_LIBCUDA");
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    return library ? dlsym(library, "fake") : NULL;
}

static struct waits waits_of(enum npbmz_benchmark benchmark, const char *units_text, int steps) {
    struct fake_cuda *fake = fake_driver();
    npbmz *problem;
    npbmz_result r;
    if (fake) fake->reset();
    OWN(machine) *machine = OPEN(machine);
    OWN(units) *units = OPEN(units, machine, units_text, test_device(), EVN_OVERSUBSCRIBE);
    assert_ok(npbmz_open(&problem, benchmark, 'S'));
    evn_problem tasks = npbmz_tasks(problem);
    tasks.units = evn_units_count(units);
    evn_schedule *schedule = OPEN(schedule, "static", &tasks);
    const npbmz_options options = {.run = {.steps = steps}};
    assert_ok(npbmz_run(problem, units, schedule, &options, &r));
    struct waits w = {r.run.device[0].waits, fake ? fake->waits : 0, r.run.hash};
    npbmz_result_free(&r);
    evn_schedule_close(schedule);
    npbmz_close(problem);
    return w;
}

TEST(one_device) {
    const struct fake_cuda *fake = fake_driver();
    for (int b = NPBMZ_BT; b <= NPBMZ_LU; b++) {
        const struct waits few = waits_of((enum npbmz_benchmark)b, "1:GPU:1", 3);
        const struct waits more = waits_of((enum npbmz_benchmark)b, "1:GPU:1", 8);
        assert_int_equal(more.device - few.device, 5);
        if (fake) assert_int_equal(more.driver - few.driver, 5);
        /* and what need not be waited for is there all the same */
        if (!fake) continue;
        unsetenv("FAKE_CUDA_LATER");
        assert_int_equal(waits_of((enum npbmz_benchmark)b, "1:GPU:1", 8).hash, more.hash);
        setenv("FAKE_CUDA_LATER", "1", 1);
    }
}

/* The counter counts: a device that exchanges with cores by way of the host is waited for more
 * often. */
TEST(with_cores) {
    const struct waits few = waits_of(NPBMZ_BT, "1:CPU:1,1:GPU:1", 3);
    const struct waits more = waits_of(NPBMZ_BT, "1:CPU:1,1:GPU:1", 8);
    assert_true(more.device - few.device > 5);
}

RUN_TESTS(NULL, NULL)
