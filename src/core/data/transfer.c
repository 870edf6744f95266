/* Moves of regions: valid copies, sources of copies, and the copying, with the lock released. */
#include "data/internal.h"
#include "unit/device_ops.h"
#include <stdio.h>
#include <string.h>

static void set_valid(struct copy *c, bool valid) {
    atomic_store_explicit(&c->valid, valid, memory_order_relaxed);
}

void place_becomes_valid(struct region *r, int space) {
    if (is_valid(r, space)) return;
    set_valid(&r->copy[space], true);
    r->copies++;
}

/* On a device a stale copy is filled with NaN, to expose missing acquires. A failure here means
 * that the device has failed, which its next use reports. */
static void give_piece(evn_place *p, struct region *r, int space) {
    struct space *s = &p->space[space];
    struct copy *c = &r->copy[space];
    c->resident = false;
    arena_give(s->arena, c->at);
    device_ops.poison(s->queue, s->buffer, c->at, r->bytes);
    s->poisoning = s->traits->poisons;
}

void place_forget(evn_place *p, struct region *r, int space) {
    struct copy *c = &r->copy[space];
    if (is_valid(r, space)) {
        set_valid(c, false);
        r->copies--;
        if (space == EVN_HOST && p->poisons) memset(r->host, 0xff, r->bytes);
    }
    if (c->resident) give_piece(p, r, space);
}

void place_forget_others(evn_place *p, struct region *r, int space) {
    for (int s = 0; s < p->spaces; s++)
        if (s != space) place_forget(p, r, s);
}

void place_settle_where(struct region *r) {
    int where = atomic_load_explicit(&r->where, memory_order_relaxed);
    if (where >= 0 && is_valid(r, where)) return;
    where = r->copies ? 0 : -1;
    while (where >= 0 && !is_valid(r, where)) where++;
    atomic_store_explicit(&r->where, where, memory_order_relaxed);
}

static bool is_peer(const struct space *s) { return s->device && s->traits->peer; }

int place_source(const evn_place *p, const struct region *r, int to) {
    int best = -1;
    for (int s = 0; s < p->spaces; s++) {
        if (s == to || !is_valid(r, s)) continue;
        if (is_peer(&p->space[s]) && is_peer(&p->space[to])) return s;
        if (best < 0) best = s;
    }
    return best;
}

evn_status place_copy(evn_place *p, struct region *r, int from, int to, void *host) {
    evn_moves *m = &p->moves[(size_t)from * (size_t)p->spaces + (size_t)to];
    m->copies++;
    m->bytes += (long long)r->bytes;
    return device_ops.copy(&p->space[from], r->copy[from].at, &p->space[to], r->copy[to].at, host,
                           r->bytes);
}

/* Enqueues the copies of missing regions, in the queues of the spaces marked in `used`. */
static evn_status queue_copies(evn_place *p, const struct request *q, char *used) {
    for (int i = 0; i < q->count; i++) {
        struct region *r = region_at(p, q->region[i]);
        if (!is_missing(q, i, r) || r->in_transfer) continue; /* a region may be listed twice */
        r->in_transfer = true;
        r->from = place_source(p, r, q->space);
        p->space[r->from].holds++;
        used[q->space == EVN_HOST ? r->from : q->space] = 1;
        evn_status status = place_copy(p, r, r->from, q->space, r->host);
        if (status) return status;
    }
    return EVN_OK;
}

evn_status place_finish(const evn_place *p, const char *used, evn_status status) {
    char why[512] = "";
    if (status) snprintf(why, sizeof why, "%s", evn_message());
    for (int s = 1; s < p->spaces; s++) {
        if (!used[s]) continue;
        evn_status finished = device_ops.finish(p->space[s].queue);
        if (!status && (status = finished)) snprintf(why, sizeof why, "%s", evn_message());
    }
    return status ? evn_fail(status, "%s", why) : EVN_OK;
}

static void arrived(evn_place *p, const struct request *q, evn_status status) {
    for (int i = 0; i < q->count; i++) {
        struct region *r = region_at(p, q->region[i]);
        if (r->from >= 0) p->space[r->from].holds--;
        r->from = -1;
        r->in_transfer = false;
        if (!status && (access_to(q, i) & EVN_READ)) place_becomes_valid(r, q->space);
    }
    pthread_cond_broadcast(&p->transferred);
}

evn_status place_fetch(evn_place *p, const struct request *q) {
    char used[p->spaces];
    memset(used, 0, sizeof used);
    evn_status status = queue_copies(p, q, used);
    for (int i = 0; i < q->count; i++) region_at(p, q->region[i])->in_transfer = true;
    pthread_mutex_unlock(&p->lock);
    status = place_finish(p, used, status);
    pthread_mutex_lock(&p->lock);
    arrived(p, q, status);
    return status;
}
