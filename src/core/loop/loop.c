/* The loop: gives batches to bodies, measures times, and feeds the schedule.
 *
 * A unit writes its times and counters in cache lines of its own during an instance; they are
 * gathered after the last unit is done. */
#include "loop/birth.h"
#include "loop/lists.h"
#include "loop/rank_ops.h"
#include "loop/subteams.h"
#include "loop/watcher.h"
#include "schedule/version.h"
#include "schedule/weigh.h"
#include "unit/device_ops.h"
#include "unit/share.h"
#include "base/argument.h"
#include "base/decisions.h"
#include <evener/clock.h>
#include <evener/status.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The loop whose tasks the calling thread, a leader, is running; NULL outside of instances. */
static _Thread_local const evn_loop *at_work;

const struct loop_watcher *_Atomic loop_watcher;

int loop_is_at_work(const evn_loop *loop) { return at_work == loop; }

void worker_fail(evn_loop *loop, struct worker *w, evn_status status) {
    if (!status || w->status) return;
    w->status = status;
    snprintf(w->message, sizeof w->message, "%s", evn_message());
    atomic_store(&loop->failed, 1);
}

evn_status loop_may_begin(const evn_loop *loop, const char *what) {
    if (evn_units_count(loop->units) != loop->count)
        return evn_fail(EVN_USAGE,
                        "loop: %s with %d units, and the loop was made for %d; where one is gone, "
                        "only the loop of the recovery goes on",
                        what, evn_units_count(loop->units), loop->count);
    if (!units_running(loop->units)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "loop: %s while its units are at work, from within a body or a job; units run "
                    "one loop at a time, and within evn_units_run() that is evn_loop_join()",
                    what);
}

/* ---- what a unit does ---------------------------------------------------------------------- */

/* Runs the body on `count` tasks from `task` on, on the unit's cores, measured from `begin`;
 * `open`: it may take more of the unit's list. Returns when it ended. */
static double run_batch(evn_loop *loop, struct worker *w, const int *task, int count, int open,
                        double begin) {
    evn_batch *b = &w->batch;
    int held = 0;
    w->base = task;
    if (loop->place && !loop->in_place) {
        evn_status status = region_ops.acquire(loop, w, task, count, EVN_HOST, &held);
        const double brought = evn_now();
        w->copy += brought - begin; /* moving is not computing */
        begin = brought;
        if (status) {
            worker_fail(loop, w, status);
            return begin;
        }
    }
    b->task = task;
    b->count = count;
    b->open = open;
    b->host = loop->in_place ? loop->host : NULL;
    b->regions = loop->regions;
    b->next = b->timed = b->until = b->done = b->adds = b->shared = 0;
    b->since = begin;
    b->at = ticks_at(begin);
    evn_status status = batch_run(b);
    if (status) worker_fail(loop, w, status);
    const double end = batch_end(b);
    if (held) region_ops.release(loop, w, task, held, EVN_HOST);
    w->tasks += b->count;
    w->busy += end - begin;
    return end;
}

static int by_number(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Tasks of one batch ascend, in whatever order they are drawn; mostly they do already. */
static void ascend(int *task, int count) {
    int i = 1;
    while (i < count && task[i - 1] < task[i]) i++;
    if (i < count) qsort(task, (size_t)count, sizeof *task, by_number);
}

/* Draws the next chunk into w->mine at `at`; how many. */
static int draw(evn_loop *loop, struct worker *w, int unit, int at) {
    const int n = loop->hi;
    long from = atomic_fetch_add_explicit(&loop->cursor, loop->chunk, memory_order_relaxed);
    if (from >= n) return 0;
    int count = n - from < loop->chunk ? n - (int)from : loop->chunk;
    for (int i = 0; i < count; i++) {
        const int t = loop->order ? loop->order[from + i] : (int)from + i;
        w->mine[at + i] = t;
        loop->owner[t] = unit;
    }
    if (loop->order) ascend(w->mine + at, count);
    return count;
}

/* Draws a chunk for each of a GPU unit's devices; how many tasks in all. */
static int draw_all(evn_loop *loop, struct worker *w, int unit) {
    int count = 0;
    for (int d = 0; d < w->devices; d++) {
        struct in_flight *f = &w->in_flight[d];
        f->task = w->mine + count;
        f->count = draw(loop, w, unit, count);
        f->done = 0;
        count += f->count;
    }
    return count;
}

/* All tasks of the unit, owners being fixed; then some of others' that these have not begun. */
static void run_own(evn_loop *loop, evn_unit *unit, struct worker *w, int devices) {
    double now = evn_now();
    int count;
    if (devices) {
        lists_rest(w, &count);
        w->base = w->own;
        if (!count) return;
        device_ops.split(loop, w, count);
        device_ops.run(loop, unit, w, now);
        return;
    }
    const int *own = lists_own(loop, w, &count);
    if (count) now = run_batch(loop, w, own, count, loop->steals, now);
    if (!loop->steals) return;
    for (const int *task; !atomic_load_explicit(&loop->failed, memory_order_relaxed) &&
                          (task = lists_steal(loop, w, &count));) {
        now = run_batch(loop, w, task, count, 0, now);
        w->stolen += count;
    }
}

/* Tasks as long as there are some to be drawn. */
static void run_drawn(evn_loop *loop, evn_unit *unit, struct worker *w, int devices) {
    const int me = loop->first + evn_unit_number(unit);
    double now = evn_now();
    while (!atomic_load_explicit(&loop->failed, memory_order_relaxed)) {
        const int count = devices ? draw_all(loop, w, me) : draw(loop, w, me, 0);
        if (!count) break;
        w->base = w->mine;
        now = devices ? device_ops.run(loop, unit, w, now)
                      : run_batch(loop, w, w->mine, count, 0, now);
    }
}

static void run_unit(evn_unit *unit, void *p) {
    evn_loop *loop = p;
    struct worker *w = &loop->worker[evn_unit_number(unit)];
    const int devices = loop->on_host ? 0 : w->devices;
    /* what all batches on cores have in common */
    w->batch =
        (evn_batch){.device = -1,
                    .space = EVN_HOST,
                    .slowness = w->common.kind == EVN_BURST_COMPUTE ? unit_slowness(unit) : 1,
                    .seconds = loop->seconds,
                    .unit = unit,
                    .loop = loop,
                    .worker = w};
    w->together = 1;
    at_work = loop;
    if (loop->chunk)
        run_drawn(loop, unit, w, devices);
    else
        run_own(loop, unit, w, devices);
    at_work = NULL;
}

/* ---- instances ----------------------------------------------------------------------------- */

int loop_may_steal(const evn_loop *loop) {
    return loop->count > 1 && !loop->keeps_owners && !loop->cluster &&
           !evn_units_about(loop->units).gpus && (!loop->place || region_ops.may_stay(loop)) &&
           schedule_steals(loop->schedule);
}

static void begin_instance(evn_loop *loop, evn_burst_kind kind, int chunk) {
    loop->looks = kind != EVN_BURST_COMPUTE;
    for (int u = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        const evn_unit *unit = evn_units_get(loop->units, u);
        w->speed = unit_speed(unit) / unit_slowness(unit);
        w->common = (evn_burst){.kind = kind, .count = 1, .instance = loop_instance(loop)};
        w->tasks = w->stolen = w->adds = 0;
        w->busy = w->copy = w->shared_wall = w->shared_work = 0;
        w->status = EVN_OK;
        loop->looks |= w->met_long;
        w->met_long = 0;
    }
    loop->chunk = chunk;
    loop->order = chunk && !loop->replicated ? evn_schedule_about(loop->schedule).order : NULL;
    loop->failed_unit = -1;
    loop->failed_status = EVN_OK;
    atomic_store(&loop->cursor, loop->lo);
    atomic_store(&loop->failed, 0);
    if (loop->place) region_ops.begin(loop);
    const int may_steal = loop_may_steal(loop);
    loop->steals = may_steal && !chunk && !loop->on_host && (!loop->place || loop->in_place);
    if (!loop->replicated) schedule_set_stealing(loop->schedule, may_steal);
    if (!chunk) lists_fill(loop);
}

/* All units through the tasks; *wall: the time it took. A unit that has nothing to do that others
 * could not do is not waited for, but where it is so fast that they have left its tasks to it. */
static evn_status run_units(evn_loop *loop, evn_body body, void *arg, double *wall) {
    for (int u = 0; u < loop->count; u++) {
        loop->worker[u].body = body;
        loop->worker[u].arg = arg;
    }
    const double begin = evn_now();
    loop->recent.idle += units_idle(loop->units, begin);
    evn_status status;
    if (loop->steals && loop->alone.now)
        status = units_alone(loop->units, run_unit, loop);
    else if (loop->steals || loop->chunk)
        status = units_share(loop->units, run_unit, loop);
    else
        status = evn_units_run(loop->units, run_unit, loop);
    if (!status && loop->steals && !atomic_load(&loop->failed) && lists_left(loop))
        status = evn_units_run(loop->units, run_unit, loop);
    *wall = units_rest(loop->units) - begin;
    return status;
}

/* The failure that ended the instance, of the first unit that has one. */
static evn_status find_failure(evn_loop *loop) {
    for (int u = 0; u < loop->count; u++) {
        const struct worker *w = &loop->worker[u];
        if (!w->status) continue;
        loop->failed_unit = u;
        loop->failed_status = w->status;
        /* over ranks: what follows from another rank's failure stays that */
        const int same = w->status == EVN_DEVICE || (loop->cluster && w->status == EVN_STOPPED);
        return evn_fail(same ? w->status : EVN_BODY, "unit %d: %s", u, w->message);
    }
    return EVN_OK;
}

static double idle(double wall, const struct worker *w) {
    return fmax(wall - w->busy - w->copy, 0); /* virtual clocks count time that has not passed */
}

/* Fixes the owner of each task for an instance, and notes whether owners may change. Over ranks
 * tasks come first to where a change has put them; that may fail, on all ranks alike. */
static evn_status begin_run(evn_loop *loop) {
    evn_status status = loop->replicated ? loop->ranks->settle(loop) : EVN_OK;
    if (status) return status;
    const size_t bytes = sizeof *loop->owner * (size_t)loop->problem->tasks;
    const int chunk = loop_chunk(loop);
    const int *next = loop_next(loop);
    loop->borns = loop->bears = 0;
    const int ranks = loop->replicated != NULL;
    const unsigned version = ranks ? 0 : schedule_version(loop->schedule);
    const int steady = loop->steady && !chunk && loop->version_run == version;
    loop->steady = steady;
    const int changes = !steady && (chunk || memcmp(loop->owner, next, bytes) != 0);
    if (changes && decisions_wanted(OF_LOOPS)) decisions.loop(loop, chunk, next);
    if (!steady && (changes || loop->changed || ranks)) memcpy(loop->before, loop->owner, bytes);
    loop->changed = changes || (ranks && !steady); /* ranks change owners after the run */
    loop->assignment += changes;
    if (changes && !chunk) memcpy(loop->owner, next, bytes);
    begin_instance(loop, EVN_BURST_COMPUTE, chunk);
    loop->steady = !chunk;
    loop->version_run = version;
    return EVN_OK;
}

/* Feeds the decision whether the caller works alone: of units that steal, or of the cores of one
 * unit as far as they share tasks. Not over ranks, where times of one core would look like those of
 * a slow rank. */
static void learn_alone(evn_loop *loop, double wall, double busy) {
    const struct worker *first = loop->worker;
    if (loop->count == 1 && !loop->cluster && first->shared_wall > 0)
        busy += first->shared_work - first->shared_wall;
    else if (!loop->steals)
        return;
    const int was_alone = loop->alone.now;
    alone_learn(&loop->alone, loop->units, wall, busy);
    if (loop->alone.now && !was_alone) units_interrupted(loop->units);
}

/* Result of a run, for the counters. */
static void count_run(evn_loop *loop, double wall) {
    double busy = 0, longest = 0;
    for (int u = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        w->stats.tasks += w->tasks;
        loop->totals.stolen += w->stolen;
        busy += w->busy;
        longest = fmax(longest, w->busy + w->copy);
        w->stats.compute_s += w->busy;
        w->stats.copy_s += w->copy;
        w->stats.idle_s += idle(wall, w);
    }
    loop->recent.task = loop->task_seconds = busy / loop->problem->tasks;
    recent_beside(&loop->recent, wall, longest);
    recent_add(&loop->recent, wall, loop->totals.exchange_s);
    loop->totals.compute_s += wall;
    loop->totals.instances++;
    learn_alone(loop, wall, busy);
    const size_t bytes = sizeof *loop->owner * (size_t)loop->problem->tasks;
    const int moves = loop->ran && loop->changed && memcmp(loop->owner, loop->before, bytes) != 0;
    for (int t = 0; moves && t < loop->problem->tasks; t++)
        loop->totals.migrations += loop->owner[t] != loop->before[t];
    loop->ran = 1;
}

/* What the schedule learns from: while each unit owns the tasks that it does, on its cores, their
 * times in all, and those of single tasks now and then. */
static evn_status learn(evn_loop *loop) {
    if (schedule_pass(loop->schedule)) return EVN_OK;
    int apart = evn_units_about(loop->units).gpus > 0;
    for (int u = 0; u < loop->count; u++) apart |= loop->worker[u].stolen || loop->worker[u].adds;
    double *unit_s = apart ? NULL : schedule_unit_times(loop->schedule);
    for (int u = 0; unit_s && u < loop->count; u++) unit_s[u] = loop->worker[u].busy;
    const int same = loop->learnt == loop->assignment;
    loop->learnt = loop->assignment;
    return unit_s ? schedule_learn_units(loop->schedule, loop->owner, loop->seconds, same)
                  : evn_schedule_learn(loop->schedule, loop->owner, loop->seconds);
}

/* Ends a run: regions, totals, schedule. */
static evn_status end_run(evn_loop *loop, evn_status status, double wall) {
    if (!status) status = find_failure(loop);
    if (loop->place) status = region_ops.end(loop, status);
    if (!status) count_run(loop, wall);
    if (loop->replicated)
        status = loop->ranks->learn(loop, status);
    else if (!status)
        status = learn(loop);
    loop_ended(loop);
    const struct loop_watcher *watcher = loop_watcher;
    if (watcher && !status) watcher->ended(loop);
    return status;
}

/* Over ranks one that lacks a body meets the others, who hear of it at the instance's end. */
evn_status evn_loop_run(evn_loop *loop, evn_body body, void *arg) {
    NEED(loop, "a loop");
    const evn_status given = body ? EVN_OK : argument_missing(__func__, "a body");
    if (given && !loop->replicated) return given;
    evn_status status = loop_may_begin(loop, "evn_loop_run()");
    if (!status) status = begin_run(loop);
    if (status) return status;
    double wall = 0;
    if (loop->replicated) status = given ? given : loop->ranks->failed(loop->cluster);
    if (!status) status = run_units(loop, body, arg, &wall);
    return end_run(loop, status, wall);
}

static evn_status may_join(const evn_loop *loop, const evn_unit *unit) {
    if (at_work)
        return evn_fail(EVN_USAGE, "loop: evn_loop_join() from within a loop's body; it is called "
                                   "by the leaders, in a job of evn_units_run()");
    if (!unit || evn_units_get(loop->units, evn_unit_number(unit)) != unit ||
        evn_units_count(loop->units) != loop->count)
        return evn_fail(EVN_USAGE, "loop: evn_loop_join() with a unit that is not the loop's");
    if (!units_running(loop->units))
        return evn_fail(EVN_USAGE,
                        "loop: evn_loop_join() outside of evn_units_run(), in which "
                        "every leader calls it; evn_loop_run() is for all units at once");
    return EVN_OK;
}

/* The first unit's leader begins and ends the instance; no other thread reads its writes in
 * between, since all wait for each other before the tasks, after them, and when the result is
 * known. */
/* The other leaders wait for this one, so it fails with them. */
static evn_status no_body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return argument_missing("evn_loop_join", "a body");
}

evn_status evn_loop_join(evn_loop *loop, evn_unit *unit, evn_body body, void *arg) {
    NEED(loop, "a loop");
    evn_status status = may_join(loop, unit);
    if (status) return status;
    const int me = evn_unit_number(unit);
    loop->worker[me].body = body ? body : no_body;
    loop->worker[me].arg = arg;
    if (!me) loop->join_begun = begin_run(loop);
    atomic_fetch_add(&loop->joined, 1);
    evn_unit_synchronize(unit);
    if (atomic_load(&loop->joined) != loop->count) {
        atomic_fetch_sub(&loop->joined, 1);
        return evn_fail(EVN_USAGE, "loop: evn_loop_join() on units that are only described, which "
                                   "run one after another; evn_loop_run() is for these");
    }
    const double begin = evn_now();
    const evn_status begun = loop->join_begun;
    if (!begun) run_unit(unit, loop);
    evn_unit_synchronize(unit);
    if (!me) {
        atomic_store(&loop->joined, 0);
        loop->join_status = begun ? begun : end_run(loop, EVN_OK, evn_now() - begin);
        if (loop->join_status)
            snprintf(loop->join_message, sizeof loop->join_message, "%s", evn_message());
    }
    evn_unit_synchronize(unit);
    return loop->join_status ? evn_fail(loop->join_status, "%s", loop->join_message) : EVN_OK;
}

static evn_status visit_own(evn_loop *loop, evn_body body, void *arg) {
    /* times of visits are not learnt: those of the last run are kept */
    double *seconds = loop->seconds;
    loop->seconds = seconds + loop->problem->tasks;
    begin_instance(loop, EVN_BURST_EXCHANGE, 0);
    double wall, longest = 0;
    evn_status status = run_units(loop, body, arg, &wall);
    loop->seconds = seconds;
    if (!status) status = find_failure(loop);
    if (loop->place) status = region_ops.end(loop, status);
    if (status) return status;
    for (int u = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        w->stats.exchange_s += w->busy;
        w->stats.copy_s += w->copy;
        w->stats.idle_s += idle(wall, w);
        longest = fmax(longest, w->busy + w->copy);
    }
    recent_beside(&loop->recent, wall, longest);
    loop->totals.exchange_s += wall;
    loop->ran = 1;
    return EVN_OK;
}

evn_status loop_visit(evn_loop *loop, evn_body body, void *arg) {
    if (!loop->replicated) return visit_own(loop, body, arg);
    evn_status status = loop->ranks->failed(loop->cluster);
    if (!status) status = visit_own(loop, body, arg);
    return loop->ranks->agree(loop, "evn_loop_visit()", status);
}

evn_status evn_loop_visit(evn_loop *loop, evn_body body, void *arg) {
    NEED(loop, "a loop");
    evn_status status = loop_may_begin(loop, "evn_loop_visit()");
    return status ? status : loop_visit(loop, body, arg);
}

evn_status evn_loop_visit_host(evn_loop *loop, evn_body body, void *arg, evn_access access) {
    NEED(loop, "a loop");
    evn_status status = loop_may_begin(loop, "evn_loop_visit_host()");
    if (status) return status;
    if (access < EVN_READ || access > EVN_BOTH) {
        status = evn_fail(EVN_USAGE,
                          "loop: evn_loop_visit_host() with access %d, expected EVN_READ, "
                          "EVN_WRITE or EVN_BOTH",
                          (int)access);
        return loop->replicated ? loop->ranks->agree(loop, "evn_loop_visit()", status) : status;
    }
    loop->on_host = 1;
    loop->host_access = access;
    status = loop_visit(loop, body, arg);
    loop->on_host = 0;
    return status;
}

evn_status evn_loop_bring(evn_loop *loop) {
    NEED(loop, "a loop");
    evn_status status = loop_may_begin(loop, "evn_loop_bring()");
    return status || (!loop->place && !loop->replicated) ? status : loop_visit(loop, NULL, NULL);
}

void loop_add_exchange(evn_loop *loop, const double *busy, double wall) {
    double longest = 0;
    for (int u = 0; u < loop->count; u++) {
        loop->worker[u].stats.exchange_s += busy[u];
        loop->worker[u].stats.idle_s += wall - busy[u];
        longest = fmax(longest, busy[u]);
    }
    recent_beside(&loop->recent, wall, longest);
    loop->totals.exchange_s += wall;
}

void loop_add_moved(evn_loop *loop, const double *in, const double *out, int messages, int copies) {
    for (int u = 0; u < loop->count; u++) {
        loop->worker[u].stats.bytes_in += in[u];
        loop->worker[u].stats.bytes_out += out[u];
        loop->totals.bytes += out[u];
    }
    loop->totals.messages += messages;
    loop->totals.copies += copies;
}

void loop_add_sent(evn_loop *loop, double bytes) {
    loop->totals.rank_messages++;
    loop->totals.rank_bytes += bytes;
}

void loop_set_failed(evn_loop *loop, int unit) { loop->failed_unit = unit; }

/* ---- opening and closing ------------------------------------------------------------------- */

static evn_status open_worker(evn_loop *loop, int unit) {
    struct worker *w = &loop->worker[unit];
    const size_t n = (size_t)loop->problem->tasks;
    w->mine = malloc(n * sizeof *w->mine);
    if (!w->mine)
        return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks of unit %d", n, unit);
    evn_unit *of = evn_units_get(loop->units, unit);
    if (!evn_unit_devices(of)) return EVN_OK;
    if (evn_unit_device(of, 0)) return device_ops.loop_open(loop, w, of);
    return evn_fail(EVN_USAGE, "loop: unit %d is only described, and has no devices", unit);
}

static void close_worker(struct worker *w) {
    if (w->in_flight) device_ops.loop_close(w);
    free(w->region);
    free(w->mode);
    free(w->noted);
    free(w->mine);
    free(w->ring.burst);
    for (int i = 0; i < 2; i++)
        if (w->subteams[i]) subteams_close(w->subteams[i]);
}

void loop_begin_schedule(evn_loop *loop, evn_schedule *schedule) {
    const size_t n = (size_t)evn_schedule_problem(schedule)->tasks;
    loop->schedule = schedule;
    loop->problem = evn_schedule_problem(schedule);
    loop->hi = loop->problem->tasks;
    loop->failed_unit = -1;
    if (loop->assignment++) memset(loop->seconds, 0, 3 * n * sizeof *loop->seconds);
    loop->changed = 1;
    loop->lists = loop->even = loop->steady = 0;
    memcpy(loop->owner, evn_schedule_owner(schedule), n * sizeof *loop->owner);
    if (decisions_wanted(OF_SCHEDULES)) decisions.schedule(schedule, NULL);
}

evn_status loop_open_parts(evn_loop *loop, evn_schedule *schedule) {
    ticks_open();
    loop->problem = evn_schedule_problem(schedule);
    const size_t n = (size_t)loop->problem->tasks, count = (size_t)loop->count;
    loop->worker = aligned_alloc(64, sizeof *loop->worker * count);
    loop->owner = malloc(2 * n * sizeof *loop->owner);
    loop->seconds = calloc(3 * n, sizeof *loop->seconds); /* a third is used by most loops */
    if (loop->worker) memset(loop->worker, 0, sizeof *loop->worker * count);
    if (!loop->worker || !loop->owner || !loop->seconds || lists_open(loop))
        return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks on %zu units", n, count);
    loop->before = loop->owner + n;
    loop->added = loop->seconds + 2 * n;
    loop_begin_schedule(loop, schedule);
    evn_status status = EVN_OK;
    for (int u = 0; !status && u < loop->count; u++) status = open_worker(loop, u);
    loop->origin = evn_now();
    return status ? status : loop_keep_bursts(loop, BURSTS);
}

evn_status loop_check_count(const evn_schedule *schedule, int count, const char *where) {
    const int made_for = evn_schedule_problem(schedule)->units;
    if (made_for == count) return EVN_OK;
    return evn_fail(EVN_USAGE, "loop: the schedule was made for %d units and there are %d%s",
                    made_for, count, where);
}

evn_status loop_make(evn_loop **out, evn_units *units, const evn_schedule *schedule) {
    if (out) *out = NULL;
    const char *lacks = !out        ? "where to put what it opens"
                        : !units    ? "units"
                        : !schedule ? "a schedule"
                                    : NULL;
    if (lacks) return argument_missing("evn_loop_open_on", lacks);
    evn_loop *loop = aligned_alloc(64, (sizeof *loop + 63) / 64 * 64);
    if (!loop) return evn_fail(EVN_MEMORY, "loop: not enough memory");
    memset(loop, 0, sizeof *loop);
    loop->units = units;
    loop->count = evn_units_count(units);
    *out = loop;
    return EVN_OK;
}

evn_status evn_loop_open(evn_loop **out, evn_units *units, evn_schedule *schedule) {
    evn_status status = loop_make(out, units, schedule);
    if (status) return status;
    status = loop_check_count(schedule, (*out)->count, "");
    if (!status) status = loop_open_parts(*out, schedule);
    if (!status) return EVN_OK;
    evn_loop_close(*out);
    *out = NULL;
    return status;
}

void evn_loop_close(evn_loop *loop) {
    if (!loop) return;
    if (at_work == loop) {
        evn_fail(EVN_USAGE, "loop: evn_loop_close() from within its body, which must return first");
        return;
    }
    if (loop->watched) loop_watcher->closes(loop);
    for (int u = 0; loop->worker && u < loop->count; u++) close_worker(&loop->worker[u]);
    regions_close(loop);
    if (loop->ranks) loop->ranks->close(loop);
    evn_schedule_close(loop->own_schedule);
    lists_close(loop);
    alone_close(&loop->alone);
    free(loop->worker);
    free(loop->owner);
    free(loop->born);
    free(loop->changes);
    if (loop->birth) birth_close(loop->birth);
    free(loop->seconds);
    free(loop->closed.link);
    free(loop->bytes);
    free(loop);
}

/* ---- other units --------------------------------------------------------------------------- */

void loop_listen(evn_loop *loop, struct loop_listener *listener) {
    listener->next = loop->listener;
    loop->listener = listener;
}

void loop_unlisten(evn_loop *loop, struct loop_listener *listener) {
    struct loop_listener **l = &loop->listener;
    while (*l && *l != listener) l = &(*l)->next;
    if (*l) *l = listener->next;
}

void loop_drop_unit(evn_loop *loop, int unit, evn_schedule *schedule) {
    close_worker(&loop->worker[unit]);
    loop->count--;
    memmove(&loop->worker[unit], &loop->worker[unit + 1],
            sizeof *loop->worker * (size_t)(loop->count - unit));
    loop_begin_schedule(loop, schedule);
    evn_schedule_close(loop->own_schedule);
    loop->own_schedule = schedule;
    for (int u = 0; u < loop->count; u++) {
        struct ring *r = &loop->worker[u].ring;
        r->at = r->burst;
        r->full = 0;
    }
    evn_loop_reset_stats(loop);
    for (struct loop_listener *l = loop->listener; l; l = l->next)
        if (l->units_changed) l->units_changed(l->arg);
}

/* ---- other weights ------------------------------------------------------------------------- */

/* Between instances: by the thread that runs the loop, or, within a job, by the first unit's leader
 * while the others wait for it. */
static evn_status may_weigh(const evn_loop *loop) {
    if (at_work)
        return evn_fail(EVN_USAGE, "loop: evn_loop_weights() from within a loop's body; weights "
                                   "are those of the next instance, between two of them");
    if (units_running(loop->units) && evn_units_here() == evn_units_get(loop->units, 0))
        return EVN_OK;
    return loop_may_begin(loop, "evn_loop_weights()");
}

evn_status evn_loop_weights(evn_loop *loop, const double *weight) {
    NEED(loop, "a loop");
    evn_status status = may_weigh(loop);
    if (status) return status;
    status = loop->replicated ? loop->ranks->weigh(loop, weight)
                              : schedule_weights(loop->schedule, weight);
    loop->lists = loop->even = 0;
    for (int u = 0; u < loop->count; u++)
        for (int i = 0; i < 2; i++)
            if (loop->worker[u].subteams[i]) subteams_forget(loop->worker[u].subteams[i]);
    return status;
}

evn_status evn_loop_stealing(evn_loop *loop, int allowed) {
    NEED(loop, "a loop");
    evn_status status = loop_may_begin(loop, "evn_loop_stealing()");
    if (!status) loop->keeps_owners = !allowed;
    return status;
}

/* ---- asking -------------------------------------------------------------------------------- */

evn_loop_info evn_loop_about(const evn_loop *loop) {
    NEED_OR((evn_loop_info){0}, loop, "a loop");
    return (evn_loop_info){loop->units,      loop->cluster, loop->first, loop->failed_unit,
                           loop->generation, loop->borns,   loop->born};
}

const evn_schedule *evn_loop_schedule(const evn_loop *loop) {
    NEED_OR(NULL, loop, "a loop");
    return loop->schedule;
}

int evn_loop_has(const evn_loop *loop, int task) {
    NEED_OR(0, loop, "a loop");
    return task >= 0 && task < loop->problem->tasks && loop_own(loop, loop->owner[task]) >= 0;
}

const int *evn_loop_owner(const evn_loop *loop) {
    NEED_OR(NULL, loop, "a loop");
    return loop->owner;
}

const int *evn_loop_next(const evn_loop *loop, int *draws) {
    NEED_OR(NULL, loop, "a loop");
    if (draws) *draws = loop_chunk(loop) > 0 ? 1 : loop_may_steal(loop) ? 2 : 0;
    return loop_next(loop);
}

const double *evn_loop_seconds(const evn_loop *loop) {
    NEED_OR(NULL, loop, "a loop");
    return loop->seconds;
}
evn_loop_totals evn_loop_sum(const evn_loop *loop) {
    NEED_OR((evn_loop_totals){0}, loop, "a loop");
    evn_loop_totals sum = loop->totals;
    for (int u = 0; u < loop->count; u++) {
        sum.brought += loop->worker[u].brought;
        sum.brought_bytes += loop->worker[u].brought_bytes;
    }
    return sum;
}

void evn_loop_add_totals(evn_loop_totals *all, const evn_loop_totals *of) {
    NEED_OR(, all && of, "the totals of all ranks, and of one");
    all->compute_s = fmax(all->compute_s, of->compute_s);
    all->exchange_s = fmax(all->exchange_s, of->exchange_s);
    if (of->instances > all->instances) all->instances = of->instances;
    if (of->migrations > all->migrations) all->migrations = of->migrations;
    all->bytes += of->bytes;
    all->messages += of->messages + of->rank_messages;
    all->copies += of->copies;
    all->rank_messages += of->rank_messages;
    all->rank_bytes += of->rank_bytes;
    all->moved += of->moved;
    all->moved_bytes += of->moved_bytes;
    all->brought += of->brought;
    all->stolen += of->stolen;
    all->brought_bytes += of->brought_bytes;
}

evn_unit_stats evn_loop_stats(const evn_loop *loop, int unit) {
    NEED_OR((evn_unit_stats){0}, loop, "a loop");
    if (unit >= 0 && unit < loop->count) return loop->worker[unit].stats;
    evn_fail(EVN_USAGE, "loop: what unit %d did; there are units 0 to %d", unit, loop->count - 1);
    return (evn_unit_stats){0};
}

void evn_loop_reset_stats(evn_loop *loop) {
    NEED_OR(, loop, "a loop");
    for (int u = 0; u < loop->count; u++) {
        loop->worker[u].stats = (evn_unit_stats){0};
        loop->worker[u].brought = 0;
        loop->worker[u].brought_bytes = 0;
    }
    loop->totals = (evn_loop_totals){0};
    loop->recent = (struct recent){0};
    loop->closed.count = 0;
    loop->resets++;
}
