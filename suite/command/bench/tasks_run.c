/* Runs one way as a process of its own, reads the line that it prints, and ends it where it takes
 * too long. */
#include "bench/tasks_run.h"
#include "common/cli/interrupt.h"
#include "common/cli/message.h"
#include <errno.h>
#include <evener.h>
#include <evener/machine.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_S = 60, WORDS = 12 };

int tasks_serial(int argc, char **argv);
int tasks_openmp(int argc, char **argv);
int tasks_evener(int argc, char **argv);

int tasks_program(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int, char **);
    } program[] = {{"serial", tasks_serial}, {"openmp", tasks_openmp}, {"evener", tasks_evener}};
    for (size_t i = 0; argc > 1 && i < sizeof program / sizeof *program; i++)
        if (!strcmp(argv[0], program[i].name)) return program[i].run(argc, argv);
    return complain("bench tasks --program: expected serial, openmp or evener, and arguments");
}

struct start {
    const struct way *way;
    const struct tasks_case *of;
    int output;
};

/* In the process to be: its environment, and where its output goes. Messages of other runtimes are
 * about what they have not found. */
static int become(void *arg) {
    const struct start *s = arg;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", s->of->threads);
    setenv("PEERS_THREADS", threads, 1);
    setenv("EVENER_UNITS", s->of->units, 1);
    setenv("STARPU_SILENT", "1", 1);
    unsetenv("PEERS_READY");
    unsetenv("EVENER_RECORD");
    unsetenv("EVENER_TRACE");
    if (s->way->variable[0]) setenv(s->way->variable[0], s->way->variable[1], 1);
    if (*s->way->program) {
        const int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (none >= 0) dup2(none, STDERR_FILENO);
    }
    return dup2(s->output, STDOUT_FILENO) < 0;
}

/* Reads all that the run writes until it closes its end; 0: its time was over before. */
static int read_all(int from, char *text, size_t room) {
    const double until = evn_now() + LIMIT_S;
    size_t at = 0;
    for (;;) {
        struct pollfd ready = {from, POLLIN, 0};
        const double left = until - evn_now();
        const int some = left > 0 ? poll(&ready, 1, (int)(1e3 * left) + 1) : 0;
        if (some < 0 && errno == EINTR) continue;
        if (some <= 0) break;
        const ssize_t n = read(from, text + at, room - 1 - at);
        if (n < 0 && errno == EINTR) continue;
        if (n > 0) at += (size_t)n;
        if (n > 0 && at < room - 1) continue;
        text[at] = 0;
        return 1;
    }
    *text = 0;
    return 0;
}

/* Runs a program; its status as waitpid() has it, -1 where it cannot be started. */
static int run(const struct start *s, char *const *argv, int input, char *text, size_t room,
               int *wrong) {
    const pid_t child = child_start(argv, become, (void *)s);
    close(s->output);
    if (child < 0) return -1;
    if (!read_all(input, text, room)) *wrong = WAY_LATE;
    if (*wrong) kill(-child, SIGKILL);
    return child_wait(child);
}

static int line_of(const struct way *way, const struct tasks_case *of, int steps, char *text,
                   size_t room, int *wrong) {
    char number[3][24];
    char *argv[WORDS];
    int n = 0, ends[2];
    snprintf(number[0], sizeof *number, "%d", steps);
    snprintf(number[1], sizeof *number, "%d", of->tasks);
    snprintf(number[2], sizeof *number, "%ld", of->turns);
    argv[n++] = (char *)(way->built_in ? "/proc/self/exe" : way->program);
    const char *const own[] = {"bench", "tasks", "--program", way->built_in};
    for (int i = 0; way->built_in && i < 4; i++) argv[n++] = (char *)own[i];
    const char *const words[] = {way->mode, number[0], "even", number[1], number[2], NULL};
    for (int i = 0; i < 6; i++) argv[n++] = (char *)words[i];
    if (pipe2(ends, O_CLOEXEC)) {
        complain("bench tasks: a pipe cannot be made: %s", strerror(errno));
        return EXIT_FAILED;
    }
    const struct start s = {way, of, ends[1]};
    const int status = run(&s, argv, ends[0], text, room, wrong);
    close(ends[0]);
    if (!status || *wrong) return 0;
    if (!way->ours && *way->program) {
        *wrong = WAY_FAILED;
        return 0;
    }
    if (status == -1 || !way->ours) complain("bench tasks: %s has failed", way->name);
    return EXIT_FAILED; /* ours has said why */
}

int tasks_run(const struct way *way, const struct tasks_case *of, int steps, double *wall,
              double *processor, int *wrong) {
    char text[256];
    const int code = line_of(way, of, steps, text, sizeof text, wrong);
    if (code || *wrong) return code;
    char *end;
    *wall = strtod(text, &end) / of->tasks;
    *processor = strtod(end, NULL) / of->tasks;
    return 0;
}

int tasks_turns(double *turns) {
    enum { TURNS = 100000 };
    const struct way way = {.name = "one thread", .built_in = "serial", .mode = "calibrate"};
    const struct tasks_case of = {.units = "1:CPU:1", .threads = 1, .tasks = 1, .turns = TURNS};
    char text[256];
    int late = 0;
    const int code = line_of(&way, &of, 200, text, sizeof text, &late);
    if (code) return code;
    const double seconds = late ? 0 : strtod(text, NULL);
    if (seconds <= 0) {
        complain("bench tasks: the machine's speed cannot be measured");
        return EXIT_FAILED;
    }
    *turns = TURNS / seconds;
    return 0;
}

static _Noreturn void compete(pid_t parent, const evn_machine *core) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) signal(ends[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || evn_machine_keep_to(core)) _exit(1);
    for (;;) __asm__ volatile("");
}

/* A machine of the second core that this process may use, or of the only one. */
static evn_status open_core(evn_machine **out) {
    evn_machine *all;
    evn_status status = evn_machine_open(&all);
    if (status) return status;
    const int number = evn_machine_core_number(all, evn_machine_cores(all) > 1);
    evn_machine_close(all);
    return evn_machine_open_within(out, &number, 1);
}

pid_t competitor_begin(void) {
    evn_machine *core;
    if (open_core(&core)) return -1;
    const pid_t parent = getpid(), competitor = fork();
    if (!competitor) compete(parent, core);
    evn_machine_close(core);
    return competitor;
}

void competitor_end(pid_t competitor) {
    if (competitor <= 0) return;
    kill(competitor, SIGKILL);
    while (waitpid(competitor, NULL, 0) < 0 && errno == EINTR) continue;
}
