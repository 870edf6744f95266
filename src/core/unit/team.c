/* Teams: where their threads are bound, and which unit a thread belongs to.
 *
 * The runtime binds the teams of all leaders to the same first places when OMP_PROC_BIND is set, so
 * every team's first region binds its threads again; the runtime keeps them, and with them the
 * binding. The team of the calling thread is also that of its ordinary regions, which may let some
 * of its threads end or add others: so it is looked at before each job, and a thread that does not
 * know that it belongs here is bound.
 */
#include "unit/team.h"
#include "unit/binding.h"
#include "unit/share.h"
#include "unit/spare.h"
#include "unit/taken.h"
#include "base/argument.h"
#include "base/process.h"
#include <evener/clock.h>
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tag by which threads know their unit. The runtime may keep a thread longer than its unit
 * lives, so tags are never freed but reused, and a thread knows the use for which it was marked. */
struct tag {
    _Alignas(64) atomic_ulong use;
    _Atomic(evn_unit *) unit; /* the unit while it does a job */
    struct tag *next;
};

static pthread_mutex_t tags_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tag *tags; /* list of free tags */
static unsigned long uses;

/* The calling thread's tag, and the core to which it was bound with it, or BINDING_NONE or
 * BINDING_ANY. */
struct mark {
    struct tag *tag;
    unsigned long use;
    int core;
};
static _Thread_local struct mark mine = {.core = BINDING_NONE};

/* State of the calling thread from before it became the leader of unit 0, of one or more lists of
 * units. */
static _Thread_local struct {
    int holds;
    struct cpus mask;
    int saved;               /* 1: `mask` is saved */
    int dynamic, threads;    /* OpenMP's settings before the loop */
    unsigned long bound_for; /* serial of the units that had its team last */
    int has_team;
    unsigned forks; /* process_forks() when it had a team */
} caller;

evn_status team_open(evn_unit *u) {
    pthread_mutex_lock(&tags_lock);
    struct tag *t = tags;
    if (t) tags = t->next;
    const unsigned long use = ++uses;
    pthread_mutex_unlock(&tags_lock);
    if (!t) t = aligned_alloc(_Alignof(struct tag), sizeof *t);
    if (!t) return evn_fail(EVN_MEMORY, "units: not enough memory");
    atomic_init(&t->unit, NULL);
    atomic_store(&t->use, use);
    u->tag = t;
    return EVN_OK;
}

void team_close(evn_unit *u) {
    if (!u->tag) return;
    atomic_store(&u->tag->use, 0);
    pthread_mutex_lock(&tags_lock);
    u->tag->next = tags;
    tags = u->tag;
    pthread_mutex_unlock(&tags_lock);
    u->tag = NULL;
}

evn_unit *evn_units_here(void) {
    struct tag *t = mine.tag;
    if (!t || atomic_load_explicit(&t->use, memory_order_relaxed) != mine.use) return NULL;
    return atomic_load_explicit(&t->unit, memory_order_relaxed);
}

/* Binds the calling thread to a core of the unit, if threads are bound. */
static int bind_to(const evn_unit *u, int core) {
    struct cpus mask = {0};
    for (int i = 0; i < u->cores; i++)
        if (u->core[i] == core || u->all->binding == BOUND_TO_UNIT) cpus_add(&mask, u->core[i]);
    return cpus_set(0, &mask);
}

/* 1 if the calling thread may run on `core` only. */
static int is_bound_to(int core) {
    struct cpus mask;
    return !cpus_get(&mask) && cpus_count(&mask) == 1 && cpus_have(&mask, core);
}

/* Lets the thread run on any core of the process; if the system refuses that, it stays. */
static void let_run(const evn_unit *u) { cpus_set(0, &u->all->free); }

/* A core that was claimed may be taken away from the process later, by a control group, or the
 * system may begin to refuse binding: then the thread runs wherever the process may, and is bound
 * when that is possible again. */
static int bind_if_there(const evn_unit *u, struct mark *wanted) {
    const int error = bind_to(u, wanted->core);
    if (!error || !u->all->claims) return error;
    wanted->core = BINDING_ANY;
    let_run(u);
    return 0;
}

/* Makes the calling thread number `me` of the team, and `place` of the unit's threads; 0, or an
 * errno. If units are not bound, it may run on `mask`, where others had bound it. */
static int join(evn_unit *u, int me, int place, const struct cpus *mask) {
    struct mark wanted = {u->tag, atomic_load(&u->tag->use), binding_core(u, me)};
    const int is_mine =
        mine.tag == wanted.tag && mine.use == wanted.use && mine.core == wanted.core;
    int error = 0;
    if (!is_mine) taken_note(u, place);
    if (wanted.core >= 0) {
        /* a runtime that binds threads itself may have moved it: then it runs elsewhere */
        const int is_there = is_mine && sched_getcpu() == wanted.core;
        if (!is_there) error = bind_if_there(u, &wanted);
    } else if (wanted.core == BINDING_ANY) {
        if (!is_mine) let_run(u);
    } else if (mine.core != BINDING_NONE && mask) {
        error = cpus_set(0, mask);
    }
    if (!error) mine = wanted;
    return error;
}

int team_join(evn_unit *u, int core) { return join(u, core, u->cores + core, NULL); }

static void nothing(void) {}

void team_bind(evn_unit *u, int threads) {
    const struct cpus *mask = caller.holds && caller.saved ? &caller.mask : NULL;
    u->status = EVN_OK;
    omp_set_dynamic(0);
    omp_set_num_threads(u->cores);
    int got = 1, error;
    atomic_int failed = -1, why = 0;
    /* the runtime takes a thread to its first place when that opens its first region */
    if (!mine.tag && omp_get_num_places()) {
#pragma omp parallel num_threads(1)
        nothing();
    }
    if ((error = join(u, 0, 0, mask))) {
        failed = 0;
        why = error;
    }
    if (threads > 1) {
        caller.has_team = 1;
        caller.forks = process_forks();
#pragma omp parallel num_threads(threads)
        {
            const int me = omp_get_thread_num();
            const int refused = me ? join(u, me, me, mask) : 0;
            if (refused) {
                atomic_store(&failed, me);
                atomic_store(&why, refused);
            }
            if (!me) got = omp_get_num_threads();
        }
    }
    if (got != threads) {
        u->status = EVN_SYSTEM;
        snprintf(u->message, sizeof u->message,
                 "units: unit %d got a team of %d threads instead of %d; look at OMP_THREAD_LIMIT",
                 u->number, got, threads);
    } else if (failed >= 0) {
        u->status = EVN_SYSTEM;
        snprintf(u->message, sizeof u->message,
                 "units: thread %d of unit %d cannot be bound to core %d: %s", failed, u->number,
                 binding_core(u, failed),
                 why == EINVAL ? "it is outside of what this process may use" : strerror(why));
    }
}

/* A job at work, on the stack of its leader. This file is compiled with -fexceptions, so that
 * left() is called also where the stack is unwound: by pthread_exit(), by an exception of C++ that
 * the job's caller would catch. The other leaders wait for this one for ever then, and the data of
 * the job are gone from under them. */
struct at_work {
    const evn_unit *unit; /* NULL: it has returned */
};

static void left(const struct at_work *w) {
    if (!w->unit) return;
    fprintf(stderr,
            "units: the job of unit %d of \"%s\" has ended its thread, or thrown an exception; a "
            "job, and a loop's body, must return\n",
            w->unit->number, w->unit->all->text);
    abort();
}

void team_run(evn_unit *u, void (*job)(evn_unit *, void *), void *arg) {
    __attribute__((cleanup(left))) struct at_work w = {u};
    atomic_store_explicit(&u->tag->unit, u, memory_order_relaxed);
    job(u, arg);
    w.unit = NULL;
    atomic_store_explicit(&u->tag->unit, NULL, memory_order_relaxed);
    if (u->look < INFINITY) unit_look(u, evn_now());
}

void team_run_described(evn_unit *u, void (*job)(evn_unit *, void *), void *arg) {
    const struct mark before = mine;
    mine = (struct mark){u->tag, atomic_load(&u->tag->use), before.core};
    team_run(u, job, arg);
    mine = before;
}

/* Gives OpenMP regions in a job the unit's cores. */
static void begin_regions(const evn_unit *first) {
    caller.dynamic = omp_get_dynamic();
    caller.threads = omp_get_max_threads();
    omp_set_dynamic(0);
    omp_set_num_threads(first->cores);
}

static void end_regions(void) {
    omp_set_dynamic(caller.dynamic);
    omp_set_num_threads(caller.threads);
}

void team_hold_caller(void) {
    if (caller.holds++) return;
    caller.saved = !cpus_get(&caller.mask);
}

void team_let_caller(void) {
    if (--caller.holds) return;
    if (caller.saved && mine.core != BINDING_NONE) cpus_set(0, &caller.mask);
    mine = (struct mark){.core = BINDING_NONE};
    caller.bound_for = 0;
}

void team_mask(struct cpus *mask) {
    if (caller.holds && caller.saved)
        *mask = caller.mask;
    else
        cpus_get(mask);
}

#define SETTLE 2e-3 /* s between two moves of the caller to its core */

/* 1 if the calling thread is on a core to which another unit's thread is bound. */
static int is_in_the_way(const evn_units *all, int cpu) {
    for (int i = 1; i < all->count; i++) {
        const evn_unit *u = &all->unit[i];
        for (int c = 0; c < u->cores && binding_core(u, 0) >= 0; c++)
            if (u->core[c] == cpu) return 1;
    }
    return 0;
}

/* The system puts a thread that is free on any core, also where another unit's is bound, and would
 * leave both there for milliseconds: one that is in the way is sent to unit 0's core, and is free
 * again. */
static void settle(evn_units *all) {
    const evn_unit *first = &all->unit[0];
    struct cpus mask, core = {0};
    if (!first->core || atomic_load_explicit(&first->state, memory_order_relaxed) != UNIT_BOUND)
        return;
    const int cpu = sched_getcpu();
    if (cpu == first->core[0] || !is_in_the_way(all, cpu)) return;
    const double now = evn_now();
    if (now - all->settled < SETTLE) return;
    all->settled = now;
    cpus_add(&core, first->core[0]);
    if (!cpus_get(&mask) && !cpus_set(0, &core)) cpus_set(0, &mask);
}

static int has_team(const evn_units *all) {
    for (int i = 0; i < all->count; i++)
        if (all->unit[i].cores > 1) return 1;
    return 0;
}

/* OpenMP regions of the program between jobs leave threads that spin for milliseconds on the cores
 * of units. The calling thread shortens that, since LLVM's runtime sets it for the caller's teams
 * only. Teams of units gain by long waits, so units that have some are left out. */
static void shorten_waits(evn_units *all) {
    atomic_store_explicit(&all->interrupted, 0, memory_order_relaxed);
    if (!atomic_load(&all->spares) && !has_team(all)) spare_open(all);
}

void units_interrupted(evn_units *all) {
    atomic_store_explicit(&all->interrupted, 1, memory_order_relaxed);
}

evn_status team_begin(evn_units *all, int alone) {
    const int stays = all->stays || all->caller_free;
    evn_unit *first = &all->unit[0];
    if (atomic_load_explicit(&all->interrupted, memory_order_relaxed)) shorten_waits(all);
    if (!stays) team_hold_caller();
    begin_regions(first);
    if (all->caller_free && all->count > 1 && !alone) settle(all);
    if (stays && caller.bound_for == all->serial) return EVN_OK;
    caller.bound_for = alone ? 0 : all->serial;
    team_bind(first, alone ? 1 : first->cores);
    if (!first->status) return EVN_OK;
    caller.bound_for = 0;
    team_end(all);
    return evn_fail(first->status, "%s", first->message);
}

void team_end(evn_units *all) {
    end_regions();
    if (!(all->stays || all->caller_free)) team_let_caller();
}

void team_disband(evn_unit *u) {
    caller.bound_for = 0;
    if (u->cores == 1 || binding_core(u, 0) == BINDING_NONE || !caller.saved) return;
    const struct cpus *mask = &caller.mask; /* the mask of this thread, not of its team's */
    begin_regions(u);
#pragma omp parallel num_threads(u->cores)
    if (omp_get_thread_num() && mine.core != BINDING_NONE) {
        cpus_set(0, mask);
        mine = (struct mark){.core = BINDING_NONE};
    }
    end_regions();
}

int team_is_lost(void) { return caller.has_team && caller.forks != process_forks(); }

/* ---- what the threads are really bound to ---- */

static void check_job(evn_unit *u, void *unused) {
    (void)unused;
    u->status = EVN_OK;
    if (binding_core(u, 0) < 0 || u->all->binding != BOUND_TO_CORE) return;
    atomic_int wrong = is_bound_to(u->core[0]) ? -1 : 0;
    if (u->cores > 1) {
#pragma omp parallel num_threads(u->cores)
        {
            const int me = omp_get_thread_num();
            if (!is_bound_to(u->core[me])) atomic_store(&wrong, me);
        }
    }
    if (wrong < 0) return;
    u->status = EVN_SYSTEM;
    snprintf(u->message, sizeof u->message,
             "units: thread %d of unit %d is not bound to its core %d", wrong, u->number,
             u->core[wrong]);
}

evn_status evn_units_check_binding(evn_units *all) {
    NEED(all, "units");
    evn_status status = evn_units_run(all, check_job, NULL);
    return status ? status : leaders_status(all);
}
