/* Kernels that come compiled, on a driver that is none (fake_cuda.c): which of them the driver gets
 * where there is no run-time compiler, and what is said where there are none for it. Run:
 * ctest -R shipped */
#include "check.h"
#include "device/cuda/nvrtc.h"
#include "device/gpu/shipped.h"
#include "device/devices.h"
#include "fake_of_test.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern const evn_kernel_source probe_kernels;

static char root[] = "/tmp/evener-test-shipped-XXXXXX";
static char folder[64], cache[64], said[64];

/* The file of `target` in the folder, as ship-kernels names it. */
static void file_of(char file[200], const char *target) {
    const struct cache_key key = shipped_key(probe_kernels.name, probe_kernels.text,
                                             probe_kernels.defines, probe_kernels.contract, target);
    assert_true(shipped_file(file, 200, folder, key, target));
}

/* Ships what the fake compiler makes for `target`. */
static void ship(const char *target) {
    struct rtc *c;
    struct rtc_program made;
    char file[200];
    setenv("EVENER_NVRTC", FAKE_CUDA, 1);
    assert_ok(nvrtc_open(&c, 0));
    assert_ok(rtc_compile(c, &made, probe_kernels.name, probe_kernels.text, target,
                          probe_kernels.defines, probe_kernels.contract));
    file_of(file, target);
    assert_true(cache_write_file(file,
                                 shipped_key(probe_kernels.name, probe_kernels.text,
                                             probe_kernels.defines, probe_kernels.contract, target),
                                 made.image, made.bytes));
    rtc_program_close(&made);
    rtc_close(c);
}

/* All for which the fake compiler's architectures allow a test, and no compiler after that. */
static void ship_all(void) {
    ship("sm_80");
    ship("sm_90");
    ship("compute_80");
    setenv("EVENER_NVRTC", "/nowhere/libnvrtc.so", 1);
    fake->compilations = 0;
}

static void clear(const char *which) {
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s; mkdir -p %s", which, which);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state) {
    (void)state;
    fake->reset();
    clear(folder);
    clear(cache);
    setenv("EVENER_LIBCUDA", FAKE_CUDA, 1);
    setenv("EVENER_KERNELS", folder, 1);
    setenv("EVENER_CACHE", "", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    return 0;
}

/* Opens the program on a device of this capability; `kernels` is in what the device says of it. */
static evn_status open_program(int capability, const char *kernels) {
    OWN(program) *p;
    evn_kernel *k;
    fake->capability = capability;
    OWN(device) *d = OPEN(device, "cuda", 0);
    const char *all = evn_device_traits(d)->kernels;
    if (!strstr(all, kernels)) fail_msg("\"%s\" is not in: %s", kernels, all);
    evn_status status = device_program_open(&p, d, &probe_kernels);
    if (!status) assert_ok(device_kernel_open(&k, p, "axpy"));
    if (!status) device_kernel_close(k);
    return status;
}

/* A program for just this device; none of those for others is tried. */
TEST_WITH(own, set_up, tear_down) {
    ship_all();
    assert_ok(open_program(90, "shipped for sm_90 ("));
    assert_ok(open_program(80, "shipped for sm_80 ("));
    assert_int_equal(fake->compilations, 0);
    assert_int_equal(fake->images, 2);
    assert_int_equal(fake->loads, 2);
}

/* Newer ones, and those between, get text. */
TEST_WITH(portable, set_up, tear_down) {
    ship_all();
    static const int newer[] = {86, 100, 121};
    for (int i = 0; i < 3; i++) {
        assert_ok(open_program(newer[i], "shipped as compute_80"));
        assert_int_equal(fake->images, i + 1);
        assert_int_equal(fake->loads, i + 1);
    }
    /* the latest that it understands is the first */
    assert_string_equal(shipped_portable(121, 0), "compute_120");
    assert_string_equal(shipped_portable(121, 1), "compute_80");
    assert_null(shipped_portable(121, 2));
    assert_string_equal(shipped_portable(100, 0), "compute_80");
    assert_null(shipped_portable(75, 0));
}

/* The order where there is everything: cache, shipped for this device, compiler, shipped text. */
TEST_WITH(order, set_up, tear_down) {
    ship_all();
    setenv("EVENER_NVRTC", FAKE_CUDA, 1);
    setenv("EVENER_CACHE", cache, 1);
    assert_ok(open_program(90, "the cache, else shipped for sm_90"));
    assert_int_equal(fake->compilations, 0);
    /* the fake compiler knows 100, which nothing was shipped for but text */
    assert_ok(open_program(100, "the cache, else made for sm_100 by NVRTC 13.0"));
    assert_int_equal(fake->compilations, 1);
    assert_int_equal(fake->loads, 2);
    /* in the cache now, also for who has no compiler any more */
    setenv("EVENER_NVRTC", "/nowhere/libnvrtc.so", 1);
    clear(folder);
    assert_ok(open_program(100, "the cache"));
    assert_int_equal(fake->compilations, 1);
    assert_int_equal(fake->loads, 3);
    assert_int_equal(fake->images, 3);
}

/* Neither compiler nor kernels: it is no device, in one line. Kernels of others: a line when they
 * are asked for. */
TEST_WITH(neither, set_up, tear_down) {
    int count = -1;
    char why[1024];
    setenv("EVENER_NVRTC", "/nowhere/libnvrtc.so", 1);
    assert_ok(evn_devices_count("cuda", &count, why, sizeof why));
    assert_int_equal(count, 0);
    assert_non_null(strstr(why, "/nowhere/libnvrtc.so"));
    assert_non_null(strstr(why, "EVENER_KERNELS"));
    assert_null(strchr(why, '\n'));
    ship_all();
    assert_ok(evn_devices_count("cuda", &count, why, sizeof why));
    assert_int_equal(count, 2);
    assert_int_equal(open_program(75, "nowhere: EVENER_NVRTC"), EVN_MISSING);
    assert_says("cuda device 0: building \"probe\": no compiled kernels for sm_75 in ");
    assert_says(folder);
    assert_says("/nowhere/libnvrtc.so");
    assert_null(strchr(evn_message(), '\n'));
    assert_int_equal(fake->images, 0);
    setenv("EVENER_KERNELS", "/nowhere/kernels", 1);
    setenv("EVENER_CACHE", cache, 1); /* might have it, and has not */
    assert_int_equal(open_program(90, "the cache"), EVN_MISSING);
    assert_says("there is no folder /nowhere/kernels");
}

/* Lines in the file that standard error was turned into. */
static int lines_said(void) {
    OWN(file) *f = fopen(said, "r");
    int lines = 0;
    for (int c; (c = getc(f)) != EOF;) lines += c == '\n';
    return lines;
}

/* A damaged file is not given to the driver, and a line says so, once; the next way is taken. */
static void damaged(int is_cut) {
    char file[200];
    const int out = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ship_all();
    file_of(file, "sm_90");
    const struct cache_key key =
        shipped_key(probe_kernels.name, probe_kernels.text, probe_kernels.defines,
                    probe_kernels.contract, "sm_90");
    if (is_cut)
        assert_int_equal(truncate(file, 300), 0);
    else
        assert_true(cache_write_file(file, key, "no program", 10));
    const int before = dup(2);
    dup2(out, 2);
    for (int round = 0; round < 2; round++) assert_ok(open_program(90, "shipped for sm_90"));
    dup2(before, 2);
    close(before);
    close(out);
    assert_int_equal(fake->images, 2); /* text */
    assert_int_equal(fake->loads, 2);
    assert_int_equal(fake->compilations, 0);
    assert_int_equal(lines_said(), 1);
}

/* Each in a process of its own, since it is said once a process. */
TEST_WITH(damaged, set_up, tear_down) {
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        const pid_t child = fork();
        if (!child) {
            damaged(is_cut);
            _exit(0);
        }
        assert_ends_well(child);
    }
}

/* The build's text of a kernel file is the one that the program has, or no file would be found. */
TEST_WITH(text, set_up, tear_down) {
    OWN(file) *f = fopen(PROBE_TEXT, "r");
    if (!f) fail_msg("%s: %s", PROBE_TEXT, strerror(errno));
    const size_t length = strlen(probe_kernels.text);
    HEAP char *text = calloc(1, length + 2);
    assert_int_equal(fread(text, 1, length + 1, f), length);
    assert_string_equal(text, probe_kernels.text);
}

/* Beside the executable, where nobody says another folder. */
TEST_WITH(places, set_up, tear_down) {
    char where[1024];
    unsetenv("EVENER_KERNELS");
    if (shipped_folder(where, sizeof where))
        assert_non_null(strstr(where, "/lib/evener/kernels"));
    else
        assert_non_null(strstr(where, "lib/evener/kernels or "));
    setenv("EVENER_KERNELS", "", 1);
    assert_false(shipped_folder(where, sizeof where));
}

int main(void) {
    if (!fake_load(FAKE_CUDA) || !mkdtemp(root)) return 1;
    snprintf(folder, sizeof folder, "%s/kernels", root);
    snprintf(cache, sizeof cache, "%s/cache", root);
    snprintf(said, sizeof said, "%s/said", root);
    const int failed = run_all_tests(NULL, NULL);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) || failed;
}
