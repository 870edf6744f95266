/* Acquiring and releasing: all regions of a call or none. If all are in place, only the regions of
 * the call's list are examined. */
#include "base/argument.h"
#include "data/internal.h"
#include "unit/device_ops.h"

/* EVN_OK if the region by itself may be acquired: it exists, is here, and is not held otherwise. */
static evn_status may_acquire(const evn_place *p, const struct region *r, int space,
                              evn_access access) {
    char text[HELD_TEXT];
    if (is_absent(r))
        return evn_fail(EVN_USAGE,
                        "place: region %d is absent: its memory is with another process until it "
                        "arrives",
                        r->number);
    if (r->users && (r->writer || (access & EVN_WRITE)))
        return evn_fail(
            EVN_USAGE, "place: region %d cannot be acquired in space %d for %s: it is held %s",
            r->number, space, access & EVN_WRITE ? "writing" : "reading", place_held(p, r, text));
    if (r->copies || !(access & EVN_READ)) return EVN_OK;
    if (is_unwritten(r))
        return evn_fail(EVN_USAGE,
                        "place: region %d is to be read and nobody has written it yet; acquire it "
                        "with EVN_WRITE first",
                        r->number);
    return evn_fail(EVN_DEVICE, "place: region %d was valid only on a device that is lost",
                    r->number);
}

/* Checks whether all may be acquired; *moves: one is in transfer, and the rest was not checked.
 * Marks each region with the call's number, to find repeated ones. */
static evn_status check(evn_place *p, const struct request *q, long call, bool *moves) {
    for (int i = 0; i < q->count; i++) {
        struct region *r = region_of(p, q->region[i]);
        const evn_access access = access_to(q, i);
        if (!r) return place_no_region(q->region[i]);
        if (access < EVN_READ || access > EVN_BOTH)
            return evn_fail(EVN_USAGE, "place: region %d is acquired with access %d, which is none",
                            r->number, (int)access);
        if ((*moves = r->in_transfer)) return EVN_OK;
        const bool writes = access & EVN_WRITE;
        if (r->call == call && (writes || r->call_writes))
            return evn_fail(EVN_USAGE,
                            "place: region %d is in a list twice, and to be written: acquire it "
                            "once, with EVN_BOTH",
                            r->number);
        r->call = call;
        r->call_writes = writes;
        if (is_absent(r) || r->users || !r->copies) {
            evn_status status = may_acquire(p, r, q->space, access);
            if (status) return status;
        }
    }
    return EVN_OK;
}

/* Waits for queued poisoning before memory is written that nothing was copied to: poison must not
 * come after the new content. */
static evn_status finish_poisoning(evn_place *p, const struct request *q) {
    struct space *s = &p->space[q->space];
    if (!s->poisoning) return EVN_OK;
    int i = 0;
    while (i < q->count && access_to(q, i) != EVN_WRITE) i++;
    if (i == q->count) return EVN_OK;
    s->poisoning = false;
    return device_ops.finish(s->queue);
}

/* Adds `by` users to a region. */
static void add_user(struct region *r, int space, int by) {
    r->copy[space].users += by;
    r->users += by;
}

/* Records an acquire, apart from the users that place_make_room() has counted. */
static void note_acquired(evn_place *p, const struct request *q, long call) {
    for (int i = 0; i < q->count; i++) {
        struct region *r = region_at(p, q->region[i]);
        r->writer = access_to(q, i) & EVN_WRITE;
        r->copy[q->space].used = call;
        atomic_store_explicit(&r->where, q->space, memory_order_relaxed);
        if (!r->writer) continue;
        r->written = true;
        if (!is_valid(r, q->space)) place_becomes_valid(r, q->space);
        if (r->copies > 1) place_forget_others(p, r, q->space);
    }
}

/* 1 if a region is in the space and may be acquired. */
static bool is_settled(const struct region *r, int space, evn_access access) {
    if (!r || !is_valid(r, space) || r->in_transfer) return false;
    if (access == EVN_READ) return !r->users || !r->writer;
    return (access == EVN_WRITE || access == EVN_BOTH) && !r->users;
}

/* Acquires regions that are all in place, the usual case; false: some are not. */
static bool acquire_settled(evn_place *p, const struct request *q) {
    int done = 0;
    for (; done < q->count; done++) {
        struct region *r = region_of(p, q->region[done]);
        const evn_access access = access_to(q, done);
        if (!is_settled(r, q->space, access)) break;
        r->writer = access != EVN_READ; /* the region may be in the list twice */
        add_user(r, q->space, 1);
    }
    if (done < q->count) {
        while (done) add_user(region_at(p, q->region[--done]), q->space, -1);
        return false;
    }
    p->space[q->space].holds += q->count;
    note_acquired(p, q, ++p->clock);
    return true;
}

/* Makes room in the space for all regions, when nobody holds one otherwise; *missing: some must be
 * copied. Starts anew whenever the lock was released. */
static evn_status prepare(evn_place *p, const struct request *q, long *call, bool *missing) {
    for (bool again = true; again;) {
        bool moves = false;
        evn_status status = check(p, q, *call = ++p->clock, &moves);
        if (moves)
            pthread_cond_wait(&p->transferred, &p->lock);
        else if (!status)
            status = place_make_room(p, q, missing, &again);
        if (status) return status;
    }
    return EVN_OK;
}

static evn_status acquire(evn_place *p, const struct request *q) {
    long call = 0;
    bool missing = false;
    if (acquire_settled(p, q)) return EVN_OK;
    evn_status status = prepare(p, q, &call, &missing);
    if (status) return status;
    status = finish_poisoning(p, q);
    if (!status && missing) status = place_fetch(p, q);
    if (status) {
        place_unpin(p, q);
        return status;
    }
    for (int i = 0; i < q->count; i++) region_at(p, q->region[i])->users++;
    note_acquired(p, q, call);
    return EVN_OK;
}

/* Takes the lock by `lock`, place_lock() or place_enter(), and acquires. */
static evn_status check_and_acquire(evn_place *p, const struct request *q,
                                    void (*lock)(evn_place *p)) {
    if (!p) return argument_missing("evn_place_acquire", "a place");
    if (q->count < 0 || (q->count && (!q->region || !q->access)))
        return evn_fail(EVN_USAGE, "place: a list of %d regions%s", q->count,
                        q->count < 0 ? "" : " without regions or access modes");
    evn_status status = place_check_space(p, q->space);
    if (status) return status;
    lock(p);
    status = place_check_alive(p, q->space);
    if (!status) status = acquire(p, q);
    pthread_mutex_unlock(&p->lock);
    return status;
}

evn_status evn_place_acquire_each(evn_place *p, int count, const int *region, int space,
                                  const evn_access *access) {
    return check_and_acquire(p, &(struct request){count, region, space, access, 1}, place_enter);
}

evn_status evn_place_acquire(evn_place *p, int count, const int *region, int space,
                             evn_access access) {
    return check_and_acquire(p, &(struct request){count, region, space, &access, 0}, place_enter);
}

evn_status place_acquire_each(evn_place *p, int count, const int *region, int space,
                              const evn_access *access) {
    return check_and_acquire(p, &(struct request){count, region, space, access, 1}, place_lock);
}

evn_status place_acquire(evn_place *p, int count, const int *region, int space, evn_access access) {
    return check_and_acquire(p, &(struct request){count, region, space, &access, 0}, place_lock);
}

static evn_status refuse_release(const evn_place *p, int region, int space) {
    const struct region *r = region_of(p, region);
    char text[HELD_TEXT];
    if (!r) return place_no_region(region);
    return evn_fail(
        EVN_USAGE, "place: region %d is released in space %d %s; it is held %s", region, space,
        r->copy[space].users ? "more often than it was acquired" : "and was not acquired there",
        r->users ? place_held(p, r, text) : "nowhere");
}

/* Adds `by` users to the regions, up to the first that does not exist or would have less than 0;
 * returns how many it changed. */
static int add_users(evn_place *p, int count, const int *region, int space, int by) {
    int done = 0;
    for (; done < count; done++) {
        struct region *r = region_of(p, region[done]);
        if (!r || r->users + by < 0 || r->copy[space].users + by < 0) break;
        add_user(r, space, by);
    }
    p->space[space].holds += (long)done * by;
    return done;
}

static evn_status check_and_release(evn_place *p, int count, const int *region, int space,
                                    void (*lock)(evn_place *p)) {
    if (count < 0 || (count && !region))
        return evn_fail(EVN_USAGE, "place: a list of %d regions to release%s", count,
                        count < 0 ? "" : ", which is NULL");
    evn_status status = place_check_space(p, space);
    if (status) return status;
    lock(p);
    const int done = add_users(p, count, region, space, -1);
    if (done < count) {
        add_users(p, done, region, space, 1);
        status = refuse_release(p, region[done], space);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

evn_status evn_place_release(evn_place *p, int count, const int *region, int space) {
    NEED(p, "a place");
    return check_and_release(p, count, region, space, place_enter);
}

evn_status place_release(evn_place *p, int count, const int *region, int space) {
    return check_and_release(p, count, region, space, place_lock);
}
