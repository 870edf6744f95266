/* The back end "hip" on a driver that is none (fake_cuda.c by HIP's names): what differs from CUDA,
 * and what becomes of each call that fails. Needs neither GPU nor ROCm; the rest of the back end is
 * shared and tested by test_cuda.c and, on this driver, by test_device.c. Run: ctest -R hip */
#include "check.h"
#include "device/gpu/api.h"
#include "fake_work.h"
#include <unistd.h>

static void use(const char *file) {
    if (!fake_load(file)) fail();
    setenv("EVENER_LIBHIP", file, 1);
    setenv("EVENER_HIPRTC", file, 1);
}

static int set_up(void **state) {
    (void)state;
    use(FAKE_HIP);
    fake->reset();
    setenv("EVENER_CACHE", "", 1);
    setenv("EVENER_KERNELS", "", 1);
    unsetenv("HIP_VISIBLE_DEVICES");
    unsetenv("ROCR_VISIBLE_DEVICES");
    return 0;
}

TEST_WITH(work, set_up, tear_down) {
    int right;
    evn_device *d = OPEN(device, "hip", 1);
    const evn_traits *t = evn_device_traits(d);
    assert_string_equal(t->name, "Fake GPU 1");
    assert_string_equal(t->architecture, "gfx90a"); /* without its features */
    assert_int_equal(t->local_memory, 49152);
    assert_int_equal(t->processors, 132);
    assert_int_equal(t->resident, 1);
    evn_device_close(d);
    assert_ok(do_work("hip", &right));
    assert_true(right);
    assert_non_null(strstr(fake->options, "--offload-arch=gfx90a"));
    assert_non_null(strstr(fake->options, "-ffp-contract="));
    assert_true(fake->direct > 0);
    assert_int_equal(fake->local_share, 0); /* a compute unit's memory is not divided */
}

/* ROCm 5.2: no cooperative launches of a module's kernels, and the older struct of properties. */
TEST_WITH(old, set_up, tear_down) {
    int right;
    use(FAKE_HIP_OLD);
    fake->reset();
    evn_device *d = OPEN(device, "hip", 0);
    assert_string_equal(evn_device_traits(d)->architecture, "gfx90a");
    assert_int_equal(evn_device_traits(d)->resident, 0);
    evn_device_close(d);
    assert_ok(do_work("hip", &right));
    assert_true(right);
}

TEST_WITH(contract, set_up, tear_down) {
    int right;
    assert_ok(do_work("hip:contract=off", &right));
    assert_non_null(strstr(fake->options, "-DEVN_CONTRACT=0"));
    assert_non_null(strstr(fake->options, "-ffp-contract=off"));
    assert_ok(do_work("hip:contract=on", &right));
    assert_null(strstr(fake->options, "EVN_CONTRACT"));
    assert_non_null(strstr(fake->options, "-ffp-contract=fast"));
}

/* Each call fails in turn: nothing is left open, and the message names it by HIP's name. */
TEST_WITH(failures, set_up, tear_down) {
    static const int codes[] = {1, 2, 700};
    for (int c = 0; c < 3; c++) {
        int fails = 0, right = 0;
        for (int at = 1;; at++) {
            fake->reset();
            fake->fail_at = at;
            fake->fail_code = codes[c];
            evn_status status = do_work("hip", &right);
            if (fake->fail_at > 0) break; /* fewer calls than that */
            const int may = may_fail(fake->failed, 1) || !strcmp(fake->failed, "hipSetDevice");
            if (!status && !may) fail_msg("call %d, %s, failed without a status", at, fake->failed);
            if (!status && !right) fail_msg("call %d, %s: a wrong result", at, fake->failed);
            if (status) assert_true(!strstr(evn_message(), " from cu"));
            fails += status != EVN_OK;
            /* of a device that cannot be entered any more nothing can be closed */
            if (strcmp(fake->failed, "hipSetDevice")) assert_int_equal(fake->open, 0);
        }
        assert_true(right && fails > 20);
    }
    fake->fail_at = 0;
    fake->reset();
}

TEST_WITH(words, set_up, tear_down) {
    OWN(device) *d = OPEN(device, "hip", 0);
    OWN(queue) *q = OPEN(queue, d);
    fake->fail_at = 2; /* behind hipSetDevice */
    fake->fail_code = 700;
    assert_int_equal(evn_queue_finish(q), EVN_DEVICE);
    assert_says("hip device 0: waiting for a queue: hipErrorIllegalAddress from "
                "hipStreamSynchronize");
}

/* More items than the runtime can count. */
TEST_WITH(many_groups, set_up, tear_down) {
    ENDS(close_work) struct work w = {0};
    const double two = 2;
    const int n = 1;
    assert_ok(open_work(&w, "hip"));
    const evn_argument argument[] = {{.buffer = w.x},
                                     {.buffer = w.x},
                                     {.value = &two, .bytes = sizeof two},
                                     {.value = &n, .bytes = sizeof n}};
    assert_fails(evn_launch(w.queue[0], w.axpy, 2000000000, 0, argument, 4), EVN_SYSTEM,
                 "HIP takes at most");
}

/* ---- none ---- */

static void expect_none(const char *reason) {
    int count = -1;
    char why[1024] = "";
    assert_ok(evn_devices_count("hip", &count, why, sizeof why));
    assert_int_equal(count, 0);
    if (!strstr(why, reason)) fail_msg("\"%s\" does not say \"%s\"", why, reason);
}

TEST_WITH(none, set_up, tear_down) {
    fake->devices = 0;
    expect_none("/dev/kfd");
    setenv("HIP_VISIBLE_DEVICES", "-1", 1);
    expect_none("HIP_VISIBLE_DEVICES is \"-1\"");
    unsetenv("HIP_VISIBLE_DEVICES");
    fake->devices = 2;
    setenv("EVENER_HIPRTC", "/nowhere", 1);
    expect_none("EVENER_HIPRTC=\"/nowhere\" cannot be used");
    setenv("EVENER_LIBHIP", "/nowhere", 1);
    expect_none("EVENER_LIBHIP=\"/nowhere\"");
    setenv("EVENER_LIBHIP", "libm.so.6", 1);
    expect_none("it has no hipInit");
    if (access("/dev/kfd", F_OK) && access("/dev/dxg", F_OK)) {
        unsetenv("EVENER_LIBHIP");
        expect_none("there is no /dev/kfd");
    }
}

RUN_TESTS(NULL, NULL)
