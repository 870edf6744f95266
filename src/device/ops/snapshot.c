/* Snapshots of all regions, their restoration, and the loss of a device. No other call is active,
 * so the lock is held throughout. */
#include "base/argument.h"
#include "data/internal.h"
#include "device/ops/kept.h"
#include <stdlib.h>
#include <string.h>

typedef evn_status visit(evn_place *p, struct region *r, char *used);

/* Calls `visit` for each region that is here, until one fails. `used`: of each space, whether a
 * copy was put into its queue; NULL where none is. */
static evn_status each(evn_place *p, visit *visit, char *used) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < atomic_load(&p->regions); i++) {
        struct region *r = region_of(p, i);
        if (r && !is_absent(r)) status = visit(p, r, used);
    }
    return status;
}

/* ---- keeping ------------------------------------------------------------------------------- */

/* Copies a region to its spare memory; where it is on a device, puts that into a queue. */
static evn_status keep(evn_place *p, struct region *r, char *used) {
    char text[HELD_TEXT];
    if (r->users)
        return evn_fail(EVN_USAGE, "place: region %d cannot be kept: it is held %s", r->number,
                        place_held(p, r, text));
    if (is_unwritten(r)) return EVN_OK;
    const int from = is_valid(r, EVN_HOST) ? EVN_HOST : place_source(p, r, EVN_HOST);
    if (from < 0)
        return evn_fail(EVN_DEVICE,
                        "place: region %d cannot be kept: it was valid only on a device that is "
                        "lost",
                        r->number);
    if (!r->spare && !(r->spare = malloc(r->bytes)))
        return evn_fail(EVN_MEMORY, "place: no memory to keep a copy of region %d", r->number);
    used[from] = 1;
    if (from != EVN_HOST) return place_copy(p, r, from, EVN_HOST, r->spare);
    memcpy(r->spare, r->host, r->bytes);
    return EVN_OK;
}

/* Replaces the earlier copy by the new one. */
static evn_status commit(evn_place *p, struct region *r, char *used) {
    (void)p;
    (void)used;
    r->keeps = is_unwritten(r) ? KEPT_UNWRITTEN : KEPT_COPY;
    if (r->keeps == KEPT_UNWRITTEN) return EVN_OK;
    void *before = r->kept;
    r->kept = r->spare;
    r->spare = before;
    return EVN_OK;
}

evn_status place_keep(evn_place *p) {
    NEED(p, "a place");
    place_enter(p);
    char used[p->spaces];
    memset(used, 0, sizeof used);
    evn_status status = place_finish(p, used, each(p, keep, used));
    /* all or nothing: the copies before stay until every new one is whole */
    if (!status) status = each(p, commit, NULL);
    if (!status) p->kept = true;
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- going back ---------------------------------------------------------------------------- */

/* 1 if a region can be restored: one added after the snapshot stays as it is. */
static evn_status can_restore(evn_place *p, struct region *r, char *used) {
    (void)used;
    if (r->keeps == KEPT_COPY) return place_need_host(p, r);
    if (r->keeps == KEPT_UNWRITTEN || is_unwritten(r) || is_valid(r, EVN_HOST)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "place: no copy of region %d was kept, since it came later, and the host has "
                    "no valid one",
                    r->number);
}

static evn_status restore(evn_place *p, struct region *r, char *used) {
    (void)used;
    r->users = 0;
    for (int s = 0; s < p->spaces; s++) r->copy[s].users = 0;
    if (r->keeps == KEPT_NOTHING) return EVN_OK;
    if (r->keeps == KEPT_UNWRITTEN) {
        r->written = false;
        place_forget_others(p, r, -1);
    } else {
        memcpy(r->host, r->kept, r->bytes);
        place_becomes_valid(r, EVN_HOST);
        place_forget_others(p, r, EVN_HOST);
    }
    place_settle_where(r);
    return EVN_OK;
}

static evn_status restore_all(evn_place *p, visit *check) {
    place_enter(p);
    evn_status status = p->kept ? each(p, check, NULL)
                                : evn_fail(EVN_USAGE, "place: no copy of the regions was kept");
    if (!status) status = each(p, restore, NULL);
    for (int s = 0; !status && s < p->spaces; s++) p->space[s].holds = 0;
    pthread_mutex_unlock(&p->lock);
    return status;
}

evn_status place_restore(evn_place *p) {
    NEED(p, "a place");
    return restore_all(p, can_restore);
}

/* ---- copies without their regions ---------------------------------------------------------- */

struct kept_copy place_take_kept(evn_place *p, int region) {
    struct kept_copy copy = {.is = COPY_LOST};
    place_enter(p);
    struct region *r = region_of(p, region);
    if (r && r->keeps == KEPT_UNWRITTEN) copy.is = COPY_UNWRITTEN;
    if (r && r->keeps == KEPT_COPY) {
        copy.is = COPY_HERE;
        copy.memory = r->kept;
        r->kept = NULL;
    }
    if (r) copy.bytes = r->bytes;
    if (r) r->keeps = KEPT_NOTHING;
    pthread_mutex_unlock(&p->lock);
    return copy;
}

static evn_status give(struct region *r, const struct kept_copy *copy) {
    if (copy->is == COPY_LOST)
        return evn_fail(EVN_USAGE, "place: region %d gets a copy that was removed with its region",
                        r->number);
    if (copy->bytes != r->bytes)
        return evn_fail(EVN_USAGE, "place: region %d has %zu bytes, and the kept copy %zu",
                        r->number, r->bytes, copy->bytes);
    if (is_absent(r)) return evn_fail(EVN_USAGE, "place: region %d is absent", r->number);
    r->keeps = r->made ? KEPT_UNWRITTEN : KEPT_NOTHING;
    if (copy->is == COPY_UNWRITTEN) return EVN_OK;
    if (!r->kept && !(r->kept = malloc(r->bytes)))
        return evn_fail(EVN_MEMORY, "place: no memory for a copy of region %d", r->number);
    memcpy(r->kept, copy->memory, r->bytes);
    r->keeps = KEPT_COPY;
    return EVN_OK;
}

evn_status place_give_kept(evn_place *p, int region, const struct kept_copy *copy) {
    place_enter(p);
    struct region *r = region_of(p, region);
    evn_status status = r ? give(r, copy) : place_no_region(region);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static evn_status settle_lost(evn_place *p, struct region *r, char *used) {
    (void)used;
    if (is_unwritten(r) || r->copies) return EVN_OK;
    evn_status status = place_need_host(p, r);
    if (status) return status;
    place_becomes_valid(r, EVN_HOST);
    place_settle_where(r);
    return EVN_OK;
}

evn_status place_settle_lost(evn_place *p) {
    place_enter(p);
    evn_status status = each(p, settle_lost, NULL);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static evn_status restore_or_leave(evn_place *p, struct region *r, char *used) {
    return r->keeps == KEPT_NOTHING ? settle_lost(p, r, used) : can_restore(p, r, used);
}

evn_status place_restore_kept(evn_place *p) { return restore_all(p, restore_or_leave); }

/* ---- losing -------------------------------------------------------------------------------- */

/* Drops a device's copy of a region and its users. */
static void lose_copy(struct region *r, int space) {
    struct copy *c = &r->copy[space];
    r->users -= c->users;
    c->users = 0;
    c->resident = false;
    if (is_valid(r, space)) r->copies--;
    atomic_store_explicit(&c->valid, false, memory_order_relaxed);
    place_settle_where(r);
}

void place_lose(evn_place *p, int space) {
    NEED_OR(, p, "a place");
    if (space <= EVN_HOST || space >= p->spaces) {
        evn_fail(EVN_USAGE, "place: space %d cannot be lost; devices' spaces are 1 to %d", space,
                 p->spaces - 1);
        return;
    }
    place_enter(p);
    for (int i = 0; i < atomic_load(&p->regions); i++)
        if (region_of(p, i)) lose_copy(region_at(p, i), space);
    place_close_space(&p->space[space]);
    pthread_mutex_unlock(&p->lock);
}
