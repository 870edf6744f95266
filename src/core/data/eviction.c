/* Memory for regions: host memory of regions made by the place; devices' arenas, which are sized
 * for the registered regions and grow with them; eviction of the least recently used regions of a
 * full device. */
#include "base/argument.h"
#include "data/internal.h"
#include "unit/device_ops.h"

/* Result of an attempt to allocate arena space. The lock is released at one point only, when a
 * region must be moved or waited for and none is pinned. */
enum outcome {
    ROOM,      /* there is room */
    FULL,      /* no room, and nothing can be evicted */
    MUST_MOVE, /* a region must be copied to the host first */
    MUST_WAIT  /* regions that could be evicted are in transfer */
};

struct search {
    enum outcome outcome;
    struct region *mover;
    bool missing; /* a region to be read is not in the space yet */
};

/* ---- arenas -------------------------------------------------------------------------------- */

/* The largest arena that the share of the device's memory allows. */
static size_t largest(const struct space *s) {
    const double share = s->share * (double)s->traits->memory;
    const size_t max =
        share < (double)s->traits->max_buffer ? (size_t)share : s->traits->max_buffer;
    return max / ARENA_ALIGN * ARENA_ALIGN;
}

size_t place_room(evn_place *p, int space) {
    pthread_mutex_lock(&p->lock);
    const struct space *s = &p->space[space];
    const size_t room = !s->device ? 0 : s->arena && s->refused ? s->capacity : largest(s);
    pthread_mutex_unlock(&p->lock);
    return room;
}

/* Size of an arena for all registered regions, at least `least`, limited by the share of the
 * device's memory. */
static size_t wanted(const evn_place *p, const struct space *s, size_t least) {
    const size_t max = largest(s);
    size_t bytes = p->registered > least ? p->registered : arena_rounded(least);
    if (bytes > max) bytes = max;
    return bytes ? bytes : ARENA_ALIGN;
}

static evn_status need_arena(evn_place *p, int space) {
    struct space *s = &p->space[space];
    if (s->arena) return EVN_OK;
    struct arena *arena = arena_open(s->capacity = wanted(p, s, 0));
    if (!arena) return evn_fail(EVN_MEMORY, "place: no memory for a device's arena");
    evn_status status = device_ops.buffer_open(&s->buffer, s->device, s->capacity);
    if (status)
        arena_close(arena);
    else
        s->arena = arena;
    return status;
}

/* Copies the valid pieces of a space into a larger buffer. */
static evn_status copy_pieces(const evn_place *p, int space, evn_buffer *to) {
    const struct space *s = &p->space[space];
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < arena_pieces(s->arena); i++) {
        const struct region *r = region_at(p, arena_owner(s->arena, i));
        const size_t at = r->copy[space].at;
        if (is_valid(r, space))
            status = device_ops.copy_within(s->queue, to, at, s->buffer, at, r->bytes);
    }
    evn_status finished = device_ops.finish(s->queue);
    return status ? status : finished;
}

/* Replaces the arena by a larger one, if more regions are registered than it was sized for, its
 * buffer is not held, and the device has memory for both. It grows by half at least, so that adding
 * regions one by one does not copy each time. */
static evn_status grow(evn_place *p, int space, bool *grown) {
    struct space *s = &p->space[space];
    *grown = false;
    if (p->registered <= s->capacity || s->holds) return EVN_OK;
    const size_t bytes = wanted(p, s, s->capacity / 2 * 3);
    if (bytes <= s->capacity || (s->refused && bytes >= s->refused)) return EVN_OK;
    evn_buffer *buffer;
    evn_status status = device_ops.buffer_open(&buffer, s->device, bytes);
    if (status == EVN_MEMORY) {
        s->refused = bytes;
        return EVN_OK;
    }
    if (!status) status = copy_pieces(p, space, buffer);
    if (status) {
        device_ops.buffer_close(buffer);
        return status;
    }
    device_ops.buffer_close(s->buffer);
    s->buffer = buffer;
    s->capacity = bytes;
    arena_grow(s->arena, bytes);
    *grown = true;
    return EVN_OK;
}

/* Replaces an empty arena by a larger one; the old one is closed first, so that the device need not
 * have memory for both. */
static evn_status renew(evn_place *p, int space, bool *grown) {
    struct space *s = &p->space[space];
    *grown = !s->holds && !arena_pieces(s->arena) && wanted(p, s, 0) > s->capacity;
    if (!*grown) return EVN_OK;
    device_ops.buffer_close(s->buffer);
    arena_close(s->arena);
    s->buffer = NULL;
    s->arena = NULL;
    s->refused = 0;
    return need_arena(p, space);
}

/* ---- eviction ---- */

/* Drops a region's copy on a device, if another one is valid. */
static void evict(evn_place *p, struct region *r, int space, struct search *s) {
    if (r->copies == 1 && is_valid(r, space)) {
        s->outcome = MUST_MOVE;
        s->mover = r;
        return;
    }
    place_forget(p, r, space);
    place_settle_where(r);
}

/* Evicts the least recently used region that is not acquired there. */
static void evict_oldest(evn_place *p, int space, struct search *s) {
    const struct arena *arena = p->space[space].arena;
    struct region *best = NULL;
    bool moving = false;
    for (int i = 0; i < arena_pieces(arena); i++) {
        struct region *r = region_at(p, arena_owner(arena, i));
        const struct copy *c = &r->copy[space];
        if (c->users) continue;
        moving |= r->in_transfer;
        if (r->in_transfer) continue;
        const long used = best ? best->copy[space].used : 0;
        if (!best || c->used < used || (c->used == used && r->number < best->number)) best = r;
    }
    if (best)
        evict(p, best, space, s);
    else
        s->outcome = moving ? MUST_WAIT : FULL;
}

/* Evicts all regions that are not acquired. */
static void clear(evn_place *p, int space, struct search *s) {
    const struct arena *arena = p->space[space].arena;
    bool moving = false;
    s->outcome = ROOM;
    for (int i = arena_pieces(arena) - 1; i >= 0 && s->outcome == ROOM; i--) {
        struct region *r = region_at(p, arena_owner(arena, i));
        if (r->copy[space].users) continue;
        moving |= r->in_transfer;
        if (!r->in_transfer) evict(p, r, space, s);
    }
    if (s->outcome == ROOM && moving) s->outcome = MUST_WAIT;
}

/* Copies a region to the host, so that it can be evicted; releases the lock. */
static evn_status move_home(evn_place *p, const struct region *r) {
    const evn_access access = EVN_READ;
    const struct request home = {.count = 1, .region = &r->number, .access = &access};
    evn_status status = place_need_host(p, region_at(p, r->number));
    return status ? status : place_fetch(p, &home);
}

/* ---- pieces -------------------------------------------------------------------------------- */

static evn_status find_piece(evn_place *p, struct region *r, int space, struct search *s) {
    struct copy *c = &r->copy[space];
    while (arena_take(p->space[space].arena, r->bytes, r->number, &c->at)) {
        bool grown;
        evn_status status = grow(p, space, &grown);
        if (status) return status;
        if (!grown) evict_oldest(p, space, s);
        if (s->outcome != ROOM) return EVN_OK;
    }
    c->resident = true;
    return EVN_OK;
}

static void unpin(evn_place *p, const struct request *q, int count) {
    for (int i = 0; i < count; i++) region_at(p, q->region[i])->copy[q->space].users--;
    p->space[q->space].holds -= count;
}

void place_unpin(evn_place *p, const struct request *q) { unpin(p, q, q->count); }

/* Allocates memory for each region, and counts a user, so that later allocations do not evict
 * it. */
static evn_status pin(evn_place *p, const struct request *q, struct search *s) {
    evn_status status = EVN_OK;
    int pinned = 0;
    s->outcome = ROOM;
    for (; pinned < q->count; pinned++) {
        struct region *r = region_at(p, q->region[pinned]);
        struct copy *c = &r->copy[q->space];
        if (q->space == EVN_HOST)
            status = r->host ? EVN_OK : place_need_host(p, r);
        else if (!c->resident)
            status = find_piece(p, r, q->space, s);
        if (status || s->outcome != ROOM) break;
        c->users++;
        s->missing |= is_missing(q, pinned, r);
    }
    p->space[q->space].holds += pinned;
    if (pinned < q->count) unpin(p, q, pinned);
    return status;
}

static evn_status too_large(const evn_place *p, const struct request *q) {
    const struct space *s = &p->space[q->space];
    size_t sum = 0;
    for (int i = 0; i < q->count; i++) sum += region_at(p, q->region[i])->bytes;
    return evn_fail(EVN_MEMORY,
                    "place: %d region%s from number %d on need%s %.3f MB on %s together, and there "
                    "is room for %.3f MB; give the device more memory or fewer tasks at a time",
                    q->count, q->count == 1 ? "" : "s", q->region[0], q->count == 1 ? "s" : "",
                    (double)sum * 1e-6, s->traits->name, (double)s->capacity * 1e-6);
}

evn_status place_make_room(evn_place *p, const struct request *q, bool *missing, bool *again) {
    struct search s = {.outcome = ROOM};
    evn_status status = q->space == EVN_HOST ? EVN_OK : need_arena(p, q->space);
    if (!status) status = pin(p, q, &s);
    if (!status && s.outcome == FULL) { /* the gaps were too small: evict all that can be evicted */
        clear(p, q->space, &s);
        if (s.outcome == ROOM) status = pin(p, q, &s);
        bool grown = false;
        if (!status && s.outcome == FULL) status = renew(p, q->space, &grown);
        if (!status && grown) status = pin(p, q, &s);
        if (!status && s.outcome == FULL) return too_large(p, q);
    }
    *again = !status && s.outcome != ROOM;
    *missing = s.missing;
    if (status || s.outcome == ROOM) return status;
    if (s.outcome == MUST_MOVE) return move_home(p, s.mover);
    pthread_cond_wait(&p->transferred, &p->lock);
    return EVN_OK;
}

/* Number of regions, from the first, that fit in an arena together. */
static evn_status count_fitting(const evn_place *p, const struct request *q, int *fit) {
    size_t left = p->space[q->space].capacity;
    for (*fit = 0; *fit < q->count; ++*fit) {
        const struct region *r = region_of(p, q->region[*fit]);
        if (!r) return place_no_region(q->region[*fit]);
        const size_t bytes = arena_rounded(r->bytes);
        if (bytes > left) break;
        left -= bytes;
    }
    return EVN_OK;
}

evn_status evn_place_fits(evn_place *p, int count, const int *region, int space, int *fit) {
    NEED(p, "a place");
    NEED(fit, "where to put how many fit");
    if (count < 0 || (count && !region))
        return evn_fail(EVN_USAGE, "place: a list of %d regions to fit%s", count,
                        count < 0 ? "" : ", which is NULL");
    *fit = count;
    if (space == EVN_HOST || count == 0) return EVN_OK;
    const struct request q = {.count = count, .region = region, .space = space};
    evn_status status = place_check_space(p, space);
    if (status) return status;
    place_lock(p);
    status = place_check_alive(p, space);
    if (!status) status = need_arena(p, space);
    if (!status) status = count_fitting(p, &q, fit);
    bool grown = false;
    if (!status && *fit < count) status = grow(p, space, &grown);
    if (!status && grown) status = count_fitting(p, &q, fit);
    pthread_mutex_unlock(&p->lock);
    if (!status && *fit < 1) *fit = 1;
    return status;
}
