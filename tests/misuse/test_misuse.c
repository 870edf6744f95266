/* Wrong calls of every public function: NULL, numbers out of range, negative, infinite or no
 * numbers, products that overflow, and calls at the wrong time, by the wrong thread or in the wrong
 * process. Each is right only if it gives the answer that the headers promise, with a message that
 * says what was wrong. A list's refused calls are made in one process, which has one of everything,
 * and whose loops then run as before; each other call in its own. A process that crashes, or takes
 * four minutes, is a failure.
 *
 * The lists are in the files beside this one. Run: ctest -R misuse; test-misuse LIST makes one
 * list's calls, test-misuse LIST ROW one of them in this process, for a debugger. */
#include "check.h"
#include "misuse/world.h"
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATIENCE = 240, MOST_ROWS = 400, LEAST_CALLS = 400 };

/* clang-format off */
#define LISTS(X) \
    X(null) X(status) X(machine) X(units) X(unit) X(crew) X(device) X(memory) X(copies) X(kernels) \
    X(events) X(place) X(regions) X(acquire) X(asking) X(problem) X(schedule) X(assignment) \
    X(model) X(loop) X(loop_asking) X(trace) X(exchange) X(faces) X(recovery) X(session) \
    X(change) X(birth) X(changed_faces) \
    X(cluster) X(parcels) X(over_ranks) \
    X(in_body) X(in_body_of_device) X(batch_mistakes) X(in_job) X(of_another_thread) \
    X(of_another_process)
/* clang-format on */

static const struct list {
    const char *name;
    calls *make;
} lists[] = {
#define LIST(name) {#name, calls_##name},
    LISTS(LIST)
#undef LIST
};
enum { COUNT = sizeof lists / sizeof *lists };

static int total;

/* Of a list, for the process that started the one that makes its calls. */
static struct progress {
    int row, wrong;
    char elsewhere[MOST_ROWS];
} * progress;

static int make_row(const struct list *list, int row) {
    static struct world w;
    open_world(&w);
    const int result = list->make(&w, row);
    if (result != ELSEWHERE) return result;
    w.of_one = 1;
    return list->make(&w, row);
}

static evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

/* Nothing has changed by calls that were refused. */
static int goes_on(const struct world *w) {
    return !evn_loop_run(w->loop, nothing, NULL) && !evn_exchange_run(w->exchange) &&
           !evn_loop_run(w->plain_loop, nothing, NULL) &&
           !evn_loop_run(w->session_loop, nothing, NULL) && !evn_queue_finish(w->queue);
}

/* All calls from `row` on that need no world of their own. */
static int make_refused(const struct list *list, int row) {
    static struct world w;
    open_world(&w);
    for (int result; (result = list->make(&w, row)) != NO_SUCH_ROW; progress->row = ++row) {
        if (row >= MOST_ROWS) return WRONG;
        progress->elsewhere[row] = result == ELSEWHERE;
        progress->wrong += result == WRONG;
        if (result == WRONG) printf("  (call %d of %s)\n", row, list->name);
    }
    if (goes_on(&w)) return RIGHT;
    printf("%s: after all refused calls: %s\n", list->name, evn_message());
    return WRONG;
}

static int in_process(int (*make)(const struct list *list, int row), const struct list *list,
                      int row) {
    fflush(stdout);
    progress->row = row;
    const pid_t child = fork();
    if (!child) {
        /* cmocka would go on with its next test */
        static const int crash[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
        for (size_t i = 0; i < sizeof crash / sizeof *crash; i++) signal(crash[i], SIG_DFL);
        alarm(PATIENCE);
        const int result = make(list, row);
        fflush(stdout);
        _exit(result);
    }
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf("call %d of %s: ends by signal %d%s\n", progress->row, list->name, WTERMSIG(status),
           WTERMSIG(status) == SIGALRM ? " after four minutes" : "");
    return WRONG;
}

static void run_list(const struct list *list) {
    memset(progress, 0, sizeof *progress);
    int wrong = in_process(make_refused, list, 0) != RIGHT;
    const int rows = progress->row;
    for (int row = 0; row < rows; row++)
        if (progress->elsewhere[row] && in_process(make_row, list, row) != RIGHT) {
            printf("  (call %d of %s)\n", row, list->name);
            wrong++;
        }
    total += rows;
    wrong += progress->wrong;
    if (wrong) fail_msg("%s: %d of %d calls are answered wrongly", list->name, wrong, rows);
    assert_true(rows > 0);
}

static void test_list(void **state) { run_list(*state); }

/* None was lost on the way. */
static void test_count(void **state) {
    (void)state;
    printf("%d calls\n", total);
    assert_true(total >= LEAST_CALLS);
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[COUNT + 1];
    int n = 0;
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return 1;
    for (int i = 0; i < COUNT; i++) {
        if (argc > 1 && strcmp(argv[1], lists[i].name) != 0) continue;
        if (argc > 2) return make_row(&lists[i], atoi(argv[2]));
        tests[n++] = (struct CMUnitTest){lists[i].name, test_list, NULL, NULL, (void *)&lists[i]};
    }
    if (argc == 1) tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_count);
    return _cmocka_run_group_tests("misuse", tests, (size_t)n, NULL, NULL);
}
