/* Regions, where their valid copies are, and how they move.
 *
 * One lock guards the table. It is let go while copies run, so that several devices' links work at
 * a time; the regions that are acquired are `coming` until then, and others that want them wait.
 * Copies go through queues of the place's own, so that they need not wait for kernels on other
 * regions; whoever releases a region has waited for the work on it.
 */
#include <evener/place.h>
#include "place/arena.h"
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SPACES = 64 };

struct region {
    void *host;
    void *kept, *spare; /* copy of evn_place_keep(), and room for the next one; NULL */
    size_t bytes;
    uint64_t valid;    /* spaces, as bits */
    uint64_t resident; /* devices in whose arena it has a piece */
    int where, users, writer;
    enum { NOT_COMING, WAITS, IS_COPIED } coming;
};

/* What is known of a region in one device's space. */
struct seat {
    size_t at;
    long used; /* when it was last acquired */
    int users;
};

struct space {
    double share;       /* of the device's memory, for regions */
    evn_device *device; /* NULL: the host, or a device that was lost */
    evn_queue *queue;
    evn_buffer *buffer;
    struct arena *arena;
    size_t capacity;
};

struct evn_place {
    pthread_mutex_t lock;
    pthread_cond_t came; /* some region that was coming */
    int spaces;
    struct space space[SPACES];
    int poison; /* a device is emulated: stale copies of the host become NaN too */
    int regions, room;
    struct region *region;
    struct seat *seat; /* of each region, in each space; made with the first arena */
    long clock;
    evn_moves moves[SPACES][SPACES];
};

#define BIT(space) ((uint64_t)1 << (space))

static struct seat *seat(const evn_place *p, int region, int space) {
    return &p->seat[(size_t)region * (size_t)p->spaces + (size_t)space];
}

/* ---- spaces -------------------------------------------------------------------------------- */

evn_status evn_place_open(evn_place **out, evn_units *units, double share) {
    *out = NULL;
    if (!(share > 0 && share <= 1))
        return evn_fail(EVN_USAGE,
                        "place: a share of %g of devices' memory, expected above 0 and "
                        "up to 1",
                        share);
    if (evn_units_devices(units) >= SPACES)
        return evn_fail(EVN_USAGE, "place: %d devices, and at most %d are supported",
                        evn_units_devices(units), SPACES - 1);
    evn_place *p = calloc(1, sizeof *p);
    if (!p) return evn_fail(EVN_MEMORY, "place: not enough memory");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->came, NULL);
    p->spaces = 1 + evn_units_devices(units);
    evn_status status = EVN_OK;
    for (int u = 0; u < evn_units_count(units); u++) {
        evn_unit *unit = evn_units_get(units, u);
        for (int i = 0; !status && i < evn_unit_devices(unit); i++) {
            struct space *s = &p->space[evn_place_space(p, unit, i)];
            s->device = evn_unit_device(unit, i);
            s->share = share;
            status = evn_queue_open(&s->queue, s->device);
            if (!strcmp(evn_device_traits(s->device)->architecture, "emulated")) p->poison = 1;
        }
    }
    if (status) {
        evn_place_close(p);
        return status;
    }
    *out = p;
    return EVN_OK;
}

static void close_space(struct space *s) {
    evn_buffer_close(s->buffer);
    evn_queue_close(s->queue);
    arena_close(s->arena);
    *s = (struct space){0};
}

void evn_place_close(evn_place *p) {
    if (!p) return;
    for (int s = 0; s < p->spaces; s++) close_space(&p->space[s]);
    for (int r = 0; r < p->regions; r++) {
        free(p->region[r].kept);
        free(p->region[r].spare);
    }
    free(p->region);
    free(p->seat);
    pthread_cond_destroy(&p->came);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int evn_place_spaces(const evn_place *p) { return p->spaces; }

int evn_place_space(const evn_place *p, const evn_unit *unit, int device) {
    (void)p;
    return evn_unit_device_number(unit, device) + 1;
}

void evn_place_limit(evn_place *p, int space, double share) {
    if (space > EVN_HOST && space < p->spaces && share > 0 && share <= 1)
        p->space[space].share = share;
}

evn_status evn_place_add(evn_place *p, void *host, size_t bytes, int *region) {
    if (!host || !bytes) return evn_fail(EVN_USAGE, "place: a region of no memory");
    if (p->seat)
        return evn_fail(EVN_USAGE, "place: a region was added after others have gone to devices");
    if (p->regions == p->room) {
        int room = p->room ? 2 * p->room : 16;
        struct region *more = realloc(p->region, (size_t)room * sizeof *more);
        if (!more) return evn_fail(EVN_MEMORY, "place: no memory for %d regions", room);
        p->region = more;
        p->room = room;
    }
    *region = p->regions;
    p->region[p->regions++] =
        (struct region){.host = host, .bytes = bytes, .valid = BIT(EVN_HOST), .where = EVN_HOST};
    return EVN_OK;
}

/* The arena of a device: room for all regions, or as many as its share of the memory holds. */
static evn_status need_arena(evn_place *p, int space) {
    struct space *s = &p->space[space];
    if (!p->seat) {
        p->seat = calloc((size_t)p->regions * (size_t)p->spaces, sizeof *p->seat);
        if (!p->seat) return evn_fail(EVN_MEMORY, "place: no memory for %d regions", p->regions);
    }
    if (s->arena) return EVN_OK;
    const evn_traits *traits = evn_device_traits(s->device);
    size_t all = 0;
    for (int r = 0; r < p->regions; r++) all += (p->region[r].bytes + 255) / 256 * 256;
    double max = s->share * (double)traits->memory;
    s->capacity = (double)all <= max ? all : (size_t)max;
    if (s->capacity > traits->max_buffer) s->capacity = traits->max_buffer;
    s->capacity = s->capacity / 256 * 256;
    if (!s->capacity) s->capacity = 256;
    evn_status status = evn_buffer_open(&s->buffer, s->device, s->capacity);
    if (status) return status;
    s->arena = arena_open(s->capacity, p->regions);
    return s->arena ? EVN_OK : evn_fail(EVN_MEMORY, "place: no memory for a device's arena");
}

/* ---- moving -------------------------------------------------------------------------------- */

static void counted(evn_place *p, int from, int to, size_t bytes) {
    p->moves[from][to].copies++;
    p->moves[from][to].bytes += (long long)bytes;
}

/* Queues the copy of a region from one space to another. */
static evn_status move(evn_place *p, int region, int from, int to, void *host) {
    struct region *r = &p->region[region];
    struct space *a = &p->space[from], *b = &p->space[to];
    counted(p, from, to, r->bytes);
    if (from == EVN_HOST)
        return evn_copy_to_device(b->queue, b->buffer, seat(p, region, to)->at, host, r->bytes);
    if (to == EVN_HOST)
        return evn_copy_to_host(a->queue, host, a->buffer, seat(p, region, from)->at, r->bytes);
    return evn_copy_peer(b->queue, b->buffer, seat(p, region, to)->at, a->device, a->buffer,
                         seat(p, region, from)->at, r->bytes);
}

/* The best space to copy from: the host, unless a device that has it reaches the other directly. */
static int source(const evn_place *p, const struct region *r, int to) {
    int best = -1;
    for (int s = 0; s < p->spaces; s++) {
        if (!(r->valid & BIT(s)) || s == to) continue;
        int peers = s != EVN_HOST && to != EVN_HOST && p->space[s].device && p->space[to].device &&
                    evn_device_traits(p->space[s].device)->peer &&
                    evn_device_traits(p->space[to].device)->peer;
        if (peers) return s;
        if (best < 0) best = s;
    }
    return best;
}

/* Nobody reads this copy any more. */
static evn_status forget(evn_place *p, int region, int space) {
    struct region *r = &p->region[region];
    r->valid &= ~BIT(space);
    if (space == EVN_HOST) {
        if (p->poison) { /* so that a forgotten acquire is seen */
            double *d = r->host;
            for (size_t i = 0; i < r->bytes / sizeof *d; i++) d[i] = NAN;
        }
        return EVN_OK;
    }
    struct space *s = &p->space[space];
    if (!(r->resident & BIT(space))) return EVN_OK;
    r->resident &= ~BIT(space);
    arena_give(s->arena, seat(p, region, space)->at);
    return evn_buffer_poison(s->queue, s->buffer, seat(p, region, space)->at, r->bytes);
}

/* Makes a region leave a device; what is valid nowhere else goes home. */
static evn_status evict(evn_place *p, int region, int space) {
    struct region *r = &p->region[region];
    evn_status status = EVN_OK;
    if (r->valid == BIT(space)) {
        status = move(p, region, space, EVN_HOST, r->host);
        if (!status) status = evn_queue_finish(p->space[space].queue);
        if (status) return status;
        r->valid |= BIT(EVN_HOST);
    }
    if (r->where == space) r->where = EVN_HOST;
    status = forget(p, region, space);
    if (!status && !(r->valid & BIT(r->where)))
        for (int s = 0; s < p->spaces; s++)
            if (r->valid & BIT(s)) r->where = s;
    return status;
}

/* The region that has not been used on a device for the longest time, and that nobody has acquired
 * there; -1. Waits for those that are just being copied to elsewhere, if there is no other one. */
static int oldest(evn_place *p, int space) {
    int best = -1, coming = 0;
    for (int r = 0; r < p->regions; r++) {
        const struct seat *s = seat(p, r, space);
        if (!(p->region[r].resident & BIT(space)) || s->users) continue;
        if (p->region[r].coming) {
            coming = 1;
            continue;
        }
        if (best < 0 || s->used < seat(p, best, space)->used) best = r;
    }
    if (best < 0 && coming) {
        pthread_cond_wait(&p->came, &p->lock);
        return oldest(p, space);
    }
    return best;
}

/* Gives each of the regions a piece of the device's arena; all of them or, EVN_MEMORY, none. */
static evn_status seat_all(evn_place *p, int count, const int *region, int space) {
    struct space *s = &p->space[space];
    evn_status status = EVN_OK;
    int seated = 0;
    for (; seated < count; seated++) {
        struct region *r = &p->region[region[seated]];
        struct seat *to = seat(p, region[seated], space);
        while (!status && !(r->resident & BIT(space))) {
            if (!arena_take(s->arena, r->bytes, &to->at)) {
                r->resident |= BIT(space);
                break;
            }
            int old = oldest(p, space);
            status = old < 0 ? EVN_MEMORY : evict(p, old, space);
        }
        if (status) break;
        to->users++; /* so that those after it do not push it out */
    }
    if (status)
        for (int i = 0; i < seated; i++) seat(p, region[i], space)->users--;
    return status;
}

/* The same; where gaps are too small for the last ones, after all that nobody uses has left. */
static evn_status make_room(evn_place *p, int count, const int *region, int space) {
    evn_status status = need_arena(p, space);
    if (!status) status = seat_all(p, count, region, space);
    if (status != EVN_MEMORY || !p->space[space].arena) return status;
    status = EVN_OK;
    for (int old; !status && (old = oldest(p, space)) >= 0;) status = evict(p, old, space);
    if (!status) status = seat_all(p, count, region, space);
    if (status != EVN_MEMORY) return status;
    size_t sum = 0;
    for (int i = 0; i < count; i++) sum += p->region[region[i]].bytes;
    return evn_fail(EVN_MEMORY,
                    "place: %d region%s from number %d on need%s %.3f MB on %s together, and there "
                    "is room for %.3f MB; give the device more memory or fewer tasks at a time",
                    count, count == 1 ? "" : "s", region[0], count == 1 ? "s" : "",
                    (double)sum * 1e-6, evn_device_traits(p->space[space].device)->name,
                    (double)p->space[space].capacity * 1e-6);
}

evn_status evn_place_fits(evn_place *p, int count, const int *region, int space, int *fit) {
    *fit = count;
    if (space == EVN_HOST || count == 0) return EVN_OK;
    pthread_mutex_lock(&p->lock);
    evn_status status = need_arena(p, space);
    size_t left = p->space[space].capacity;
    for (int i = 0; !status && i < count; i++) {
        size_t bytes = (p->region[region[i]].bytes + 255) / 256 * 256;
        if (bytes > left) {
            *fit = i ? i : 1;
            break;
        }
        left -= bytes;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- acquiring ----------------------------------------------------------------------------- */

static evn_status may_acquire(const evn_place *p, int count, const int *region, int space,
                              evn_access access) {
    if (space < 0 || space >= p->spaces || (space != EVN_HOST && !p->space[space].device))
        return evn_fail(EVN_USAGE, "place: there is no space %d", space);
    for (int i = 0; i < count; i++) {
        if (region[i] < 0 || region[i] >= p->regions)
            return evn_fail(EVN_USAGE, "place: there is no region %d, only 0 to %d", region[i],
                            p->regions - 1);
        const struct region *r = &p->region[region[i]];
        if (r->writer || ((access & EVN_WRITE) && r->users))
            return evn_fail(EVN_USAGE,
                            "place: region %d was acquired in space %d and not released yet",
                            region[i], r->where);
    }
    return EVN_OK;
}

/* Puts the copies of what is missing into queues, *used of them. */
static evn_status bring(evn_place *p, int count, const int *region, int space, uint64_t *used) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count; i++) {
        struct region *r = &p->region[region[i]];
        if (r->valid & BIT(space)) continue;
        int from = source(p, r, space);
        if (from < 0) {
            status = evn_fail(
                EVN_DEVICE, "place: region %d was valid only on a device that is lost", region[i]);
            break;
        }
        *used |= BIT(space == EVN_HOST ? from : space);
        status = move(p, region[i], from, space, r->host);
        if (!status) r->coming = IS_COPIED;
    }
    return status;
}

/* Waits for the copies, and lets others acquire other regions meanwhile: links of several devices
 * work at the same time. Nobody gets at these regions, since they are coming, nor are they pushed
 * out, since they have users. */
static evn_status wait_for(evn_place *p, int count, const int *region, int space, uint64_t used,
                           evn_status status) {
    if (!used) return status;
    char why[512];
    snprintf(why, sizeof why, "%s", status ? evn_message() : "");
    for (int i = 0; i < count; i++)
        if (!p->region[region[i]].coming) p->region[region[i]].coming = WAITS;
    pthread_mutex_unlock(&p->lock);
    for (int s = 1; s < p->spaces; s++)
        if (used & BIT(s)) {
            evn_status finished = evn_queue_finish(p->space[s].queue);
            if (!status && (status = finished)) snprintf(why, sizeof why, "%s", evn_message());
        }
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < count; i++) {
        struct region *r = &p->region[region[i]];
        if (r->coming == IS_COPIED && !status) r->valid |= BIT(space);
        r->coming = NOT_COMING;
    }
    pthread_cond_broadcast(&p->came);
    return status ? evn_fail(status, "%s", why) : EVN_OK;
}

static int are_coming(const evn_place *p, int count, const int *region) {
    for (int i = 0; i < count; i++)
        if (region[i] >= 0 && region[i] < p->regions && p->region[region[i]].coming) return 1;
    return 0;
}

static evn_status acquire(evn_place *p, int count, const int *region, int space,
                          evn_access access) {
    while (are_coming(p, count, region)) pthread_cond_wait(&p->came, &p->lock);
    evn_status status = may_acquire(p, count, region, space, access);
    if (status) return status;
    if (space != EVN_HOST) status = make_room(p, count, region, space);
    if (status) return status;
    if (access & EVN_READ) {
        uint64_t used = 0;
        status = bring(p, count, region, space, &used);
        status = wait_for(p, count, region, space, used, status);
    }
    if (status) {
        if (space != EVN_HOST)
            for (int i = 0; i < count; i++) seat(p, region[i], space)->users--;
        return status;
    }
    p->clock++;
    for (int i = 0; i < count; i++) {
        struct region *r = &p->region[region[i]];
        r->users++;
        r->where = space;
        if (space != EVN_HOST) seat(p, region[i], space)->used = p->clock;
        if (!(access & EVN_WRITE)) continue;
        r->writer = 1;
        r->valid |= BIT(space);
        for (int s = 0; s < p->spaces; s++)
            if (s != space && (r->valid & BIT(s))) {
                evn_status stale = forget(p, region[i], s);
                if (!status) status = stale;
            }
    }
    return status;
}

evn_status evn_place_acquire(evn_place *p, int count, const int *region, int space,
                             evn_access access) {
    pthread_mutex_lock(&p->lock);
    evn_status status = acquire(p, count, region, space, access);
    pthread_mutex_unlock(&p->lock);
    return status;
}

void evn_place_release(evn_place *p, int count, const int *region, int space) {
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < count; i++) {
        struct region *r = &p->region[region[i]];
        r->users--;
        r->writer = 0;
        if (space != EVN_HOST && p->seat) seat(p, region[i], space)->users--;
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- asking -------------------------------------------------------------------------------- */

int evn_place_where(const evn_place *p, int region) { return p->region[region].where; }
int evn_place_valid(const evn_place *p, int region, int space) {
    return (p->region[region].valid & BIT(space)) != 0;
}
evn_buffer *evn_place_buffer(const evn_place *p, int space) { return p->space[space].buffer; }
size_t evn_place_at(const evn_place *p, int region, int space) {
    return space == EVN_HOST || !p->seat ? 0 : seat(p, region, space)->at;
}
void *evn_place_host(const evn_place *p, int region) { return p->region[region].host; }
size_t evn_place_bytes(const evn_place *p, int region) { return p->region[region].bytes; }
evn_device *evn_place_device(const evn_place *p, int space) { return p->space[space].device; }

evn_moves evn_place_moves(const evn_place *p, int from, int to) { return p->moves[from][to]; }
void evn_place_reset_moves(evn_place *p) { memset(p->moves, 0, sizeof p->moves); }

/* ---- keeping ------------------------------------------------------------------------------- */

evn_status evn_place_keep(evn_place *p) {
    evn_status status = EVN_OK;
    uint64_t used = 0;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; !status && i < p->regions; i++) {
        struct region *r = &p->region[i];
        if (!r->spare && !(r->spare = malloc(r->bytes)))
            status = evn_fail(EVN_MEMORY, "place: no memory to keep a copy of region %d", i);
        else if (r->valid & BIT(EVN_HOST))
            memcpy(r->spare, r->host, r->bytes);
        else {
            int from = source(p, r, EVN_HOST);
            used |= BIT(from);
            status = move(p, i, from, EVN_HOST, r->spare);
        }
    }
    for (int s = 1; s < p->spaces; s++)
        if (used & BIT(s)) {
            evn_status finished = evn_queue_finish(p->space[s].queue);
            if (!status) status = finished;
        }
    /* all or nothing: the copies before stay until every new one is whole */
    for (int i = 0; !status && i < p->regions; i++) {
        struct region *r = &p->region[i];
        void *before = r->kept;
        r->kept = r->spare;
        r->spare = before;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

evn_status evn_place_restore(evn_place *p) {
    evn_status status = EVN_OK;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->regions; i++)
        if (!p->region[i].kept)
            status = evn_fail(EVN_USAGE, "place: no copy of region %d was kept", i);
    for (int i = 0; !status && i < p->regions; i++) {
        struct region *r = &p->region[i];
        memcpy(r->host, r->kept, r->bytes);
        r->users = r->writer = 0;
        for (int s = 1; s < p->spaces; s++) {
            if (p->seat) seat(p, i, s)->users = 0;
            if (p->space[s].device && (r->resident & BIT(s))) {
                evn_status stale = forget(p, i, s);
                if (!status) status = stale;
            }
        }
        r->valid = BIT(EVN_HOST);
        r->where = EVN_HOST;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

void evn_place_lose(evn_place *p, int space) {
    if (space <= EVN_HOST || space >= p->spaces) return;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->regions; i++) {
        struct region *r = &p->region[i];
        r->valid &= ~BIT(space);
        r->resident &= ~BIT(space);
    }
    close_space(&p->space[space]);
    pthread_mutex_unlock(&p->lock);
}
