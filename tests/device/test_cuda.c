/* The back end "cuda" on a driver that is none (fake_cuda.c): which calls it makes, and what
 * becomes of each that fails. Needs neither GPU nor CUDA. Run: ctest -R cuda */
#include "check.h"
#include "device/backend.h"
#include "device/devices.h"
#include "device/gpu/api.h"
#include "fake_work.h"
#include <pthread.h>
#include <unistd.h>

static void use(const char *file) {
    if (!fake_load(file)) fail();
    setenv("EVENER_LIBCUDA", file, 1);
    setenv("EVENER_NVRTC", file, 1);
}

static int set_up(void **state) {
    (void)state;
    use(FAKE_CUDA);
    fake->reset();
    setenv("EVENER_CACHE", "", 1);
    setenv("EVENER_KERNELS", "", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    return 0;
}

/* ---- tests ---- */

TEST_WITH(work, set_up, tear_down) {
    struct work w = {0};
    assert_ok(open_work(&w, "cuda"));
    const evn_traits *t = evn_device_traits(w.device[1]);
    assert_string_equal(t->name, "Fake GPU 1");
    assert_string_equal(t->architecture, "sm_90");
    assert_int_equal(t->memory, 1 << 28);
    assert_int_equal(t->max_buffer, 1 << 28);
    assert_int_equal(t->local_memory, 49152);
    assert_int_equal(t->processors, 132);
    assert_int_equal(t->max_items, 1024);
    assert_int_equal(t->peer, 1);
    assert_int_equal(t->clock_is_virtual, 0);
    for (int round = 0; round < 3; round++) {
        assert_ok(run_work(&w));
        assert_true(is_right(&w));
    }
    /* a step makes no call that it need not: each operation a context and itself */
    int before = fake->calls;
    assert_ok(run_work(&w));
    assert_int_equal(fake->calls - before, 2 * 12 + 3 /* event_seconds waits for both */ + 2);
    assert_int_equal(fake->compilations, 1);
    assert_int_equal(fake->loads, 1);
    close_work(&w);
    assert_int_equal(fake->current(), -1); /* no context is left to others that may be gone */
}

TEST_WITH(old_driver, set_up, tear_down) {
    use(FAKE_CUDA_OLD);
    int right;
    fake->reset();
    assert_ok(do_work("cuda", &right));
    assert_true(right);
}

/* Every call of the driver fails once, with every kind of error. */
static void sweep(const char *text, int is_trying) {
    static const int codes[] = {1, 2, 700};
    int right, told = 0;
    fake->reset();
    assert_ok(do_work(text, &right));
    int calls = fake->calls;
    assert_true(calls > 80);
    for (int c = 0; c < 3; c++)
        for (int n = 1; n <= calls; n++) {
            fake->reset();
            fake->fail_at = n;
            fake->fail_code = codes[c];
            evn_status status = do_work(text, &right);
            char call[64];
            snprintf(call, sizeof call, "%s", fake->failed);
            if (fake->wrong)
                fail_msg("call %d, %s, returned %d; then %s", n, call, codes[c], fake->what);
            if (fake->open)
                fail_msg("call %d, %s, returned %d; then %d left open", n, call, codes[c],
                         fake->open);
            if (!status) {
                /* that error is how a list of parameters ends */
                int is_end = codes[c] == 1 && !strcmp(call, "cuFuncGetParamInfo");
                if (!is_end && !may_fail(call, is_trying))
                    fail_msg("call %d, %s, returned %d, and no status says so", n, call, codes[c]);
                if (!right) fail_msg("call %d, %s, returned %d: a wrong result", n, call, codes[c]);
                continue;
            }
            told++;
            /* the message names device, operation, call and error */
            call[strcspn(call, "_")] = 0;
            /* while a way is tried, what fails for good is told by the call that follows */
            if (!is_trying) assert_says(call);
            assert_true(!strncmp(evn_message(), "cuda device ", 12) ||
                        !strncmp(evn_message(), "device: \"cuda", 13));
            assert_says(codes[c] == 1   ? "CUDA_ERROR_INVALID_VALUE"
                        : codes[c] == 2 ? "CUDA_ERROR_OUT_OF_MEMORY"
                                        : "CUDA_ERROR_ILLEGAL_ADDRESS");
            /* what a call that waits returns has happened to work that was accepted */
            if (strstr(call, "Synchronize")) assert_int_equal(status, EVN_DEVICE);
            if (status != EVN_DEVICE && status != EVN_MISSING)
                assert_int_equal(status, codes[c] == 1 ? EVN_SYSTEM : EVN_MEMORY);
            if (codes[c] == 700) assert_int_not_equal(status, EVN_SYSTEM);
        }
    assert_true(told > 3 * calls / 2); /* of 3 rounds: at least half are told */
    fake->reset();
}

TEST_WITH(each_call_fails, set_up, tear_down) { sweep("cuda:peer=off", 0); }

TEST_WITH(each_call_fails_trying, set_up, tear_down) { sweep("cuda", 1); }

TEST_WITH(errors_without_words, set_up, tear_down) {
    int right;
    fake->speechless = 1;
    fake->fail_at = 20;
    fake->fail_code = 700;
    assert_int_not_equal(do_work("cuda", &right), EVN_OK);
    assert_says("CUDA error 700");
}

/* A context that is corrupted: the device is lost, whatever is asked of it; the other one is not.
 */
TEST_WITH(lost, set_up, tear_down) {
    ENDS(close_work) struct work w = {0};
    assert_ok(open_work(&w, "cuda"));
    assert_ok(run_work(&w));
    /* the launch is accepted and goes wrong later: told by the call that waits */
    assert_ok(evn_copy_to_device(w.queue[0], w.x, 0, w.host, 8));
    fake->fail_at = 2; /* after the context */
    fake->fail_code = 700;
    assert_int_equal(evn_queue_finish(w.queue[0]), EVN_DEVICE);
    assert_says("cuda device 0: waiting for a queue: CUDA_ERROR_ILLEGAL_ADDRESS from "
                "cuStreamSynchronize");
    int before = fake->calls;
    evn_buffer *b;
    assert_int_equal(evn_buffer_open(&b, w.device[0], 64), EVN_DEVICE);
    assert_null(b);
    assert_int_equal(evn_copy_to_device(w.queue[0], w.x, 0, w.host, 8), EVN_DEVICE);
    assert_says("cuda device 0");
    assert_says("CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(fake->calls, before); /* it is not asked any more */
    assert_int_equal(evn_queue_finish(w.queue[0]), EVN_DEVICE);
    assert_ok(evn_copy_to_device(w.queue[1], w.there, 0, w.result, N * sizeof(double)));
    assert_ok(evn_queue_finish(w.queue[1]));
}

TEST_WITH(out_of_memory, set_up, tear_down) {
    OWN(buffer) *b = NULL;
    fake->memory = 1 << 20;
    OWN(device) *d = OPEN(device, "cuda", 0);
    /* the driver itself takes some */
    assert_int_equal(evn_buffer_open(&b, d, 1 << 20), EVN_MEMORY);
    assert_says("cuda device 0: allocation of 1048576 bytes: CUDA_ERROR_OUT_OF_MEMORY from "
                "cuMemAlloc");
    assert_says("1 MiB of 1 MiB are free");
    assert_null(b);
    assert_int_equal(evn_device_counts(d, NULL).used, 0);
    assert_ok(evn_buffer_open(&b, d, 1 << 19));
}

/* ---- what there is ---- */

static void expect_none(const char *part) {
    int count = -1;
    char why[1024];
    assert_ok(evn_devices_count("cuda", &count, why, sizeof why));
    assert_int_equal(count, 0);
    if (!strstr(why, part)) fail_msg("\"%s\" is not in: %s", part, why);
    evn_device *d;
    assert_int_equal(evn_device_open(&d, "cuda", 0), EVN_MISSING);
    assert_null(d);
    assert_says(part);
}

TEST_WITH(no_driver, set_up, tear_down) {
    setenv("EVENER_LIBCUDA", "/nowhere/libcuda.so.1", 1);
    expect_none("/nowhere/libcuda.so.1");
    setenv("EVENER_LIBCUDA", "libm.so.6", 1);
    expect_none("it has no cuInit");
    setenv("EVENER_LIBCUDA", FAKE_CUDA, 1);
    static const struct {
        int code;
        const char *says;
    } codes[] = {{34, "stub"},
                 {803, "restart the machine"},
                 {802, "fabricmanager"},
                 {804, "cuda-compat"},
                 {3, "fork"},
                 {999, "nvidia-modprobe"},
                 {304, "/dev/nvidia"},
                 {100, "shows no device"},
                 {12345, "CUDA error 12345"}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fake->init = codes[i].code;
        expect_none(codes[i].says);
    }
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    fake->init = 100;
    expect_none("CUDA_VISIBLE_DEVICES is \"\"");
    fake->init = 0;
    fake->devices = 0;
    expect_none("CUDA_VISIBLE_DEVICES is \"\"");
    fake->devices = 2;
    setenv("EVENER_NVRTC", "/nowhere/libnvrtc.so", 1);
    expect_none("/nowhere/libnvrtc.so");
    setenv("EVENER_NVRTC", "libm.so.6", 1);
    expect_none("has no nvrtcVersion");
    setenv("EVENER_NVRTC", FAKE_CUDA, 1);
    fake->compiler = 11010;
    expect_none("11.2 is the oldest");
    /* what is really here: some, or a reason */
    unsetenv("EVENER_LIBCUDA");
    unsetenv("EVENER_NVRTC");
    int count = -1;
    char why[1024] = "";
    assert_ok(evn_devices_count("cuda", &count, why, sizeof why));
    assert_true(count > 0 || (count == 0 && *why));
    print_message("here: %d; %s\n", count, why);
}

TEST_WITH(specifications, set_up, tear_down) {
    static const struct {
        const char *text;
        int count;
        evn_status status;
        const char *says;
    } cases[] = {
        {"cuda", 3, EVN_OK, ""},
        {"cuda:1", 1, EVN_OK, ""},
        {"cuda:3,contract=off", 3, EVN_OK, ""},
        {"cuda:devices=0+2", 2, EVN_OK, ""},
        {"cuda:devices=2,contract=on,peer=off", 1, EVN_OK, ""},
        {"cuda:devices=1+1+1", 3, EVN_OK, ""},
        {"cuda:4", 0, EVN_MISSING, "asks for 4 devices and the driver shows 3"},
        {"cuda:devices=0+3", 0, EVN_MISSING, "there is no device 3"},
        {"cuda:0", 0, EVN_USAGE, "\"0\" is not understood"},
        {"cuda:65", 0, EVN_USAGE, "from 1 to 64"},
        {"cuda:contract=off,2", 0, EVN_USAGE, "\"2\" is not understood"},
        {"cuda:2,devices=1", 0, EVN_USAGE, "not both"},
        {"cuda:devices=", 0, EVN_USAGE, "such as 0+2"},
        {"cuda:devices", 0, EVN_USAGE, "such as 0+2"},
        {"cuda:devices=0+", 0, EVN_USAGE, "such as 0+2"},
        {"cuda:devices=0-2", 0, EVN_USAGE, "such as 0+2"},
        {"cuda:devices=64", 0, EVN_USAGE, "from 0 to 63"},
        {"cuda:contract=perhaps", 0, EVN_USAGE, "on or off, not \"perhaps\""},
        {"cuda:peer", 0, EVN_USAGE, "on or off"},
        {"cuda:speed=2", 0, EVN_USAGE, "contract=on|off"},
        {"cuda:", 0, EVN_USAGE, "empty"},
    };
    fake->devices = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = -1;
        char why[512];
        evn_status status = evn_devices_count(cases[i].text, &count, why, sizeof why);
        if (status != cases[i].status || (!status && count != cases[i].count))
            fail_msg("%s: status %d, %d devices: %s", cases[i].text, status, count, evn_message());
        if (status) assert_says(cases[i].says);
    }
    char why[512], many[300] = "cuda:devices=0";
    int count;
    for (int i = 0; i < 64; i++) strcat(many, "+0");
    assert_int_equal(evn_devices_count(many, &count, why, sizeof why), EVN_USAGE);
    /* what is not understood is told also where there is no driver */
    setenv("EVENER_LIBCUDA", "/nowhere", 1);
    assert_int_equal(evn_devices_count("cuda:x", &count, why, sizeof why), EVN_USAGE);
    setenv("EVENER_LIBCUDA", FAKE_CUDA, 1);
    OWN(device) *d = OPEN(device, "cuda:devices=2+1", 0);
    assert_string_equal(evn_device_traits(d)->name, "Fake GPU 2");
}

/* One device that is named twice is two devices, which share its memory and need no way between
 * them. */
TEST_WITH(one_as_two, set_up, tear_down) {
    ENDS(close_work) struct work w = {0};
    fake->devices = 1;
    assert_ok(open_work(&w, "cuda:devices=0+0"));
    assert_int_equal(evn_device_traits(w.device[0])->memory, 1 << 27);
    assert_int_equal(evn_device_traits(w.device[1])->memory, 1 << 27);
    assert_ok(run_work(&w));
    assert_true(is_right(&w));
    assert_int_equal(fake->direct, 0);
}

/* ---- between devices ---- */

TEST_WITH(peer, set_up, tear_down) {
    static const struct {
        const char *text;
        int peer, loses, direct, probe;
    } cases[] = {{"cuda", 1, 0, 2, 1},          /* tried once, then used */
                 {"cuda", 1, 1, 0, 1},          /* tried, found to lose data, left */
                 {"cuda", 0, 0, 0, 0},          /* there is none */
                 {"cuda:peer=off", 1, 0, 0, 0}, /* not wanted */
                 {"cuda:peer=off", 1, 1, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct work w = {0};
        fake->reset();
        fake->peer = cases[i].peer;
        fake->peer_loses = cases[i].loses;
        assert_ok(open_work(&w, cases[i].text));
        for (int round = 0; round < 2; round++) {
            assert_ok(run_work(&w));
            assert_true(is_right(&w));
        }
        assert_int_equal(fake->direct, cases[i].direct + cases[i].probe);
        int before = fake->calls;
        assert_ok(run_work(&w));
        assert_int_equal(fake->calls - before,
                         2 * 12 + 3 + 2); /* settled: no call more than in test_work */
        close_work(&w);
        assert_int_equal(fake->open, 0);
        assert_int_equal(fake->wrong, 0);
    }
}

/* What a program opens beforehand the first copy does not open: not a call more than later. */
TEST_WITH(connect, set_up, tear_down) {
    ENDS(close_work) struct work w = {0};
    assert_ok(open_work(&w, "cuda"));
    assert_ok(device_connect(w.device[1], w.device[0]));
    assert_int_equal(fake->direct, 1); /* tried */
    int before = fake->calls;
    assert_ok(run_work(&w));
    assert_true(is_right(&w));
    assert_int_equal(fake->direct, 2);
    const int calls = fake->calls - before;
    before = fake->calls;
    assert_ok(run_work(&w));
    assert_int_equal(fake->calls - before, calls);
    /* again, and where nothing is to be done */
    assert_ok(device_connect(w.device[1], w.device[0]));
    assert_ok(device_connect(w.device[1], w.device[1]));
    assert_int_equal(fake->direct, 3);
}

/* ---- memory of the program's ---- */

TEST_WITH(register, set_up, tear_down) {
    ENDS(close_work) struct work w = {0};
    static char memory[8192], other[64];
    assert_ok(open_work(&w, "cuda"));
    assert_ok(evn_host_memory_register(w.device[0], memory, sizeof memory));
    assert_int_equal(fake->registered, 1);
    /* for all devices: not once more, nor a part */
    assert_fails(evn_host_memory_register(w.device[1], memory, sizeof memory), EVN_USAGE,
                 "registered already");
    assert_fails(evn_host_memory_register(w.device[0], memory + 100, 8), EVN_USAGE,
                 "registered already");
    assert_ok(evn_host_memory_register(w.device[1], other, sizeof other));
    evn_host_memory_unregister(other, w.device[1]);
    evn_host_memory_unregister(memory, w.device[0]);
    assert_ok(evn_host_memory_register(w.device[1], memory, sizeof memory));
    evn_host_memory_unregister(memory, w.device[1]);
    /* too much is no failure of the device */
    fake->may_register = 100;
    assert_fails(evn_host_memory_register(w.device[0], memory, sizeof memory), EVN_MEMORY,
                 "stay in place");
    fake->may_register = (size_t)-1;
    fake->fail_at = 2; /* after the context */
    fake->fail_code = GPU_OPERATING_SYSTEM;
    assert_fails(evn_host_memory_register(w.device[0], memory, sizeof memory), EVN_MEMORY,
                 "stay in place");
    assert_ok(run_work(&w));
    assert_true(is_right(&w));
}

/* ---- compiling ---- */

static void open_program(const char *text, evn_status expected) {
    OWN(program) *p;
    OWN(device) *d = OPEN(device, text, 0);
    evn_status status = device_program_open(&p, d, &probe_kernels);
    if (status != expected) fail_msg("status %d: %s", status, evn_message());
}

static void expect_option(const char *option, int is_there) {
    if (!!strstr(fake->options, option) != is_there)
        fail_msg("\"%s\" %s: %s", option, is_there ? "is missing" : "is there", fake->options);
}

TEST_WITH(contract, set_up, tear_down) {
    for (int c = 0; c < 3; c++) {
        int on = c == 2 ? probe_kernels.contract : c;
        open_program(c == 0 ? "cuda:contract=off" : c == 1 ? "cuda:contract=on" : "cuda", EVN_OK);
        expect_option("--fmad=true", on);
        expect_option("--fmad=false", !on);
        expect_option("-DEVN_CONTRACT=0", !on);
        expect_option("--gpu-architecture=sm_90", 1);
    }
}

TEST_WITH(defines, set_up, tear_down) {
    evn_kernel_source source = probe_kernels;
    OWN(device) *d = OPEN(device, "cuda", 0);
    source.defines = "N=8  DIRECTION=-1 PLAIN";
    OWN(program) *p;
    assert_ok(device_program_open(&p, d, &source));
    expect_option("-DN=8 -DDIRECTION=-1 -DPLAIN ", 1);
}

/* The compiler knows 75, 80, 90 and 100. */
TEST_WITH(architectures, set_up, tear_down) {
    static const struct {
        int capability;
        const char *target;
    } cases[] = {
        {75, "sm_75"}, {80, "sm_80"}, {86, "compute_80"}, {90, "sm_90"}, {121, "compute_100"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char option[64];
        snprintf(option, sizeof option, "--gpu-architecture=%s ", cases[i].target);
        fake->capability = cases[i].capability;
        open_program("cuda", EVN_OK);
        expect_option(option, 1);
    }
    fake->capability = 70;
    evn_device *d;
    assert_int_equal(evn_device_open(&d, "cuda", 1), EVN_MISSING);
    assert_says("cuda device 1: open: NVRTC 13.0");
    assert_says("sm_75 and later, and the device is sm_70");
}

TEST_WITH(compiler_refuses, set_up, tear_down) {
    fake->compile_fails = 6;
    open_program("cuda", EVN_SYSTEM);
    assert_says(
        "cuda device 0: building \"probe\": NVRTC 13.0 for sm_90: a.kernel.c(3): error: no");
    assert_null(strstr(evn_message(), "more"));
    fake->compile_fails = 1;
    open_program("cuda", EVN_MEMORY);
    fake->compile_fails = 7;
    open_program("cuda", EVN_MISSING);
    assert_int_equal(fake->compilations, 3);
    fake->compile_fails =
        5; /* an option; it is tried without the report, which older ones do not give */
    open_program("cuda", EVN_SYSTEM);
    assert_int_equal(fake->compilations, 5);
    expect_option("--ptxas-options=-v", 0);
    /* refused by the driver, with the loader's own words in one line */
    fake->compile_fails = 0;
    evn_program *p;
    OWN(device) *d = OPEN(device, "cuda", 0);
    fake->capability = 80;
    assert_int_equal(device_program_open(&p, d, &probe_kernels), EVN_SYSTEM);
    assert_says("CUDA_ERROR_NO_BINARY_FOR_GPU from cuModuleLoadDataEx");
    assert_says("made for sm_90");
    assert_says("EVENER_NVRTC");
    assert_null(strchr(evn_message(), '\n'));
}

/* What was compiled once is found again, by what it was compiled from. (Damaged: test_device.c.) */
TEST_WITH(cache, set_up, tear_down) {
    char folder[] = "/tmp/evener-test-cuda-XXXXXX", command[300];
    assert_non_null(mkdtemp(folder));
    setenv("EVENER_CACHE", folder, 1);
    open_program("cuda", EVN_OK);
    assert_int_equal(fake->compilations, 1);
    open_program("cuda", EVN_OK);
    open_program("cuda:2", EVN_OK);
    assert_int_equal(fake->compilations, 1);
    open_program(probe_kernels.contract ? "cuda:contract=off" : "cuda:contract=on", EVN_OK);
    assert_int_equal(fake->compilations, 2);
    fake->capability = 80;
    open_program("cuda", EVN_OK);
    assert_int_equal(fake->compilations, 3);
    fake->capability = 90;
    open_program("cuda", EVN_OK);
    assert_int_equal(fake->compilations, 3);
    fake->compiler = 12040;
    open_program("cuda", EVN_OK);
    assert_int_equal(fake->compilations, 4);
    open_program("cuda", EVN_OK);
    assert_int_equal(fake->compilations, 4);
    assert_int_equal(fake->loads, 8);
    assert_int_equal(fake->images, 8);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

TEST_WITH(kernels, set_up, tear_down) {
    OWN(kernel) *k;
    OWN(device) *d = OPEN(device, "cuda", 0);
    OWN(program) *p;
    assert_ok(device_program_open(&p, d, &probe_kernels));
    /* laid out otherwise than by the host's compiler */
    fake->extra_bytes = 4;
    assert_int_equal(device_kernel_open(&k, p, "axpy"), EVN_SYSTEM);
    assert_says("cuda device 0: opening kernel \"axpy\": parameter 0 has 12 bytes on the device "
                "and 8 on the host");
    fake->extra_bytes = 0;
    fake->max_items = 32;
    assert_int_equal(device_kernel_open(&k, p, "axpy"), EVN_SYSTEM);
    assert_says("groups of 32 items and it has 64");
    fake->max_items = 64;
    assert_ok(device_kernel_open(&k, p, "axpy"));
}

/* A kernel asks for as much of a multiprocessor's memory as its groups want that are there at a
 * time; one without such memory leaves the driver's division as it is. What a driver says to that
 * is no failure, but where the context is gone. */
TEST_WITH(local_memory, set_up, tear_down) {
    static const struct {
        int bytes, groups, share;
    } cases[] = {{40000, 5, 88}, {45568, 5, 100}, {1024, 16, 15},
                 {31936, 7, 99}, {0, 5, -1},      {49152, 9, 100}};
    evn_kernel *k;
    OWN(device) *d = OPEN(device, "cuda", 0);
    OWN(program) *p;
    assert_ok(device_program_open(&p, d, &probe_kernels));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake->local_bytes = cases[i].bytes;
        fake->groups = cases[i].groups;
        fake->local_share = -1;
        assert_ok(device_kernel_open(&k, p, "axpy"));
        assert_int_equal(fake->local_share, cases[i].share);
        device_kernel_close(k);
    }
}

/* Leaders that share cores with others' tasks wait blocked, those that have a core each do not. */
TEST_WITH(waiting, set_up, tear_down) {
    char text[64];
    OWN(machine) *machine = OPEN(machine);
    snprintf(text, sizeof text, "%d:CPU:1,1:GPU:2", evn_machine_cores(machine));
    const char *const units_text[] = {"1:GPU:2", text};
    for (int crowded = 0; crowded < 2; crowded++) {
        evn_event *event;
        fake->reset();
        OWN(units) *units = OPEN(units, machine, units_text[crowded], "cuda", 0);
        evn_unit *unit = evn_units_get(units, evn_units_count(units) - 1);
        for (int d = 0; d < 2; d++) {
            assert_int_equal(fake->flags[d], crowded ? 4 : 0);
            assert_ok(evn_event_open(&event, evn_unit_device(unit, d)));
            assert_int_equal(fake->blocked_events, crowded ? d + 1 : 0);
            assert_ok(evn_event_record(event, evn_unit_queue(unit, d)));
            assert_ok(evn_event_finish(event, NULL));
            evn_event_close(event);
        }
    }
    /* a context that is there already stays as it is, and the device is opened all the same */
    OWN(device) *first, *second;
    fake->reset();
    assert_ok(device_open(&first, "cuda:devices=0+0", 0, 0));
    assert_ok(device_open(&second, "cuda:devices=0+0", 1, 1));
    assert_int_equal(fake->flags[0], 0);
}

/* ---- threads ---- */

struct thread {
    pthread_t thread;
    evn_device *const *device;
    int number, right;
};

/* Works on both devices in turn, as a unit of two devices does, while others do the same. */
static void *work_thread(void *arg) {
    struct thread *t = arg;
    evn_queue *q[2] = {0};
    evn_buffer *b[2] = {0};
    double in[64], out[64];
    t->right = 1;
    for (int d = 0; d < 2; d++)
        t->right &= !evn_queue_open(&q[d], t->device[d]) &&
                    !evn_buffer_open(&b[d], t->device[d], sizeof in);
    for (int round = 0; t->right && round < 200; round++) {
        int d = round & 1;
        for (int i = 0; i < 64; i++) in[i] = 1000.0 * t->number + round + i;
        t->right &= !evn_copy_to_device(q[d], b[d], 0, in, sizeof in) &&
                    !evn_queue_finish(q[d]) && /* the source must be ready */
                    !evn_copy_buffer(q[1 - d], b[1 - d], 0, b[d], 0, sizeof in) &&
                    !evn_copy_to_host(q[1 - d], out, b[1 - d], 0, sizeof out) &&
                    !evn_queue_finish(q[1 - d]) && !memcmp(in, out, sizeof in);
    }
    for (int d = 0; d < 2; d++) {
        evn_buffer_close(b[d]);
        evn_queue_close(q[d]);
    }
    return NULL;
}

TEST_WITH(threads, set_up, tear_down) {
    enum { THREADS = 4 };
    evn_device *device[2];
    struct thread t[THREADS];
    for (int d = 0; d < 2; d++) assert_ok(evn_device_open(&device[d], "cuda", d));
    for (int i = 0; i < THREADS; i++) {
        t[i] = (struct thread){.device = device, .number = i};
        assert_int_equal(pthread_create(&t[i].thread, NULL, work_thread, &t[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i].thread, NULL);
        assert_true(t[i].right);
    }
    for (int d = 0; d < 2; d++) evn_device_close(device[d]);
}

/* ---- a program's own work ---- */

/* Asked of the driver itself, as a kernel of nvcc's would: in the queue's order, and with the right
 * device current, whatever was called before. */
TEST_WITH(own_work, set_up, tear_down) {
    typedef gpu_result copy_in(gpu_address to, const void *from, size_t bytes, gpu_stream stream);
    void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
    copy_in *copy = NULL;
    if (library) symbol = dlsym(library, "cuMemcpyHtoDAsync_v2");
    assert_non_null(symbol);
    memcpy(&copy, &symbol, sizeof copy);
    evn_device *device[2];
    evn_buffer *b[2];
    evn_queue *q[2];
    void *stream[2], *address;
    double in[4] = {1, 2, 3, 4}, other[2] = {50, 60}, out[4];
    for (int d = 0; d < 2; d++) {
        assert_ok(evn_device_open(&device[d], "cuda", d));
        assert_ok(evn_buffer_open(&b[d], device[d], sizeof in));
        assert_ok(evn_queue_open(&q[d], device[d]));
    }
    for (int d = 0; d < 2; d++) {
        assert_ok(evn_copy_to_device(q[d], b[d], 0, in, sizeof in));
        assert_ok(evn_buffer_address(&address, b[d], 2 * sizeof(double)));
        assert_ok(evn_queue_native(&stream[d], q[d]));
        assert_int_equal(fake->current(), d);
        assert_int_equal(copy((gpu_address)(uintptr_t)address, other, sizeof other, stream[d]), 0);
        assert_ok(evn_copy_to_host(q[d], out, b[d], 0, sizeof out));
        assert_ok(evn_queue_finish(q[d]));
        const double expected[] = {1, 2, 50, 60};
        assert_memory_equal(out, expected, sizeof out);
    }
    assert_ptr_not_equal(stream[0], stream[1]);
    assert_int_equal(evn_buffer_address(&address, b[0], sizeof in + 1), EVN_USAGE);
    assert_null(address);
    for (int d = 0; d < 2; d++) {
        evn_buffer_close(b[d]);
        evn_queue_close(q[d]);
        evn_device_close(device[d]);
    }
    dlclose(library);
}

/* A thread that wants a kernel of a source. */
struct wanting {
    evn_device *device;
    const evn_kernel_source *source;
    evn_status status;
    evn_kernel *kernel;
};

static void *want(void *given) {
    struct wanting *w = given;
    w->status = evn_kernel_get(w->device, w->source, "axpy", &w->kernel);
    return NULL;
}

/* Threads that want kernels of several sources compile them at a time, and of one source once. */
TEST_WITH(compiled_side_by_side, set_up, tear_down) {
    enum { SOURCES = 3, THREADS = 6 };
    evn_kernel_source source[SOURCES];
    struct wanting w[THREADS];
    pthread_t thread[THREADS];
    fake->side_by_side = SOURCES;
    OWN(device) *device = OPEN(device, "cuda", 0);
    for (int s = 0; s < SOURCES; s++) source[s] = probe_kernels;
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct wanting){.device = device, .source = &source[i % SOURCES]};
        assert_int_equal(pthread_create(&thread[i], NULL, want, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_ok(w[i].status);
        assert_ptr_equal(w[i].kernel, w[i % SOURCES].kernel);
    }
    assert_int_equal(fake->compilations, SOURCES);
}

RUN_TESTS(NULL, NULL)
