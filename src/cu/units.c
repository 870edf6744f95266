/* The units of a program with directives: a session, opened by the first directive for its list and
 * kept until a directive has another list or the program ends. The environment applies as to any
 * session. */
#include "cu/internal.h"
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cu_program cu;
const evn_cu_site *_Atomic cu_at;

static const char auto_cores[] = "auto, a core each";
static char text_now[512];      /* the list that the units were opened for; "": EVENER_UNITS */
static pid_t process;           /* process that opened the units */
static _Thread_local int spoke; /* why the program ends */

const char *cu_variable(const char *name) {
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void speak(const evn_cu_site *site, const char *text) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    if (spoke) _exit(1);      /* registered by atexit() */
    pthread_mutex_lock(&one); /* never released: later callers wait for the end */
    spoke = 1;
    if (!site) site = cu_at;
    if (site)
        fprintf(stderr, "%s:%d: %s\n", site->file, site->line, text);
    else
        fprintf(stderr, "compute units: %s\n", text);
}

/* 1 if other threads may be at work, from which exit() would remove compilers' run-time libraries
 * and other libraries. A thread that does not run the directives knows nothing of the units. */
static int others_work(void) {
    if (cu_by_other_thread() || omp_in_parallel() || omp_get_num_teams() > 1) return 1;
    return cu.session && evn_units_about(cu.units).running;
}

static volatile sig_atomic_t status_late;

static void end_now(int number) {
    (void)number;
    _exit(status_late);
}

/* The program ends, and its threads stay where they are. What was written goes out; but a thread
 * that waits for input has its file for itself, and then it would be waited for. */
static void end_among_others(int status) __attribute__((noreturn, cold));
static void end_among_others(int status) {
    const struct sigaction action = {.sa_handler = end_now};
    sigset_t set;
    status_late = status;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    if (!sigaction(SIGALRM, &action, NULL) && !pthread_sigmask(SIG_UNBLOCK, &set, NULL)) alarm(5);
    fflush(stdout);
    fflush(NULL);
    _exit(status);
}

void cu_die(const evn_cu_site *site, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    speak(site, text);
    if (others_work()) end_among_others(1);
    exit(1);
}

void cu_die_of_message(const evn_cu_site *site) { cu_die(site, "%s", evn_message()); }

/* Loops, data, session: the first failure, with its message. */
static evn_status close_all(void) {
    char message[1024] = "";
    cu_report();
    cu_sites_forget();
    evn_status status = cu_place_close();
    if (status) snprintf(message, sizeof message, "%s", evn_message());
    evn_status closed = evn_close(cu.session);
    cu.session = NULL;
    cu.units = NULL;
    return status ? evn_fail(status, "%s", message) : closed;
}

/* A program that ends within its units' work leaves everything as it is. */
static void at_exit(void) {
    if (!cu.session || getpid() != process || evn_units_about(cu.units).running) return;
    /* reported here only; a program that ends for another reason has reported that */
    if (close_all() && !spoke) fprintf(stderr, "compute units: %s\n", evn_message());
}

/* exit() by a body, or by a thread beside the units: leaders continue their work, so objects from
 * before main() stay. */
static void leave(int status, void *none) {
    (void)none;
    if (cu.session && getpid() == process && evn_units_about(cu.units).running)
        end_among_others(status);
}

/* Registers the exit handler before anything of the program's, so that it runs behind that. A
 * library that the program loads stays loaded by it. */
__attribute__((constructor)) static void leave_last(void) {
    Dl_info here;
    if (dladdr(&cu, &here)) dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    on_exit(leave, NULL);
}

/* ---- the list ------------------------------------------------------------------------------ */

static const char *family_name(int family) {
    return family == EVN_CU_FPGA ? "FPGA" : family == EVN_CU_GPU ? "GPU" : "CPU";
}

static void check_list(const evn_cu_site *where, const evn_cu_group *group, int groups,
                       evn_cu_int limit) {
    if (limit < 0) cu_die(where, "thread_limit: expected 1 thread or more");
    for (int g = 0; g < groups; g++) {
        const char *family = family_name(group[g].family);
        if (group[g].family < EVN_CU_CPU || group[g].family > EVN_CU_FPGA)
            cu_die(where, "num_teams: units of a family that is neither CPU, GPU nor FPGA");
        if (group[g].count < 1)
            cu_die(where, "num_teams: %lld units in %lld:%s:%lld; expected 1 or more",
                   group[g].count, group[g].count, family, group[g].size);
        if (group[g].size < 1)
            cu_die(where, "num_teams: units of %lld %s in %lld:%s:%lld; expected 1 or more",
                   group[g].size, group[g].family != EVN_CU_CPU ? "devices" : "cores",
                   group[g].count, family, group[g].size);
    }
}

/* Host units first, as the paper numbers them. */
static void write_list(const evn_cu_site *where, const evn_cu_group *group, int groups,
                       evn_cu_int limit, char *text, size_t size) {
    size_t at = 0;
    snprintf(text, size, "%s", groups < 0 ? auto_cores : "auto");
    for (int family = EVN_CU_CPU; family <= EVN_CU_FPGA; family++)
        for (int g = 0; g < groups; g++) {
            if (group[g].family != family) continue;
            const int limited = family == EVN_CU_CPU && limit && limit < group[g].size;
            at += (size_t)snprintf(text + at, size - at, "%s%lld:%s:%lld", at ? "," : "",
                                   group[g].count, family_name(family),
                                   limited ? limit : group[g].size);
            if (at >= size) cu_die(where, "num_teams: a list of %d parts is too long", groups);
        }
}

static void open_units(const evn_cu_site *where, const char *text) {
    static int registered;
    snprintf(text_now, sizeof text_now, "%s", text);
    /* bodies without inner regions have units of a core each */
    const int plain = !strcmp(text, auto_cores);
    evn_status status = evn_open(&cu.session,
                                 plain   ? "auto"
                                 : *text ? text
                                         : NULL,
                                 NULL, EVN_ANY_CLOSES | (plain ? 0u : (unsigned)EVN_TEAMS));
    const int of_list = (status == EVN_USAGE || status == EVN_MISSING) && *text &&
                        strncmp(evn_message(), "EVENER_", 7) != 0;
    if (of_list)
        cu_die(where, "num_teams: %s; set EVENER_UNITS to a list that takes the place of this one",
               evn_message());
    if (status) cu_die_of_message(where);
    cu.units = evn_session_units(cu.session);
    cu.serial++;
    process = getpid();
    if (!registered) atexit(at_exit);
    registered = 1;
    if (cu_place_open()) cu_die_of_message(where);
}

static int is_same_list(const struct site *s, const evn_cu_group *group, int groups,
                        evn_cu_int limit) {
    if (s->serial != cu.serial || !cu.serial || s->groups != groups || s->limit != limit) return 0;
    for (int g = 0; g < groups; g++)
        if (s->group[g].count != group[g].count || s->group[g].family != group[g].family ||
            s->group[g].size != group[g].size)
            return 0;
    return 1;
}

void cu_units_want(struct site *s, const evn_cu_group *group, int groups, evn_cu_int limit) {
    char text[sizeof text_now] = "";
    if (is_same_list(s, group, groups, limit)) return;
    check_list(s->where, group, groups, limit);
    if (!cu_variable("EVENER_UNITS")) write_list(s->where, group, groups, limit, text, sizeof text);
    /* units of a core each stay: directives of other files would close and open them for ever */
    if (!strcmp(text, "auto") && cu.session && !strcmp(text_now, auto_cores))
        snprintf(text, sizeof text, "%s", auto_cores);
    if (cu.session && strcmp(text, text_now) != 0 && close_all()) cu_die_of_message(s->where);
    if (!cu.session) open_units(s->where, text);
    const size_t kept = groups > 0 ? (size_t)groups : 0;
    evn_cu_group *copy = realloc(s->group, (kept + 1) * sizeof *copy);
    if (!copy) cu_die(s->where, "not enough memory");
    if (kept) memcpy(copy, group, kept * sizeof *copy);
    s->group = copy;
    s->groups = groups;
    s->limit = limit;
    s->serial = cu.serial;
}
