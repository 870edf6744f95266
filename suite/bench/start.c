/* How long a program takes to start, in processor time, which other programs disturb little: until
 * main(), beside a process that does nothing; the first evn_open(), the second one and the first
 * run of a loop. Medians.
 *
 * Run: bench-start [ROUNDS] */
#include <evener.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOTHING, MAIN, FIRST, SECOND, RUN, FIGURES };

/* Seconds of processor time that the process has taken, the loader's among them. */
static double taken(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
    const double begin = taken();
    evn_status status = evn_open(&session, "auto", NULL, 0);
    if (status) return status;
    *opening = taken() - begin;
    status = evn_open_loop(&loop, session, "static", &(evn_problem){.tasks = 16});
    const double opened = taken();
    if (!status) status = evn_loop_run(loop, body, NULL);
    *run = taken() - opened;
    const evn_status closed = evn_close(session);
    return status ? status : closed;
}

/* The process that is measured; writes its figures. */
static int child(void) {
    double figure[FIGURES] = {[MAIN] = taken()}, again;
    if (open_and_run(&figure[FIRST], &figure[RUN]) || open_and_run(&figure[SECOND], &again))
        return evn_complain("bench-start");
    return write(STDOUT_FILENO, figure, sizeof figure) != sizeof figure;
}

/* Starts a program, and reads what it writes; seconds that it took in all. */
static double start(const char *program, char *const *words, double *figure, size_t bytes) {
    int pipes[2], status;
    pid_t process;
    struct rusage usage;
    posix_spawn_file_actions_t actions;
    if (pipe(pipes)) exit(1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
    const int failed = posix_spawnp(&process, program, &actions, NULL, words, environ);
    if (failed || wait4(process, &status, 0, &usage) < 0 || status) exit(1);
    if (bytes && read(pipes[0], figure, bytes) != (ssize_t)bytes) exit(1);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[0]);
    close(pipes[1]);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--child")) return child();
    const int rounds = argc > 1 ? atoi(argv[1]) : 99;
    double(*sample)[rounds > 0 ? rounds : 1] = calloc(FIGURES, sizeof *sample);
    if (rounds < 1 || !sample) return 2;
    for (int i = 0; i < rounds; i++) {
        double figure[FIGURES];
        start("/proc/self/exe", (char *[]){"bench-start", "--child", NULL}, figure, sizeof figure);
        figure[NOTHING] = start("true", (char *[]){"true", NULL}, NULL, 0);
        for (int f = 0; f < FIGURES; f++) sample[f][i] = figure[f];
    }
    static const char *const name[] = {"a process that does nothing", "until main()",
                                       "first evn_open()", "second one", "first run"};
    for (int f = 0; f < FIGURES; f++) {
        qsort(sample[f], (size_t)rounds, sizeof(double), by_value);
        printf("%-28s %8.3f ms\n", name[f], 1e3 * sample[f][rounds / 2]);
    }
    free(sample);
}
