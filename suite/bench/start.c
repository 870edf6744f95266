/* How long a program takes to start: until main(), beside a process that does nothing; the first
 * evn_open(), the second one and the first run of a loop, beside the same where hwloc visits each
 * core (HWLOC_COMPONENTS is set). Medians, in turn.
 *
 * Run: bench-start [ROUNDS] */
#include <evener.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAIN, FIRST, SECOND, RUN, FIGURES };
enum { NOTHING, OURS, VISITS, WAYS };

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    while (evn_batch_next(batch) >= 0) {
    }
    return EVN_OK;
}

/* Opens a session, and runs a loop; seconds of the opening and the run. */
static evn_status open_and_run(double *opening, double *run) {
    evn_session *session;
    evn_loop *loop;
    const double begin = evn_now();
    evn_status status = evn_open(&session, "auto", NULL, 0);
    if (status) return status;
    *opening = evn_now() - begin;
    status = evn_open_loop(&loop, session, "static", &(evn_problem){.tasks = 16});
    const double opened = evn_now();
    if (!status) status = evn_loop_run(loop, body, NULL);
    *run = evn_now() - opened;
    const evn_status closed = evn_close(session);
    return status ? status : closed;
}

/* The process that is measured; writes its figures. */
static int child(void) {
    double figure[FIGURES] = {[MAIN] = evn_now()}, again;
    if (open_and_run(&figure[FIRST], &figure[RUN]) || open_and_run(&figure[SECOND], &again))
        return evn_complain("bench-start");
    return write(STDOUT_FILENO, figure, sizeof figure) != sizeof figure;
}

/* Starts the program, and reads its figures; the first of `nothing` is until it has ended. */
static void measure(const char *self, int way, double *figure) {
    int pipes[2], status;
    pid_t process;
    posix_spawn_file_actions_t actions;
    char *const nothing[] = {"true", NULL}, *const ours[] = {"bench-start", "--child", NULL};
    if (pipe(pipes)) exit(1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
    if (way == VISITS) setenv("HWLOC_COMPONENTS", "linux", 1);
    const double begin = evn_now();
    const int failed = way == NOTHING
                           ? posix_spawnp(&process, "true", &actions, NULL, nothing, environ)
                           : posix_spawn(&process, self, &actions, NULL, ours, environ);
    if (failed || waitpid(process, &status, 0) < 0 || status) exit(1);
    if (way == NOTHING)
        figure[MAIN] = evn_now();
    else if (read(pipes[0], figure, FIGURES * sizeof *figure) != FIGURES * sizeof *figure)
        exit(1);
    figure[MAIN] -= begin;
    unsetenv("HWLOC_COMPONENTS");
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[0]);
    close(pipes[1]);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--child")) return child();
    const int rounds = argc > 1 ? atoi(argv[1]) : 99;
    double(*sample)[FIGURES][rounds > 0 ? rounds : 1] = calloc(WAYS, sizeof *sample);
    if (rounds < 1 || !sample) return 2;
    for (int i = 0; i < rounds; i++)
        for (int way = 0; way < WAYS; way++) {
            double figure[FIGURES] = {0};
            measure("/proc/self/exe", way, figure);
            for (int f = 0; f < FIGURES; f++) sample[way][f][i] = figure[f];
        }
    double median[WAYS][FIGURES];
    for (int way = 0; way < WAYS; way++)
        for (int f = 0; f < FIGURES; f++) {
            qsort(sample[way][f], (size_t)rounds, sizeof(double), by_value);
            median[way][f] = 1e3 * sample[way][f][rounds / 2];
        }
    static const char *const name[] = {"until main()", "first evn_open()", "second one",
                                       "first run"};
    printf("%-18s %10s %10s %8s\n", "ms", "as it is", "visits", "ratio");
    for (int f = 0; f < FIGURES; f++)
        printf("%-18s %10.3f %10.3f %8.2f\n", name[f], median[OURS][f], median[VISITS][f],
               median[OURS][f] / median[VISITS][f]);
    printf("until main() over a process that does nothing, %.3f ms: %.2f\n", median[NOTHING][MAIN],
           median[OURS][MAIN] / median[NOTHING][MAIN]);
    free(sample);
}
