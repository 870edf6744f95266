/* Devices: one suite for all back ends. Run: ctest -R device; by hand, EVENER_TEST_DEVICE=cuda
 * build/tests/test-device
 *
 * EVENER_TEST_DEVICE is the specification of the device under test, emulated:2 if it is not set.
 * Where there is no such device the suite is skipped (exit status 77) and says why. What only the
 * emulated device has (its clocks, failures on purpose, protected memory) is tested with
 * specifications of its own, whichever the device under test is.
 */
#include "check.h"
#include "device/cache.h"
#include "device/devices.h"
#include "probe_table.h"
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

extern const evn_kernel_source probe_kernels;

static const char *spec;  /* of the device under test */
static int devices;       /* it gives */
static char scratch[128]; /* a folder for the cache */

enum { GROUP = 64 };

static int is_emulated(void) { return !strncmp(spec, "emulated", 8); }

/* A device, a queue and the probe's program, with which most tests begin; and what is opened for
 * it and closes with it. */
enum { OWNED = 16 };
struct bench {
    evn_device *device;
    evn_queue *queue, *more[OWNED];
    evn_program *program;
    evn_buffer *buffer[OWNED];
    evn_kernel *kernel[OWNED];
    evn_event *event[OWNED];
    int queues, buffers, kernels, events;
};

static void open_bench(struct bench *b, const char *text, int number) {
    *b = (struct bench){0};
    assert_ok(evn_device_open(&b->device, text, number));
    assert_ok(evn_queue_open(&b->queue, b->device));
    assert_ok(device_program_open(&b->program, b->device, &probe_kernels));
}

static void close_bench(struct bench *b) {
    while (b->queues) evn_queue_close(b->more[--b->queues]);
    while (b->kernels) device_kernel_close(b->kernel[--b->kernels]);
    while (b->events) evn_event_close(b->event[--b->events]);
    while (b->buffers) evn_buffer_close(b->buffer[--b->buffers]);
    device_program_close(b->program);
    evn_queue_close(b->queue);
    evn_device_close(b->device);
}

#define BUFFER(b)                                                                                  \
    { .buffer = b }
#define VALUE(v)                                                                                   \
    { .value = &(v), .bytes = sizeof(v) }
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static evn_status run(evn_queue *q, evn_program *p, const char *name, int groups,
                      const evn_argument *argument, int arguments) {
    evn_kernel *k;
    evn_status status = device_kernel_open(&k, p, name);
    if (status) return status;
    status = evn_launch(q, k, groups, 0, argument, arguments);
    evn_status finished = status ? status : evn_queue_finish(q);
    device_kernel_close(k);
    return finished;
}

static evn_buffer *buffer_of(struct bench *b, const void *data, size_t bytes) {
    evn_buffer **out = &b->buffer[b->buffers++];
    assert_ok(evn_buffer_open(out, b->device, bytes));
    if (data) assert_ok(evn_copy_to_device(b->queue, *out, 0, data, bytes));
    assert_ok(evn_queue_finish(b->queue));
    return *out;
}

static evn_queue *queue_of(struct bench *b) {
    evn_queue **out = &b->more[b->queues++];
    assert_ok(evn_queue_open(out, b->device));
    return *out;
}

static evn_event *event_of(struct bench *b) {
    evn_event **out = &b->event[b->events++];
    assert_ok(evn_event_open(out, b->device));
    return *out;
}

static evn_kernel *kernel_of(struct bench *b, const char *name) {
    evn_kernel **out = &b->kernel[b->kernels++];
    assert_ok(device_kernel_open(out, b->program, name));
    return *out;
}

static void read_back(struct bench *b, void *to, const evn_buffer *from, size_t bytes) {
    assert_ok(evn_copy_to_host(b->queue, to, from, 0, bytes));
    assert_ok(evn_queue_finish(b->queue));
}

/* Numbers that look like none of their neighbours. */
static double some(int i) { return (i * 7919 % 1009) / 16.0 - 31; }

/* ---- names ---- */

TEST(names) {
    int count = -1, found = 0;
    char why[256];
    evn_device *d = (evn_device *)1;
    for (int i = 0; evn_backend_name(i); i++) {
        found |= !strcmp(evn_backend_name(i), "emulated");
        assert_ok(evn_devices_count(evn_backend_name(i), &count, why, sizeof why));
        /* a back end without devices says why */
        assert_true(count > 0 || strlen(why) > 10);
    }
    assert_true(found);
    assert_null(evn_backend_name(-1));
    assert_null(evn_backend_name(100));
    assert_ok(evn_devices_count("best", &count, why, sizeof why));
    assert_true(count >= 1);
    assert_ok(evn_device_open(&d, "best", 0));
    evn_device_close(d);
    assert_ok(evn_devices_count("emulated:2,link=1e+9B/s+best+emulated", &count, why, sizeof why));
    assert_true(count >= 4);
    assert_fails(evn_devices_count("emulated:2+cud", &count, why, sizeof why), EVN_USAGE,
                 "unknown back end \"cud\"");
    assert_fails(evn_devices_count("emulated:2+", &count, why, sizeof why), EVN_USAGE,
                 "\"emulated:2+\"");
    assert_int_equal(count, 0);
    assert_fails(evn_device_open(&d, "", 0), EVN_USAGE, "unknown back end");
    assert_null(d);
    assert_fails(evn_device_open(&d, spec, devices), EVN_USAGE, "has no device");
}

TEST(traits) {
    evn_device *d;
    for (int n = 0; n < devices; n++) {
        assert_ok(evn_device_open(&d, spec, n));
        const evn_traits *t = evn_device_traits(d);
        assert_true(strlen(t->name) > 0 && strlen(t->architecture) > 0);
        assert_true(t->memory > 0 && t->max_buffer > 0 && t->max_buffer <= t->memory);
        assert_true(t->local_memory >= 16384);
        assert_true(t->processors >= 1 && t->max_items >= GROUP);
        assert_true(strlen(evn_device_traits(d)->name) > 0);
        evn_device_close(d);
    }
}

/* ---- memory ---- */

TEST(allocation) {
    OWN(device) *d = OPEN(device, spec, 0);
    assert_int_equal(evn_device_counts(d, NULL).used, 0);
    evn_buffer *a = OPEN(buffer, d, 1000);
    evn_buffer *b = OPEN(buffer, d, 1);
    assert_int_equal(evn_buffer_bytes(a), 1000);
    assert_int_equal(evn_device_counts(d, NULL).used, 1001);
    evn_buffer_close(a);
    assert_int_equal(evn_device_counts(d, NULL).used, 1);
    assert_ok(evn_buffer_open(&a, d, 100));
    assert_int_equal(evn_device_counts(d, NULL).used, 101);
    assert_int_equal(device_used_max(d), 1001);
    evn_buffer_close(a);
    evn_buffer_close(b);
    assert_fails(evn_buffer_open(&a, d, 0), EVN_USAGE, "0 bytes");
    assert_null(a);
    size_t max = evn_device_traits(d)->max_buffer;
    assert_fails(evn_buffer_open(&a, d, max + 1), EVN_MEMORY, "allocation of");
    assert_int_equal(evn_device_counts(d, NULL).used, 0);
    /* and the device works on */
    assert_ok(evn_buffer_open(&a, d, 64));
    evn_buffer_close(a);
}

TEST(memory_limit) {
    evn_buffer *a, *b;
    OWN(device) *d = OPEN(device, "emulated:memory=1MiB", 0);
    assert_ok(evn_buffer_open(&a, d, 1000000));
    assert_fails(evn_buffer_open(&b, d, 48577), EVN_MEMORY,
                 "1000000 of its 1048576 bytes are in use");
    assert_ok(evn_buffer_open(&b, d, 48576));
    assert_int_equal(evn_device_counts(d, NULL).used, 1048576);
    evn_buffer_close(a);
    evn_buffer_close(b);
    assert_ok(evn_buffer_open(&a, d, 1048576));
    evn_buffer_close(a);
}

enum { BYTES = 300007 };

TEST(copies) {
    HEAP unsigned char *from = malloc(BYTES), *to = malloc(BYTES), *expected = malloc(BYTES);
    for (int i = 0; i < BYTES; i++) from[i] = (unsigned char)(i * 131 + i / 256);
    OWN(device) *d = OPEN(device, spec, 0);
    OWN(queue) *q = OPEN(queue, d);
    OWN(buffer) *a = OPEN(buffer, d, BYTES);
    OWN(buffer) *b = OPEN(buffer, d, BYTES);
    assert_ok(evn_copy_to_device(q, a, 0, from, BYTES));
    assert_ok(evn_copy_to_host(q, to, a, 0, BYTES));
    assert_ok(evn_queue_finish(q));
    assert_memory_equal(to, from, BYTES);

    /* pieces with odd ends: in, within, out */
    memcpy(expected, from, BYTES);
    assert_ok(evn_copy_buffer(q, b, 0, a, 0, BYTES));
    assert_ok(evn_copy_to_device(q, a, 17, from + 1001, 4099));
    assert_ok(evn_copy_buffer(q, b, 77777, a, 19, 1));
    assert_ok(evn_copy_buffer(q, b, 3, a, 18, 4097));
    assert_ok(evn_copy_buffer(q, b, 150001, b, 5, 70003)); /* in one buffer */
    assert_ok(evn_copy_to_host(q, to, b, 0, BYTES));
    assert_ok(evn_queue_finish(q));
    expected[77777] = from[1003];
    memcpy(expected + 3, from + 1002, 4097);
    memcpy(expected + 150001, expected + 5, 70003);
    assert_memory_equal(to, expected, BYTES);
    memset(to, 0, BYTES);
    assert_ok(evn_copy_to_host(q, to + 5, b, 4095, 33));
    assert_ok(evn_queue_finish(q));
    assert_memory_equal(to + 5, expected + 4095, 33);
    assert_int_equal(to[4], 0);
    assert_int_equal(to[38], 0);

    /* nothing */
    evn_counts before = evn_device_counts(d, NULL);
    assert_ok(evn_copy_to_device(q, a, 5, from, 0));
    assert_ok(evn_copy_to_device(q, a, BYTES, NULL, 0));
    assert_ok(evn_copy_to_host(q, NULL, a, BYTES, 0));
    assert_ok(evn_copy_buffer(q, a, 0, a, 0, 0));
    assert_ok(evn_queue_finish(q));
    evn_counts after = evn_device_counts(d, NULL);
    after.waits--; /* for the queue */
    assert_memory_equal(&before, &after, sizeof before);

    /* what is refused changes nothing */
    assert_fails(evn_copy_to_device(q, a, 1, from, BYTES), EVN_USAGE,
                 "are not inside of a buffer of 300007");
    assert_fails(evn_copy_to_host(q, to, a, BYTES + 1, 0), EVN_USAGE, "not inside");
    assert_fails(evn_copy_buffer(q, a, 0, b, BYTES - 1, 2), EVN_USAGE,
                 ": 2 bytes from byte 300006");
    assert_fails(evn_copy_buffer(q, a, BYTES - 1, b, 0, 2), EVN_USAGE,
                 "to: 2 bytes from byte 300006");
    assert_fails(evn_copy_buffer(q, a, 10, a, 5, 6), EVN_USAGE, "overlap");
    assert_fails(evn_copy_buffer(q, a, 5, a, 10, 6), EVN_USAGE, "overlap");
    assert_fails(device_poison(q, a, 1, BYTES), EVN_USAGE, "not inside");
    assert_ok(evn_copy_to_host(q, to, b, 0, BYTES));
    assert_ok(evn_queue_finish(q));
    assert_memory_equal(to, expected, BYTES);
    assert_ok(evn_copy_buffer(q, a, 10, a, 5, 5)); /* side by side is fine */
    assert_ok(device_poison(q, a, 3, 100));
    assert_ok(evn_queue_finish(q));
}

TEST(host_memory) {
    ENDS(close_bench) struct bench b;
    void *memory[3];
    open_bench(&b, spec, 0);
    for (int m = 0; m < 3; m++) {
        size_t bytes = (size_t[]){1, 4097, 1 << 20}[m];
        assert_ok(evn_host_memory_open(&memory[m], b.device, bytes));
        assert_int_equal((uintptr_t)memory[m] % 64, 0);
        memset(memory[m], 40 + m, bytes);
    }
    evn_buffer *x = buffer_of(&b, memory[2], 1 << 20);
    assert_ok(evn_copy_to_host(b.queue, memory[1], x, 12345, 4097));
    assert_ok(evn_queue_finish(b.queue));
    for (int i = 0; i < 4097; i++) assert_int_equal(((char *)memory[1])[i], 42);
    void *none;
    assert_fails(evn_host_memory_open(&none, b.device, 0), EVN_USAGE, "0 bytes");
    assert_null(none);
    for (int m = 0; m < 3; m++) evn_host_memory_close(memory[m], b.device);
    evn_host_memory_close(NULL, b.device);
    if (is_emulated()) { /* what is pinned twice is refused, as by CUDA */
        static char mine[3 << 12];
        assert_ok(evn_host_memory_register(b.device, mine + 100, 5000));
        assert_fails(evn_host_memory_register(b.device, mine + 5000, 1000), EVN_USAGE,
                     "registered already");
        assert_ok(evn_host_memory_register(b.device, mine + 5100, 1000));
        evn_host_memory_unregister(mine + 100, b.device);
        assert_ok(evn_host_memory_register(b.device, mine, 5100));
        evn_host_memory_unregister(mine, b.device);
        evn_host_memory_unregister(mine + 5100, b.device);
    }
}

/* Host memory that is closed while copies from it are queued: they end first. */
TEST(host_memory_in_use) {
    enum { BYTES = 32 << 20, COPIES = 4 };
    ENDS(close_bench) struct bench b;
    open_bench(&b, spec, 0);
    void *memory;
    assert_ok(evn_host_memory_open(&memory, b.device, BYTES));
    OWN(buffer) *to = OPEN(buffer, b.device, BYTES);
    memset(memory, 43, BYTES);
    for (int i = 0; i < COPIES; i++) assert_ok(evn_copy_to_device(b.queue, to, 0, memory, BYTES));
    evn_host_memory_close(memory, b.device);
    char last[4096] = {0};
    assert_ok(evn_copy_to_host(b.queue, last, to, BYTES - sizeof last, sizeof last));
    assert_ok(evn_queue_finish(b.queue));
    for (size_t i = 0; i < sizeof last; i++) assert_int_equal(last[i], 43);
}

/* From `from` to `to`, ordered by an event, and back. */
static void peers(const char *text, int one, int two) {
    struct bench a, b;
    enum { N = 50000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (int i = 0; i < N; i++) x[i] = some(i);
    open_bench(&a, text, one);
    open_bench(&b, text, two);
    evn_buffer *in_a = buffer_of(&a, x, N * sizeof *x), *in_b = buffer_of(&b, y, N * sizeof *x);
    evn_event *ready;
    double factor = 2;
    int n = N;
    ready = event_of(&a);
    evn_kernel *axpy = kernel_of(&a, "axpy");
    evn_buffer *copy = buffer_of(&a, x, N * sizeof *x);
    evn_argument arguments[] = {BUFFER(in_a), BUFFER(copy), VALUE(factor), VALUE(n)};
    assert_ok(evn_launch(a.queue, axpy, (N + GROUP - 1) / GROUP, 0, arguments, 4)); /* 3 x */
    assert_ok(evn_event_record(ready, a.queue));
    assert_ok(evn_queue_wait(b.queue, ready));
    evn_counts before = evn_device_counts(b.device, NULL);
    assert_ok(evn_copy_buffer(b.queue, in_b, 8, in_a, 16, (N - 2) * sizeof *x));
    assert_ok(evn_queue_finish(b.queue));
    evn_counts after = evn_device_counts(b.device, NULL);
    assert_int_equal(after.copies_peer - before.copies_peer, 1);
    assert_int_equal(after.bytes_peer - before.bytes_peer, (N - 2) * 8);
    assert_int_equal(after.copies_in, before.copies_in);
    read_back(&b, y, in_b, N * sizeof *x);
    for (int i = 0; i < N - 2; i++) assert_true(y[i + 1] == 3 * x[i + 2]);

    /* within one device it is a copy like others */
    before = evn_device_counts(b.device, NULL);
    assert_ok(evn_copy_buffer(b.queue, in_b, 0, in_b, 80, 80));
    assert_ok(evn_queue_finish(b.queue));
    assert_int_equal(evn_device_counts(b.device, NULL).copies_within - before.copies_within, 1);

    assert_fails(evn_copy_buffer(b.queue, in_b, 0, in_a, 8, N * sizeof *x), EVN_USAGE,
                 "not inside");
    close_bench(&a);
    close_bench(&b);
    free(x);
    free(y);
}

TEST(peers) {
    /* where there is only one device, it is opened twice */
    peers(spec, 0, devices > 1);
    peers("emulated:2", 1, 0);
    peers("emulated:3,peer=no", 0, 2);
    /* the source is not ready for long */
    peers("emulated:2,launch=20ms", 0, 1);
    peers("emulated:2,launch=20ms,peer=no", 0, 1);
}

/* Between two back ends: always by the host. */
TEST(peers_of_two_kinds) {
    struct bench a, b;
    open_bench(&a, spec, 0);
    open_bench(&b, "emulated:peer=no", 0);
    double x[100], y[100];
    for (int i = 0; i < 100; i++) x[i] = some(i);
    evn_buffer *in_a = buffer_of(&a, x, sizeof x), *in_b = buffer_of(&b, NULL, sizeof x);
    assert_ok(evn_copy_buffer(b.queue, in_b, 0, in_a, 0, sizeof x));
    assert_ok(evn_queue_finish(b.queue));
    assert_ok(device_poison(a.queue, in_a, 0, sizeof x));
    assert_ok(evn_copy_buffer(a.queue, in_a, 0, in_b, 0, sizeof x));
    read_back(&a, y, in_a, sizeof x);
    assert_memory_equal(x, y, sizeof x);
    close_bench(&a);
    close_bench(&b);
}

/* ---- kernels ---- */

TEST(build) {
    evn_program *p;
    evn_kernel *k;
    evn_device *d = OPEN(device, spec, 0);
    assert_ok(device_program_open(&p, d, &probe_kernels));
    for (const evn_kernel_entry *e = probe_kernels.entry; e->name; e++) {
        assert_ok(device_kernel_open(&k, p, e->name));
        assert_int_equal(k->entry->items, GROUP);
        device_kernel_close(k);
    }
    assert_fails(device_kernel_open(&k, p, "axp"), EVN_USAGE,
                 "no kernel \"axp\"; it has axpy, values");
    assert_null(k);
    /* a kernel keeps its program, and that the device */
    assert_ok(device_kernel_open(&k, p, "axpy"));
    device_program_close(p);
    evn_device_close(d);
    device_kernel_close(k);
}

/* Whether this device has no compiler, only kernels that come compiled. */
static int has_no_compiler(void) {
    OWN(device) *d = OPEN(device, spec, 0);
    const char *kernels = evn_device_traits(d)->kernels;
    const int none = *kernels && !strstr(kernels, "made for");
    return none;
}

/* A text that is no kernel: the compiler's message, and the device works on. */
TEST(build_failure) {
    if (is_emulated() || has_no_compiler()) skip(); /* nothing is compiled there */
    struct bench b;
    evn_program *p = (evn_program *)1;
    evn_kernel_source broken = probe_kernels;
    broken.name = "broken";
    broken.text = "int f(int a) { return a + no_such_name; }\n";
    open_bench(&b, spec, 0);
    assert_fails(device_program_open(&p, b.device, &broken), EVN_SYSTEM, "no_such_name");
    assert_says("building \"broken\"");
    assert_null(p);
    assert_ok(device_program_open(&p, b.device, &probe_kernels));
    device_program_close(p);
    close_bench(&b);
}

TEST(axpy) {
    ENDS(close_bench) struct bench b;
    enum { N = 1000 };
    double x[N], y[N], out[N], a = 1.1;
    int n = N - 1;
    for (int i = 0; i < N; i++) x[i] = some(i) / 3, y[i] = some(i + N) / 7;
    open_bench(&b, spec, 0);
    evn_buffer *in_x = buffer_of(&b, x, sizeof x), *in_y = buffer_of(&b, y, sizeof y);
    evn_argument arguments[] = {BUFFER(in_y), BUFFER(in_x), VALUE(a), VALUE(n)};
    assert_ok(run(b.queue, b.program, "axpy", (N + GROUP - 1) / GROUP, arguments, 4));
    read_back(&b, out, in_y, sizeof out);
    for (int i = 0; i < n; i++) {
        volatile double product = a * x[i];
        double plain = product + y[i], fused = fma(a, x[i], y[i]);
        assert_true(out[i] == plain || (probe_kernels.contract && out[i] == fused));
    }
    assert_true(out[n] == y[n]);
    /* the value is taken when it is launched, not when it runs */
    evn_kernel *k = kernel_of(&b, "axpy");
    assert_ok(evn_copy_to_device(b.queue, in_y, 0, y, sizeof y));
    a = 0;
    assert_ok(evn_launch(b.queue, k, (N + GROUP - 1) / GROUP, 0, arguments, 4));
    a = NAN;
    assert_ok(evn_queue_finish(b.queue));
    read_back(&b, out, in_y, sizeof out);
    assert_memory_equal(out, y, sizeof y);
}

TEST(values) {
    ENDS(close_bench) struct bench b;
    enum { N = 600 };
    double out[N], expected[N];
    evn_long large[2];
    struct probe_values v = {{1.5, -2, 0.25}, 7, 123456789012345678};
    struct probe_piece piece[2] = {{5, 150, 2}, {401, 99, 1}};
    int add = -3;
    evn_long wide = -(1LL << 40);
    for (int i = 0; i < N; i++) expected[i] = out[i] = -77;
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < piece[g].count; i++)
            expected[piece[g].first + i * piece[g].step] = v.factor[i % 3] * (i + v.shift + add);
    open_bench(&b, spec, 0);
    evn_buffer *to = buffer_of(&b, out, sizeof out), *to_large = buffer_of(&b, NULL, 16);
    evn_buffer *pieces = buffer_of(&b, piece, sizeof piece);
    evn_argument arguments[] = {BUFFER(to), BUFFER(to_large), BUFFER(pieces),
                                VALUE(v),   VALUE(add),       VALUE(wide)};
    assert_ok(run(b.queue, b.program, "values", 2, arguments, 6));
    read_back(&b, out, to, sizeof out);
    read_back(&b, large, to_large, sizeof large);
    assert_memory_equal(out, expected, sizeof out);
    assert_true(large[0] == v.large + wide && large[1] == v.large + 2 * wide);

    double sum = 0, one[1] = {3};
    int whole = 2;
    double half = 0.5;
    evn_buffer *result = buffer_of(&b, NULL, 8), *x = buffer_of(&b, one, 8);
    evn_argument all[24];
    all[0] = (evn_argument)BUFFER(result);
    for (int p = 1; p < 23; p++) {
        if (p % 2)
            all[p] = (evn_argument)VALUE(whole);
        else
            all[p] = (evn_argument)VALUE(half);
        sum += p * (p % 2 ? 2 : 0.5);
    }
    all[23] = (evn_argument)BUFFER(x);
    assert_ok(run(b.queue, b.program, "many", 1, all, 24));
    read_back(&b, one, result, 8);
    assert_true(one[0] == sum + 23 * 3);
}

/* What the kernel does, item by item. */
static void plain_reduce(double *sum, const double *x, int n, int groups) {
    static const double weight[] = {1, 0.5, 0.25, 0.125};
    for (int g = 0; g < groups; g++) {
        double part[GROUP];
        for (int i = 0; i < GROUP; i++) {
            double pair[2] = {0, 0};
            for (int at = g * GROUP + i, k = 0; at < n; at += groups * GROUP, k ^= 1)
                pair[k] += x[at] * weight[at & 3];
            part[i] = pair[0] + pair[1];
        }
        for (int reach = GROUP / 2; reach > 0; reach /= 2)
            for (int i = 0; i < reach; i++) part[i] += part[i + reach];
        sum[g] = part[0];
    }
}

static void reduce_on(const char *text) {
    ENDS(close_bench) struct bench b;
    enum { N = 40013, GROUPS = 37 };
    double *x = malloc(N * sizeof *x), sum[GROUPS], expected[GROUPS];
    int n = N;
    for (int i = 0; i < N; i++) x[i] = some(i) / 3;
    plain_reduce(expected, x, n, GROUPS);
    open_bench(&b, text, 0);
    evn_buffer *in = buffer_of(&b, x, N * sizeof *x), *out = buffer_of(&b, NULL, sizeof sum);
    evn_argument arguments[] = {BUFFER(out), BUFFER(in), VALUE(n)};
    for (int round = 0; round < 5; round++) {
        assert_ok(run(b.queue, b.program, "reduce", GROUPS, arguments, 3));
        read_back(&b, sum, out, sizeof sum);
        /* products are with powers of two, hence exact: fused or not is the same */
        assert_memory_equal(sum, expected, sizeof sum);
    }
    free(x);
}

TEST(reduce) {
    reduce_on(spec);
    reduce_on("emulated:cores=3");
}

TEST(functions) {
    ENDS(close_bench) struct bench b;
    enum { N = 50 };
    double x[N], out[3][8 * GROUP];
    int n = N;
    for (int i = 0; i < N; i++) x[i] = some(i) / 3;
    open_bench(&b, spec, 0);
    evn_buffer *in = buffer_of(&b, x, sizeof x), *to = buffer_of(&b, NULL, sizeof out[0]);
    evn_argument arguments[] = {BUFFER(to), BUFFER(in), VALUE(n)};
    assert_ok(run(b.queue, b.program, "functions", 1, arguments, 3));
    read_back(&b, out[0], to, sizeof out[0]);
    for (int i = 0; i < N; i++) {
        const double *o = out[0] + 8 * i;
        volatile double square = x[i] * x[i];
        assert_true(o[0] == sqrt(fabs(x[i])));
        assert_true(o[1] == fabs(x[i]));
        assert_true(o[2] == fma(x[i], x[i], -square));
        assert_true(o[3] == fmin(x[i], 1) && o[4] == fmax(x[i], 1));
        assert_true(o[5] == (i < 3 ? i : 3) + 10 * (i > 3 ? i : 3));
        assert_true(o[6] == (x[i] < 0 ? -1 : 1));
        assert_true(o[7] == 0 + 10 * 1 + 100 * GROUP);
    }
}

TEST(counters) {
    ENDS(close_bench) struct bench b;
    double x[GROUP] = {1}, a = 2;
    int n = GROUP;
    open_bench(&b, spec, 0);
    evn_buffer *in = buffer_of(&b, x, sizeof x), *other = buffer_of(&b, x, 24);
    evn_argument arguments[] = {BUFFER(in), BUFFER(other), VALUE(a), VALUE(n)};
    n = 3;
    assert_ok(run(b.queue, b.program, "axpy", 1, arguments, 4));
    assert_ok(run(b.queue, b.program, "axpy", 1, arguments, 4));
    assert_ok(evn_copy_buffer(b.queue, in, 0, other, 8, 16));
    read_back(&b, x, in, 40);
    evn_counts c = evn_device_counts(b.device, NULL);
    assert_true(c.launches == 2);
    assert_true(c.copies_in == 2 && c.bytes_in == sizeof x + 24);
    assert_true(c.copies_out == 1 && c.bytes_out == 40);
    assert_true(c.copies_within == 1 && c.bytes_within == 16);
    assert_true(c.copies_peer == 0 && c.bytes_peer == 0);
    assert_ok(evn_queue_finish(b.queue));
    assert_int_equal(evn_device_counts(b.device, &c).waits, 1);
}

/* ---- order ---- */

enum { GRIND = 20000, ROUNDS = 3000 };

/* A kernel that takes a while on one queue, a copy of its result on another. Returns the first
 * number copied. */
static double race(const char *text, int ordered) {
    ENDS(close_bench) struct bench b;
    evn_queue *second;
    evn_event *done;
    int n = GRIND, rounds = ROUNDS;
    double *x = calloc(GRIND, sizeof *x), first;
    open_bench(&b, text, 0);
    second = queue_of(&b);
    done = event_of(&b);
    evn_buffer *in = buffer_of(&b, x, GRIND * sizeof *x);
    evn_kernel *grind = kernel_of(&b, "grind");
    evn_argument arguments[] = {BUFFER(in), VALUE(n), VALUE(rounds)};
    assert_ok(evn_launch(b.queue, grind, (GRIND + GROUP - 1) / GROUP, 0, arguments, 3));
    assert_ok(evn_event_record(done, b.queue));
    if (ordered) assert_ok(evn_queue_wait(second, done));
    assert_ok(evn_copy_to_host(second, x, in, 0, GRIND * sizeof *x));
    assert_ok(evn_queue_finish(second));
    first = x[0];
    for (int i = 1; ordered && i < GRIND; i++) assert_true(x[i] == first);
    assert_ok(evn_queue_finish(b.queue));
    free(x);
    return first;
}

TEST(order_of_queues) {
    double end = 0;
    for (int r = 0; r < ROUNDS; r++) end = 0.5 * end + 1;
    for (int round = 0; round < 3; round++) assert_true(race(spec, 1) == end);
    assert_true(race("emulated:launch=50ms", 1) == end);
}

/* Without the event the copy comes first: so the test above would see it if order were not kept. */
TEST(order_would_be_missed) {
    if (THREAD_SANITIZER) skip(); /* it would rightly call that a race */
    int missed = 0;
    for (int round = 0; round < 10 && !missed; round++)
        missed = race("emulated:launch=50ms", 0) == 0;
    assert_true(missed);
}

/* Whoever has finished a queue has waited for what was running, too, not only for what was to come.
 */
TEST(finish) {
    ENDS(close_bench) struct bench b;
    evn_queue *second;
    int n = 1, rounds = 1;
    double x[1] = {0};
    open_bench(&b, "emulated:launch=50ms", 0);
    second = queue_of(&b);
    evn_buffer *in = buffer_of(&b, x, sizeof x);
    evn_kernel *grind = kernel_of(&b, "grind");
    evn_argument arguments[] = {BUFFER(in), VALUE(n), VALUE(rounds)};
    assert_ok(evn_launch(b.queue, grind, 1, 0, arguments, 3));
    usleep(20000); /* it has most likely begun */
    assert_ok(evn_queue_finish(b.queue));
    assert_ok(evn_copy_to_host(second, x, in, 0, sizeof x));
    assert_ok(evn_queue_finish(second));
    assert_true(x[0] == 1);
}

/* In one queue everything is in order, however much there is. */
TEST(order_of_one_queue) {
    ENDS(close_bench) struct bench b;
    enum { N = 200, TIMES = 300 };
    double x[N], y[TIMES];
    int n = N, rounds = 1;
    memset(x, 0, sizeof x);
    open_bench(&b, spec, 0);
    evn_buffer *in = buffer_of(&b, x, sizeof x);
    evn_kernel *grind = kernel_of(&b, "grind");
    evn_argument arguments[] = {BUFFER(in), VALUE(n), VALUE(rounds)};
    for (int t = 0; t < TIMES; t++) {
        if (t % 50 == 0) assert_ok(evn_copy_to_device(b.queue, in, 0, x, sizeof x));
        assert_ok(evn_launch(b.queue, grind, (N + GROUP - 1) / GROUP, 0, arguments, 3));
        assert_ok(evn_copy_to_host(b.queue, &y[t], in, (size_t)(t % N) * 8, 8));
    }
    assert_ok(evn_queue_finish(b.queue));
    double expected = 0;
    for (int t = 0; t < TIMES; t++) {
        if (t % 50 == 0) expected = 0;
        expected = 0.5 * expected + 1;
        assert_true(y[t] == expected);
    }
}

TEST(events) {
    ENDS(close_bench) struct bench b;
    evn_event *e[3];
    int n = GRIND, rounds = ROUNDS;
    double seconds = -1, part[2];
    open_bench(&b, spec, 0);
    evn_buffer *in = buffer_of(&b, NULL, GRIND * 8);
    for (int i = 0; i < 3; i++) assert_ok(evn_event_open(&e[i], b.device));
    int done = 1;
    assert_fails(evn_event_finish(e[0], &done), EVN_USAGE, "never recorded");
    assert_int_equal(done, 0);
    evn_kernel *grind = kernel_of(&b, "grind");
    evn_argument arguments[] = {BUFFER(in), VALUE(n), VALUE(rounds)};
    for (int round = 0; round < 2; round++) { /* the second time they are recorded again */
        for (int i = 0; i < 3; i++) {
            assert_ok(evn_event_record(e[i], b.queue));
            if (i < 2) assert_ok(evn_launch(b.queue, grind, GRIND / GROUP, 0, arguments, 3));
        }
        /* asking again and again is waiting, too; and then those before have happened */
        const evn_counts before = evn_device_counts(b.device, NULL);
        for (done = 0; !done;) assert_ok(evn_event_finish(e[2], &done));
        for (int i = 0; i < 3; i++) {
            assert_ok(evn_event_finish(e[i], &done));
            assert_int_equal(done, 1);
        }
        /* but the host has not stood still for it */
        assert_int_equal(evn_device_counts(b.device, &before).waits, 0);
        assert_ok(evn_event_finish(e[2], NULL));
        assert_ok(evn_event_seconds(e[0], e[1], &part[0]));
        assert_ok(evn_event_seconds(e[1], e[2], &part[1]));
        assert_ok(evn_event_seconds(e[0], e[2], &seconds));
        assert_true(part[0] > 0 && part[1] > 0);
        assert_true(fabs(part[0] + part[1] - seconds) < 1e-5 + 1e-3 * seconds);
    }
    /* an event that has been closed, or recorded again, still orders what waits for it */
    evn_queue *second = queue_of(&b);
    assert_ok(evn_launch(b.queue, grind, GRIND / GROUP, 0, arguments, 3));
    assert_ok(evn_event_record(e[0], b.queue));
    assert_ok(evn_queue_wait(second, e[0]));
    assert_ok(evn_event_record(e[0], b.queue));
    evn_event_close(e[0]);
    assert_ok(evn_queue_finish(second));
    assert_ok(evn_queue_finish(b.queue));
    evn_event_close(e[1]);
    evn_event_close(e[2]);
}

/* A queue of one device waits for an event of another. */
TEST(events_between_devices) {
    struct bench a, b, c;
    evn_event *done;
    int n = GRIND, rounds = ROUNDS;
    double *x = calloc(GRIND, sizeof *x), end = 0;
    open_bench(&a, spec, 0);
    open_bench(&b, spec, devices > 1);
    open_bench(&c, "emulated:clock=virtual", 0);
    evn_buffer *in_a = buffer_of(&a, x, GRIND * 8), *in_b = buffer_of(&b, x, GRIND * 8);
    done = event_of(&a);
    evn_kernel *grind = kernel_of(&a, "grind");
    evn_argument arguments[] = {BUFFER(in_a), VALUE(n), VALUE(rounds)};
    assert_ok(evn_launch(a.queue, grind, (GRIND + GROUP - 1) / GROUP, 0, arguments, 3));
    assert_ok(evn_event_record(done, a.queue));
    assert_ok(evn_queue_wait(b.queue, done));
    if (evn_device_traits(a.device)->peer && evn_device_traits(b.device)->peer) {
        assert_ok(evn_copy_buffer(b.queue, in_b, 0, in_a, 0, GRIND * 8));
        assert_ok(evn_copy_to_host(b.queue, x, in_b, 0, GRIND * 8));
        assert_ok(evn_queue_finish(b.queue));
        for (int r = 0; r < ROUNDS; r++) end = 0.5 * end + 1;
        for (int i = 0; i < GRIND; i++) assert_true(x[i] == end);
    }
    assert_ok(evn_queue_finish(b.queue));
    if (!is_emulated()) assert_fails(evn_queue_wait(c.queue, done), EVN_USAGE, "let the host wait");
    assert_ok(evn_queue_finish(a.queue));
    close_bench(&a);
    close_bench(&b);
    close_bench(&c);
    free(x);
}

/* Closed while work that needs it is queued, and the device before its objects. */
TEST(lifetimes) {
    struct bench b;
    enum { N = 100000 };
    HEAP double *x = malloc(N * sizeof *x), *y = calloc(N, sizeof *y);
    for (int i = 0; i < N; i++) x[i] = some(i);
    open_bench(&b, spec, 0);
    evn_queue *second = OPEN(queue, b.device);
    evn_event *e = OPEN(event, b.device);
    evn_buffer *in = OPEN(buffer, b.device, N * sizeof *x);
    evn_buffer *other = OPEN(buffer, b.device, N * sizeof *x);
    assert_ok(evn_copy_to_device(b.queue, in, 0, x, N * sizeof *x));
    assert_ok(evn_copy_buffer(b.queue, other, 0, in, 0, N * sizeof *x));
    evn_buffer_close(in);
    assert_ok(evn_event_record(e, b.queue));
    assert_ok(evn_queue_wait(second, e));
    evn_event_close(e);
    assert_ok(evn_copy_to_host(second, y, other, 0, N * sizeof *x));
    evn_buffer_close(other);
    assert_int_equal(evn_device_counts(b.device, NULL).used, 0);
    evn_device_close(b.device);
    device_program_close(b.program);
    evn_queue_close(b.queue);
    evn_queue_close(second); /* when its work is done */
    assert_memory_equal(x, y, N * sizeof *x);
}

/* ---- kernels kept by the device ---- */

enum { LAUNCHES = 400 };

struct getter {
    evn_device *device;
    evn_kernel *first;
    evn_status status;
    double sum;
};

/* y = y + x, so many times, each time with the kernel that the device has. */
static evn_status get_and_run(struct getter *g) {
    evn_queue *q;
    evn_buffer *y = NULL, *x = NULL;
    double a = 1, one[2 * GROUP], sum[2 * GROUP] = {0};
    int n = 2 * GROUP;
    for (int i = 0; i < n; i++) one[i] = 1;
    evn_status status = evn_queue_open(&q, g->device);
    if (status) return status;
    status = evn_buffer_open(&y, g->device, sizeof sum);
    if (!status) status = evn_buffer_open(&x, g->device, sizeof one);
    if (!status) status = evn_copy_to_device(q, y, 0, sum, sizeof sum);
    if (!status) status = evn_copy_to_device(q, x, 0, one, sizeof one);
    for (int i = 0; !status && i < LAUNCHES; i++) {
        evn_kernel *k;
        status = evn_kernel_get(g->device, &probe_kernels, "axpy", &k);
        if (status) break;
        if (!g->first) g->first = k;
        if (k != g->first) return evn_fail(EVN_BODY, "another kernel");
        evn_argument arguments[] = {BUFFER(y), BUFFER(x), VALUE(a), VALUE(n)};
        status = evn_launch(q, k, 2, 0, arguments, 4);
    }
    if (!status) status = evn_copy_to_host(q, sum, y, 0, sizeof sum);
    evn_status finished = evn_queue_finish(q);
    for (int i = 0; i < n; i++) g->sum += sum[i];
    evn_buffer_close(y);
    evn_buffer_close(x);
    evn_queue_close(q);
    return status ? status : finished;
}

static void *get_in_thread(void *p) {
    struct getter *g = p;
    g->status = get_and_run(g);
    return NULL;
}

TEST(kept_kernels) {
    evn_kernel *reduce, *axpy, *again, *wrong = (evn_kernel *)1;
    evn_device *d = OPEN(device, spec, 0);
    assert_fails(evn_kernel_get(d, &probe_kernels, "axpi", &wrong), EVN_USAGE,
                 "no kernel \"axpi\"");
    assert_null(wrong);
    assert_says("axpy, values");
    assert_ok(evn_kernel_get(d, &probe_kernels, "reduce", &reduce));
    struct getter g[4] = {{.device = d}, {.device = d}, {.device = d}, {.device = d}};
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, get_in_thread, &g[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    assert_ok(evn_kernel_get(d, &probe_kernels, "axpy", &axpy));
    char name[] = "axpy"; /* the name counts, not where it stands */
    assert_ok(evn_kernel_get(d, &probe_kernels, name, &again));
    assert_ptr_equal(axpy, again);
    assert_ptr_not_equal(axpy, reduce);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(g[i].status, EVN_OK);
        assert_ptr_equal(g[i].first, axpy);
        assert_true(g[i].sum == (double)LAUNCHES * 2 * GROUP);
    }
    /* a source of the same text is another one */
    evn_kernel_source copy = probe_kernels;
    assert_ok(evn_kernel_get(d, &copy, "axpy", &again));
    assert_ptr_not_equal(axpy, again);
    evn_device_close(d); /* and all that it has kept: the sanitizers look */
}

/* The device may be closed before what is open on it, and then closes with the last of that. */
TEST(kept_kernels_at_the_end) {
    struct bench b;
    evn_kernel *k;
    double x[GROUP] = {0}, a = 2;
    int n = GROUP;
    for (int i = 0; i < n; i++) x[i] = i;
    open_bench(&b, spec, 0);
    assert_ok(evn_kernel_get(b.device, &probe_kernels, "axpy", &k));
    evn_buffer *y = buffer_of(&b, x, sizeof x), *in = buffer_of(&b, x, sizeof x);
    evn_device_close(b.device);
    evn_argument arguments[] = {BUFFER(y), BUFFER(in), VALUE(a), VALUE(n)};
    assert_ok(evn_launch(b.queue, k, 1, 0, arguments, 4));
    read_back(&b, x, y, sizeof x);
    assert_true(x[GROUP - 1] == 3.0 * (GROUP - 1));
    evn_buffer_close(y);
    evn_buffer_close(in);
    device_program_close(b.program);
    evn_queue_close(b.queue);
}

static int threads_of_process(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *e; (e = readdir(tasks));) count += e->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Opens a device of two threads more and gives it kernels; 1: all of its threads ended with it. A
 * thread that was joined is still counted for a moment, so other numbers are no fault yet. */
static int ends_with_its_kernels(void) {
    evn_kernel *k;
    const int before = threads_of_process();
    evn_device *d = OPEN(device, "emulated:cores=3", 0);
    const int open = threads_of_process();
    assert_ok(evn_kernel_get(d, &probe_kernels, "axpy", &k));
    assert_ok(evn_kernel_get(d, &probe_kernels, "reduce", &k));
    evn_device_close(d);
    return open == before + 2 && threads_of_process() == before;
}

/* And kernels do not keep it open. */
TEST(kept_kernels_do_not_keep) {
    int tries = 0;
    while (!ends_with_its_kernels() && ++tries < 100) usleep(10000);
    assert_true(tries < 100);
}

/* What is only read is known. */
TEST(parameters) {
    const evn_kernel_entry *axpy = probe_kernels.entry;
    while (strcmp(axpy->name, "axpy")) axpy++;
    const int expected[] = {EVN_PARAMETER_BUFFER, EVN_PARAMETER_IN, sizeof(double), sizeof(int),
                            EVN_PARAMETERS_END};
    for (int i = 0; i < COUNT(expected); i++) assert_int_equal(axpy->parameter[i], expected[i]);
}

/* ---- how many devices ---- */

/* What leaves the number open gives as many as are wanted. */
TEST(any_number) {
    static const struct {
        const char *text;
        int wanted, count;
    } cases[] = {
        {"emulated", 5, 5},       {"emulated:speed=0.5", 3, 3},  {"emulated:2", 5, 2},
        {"emulated:2", 1, 2},     {"emulated+emulated:2", 5, 3}, {"emulated", 0, 1},
        {"emulated", 1024, 1024},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const char *text = cases[i].text;
        char own[256], why[256];
        int count, again;
        assert_ok(devices_count_for(&text, own, cases[i].wanted, &count, why, sizeof why));
        assert_int_equal(count, cases[i].count);
        assert_ok(evn_devices_count(text, &again, why, sizeof why));
        assert_int_equal(again, count);
    }
    const char *text = "emulated";
    char own[256], why[256];
    int count;
    assert_fails(devices_count_for(&text, own, 1025, &count, why, sizeof why), EVN_USAGE,
                 "1 to 1024");
    assert_string_equal(devices_any_number(), "emulated");
}

/* In a process that is forked later all is refused and nothing waits. */
static void *open_in_child(void *p) {
    ENDS(close_bench) struct bench b;
    double x = 4;
    (void)p;
    open_bench(&b, "emulated", 0);
    evn_buffer *y = buffer_of(&b, &x, sizeof x);
    read_back(&b, &x, y, sizeof x);
    return NULL;
}

TEST(fork) {
    if (THREAD_SANITIZER) skip(); /* it allows no threads in a child */
    ENDS(close_bench) struct bench b;
    evn_event *e;
    double x[10] = {1};
    void *host;
    open_bench(&b, "emulated", 0);
    e = event_of(&b);
    assert_ok(evn_event_record(e, b.queue));
    assert_ok(evn_host_memory_open(&host, b.device, 100));
    evn_buffer *y = buffer_of(&b, x, sizeof x);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        evn_device *d = b.device;
        evn_queue *q;
        int bad = 0;
        alarm(120);
        bad |= evn_copy_to_host(b.queue, x, y, 0, 8) != EVN_USAGE;
        bad |= !strstr(evn_message(), "forked");
        bad |= evn_queue_finish(b.queue) != EVN_USAGE;
        bad |= evn_event_finish(e, NULL) != EVN_USAGE;
        bad |= evn_event_finish(e, &(int){0}) != EVN_USAGE;
        bad |= evn_queue_open(&q, d) != EVN_USAGE;
        evn_host_memory_close(host, d);
        close_bench(&b);
        open_in_child(NULL);
        _exit(bad);
    }
    assert_ends_well(child);
    read_back(&b, x, y, sizeof x);
    assert_true(x[0] == 1);
    evn_host_memory_close(host, b.device);
}

/* ---- the cache ---- */

/* The one file in the folder: its inode, so that a second one in its place is seen; 0 if there is
 * none. */
static ino_t cached_file(const char *in, char *name, size_t size) {
    DIR *dir = opendir(in);
    struct stat about = {0};
    int files = 0;
    if (!dir) return 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.') continue;
        snprintf(name, size, "%s/%s", in, e->d_name);
        assert_int_equal(stat(name, &about), 0);
        files++;
    }
    closedir(dir);
    assert_true(files <= 1);
    return files ? about.st_ino : 0;
}

static void empty(const char *in) {
    char name[512];
    if (cached_file(in, name, sizeof name)) unlink(name);
    rmdir(in);
}

/* Changes one byte. */
static void damage(const char *name, long at, int whence) {
    FILE *f = fopen(name, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, whence), 0);
    int c = fgetc(f);
    fseek(f, -1, SEEK_CUR);
    fputc(c ^ 1, f);
    assert_int_equal(fclose(f), 0);
}

TEST(cache) {
    char in[200], name[512];
    const char *const parts[][3] = {
        {"ab", "c", ""}, {"a", "bc", ""}, {"abc", "", ""}, {"ab", "", "c"}};
    snprintf(in, sizeof in, "%s/x/y", scratch);
    setenv("EVENER_CACHE", in, 1);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            struct cache_key ka = cache_key(parts[a], 3), kb = cache_key(parts[b], 3);
            assert_int_equal(!memcmp(&ka, &kb, sizeof ka), a == b);
        }
    struct cache_key key = cache_key(parts[0], 3), other = cache_key(parts[1], 3);
    char data[10000];
    void *got = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (char)(i * i >> 3);
    assert_int_equal(cache_read(key, &got, &size), 0);
    cache_write(key, data, 0); /* nothing to keep */
    assert_int_equal(cached_file(in, name, sizeof name), 0);
    cache_write(key, data, sizeof data);
    assert_int_equal(cache_read(other, &got, &size), 0);
    assert_int_equal(cache_read(key, &got, &size), 1);
    assert_int_equal(size, sizeof data);
    assert_memory_equal(got, data, size);
    free(got);
    assert_true(cached_file(in, name, sizeof name) != 0); /* and nothing lies beside it */
    /* every byte counts: of the header, of the data; and so does the length */
    struct stat about;
    stat(name, &about);
    for (long at = 0; at < about.st_size; at += at < 100 ? 1 : 97) {
        damage(name, at, SEEK_SET);
        assert_int_equal(cache_read(key, &got, &size), 0);
        damage(name, at, SEEK_SET);
    }
    assert_int_equal(cache_read(key, &got, &size), 1);
    free(got);
    assert_int_equal(truncate(name, about.st_size - 1), 0);
    assert_int_equal(cache_read(key, &got, &size), 0);
    assert_int_equal(truncate(name, 5), 0);
    assert_int_equal(cache_read(key, &got, &size), 0);
    assert_int_equal(truncate(name, 0), 0);
    assert_int_equal(cache_read(key, &got, &size), 0);
    cache_write(key, data, 3);
    assert_int_equal(cache_read(key, &got, &size), 1);
    assert_int_equal(size, 3);
    free(got);
    /* another key's file under this name is not taken */
    char taken[512];
    snprintf(taken, sizeof taken, "%s", name);
    unlink(name);
    cache_write(other, data, 100);
    assert_true(cached_file(in, name, sizeof name) != 0);
    assert_int_equal(rename(name, taken), 0);
    assert_int_equal(cache_read(other, &got, &size), 0);
    assert_int_equal(cache_read(key, &got, &size), 0);
    empty(in);
    /* no place to write: no error, and nothing found */
    setenv("EVENER_CACHE", "/proc/no/such/place", 1);
    cache_write(key, data, sizeof data);
    assert_int_equal(cache_read(key, &got, &size), 0);
    setenv("EVENER_CACHE", "", 1);
    cache_write(key, data, sizeof data);
    assert_int_equal(cache_read(key, &got, &size), 0);
    /* where it is if nothing is said */
    char place[200];
    char *home = getenv("HOME"), keep[512];
    snprintf(keep, sizeof keep, "%s", home ? home : "");
    unsetenv("EVENER_CACHE");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", scratch, 1);
    cache_write(key, data, 8);
    snprintf(place, sizeof place, "%s/.cache/evener", scratch);
    assert_true(cached_file(place, name, sizeof name) != 0);
    empty(place);
    snprintf(in, sizeof in, "%s/xdg", scratch);
    setenv("XDG_CACHE_HOME", in, 1);
    cache_write(key, data, 8);
    snprintf(place, sizeof place, "%s/xdg/evener", scratch);
    assert_true(cached_file(place, name, sizeof name) != 0);
    empty(place);
    unsetenv("XDG_CACHE_HOME");
    if (*keep) setenv("HOME", keep, 1);
    setenv("EVENER_CACHE", scratch, 1);
}

static int mode_of(const char *name) {
    struct stat about;
    return stat(name, &about) ? -1 : (int)(about.st_mode & 0777);
}

/* Whether what is written is found again, in the folder `in`. */
static int is_kept(const char *in) {
    const char *const part = in;
    const struct cache_key key = cache_key(&part, 1);
    HEAP void *got = NULL;
    size_t size;
    cache_write(key, "kernel", 6);
    const int found = cache_read(key, &got, &size);
    return found;
}

/* The folder is its user's alone: one that others can write, or that is somebody else's, is not
 * used, which is said once; nor are files that others can write. Files obey the umask. */
/* What lies under a key's name and is no file is not followed, not waited for, and replaced. */
TEST(cache_is_a_file) {
    char in[200], name[512], aside[520];
    const char *const part = "a file";
    const struct cache_key key = cache_key(&part, 1);
    void *got = NULL;
    size_t size = 0;
    snprintf(in, sizeof in, "%s/file/cache", scratch);
    setenv("EVENER_CACHE", in, 1);
    cache_write(key, "kernel", 6);
    assert_true(cached_file(in, name, sizeof name) != 0);
    snprintf(aside, sizeof aside, "%s/../aside", in);
    assert_int_equal(rename(name, aside), 0);
    assert_int_equal(symlink(aside, name), 0); /* to what is right */
    assert_int_equal(cache_read(key, &got, &size), 0);
    cache_write(key, "other", 5);
    assert_int_equal(cache_read(key, &got, &size), 1);
    assert_int_equal(size, 5);
    free(got);
    struct stat about;
    assert_true(!lstat(name, &about) && S_ISREG(about.st_mode));
    assert_true(!stat(aside, &about) && about.st_size == 56 + 6); /* header and data */
    unlink(name);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(cache_read(key, &got, &size), 0);
    cache_write(key, "kernel", 6);
    assert_int_equal(cache_read(key, &got, &size), 1);
    free(got);
    unlink(name);
    assert_int_equal(mkdir(name, 0700), 0);
    assert_int_equal(cache_read(key, &got, &size), 0);
    cache_write(key, "kernel", 6); /* a folder stays, and nothing is left beside it */
    assert_int_equal(cache_read(key, &got, &size), 0);
    assert_int_equal(rmdir(name), 0);
    unlink(aside);
    assert_int_equal(rmdir(in), 0);
    setenv("EVENER_CACHE", scratch, 1);
}

TEST(cache_is_ours) {
    char in[200], name[512], said[1000] = "";
    snprintf(in, sizeof in, "%s/ours/cache", scratch);
    setenv("EVENER_CACHE", in, 1);
    const mode_t before = umask(077);
    assert_int_equal(is_kept(in), 1);
    assert_int_equal(mode_of(in), 0700);
    assert_true(cached_file(in, name, sizeof name) != 0);
    assert_int_equal(mode_of(name), 0600);
    unlink(name);
    umask(002);
    assert_int_equal(is_kept(in), 1);
    assert_true(cached_file(in, name, sizeof name) != 0);
    assert_int_equal(mode_of(name), 0644);
    umask(before);
    const char *const part = in;
    void *got = NULL;
    size_t size;
    chmod(name, 0666);
    assert_int_equal(cache_read(cache_key(&part, 1), &got, &size), 0);
    chmod(name, 0644);
    FILE *told = tmpfile();
    const int error = dup(STDERR_FILENO);
    assert_true(told && error >= 0 && dup2(fileno(told), STDERR_FILENO) >= 0);
    const mode_t open_to_others[] = {0777, 0720, 0702, 01777};
    int used = 0;
    for (int i = 0; i < 4; i++) {
        chmod(in, open_to_others[i]);
        used += is_kept(in);
    }
    chmod(in, 0755);
    const int readable = is_kept(in);
    int foreign = 0;
    if (!geteuid()) {
        assert_int_equal(chown(in, 12345, (gid_t)-1), 0);
        foreign = is_kept(in);
        assert_int_equal(chown(in, 0, (gid_t)-1), 0);
    }
    dup2(error, STDERR_FILENO);
    close(error);
    rewind(told);
    const size_t length = fread(said, 1, sizeof said - 1, told);
    fclose(told);
    assert_int_equal(used + foreign, 0);
    assert_int_equal(readable, 1);
    assert_true(length > 0 && strchr(said, '\n') == said + length - 1); /* one line */
    assert_non_null(strstr(said, "only you can write"));
    empty(in);
    setenv("EVENER_CACHE", scratch, 1);
}

/* XDG_CACHE_HOME and HOME count where they are told from the root on. */
TEST(cache_is_not_relative) {
    const char *was = getenv("HOME");
    char home[512], here[1024], name[1200];
    snprintf(home, sizeof home, "%s", was ? was : "");
    assert_true(getcwd(here, sizeof here) && !chdir(scratch));
    unsetenv("EVENER_CACHE");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "also/relative", 1);
    assert_int_equal(is_kept("none"), 0);
    assert_int_equal(mode_of("relative"), -1);
    assert_int_equal(mode_of("also"), -1);
    setenv("HOME", scratch, 1);
    assert_int_equal(is_kept("home"), 1);
    assert_int_equal(mode_of("relative"), -1);
    snprintf(name, sizeof name, "%s/.cache/evener", scratch);
    empty(name);
    assert_int_equal(chdir(here), 0);
    unsetenv("XDG_CACHE_HOME");
    if (*home) setenv("HOME", home, 1);
    setenv("EVENER_CACHE", scratch, 1);
}

/* Built, found, found damaged, built again. */
TEST(cached_programs) {
    if (is_emulated() || has_no_compiler()) skip(); /* nothing is compiled there */
    char in[200], name[512];
    setenv("EVENER_KERNELS", "", 1); /* what came compiled would be taken first */
    snprintf(in, sizeof in, "%s/programs", scratch);
    setenv("EVENER_CACHE", in, 1);
    struct bench b;
    open_bench(&b, spec, 0);
    ino_t first = cached_file(in, name, sizeof name);
    assert_true(first != 0);
    close_bench(&b);
    /* a link keeps the file, so that no other gets its number */
    char kept[600];
    snprintf(kept, sizeof kept, "%s/kept", scratch);
    assert_int_equal(link(name, kept), 0);
    open_bench(&b, spec, 0);
    assert_true(cached_file(in, name, sizeof name) == first); /* a hit writes nothing */
    double x[GROUP] = {1}, a = 2;
    int n = GROUP;
    evn_buffer *to = buffer_of(&b, x, sizeof x), *from = buffer_of(&b, x, sizeof x);
    evn_argument arguments[] = {BUFFER(to), BUFFER(from), VALUE(a), VALUE(n)};
    assert_ok(run(b.queue, b.program, "axpy", 1, arguments, 4));
    read_back(&b, x, to, sizeof x);
    assert_true(x[0] == 3); /* and what it gives works */
    close_bench(&b);
    damage(name, -100, SEEK_END);
    open_bench(&b, spec, 0);
    assert_true(cached_file(in, name, sizeof name) != first); /* built and written again */
    close_bench(&b);
    unlink(kept);
    /* a file that is whole, but holds something else than this back end's compiler has made */
    struct stat about;
    assert_int_equal(stat(name, &about), 0);
    /* its name is its key */
    struct cache_key key;
    const char *hex = strrchr(name, '/') + 1;
    for (int i = 0; i < 16; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        key.byte[i] = (unsigned char)byte;
    }
    cache_write(key, "no program at all", 17);
    open_bench(&b, spec, 0);
    close_bench(&b);
    empty(in);
    setenv("EVENER_CACHE", "/proc/no/such/place", 1);
    open_bench(&b, spec, 0);
    close_bench(&b);
    setenv("EVENER_CACHE", scratch, 1);
}

/* ---- the emulated device: what only it has ---- */

TEST(options) {
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"emulated:0", "from 1 to 1024"},
        {"emulated:1025", "from 1 to 1024"},
        {"emulated:x", "unknown option \"x\""},
        {"emulated:2x", "from 1 to 1024"},
        {"emulated:2,", "empty"},
        {"emulated:2,3", "unknown option \"3\""},
        {"emulated:speed=0", "speed=0: this is too small"},
        {"emulated:speed=-1", "speed=-1: this is too small"},
        {"emulated:speed=nan", "speed=nan: this is not finite"},
        {"emulated:speed=0x2,clock=virtual", "speed=0x2: this has"},
        {"emulated:speed=2", "needs clock=virtual"},
        {"emulated:speed=1e99,clock=virtual", "speed=1e99"},
        {"emulated:speed", "speed=: this is empty"},
        {"emulated:link=8", "GB/s"},
        {"emulated:link=8GB", "GB/s"},
        {"emulated:link=0GB/s", "link=0GB/s: this is too small"},
        {"emulated:latency=5", "us, ms, s"},
        {"emulated:latency=60s", "from 0 to 10"},
        {"emulated:memory=1MiBs", "MiB"},
        {"emulated:memory=", "memory=: this is empty"},
        {"emulated:peer=maybe", "no or yes"},
        {"emulated:clock=wall", "real or virtual"},
        {"emulated:cores=0", "cores must be"},
        {"emulated:item=1ns", "virtual clock"},
        {"emulated:item.axpy=1ns", "virtual clock"},
        {"emulated:clock=virtual,item.=1ns", "kernels by name"},
        {"emulated:fail=disk", "alloc, copy, kernel or lost"},
        {"emulated:fail=copy@0", "from 1"},
        {"emulated:fail=copy@", "from 1"},
        {"emulated:fail=copy@2x", "from 1"},
        {"emulated:fail=", "alloc"},
        {"emulated:2,fail=copy,bad=2", "no device 2"},
        {"emulated:colour=red", "unknown option \"colour\""},
    };
    int count;
    char why[200];
    for (int i = 0; i < COUNT(bad); i++)
        assert_fails(evn_devices_count(bad[i].text, &count, why, sizeof why), EVN_USAGE,
                     bad[i].part);
    assert_ok(evn_devices_count(
        "emulated:7,clock=virtual,speed=2.5,link=12.5GB/s,latency=0us,launch=3us,item="
        "0.5ns,memory=64MiB,peer=no,cores=2,fail=lost@3,bad=0",
        &count, why, sizeof why));
    assert_int_equal(count, 7);
}

/* Devices of several specifications, in order, each with its own options. */
TEST(emulated_list) {
    static const char text[] = "emulated:2,memory=3MB+emulated:1,memory=2MB,fail=alloc@1,bad=0";
    static const size_t memory[] = {3000000, 3000000, 2000000};
    evn_device *d;
    evn_buffer *b;
    int count;
    char why[200];
    assert_ok(evn_devices_count(text, &count, why, sizeof why));
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) {
        assert_ok(evn_device_open(&d, text, i));
        assert_true(evn_device_traits(d)->memory == memory[i]);
        if (i < 2)
            assert_ok(evn_buffer_open(&b, d, 100));
        else
            assert_fails(evn_buffer_open(&b, d, 100), EVN_MEMORY, "emulated device 2");
        evn_buffer_close(b);
        evn_device_close(d);
    }
    assert_fails(evn_device_open(&d, text, 3), EVN_USAGE, "has no device 3; it gives 3");
}

/* What has not been written is NaN. */
TEST(poison) {
    ENDS(close_bench) struct bench b;
    double x[64];
    int whole[128];
    open_bench(&b, "emulated", 0);
    evn_buffer *in = buffer_of(&b, NULL, sizeof x);
    read_back(&b, x, in, sizeof x);
    for (int i = 0; i < 64; i++) assert_true(isnan(x[i]));
    memset(x, 0, sizeof x);
    assert_ok(evn_copy_to_device(b.queue, in, 0, x, sizeof x));
    assert_ok(device_poison(b.queue, in, 8 * 10 + 3, 8 * 20));
    read_back(&b, x, in, sizeof x);
    for (int i = 0; i < 64; i++) assert_int_equal(isnan(x[i]) != 0, i >= 10 && i < 30);
    assert_ok(device_poison(b.queue, in, 0, sizeof x));
    read_back(&b, whole, in, sizeof x);
    for (int i = 0; i < 128; i++) assert_true(whole[i] > 1 << 30); /* no index at all */
}

/* Whether a child that runs `task` is killed by a fault of memory. */
static int faults(void (*task)(void *), void *with) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGSEGV, SIG_DFL); /* cmocka and sanitizers have their own */
        signal(SIGBUS, SIG_DFL);
        alarm(120);
        task(with);
        _exit(0);
    }
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

__attribute__((no_sanitize("address", "thread"))) static void stray_read(void *p) {
    double value = *(volatile double *)p;
    (void)value;
}
__attribute__((no_sanitize("address", "thread"))) static void stray_write(void *p) {
    *(volatile double *)p = 1;
}

TEST(stray_access) {
    ENDS(close_bench) struct bench b;
    evn_long where = 0;
    double x[1000] = {5}, own = 3;
    open_bench(&b, "emulated", 0);
    evn_buffer *in = buffer_of(&b, x, sizeof x), *out = buffer_of(&b, NULL, 8);
    evn_argument arguments[] = {BUFFER(out), BUFFER(in)};
    assert_ok(run(b.queue, b.program, "address", 1, arguments, 2));
    read_back(&b, &where, out, 8);
    double *memory = (double *)(uintptr_t)where;
    assert_int_equal((uintptr_t)memory % 256, 0);
    for (int round = 0; round < 2; round++) {
        assert_false(faults(stray_read, &own)); /* the child dies of nothing else */
        assert_true(faults(stray_read, memory));
        assert_true(faults(stray_read, memory + 999));
        assert_true(faults(stray_write, memory));
        /* after it was used again, too; and an event that has happened is enough */
        OWN(event) *e = OPEN(event, b.device);
        assert_ok(evn_copy_to_host(b.queue, x, in, 0, sizeof x));
        assert_ok(evn_event_record(e, b.queue));
        assert_ok(evn_event_finish(e, NULL));
        assert_true(faults(stray_read, memory));
        assert_ok(evn_queue_finish(b.queue));
    }
    assert_true(x[0] == 5);
}

/* A kernel that writes to one place of a buffer. */
struct reach {
    size_t bytes;
    evn_long at; /* doubles */
};

static void overrun(void *p) {
    const struct reach *r = p;
    struct bench b;
    double value = 1;
    open_bench(&b, "emulated", 0);
    evn_buffer *in = buffer_of(&b, NULL, r->bytes);
    evn_argument arguments[] = {BUFFER(in), VALUE(r->at), VALUE(value)};
    if (run(b.queue, b.program, "poke", 1, arguments, 3)) _exit(3);
}

TEST(overrun) {
    if (THREAD_SANITIZER) skip(); /* it allows no threads in a child */
    assert_false(faults(overrun, &(struct reach){768, 95}));
    assert_true(faults(overrun, &(struct reach){768, 96}));
    assert_false(faults(overrun, &(struct reach){8192, 0}));
    assert_true(faults(overrun, &(struct reach){8192, -1}));
    assert_true(faults(overrun, &(struct reach){8192, 1024}));
}

/* What fails, and where it is noticed. */
TEST(failures) {
    struct bench b, healthy;
    evn_buffer *in, *other;
    double x[GROUP] = {1}, a = 2;
    int n = GROUP;
    evn_program *program;
    evn_queue *q;

    /* an allocation: nothing else is hurt */
    open_bench(&b, "emulated:fail=alloc@2", 0);
    assert_ok(evn_buffer_open(&in, b.device, 100));
    assert_fails(evn_buffer_open(&other, b.device, 100), EVN_MEMORY,
                 "emulated device 0: allocation of 100 bytes: fails on purpose (fail=alloc@2)");
    assert_int_equal(evn_device_counts(b.device, NULL).used, 100);
    assert_ok(evn_buffer_open(&other, b.device, 100));
    evn_buffer_close(in);
    evn_buffer_close(other);
    close_bench(&b);

    /* the third copy, on the second device only */
    open_bench(&b, "emulated:2,fail=copy@3", 1);
    open_bench(&healthy, "emulated:2,fail=copy@3", 0);
    in = buffer_of(&b, x, sizeof x);
    x[0] = 0;
    read_back(&b, x, in, sizeof x);
    assert_true(x[0] == 1);
    x[0] = -1;
    assert_ok(
        evn_copy_to_host(b.queue, x, in, 0, sizeof x)); /* asynchronous: noticed when waited for */
    assert_fails(
        evn_queue_finish(b.queue), EVN_DEVICE,
        "emulated device 1: waiting for a queue: copy of 512 bytes to the host: fails on purpose "
        "(fail=copy@3)");
    assert_true(x[0] == -1); /* untouched */
    /* from then on nothing is done, and it is said why */
    assert_fails(
        evn_copy_to_host(b.queue, x, in, 0, 8), EVN_DEVICE,
        "emulated device 1: copy to the host: the device failed before, at waiting for a queue: "
        "copy of 512 bytes");
    assert_fails(evn_copy_to_device(b.queue, in, 0, x, 8), EVN_DEVICE, "failed before");
    assert_fails(evn_copy_buffer(b.queue, in, 0, in, 8, 8), EVN_DEVICE, "failed before");
    assert_fails(evn_buffer_open(&other, b.device, 8), EVN_DEVICE, "failed before");
    assert_fails(evn_queue_open(&q, b.device), EVN_DEVICE, "failed before");
    assert_fails(device_program_open(&program, b.device, &probe_kernels), EVN_DEVICE,
                 "failed before");
    assert_fails(evn_queue_finish(b.queue), EVN_DEVICE, "fails on purpose");
    evn_buffer *there = buffer_of(&healthy, x, sizeof x);
    assert_fails(evn_copy_buffer(healthy.queue, there, 0, in, 0, 8), EVN_DEVICE,
                 "emulated device 1");
    for (int i = 0; i < 5; i++) read_back(&healthy, x, there, sizeof x);
    close_bench(&b);
    close_bench(&healthy);

    /* a kernel; what comes after it in the queue is not done, and events still happen */
    open_bench(&b, "emulated:fail=kernel@2", 0);
    x[0] = 1;
    in = buffer_of(&b, x, sizeof x);
    other = buffer_of(&b, x, sizeof x);
    evn_argument arguments[] = {BUFFER(in), BUFFER(other), VALUE(a), VALUE(n)};
    evn_kernel *axpy;
    evn_event *e = event_of(&b);
    axpy = kernel_of(&b, "axpy");
    assert_ok(run(b.queue, b.program, "axpy", 1, arguments, 4));
    assert_ok(evn_launch(b.queue, axpy, 1, 0, arguments, 4));
    assert_ok(evn_copy_to_host(b.queue, x, in, 0, sizeof x));
    assert_ok(evn_event_record(e, b.queue));
    int done = 0;
    evn_status failed = EVN_OK;
    while (!done) failed = evn_event_finish(e, &done);
    assert_fails(failed, EVN_DEVICE,
                 "launch of \"axpy\" with 1 groups: fails on purpose (fail=kernel@2)");
    assert_fails(evn_event_finish(e, NULL), EVN_DEVICE,
                 "launch of \"axpy\" with 1 groups: fails on purpose (fail=kernel@2)");
    assert_fails(evn_launch(b.queue, axpy, 1, 0, arguments, 4), EVN_DEVICE, "failed before");
    double seconds;
    assert_fails(evn_event_seconds(e, e, &seconds), EVN_DEVICE, "failed before");
    assert_fails(evn_event_record(e, b.queue), EVN_DEVICE, "failed before");
    assert_fails(evn_queue_wait(b.queue, e), EVN_DEVICE, "failed before");
    assert_true(x[0] == 1);
    close_bench(&b);

    /* lost at the n-th operation, whichever it is: 1 allocation, 2 copy, 3 launch */
    for (int at = 1; at <= 4; at++) {
        char text[64];
        snprintf(text, sizeof text, "emulated:fail=lost@%d", at);
        open_bench(&b, text, 0);
        n = GROUP;
        evn_status status = evn_buffer_open(&in, b.device, sizeof x);
        assert_int_equal(status, at == 1 ? EVN_DEVICE : EVN_OK);
        if (at > 1) {
            assert_ok(evn_copy_to_device(b.queue, in, 0, x, sizeof x));
            assert_int_equal(evn_queue_finish(b.queue), at == 2 ? EVN_DEVICE : EVN_OK);
        }
        if (at > 2) {
            int rounds = 1;
            evn_argument grind[] = {BUFFER(in), VALUE(n), VALUE(rounds)};
            assert_int_equal(run(b.queue, b.program, "grind", 1, grind, 3),
                             at == 3 ? EVN_DEVICE : EVN_OK);
        }
        if (at > 3)
            assert_fails(evn_buffer_open(&other, b.device, 8), EVN_DEVICE,
                         "the device is lost on purpose");
        assert_fails(evn_buffer_open(&other, b.device, 8), EVN_DEVICE, "emulated device 0");
        assert_fails(evn_queue_finish(b.queue), EVN_DEVICE, "lost on purpose");
        if (at > 1) evn_buffer_close(in);
        close_bench(&b);
    }
}

/* A queue that waits for an event of a device that fails is not left waiting. */
TEST(failure_seen_from_outside) {
    struct bench a, b;
    evn_event *e;
    double x[8] = {0};
    open_bench(&a, "emulated:2,fail=copy@2,bad=0", 0);
    open_bench(&b, "emulated:2,fail=copy@2,bad=0", 1);
    evn_buffer *in = buffer_of(&a, x, sizeof x), *other = buffer_of(&b, x, sizeof x);
    e = event_of(&a);
    assert_ok(evn_copy_to_device(a.queue, in, 0, x, sizeof x));
    assert_ok(evn_event_record(e, a.queue));
    assert_ok(evn_queue_wait(b.queue, e));
    assert_ok(evn_copy_to_host(b.queue, x, other, 0, sizeof x));
    assert_ok(evn_queue_finish(b.queue));
    assert_int_equal(evn_queue_finish(a.queue), EVN_DEVICE);
    close_bench(&a);
    close_bench(&b);
}

/* In real time costs are a lower bound. */
TEST(real_costs) {
    ENDS(close_bench) struct bench b;
    evn_event *e[3];
    double x[1000] = {0}, seconds;
    int n = 1, rounds = 1;
    open_bench(&b, "emulated:link=1MB/s,latency=2ms,launch=3ms,speed=0.5", 0);
    for (int i = 0; i < 3; i++) e[i] = event_of(&b);
    evn_buffer *in = buffer_of(&b, NULL, sizeof x);
    evn_kernel *grind = kernel_of(&b, "grind");
    evn_argument arguments[] = {BUFFER(in), VALUE(n), VALUE(rounds)};
    assert_ok(evn_event_record(e[0], b.queue));
    assert_ok(evn_copy_to_device(b.queue, in, 0, x, sizeof x));
    assert_ok(evn_event_record(e[1], b.queue));
    assert_ok(evn_launch(b.queue, grind, 1, 0, arguments, 3));
    assert_ok(evn_event_record(e[2], b.queue));
    assert_ok(evn_event_seconds(e[0], e[1], &seconds));
    assert_true(seconds >= 0.010);
    assert_ok(evn_event_seconds(e[1], e[2], &seconds));
    assert_true(seconds >= 0.003);
    assert_ok(evn_queue_finish(b.queue));
}

/* ---- virtual time ---- */

/* Operations on queues, three of each device; what a queue's last one ends at, in nanoseconds. */
enum kind { END, IN, OUT, WITHIN, LAUNCH, POISON, PEER, WAIT, TIME };
struct operation {
    enum kind kind;
    int queue;
    double amount; /* bytes, groups; ns */
    int from;      /* PEER: a device; WAIT: a queue */
};

enum { QUEUES = 9 };

struct virtual_world {
    struct bench b[3];
    evn_queue *queue[QUEUES];
    evn_buffer *buffer[QUEUES], *source[3];
    evn_event *at[QUEUES], *zero[3];
    evn_kernel *grind[3];
};

static int open_virtual(struct virtual_world *w, const char *text) {
    static char data[80000];
    int count;
    char why[64];
    assert_ok(evn_devices_count(text, &count, why, sizeof why));
    for (int d = 0; d < count; d++) {
        open_bench(&w->b[d], text, d);
        assert_true(evn_device_traits(w->b[d].device)->clock_is_virtual);
        w->zero[d] = event_of(&w->b[d]);
        w->grind[d] = kernel_of(&w->b[d], "grind");
        w->source[d] = buffer_of(&w->b[d], data, sizeof data);
        for (int i = 3 * d; i < 3 * d + 3; i++) {
            w->queue[i] = i % 3 ? queue_of(&w->b[d]) : w->b[d].queue;
            w->buffer[i] = buffer_of(&w->b[d], data, sizeof data);
            w->at[i] = event_of(&w->b[d]);
        }
    }
    for (int d = 0; d < count; d++) assert_ok(evn_event_record(w->zero[d], w->queue[3 * d]));
    return count;
}

static void give_out(struct virtual_world *w, const struct operation *o) {
    static char data[80000], back[QUEUES][80000];
    const int n = 1, rounds = 0, groups = (int)o->amount;
    const size_t bytes = (size_t)o->amount;
    evn_queue *q = w->queue[o->queue];
    evn_buffer *b = w->buffer[o->queue];
    const evn_argument arguments[] = {BUFFER(b), VALUE(n), VALUE(rounds)};
    switch (o->kind) {
    case IN: assert_ok(evn_copy_to_device(q, b, 0, data, bytes)); break;
    case OUT: assert_ok(evn_copy_to_host(q, back[o->queue], b, 0, bytes)); break;
    case WITHIN: assert_ok(evn_copy_buffer(q, b, 0, b, bytes, bytes)); break;
    case LAUNCH: assert_ok(evn_launch(q, w->grind[o->queue / 3], groups, 0, arguments, 3)); break;
    case POISON: assert_ok(device_poison(q, b, 0, bytes)); break;
    case PEER: assert_ok(evn_copy_buffer(q, b, 0, w->source[o->from], 0, bytes)); break;
    case WAIT:
        assert_ok(evn_event_record(w->at[o->from], w->queue[o->from]));
        assert_ok(evn_queue_wait(q, w->at[o->from]));
        break;
    default: fail();
    }
}

/* Times that stand beside each other are all noted before the host waits for one. */
static const struct operation *compare_times(struct virtual_world *w, const struct operation *o) {
    const struct operation *end = o;
    double s;
    for (; end->kind == TIME; end++)
        assert_ok(evn_event_record(w->at[end->queue], w->queue[end->queue]));
    for (; o < end; o++) {
        assert_ok(evn_event_seconds(w->zero[o->queue / 3], w->at[o->queue], &s));
        if (fabs(s * 1e9 - o->amount) > 1e-6)
            fail_msg("queue %d: %.6f ns, expected %.6f", o->queue, s * 1e9, o->amount);
    }
    return end;
}

static void check_times(const char *text, const struct operation *o) {
    struct virtual_world w;
    const int count = open_virtual(&w, text);
    while (o->kind)
        if (o->kind == TIME)
            o = compare_times(&w, o);
        else
            give_out(&w, o++);
    for (int i = 0; i < 3 * count; i++) assert_ok(evn_queue_finish(w.queue[i]));
    for (int d = 0; d < count; d++) close_bench(&w.b[d]);
}

TEST(virtual_costs) {
    check_times("emulated:clock=virtual",
                (const struct operation[]){{TIME, 0, 0, 0},
                                           {IN, 0, 8000, 0}, /* 8 GB/s, 5 us */
                                           {TIME, 0, 6000, 0},
                                           {OUT, 0, 16000, 0},
                                           {TIME, 0, 13000, 0},
                                           {LAUNCH, 0, 10, 0}, /* 4 us, 1 ns an item */
                                           {TIME, 0, 17640, 0},
                                           {WITHIN, 0, 8000, 0}, /* 4 us, 1 ns for 8 bytes */
                                           {TIME, 0, 22640, 0},
                                           {POISON, 0, 10, 0}, /* no real device does that */
                                           {TIME, 0, 22640, 0},
                                           /* another queue begins when the host does */
                                           {TIME, 1, 22640, 0},
                                           {0}});
    static const struct operation told[] = {{LAUNCH, 0, 10, 0},
                                            {TIME, 0, 500 + 640 * 2 / 4.0, 0},
                                            {IN, 0, 1, 0},
                                            {TIME, 0, 820 + 1000 + 0.5, 0},
                                            {0}};
    check_times("emulated:clock=virtual,speed=4,link=2GB/s,latency=1us,launch=500ns,item=2ns",
                told);
    check_times("emulated:clock=virtual,speed=4,link=2GB/s,latency=1us,launch=500ns,item=7ns,"
                "item.grin=3ns,item.grind=2ns",
                told);
}

/* Lanes, queues and events: what overlaps and what does not. */
TEST(virtual_order) {
    static const char *const text = "emulated:clock=virtual,latency=0us,launch=0us";
    /* in, out and a kernel all at once */
    static const struct operation at_once[] = {{IN, 0, 80000, 0},
                                               {OUT, 1, 80000, 0},
                                               {LAUNCH, 2, 125, 0},
                                               {TIME, 0, 10000, 0},
                                               {TIME, 1, 10000, 0},
                                               {TIME, 2, 8000, 0},
                                               {0}};
    check_times(text, at_once);
    /* two of a kind: one after the other */
    static const struct operation alike[] = {
        {IN, 0, 8000, 0}, {IN, 1, 8000, 0}, {TIME, 0, 1000, 0}, {TIME, 1, 2000, 0}, {0}};
    check_times(text, alike);
    /* an event orders; what is given out later but can run before fills the gap */
    static const struct operation ordered[] = {{LAUNCH, 0, 125, 0}, /* until 8 us */
                                               {WAIT, 1, 0, 0},     {IN, 1, 8000, 0}, /* 8 .. 9 */
                                               {IN, 2, 24000, 0},                     /* 0 .. 3 */
                                               {IN, 2, 24000, 0},                     /* 3 .. 6 */
                                               {IN, 0, 8000, 0}, /* 9 .. 10, behind the kernel */
                                               {TIME, 1, 9000, 0},  {TIME, 2, 6000, 0},
                                               {TIME, 0, 10000, 0}, {0}};
    check_times(text, ordered);
}

/* A copy takes the link out of one device and the link into the other. */
TEST(virtual_peers) {
    static const char *const text = "emulated:3,clock=virtual";
    static const struct operation staged[] = {{PEER, 6, 8000, 0}, {TIME, 6, 12000, 0}, {0}};
    check_times("emulated:3,clock=virtual,peer=no", staged);
    static const struct operation direct[] = {{PEER, 6, 8000, 0}, {TIME, 6, 6000, 0}, {0}};
    check_times(text, direct);
    /* from two devices into one: the link into it is shared, the latency is not */
    static const struct operation into_one[] = {
        {PEER, 6, 8000, 0}, {PEER, 7, 8000, 1}, {TIME, 7, 7000, 0}, {0}};
    check_times(text, into_one);
    /* and from one device into two: the link out of it */
    static const struct operation out_of_one[] = {
        {PEER, 3, 8000, 0}, {PEER, 6, 8000, 0}, {TIME, 6, 7000, 0}, {0}};
    check_times(text, out_of_one);
    /* a ring: every device sends and receives at once */
    static const struct operation ring[] = {{PEER, 0, 8000, 1},
                                            {PEER, 3, 8000, 2},
                                            {PEER, 6, 8000, 0},
                                            {TIME, 0, 6000, 0},
                                            {TIME, 3, 6000, 0},
                                            {TIME, 6, 6000, 0},
                                            {0}};
    check_times(text, ring);
}

/* In steps of 64 ns: the link out of one device is free from 1 to 2 and after 3, the link into the
 * other until 1 and after 2. Both are free at once after 3. */
TEST(virtual_both_links) {
    check_times("emulated:2,clock=virtual,latency=0us,launch=0us",
                (const struct operation[]){{LAUNCH, 1, 2, 0},
                                           {LAUNCH, 4, 1, 0},
                                           {OUT, 0, 512, 0},
                                           {OUT, 1, 512, 0},
                                           {IN, 4, 512, 0},
                                           {PEER, 3, 512, 0},
                                           {TIME, 3, 4 * 64, 0},
                                           {0}});
}

int main(void) {
    const int missing = test_devices(&probe_kernels, &devices);
    if (missing) return missing;
    spec = test_device();
    snprintf(scratch, sizeof scratch, "%s/evener-test-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(scratch)) {
        perror(scratch);
        return 1;
    }
    setenv("EVENER_CACHE", scratch, 1);
    int failed = run_all_tests(NULL, NULL);
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command) || failed;
}
