/* Cores of units among the programs of a host: claimed when units are opened, and let go where they
 * turn out to be contended. */
#include "unit/binding.h"
#include "unit/share.h"
#include "unit/spare.h"
#include "unit/taken.h"
#include "unit/team.h"
#include "base/argument.h"
#include "base/bind.h"
#include "base/claim.h"
#include "base/process.h"
#include "machine/cores.h"
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
    static const enum unit_binding binding[] = {[BIND_AUTO] = BOUND_TO_CORE,
                                                [BIND_CORES] = BOUND_TO_CORE,
                                                [BIND_UNIT] = BOUND_TO_UNIT,
                                                [BIND_NONE] = BOUND_TO_NONE};
    enum bind_wish wish;
    evn_status status = bind_read(&wish);
    if (status) return status;
    const int has_all = evn_machine_cores(machine) == evn_machine_about(machine).allowed;
    const int is_auto = wish == BIND_AUTO;
    *out = (struct binding_wish){has_all || !is_auto, binding[wish], is_auto};
    return EVN_OK;
}

evn_status binding_try(evn_units *all, int named) {
    const int error = !all->bound || all->binding == BOUND_TO_NONE ? 0 : bind_refused();
    if (!error) return EVN_OK;
    if (named || !all->claims)
        return evn_fail(EVN_SYSTEM,
                        "units: \"%s\" %s, and the system refuses that (sched_setaffinity(): %s); "
                        "%s",
                        all->text, named ? "names cores" : "are to be bound by EVENER_BIND",
                        strerror(error),
                        named ? "leave the names out" : "EVENER_BIND=auto goes on unbound");
    bind_warn(error);
    all->bound = all->claims = 0;
    team_mask(&all->free);
    return EVN_OK;
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
    if (c->threads > CPUS_MAX) c->threads = CPUS_MAX;
    c->taken = calloc((size_t)c->cores, 1);
    c->thread = malloc(sizeof *c->thread * (size_t)c->threads);
    if (!c->taken || !c->thread) {
        choice_close(c);
        return evn_fail(EVN_MEMORY, "units: not enough memory for %d cores", c->cores);
    }
    for (int i = 0; i < c->threads; i++) c->thread[i] = machine_core_of(machine, i);
    return EVN_OK;
}

/* The unit claims all hardware threads of its cores, as another program may know the core by
 * another one; 0: another program has one of them. */
static int claim(evn_unit *u, const struct choice *c) {
    u->claims = 0;
    for (int i = 0; i < u->cores; i++) {
        const int core = machine_core_of(c->machine, u->core[i]);
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

/* Gives the unit cores from first .. first + cores - 1 that are not taken; 0: there are too few. */
static int choose_among(evn_unit *u, const struct choice *c, int first, int cores) {
    int found = 0;
    for (int i = first; i < first + cores && found < u->cores; i++)
        if (!c->taken[i]) u->core[found++] = evn_machine_core_number(c->machine, i);
    return found == u->cores;
}

static int choose(evn_unit *u, const struct choice *c) {
    for (int i = 0; i < evn_machine_about(c->machine).parts; i++) {
        const evn_part *part = evn_machine_part(c->machine, i);
        if (choose_among(u, c, part->first, part->cores)) return 1;
    }
    return choose_among(u, c, 0, c->cores);
}

/* Gives the unit cores that nobody has claimed; 0: there are none. Another program may claim them
 * first: then once more, without these. */
static int choose_anew(evn_unit *u, struct choice *c) {
    for (int tries = 0; tries <= c->cores && choose(u, c); tries++) {
        if (claim(u, c)) {
            for (int i = 0; i < u->cores; i++)
                c->taken[machine_core_of(c->machine, u->core[i])] = 1;
            return 1;
        }
        find_taken(c);
    }
    return 0;
}

/* 1 if the unit may get other cores than it has. */
static int may_choose(const evn_unit *u) { return u->core && !u->named; }

/* Claims the cores that the list names; units keep them even if another program has claimed
 * them. */
static void claim_named(evn_units *all, struct choice *c) {
    for (int i = 0; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        if (!u->core || !u->named) continue;
        claim(u, c);
        for (int k = 0; k < u->cores; k++) c->taken[machine_core_of(c->machine, u->core[k])] = 1;
    }
}

/* Claims for each unit its cores in the machine's order; if other programs have claimed some, all
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
    memset(&all->free, 0, sizeof all->free);
    for (int t = 0; t < c->threads; t++)
        if (c->thread[t] >= 0) cpus_add(&all->free, t);
}

/* Allocates a unit's state for claiming cores and releasing them. */
static evn_status prepare(evn_unit *u, const struct choice *c) {
    u->claim = malloc(sizeof *u->claim * (size_t)c->threads);
    if (u->claim) return EVN_OK;
    return evn_fail(EVN_MEMORY, "units: not enough memory for %d units", u->all->count);
}

/* Marks the cores that the list names, each in taken[]. EVN_USAGE: one is not of this process, or
 * two numbers are of one core. */
static evn_status take_named(const evn_units *all, char *taken) {
    for (int i = 0; i < all->count; i++)
        for (int c = 0; all->unit[i].named && c < all->unit[i].cores; c++) {
            const int number = all->unit[i].named[c];
            const int core = machine_core_of(all->machine, number);
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

/* Gives the unit its cores: those that the list names, or the machine's next that nobody has. */
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
            if (may_choose(&all->unit[i])) all->unit[i].look = 0; /* named cores stay */
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
    u->core = u->named = u->claim = NULL;
}

/* ---- bound threads ---- */

int binding_core(const evn_unit *u, int thread) {
    if (u->all->binding == BOUND_TO_NONE) return BINDING_NONE;
    if (!thread && !u->number && u->all->caller_free) return BINDING_NONE;
    const int state = atomic_load_explicit(&u->state, memory_order_relaxed);
    if (state == UNIT_TAKEN || state == UNIT_LET_GO) return BINDING_ANY;
    return u->core ? u->core[thread] : BINDING_NONE;
}

/* A thread that has ended since may have left its number to another process's. */
static void free_thread(pid_t thread, const struct cpus *mask) {
    if (thread && !syscall(SYS_tgkill, getpid(), thread, 0)) cpus_set(thread, mask);
}

static void let_go(evn_unit *u) {
    atomic_store(&u->state, UNIT_LET_GO);
    u->look = INFINITY;
    for (int i = 0; i < unit_threads(u); i++)
        free_thread(atomic_load(&u->threads[i].id), &u->all->free);
    give_back(u);
}

static double read_delay(void) {
    double run, delay;
    return taken_read(0, &run, &delay) ? delay : -1;
}

/* 1 if one thread of the unit's team has waited for its core since the last call; another thread at
 * each call. */
static int team_waits(evn_unit *u) {
    struct team_wait *last = &u->wait, now = {.thread = last->thread};
    if (!now.thread) now.thread = u->cores - 1;
    const int known = taken_read(atomic_load(&u->threads[now.thread].id), &now.run, &now.delay);
    const int had = last->run > 0, thread = now.thread;
    const double run = now.run - last->run, delay = now.delay - last->delay;
    if (had || !known) now = (struct team_wait){.thread = thread - 1}; /* the next thread */
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

const char *unit_binding(const evn_unit *u) {
    const int state = atomic_load_explicit(&u->state, memory_order_relaxed);
    if (state == UNIT_TAKEN) return "taken";
    if (state == UNIT_LET_GO) return "let go";
    if (state == UNIT_UNBOUND || !u->core) return "none";
    return u->all->binding == BOUND_TO_UNIT ? "unit" : "core";
}
