/* Leaders: the threads that do the units' jobs.
 *
 * They are POSIX threads and each opens its own top-level OpenMP regions: an inner region under a
 * nested one costs 56 us with libgomp, under a thread of its own 5.5 us.
 */
#include "unit/team.h"
#include "base/argument.h"
#include "base/process.h"
#include "base/thread.h"
#include <string.h>

/* How often a waiting leader looks before it sleeps: about 50 us, longer than an exchange lasts. */
enum { SPINS = 1500 };

static void *lead(void *p) {
    evn_unit *u = p;
    evn_units *all = u->all;
    for (unsigned seen = 0;; seen++) {
        gate_wait(&all->begin, seen);
        if (all->stop) return NULL;
        team_run(u, all->job, all->arg);
        /* the last one to finish opens the gate to the caller */
        if (atomic_fetch_sub(&all->running, 1) == 1) gate_open(&all->end);
    }
}

static void give_out(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    all->job = job;
    all->arg = arg;
    atomic_store(&all->running, all->count - 1);
    gate_open(&all->begin);
}

/* Whether the calling thread may give a job to these units now. */
static evn_status check_caller(const evn_units *all) {
    if (all->forks != process_forks())
        return evn_fail(EVN_USAGE,
                        "units: \"%s\" were opened before this process was forked, and "
                        "their threads are not in it; open units here",
                        all->text);
    if (!pthread_equal(all->caller, pthread_self()))
        return evn_fail(EVN_USAGE,
                        "units: \"%s\" belong to the thread that opened them, and "
                        "another one has a job for them",
                        all->text);
    if (evn_units_running(all))
        return evn_fail(EVN_USAGE,
                        "units: a job of \"%s\" has a job for the same units; it must "
                        "return first",
                        all->text);
    return EVN_OK;
}

/* The job on all units, or on unit 0 by its leader alone. */
static evn_status run_on(evn_units *all, int alone, void (*job)(evn_unit *, void *), void *arg) {
    const int units = alone ? 1 : all->count;
    if (!all->threads) {
        atomic_store_explicit(&all->working, 1, memory_order_relaxed);
        for (int u = 0; u < units; u++) team_run_described(&all->unit[u], job, arg);
        atomic_store_explicit(&all->working, 0, memory_order_relaxed);
        return EVN_OK;
    }
    evn_status status = check_caller(all);
    if (!status) status = team_begin(all, alone);
    if (status) return status;
    atomic_store_explicit(&all->working, 1, memory_order_relaxed);
    const unsigned seen = gate_count(&all->end);
    if (units > 1) give_out(all, job, arg);
    team_run(&all->unit[0], job, arg);
    if (units > 1) gate_wait(&all->end, seen);
    atomic_store_explicit(&all->working, 0, memory_order_relaxed);
    team_end(all);
    return EVN_OK;
}

int evn_units_running(const evn_units *all) {
    NEED_OR(0, all, "units");
    return atomic_load_explicit(&all->working, memory_order_relaxed);
}

evn_status evn_units_run(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    NEED(all, "units");
    NEED(job, "a job");
    return run_on(all, 0, job, arg);
}

evn_status leaders_run_alone(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    return run_on(all, 1, job, arg);
}

void evn_unit_synchronize(evn_unit *u) {
    NEED_OR(, u, "a unit");
    evn_units *all = u->all;
    if (all->count == 1 || !all->threads) return;
    if (!evn_units_running(all)) { /* nobody else would come */
        evn_fail(EVN_USAGE,
                 "units: evn_unit_synchronize() by unit %d of \"%s\" outside of evn_units_run()",
                 u->number, all->text);
        return;
    }
    unsigned seen = gate_count(&all->barrier);
    if (atomic_fetch_add(&all->arrived, 1) == all->count - 1) {
        atomic_store(&all->arrived, 0);
        gate_open(&all->barrier);
    } else {
        gate_wait(&all->barrier, seen);
    }
}

static void bind_job(evn_unit *u, void *unused) {
    (void)unused;
    if (u->number) team_bind(u, u->cores); /* unit 0's is bound before the job */
}

evn_status leaders_status(const evn_units *all) {
    for (int i = 0; i < all->count; i++)
        if (all->unit[i].status) return evn_fail(all->unit[i].status, "%s", all->unit[i].message);
    return EVN_OK;
}

/* What no body gets by with, and OpenMP's runtime does not say. */
enum { LEAST_STACK = 64 << 10 };

/* All threads that the units need beside the caller's. */
static evn_status try_threads(const evn_units *all) {
    int count = -1, teams = 0;
    for (int i = 0; i < all->count; i++) count += all->unit[i].cores;
    for (int i = 0; i < all->count; i++) teams += all->unit[i].cores > 1;
    evn_status status = evn_threads_try(count, teams ? LEAST_STACK : 0);
    return status ? evn_fail(status, "units: \"%s\": %s", all->text, evn_message()) : EVN_OK;
}

evn_status leaders_start(evn_units *all) {
    if (team_is_lost() && all->unit[0].cores > 1)
        return evn_fail(EVN_USAGE,
                        "units: this thread had a team of OpenMP's before the process was "
                        "forked, and the runtime does not know that it is gone; open "
                        "units in a new thread");
    evn_status status = try_threads(all);
    if (status) return status;
    all->caller = pthread_self();
    all->forks = process_forks();
    all->threads = 1;
    if (all->stays) team_hold_caller();
    const int spins = all->bound && !all->crowded ? SPINS : 0;
    gate_init(&all->begin, spins);
    gate_init(&all->end, spins);
    gate_init(&all->barrier, spins);
    for (int i = 1; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        int error = thread_make(&u->thread, lead, u);
        if (error)
            return evn_fail(EVN_SYSTEM, "units: the thread of unit %d of %d cannot be made: %s", i,
                            all->count, strerror(error));
        u->started = 1;
    }
    status = evn_units_run(all, bind_job, NULL);
    return status ? status : leaders_status(all);
}

void leaders_stop(evn_units *all) {
    if (!all->threads) return;
    all->stop = 1;
    gate_open(&all->begin);
    for (int i = 1; i < all->count; i++) {
        if (all->unit[i].started) pthread_join(all->unit[i].thread, NULL);
        all->unit[i].started = 0;
    }
    all->stop = 0;
    all->threads = 0;
    gate_destroy(&all->begin);
    gate_destroy(&all->end);
    gate_destroy(&all->barrier);
    if (!pthread_equal(all->caller, pthread_self())) return;
    team_hold_caller();
    team_disband(&all->unit[0]);
    team_let_caller();
    if (all->stays) team_let_caller();
}
