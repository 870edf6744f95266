/* Cores of units among the programs of a host: claimed when units are opened, and let go where they
 * turn out to be contended. */
#include "unit/binding.h"
#include "unit/share.h"
#include "unit/spare.h"
#include "unit/team.h"
#include "base/argument.h"
#include "base/claim.h"
#include "base/process.h"
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reads the wish. By default nothing is bound under a quota: others on the node may have one as
 * well, whose claims are not seen. */
evn_status binding_read(struct binding_wish *out, const evn_machine *machine) {
    static const struct {
        const char *name;
        enum unit_binding binding;
    } known[] = {{"auto", BOUND_TO_CORE},
                 {"cores", BOUND_TO_CORE},
                 {"core", BOUND_TO_CORE},
                 {"unit", BOUND_TO_UNIT},
                 {"none", BOUND_TO_NONE}};
    const char *text = getenv("EVENER_BIND");
    if (!text || !*text) text = "auto";
    const int is_auto = !strcmp(text, "auto");
    const int has_all = evn_machine_cores(machine) == evn_machine_limits(machine).allowed;
    for (int i = 0; i < 5; i++)
        if (!strcmp(text, known[i].name)) {
            *out = (struct binding_wish){has_all || !is_auto, known[i].binding, is_auto};
            return EVN_OK;
        }
    return evn_fail(EVN_USAGE, "units: EVENER_BIND: \"%s\", expected auto, cores, unit or none",
                    text);
}

/* ---- choosing ---- */

/* The machine's cores, while they are dealt out. */
struct choice {
    const evn_machine *machine;
    int cores;
    char *taken; /* by core, 1: another program or a unit before has it */
    int *thread; /* core of each hardware thread, or -1 */
    int threads;
};

static void choice_close(struct choice *c) {
    free(c->taken);
    free(c->thread);
}

static evn_status choice_open(struct choice *c, const evn_machine *machine) {
    *c = (struct choice){.machine = machine, .cores = evn_machine_cores(machine)};
    const long threads = sysconf(_SC_NPROCESSORS_CONF);
    c->threads = threads < 1 ? 1 : (int)threads;
    for (int i = 0; i < c->cores; i++)
        if (evn_machine_core_number(machine, i) >= c->threads)
            c->threads = evn_machine_core_number(machine, i) + 1;
    if (c->threads > CLAIM_CORES) c->threads = CLAIM_CORES;
    c->taken = calloc((size_t)c->cores, 1);
    c->thread = malloc(sizeof *c->thread * (size_t)c->threads);
    if (!c->taken || !c->thread) {
        choice_close(c);
        return evn_fail(EVN_MEMORY, "units: not enough memory for %d cores", c->cores);
    }
    for (int i = 0; i < c->threads; i++) c->thread[i] = evn_machine_core_of(machine, i);
    return EVN_OK;
}

/* The unit claims all hardware threads of its cores, as another program may know the core by
 * another one; 0: another program has one of them. */
static int claim(evn_unit *u, const struct choice *c) {
    u->claims = 0;
    for (int i = 0; i < u->cores; i++) {
        const int core = evn_machine_core_of(c->machine, u->core[i]);
        for (int t = 0; t < c->threads; t++)
            if (c->thread[t] == core) u->claim[u->claims++] = t;
    }
    if (claim_take(u->claim, u->claims)) return 1;
    u->claims = 0;
    return 0;
}

static void give_back(evn_unit *u) {
    claim_give(u->claim, u->claims);
    u->claims = 0;
}

static void find_taken(struct choice *c) {
    for (int t = 0; t < c->threads; t++)
        if (c->thread[t] >= 0 && claim_is_taken(t)) c->taken[c->thread[t]] = 1;
}

/* The unit's cores are the first of cores first to first + cores - 1 that are not taken; 0: there
 * are too few. */
static int choose_among(evn_unit *u, const struct choice *c, int first, int cores) {
    int found = 0;
    for (int i = first; i < first + cores && found < u->cores; i++)
        if (!c->taken[i]) u->core[found++] = evn_machine_core_number(c->machine, i);
    return found == u->cores;
}

static int choose(evn_unit *u, const struct choice *c) {
    for (int i = 0; i < evn_machine_parts(c->machine); i++) {
        const evn_part *part = evn_machine_part(c->machine, i);
        if (choose_among(u, c, part->first, part->cores)) return 1;
    }
    return choose_among(u, c, 0, c->cores);
}

/* The unit's cores are among those that nobody has; 0: it has none. A program that does not wait
 * for others' choices may be faster: then once more, without what it has taken. */
static int choose_anew(evn_unit *u, struct choice *c) {
    for (int tries = 0; tries <= c->cores && choose(u, c); tries++) {
        if (claim(u, c)) {
            for (int i = 0; i < u->cores; i++)
                c->taken[evn_machine_core_of(c->machine, u->core[i])] = 1;
            return 1;
        }
        find_taken(c);
    }
    return 0;
}

/* Whether the unit may get other cores than it has. */
static int may_choose(const evn_unit *u) { return u->core && !u->named; }

/* Cores that the list names are claimed, and taken where another program has claimed them, too. */
static void claim_named(evn_units *all, struct choice *c) {
    for (int i = 0; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        if (!u->core || !u->named) continue;
        claim(u, c);
        for (int k = 0; k < u->cores; k++)
            c->taken[evn_machine_core_of(c->machine, u->core[k])] = 1;
    }
}

/* Units have the cores that are theirs without other programs; where they cannot claim these all
 * units choose anew. */
static void claim_all(evn_units *all, struct choice *c) {
    int done = 0;
    claim_named(all, c);
    while (done < all->count && (!may_choose(&all->unit[done]) || claim(&all->unit[done], c)))
        done++;
    if (done == all->count) return;
    while (done--)
        if (may_choose(&all->unit[done])) give_back(&all->unit[done]);
    find_taken(c);
    for (int i = 0; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        if (!may_choose(u) || choose_anew(u, c)) continue;
        free(u->core);
        u->core = NULL;
        atomic_store(&u->state, UNIT_TAKEN);
        all->bound = 0;
    }
}

/* Cores of threads that nothing binds: those of the opening thread or, where OpenMP has bound it to
 * one of its places, all of the machine. */
static void find_free(evn_units *all, const struct choice *c) {
    team_mask(&all->free);
    if (!omp_get_num_places()) return;
    CPU_ZERO(&all->free);
    for (int t = 0; t < c->threads && t < CPU_SETSIZE; t++)
        if (c->thread[t] >= 0) CPU_SET(t, &all->free);
}

/* Allocates a unit's state for claiming cores and releasing them. */
static evn_status prepare(evn_unit *u, const struct choice *c) {
    u->claim = malloc(sizeof *u->claim * (size_t)c->threads);
    u->tid = calloc((size_t)u->cores, sizeof *u->tid);
    if (u->claim && u->tid) return EVN_OK;
    return evn_fail(EVN_MEMORY, "units: not enough memory for %d units", u->all->count);
}

/* Marks the cores that the list names, each in taken[]. EVN_USAGE: one is not of this process, or
 * two numbers are of one core. */
static evn_status take_named(const evn_units *all, char *taken) {
    for (int i = 0; i < all->count; i++)
        for (int c = 0; all->unit[i].named && c < all->unit[i].cores; c++) {
            const int number = all->unit[i].named[c];
            const int core = evn_machine_core_of(all->machine, number);
            if (core < 0)
                return evn_fail(EVN_USAGE,
                                "units: \"%s\": core %d is none of the %d of this process; the "
                                "numbers are the system's, as evener info shows them",
                                all->text, number, evn_machine_cores(all->machine));
            if (taken[core])
                return evn_fail(EVN_USAGE,
                                "units: \"%s\": %d is a second hardware thread of a core that is "
                                "named already; EVENER_SMT=1 makes each a core",
                                all->text, number);
            taken[core] = 1;
        }
    return EVN_OK;
}

/* The unit's cores: those that the list names, or the machine's next that nobody has. */
static evn_status deal_cores(evn_unit *u, char *taken, int *next) {
    u->core = malloc(sizeof *u->core * (size_t)u->cores);
    if (!u->core)
        return evn_fail(EVN_MEMORY, "units: not enough memory for %d units", u->all->count);
    for (int c = 0; c < u->cores; c++) {
        while (!u->named && taken[*next]) ++*next;
        u->core[c] = u->named ? u->named[c] : evn_machine_core_number(u->all->machine, (*next)++);
    }
    return EVN_OK;
}

static evn_status deal_in_order(evn_units *all) {
    const int cores = evn_machine_cores(all->machine);
    char *taken = calloc((size_t)cores, 1);
    if (!taken) return evn_fail(EVN_MEMORY, "units: not enough memory for %d cores", cores);
    evn_status status = take_named(all, taken);
    for (int i = 0, next = 0; !status && i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        if (u->family != UNIT_CPU && all->crowded) continue;
        status = deal_cores(u, taken, &next);
        atomic_store(&u->state, all->binding == BOUND_TO_NONE ? UNIT_UNBOUND : UNIT_BOUND);
    }
    free(taken);
    return status;
}

evn_status binding_deal(evn_units *all) {
    for (int i = 0; i < all->count; i++) all->unit[i].look = INFINITY;
    evn_status status = deal_in_order(all);
    if (status || !all->claims) return status;
    struct choice c;
    status = choice_open(&c, all->machine);
    if (status) return status;
    for (int i = 0; !status && i < all->count; i++)
        if (all->unit[i].core) status = prepare(&all->unit[i], &c);
    if (!status) {
        find_free(all, &c);
        claim_choose();
        claim_all(all, &c);
        claim_chosen();
        for (int i = 0; i < all->count; i++)
            if (may_choose(&all->unit[i])) all->unit[i].look = 0; /* others keep their cores */
    }
    choice_close(&c);
    return status;
}

void binding_close(evn_unit *u) {
    /* a process forked since has no claims of its parent's */
    if (u->all->forks == process_forks()) give_back(u);
    contention_close(&u->contention);
    free(u->core);
    free(u->named);
    free(u->claim);
    free(u->tid);
    u->core = u->named = u->claim = NULL;
    u->tid = NULL;
}

/* ---- bound threads ---- */

int binding_core(const evn_unit *u, int thread) {
    if (!thread && !u->number && u->all->caller_free) return BINDING_NONE;
    const int state = atomic_load_explicit(&u->state, memory_order_relaxed);
    if (state == UNIT_TAKEN || state == UNIT_LET_GO) return BINDING_ANY;
    return u->core ? u->core[thread] : BINDING_NONE;
}

void binding_note(evn_unit *u, int thread) {
    if (u->tid) atomic_store(&u->tid[thread], gettid());
}

/* A thread that has ended since may have left its number to another process's. */
static void free_thread(pid_t thread, const cpu_set_t *mask) {
    if (thread && !syscall(SYS_tgkill, getpid(), thread, 0))
        sched_setaffinity(thread, sizeof *mask, mask);
}

static void let_go(evn_unit *u) {
    atomic_store(&u->state, UNIT_LET_GO);
    u->look = INFINITY;
    for (int i = 0; i < u->cores; i++) free_thread(atomic_load(&u->tid[i]), &u->all->free);
    give_back(u);
}

/* Seconds that a thread has run, and waited for a core; 0: the kernel does not say. */
static int read_times(const char *path, double *run, double *delay) {
    char text[96];
    unsigned long long ran, waited;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) return 0;
    text[got] = '\0';
    if (sscanf(text, "%llu %llu", &ran, &waited) != 2) return 0;
    *run = (double)ran * 1e-9;
    *delay = (double)waited * 1e-9;
    return 1;
}

static double read_delay(void) {
    double run, delay;
    return read_times("/proc/thread-self/schedstat", &run, &delay) ? delay : -1;
}

/* Whether a thread of the unit's team has waited for its core since the last call. One of them at a
 * time. */
static int team_waits(evn_unit *u) {
    struct team_wait *last = &u->wait, now = {.thread = last->thread};
    char path[64];
    if (!now.thread) now.thread = u->cores - 1;
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", atomic_load(&u->tid[now.thread]));
    const int known = read_times(path, &now.run, &now.delay);
    const int had = last->run > 0, thread = now.thread;
    const double run = now.run - last->run, delay = now.delay - last->delay;
    if (had || !known) now = (struct team_wait){.thread = thread - 1}; /* the next one */
    *last = now;
    return known && had && contention_is_delay(run, delay);
}

static int read_idle(struct idle *out) { return idle_read(out, ""); }

void binding_look(evn_unit *u, double now) {
    struct contention *c = &u->contention;
    struct contention_sample sample = {.now = now, .delay = -1};
    struct timespec run;
    struct rusage usage;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &run) || getrusage(RUSAGE_THREAD, &usage)) {
        u->look = INFINITY;
        return;
    }
    sample.run = (double)run.tv_sec + 1e-9 * (double)run.tv_nsec;
    sample.preempted = (double)usage.ru_nivcsw;
    if (contention_may_be(&c->last, &sample)) sample.delay = read_delay();
    const enum contention_verdict verdict = contention_look(c, &sample, read_idle, &u->all->free);
    if (u->cores > 1 && !atomic_load(&u->all->spares) && c->waited && team_waits(u))
        spare_open(u->all);
    if (u->cores == 1 && u->number && c->waited) units_interrupted(u->all);
    if (verdict == CONTENTION_LET_GO)
        let_go(u);
    else
        u->look = now + c->pause;
}

const char *evn_unit_binding(const evn_unit *u) {
    NEED_OR("", u, "a unit");
    const int state = atomic_load_explicit(&u->state, memory_order_relaxed);
    if (state == UNIT_TAKEN) return "taken";
    if (state == UNIT_LET_GO) return "let go";
    if (state == UNIT_UNBOUND || !u->core) return "none";
    return u->all->binding == BOUND_TO_UNIT ? "unit" : "core";
}
