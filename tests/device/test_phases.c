/* Times of launches by phase, on a driver with a clock of its own (fake_cuda.c), on the emulated
 * device with a virtual clock, and with whatever EVENER_TEST_DEVICE names. Run: ctest -R phases */
#include "check.h"
#include "fake_of_test.h"
#include <pthread.h>
#include <unistd.h>

extern const evn_kernel_source probe_kernels;

enum { GROUP = 64, N = 16 * GROUP };

struct bench {
    evn_device *device;
    evn_queue *queue;
    evn_buffer *x, *y;
};

static void open_bench(struct bench *b, const char *text) {
    assert_ok(evn_device_open(&b->device, text, 0));
    assert_ok(evn_queue_open(&b->queue, b->device));
    assert_ok(evn_buffer_open(&b->x, b->device, N * sizeof(double)));
    assert_ok(evn_buffer_open(&b->y, b->device, N * sizeof(double)));
}

static void close_bench(struct bench *b) {
    evn_buffer_close(b->x);
    evn_buffer_close(b->y);
    evn_queue_close(b->queue);
    evn_device_close(b->device);
}

static evn_status axpy(const struct bench *b, evn_queue *queue, int groups) {
    evn_kernel *kernel;
    const double a = 2;
    const int n = N;
    const evn_argument argument[] = {{.buffer = b->y},
                                     {.buffer = b->x},
                                     {.value = &a, .bytes = sizeof a},
                                     {.value = &n, .bytes = sizeof n}};
    evn_status status = evn_kernel_get(b->device, &probe_kernels, "axpy", &kernel);
    return status ? status : evn_launch(queue, kernel, groups, 0, argument, 4);
}

static evn_status grind(const struct bench *b, evn_queue *queue, int groups) {
    evn_kernel *kernel;
    const int n = N, rounds = 10;
    const evn_argument argument[] = {{.buffer = b->x},
                                     {.value = &n, .bytes = sizeof n},
                                     {.value = &rounds, .bytes = sizeof rounds}};
    evn_status status = evn_kernel_get(b->device, &probe_kernels, "grind", &kernel);
    return status ? status : evn_launch(queue, kernel, groups, 0, argument, 3);
}

static int phases(const evn_device *device) {
    int count = 0;
    while (evn_device_phase_at(device, count).launches) count++;
    return count;
}

/* Phase i has this name, so many launches, and exactly this time. */
static void assert_phase(const struct bench *b, int i, const char *name, int launches,
                         double seconds) {
    const evn_device_phase p = evn_device_phase_at(b->device, i);
    assert_string_equal(p.name, name);
    assert_int_equal(p.launches, launches);
    if (p.seconds != seconds) fail_msg("%s: %.17g s, not %.17g", name, p.seconds, seconds);
}

/* ---- the fake driver: an event is a quarter of a second, a group one ---- */

static int set_up(void **state) {
    (void)state;
    unsetenv("FAKE_CUDA_LATER");
    fake->reset();
    fake->group_s = 1;
    return 0;
}

TEST_WITH(sums, set_up, tear_down) {
    ENDS(close_bench) struct bench b;
    open_bench(&b, "cuda");
    assert_int_equal(phases(b.device), 0);
    assert_ok(evn_device_phases(b.device, 1));
    assert_ok(axpy(&b, b.queue, 3));
    assert_ok(grind(&b, b.queue, 2));
    assert_ok(axpy(&b, b.queue, 4));
    assert_ok(axpy(&b, b.queue, 0)); /* none */
    evn_queue_phase(b.queue, "other");
    assert_ok(axpy(&b, b.queue, 5));
    assert_ok(grind(&b, b.queue, 6));
    evn_queue_phase(b.queue, NULL);
    assert_ok(grind(&b, b.queue, 7));
    assert_ok(evn_device_phases(b.device, 0));
    assert_int_equal(phases(b.device), 3);
    assert_phase(&b, 0, "axpy", 2, 2 * 0.25 + 3 + 4);
    assert_phase(&b, 1, "grind", 2, 2 * 0.25 + 2 + 7);
    assert_phase(&b, 2, "other", 2, 2 * 0.25 + 5 + 6);
    assert_phase(&b, 3, "", 0, 0);
    assert_phase(&b, -1, "", 0, 0);
    /* what comes between two measurements does not count, and sums begin anew */
    assert_ok(grind(&b, b.queue, 1));
    assert_int_equal(phases(b.device), 3);
    assert_ok(evn_device_phases(b.device, 1));
    assert_int_equal(phases(b.device), 0);
    assert_ok(grind(&b, b.queue, 1));
    assert_ok(evn_device_phases(b.device, 0));
    assert_int_equal(phases(b.device), 1);
    assert_phase(&b, 0, "grind", 1, 0.25 + 1);
    assert_int_equal(evn_device_counts(b.device, NULL).launches, 8);
}

/* A device that is not timed makes no call more, whether it ever was or not. */
TEST_WITH(off, set_up, tear_down) {
    ENDS(close_bench) struct bench b;
    open_bench(&b, "cuda");
    assert_ok(axpy(&b, b.queue, 1));
    const int before = fake->calls;
    for (int i = 0; i < 10; i++) assert_ok(axpy(&b, b.queue, 1));
    const int calls = fake->calls - before;
    assert_int_equal(calls, 10 * 2); /* the context, the launch */
    assert_int_equal(fake->records, 0);
    assert_ok(evn_device_phases(b.device, 1));
    assert_ok(axpy(&b, b.queue, 1));
    assert_int_equal(fake->records, 2);
    assert_ok(evn_device_phases(b.device, 0));
    const int later = fake->calls;
    for (int i = 0; i < 10; i++) assert_ok(axpy(&b, b.queue, 1));
    assert_int_equal(fake->calls - later, calls);
    assert_int_equal(fake->records, 2);
}

/* Events are used again where launches are done, and more are made where they are not. */
static void many(const char *dice, int fewest, int most) {
    enum { LAUNCHES = 500 };
    ENDS(close_bench) struct bench b;
    if (dice) setenv("FAKE_CUDA_LATER", dice, 1);
    fake->reset();
    fake->group_s = 1;
    open_bench(&b, "cuda");
    assert_ok(axpy(&b, b.queue, 1));
    const int open = fake->open;
    assert_ok(evn_device_phases(b.device, 1));
    for (int i = 0; i < LAUNCHES; i++)
        assert_ok(i % 2 ? axpy(&b, b.queue, 1) : grind(&b, b.queue, 2));
    assert_in_range(fake->open - open, fewest, most);
    assert_ok(evn_device_phases(b.device, 0));
    assert_phase(&b, 0, "grind", LAUNCHES / 2, LAUNCHES / 2 * 2.25);
    assert_phase(&b, 1, "axpy", LAUNCHES / 2, LAUNCHES / 2 * 1.25);
}

TEST_WITH(many, set_up, tear_down) {
    many(NULL, 2 * 64, 2 * 64 + 10);
    /* a launch waits for none of those before */
    many("1", 2 * 100, 2 * 500 + 10);
    many("2", 2 * 100, 2 * 500 + 10);
}

/* Each call of the driver fails once: the failure is told, and all is closed. */
TEST_WITH(each_call_fails, set_up, tear_down) {
    int failures = 0;
    for (int at = 1; at < 200; at++) {
        struct bench b;
        fake->reset();
        open_bench(&b, "cuda");
        assert_ok(axpy(&b, b.queue, 1));
        fake->fail_at = at;
        evn_status status = evn_device_phases(b.device, 1);
        for (int i = 0; !status && i < 3; i++) status = axpy(&b, b.queue, 1);
        const evn_status end = evn_device_phases(b.device, 0);
        if (!status) status = end;
        const int met = *fake->failed != 0;
        assert_int_equal(status != EVN_OK, met);
        failures += met;
        fake->fail_at = 0;
        close_bench(&b);
        assert_int_equal(fake->open, 0);
        fake->wrong = 0; /* what follows a failure may be */
        if (!met) break;
    }
    assert_in_range(failures, 20, 100);
}

/* A name that is longer than there is room for; and a device closed while it is timed. */
TEST_WITH(edges, set_up, tear_down) {
    char name[100];
    ENDS(close_bench) struct bench b;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    open_bench(&b, "cuda");
    assert_ok(evn_device_phases(b.device, 0)); /* nothing was begun */
    assert_ok(evn_device_phases(b.device, 1));
    evn_queue_phase(b.queue, name);
    for (int i = 0; i < 3; i++) assert_ok(axpy(&b, b.queue, 1));
    assert_ok(evn_device_phases(b.device, 1)); /* anew, with launches under way */
    assert_ok(axpy(&b, b.queue, 1));
    assert_ok(evn_device_phases(b.device, 0));
    name[47] = 0;
    assert_phase(&b, 0, name, 1, 1.25);
    assert_ok(evn_device_phases(b.device, 1));
    assert_ok(axpy(&b, b.queue, 1));
}

/* ---- other devices ---- */

enum { MANY = 1000 };

/* Launches of one queue, and then a copy of another, which begins when the host gives it out: at
 * the same time as they do, unless the host has waited for one of them. */
static double virtual_step(int timed, double *sum, long long *launches) {
    static const double x[N];
    ENDS(close_bench) struct bench b;
    evn_event *event[2];
    double seconds;
    open_bench(&b, "emulated:clock=virtual,launch=4us,item=1ns");
    OWN(queue) *second = OPEN(queue, b.device);
    OWN(buffer) *other = OPEN(buffer, b.device, sizeof x);
    for (int e = 0; e < 2; e++) assert_ok(evn_event_open(&event[e], b.device));
    if (timed) assert_ok(evn_device_phases(b.device, 1));
    assert_ok(evn_event_record(event[0], b.queue));
    for (int i = 0; i < MANY; i++) assert_ok(axpy(&b, b.queue, 2));
    assert_ok(evn_copy_to_device(second, other, 0, x, sizeof x));
    assert_ok(evn_event_record(event[1], second));
    if (timed) assert_ok(evn_device_phases(b.device, 0));
    assert_ok(evn_event_seconds(event[0], event[1], &seconds));
    assert_int_equal(phases(b.device), timed);
    *sum = evn_device_phase_at(b.device, 0).seconds;
    *launches = evn_device_phase_at(b.device, 0).launches;
    for (int e = 0; e < 2; e++) evn_event_close(event[e]);
    return seconds;
}

/* Virtual times are as they are without, and add up to them. */
TEST(virtual) {
    double sum;
    long long launches;
    const double plain = virtual_step(0, &sum, &launches);
    assert_int_equal(launches, 0);
    const double timed = virtual_step(1, &sum, &launches);
    assert_int_equal(launches, MANY);
    assert_true(plain == timed);
    const double one = 4e-6 + 2 * GROUP * 1e-9;
    assert_true(sum > 0.999999 * MANY * one && sum < 1.000001 * MANY * one);
}

TEST(lost) {
    ENDS(close_bench) struct bench b;
    open_bench(&b, "emulated:fail=kernel@3");
    assert_ok(evn_device_phases(b.device, 1));
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < 5; i++) status = axpy(&b, b.queue, 1);
    assert_fails(evn_device_phases(b.device, 0), EVN_DEVICE, "fail=kernel@3");
    assert_fails(evn_device_phases(b.device, 1), EVN_DEVICE, "failed before");
}

struct user {
    pthread_t thread;
    const struct bench *bench;
    evn_status status;
};

static void *launch_some(void *p) {
    struct user *u = p;
    evn_queue *q;
    u->status = evn_queue_open(&q, u->bench->device);
    if (u->status) return NULL;
    for (int i = 0; !u->status && i < 200; i++) u->status = grind(u->bench, q, 1);
    const evn_status status = evn_queue_finish(q);
    if (!u->status) u->status = status;
    evn_queue_close(q);
    return NULL;
}

/* Whatever device there is; several threads, each with a queue. */
TEST(any) {
    enum { USERS = 3 };
    ENDS(close_bench) struct bench b;
    struct user user[USERS];
    open_bench(&b, test_device());
    assert_ok(axpy(&b, b.queue, 1));
    assert_ok(evn_queue_finish(b.queue));
    assert_ok(evn_device_phases(b.device, 1));
    for (int i = 0; i < USERS; i++) {
        user[i] = (struct user){.bench = &b};
        assert_int_equal(pthread_create(&user[i].thread, NULL, launch_some, &user[i]), 0);
    }
    for (int i = 0; i < USERS; i++) {
        pthread_join(user[i].thread, NULL);
        assert_ok(user[i].status);
    }
    assert_ok(evn_device_phases(b.device, 0));
    const evn_device_phase p = evn_device_phase_at(b.device, 0);
    assert_int_equal(phases(b.device), 1);
    assert_string_equal(p.name, "grind");
    assert_int_equal(p.launches, 200 * USERS);
    assert_true(p.seconds > 0);
}

int main(void) {
    if (!fake_load(FAKE_CUDA)) return 1;
    setenv("EVENER_LIBCUDA", FAKE_CUDA, 1);
    setenv("EVENER_NVRTC", FAKE_CUDA, 1);
    setenv("EVENER_KERNELS", "", 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (!getenv("EVENER_TEST_DEVICE")) setenv("EVENER_CACHE", "", 1);
    return run_all_tests(NULL, NULL);
}
