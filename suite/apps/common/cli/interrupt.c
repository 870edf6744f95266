/* Handlers of signals, and the children that end with the command. */
#include "common/cli/interrupt.h"
#include "common/cli/message.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE = 25 /* s for the step under way and the last state */ };

volatile sig_atomic_t interrupted;
static volatile sig_atomic_t deferred;
static volatile sig_atomic_t group; /* process group of the child; 0: there is none */
static volatile sig_atomic_t on_terminal;
static volatile sig_atomic_t hushed;

static void say(const char *text) {
    /* a reader that does not read must not block the end */
    struct pollfd errors = {STDERR_FILENO, POLLOUT, 0};
    if (hushed) return;
    if (poll(&errors, 1, 0) != 1 || !(errors.revents & POLLOUT)) return;
    ssize_t n = 0;
    if (on_terminal) n = write(STDERR_FILENO, "\r\033[K", 4); /* the line of progress */
    if (n >= 0) n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

static _Noreturn void end_now(const char *why) {
    signal(SIGPIPE, SIG_IGN); /* the status is 130, whoever reads */
    if (group) kill(-(pid_t)group, SIGKILL);
    say(why);
    _exit(EXIT_INTERRUPTED);
}

static void on_time(int number) {
    (void)number;
    end_now("evener: interrupted, and the step under way did not end in time; what was kept last "
            "is whole\n");
}

/* One interrupt may come twice: to all of a group, and passed on (timeout(1), batch systems, forked
 * ranks). Nobody asks again so soon. */
static int is_the_same(void) {
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) first = now;
    return interrupted &&
           (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) < 0.2;
}

static void on_signal(int number) {
    (void)number;
    const int error = errno;
    if (!deferred && !interrupted) end_now("evener: interrupted; nothing is half written\n");
    if (is_the_same()) return;
    if (interrupted) end_now("evener: interrupted again; what was kept last is whole\n");
    interrupted = 1;
    signal(SIGALRM, on_time);
    alarm(GRACE);
    errno = error;
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

void interrupts_begin(void) {
    /* restarting: an interrupt is no reason for a read or write to fail */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    on_terminal = isatty(STDERR_FILENO);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaddset(&action.sa_mask, ends[i]);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

static int defers_all;
void interrupts_defer(int on) { deferred = on || defers_all; }

void interrupts_defer_all(void) {
    defers_all = 1;
    deferred = 1;
}

void interrupts_hush(int on) { hushed = on; }

void interrupts_hold(int on) {
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaddset(&held, ends[i]);
    pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &held, NULL);
}

static void end_group(int number) {
    (void)number;
    kill(0, SIGKILL);
}

/* Leads the program's group, and ends it when we are killed and cannot: the system tells a child,
 * but not the children that it has. */
static _Noreturn void be_child(pid_t parent, char *const *argv, int (*become)(void *), void *arg) {
    setpgid(0, 0);
    signal(SIGTERM, end_group);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || become(arg)) _exit(127);
    const pid_t child = fork();
    if (!child) {
        signal(SIGTERM, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        execvp(argv[0], argv);
    }
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    _exit(child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 127);
}

pid_t child_start(char *const *argv, int (*become)(void *), void *arg) {
    const pid_t parent = getpid(), child = fork();
    if (!child) be_child(parent, argv, become, arg);
    if (child < 0) return -1;
    setpgid(child, child); /* in both processes, since either may come first */
    group = child;
    return child;
}

int child_wait(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    group = 0;
    return status;
}
