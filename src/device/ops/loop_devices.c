/* A GPU unit's part of an instance: batches in flight on all its devices at once.
 *
 * A batch runs in its device's queue between two events, with one more event at each report of the
 * body. Times are read when the queue has finished. Regions are moved before the first body is
 * called, so computing and waiting are measured separately. */
#include "loop/internal.h"
#include <evener/clock.h>
#include <math.h>
#include <stdlib.h>

/* ---- marks --------------------------------------------------------------------------------- */

/* Room for one more mark; its own event may be there from an earlier batch. */
static struct mark *next_mark(struct in_flight *f) {
    if (f->marks == f->room) {
        const int room = f->room ? 2 * f->room : 8;
        struct mark *more = realloc(f->mark, (size_t)room * sizeof *more);
        if (!more) return NULL;
        for (int m = f->room; m < room; m++) more[m] = (struct mark){0};
        f->mark = more;
        f->room = room;
    }
    return &f->mark[f->marks];
}

evn_status devices_mark(evn_batch *b, int until) {
    struct in_flight *f = b->in_flight;
    struct mark *m = next_mark(f);
    evn_status status = EVN_OK;
    if (!m) status = evn_fail(EVN_MEMORY, "batch: no memory for the times of %d tasks", b->count);
    if (!status && !m->own) status = evn_event_open(&m->own, evn_unit_device(b->unit, b->device));
    if (!status) status = evn_event_record(m->own, evn_batch_queue(b));
    if (status) {
        worker_fail(b->loop, b->worker, status);
        return status;
    }
    m->event = m->own;
    m->until = until;
    f->marks++;
    return EVN_OK;
}

/* The end of the batch, which is that of the tasks whose end was not told. */
static evn_status mark_end(struct in_flight *f) {
    evn_status status = evn_event_record(f->end, evn_batch_queue(&f->batch));
    if (status || batch_first_open(&f->batch) >= f->batch.count) return status;
    struct mark *m = next_mark(f);
    if (!m)
        return evn_fail(EVN_MEMORY, "batch: no memory for the times of %d tasks", f->batch.count);
    m->event = f->end;
    m->until = f->batch.count;
    f->marks++;
    return EVN_OK;
}

/* Times of the events, when all have happened. */
static evn_status read_times(struct in_flight *f) {
    evn_status status = evn_event_seconds(f->begin, f->end, &f->seconds);
    evn_event *from = f->begin;
    for (int m = 0; !status && m < f->marks; m++) {
        status = evn_event_seconds(from, f->mark[m].event, &f->mark[m].seconds);
        from = f->mark[m].event;
    }
    return status;
}

/* ---- one batch ----------------------------------------------------------------------------- */

/* Makes the device's next batch, as many of its tasks as it can hold, and moves the regions. */
static void prepare(evn_loop *loop, evn_unit *unit, struct worker *w, int device) {
    struct in_flight *f = &w->in_flight[device];
    const int *task = f->task + f->done;
    int count = f->count - f->done, space = -1;
    f->batch.count = f->marks = f->held = 0;
    f->seconds = 0;
    if (w->status || !count) return;
    if (loop->place) {
        space = evn_place_space(loop->place, unit, device);
        evn_status status = regions_fit(loop, w, task, space, &count);
        if (!status) status = regions_acquire(loop, w, task, count, space, &f->held);
        worker_fail(loop, w, status);
        if (status) return;
    }
    f->batch = (evn_batch){.task = task,
                           .count = count,
                           .device = device,
                           .space = space,
                           .slowness = 1,
                           .seconds = loop->seconds,
                           .in_flight = f,
                           .unit = unit,
                           .loop = loop,
                           .worker = w};
}

/* Calls the body, which puts the batch into the queue. */
static void start(struct in_flight *f) {
    const evn_batch *b = &f->batch;
    if (!b->count || b->worker->status) return;
    evn_status status = evn_event_record(f->begin, evn_batch_queue(b));
    if (!status) status = batch_run(&f->batch);
    if (!status) status = mark_end(f);
    worker_fail(b->loop, b->worker, status);
}

/* Waits for a batch in flight, and gives its regions back. */
static void finish(struct in_flight *f) {
    const evn_batch *b = &f->batch;
    struct worker *w = b->worker;
    if (!b->count) return;
    evn_status status = evn_queue_finish(evn_batch_queue(b));
    if (!status && !w->status) status = read_times(f);
    regions_release(b->loop, w, b->task, f->held, b->space);
    if (status && !w->status) /* say which tasks, since the device does not know */
        status = evn_fail(status, "tasks %d to %d (%d in all): %s", b->task[0],
                          b->task[b->count - 1], b->count, evn_message());
    worker_fail(b->loop, w, status);
    w->tasks += b->count;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Gives the tasks of a batch their times, `factor` of what the events say. */
static void charge(struct in_flight *f, double factor) {
    evn_batch *b = &f->batch;
    int at = 0;
    for (int m = 0; m < f->marks; at = f->mark[m++].until)
        batch_share(b->loop, b->task + at, f->mark[m].until - at, f->mark[m].seconds * factor,
                    b->seconds);
    if (b->adds) batch_settle(b);
}

/* The host's interval of a batch that was alone in flight, cut as its marks are. */
static void record_marks(const struct in_flight *f, double begin, double end) {
    const evn_batch *b = &f->batch;
    double sum = 0, since = begin;
    int at = 0;
    for (int m = 0; m < f->marks; at = f->mark[m++].until) {
        sum += f->mark[m].seconds;
        const double part = f->seconds > 0 ? sum / f->seconds : (double)f->mark[m].until / b->count;
        const double until = fmin(begin + (end - begin) * part, end);
        burst_record(b->worker, b->worker->common.kind, b->task[at], f->mark[m].until - at, since,
                     until);
        since = until;
    }
}

/* Times and bursts of the batches that have been in flight since `begin`; returns when they ended.
 */
static double conclude(struct worker *w, double begin) {
    struct in_flight *alone = NULL;
    double longest = 0, sum = 0;
    int first = -1, tasks = 0, batches = 0, is_virtual = 0;
    for (int d = 0; d < w->devices; d++) {
        struct in_flight *f = &w->in_flight[d];
        if (!f->batch.count) continue;
        if (w->status) f->marks = 0; /* some may not have happened */
        if (first < 0) first = f->batch.task[0];
        tasks += f->batch.count;
        longest = fmax(longest, f->seconds);
        sum += f->seconds;
        is_virtual |= evn_device_traits(evn_unit_device(f->batch.unit, d))->clock_is_virtual;
        alone = f;
        batches++;
    }
    /* side by side: together the unit's tasks take as long as the slowest device */
    for (int d = 0; d < w->devices; d++)
        if (w->in_flight[d].batch.count)
            charge(&w->in_flight[d], longest < sum ? longest / sum : 1);
    const double end = evn_now();
    if (batches == 1 && alone->marks)
        record_marks(alone, begin, end);
    else if (batches)
        burst_record(w, w->common.kind, first, tasks, begin, end);
    w->busy += is_virtual ? longest : end - begin;
    return end;
}

double devices_run(evn_loop *loop, evn_unit *unit, struct worker *w, double begin) {
    for (int left = 1; left && !w->status;) {
        for (int d = 0; d < w->devices; d++) prepare(loop, unit, w, d);
        if (loop->place) {
            const double brought = evn_now();
            w->copy += brought - begin;
            begin = brought;
        }
        for (int d = 0; d < w->devices; d++) start(&w->in_flight[d]);
        for (int d = 0; d < w->devices; d++) finish(&w->in_flight[d]);
        begin = conclude(w, begin);
        left = 0;
        for (int d = 0; d < w->devices; d++) {
            struct in_flight *f = &w->in_flight[d];
            f->done += f->batch.count;
            left |= f->done < f->count;
        }
    }
    return begin;
}

/* ---- opening ------------------------------------------------------------------------------- */

evn_status devices_open(evn_loop *loop, struct worker *w, evn_unit *unit) {
    const int devices = evn_unit_devices(unit);
    w->in_flight = calloc((size_t)devices, sizeof *w->in_flight);
    if (!w->in_flight)
        return evn_fail(EVN_MEMORY, "loop: not enough memory for %d tasks of unit %d",
                        loop->problem->tasks, evn_unit_number(unit));
    w->devices = devices;
    evn_status status = EVN_OK;
    for (int d = 0; !status && d < devices; d++) {
        status = evn_event_open(&w->in_flight[d].begin, evn_unit_device(unit, d));
        if (!status) status = evn_event_open(&w->in_flight[d].end, evn_unit_device(unit, d));
    }
    return status;
}

void devices_close(struct worker *w) {
    for (int d = 0; d < w->devices; d++) {
        struct in_flight *f = &w->in_flight[d];
        evn_event_close(f->begin);
        evn_event_close(f->end);
        for (int m = 0; m < f->room; m++) evn_event_close(f->mark[m].own);
        free(f->mark);
        batch_forget(f);
    }
    free(w->in_flight);
    w->in_flight = NULL;
    w->devices = 0;
}
