/* Wrong calls of every public function: NULL, numbers out of range, negative, infinite or no
 * numbers, products that overflow, and calls at the wrong time, by the wrong thread or in the wrong
 * process. Each is made in a process of its own, which has one of everything, and is right only if
 * it gives the answer that the headers promise, with a message that says what was wrong. A process
 * that crashes, or takes four minutes, is a failure.
 *
 * The lists are in the files beside this one. Run: ctest -R misuse; test-misuse LIST makes one
 * list's calls, test-misuse LIST ROW one of them in this process, for a debugger. */
#include "check.h"
#include "misuse/world.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 240, MOST_ROWS = 200, LEAST_CALLS = 400 };

/* clang-format off */
#define LISTS(X) \
    X(status) X(machine) X(units) X(unit) X(crew) X(device) X(memory) X(copies) X(kernels) \
    X(events) X(place) X(regions) X(acquire) X(asking) X(problem) X(schedule) X(assignment) \
    X(model) X(loop) X(loop_asking) X(trace) X(batch) X(exchange) X(faces) X(recovery) X(session) \
    X(change) X(birth) X(changed_faces) X(distribution) X(distributed) \
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

static int make_row(const struct list *list, int row) {
    static struct world w;
    open_world(&w);
    return list->make(&w, row);
}

/* NO_SUCH_ROW behind the last one. */
static int run_row(const struct list *list, int row) {
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        /* cmocka would go on with its next test */
        static const int crash[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
        for (size_t i = 0; i < sizeof crash / sizeof *crash; i++) signal(crash[i], SIG_DFL);
        alarm(PATIENCE);
        const int result = make_row(list, row);
        fflush(stdout);
        _exit(result);
    }
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf("call %d of %s: ends by signal %d%s\n", row, list->name, WTERMSIG(status),
           WTERMSIG(status) == SIGALRM ? " after four minutes" : "");
    return WRONG;
}

static void run_list(const struct list *list) {
    int wrong = 0, row = 0;
    for (int result; (result = run_row(list, row)) != NO_SUCH_ROW; row++) {
        wrong += result != RIGHT;
        if (result != RIGHT) printf("  (call %d of %s)\n", row, list->name);
        assert_true(row < MOST_ROWS);
    }
    total += row;
    if (wrong) fail_msg("%s: %d of %d calls are answered wrongly", list->name, wrong, row);
    assert_true(row > 0);
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
    for (int i = 0; i < COUNT; i++) {
        if (argc > 1 && strcmp(argv[1], lists[i].name) != 0) continue;
        if (argc > 2) return make_row(&lists[i], atoi(argv[2]));
        tests[n++] = (struct CMUnitTest){lists[i].name, test_list, NULL, NULL, (void *)&lists[i]};
    }
    if (argc == 1) tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_count);
    return _cmocka_run_group_tests("misuse", tests, (size_t)n, NULL, NULL);
}
