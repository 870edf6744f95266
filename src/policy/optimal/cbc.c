/* CBC's library, and the process that it works in. */
#include "policy/optimal/cbc.h"
#include "base/library.h"
#include "base/number.h"
#include "policy/optimal/bound.h"
#include <evener/clock.h>
#include <evener/text.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the library ---------------------------------------------------------------------------- */

/* CBC's own declarations as far as they are needed, of Cbc_C_Interface.h 2.10. */
typedef void model;

/* clang-format off */
#define CALLS(X) \
    X(const char *, getVersion, (void)) \
    X(model *, newModel, (void)) \
    X(void, deleteModel, (model *)) \
    X(void, loadProblem, (model *, int, int, const int *, const int *, const double *, \
                          const double *, const double *, const double *, const double *, \
                          const double *)) \
    X(void, setInteger, (model *, int)) \
    X(void, setMIPStartI, (model *, int, const int *, const double *)) \
    X(void, setLogLevel, (model *, int)) \
    X(void, setParameter, (model *, const char *, const char *)) \
    X(int, solve, (model *)) \
    X(int, getNodeCount, (model *)) \
    X(double, getBestPossibleObjValue, (model *)) \
    X(int, isProvenInfeasible, (model *)) \
    X(const double *, bestSolution, (model *))
/* clang-format on */

struct calls {
#define X(answer, name, parameters) answer(*name) parameters;
    CALLS(X)
#undef X
};

static const char *const names_of_calls[] = {
#define X(answer, name, parameters) "Cbc_" #name,
    CALLS(X)
#undef X
        NULL};

static const char *refuse(void *const *call, char *text, size_t size) {
    struct calls cbc;
    memcpy(&cbc, call, sizeof cbc);
    const char *version = cbc.getVersion();
    if (!strncmp(version, "2.", 2)) return NULL;
    snprintf(text, size, "is CBC %.40s, and 2.10 is needed", version);
    return text;
}

static const char *const names[] = {"libCbcSolver.so.3", "libCbcSolver.so.3.1", "libCbcSolver.so",
                                    NULL};
static const struct library library = {
    "schedule: optimal needs COIN-OR CBC",
    "EVENER_CBC",
    names,
    "install coinor-libcbc3 (Debian; coin-or-Cbc elsewhere), or set EVENER_CBC to the file of its "
    "library",
    names_of_calls,
    refuse};

static evn_status open_library(struct calls *cbc, char *text, size_t size) {
    void *call[sizeof names_of_calls / sizeof *names_of_calls];
    char file[256];
    _Static_assert(sizeof call == sizeof *cbc + sizeof *call, "a pointer for each name");
    evn_status status = library_open(&library, call, file, sizeof file);
    if (!status) {
        memcpy(cbc, call, sizeof *cbc);
        snprintf(text, size, "%s, %s", cbc->getVersion(), file);
    }
    return status;
}

/* ---- the child ------------------------------------------------------------------------------ */

#define GRACE 0.05 /* part of the limit that the solver has to come to an end by itself */
#define MOST                                                                                       \
    100.0 /* limits that are waited for a solver that does not work, such as a stopped one */

/* Report of the child, in memory that it shares. */
struct report {
    evn_status status;
    char text[1024];
    int done, nodes, found;
    double proven;
    unsigned char chosen[];
};

static void end_quietly(void) { _exit(1); }

/* Separates the child from the program: it writes no stream, since their files are closed or lead
 * nowhere, and runs no signal handler and no atexit() function. */
static int separate(int tell, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    atexit(end_quietly);
    enum { TELL = STDERR_FILENO + 1 };
    const int own = fcntl(tell, F_DUPFD, TELL + 1), nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < TELL; fd++) dup2(nowhere, fd);
    dup2(own, TELL);
    const long most = sysconf(_SC_OPEN_MAX);
    if (syscall(SYS_close_range, TELL + 1, ~0u, 0))
        for (int fd = TELL + 1; fd < most; fd++) close(fd);
    return TELL;
}

/* Gives the program to the solver, column by column. 1: not enough memory. */
static int load(const struct calls *cbc, model *solver, const struct cbc_program *p) {
    const size_t columns = (size_t)p->columns;
    int *row = malloc(sizeof *row * p->entries);
    double *value = malloc(sizeof *value * p->entries);
    double *lower = calloc(columns, sizeof *lower), *aim = calloc(columns, sizeof *aim);
    int *start = calloc(columns + 2, sizeof *start), *index = malloc(columns * sizeof *index);
    if (!row || !value || !lower || !aim || !start || !index) return 1; /* the process ends */
    for (size_t e = 0; e < p->entries; e++) start[p->column[e] + 2]++;
    for (size_t c = 2; c <= columns + 1; c++) start[c] += start[c - 1];
    for (size_t e = 0; e < p->entries; e++) {
        const int at = start[p->column[e] + 1]++;
        row[at] = p->row[e];
        value[at] = p->value[e];
    }
    lower[0] = p->bound;
    aim[0] = 1;
    cbc->loadProblem(solver, p->columns, p->rows, start, row, value, lower, p->max, aim, p->lower,
                     p->upper);
    for (int c = 1; c <= p->whole; c++) cbc->setInteger(solver, c);
    for (int c = 0; c < p->columns; c++) index[c] = c;
    cbc->setMIPStartI(solver, p->columns, index, p->start);
    return 0;
}

static void set_up(const struct calls *cbc, model *solver, const struct cbc_program *p,
                   double limit) {
    char text[64];
    cbc->setLogLevel(solver, 0);
    cbc->setParameter(solver, "log", "0");
    cbc->setParameter(solver, "slog", "0");
    cbc->setParameter(solver, "threads", "0");
    /* with it, CBC 2.10 crashes in CglPreProcess::postProcess() when time is over early */
    cbc->setParameter(solver, "preprocess", "off");
    snprintf(text, sizeof text, "%.17g", p->gap / (1 + p->gap));
    cbc->setParameter(solver, "ratioGap", text);
    if (!isinf(limit)) {
        cbc->setParameter(solver, "timeMode", "cpu");
        snprintf(text, sizeof text, "%.17g", limit);
        cbc->setParameter(solver, "seconds", text);
    }
    if (p->nodes) {
        snprintf(text, sizeof text, "%ld", p->nodes);
        cbc->setParameter(solver, "maxNodes", text);
    }
}

static evn_status work(const struct cbc_program *p, double limit, struct report *report) {
    struct calls cbc;
    evn_status status = open_library(&cbc, report->text, sizeof report->text);
    if (status || !p) return status;
    number_locale_begin(); /* it reads its options with the C library */
    model *solver = cbc.newModel();
    if (!solver || load(&cbc, solver, p))
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for the solver of optimal");
    set_up(&cbc, solver, p, limit * (1 - GRACE));
    cbc.solve(solver);
    report->nodes = cbc.getNodeCount(solver);
    const double best = cbc.getBestPossibleObjValue(solver), *x = cbc.bestSolution(solver);
    /* the solver's own tolerances are taken off */
    if (isfinite(best) && !cbc.isProvenInfeasible(solver)) report->proven = best * (1 - 1e-6);
    for (int c = 0; x && c < p->whole; c++) report->chosen[c] = x[1 + c] > 0.5;
    report->found = x != NULL;
    return EVN_OK;
}

static _Noreturn void be_child(const struct cbc_program *p, double limit, struct report *report,
                               int tell) {
    report->status = work(p, limit, report);
    if (report->status) snprintf(report->text, sizeof report->text, "%s", evn_message());
    report->done = 1;
    while (write(tell, "", 1) < 0 && errno == EINTR) continue;
    _exit(0);
}

/* ---- its parent ----------------------------------------------------------------------------- */

/* Waits until the child has answered or ended, or `last` has come in its own processor time, or
 * `most` seconds; those for which this process is itself stopped do not count. No child is left. */
static void wait_for(pid_t process, int told, double last, double most) {
    optimal_watch(process);
    for (;;) {
        struct pollfd p = {.fd = told, .events = POLLIN};
        const double left = last < INFINITY ? fmin(last - optimal_clock(), most) : last;
        if (!(left > 0)) break;
        const double slice = fmin(left, 1000), begin = evn_now();
        const int ready = poll(&p, 1, isinf(left) ? -1 : (int)ceil(slice * 1e3));
        if (ready > 0 || (ready < 0 && errno != EINTR)) break;
        most -= fmin(evn_now() - begin, slice);
    }
    optimal_watch(0);
    kill(process, SIGKILL);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) continue;
}

/* Forks with signals blocked, so that no handler of the program ever runs in the child. */
static pid_t fork_hushed(int tell, int *to) {
    sigset_t all, before;
    const pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t process = fork();
    const int error = errno;
    if (!process) *to = separate(tell, parent);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return process;
}

static evn_status run(const struct cbc_program *p, double limit, double until,
                      struct report *report) {
    int ends[2], to;
    char why[700];
    if (pipe2(ends, O_CLOEXEC))
        return evn_fail(EVN_SYSTEM, "schedule: optimal: no pipe from its solver: %s",
                        strerror(errno));
    const pid_t process = fork_hushed(ends[1], &to);
    const int error = errno;
    if (!process) be_child(p, limit, report, to);
    close(ends[1]);
    if (process > 0)
        wait_for(process, ends[0], until + (isinf(until) ? 0 : GRACE * limit), MOST * limit);
    close(ends[0]);
    if (process < 0)
        return evn_fail(EVN_SYSTEM,
                        "schedule: optimal: the process of its solver cannot be made: %s",
                        evn_limits_text(error, why, sizeof why));
    return report->done && report->status ? evn_fail(report->status, "%s", report->text) : EVN_OK;
}

static struct report *share(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) return p;
    evn_fail(EVN_MEMORY, "schedule: optimal: no memory for the answer of its solver");
    return NULL;
}

evn_status cbc_solve(const struct cbc_program *p, double limit, double until,
                     struct cbc_answer *answer) {
    const size_t bytes = sizeof(struct report) + (size_t)p->whole;
    struct report *report = share(bytes);
    if (!report) return EVN_MEMORY;
    const evn_status status = run(p, limit, until, report);
    answer->done = report->done;
    answer->nodes = report->nodes;
    answer->proven = report->proven;
    answer->found = report->found;
    memcpy(answer->chosen, report->chosen, (size_t)p->whole);
    munmap(report, bytes);
    return status;
}

evn_status cbc_look(char *text, size_t size) {
    struct report *report = share(sizeof *report);
    if (!report) return EVN_MEMORY;
    evn_status status = run(NULL, INFINITY, INFINITY, report);
    if (!status && !report->done)
        status = evn_fail(EVN_MISSING, "schedule: optimal: COIN-OR CBC's library ends the process "
                                       "that opens it");
    snprintf(text, size, "%s", report->text);
    munmap(report, sizeof *report);
    return status;
}
