/* Launches whose groups wait for each other (EVN_ALL_RESIDENT): what one group has written
 * before it raises a flag another one finds; how many groups there may be; and on the emulated
 * device what becomes of groups that all wait. EVENER_TEST_DEVICE is the device, emulated:cores=5
 * where it is not set; one that has no such launches says so. Run: ctest -R '^resident' */
#include "check.h"
#include "device/fake_cuda.h"
#include <dlfcn.h>
#include <unistd.h>

extern const evn_kernel_source relay_kernels;

enum { GROUP = 64, LEGS = 40 };

struct race {
    evn_device *device;
    evn_queue *queue;
    evn_kernel *kernel;
    evn_buffer *row, *flag;
    long long begins; /* flags of the next launch */
};

static void open_race(struct race *r, const char *device) {
    long long zero[LEGS] = {0};
    memset(r, 0, sizeof *r);
    assert_ok(evn_device_open(&r->device, device, 0));
    assert_ok(evn_queue_open(&r->queue, r->device));
    assert_ok(evn_kernel_get(r->device, &relay_kernels, "relay", &r->kernel));
    assert_ok(evn_buffer_open(&r->row, r->device, sizeof zero * GROUP));
    assert_ok(evn_buffer_open(&r->flag, r->device, sizeof zero));
    assert_ok(evn_copy_to_device(r->queue, r->flag, 0, zero, sizeof zero));
    assert_ok(evn_queue_finish(r->queue));
}

static void close_race(struct race *r) {
    evn_buffer_close(r->row);
    evn_buffer_close(r->flag);
    evn_queue_close(r->queue);
    evn_device_close(r->device);
}

static evn_status run(struct race *r, unsigned flags, int groups, int legs, int backwards) {
    const evn_argument argument[] = {{.buffer = r->row},
                                     {.buffer = r->flag},
                                     {.value = &r->begins, .bytes = sizeof r->begins},
                                     {.value = &legs, .bytes = sizeof legs},
                                     {.value = &backwards, .bytes = sizeof backwards}};
    evn_status status = evn_launch(r->queue, r->kernel, groups, flags, argument, 5);
    if (!status) status = evn_queue_finish(r->queue);
    r->begins++;
    return status;
}

static void assert_right(struct race *r) {
    long long row[LEGS][GROUP], expected[LEGS][GROUP];
    assert_ok(evn_copy_to_host(r->queue, row, r->row, 0, sizeof row));
    assert_ok(evn_queue_finish(r->queue));
    for (int leg = 0; leg < LEGS; leg++)
        for (int i = 0; i < GROUP; i++) {
            expected[leg][i] = 1;
            for (int k = i; leg && k < GROUP; k++) expected[leg][i] += expected[leg - 1][k] & 1023;
        }
    assert_memory_equal(row, expected, sizeof row);
}

/* Any number of groups, again and again with the flags as they were left. */
static void test_relay(void **state) {
    (void)state;
    ENDS(close_race) struct race r;
    open_race(&r, test_device());
    const int most = evn_kernel_resident(r.kernel), all = most < LEGS ? most : LEGS;
    assert_true(most >= 1);
    /* where groups are emulated one after another each may do one leg */
    const int least = getenv("EVENER_LIBCUDA") ? all : 1;
    for (int groups = least; groups <= all; groups++)
        for (int round = 0; round < 2; round++) {
            assert_ok(run(&r, EVN_ALL_RESIDENT, groups, LEGS, 0));
            assert_right(&r);
        }
    const long long before = evn_device_counts(r.device, NULL).launches;
    assert_ok(run(&r, EVN_ALL_RESIDENT, 0, LEGS, 0));
    assert_int_equal(evn_device_counts(r.device, NULL).launches, before);
    assert_fails(run(&r, EVN_ALL_RESIDENT, -1, LEGS, 0), EVN_USAGE, "with -1 groups");
    char says[80];
    snprintf(says, sizeof says, "with %d groups at a time, and there is room for %d", most + 1,
             most);
    assert_fails(run(&r, EVN_ALL_RESIDENT, most + 1, LEGS, 0), EVN_MISSING, says);
}

/* In whatever order groups are there: the last of these is the first leg. */
static void test_any_order(void **state) {
    (void)state;
    ENDS(close_race) struct race r;
    open_race(&r, "emulated:cores=40");
    assert_int_equal(evn_kernel_resident(r.kernel), 40);
    assert_ok(run(&r, EVN_ALL_RESIDENT, LEGS, LEGS, 1));
    assert_right(&r);
    assert_ok(run(&r, EVN_ALL_RESIDENT, LEGS, LEGS, 0));
    assert_right(&r);
}

/* Groups that wait for what none of them will do: told, by an error, and soon. */
static void test_stuck(void **state) {
    (void)state;
    static const char *const devices[] = {"emulated", "emulated:cores=4",
                                          "emulated:cores=4,check=yes"};
    for (int d = 0; d < 3; d++) {
        ENDS(close_race) struct race r;
        open_race(&r, devices[d]);
        const int groups = d ? 4 : 1;
        assert_ok(run(&r, EVN_ALL_RESIDENT, groups, LEGS, 0));
        assert_fails(run(&r, EVN_ALL_RESIDENT, groups, LEGS, 1), EVN_DEVICE,
                     "its groups all wait for each other");
        assert_says("launch of \"relay\"");
    }
    ENDS(close_race) struct race r;
    open_race(&r, "emulated"); /* of one core: with more such groups race each other */
    assert_fails(run(&r, 0, LEGS, LEGS, 1), EVN_DEVICE,
                 "a group waits for another one, which takes EVN_ALL_RESIDENT");
}

static void test_arguments(void **state) {
    (void)state;
    ENDS(close_race) struct race r;
    open_race(&r, "emulated");
    assert_int_equal(evn_kernel_resident(NULL), 0);
    assert_fails(evn_launch(NULL, r.kernel, 1, EVN_ALL_RESIDENT, NULL, 0), EVN_USAGE, "queue");
    assert_fails(evn_launch(r.queue, NULL, 1, EVN_ALL_RESIDENT, NULL, 0), EVN_USAGE, "kernel");
    assert_fails(evn_launch(r.queue, r.kernel, 1, EVN_ALL_RESIDENT, NULL, 0), EVN_USAGE,
                 "with 0 arguments");
    assert_fails(evn_launch(r.queue, r.kernel, 1, 1, NULL, 0), EVN_USAGE, "flags 0x1");
}

/* The driver's part, on one that is none: its call, its limit, and a device that cannot. */
static void test_driver(void **state) {
    (void)state;
    setenv("EVENER_LIBCUDA", FAKE_CUDA, 1);
    setenv("EVENER_NVRTC", FAKE_CUDA, 1);
    setenv("EVENER_CACHE", "", 1);
    setenv("EVENER_KERNELS", "", 1);
    void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    struct fake_cuda *fake = library ? dlsym(library, "fake") : NULL;
    assert_non_null(fake);
    struct race r;
    fake->reset();
    open_race(&r, "cuda");
    assert_int_equal(evn_kernel_resident(r.kernel), 5 * 132);
    const int calls = fake->calls;
    assert_int_equal(evn_kernel_resident(r.kernel), 5 * 132); /* is known now */
    assert_int_equal(fake->calls, calls);
    assert_ok(run(&r, EVN_ALL_RESIDENT, LEGS, LEGS, 0));
    assert_right(&r);
    assert_int_equal(fake->together, 1);
    fake->fail_at = 2; /* after the context; the device works on */
    fake->fail_code = 720;
    assert_fails(run(&r, EVN_ALL_RESIDENT, LEGS, LEGS, 0), EVN_SYSTEM, "cuLaunchCooperativeKernel");
    assert_ok(run(&r, EVN_ALL_RESIDENT, LEGS, LEGS, 0));
    assert_right(&r);
    close_race(&r);
    fake->reset();
    fake->groups = 0; /* a kernel that takes too much for even one */
    open_race(&r, "cuda");
    assert_int_equal(evn_kernel_resident(r.kernel), 0);
    assert_fails(run(&r, EVN_ALL_RESIDENT, 1, LEGS, 0), EVN_MISSING, "there is room for 0");
    close_race(&r);
    fake->reset();
    fake->resident = 0;
    open_race(&r, "cuda");
    assert_int_equal(evn_device_traits(r.device)->resident, 0);
    assert_fails(run(&r, EVN_ALL_RESIDENT, 1, LEGS, 0), EVN_MISSING, "cannot wait");
    assert_int_equal(fake->together, 0);
    close_race(&r);
    assert_int_equal(fake->wrong, 0);
    assert_int_equal(fake->open, 0);
}

/* A device that cannot: OpenCL's compiler says so. */
static void test_cannot(void **state) {
    (void)state;
    evn_kernel *kernel = NULL;
    OWN(device) *d = OPEN(device, test_device(), 0);
    const evn_status status = evn_kernel_get(d, &relay_kernels, "relay", &kernel);
    if (status) assert_fails(status, EVN_SYSTEM, "groups_of_OpenCL_cannot_wait_for_each_other");
    if (!status) assert_int_equal(evn_kernel_resident(kernel), 0);
}

static int can(void) {
    evn_device *d;
    if (evn_device_open(&d, test_device(), 0)) return 1;
    const int resident = evn_device_traits(d)->resident;
    evn_device_close(d);
    return resident;
}

int main(void) {
    /* a driver that is no driver beside a device's own would be too many; in a bundle there is none
     */
    const int driver = !getenv("EVENER_TEST_DEVICE") && !access(FAKE_CUDA, R_OK);
    setenv("EVENER_TEST_DEVICE", "emulated:cores=5", 0);
    const int missing = test_devices(&relay_kernels, NULL);
    if (missing) return missing;
    const struct CMUnitTest without[] = {cmocka_unit_test(test_cannot)};
    if (!can()) return cmocka_run_group_tests(without, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relay),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_stuck),
        cmocka_unit_test(test_arguments),
    };
    const struct CMUnitTest theirs[] = {cmocka_unit_test(test_driver)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (driver ? cmocka_run_group_tests(theirs, NULL, NULL) : 0);
}
