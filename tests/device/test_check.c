/* Emulated devices that check (check=yes): a kernel that writes what it has as EVN_IN, or that
 * leaves a buffer, ends with the device's failure, which names the kernel, the parameter and the
 * byte; one that does not has the same results as ever, also where a buffer is given twice. Kernels
 * are plain functions here, since no compiler need see these mistakes. Run: ctest -R '^check$' */
#include "check.h"
#include <signal.h>
#include <unistd.h>

enum { N = 1000 };

/* An address at which nothing is. */
static char *volatile nowhere = (char *)8;

/* add(to, from, at, what): to[i] += from[i]; then, in the last group, what an int says. */
enum { NOTHING, WRITE_IN, WRITE_BEHIND, READ_BEFORE, READ_ELSEWHERE };
static void add_run(const void *const *argument, int groups, int group, int items) {
    double *to = (double *)(uintptr_t)argument[0];
    const double *from = argument[1];
    const int at = *(const int *)argument[2], what = *(const int *)argument[3];
    (void)items;
    for (int i = group; i < N; i += groups) to[i] += from[i];
    if (group != groups - 1) return;
    if (what == WRITE_IN) ((double *)(uintptr_t)from)[at] = 0;
    if (what == WRITE_BEHIND) to[at] = 0;
    if (what == READ_BEFORE) to[0] += *(const volatile double *)&from[at];
    if (what == READ_ELSEWHERE) to[0] += *(const volatile double *)nowhere;
}

static const int parameters[] = {EVN_PARAMETER_BUFFER, EVN_PARAMETER_IN, sizeof(int), sizeof(int),
                                 EVN_PARAMETERS_END};
static const evn_kernel_entry entries[] = {{"add", add_run, 1, parameters}, {0}};
static const evn_kernel_source source = {.name = "check", .text = "", .entry = entries};

struct work {
    evn_device *device;
    evn_queue *queue;
    evn_buffer *x, *y;
    double sum[N];
};

static void open_work(struct work *w, const char *device) {
    double x[N], y[N];
    assert_ok(evn_device_open(&w->device, device, 0));
    assert_ok(evn_queue_open(&w->queue, w->device));
    assert_ok(evn_buffer_open(&w->x, w->device, sizeof x));
    assert_ok(evn_buffer_open(&w->y, w->device, sizeof x));
    for (int i = 0; i < N; i++) x[i] = i;
    assert_ok(evn_copy_to_device(w->queue, w->x, 0, x, sizeof x));
    for (int i = 0; i < N; i++) y[i] = 0.5;
    assert_ok(evn_copy_to_device(w->queue, w->y, 0, y, sizeof y));
    assert_ok(evn_queue_finish(w->queue));
}

static void close_work(struct work *w) {
    evn_buffer_close(w->x);
    evn_buffer_close(w->y);
    evn_queue_close(w->queue);
    evn_device_close(w->device);
}

static evn_status add(struct work *w, evn_buffer *to, evn_buffer *from, int at, int what) {
    evn_kernel *kernel;
    assert_ok(evn_kernel_get(w->device, &source, "add", &kernel));
    const evn_argument argument[] = {{.buffer = to},
                                     {.buffer = from},
                                     {.value = &at, .bytes = sizeof at},
                                     {.value = &what, .bytes = sizeof what}};
    assert_ok(evn_launch(w->queue, kernel, 50, 0, argument, 4));
    evn_status status = evn_queue_finish(w->queue);
    if (status) return status;
    assert_ok(evn_copy_to_host(w->queue, w->sum, to, 0, sizeof w->sum));
    return evn_queue_finish(w->queue);
}

static const char *const devices[] = {"emulated:check=yes", "emulated:check=yes,cores=3"};

TEST(right) {
    for (int d = 0; d < 2; d++) {
        ENDS(close_work) struct work w;
        open_work(&w, devices[d]);
        assert_non_null(strstr(evn_device_traits(w.device)->name, "checks"));
        for (int round = 1; round <= 3; round++) {
            assert_ok(add(&w, w.y, w.x, 0, NOTHING));
            for (int i = 0; i < N; i++) assert_true(w.sum[i] == 0.5 + round * i);
        }
        /* read and written as one buffer: both are the same memory */
        assert_ok(add(&w, w.x, w.x, 0, NOTHING));
        for (int i = 0; i < N; i++) assert_true(w.sum[i] == 2.0 * i);
    }
}

static void wrong(int at, int what, const char *said) {
    for (int d = 0; d < 2; d++) {
        ENDS(close_work) struct work w;
        open_work(&w, devices[d]);
        assert_fails(add(&w, w.y, w.x, at, what), EVN_DEVICE, said);
        assert_says("launch of \"add\" with 50 groups");
    }
}

TEST(writes_what_is_read) {
    wrong(0, WRITE_IN, "it writes parameter 1, counted from 0, at byte 0; it is EVN_IN");
    wrong(N - 1, WRITE_IN, "it writes parameter 1, counted from 0, at byte 7992; it is EVN_IN");
}

TEST(leaves_a_buffer) {
    /* 1000 doubles are rounded up to 256 bytes, 8192 */
    wrong(1024, WRITE_BEHIND, "it uses byte 8192 of parameter 0, counted from 0, of 8000 bytes");
    wrong(-64, READ_BEFORE, "it uses byte -512 of parameter 1, counted from 0, of 8000 bytes");
}

/* Without check=yes such a write goes unseen. */
TEST(unchecked) {
    ENDS(close_work) struct work w;
    open_work(&w, "emulated");
    assert_ok(add(&w, w.y, w.x, 3, WRITE_IN));
}

/* The faults of a process of its own: 0, or the signal that ended it. */
static int fault(void (*what)(void)) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        what();
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

enum { HANDLED = 7 };
static void handle(int signal) {
    (void)signal;
    _exit(HANDLED);
}

static void stray_elsewhere(void) {
    struct work w;
    signal(SIGSEGV, SIG_DFL); /* whatever a sanitizer has */
    open_work(&w, "emulated:check=yes");
    (void)add(&w, w.y, w.x, 0, READ_ELSEWHERE);
}

static void stray_handled(void) {
    struct work w;
    signal(SIGSEGV, handle);
    open_work(&w, "emulated:check=yes");
    (void)add(&w, w.y, w.x, 0, READ_ELSEWHERE);
}

static void stray_afterwards(void) {
    struct work w;
    signal(SIGSEGV, handle);
    open_work(&w, "emulated:check=yes");
    close_work(&w);
    *(volatile int *)nowhere = 0;
}

/* Somebody takes the signal while a device is open: the next one takes it back. */
TEST(taken) {
    struct work first, second;
    open_work(&first, devices[0]);
    void (*before)(int) = signal(SIGSEGV, handle);
    open_work(&second, devices[0]);
    assert_fails(add(&second, second.y, second.x, 0, WRITE_IN), EVN_DEVICE, "parameter 1");
    assert_ok(add(&first, first.y, first.x, 0, NOTHING));
    close_work(&second);
    close_work(&first);
    signal(SIGSEGV, before);
}

/* What is not a buffer's goes to who had the signal before. */
TEST(other_faults) {
    if (THREAD_SANITIZER) skip(); /* it does not care for forks of a process with threads */
    assert_int_equal(fault(stray_elsewhere), SIGSEGV);
    assert_int_equal(fault(stray_handled), HANDLED);
    assert_int_equal(fault(stray_afterwards), HANDLED);
}

TEST(option) {
    evn_device *device;
    assert_fails(evn_device_open(&device, "emulated:check=in", 0), EVN_USAGE,
                 "check must be no or yes");
}

RUN_TESTS(NULL, NULL)
