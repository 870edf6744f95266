/* The loop: batches to bodies, clocks around them, and the times back to the schedule.
 *
 * What a unit writes while it runs (its times, its counters) lies in memory of its own, a cache
 * line apart from the others', and is gathered after the last one is done.
 */
#include "loop/internal.h"
#include <evener/clock.h>
#include <evener/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void record(struct worker *w, int task, int count, double begin, double end) {
    w->ring.burst[w->ring.next++ % w->ring.size] = (evn_burst){.begin = begin - w->origin,
                                                               .end = end - w->origin,
                                                               .kind = w->kind,
                                                               .task = task,
                                                               .count = count,
                                                               .instance = w->instance};
}

/* The time of tasks that were done together, by weight. */
static void share(const evn_problem *p, const int *task, int count, double seconds, double *to) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += p->weight[task[i]];
    for (int i = 0; i < count; i++)
        to[task[i]] = seconds * (sum > 0 ? p->weight[task[i]] / sum : 1.0 / count);
}

static void charge_together(evn_batch *b, int count, double now) {
    const int *task = b->task + b->done;
    share(b->problem, task, count, now - b->since, b->seconds);
    record(b->worker, task[0], count, b->since, now);
    b->done += count;
    b->since = now;
}

void evn_batch_done(evn_batch *b, int count) {
    if (count > b->count - b->done) count = b->count - b->done;
    if (count > 0) charge_together(b, count, evn_now());
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

void evn_batch_add(evn_batch *b, int task, double seconds) { b->seconds[task] += seconds; }

int evn_batch_device(const evn_batch *b) { return b->device; }

static void fail(evn_loop *loop, struct worker *w, evn_status status) {
    if (!status || w->status) return;
    w->status = status;
    snprintf(w->message, sizeof w->message, "%s", evn_message());
    atomic_store(&loop->failed, 1);
}

/* Regions of tasks, into w->regions from `at` on. */
static const int *regions(const evn_loop *loop, struct worker *w, const int *task, int count) {
    int *to = w->regions + (task - w->mine);
    for (int i = 0; i < count; i++) to[i] = loop->region[task[i]];
    return to;
}

/* Acquires the regions of the tasks; a burst where some had to come from elsewhere. */
static evn_status acquire(evn_loop *loop, struct worker *w, const int *task, int count, int space,
                          evn_access access) {
    const int *held = regions(loop, w, task, count);
    int first = -1, away = 0;
    for (int i = 0; (access & EVN_READ) && i < count; i++)
        if (!evn_place_valid(loop->place, held[i], space)) {
            if (first < 0) first = task[i];
            away++;
        }
    const double begin = away ? evn_now() : 0;
    evn_status status = evn_place_acquire(loop->place, count, held, space, access);
    if (away && !status) {
        const evn_burst_kind kind = w->kind;
        w->kind = EVN_BURST_COPY;
        record(w, first, away, begin, evn_now());
        w->kind = kind;
    }
    return status;
}

/* Runs the body on `count` tasks in w->mine on the unit's cores, measured from `begin`; returns
 * when it ended. */
static double run_batch(evn_loop *loop, evn_unit *unit, struct worker *w, int count, double begin) {
    evn_batch *b = &w->batch;
    const int *task = w->mine;
    const int *held = NULL;
    evn_access access = loop->on_host ? loop->host_access : loop->access;
    if (loop->place) {
        held = regions(loop, w, task, count);
        evn_status status = acquire(loop, w, task, count, EVN_HOST, access);
        if (status) {
            fail(loop, w, status);
            return evn_now();
        }
        begin = evn_now(); /* moving is not computing */
    }
    *b = (evn_batch){.task = task,
                     .count = count,
                     .since = begin,
                     .seconds = loop->seconds,
                     .device = -1,
                     .problem = loop->problem,
                     .worker = w};
    evn_status status = loop->body ? loop->body(unit, b, loop->arg) : EVN_OK;
    double end = evn_now();
    if (held) evn_place_release(loop->place, count, held, EVN_HOST);
    if (b->next == 0) {
        if (b->done < count) charge_together(b, count - b->done, end);
    } else if (b->next <= count) {
        charge(b, end); /* left the last one open */
    }
    fail(loop, w, status);
    w->tasks += count;
    w->busy += end - begin;
    return end;
}

/* Puts as much of f->task[*done ..] as the device can hold into its queue. Returns how many. */
static int take_off(evn_loop *loop, evn_unit *unit, struct worker *w, int device, int done) {
    struct flight *f = &w->flight[device];
    const int *task = f->task + done;
    int count = f->count - done;
    if (loop->place) {
        int space = evn_place_space(loop->place, unit, device);
        const int *held = regions(loop, w, task, count);
        evn_status status = evn_place_fits(loop->place, count, held, space, &count);
        if (!status) status = acquire(loop, w, task, count, space, loop->access);
        if (status) {
            fail(loop, w, status);
            return 0;
        }
    }
    evn_batch b = {
        .task = task, .count = count, .seconds = loop->seconds, .device = device, .worker = w};
    evn_queue *queue = evn_unit_queue(unit, device);
    evn_status status = evn_event_record(f->begin, queue);
    if (!status && loop->body) status = loop->body(unit, &b, loop->arg);
    if (!status) status = evn_event_record(f->end, queue);
    fail(loop, w, status);
    return count;
}

/* Waits for it; its time on the device, s. */
static double land(evn_loop *loop, evn_unit *unit, struct worker *w, int device, int done,
                   int count) {
    struct flight *f = &w->flight[device];
    const int *task = f->task + done;
    double seconds = 0;
    evn_status status = evn_queue_finish(evn_unit_queue(unit, device));
    if (!status && !w->status) status = evn_event_seconds(f->begin, f->end, &seconds);
    if (loop->place)
        evn_place_release(loop->place, count, w->regions + (task - w->mine),
                          evn_place_space(loop->place, unit, device));
    share(loop->problem, task, count, seconds, loop->seconds);
    if (status && !w->status) /* say which tasks, since the device does not know */
        status = evn_fail(status, "tasks %d to %d (%d in all): %s", task[0], task[count - 1], count,
                          evn_message());
    fail(loop, w, status);
    w->tasks += count;
    return seconds;
}

/* The same on a GPU unit: the flights of its devices, all at once. */
static double fly(evn_loop *loop, evn_unit *unit, struct worker *w, double begin) {
    const int devices = evn_unit_devices(unit);
    int done[devices], count[devices];
    memset(done, 0, sizeof done);
    for (int left = 1; left && !w->status;) {
        double longest = 0, sum = 0;
        int first = -1, tasks = 0, is_virtual = 0;
        left = 0;
        for (int d = 0; d < devices; d++) {
            count[d] = 0;
            if (done[d] == w->flight[d].count) continue;
            if (first < 0) first = w->flight[d].task[done[d]];
            if (!w->status) count[d] = take_off(loop, unit, w, d, done[d]);
        }
        for (int d = 0; d < devices; d++) {
            if (!count[d]) continue;
            double seconds = land(loop, unit, w, d, done[d], count[d]);
            if (seconds > longest) longest = seconds;
            sum += seconds;
            is_virtual |= evn_device_traits(evn_unit_device(unit, d))->clock_is_virtual;
            tasks += count[d];
            done[d] += count[d];
            left |= done[d] < w->flight[d].count;
        }
        /* side by side: together the unit's tasks take as long as the slowest device */
        if (longest < sum)
            for (int d = 0; d < devices; d++)
                for (int i = done[d] - count[d]; i < done[d]; i++)
                    loop->seconds[w->flight[d].task[i]] *= longest / sum;
        double end = evn_now();
        if (tasks) record(w, first, tasks, begin, end);
        w->busy += is_virtual ? longest : end - begin;
        begin = end;
    }
    return begin;
}

/* Splits `count` tasks in w->mine among the unit's devices: consecutive ones, by weight. */
static void split(const evn_loop *loop, struct worker *w, int count, int devices) {
    const double *weight = loop->problem->weight;
    double sum = 0, before = 0;
    for (int i = 0; i < count; i++) sum += weight[w->mine[i]];
    int next = 0;
    for (int d = 0; d < devices; d++) {
        struct flight *f = &w->flight[d];
        f->task = w->mine + next;
        f->count = 0;
        double until = sum * (d + 1) / devices;
        while (next < count &&
               (d == devices - 1 || before + 0.5 * weight[w->mine[next]] < until || sum <= 0)) {
            before += weight[w->mine[next]];
            next++;
            f->count++;
        }
    }
}

/* Draws the next chunk into w->mine at `at`; how many. */
static int draw(evn_loop *loop, struct worker *w, int unit, int at) {
    const int n = loop->problem->tasks;
    long from = atomic_fetch_add_explicit(&loop->cursor, loop->chunk, memory_order_relaxed);
    if (from >= n) return 0;
    int count = n - from < loop->chunk ? n - (int)from : loop->chunk;
    for (int i = 0; i < count; i++) {
        w->mine[at + i] = (int)from + i;
        loop->owner[from + i] = unit;
    }
    return count;
}

static void run_unit(evn_unit *unit, void *p) {
    evn_loop *loop = p;
    struct worker *w = &loop->worker[evn_unit_number(unit)];
    const int n = loop->problem->tasks, me = evn_unit_number(unit);
    const int devices = loop->on_host ? 0 : evn_unit_devices(unit);
    w->tasks = 0;
    w->busy = 0;
    w->status = EVN_OK;
    double now = evn_now();
    if (!loop->chunk) {
        int count = 0;
        for (int t = 0; t < n; t++)
            if (loop->owner[t] == me) w->mine[count++] = t;
        if (!count) return;
        if (devices) {
            split(loop, w, count, devices);
            fly(loop, unit, w, now);
        } else {
            run_batch(loop, unit, w, count, now);
        }
        return;
    }
    while (!atomic_load_explicit(&loop->failed, memory_order_relaxed)) {
        int count = 0;
        for (int d = 0; d < (devices ? devices : 1); d++) {
            int drawn = draw(loop, w, me, count);
            if (devices) {
                w->flight[d].task = w->mine + count;
                w->flight[d].count = drawn;
            }
            count += drawn;
        }
        if (!count) break;
        now = devices ? fly(loop, unit, w, now) : run_batch(loop, unit, w, count, now);
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
        if (!w->status) continue;
        loop->failed_unit = u;
        return evn_fail(w->status == EVN_DEVICE ? EVN_DEVICE : EVN_BODY, "unit %d: %s", u,
                        w->message);
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

static evn_status visit(evn_loop *loop, evn_body body, void *arg) {
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
    loop->totals.exchange_s += wall;
    if (loop->exchanges) return EVN_OK; /* which count what they move */
    if (loop->cut_stale) {
        loop->cut_bytes = evn_problem_cut(loop->problem, loop->owner, &loop->cut_pairs);
        loop->cut_stale = 0;
    }
    loop->totals.bytes += loop->cut_bytes;
    loop->totals.messages += loop->cut_pairs;
    return EVN_OK;
}

evn_status evn_loop_visit(evn_loop *loop, evn_body body, void *arg) {
    loop->on_host = 0;
    return visit(loop, body, arg);
}

evn_status evn_loop_visit_host(evn_loop *loop, evn_body body, void *arg, evn_access access) {
    loop->on_host = 1;
    loop->host_access = access;
    evn_status status = visit(loop, body, arg);
    loop->on_host = 0;
    return status;
}

evn_status evn_loop_bring(evn_loop *loop) {
    return loop->place ? evn_loop_visit(loop, NULL, NULL) : EVN_OK;
}

int evn_loop_failed_unit(const evn_loop *loop) { return loop->failed_unit; }

void loop_add_exchange(evn_loop *loop, const double *busy, double wall) {
    for (int u = 0; u < loop->count; u++) {
        loop->worker[u].stats.exchange_s += busy[u];
        loop->worker[u].stats.idle_s += wall - busy[u];
    }
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

void loop_set_failed(evn_loop *loop, int unit) { loop->failed_unit = unit; }

void loop_listen(evn_loop *loop, struct loop_listener *listener) {
    listener->next = loop->listener;
    loop->listener = listener;
}

void loop_unlisten(evn_loop *loop, struct loop_listener *listener) {
    struct loop_listener **l = &loop->listener;
    while (*l && *l != listener) l = &(*l)->next;
    if (*l) *l = listener->next;
}

void loop_record(evn_loop *loop, int unit, evn_burst_kind kind, int task, int count, double begin,
                 double end) {
    struct worker *w = &loop->worker[unit];
    w->kind = kind;
    w->instance = evn_schedule_instance(loop->schedule);
    record(w, task, count, begin, end);
}

/* The devices' events, and room for the numbers of regions. */
static evn_status open_worker(evn_loop *loop, int unit) {
    struct worker *w = &loop->worker[unit];
    const size_t n = (size_t)loop->problem->tasks;
    evn_unit *u = evn_units_get(loop->units, unit);
    const int devices = evn_unit_devices(u);
    w->mine = malloc(n * sizeof *w->mine);
    w->regions = malloc(n * sizeof *w->regions);
    if (devices) w->flight = calloc((size_t)devices, sizeof *w->flight);
    if (!w->mine || !w->regions || (devices && !w->flight))
        return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks of unit %d", n, unit);
    evn_status status = EVN_OK;
    for (int d = 0; !status && d < devices; d++) {
        status = evn_event_open(&w->flight[d].begin, evn_unit_device(u, d));
        if (!status) status = evn_event_open(&w->flight[d].end, evn_unit_device(u, d));
    }
    return status;
}

evn_status evn_loop_place(evn_loop *loop, evn_place *place, const int *region, evn_access access) {
    const size_t bytes = (size_t)loop->problem->tasks * sizeof *region;
    int *copy = malloc(bytes);
    if (!copy)
        return evn_fail(EVN_MEMORY, "loop: no memory for the regions of %d tasks",
                        loop->problem->tasks);
    memcpy(copy, region, bytes);
    free(loop->region);
    loop->region = copy;
    loop->regions = 1;
    loop->place = place;
    loop->access = access;
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
    loop->count = count;
    evn_status status = EVN_OK;
    for (int u = 0; ok && !status && u < count; u++) status = open_worker(loop, u);
    if (status) {
        evn_loop_close(loop);
        return status;
    }
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
        struct worker *w = &loop->worker[u];
        for (int d = 0; w->flight && d < evn_unit_devices(evn_units_get(loop->units, u)); d++) {
            evn_event_close(w->flight[d].begin);
            evn_event_close(w->flight[d].end);
        }
        free(w->flight);
        free(w->regions);
        free(w->mine);
        free(w->ring.burst);
    }
    free(loop->worker);
    free(loop->owner);
    free(loop->seconds);
    free(loop->region);
    free(loop);
}

evn_status evn_loop_keep_bursts(evn_loop *loop, int max) {
    evn_burst **fresh = calloc((size_t)loop->count, sizeof *fresh);
    int ok = fresh && max >= 1;
    for (int u = 0; ok && u < loop->count; u++)
        ok = (fresh[u] = malloc(sizeof **fresh * (size_t)max)) != NULL;
    for (int u = 0; fresh && u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        free(ok ? w->ring.burst : fresh[u]);
        if (!ok) continue;
        w->ring = (struct ring){.burst = fresh[u], .size = max};
        w->origin = loop->origin;
    }
    free(fresh);
    if (ok) return EVN_OK;
    return evn_fail(EVN_MEMORY, "loop: no memory to keep %d bursts of %d units", max, loop->count);
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
