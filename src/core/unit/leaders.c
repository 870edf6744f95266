/* Leaders: the threads that do the units' jobs.
 *
 * They are POSIX threads and each opens its own top-level OpenMP regions: an inner region under a
 * nested one costs 56 us with libgomp, under a thread of its own 5.5 us. */
#include "unit/share.h"
#include "unit/spare.h"
#include "unit/team.h"
#include "base/argument.h"
#include "base/process.h"
#include "base/thread.h"
#include <evener/clock.h>
#include <evener/text.h>
#include <string.h>

/* Leaders of GPU units cannot be replaced: the unit's queues belong to their threads. */
static unsigned class_of(const evn_unit *u) {
    return u->family != UNIT_CPU ? FORK_BOUND : FORK_FREE;
}

static void *lead(void *p) {
    evn_unit *u = p;
    evn_units *all = u->all;
    unsigned seen = 0;
    while (fork_enter(&all->fork, class_of(u), &seen)) {
        team_run(u, all->job, all->arg);
        fork_leave(&all->fork);
    }
    return NULL;
}

/* Opens the job to the other leaders: all must come, or in a shared job those of GPU units. */
static void open_job(evn_units *all, int shared, void (*job)(evn_unit *, void *), void *arg) {
    const int devices = all->gpus - (all->unit[0].family != UNIT_CPU);
    all->job = job;
    all->arg = arg;
    if (shared)
        fork_open(&all->fork, devices, FORK_BOUND);
    else
        fork_open(&all->fork, all->count - 1, FORK_ALL);
}

/* EVN_OK if the calling thread may give these units a job now. */
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
    if (units_running(all))
        return evn_fail(EVN_USAGE,
                        "units: a job within a job of \"%s\"; the outer one must return first",
                        all->text);
    return EVN_OK;
}

/* Units that do a job: all, those that arrive in time, or unit 0 alone. */
enum who { EACH_UNIT, WHO_COMES, UNIT_0 };

static evn_status run_on(evn_units *all, enum who who, void (*job)(evn_unit *, void *), void *arg) {
    const int units = who == UNIT_0 ? 1 : all->count;
    if (!all->threads) {
        atomic_store_explicit(&all->working, 1, memory_order_relaxed);
        for (int u = 0; u < units; u++) team_run_described(&all->unit[u], job, arg);
        atomic_store_explicit(&all->working, 0, memory_order_relaxed);
        return EVN_OK;
    }
    evn_status status = check_caller(all);
    if (!status) status = team_begin(all, who == UNIT_0);
    if (status) return status;
    atomic_store_explicit(&all->working, 1, memory_order_relaxed);
    if (units > 1) open_job(all, who == WHO_COMES, job, arg);
    team_run(&all->unit[0], job, arg);
    if (units > 1) fork_close(&all->fork);
    atomic_store_explicit(&all->working, 0, memory_order_relaxed);
    team_end(all);
    return EVN_OK;
}

int units_running(const evn_units *all) {
    return atomic_load_explicit(&all->working, memory_order_relaxed);
}

evn_status evn_units_run(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    NEED(all, "units");
    NEED(job, "a job");
    return run_on(all, EACH_UNIT, job, arg);
}

evn_status units_share(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    return run_on(all, WHO_COMES, job, arg);
}

evn_status units_alone(evn_units *all, void (*job)(evn_unit *, void *), void *arg) {
    return run_on(all, UNIT_0, job, arg);
}

void evn_unit_synchronize(evn_unit *u) {
    NEED_OR(, u, "a unit");
    evn_units *all = u->all;
    if (all->count == 1 || !all->threads) return;
    if (!units_running(all)) { /* outside of a job no other leader comes */
        evn_fail(EVN_USAGE,
                 "units: evn_unit_synchronize() by unit %d of \"%s\" outside of evn_units_run(), "
                 "in which every leader calls it",
                 u->number, all->text);
        return;
    }
    barrier_wait(&all->barrier, all->count);
}

void units_cores(const evn_units *all, struct cpus *cores) {
    *cores = all->free;
    for (int i = 0; i < all->count; i++) {
        const evn_unit *u = &all->unit[i];
        for (int c = 0; u->core && c < u->cores; c++) cpus_add(cores, u->core[c]);
    }
}

double units_rest(evn_units *all) { return all->rested = evn_now(); }
double units_idle(const evn_units *all, double now) { return all->rested ? now - all->rested : 0; }

double unit_spin(const evn_unit *u) {
    return u->all->bound && !u->all->crowded ? GATE_SPIN : GATE_SPIN_FREE;
}

/* Binds a team; teams on cores that other programs have claimed get short waits. */
static void bind_job(evn_unit *u, void *unused) {
    (void)unused;
    if (u->cores > 1 && atomic_load(&u->state) == UNIT_TAKEN) spare_open(u->all);
    if (u->number)
        team_bind(u, u->cores); /* the calling thread, unit 0's leader, is bound before the job */
}

evn_status leaders_status(const evn_units *all) {
    for (int i = 0; i < all->count; i++)
        if (all->unit[i].status) return evn_fail(all->unit[i].status, "%s", all->unit[i].message);
    return EVN_OK;
}

/* Least stack of a thread: with less, bodies overflow it, and OpenMP's runtime reports nothing. */
enum { LEAST_STACK = 64 << 10 };

/* Tries to create all threads that the units need beside the caller. */
static evn_status try_threads(const evn_units *all) {
    int count = -1, teams = 0;
    for (int i = 0; i < all->count; i++) count += all->unit[i].cores;
    for (int i = 0; i < all->count; i++) teams += all->unit[i].cores > 1;
    evn_status status = evn_threads_try(count, teams ? LEAST_STACK : 0);
    return status ? evn_fail(status, "units: \"%s\": %s", all->text, evn_message()) : EVN_OK;
}

/* Counts the processors of the process: where OpenMP has bound the caller its runtime knows more of
 * them. */
static void find_processors(evn_units *all) {
    struct cpus mask;
    team_mask(&mask);
    const int allowed = evn_machine_about(all->machine).allowed, count = cpus_count(&mask);
    all->processors = count > allowed ? count : allowed;
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
    find_processors(all);
    fork_init(&all->fork, unit_spin(&all->unit[0]));
    barrier_init(&all->barrier, unit_spin(&all->unit[0]));
    for (int i = 1; i < all->count; i++) {
        evn_unit *u = &all->unit[i];
        int error = thread_make(&u->thread, lead, u);
        char why[700];
        if (error)
            return evn_fail(EVN_SYSTEM, "units: the thread of unit %d of %d cannot be made: %s", i,
                            all->count, evn_limits_text(error, why, sizeof why));
        u->started = 1;
    }
    status = evn_units_run(all, bind_job, NULL);
    return status ? status : leaders_status(all);
}

void leaders_stop(evn_units *all) {
    if (!all->threads) return;
    fork_end(&all->fork);
    for (int i = 1; i < all->count; i++) {
        if (all->unit[i].started) pthread_join(all->unit[i].thread, NULL);
        all->unit[i].started = 0;
    }
    for (int i = 0; helpers_close && i < all->count; i++) helpers_close(&all->unit[i]);
    spare_close(all);
    all->threads = 0;
    if (!pthread_equal(all->caller, pthread_self())) return;
    team_hold_caller();
    team_disband(&all->unit[0]);
    team_let_caller();
    if (all->stays) team_let_caller();
}
