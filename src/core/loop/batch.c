/* Batches: a body's queries and reports about its tasks.
 *
 * evn_batch_next() bounds the cost of an empty task. On cores it times short tasks together, as
 * many as take GRAIN; so all else that there is to do is behind its first comparison.
 *
 * Functions without a status fail the instance on a wrong question, so that no body can mistake a
 * wrong value for a right one. */
#include "loop/birth.h"
#include "loop/lists.h"
#include "loop/rank_ops.h"
#include "base/argument.h"
#include "base/message.h"
#include "base/number.h"
#include "unit/device_ops.h"
#include <evener/change.h>
#include <evener/clock.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- times --------------------------------------------------------------------------------- */

/* The sum of the tasks' values. */
static double sum_of(const double *value, const int *task, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += value[task[i]];
    return sum;
}

void batch_share(const evn_loop *loop, const int *task, int count, double seconds, double *to) {
    const double *weight = loop->problem->weight,
                 sum = loop->even ? 0 : sum_of(weight, task, count);
    if (sum > 0)
        for (int i = 0; i < count; i++) to[task[i]] = seconds * (weight[task[i]] / sum);
    else
        for (int i = 0; i < count; i++) to[task[i]] = seconds / count;
}

/* Ends `count` tasks from number `first` on, done together. */
static void charge_together(evn_batch *b, int first, int count, double now) {
    const int *task = b->task + first;
    batch_share(b->loop, task, count, now - b->since, b->seconds);
    burst_record(b->worker, b->worker->common.kind, task[0], count, b->since, now);
    b->since = now;
}

/* Ends the task at hand: its time. */
static void charge(evn_batch *b, double now) {
    const int task = b->task[b->timed];
    b->seconds[task] = now - b->since;
    burst_record_task(b->worker, task, b->since, now);
    b->since = now;
}

/* Waits where the unit is to be slow; when what began at b->since has ended. */
static double ended(const evn_batch *b) {
    /* the counter of ticks may be a little ahead of the clock */
    double now = fmax(evn_now(), b->since);
    if (b->slowness <= 1) return now;
    const double until = b->since + (now - b->since) * b->slowness;
    while (now < until) now = evn_now();
    return now;
}

int batch_take_more(evn_batch *b, int all) {
    int count;
    if (!b->open) return 0;
    if (all)
        lists_rest(b->worker, &count);
    else
        lists_own(b->loop, b->worker, &count);
    b->open = !all && count;
    b->count += count;
    return count;
}

double batch_end(evn_batch *b) {
    const int first = batch_first_open(b);
    double now;
    if (first < b->count)
        charge_together(b, first, b->count - first, now = ended(b));
    else
        now = fmax(evn_now(), b->since);
    if (b->adds) batch_settle(b);
    return now;
}

void batch_settle(evn_batch *b) {
    double *added = b->loop->added;
    b->worker->adds = 1;
    for (int i = 0; i < b->count; i++) {
        b->seconds[b->task[i]] += added[b->task[i]];
        added[b->task[i]] = 0;
    }
}

evn_status batch_run(evn_batch *b) {
    struct worker *w = b->worker;
    const unsigned said = message_count();
    evn_status status = w->body ? w->body(b->unit, b, w->arg) : EVN_OK;
    if (!status) batch_take_more(b, 1); /* a body that has asked for none has done all */
    if (!status && b->shared && b->done < b->count)
        status =
            batch_mistake(b, "%d of its %d tasks were shared out; evn_batch_share() must do all",
                          b->done, b->count);
    if (status && message_count() == said)
        status =
            evn_fail(status, "the body of tasks %d to %d returned status %d (%s) and no message",
                     b->task[0], b->task[b->count - 1], (int)status, evn_status_text(status));
    return status;
}

/* ---- mistakes ------------------------------------------------------------------------------ */

evn_status batch_mistake(const evn_batch *b, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    number_vprint(text, sizeof text, format, arguments);
    va_end(arguments);
    evn_status status = evn_fail(EVN_USAGE, "batch: %s", text);
    worker_fail(b->loop, b->worker, status);
    return status;
}

/* Whether the task is one of the batch's; they ascend. */
static int has(const evn_batch *b, int task) {
    if (b->next > 0 && b->task[b->next - 1] == task) return 1;
    int lo = 0, hi = b->count;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (b->task[mid] < task)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < b->count && b->task[lo] == task;
}

static evn_status must_have(const evn_batch *b, int task) {
    if (has(b, task)) return EVN_OK;
    return batch_mistake(b, "task %d is not of this batch, which has %d from %d to %d", task,
                         b->count, b->task[0], b->task[b->count - 1]);
}

evn_status batch_find_birth(const evn_batch *b, int task, int *index) {
    if (!b->loop->bearing)
        return batch_mistake(b, "origins of task %d, and these are no births (evn_loop_bear())",
                             task);
    evn_status status = must_have(b, task);
    *index = status ? -1 : birth_index(b->loop->bearing, task);
    return status;
}

/* The i-th region of a task of the batch, -1 if it has none, in *region. */
static evn_status find_region(const evn_batch *b, int task, int i, int *region) {
    const evn_loop *loop = b->loop;
    *region = -1;
    if (!loop->place)
        return batch_mistake(b, "task %d has no regions; evn_loop_place() lets them follow tasks",
                             task);
    if (i < 0 || i >= loop->regions)
        return batch_mistake(b, "region %d of task %d; tasks have %d, from 0", i, task,
                             loop->regions);
    evn_status status = must_have(b, task);
    if (!status) *region = loop->region[(size_t)task * (size_t)loop->regions + (size_t)i];
    return status;
}

/* ---- tasks --------------------------------------------------------------------------------- */

/* The end of the tasks at hand: between tasks by the counter, which may be a little behind. */
static double run_ended(const evn_batch *b) {
    if (b->slowness > 1 || !ticks_by_counter || (b->next == b->count && !b->open)) return ended(b);
    return fmax(ticks_time(&b->at, ticks_counter()), b->since);
}

/* s of tasks that are not timed together, as far as times are known */
#define LONG (4 * GRAIN)

enum { PAST = 16 }; /* tasks of the instance before each one that is timed together with others */

/* Ends the tasks at hand. The next ones are as many as take GRAIN if they are as long as these. */
static void end_run(evn_batch *b) {
    struct worker *w = b->worker;
    const int count = b->next - b->timed;
    const double now = run_ended(b), seconds = now - b->since;
    if (count == 1)
        charge(b, now);
    else
        charge_together(b, b->timed, count, now);
    b->timed = b->next;
    const int past = w->tasks + b->timed, most = past < PAST * GRAIN_MAX ? past / PAST : GRAIN_MAX;
    w->together = seconds * most > GRAIN * count ? (int)(GRAIN * count / seconds) : most;
    w->met_long |= seconds > LONG;
}

/* End of the tasks that are timed together from the next one on: fewer where some took longer in
 * the instance before. */
static int run_end(const evn_batch *b) {
    const int left = b->count - b->next;
    int count = b->worker->together < left ? b->worker->together : left;
    while (b->loop->looks && count > 1 && sum_of(b->seconds, b->task + b->next, count) > LONG)
        count /= 2;
    return b->next + (count > 1 ? count : 1);
}

/* Whether there is another task; ends those at hand. */
static __attribute__((noinline)) int next_run(evn_batch *b) {
    if (b->done) {
        batch_mistake(b, "evn_batch_next() after evn_batch_done(); a body uses one of them");
        return 0;
    }
    if (b->timed < b->next && !b->in_flight) end_run(b);
    if (b->timed < b->next && device_ops.mark(b, b->next)) return 0;
    b->timed = b->next;
    /* messages between ranks come on while tasks are done */
    if (b->loop->ranks) b->loop->ranks->poll(b->loop->cluster);
    if (b->next == b->count) batch_take_more(b, 0);
    if (b->next == b->count) return 0;
    b->until = b->in_flight ? b->next + 1 : run_end(b);
    return 1;
}

int evn_batch_next(evn_batch *b) {
    NEED_OR(-1, b, "a batch");
    if (b->next >= b->until && !next_run(b)) return -1;
    return b->task[b->next++];
}

int evn_batch_range(evn_batch *b, int *end) {
    NEED_OR(-1, b, "a batch");
    NEED_OR(-1, end, "where to put the end");
    const int first = evn_batch_next(b), more = b->until - b->next;
    *end = first + 1;
    if (first >= 0 && more > 0 && b->task[b->until - 1] - first == more) {
        b->next = b->until;
        *end += more;
    }
    return first;
}

const int *evn_batch_tasks(const evn_batch *batch, int *count) {
    evn_batch *b = (evn_batch *)batch; /* a query of all tasks takes all */
    NEED_OR(NULL, b, "a batch");
    if (!count) {
        batch_mistake(b, "evn_batch_tasks(): NULL instead of where to put how many there are");
        return NULL;
    }
    batch_take_more(b, 1);
    *count = b->count;
    return b->task;
}

void evn_batch_done(evn_batch *b, int count) {
    NEED_OR(, b, "a batch");
    if (b->next) {
        batch_mistake(b, "evn_batch_done() after evn_batch_next(); a body uses one of them");
        return;
    }
    batch_take_more(b, 1);
    if (count < 0 || count > b->count - b->done) {
        batch_mistake(b, "%d more tasks are done, and %d of the batch's %d are left", count,
                      b->count - b->done, b->count);
        return;
    }
    if (!count) return;
    if (!b->in_flight)
        charge_together(b, b->done, count, ended(b));
    else if (device_ops.mark(b, b->done + count))
        return;
    b->done += count;
}

void evn_batch_add(evn_batch *b, int task, double seconds) {
    NEED_OR(, b, "a batch");
    if (must_have(b, task)) return;
    if (!(seconds >= 0 && seconds < 1e300)) {
        batch_mistake(b, "%g seconds added to task %d; expected 0 or more", seconds, task);
        return;
    }
    b->loop->added[task] += seconds;
    b->adds = 1;
}

void evn_batch_spent(evn_batch *b, int task, double begin) {
    NEED_OR(, b, "a batch");
    if (must_have(b, task)) return;
    if (b->in_flight) {
        batch_mistake(b, "evn_batch_spent() on a device; evn_batch_add() says what is known there");
    } else if (batch_first_open(b) < b->count) {
        batch_mistake(b, "evn_batch_spent() before all tasks of the batch were passed");
    } else if (!(begin >= b->since && begin <= evn_now())) {
        batch_mistake(b, "a time of %g s; expected one of evn_now() since the latest task ended",
                      begin);
    } else {
        b->since = begin;
        const double now = ended(b);
        b->loop->added[task] += now - begin;
        b->adds = 1;
        burst_record_task(b->worker, task, begin, now);
        b->since = now;
    }
}

evn_status batch_may_share(evn_batch *b, const int *task, int count) {
    if (b->in_flight)
        return batch_mistake(b, "evn_batch_share() on a device, which has no cores to share out");
    if (b->next || (b->done && !b->shared))
        return batch_mistake(b,
                             "evn_batch_share() after evn_batch_next() or evn_batch_done(); a body "
                             "uses one of them");
    if (count) batch_take_more(b, 1);
    const int left = b->done < b->count ? b->count - b->done : b->count;
    if (count < 0 || count > left)
        return batch_mistake(b, "%d tasks to be shared out; %d are left", count, left);
    for (int i = 0; task != b->task && i < count; i++) {
        evn_status status = must_have(b, task[i]);
        if (status) return status;
    }
    return EVN_OK;
}

void batch_share_begins(evn_batch *b) {
    if (b->done) b->since = evn_now(); /* else with the batch */
    b->shared = 1;
}

void batch_shared(evn_batch *b, const int *task, int count, const double *part) {
    const int again = b->done == b->count;
    const double now = ended(b), wall = now - b->since;
    double sum = 0;
    int first = task[0]; /* that a burst's is the lowest tells traces which tasks there are */
    for (int i = 0; i < count; i++) sum += part[i];
    for (int i = 0; i < count; i++) {
        if (task[i] < first) first = task[i];
        const double seconds = sum > 0 ? wall * part[i] / sum : wall / count;
        if (again)
            b->loop->added[task[i]] += seconds;
        else
            b->seconds[task[i]] = seconds;
    }
    if (again)
        b->adds = 1;
    else
        b->done += count;
    burst_record(b->worker, b->worker->common.kind, first, count, b->since, now);
    b->since = now;
}

/* ---- where it runs ------------------------------------------------------------------------- */

int evn_batch_device(const evn_batch *b) {
    NEED_OR(-1, b, "a batch");
    return b->device;
}

int evn_batch_space(const evn_batch *b) {
    NEED_OR(-1, b, "a batch");
    if (b->space < 0)
        batch_mistake(b,
                      "spaces are those of a place, and the loop has none; see evn_loop_place()");
    return b->space;
}

size_t evn_batch_at(const evn_batch *b, int task, int i) {
    NEED_OR(0, b, "a batch");
    int region;
    if (find_region(b, task, i, &region) || !b->in_flight) return 0;
    if (region >= 0) return region_ops.at(b->loop->place, region, b->space);
    batch_mistake(b, "task %d has no region %d: none was given to evn_loop_place()", task, i);
    return 0;
}

static __attribute__((noinline)) void *find_host(const evn_batch *b, int task, int i) {
    NEED_OR(NULL, b, "a batch");
    int region;
    if (find_region(b, task, i, &region) || b->in_flight || region < 0) return NULL;
    return region_ops.host(b->loop->place, region);
}

/* Mostly of the task at hand, and where it was in the instance before. */
void *evn_batch_host(const evn_batch *b, int task, int i) {
    if (b && b->host && b->next && b->task[b->next - 1] == task &&
        (unsigned)i < (unsigned)b->regions)
        return b->host[(size_t)task * (size_t)b->regions + (size_t)i];
    return find_host(b, task, i);
}
