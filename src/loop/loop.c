/* The loop: batches to bodies, clocks around them, and the times back to the schedule.
 *
 * What a unit writes while it runs (its times, its counters) lies in memory of its own, a cache
 * line apart from the others', and is gathered after the last one is done.
 */
#include "base/clock.h"
#include <evener/status.h>
#include <evener/loop.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct evn_batch {
    const int *task;
    int count, next;
    double since;    /* when the task at hand, or the batch, began */
    double *seconds; /* of all tasks */
    struct worker *worker;
};

/* The latest bursts of a unit; `next` of them were ever recorded. */
struct ring {
    evn_burst *burst;
    long next;
    int size;
};
enum { BURSTS = 1024 };

/* What one unit does in one instance. */
struct worker {
    _Alignas(64) evn_batch batch;
    int *mine;   /* its tasks, when owners are fixed; or the chunk drawn */
    int tasks;   /* computed in this instance */
    double busy; /* in bodies in this instance */
    evn_status status;
    char message[512];
    evn_unit_stats stats;
    struct ring ring;
    evn_burst_kind kind; /* of the instance at hand */
    int instance;
    double origin;
};

struct evn_loop {
    evn_units *units;
    evn_schedule *schedule;
    const evn_problem *problem;
    int count;     /* units */
    double origin; /* when it was opened */
    struct worker *worker;
    int *owner, *before; /* of each task now, and in the instance before */
    double *seconds;
    evn_loop_totals totals;
    int cut_stale; /* owners have changed since the cut was counted */
    double cut_bytes;
    int cut_pairs;
    /* the instance at hand */
    evn_body body;
    void *arg;
    int chunk;
    _Alignas(64) atomic_long cursor; /* first task nobody has drawn */
    _Alignas(64) atomic_int failed;
};

static void record(struct worker *w, int task, int count, double begin, double end) {
    w->ring.burst[w->ring.next++ % w->ring.size] = (evn_burst){.begin = begin - w->origin,
                                                               .end = end - w->origin,
                                                               .kind = w->kind,
                                                               .task = task,
                                                               .count = count,
                                                               .instance = w->instance};
}

/* Ends the task at hand: its time. */
static void charge(evn_batch *b, double now) {
    int task = b->task[b->next - 1];
    b->seconds[task] = now - b->since;
    record(b->worker, task, 1, b->since, now);
    b->since = now;
}

int evn_batch_next(evn_batch *b) {
    if (b->next > b->count) return -1;
    /* the first task begins when the batch does: no clock to read */
    if (b->next) charge(b, evn_now());
    return b->next++ < b->count ? b->task[b->next - 1] : -1;
}

const int *evn_batch_tasks(const evn_batch *b, int *count) {
    *count = b->count;
    return b->task;
}

/* Runs the body on `count` tasks in w->mine, measured from `begin`; returns when it ended. */
static double run_batch(evn_loop *loop, evn_unit *unit, struct worker *w, int count, double begin) {
    evn_batch *b = &w->batch;
    const int *task = w->mine;
    *b = (evn_batch){
        .task = task, .count = count, .since = begin, .seconds = loop->seconds, .worker = w};
    evn_status status = loop->body(unit, b, loop->arg);
    double end = evn_now();
    if (b->next == 0) { /* never asked one by one: by weight */
        record(w, task[0], count, begin, end);
        double sum = 0;
        for (int i = 0; i < count; i++) sum += loop->problem->weight[task[i]];
        for (int i = 0; i < count; i++)
            loop->seconds[task[i]] =
                (end - begin) * (sum > 0 ? loop->problem->weight[task[i]] / sum : 1.0 / count);
    } else if (b->next <= count) {
        charge(b, end); /* left the last one open */
    }
    if (status && !w->status) {
        w->status = status;
        snprintf(w->message, sizeof w->message, "%s", evn_message());
        atomic_store(&loop->failed, 1);
    }
    w->tasks += count;
    w->busy += end - begin;
    return end;
}

static void run_unit(evn_unit *unit, void *p) {
    evn_loop *loop = p;
    struct worker *w = &loop->worker[evn_unit_number(unit)];
    const int n = loop->problem->tasks, me = evn_unit_number(unit);
    w->tasks = 0;
    w->busy = 0;
    w->status = EVN_OK;
    double now = evn_now();
    if (!loop->chunk) {
        int count = 0;
        for (int t = 0; t < n; t++)
            if (loop->owner[t] == me) w->mine[count++] = t;
        if (count) run_batch(loop, unit, w, count, now);
        return;
    }
    while (!atomic_load_explicit(&loop->failed, memory_order_relaxed)) {
        long from = atomic_fetch_add_explicit(&loop->cursor, loop->chunk, memory_order_relaxed);
        if (from >= n) break;
        int count = n - from < loop->chunk ? n - (int)from : loop->chunk;
        for (int i = 0; i < count; i++) {
            w->mine[i] = (int)from + i;
            loop->owner[from + i] = me;
        }
        now = run_batch(loop, unit, w, count, now);
    }
}

/* All units through the tasks; the wall time. */
static evn_status go(evn_loop *loop, evn_body body, void *arg, evn_burst_kind kind, int chunk,
                     double *wall) {
    for (int u = 0; u < loop->count; u++) {
        loop->worker[u].kind = kind;
        loop->worker[u].instance = evn_schedule_instance(loop->schedule);
    }
    loop->body = body;
    loop->arg = arg;
    loop->chunk = chunk;
    atomic_store(&loop->cursor, 0);
    atomic_store(&loop->failed, 0);
    double begin = evn_now();
    evn_units_run(loop->units, run_unit, loop);
    *wall = evn_now() - begin;
    for (int u = 0; u < loop->count; u++) {
        const struct worker *w = &loop->worker[u];
        if (w->status) return evn_fail(EVN_BODY, "unit %d: %s", u, w->message);
    }
    return EVN_OK;
}

evn_status evn_loop_run(evn_loop *loop, evn_body body, void *arg) {
    const size_t bytes = sizeof *loop->owner * (size_t)loop->problem->tasks;
    memcpy(loop->before, loop->owner, bytes);
    int chunk = evn_schedule_chunk(loop->schedule);
    if (!chunk) memcpy(loop->owner, evn_schedule_owner(loop->schedule), bytes);
    double wall;
    evn_status status = go(loop, body, arg, EVN_BURST_COMPUTE, chunk, &wall);
    if (status) return status;
    for (int u = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        w->stats.tasks += w->tasks;
        w->stats.compute_s += w->busy;
        w->stats.idle_s += wall - w->busy;
    }
    loop->totals.compute_s += wall;
    loop->totals.instances++;
    int migrations = 0;
    for (int t = 0; t < loop->problem->tasks; t++) migrations += loop->owner[t] != loop->before[t];
    loop->totals.migrations += migrations;
    loop->cut_stale |= migrations > 0;
    return evn_schedule_learn(loop->schedule, loop->owner, loop->seconds);
}

evn_status evn_loop_visit(evn_loop *loop, evn_body body, void *arg) {
    double wall;
    /* times of visits are nobody's business: keep those of the last instance */
    double *seconds = loop->seconds;
    loop->seconds = seconds + loop->problem->tasks;
    evn_status status = go(loop, body, arg, EVN_BURST_EXCHANGE, 0, &wall);
    loop->seconds = seconds;
    if (status) return status;
    for (int u = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        w->stats.exchange_s += w->busy;
        w->stats.idle_s += wall - w->busy;
    }
    if (loop->cut_stale) {
        loop->cut_bytes = evn_problem_cut(loop->problem, loop->owner, &loop->cut_pairs);
        loop->cut_stale = 0;
    }
    loop->totals.exchange_s += wall;
    loop->totals.bytes += loop->cut_bytes;
    loop->totals.messages += loop->cut_pairs;
    return EVN_OK;
}

evn_status evn_loop_open(evn_loop **out, evn_units *units, evn_schedule *schedule) {
    *out = NULL;
    const evn_problem *problem = evn_schedule_problem(schedule);
    int count = evn_units_count(units);
    if (problem->units != count)
        return evn_fail(EVN_USAGE, "loop: the schedule was made for %d units and there are %d",
                        problem->units, count);
    const size_t n = (size_t)problem->tasks;
    evn_loop *loop = aligned_alloc(64, (sizeof *loop + 63) / 64 * 64);
    if (!loop) return evn_fail(EVN_MEMORY, "loop: not enough memory");
    memset(loop, 0, sizeof *loop);
    loop->units = units;
    loop->schedule = schedule;
    loop->problem = problem;
    loop->worker = aligned_alloc(64, sizeof *loop->worker * (size_t)count);
    loop->owner = malloc(2 * n * sizeof *loop->owner);
    loop->seconds = calloc(2 * n, sizeof *loop->seconds);
    int ok = loop->worker && loop->owner && loop->seconds;
    if (loop->worker) memset(loop->worker, 0, sizeof *loop->worker * (size_t)count);
    for (int u = 0; ok && u < count; u++)
        ok = (loop->worker[u].mine = malloc(n * sizeof *loop->worker[u].mine)) != NULL;
    loop->count = count;
    loop->origin = evn_now();
    loop->cut_stale = 1;
    ok = ok && !evn_loop_keep_bursts(loop, BURSTS);
    if (!ok) {
        evn_loop_close(loop);
        return evn_fail(EVN_MEMORY, "loop: not enough memory for %d tasks on %d units",
                        problem->tasks, count);
    }
    loop->before = loop->owner + n;
    memcpy(loop->owner, evn_schedule_owner(schedule), n * sizeof *loop->owner);
    *out = loop;
    return EVN_OK;
}

void evn_loop_close(evn_loop *loop) {
    if (!loop) return;
    for (int u = 0; loop->worker && u < loop->count; u++) {
        free(loop->worker[u].mine);
        free(loop->worker[u].ring.burst);
    }
    free(loop->worker);
    free(loop->owner);
    free(loop->seconds);
    free(loop);
}

evn_status evn_loop_keep_bursts(evn_loop *loop, int most) {
    evn_burst **fresh = calloc((size_t)loop->count, sizeof *fresh);
    int ok = fresh && most >= 1;
    for (int u = 0; ok && u < loop->count; u++)
        ok = (fresh[u] = malloc(sizeof **fresh * (size_t)most)) != NULL;
    for (int u = 0; fresh && u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        free(ok ? w->ring.burst : fresh[u]);
        if (!ok) continue;
        w->ring = (struct ring){.burst = fresh[u], .size = most};
        w->origin = loop->origin;
    }
    free(fresh);
    if (ok) return EVN_OK;
    return evn_fail(EVN_MEMORY, "loop: no memory to keep %d bursts of %d units", most, loop->count);
}

int evn_loop_bursts(const evn_loop *loop, int unit) {
    const struct ring *r = &loop->worker[unit].ring;
    return r->next < r->size ? (int)r->next : r->size;
}

evn_burst evn_loop_burst(const evn_loop *loop, int unit, int i) {
    const struct ring *r = &loop->worker[unit].ring;
    long oldest = r->next < r->size ? 0 : r->next - r->size;
    return r->burst[(oldest + i) % r->size];
}

const evn_units *evn_loop_units(const evn_loop *loop) { return loop->units; }
const evn_schedule *evn_loop_schedule(const evn_loop *loop) { return loop->schedule; }

const int *evn_loop_owner(const evn_loop *loop) { return loop->owner; }
const double *evn_loop_seconds(const evn_loop *loop) { return loop->seconds; }
evn_unit_stats evn_loop_stats(const evn_loop *loop, int unit) { return loop->worker[unit].stats; }
evn_loop_totals evn_loop_sum(const evn_loop *loop) { return loop->totals; }

void evn_loop_reset_stats(evn_loop *loop) {
    for (int u = 0; u < loop->count; u++) loop->worker[u].stats = (evn_unit_stats){0};
    loop->totals = (evn_loop_totals){0};
}
