/* The exchange: opening, and its two halves, before and after all units have packed. */
#include <evener/clock.h>
#include "exchange/transport.h"
#include "unit/device_ops.h"
#include "unit/share.h"
#include "loop/rank_ops.h"
#include "base/argument.h"
#include "base/checksum.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what each unit does ------------------------------------------------------------------- */

static void note(evn_exchange *x, int unit, evn_status status) {
    struct half *h = &x->half[unit];
    if (!status || h->status) return;
    h->status = status;
    snprintf(h->text, sizeof h->text, "%s", evn_message());
}

static evn_status pack(const evn_exchange *x, struct end *e, evn_unit *unit) {
    if (e->on) return device_ops.pack(x, e);
    copies_by_cores(&e->pack, unit);
    return EVN_OK;
}

static evn_status copy_directly(const evn_exchange *x, struct end *e, evn_unit *unit) {
    if (e->on) return device_ops.copy_directly(x, e);
    copies_by_cores(&e->direct, unit);
    return EVN_OK;
}

/* First half: what leaves, and what stays. */
static evn_status send_from(evn_exchange *x, struct end *e, evn_unit *unit) {
    evn_status status = pack(x, e, unit);
    for (int i = 0; !status && i < x->plan.messages; i++) {
        struct message *m = &x->plan.message[i];
        if (m->from != e) continue;
        status = m->transport->send(m);
        m->sent = !status;
    }
    /* what goes to other ranks goes first: what stays is copied while that travels */
    if (!status && x->remotes) return x->remote_ops->pack(x, e);
    return status ? status : copy_directly(x, e, unit);
}

/* Whether a body will finish the end: not where its tasks were and no more are. */
static int is_awaited(const evn_exchange *x, const struct end *e) {
    for (int i = 0; x->open && i < x->parts; i++)
        if (!exchange_is_remote(x, &x->part[i]) && &x->plan.end[x->part[i].end] == e) return 1;
    return 0;
}

/* Second half: what comes is let into its room. */
static evn_status receive_at(evn_exchange *x, struct end *e) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->plan.messages; i++) {
        struct message *m = &x->plan.message[i];
        if (m->to == e && m->sent) status = m->transport->receive(m);
    }
    if (!status && e->on) status = device_ops.arrive(e);
    e->unfinished = !status && is_awaited(x, e);
    return status;
}

/* The end of a run: unpacking. */
static evn_status unpack(evn_exchange *x, struct end *e, evn_unit *unit) {
    evn_status status = EVN_OK;
    e->unfinished = 0;
    for (int i = 0; !status && i < x->plan.messages; i++) {
        struct message *m = &x->plan.message[i];
        if (m->to == e && m->sent) status = m->transport->wait(m);
    }
    if (!status && x->remotes) status = x->remote_ops->receive(x, e);
    if (status) return status;
    if (!e->on) copies_by_cores(&e->unpack, unit);
    if (x->remotes) x->remote_ops->release(x, e);
    return e->on ? device_ops.unpack(x, e) : EVN_OK;
}

/* When all have packed, each copies what stays on this rank. */
static void copy_what_stays(evn_exchange *x, int me, evn_unit *unit) {
    if (!x->remote_ops->is_sent(x))
        note(x, me,
             evn_fail(EVN_USAGE, "units that are only described run one after another, and over "
                                 "ranks all pack before any waits"));
    for (int i = 0; i < x->plan.ends; i++)
        if (x->plan.end[i].unit == me) note(x, me, copy_directly(x, &x->plan.end[i], unit));
}

static void run_unit(evn_unit *unit, void *arg) {
    evn_exchange *x = arg;
    struct plan *p = &x->plan;
    const int me = evn_unit_number(unit);
    const double begin = evn_now();
    x->half[me].status = EVN_OK;
    for (int i = 0; i < p->messages; i++)
        if (p->message[i].from->unit == me) p->message[i].sent = 0;
    for (int i = 0; i < p->ends; i++)
        if (p->end[i].unit == me) note(x, me, send_from(x, &p->end[i], unit));
    if (x->remotes) x->remote_ops->packed(x, x->half[me].status);
    double wait = 0;
    if (p->messages || x->remotes) { /* all have packed; without messages no unit waits */
        const double before = evn_now();
        evn_unit_synchronize(unit);
        wait = evn_now() - before;
    }
    if (x->remotes) copy_what_stays(x, me, unit);
    for (int i = 0; i < p->ends; i++) {
        struct end *e = &p->end[i];
        if (e->unit != me) continue;
        note(x, me, receive_at(x, e));
        if (x->open) continue;
        if (!x->half[me].status) note(x, me, unpack(x, e, unit));
        if (e->on) note(x, me, device_ops.finish(e->compute));
    }
    const double end = evn_now();
    x->busy[me] = end - begin - wait;
    if (p->tasks[me])
        loop_record(x->loop, me, EVN_BURST_EXCHANGE, p->first_task[me], p->tasks[me], begin, end);
}

/* ---- in one memory ------------------------------------------------------------------------- */

/* Units that arrive copy their own blocks, then blocks that others have not begun. */
static void copy_in_one(evn_unit *unit, void *arg) {
    evn_exchange *x = arg;
    struct plan *p = &x->plan;
    const int me = evn_unit_number(unit), alone = x->loop->alone.now;
    const double begin = evn_now();
    for (int i = 0; i < p->ends; i++)
        if (p->end[i].unit == me) copies_help(&p->end[i].direct, unit, alone);
    for (int i = 0; i < p->ends; i++) copies_help(&p->end[i].direct, unit, alone);
    const double end = evn_now();
    x->busy[me] = end - begin;
    if (p->tasks[me])
        loop_record(x->loop, me, EVN_BURST_EXCHANGE, p->first_task[me], p->tasks[me], begin, end);
}

static evn_status run_in_one(evn_exchange *x) {
    struct plan *p = &x->plan;
    const double begin = evn_now();
    int left = 0;
    for (int u = 0; u < p->units; u++) {
        x->busy[u] = 0;
        x->half[u].status = EVN_OK;
    }
    if (!ahead_has_all(x)) {
        for (int i = 0; i < p->ends; i++) {
            copies_begin(&p->end[i].direct);
            left += p->end[i].direct.shares;
        }
    }
    evn_status status = EVN_OK;
    if (left && x->loop->alone.now)
        status = units_alone(x->loop->units, copy_in_one, x);
    else if (left)
        status = units_share(x->loop->units, copy_in_one, x);
    const double end = units_rest(x->loop->units), wall = end - begin;
    /* where a unit has not come, others have copied its faces, or all was done ahead */
    for (int u = 0; u < p->units; u++)
        if (p->tasks[u] && !(x->busy[u] > 0))
            loop_record(x->loop, u, EVN_BURST_EXCHANGE, p->first_task[u], p->tasks[u], begin, end);
    ahead_clear(&p->ahead);
    if (status) return status;
    loop_add_exchange(x->loop, x->busy, wall);
    loop_add_moved(x->loop, p->in, p->out, p->pairs, p->messages);
    return EVN_OK;
}

/* ---- a run --------------------------------------------------------------------------------- */

/* Acquires, where they are, those regions in a space that are written, or that are only read; or
 * lets them go. */
static evn_status hold(evn_exchange *x, int space, int written, int take) {
    int count = 0;
    for (int i = 0; i < x->parts; i++) {
        const struct part *p = &x->part[i];
        if (!p->again && p->space == space && p->written == written) x->held[count++] = p->region;
    }
    if (!count) return EVN_OK;
    if (take) return place_acquire(x->place, count, x->held, space, written ? EVN_BOTH : EVN_READ);
    return place_release(x->place, count, x->held, space);
}

/* Acquires all regions in place, so that other copies of written ones become stale; none if that
 * fails. */
static evn_status hold_all(evn_exchange *x) {
    const int spaces = x->place ? evn_place_spaces(x->place) : 0;
    for (int i = 0; i < 2 * spaces; i++) {
        evn_status status = hold(x, i / 2, i % 2, 1);
        if (!status) continue;
        while (i-- > 0) hold(x, i / 2, i % 2, 0);
        return status;
    }
    return EVN_OK;
}

static void release_all(evn_exchange *x) {
    const int spaces = x->place ? evn_place_spaces(x->place) : 0;
    for (int i = 0; i < 2 * spaces; i++) hold(x, i / 2, i % 2, 0);
}

/* The unit that is to blame if some have failed: one whose device has, which it may not know yet,
 * since others fail when they wait for it; else the first. -1: none has failed. */
static int find_failed(evn_exchange *x) {
    int first = -1;
    for (int u = x->plan.units - 1; u >= 0; u--)
        if (x->half[u].status) first = u;
    for (int i = 0; first >= 0 && i < x->plan.ends; i++) {
        const struct end *e = &x->plan.end[i];
        const evn_status status = e->on ? device_ops.finish(e->copies) : EVN_OK;
        note(x, e->unit, status);
        if (status == EVN_DEVICE) return e->unit;
    }
    return first;
}

/* A unit has failed: pending work is useless, and the next run plans again. */
static evn_status failed(evn_exchange *x, int unit) {
    const struct half h = x->half[unit];
    const int tasks = x->plan.tasks[unit], first = x->plan.first_task[unit];
    loop_set_failed(x->loop, unit);
    exchange_forget(x);
    return evn_fail(h.status, "unit %d: exchange of %d tasks from %d on: %s", unit, tasks, first,
                    h.text);
}

/* Regions are held during planning, too: unheld ones may be moved. */
static evn_status begin(evn_exchange *x) {
    loop_set_failed(x->loop, -1);
    evn_status status = exchange_find(x);
    if (!status) status = hold_all(x);
    if (status) return status;
    status = exchange_plan(x);
    if (!status && x->remote_ops) status = x->remote_ops->begin(x);
    if (status) release_all(x);
    return status;
}

/* The regions of all parts, each once, to be taken at once. */
static void list_regions(evn_exchange *x) {
    int count = 0;
    for (int i = 0; i < x->parts; i++) {
        const struct part *p = &x->part[i];
        if (p->again) continue; /* the region is in the list for another task */
        x->held[count] = p->region;
        x->access[count++] = p->written ? EVN_BOTH : EVN_READ;
    }
    x->use = (struct place_use){.count = (size_t)count,
                                .region = x->held,
                                .access = x->access,
                                .period = count ? (size_t)count : 1};
}

/* Takes the regions at once where nothing has changed since the last run: 1. */
static int take_settled(evn_exchange *x) {
    if (!x->settled || x->assignment != x->loop->assignment || x->loop->place != x->place) return 0;
    if (!x->place) return 1;
    return place_use_begin(x->place, &x->use, x->version);
}

/* Notes how everything is in this run, before regions are let go. */
static void settle(evn_exchange *x) {
    x->settled =
        exchange_is_in_one(x) && x->plan.dealt && (!x->place || evn_place_spaces(x->place) == 1);
    x->assignment = x->loop->assignment;
    if (x->settled && x->place) x->version = place_version(x->place);
}

/* The run that was begun. */
static evn_status run(evn_exchange *x, int open) {
    x->open = open;
    if (exchange_is_in_one(x)) {
        evn_status status = run_in_one(x);
        settle(x);
        release_all(x);
        if (x->settled) list_regions(x);
        return status;
    }
    x->settled = 0;
    const double begin = evn_now();
    evn_status status = evn_units_run(x->loop->units, run_unit, x);
    const double wall = units_rest(x->loop->units) - begin;
    ahead_clear(&x->plan.ahead);
    release_all(x);
    if (status) return status;
    const int unit = find_failed(x);
    if (unit >= 0) return failed(x, unit);
    loop_add_exchange(x->loop, x->busy, wall);
    loop_add_moved(x->loop, x->plan.in, x->plan.out, x->plan.pairs, x->plan.messages);
    return EVN_OK;
}

/* Whether every task will be computed where its regions are now, all of a unit's in one batch. */
static int stays(const evn_exchange *x) {
    const evn_loop *loop = x->loop;
    if (loop_chunk(loop) || loop_may_steal(loop)) return 0;
    const int *next = loop_next(loop);
    for (int t = 0; t < x->tasks; t++)
        if (next[t] != loop->owner[t]) return 0;
    /* a unit of several devices deals tasks that were drawn out anew */
    const int several = evn_units_about(loop->units).devices > evn_units_about(loop->units).gpus;
    if (several) evn_loop_devices(loop, 0, x->device);
    for (int i = 0; i < x->parts; i++) {
        if (exchange_is_remote(x, &x->part[i])) continue;
        const struct end *e = &x->plan.end[x->part[i].end];
        const int unit = loop_own(loop, next[x->part[i].task]);
        if (e->unit != unit) return 0;
        if (evn_unit_is_gpu(evn_units_get(loop->units, unit)) && !e->on) return 0;
        if (several && e->device != x->device[x->part[i].task]) return 0;
    }
    return 1;
}

/* 1 if work may be pending when all units have done the first half. Copies within a device are
 * ordered before its next computation, so they need no wait. */
static int has_more(const evn_exchange *x) {
    int devices = 0;
    for (int i = 0; i < x->plan.ends; i++) devices |= x->plan.end[i].on != NULL;
    return devices || x->plan.messages || x->remotes;
}

/* Counts runs since the loop's statistics began. */
static void count_run(evn_exchange *x) {
    if (x->resets != x->loop->resets) x->runs = 0;
    x->resets = x->loop->resets;
    x->runs++;
}

/* Begins and runs; `may_open`: it may be left open. Over ranks a failure is told to all at the end
 * of the next instance: until then this rank sends its neighbours what says so. */
static evn_status begin_and_run(evn_exchange *x, int may_open, const char *what, evn_status mine) {
    evn_cluster *cluster = x->loop->cluster;
    evn_status status = cluster ? loop_may_begin(x->loop, what) : mine;
    if (status) return status; /* a body's: no rank waits for it */
    count_run(x);
    if (!cluster && take_settled(x)) {
        loop_set_failed(x->loop, -1);
        x->open = 0;
        status = run_in_one(x);
        evn_status ended = x->place ? place_use_end(x->place, &x->use) : EVN_OK;
        return status ? status : ended;
    }
    if (!cluster) {
        status = begin(x);
        return status ? status : run(x, may_open && has_more(x) && stays(x));
    }
    x->remote_ops->find(x);
    x->remote_ops->settle(x);
    x->remote_ops->next(x);
    status = mine ? mine : x->loop->ranks->failed(cluster);
    if (!status) status = begin(x);
    if (!status) {
        status = run(x, may_open && has_more(x) && stays(x));
    } else {
        x->open = 0;
    }
    /* before neighbours' messages, which may say that they have failed, too */
    if (status) x->loop->ranks->fail(cluster, status);
    if (status && !x->remote_ops->is_sent(x)) x->remote_ops->send_failure(x, status);
    if (status || !x->open) x->remote_ops->settle(x);
    return EVN_OK;
}

evn_status evn_exchange_run(evn_exchange *x) {
    NEED(x, "an exchange");
    return begin_and_run(x, 0, "evn_exchange_run()", EVN_OK);
}

evn_status evn_exchange_start(evn_exchange *x, int *open) {
    NEED(x, "an exchange");
    evn_status status = EVN_OK;
    if (open)
        *open = 0;
    else
        status = argument_missing(__func__, "where to put whether there is something to finish");
    status = begin_and_run(x, 1, "evn_exchange_start()", status);
    if (open) *open = !status && x->open;
    return status;
}

/* The second half at an end, where everything must be as the first half has left it. */
static evn_status finish(evn_exchange *x, int end, evn_unit *unit) {
    for (int i = 0; i < x->parts; i++) {
        const struct part *p = &x->part[i];
        if (!exchange_is_remote(x, p) && p->end == end && exchange_moved(x, p))
            return evn_fail(EVN_USAGE,
                            "exchange: region %d of task %d has moved between the two "
                            "halves of an exchange",
                            p->slot, p->task);
    }
    return unpack(x, &x->plan.end[end], unit);
}

evn_status evn_exchange_finish(evn_exchange *x, evn_unit *unit, int device) {
    NEED(x, "an exchange");
    NEED(unit, "a unit");
    if (evn_units_get(x->loop->units, evn_unit_number(unit)) != unit)
        return evn_fail(EVN_USAGE, "exchange: evn_exchange_finish() with a unit that is not of the "
                                   "loop's units");
    const int me = evn_unit_number(unit);
    evn_status status = EVN_OK;
    for (int i = 0; x->open && !status && i < x->plan.ends; i++) {
        const struct end *e = &x->plan.end[i];
        if (e->unit == me && e->device == device && e->unfinished) status = finish(x, i, unit);
    }
    return status;
}

/* ---- opening ------------------------------------------------------------------------------- */

static void units_changed(void *arg) { exchange_forget(arg); }

static void add_links(void *arg, struct links *to) {
    const evn_exchange *x = arg;
    const int ran = x->resets == x->loop->resets;
    for (int i = 0; ran && i < x->faces; i++) {
        const struct face *f = &x->face[i];
        if (f->from < 0) continue;
        links_add(to, exchange_task(x, f, 0), exchange_task(x, f, 1),
                  (double)exchange_face_bytes(x, &f->of) * (double)x->runs);
    }
}

/* Ways between devices, which steps shall not open. */
static evn_status connect_devices(evn_exchange *x) {
    return x->place && evn_place_spaces(x->place) > 1 ? device_ops.connect(x) : EVN_OK;
}

/* The exchange, or a part of it. */
static evn_status open_exchange(evn_exchange **out, evn_loop *loop, size_t element, int count,
                                const evn_face *face, void *const *host) {
    evn_exchange *x = *out = calloc(1, sizeof *x);
    if (!x) return evn_fail(EVN_MEMORY, "exchange: not enough memory");
    x->loop = loop;
    x->place = loop->place;
    x->element = element;
    x->tasks = loop->problem->tasks;
    x->slots = loop->place ? loop->regions : 1;
    x->remote_ops = loop->ranks ? loop->ranks->remote : NULL;
    x->remote_plan = -1;
    x->listener = (struct loop_listener){.units_changed = units_changed,
                                         .may_change = exchange_may_change,
                                         .change = exchange_change,
                                         .links = add_links,
                                         .arg = x};
    loop_listen(loop, &x->listener);
    evn_status status = x->remote_ops ? x->remote_ops->open(x) : EVN_OK;
    if (!status) status = exchange_take(x, count, face, host);
    if (!status) status = exchange_check_overlaps(x, 0);
    if (!status) status = exchange_find_pairs(x, 0);
    return status ? status : connect_devices(x);
}

evn_status evn_exchange_open(evn_exchange **out, evn_loop *loop, size_t element, int count,
                             const evn_face *face, void *const *host) {
    if (out) *out = NULL;
    NEED(loop, "a loop");
    evn_exchange *x = NULL;
    evn_status status = loop->replicated ? loop_may_begin(loop, "evn_exchange_open()") : EVN_OK;
    if (status) return status; /* a body's: no rank waits for it */
    status = out ? exchange_check_faces(loop, element, 0, count, face, host)
                 : argument_missing(__func__, "where to put what it opens");
    if (!status) status = open_exchange(&x, loop, element, count, face, host);
    const uint64_t sum =
        status ? 0 : checksum_add(exchange_checksum(loop, count, face), &element, sizeof element);
    status = exchange_agree(loop, "evn_exchange_open()", count, sum, status);
    if (status)
        evn_exchange_close(x);
    else
        *out = x;
    return status;
}

void evn_exchange_close(evn_exchange *x) {
    if (!x) return;
    if (loop_is_at_work(x->loop)) {
        evn_fail(EVN_USAGE, "exchange: evn_exchange_close() from within a body of its loop, which "
                            "must return first");
        return;
    }
    exchange_forget(x);
    loop_keep_links(x->loop, &x->listener);
    if (x->remote_ops) x->remote_ops->close(x);
    loop_unlisten(x->loop, &x->listener);
    exchange_close_faces(x);
    free(x);
}
