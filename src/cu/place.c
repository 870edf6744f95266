/* The program's registered data, with or without open units, and their migration for a leader's
 * batch. Data stay on a device until the batch ends, or until the device is full. */
#include "cu/internal.h"
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The part of a device's memory that data may take. */
#define SHARE 0.9

/* Memory of the program, by address. */
struct datum {
    char *memory;
    size_t bytes;
    int region; /* -1: there is no place yet */
    int maps;   /* clauses map(..) that have it; 0: the program has registered it */
};
static struct datum *data;           /* data in `memory_of_data`, whose first ones may be free */
static struct datum *memory_of_data; /* room for `room` */
static int count, room;
static evn_place *_Atomic place; /* NULL: no units, or nothing registered */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the place ----------------------------------------------------------------------------- */

static evn_status add(evn_place *p, struct datum *d) {
    return evn_place_add(p, d->memory, d->bytes, &d->region);
}

static evn_status open_place(void) {
    evn_place *p;
    if (place || !count || !cu.units) return EVN_OK;
    evn_status status = evn_place_open(&p, cu.units, SHARE);
    for (int i = 0; !status && i < count; i++) status = add(p, &data[i]);
    if (status)
        evn_place_close(p);
    else
        place = p;
    return status;
}

evn_status cu_place_open(void) {
    pthread_mutex_lock(&lock);
    evn_status status = open_place();
    pthread_mutex_unlock(&lock);
    return status;
}

evn_status cu_place_close(void) {
    evn_status status = EVN_OK;
    pthread_mutex_lock(&lock);
    for (int i = 0; place && i < count; i++) {
        if (!status) status = evn_place_remove(place, data[i].region);
        data[i].region = -1;
    }
    evn_place_close(place);
    place = NULL;
    pthread_mutex_unlock(&lock);
    return status;
}

evn_place *evn_cu_place(void) { return place; }

/* ---- registering --------------------------------------------------------------------------- */

/* The first one that ends behind `memory`. */
static int find_datum(const char *memory) {
    int lo = 0, hi = count;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (data[mid].memory + data[mid].bytes <= memory)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int free_in_front(void) { return (int)(data - memory_of_data); }

/* Room for one more behind the data; of new memory half is in front of them. -1: no memory. */
static int make_place(void) {
    if (free_in_front() + count < room) return 0;
    int front = 0;
    if (free_in_front() <= count) {
        const int more = 2 * count + 64, before = free_in_front();
        struct datum *larger = realloc(memory_of_data, (size_t)more * sizeof *larger);
        if (!larger) return -1;
        memory_of_data = larger;
        data = larger + before;
        room = more;
        front = (more - count) / 2;
    }
    if (count) memmove(memory_of_data + front, data, (size_t)count * sizeof *data);
    data = memory_of_data + front;
    return 0;
}

/* Opens a gap at `at`, moving what lies on the shorter side of it. */
static void open_gap(int at) {
    if (at < count / 2 && data > memory_of_data) {
        memmove(data - 1, data, (size_t)at * sizeof *data);
        data--;
    } else {
        memmove(&data[at + 1], &data[at], (size_t)(count - at) * sizeof *data);
    }
    count++;
}

static void close_gap(int at) {
    count--;
    if (at < count / 2) {
        memmove(data + 1, data, (size_t)at * sizeof *data);
        data++;
    } else {
        memmove(&data[at], &data[at + 1], (size_t)(count - at) * sizeof *data);
    }
}

static evn_status remove_datum(int at) {
    const evn_status status = place ? evn_place_remove(place, data[at].region) : EVN_OK;
    if (status) return status;
    cu_section_forget(data[at].memory, data[at].bytes);
    close_gap(at);
    return EVN_OK;
}

static evn_status insert(char *memory, size_t bytes, int maps) {
    const int at = find_datum(memory);
    if (at < count && data[at].memory < memory + bytes)
        return evn_fail(EVN_USAGE,
                        "omp_register: %zu bytes at %p are (partly) registered already: %zu at %p",
                        bytes, (void *)memory, data[at].bytes, (void *)data[at].memory);
    if (make_place()) return evn_fail(EVN_MEMORY, "omp_register: not enough memory");
    struct datum d = {memory, bytes, -1, maps};
    evn_status status = place ? add(place, &d) : EVN_OK;
    if (status) return status;
    open_gap(at);
    data[at] = d;
    return open_place(); /* where it is the first one, and there are units */
}

int evn_cu_register(void *memory, size_t bytes) {
    if (!memory || !bytes || bytes > SIZE_MAX / 2) {
        evn_fail(EVN_USAGE, "omp_register: %zu bytes at %p; expected memory, and how much of it",
                 bytes, memory);
        return -1;
    }
    pthread_mutex_lock(&lock);
    evn_status status = insert(memory, bytes, 0);
    pthread_mutex_unlock(&lock);
    return status ? -1 : 0;
}

static void not_registered(const char *what, const void *memory) __attribute__((noreturn));
static void not_registered(const char *what, const void *memory) {
    cu_die(NULL, "%s: %p is in no memory that was registered; omp_register() does that", what,
           memory);
}

void evn_cu_unregister(void *memory) {
    pthread_mutex_lock(&lock);
    const int at = find_datum(memory);
    if (at == count || data[at].memory != memory) {
        pthread_mutex_unlock(&lock);
        not_registered("omp_unregister", memory);
    }
    evn_status status = remove_datum(at);
    pthread_mutex_unlock(&lock);
    if (status) cu_die(NULL, "omp_unregister of %p: %s", memory, evn_message());
}

/* ---- bringing ------------------------------------------------------------------------------ */

/* Waits for the device, and releases what iterations before this one have asked for. */
static evn_status release_before(long iteration) {
    struct cu_thread *me = &cu_here;
    evn_queue *queue = evn_cu_queue();
    evn_status status = queue ? evn_queue_finish(queue) : EVN_OK;
    int kept = 0;
    for (int i = 0; i < me->count; i++) {
        struct held *h = &me->held[i];
        if (h->iteration >= iteration) {
            me->slot[h->region] = kept;
            me->held[kept++] = *h;
            continue;
        }
        evn_status released = evn_place_release(place, 1, &h->region, me->space);
        if (!status) status = released;
    }
    me->count = kept;
    return status;
}

evn_status cu_place_release(void) { return release_before(LONG_MAX); }

static struct held *find_held(int region) {
    struct cu_thread *me = &cu_here;
    if (region >= me->slots) return NULL;
    const int at = me->slot[region];
    return at < me->count && me->held[at].region == region ? &me->held[at] : NULL;
}

/* Room for one more, of this number. */
static evn_status make_room(int region) {
    struct cu_thread *me = &cu_here;
    if (me->count == me->room) {
        const int more = me->room ? 2 * me->room : 64;
        struct held *held = realloc(me->held, (size_t)more * sizeof *held);
        if (!held) return evn_fail(EVN_MEMORY, "omp_migrate: not enough memory");
        me->held = held;
        me->room = more;
    }
    if (region >= me->slots) {
        const int more = 2 * (region + 32);
        int *slot = realloc(me->slot, (size_t)more * sizeof *slot);
        if (!slot) return evn_fail(EVN_MEMORY, "omp_migrate: not enough memory");
        memset(slot + me->slots, 0, (size_t)(more - me->slots) * sizeof *slot);
        me->slot = slot;
        me->slots = more;
    }
    cu_keep_alive();
    return EVN_OK;
}

static void keep_held(int region, int access) {
    struct cu_thread *me = &cu_here;
    me->slot[region] = me->count;
    me->held[me->count++] = (struct held){region, access, me->iteration};
}

/* Device of the leader's batch; in a teams block outside of a loop, its unit's first device. */
static int space_at_hand(void) {
    const struct cu_thread *me = &cu_here;
    const int device = me->batch ? evn_batch_device(me->batch) : evn_unit_is_gpu(me->unit) - 1;
    return evn_place_space(place, me->unit, device);
}

/* Counts moves of the current batch, for the record of its loop. */
static void count_brought(int region, int access) {
    const struct cu_thread *me = &cu_here;
    if (!me->batch || !(access & EVN_READ) || evn_place_valid(place, region, me->space)) return;
    evn_batch_brought(me->batch, 1, (double)evn_place_bytes(place, region));
}

/* Acquires anew what the iteration has, and one more, all at once: where they lie in each other's
 * way, they come to lie elsewhere. */
static evn_status acquire_together(int region, int access) {
    struct cu_thread *me = &cu_here;
    const int had = me->count, count = had + 1;
    struct held *held = me->held;
    int *all = malloc((size_t)count * (sizeof *all + sizeof(evn_access)));
    if (!all) return evn_fail(EVN_MEMORY, "omp_migrate: not enough memory");
    evn_access *how = (evn_access *)(all + count);
    for (int i = 0; i < had; i++) {
        all[i] = held[i].region;
        how[i] = (evn_access)held[i].access;
    }
    all[had] = region;
    how[had] = (evn_access)access;
    evn_status status = cu_place_release();
    if (!status) status = evn_place_acquire_each(place, count, all, me->space, how);
    if (!status) me->count = had; /* held[] and slot[] are as they were */
    free(all);
    return status;
}

/* Where the device is full: without what earlier iterations have had; then with what this one has
 * elsewhere, unless it was told addresses, which stay. */
static evn_status acquire_in_full(int region, int access) {
    struct cu_thread *me = &cu_here;
    evn_status status = release_before(me->iteration);
    if (!status) status = evn_place_acquire(place, 1, &region, me->space, (evn_access)access);
    if (status == EVN_MEMORY && me->count && me->pointed != me->iteration)
        status = acquire_together(region, access);
    return status;
}

/* For the iteration at hand. */
static evn_status bring(int region, int access) {
    struct cu_thread *me = &cu_here;
    struct held *h = find_held(region);
    evn_status status = EVN_OK;
    if (h) h->iteration = me->iteration;
    if (h && (h->access & access) == access) return EVN_OK;
    if (h) { /* to be written, too: nothing may be read any more */
        access |= h->access;
        evn_queue *queue = evn_cu_queue();
        if (queue) status = evn_queue_finish(queue);
        if (!status) status = evn_place_release(place, 1, &region, me->space);
        *h = me->held[--me->count];
        me->slot[h->region] = (int)(h - me->held);
    }
    if (!status) status = make_room(region);
    if (status) return status;
    me->space = space_at_hand();
    count_brought(region, access);
    status = evn_place_acquire(place, 1, &region, me->space, (evn_access)access);
    if (status == EVN_MEMORY && me->count) status = acquire_in_full(region, access);
    if (!status) keep_held(region, access);
    return status;
}

static int region_of(const char *what, const void *memory, size_t *at) {
    int region;
    size_t within;
    if (!place || evn_place_find(place, memory, &region, &within)) not_registered(what, memory);
    if (at) *at = within;
    return region;
}

void evn_cu_migrate(void *memory, int access) {
    if (access < EVN_READ || access > EVN_BOTH)
        cu_die(NULL, "omp_migrate_for: access %d; expected EVN_READ, EVN_WRITE or EVN_BOTH",
               access);
    if (!place && !evn_units_here()) { /* it is at home, if it is anything */
        pthread_mutex_lock(&lock);
        const int at = find_datum(memory);
        const int is_there = at < count && data[at].memory <= (char *)memory;
        pthread_mutex_unlock(&lock);
        if (!is_there) not_registered("omp_migrate", memory);
        return;
    }
    int region = region_of("omp_migrate", memory, NULL);
    evn_status status;
    if (cu_here.unit) {
        status = bring(region, access);
    } else if (evn_units_here()) {
        cu_die(NULL, "omp_migrate within a parallel region of a unit; data are brought before it, "
                     "by the unit's leader");
    } else {
        status = evn_place_acquire(place, 1, &region, EVN_HOST, (evn_access)access);
        if (!status) status = evn_place_release(place, 1, &region, EVN_HOST);
    }
    if (status) cu_die(NULL, "omp_migrate of %p: %s", memory, evn_message());
}

int cu_place_bring(const void *memory, int access, evn_status *status) {
    int region;
    size_t within;
    *status = EVN_OK;
    if (!place || evn_place_find(place, memory, &region, &within)) return 0;
    if (cu_here.unit) {
        *status = bring(region, access);
    } else if (!evn_units_here()) {
        *status = evn_place_acquire(place, 1, &region, EVN_HOST, (evn_access)access);
        if (!*status) *status = evn_place_release(place, 1, &region, EVN_HOST);
    }
    return 1;
}

/* ---- mapping ------------------------------------------------------------------------------- */

evn_status cu_place_map(void *memory, size_t bytes, int *ours) {
    char *const begin = memory;
    evn_status status = EVN_OK;
    *ours = 0;
    pthread_mutex_lock(&lock);
    const int at = find_datum(begin);
    if (at == count || data[at].memory >= begin + bytes) {
        status = insert(begin, bytes, 1);
        *ours = !status;
    } else if (data[at].memory > begin || data[at].memory + data[at].bytes < begin + bytes) {
        status = evn_fail(EVN_USAGE,
                          "%zu bytes at %p are mapped, of which %zu at %p are known; "
                          "expected all of them, or none",
                          bytes, memory, data[at].bytes, (void *)data[at].memory);
    } else if (data[at].maps) {
        data[at].maps++;
        *ours = 1;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Lets go what the calling thread holds of the memory. */
static evn_status let_go(const void *memory) {
    int region;
    size_t within;
    if (!place || !cu_here.unit || evn_place_find(place, memory, &region, &within)) return EVN_OK;
    struct held *h = find_held(region);
    if (!h) return EVN_OK;
    evn_queue *queue = evn_cu_queue();
    const evn_status finished = queue ? evn_queue_finish(queue) : EVN_OK,
                     released = evn_place_release(place, 1, &region, cu_here.space);
    *h = cu_here.held[--cu_here.count];
    cu_here.slot[h->region] = (int)(h - cu_here.held);
    return finished ? finished : released;
}

evn_status cu_place_home(const void *memory) {
    int region;
    size_t within;
    if (!place || evn_place_find(place, memory, &region, &within)) return EVN_OK;
    evn_status status = let_go(memory);
    if (!status) status = evn_place_acquire(place, 1, &region, EVN_HOST, EVN_BOTH);
    if (!status) status = evn_place_release(place, 1, &region, EVN_HOST);
    return status;
}

evn_status cu_place_unmap(void *memory, int all) {
    evn_status status = let_go(memory);
    pthread_mutex_lock(&lock);
    const int at = find_datum(memory);
    if (at < count && data[at].memory <= (char *)memory && data[at].maps) {
        data[at].maps = all ? 0 : data[at].maps - 1;
        if (!data[at].maps) {
            const evn_status removed = remove_datum(at);
            if (!status) status = removed;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Copies bytes of mapped memory between the host and the device at hand. */
static evn_status copy_here(void *memory, size_t bytes, int region, size_t within, int from) {
    evn_buffer *arena = evn_place_buffer(place, cu_here.space);
    const size_t at = evn_place_at(place, region, cu_here.space) + within;
    evn_queue *queue = evn_cu_queue();
    const evn_status status = from ? evn_copy_to_host(queue, memory, arena, at, bytes)
                                   : evn_copy_to_device(queue, arena, at, memory, bytes);
    return status ? status : evn_queue_finish(queue);
}

evn_status cu_place_update(void *memory, size_t bytes, int from) {
    int region;
    size_t within;
    evn_status status = EVN_OK;
    if (!place || evn_place_find(place, memory, &region, &within)) return EVN_OK;
    if (within + bytes > evn_place_bytes(place, region))
        return evn_fail(EVN_USAGE, "%zu bytes at %p are not all within what is mapped there", bytes,
                        memory);
    void *kept = from ? NULL : malloc(bytes); /* the host's: bringing may overwrite it */
    if (!from && !kept) return evn_fail(EVN_MEMORY, "not enough memory");
    if (kept) memcpy(kept, memory, bytes);
    if (cu_here.unit && evn_cu_queue()) {
        status = bring(region, from ? EVN_READ : EVN_BOTH);
        if (!status) status = copy_here(kept ? kept : memory, bytes, region, within, from);
    } else {
        cu_place_bring(memory, from ? EVN_READ : EVN_BOTH, &status);
        if (kept && !status) memcpy(memory, kept, bytes);
    }
    free(kept);
    return status;
}

/* ---- asking -------------------------------------------------------------------------------- */

unsigned int evn_cu_where(const void *memory) {
    const unsigned host = evn_cu_devices();
    int region;
    size_t at;
    if (!place || evn_place_find(place, memory, &region, &at)) return host;
    const int space = evn_place_where(place, region);
    return space > EVN_HOST ? (unsigned)space - 1 : host;
}

/* Migrated data on the current device: its arena, and the byte in it. */
static evn_buffer *arena_of(const char *what, const void *memory, size_t *at) {
    size_t within;
    const int region = region_of(what, memory, &within);
    if (!find_held(region))
        cu_die(NULL, "%s: %p is not here; omp_migrate() brings it", what, memory);
    *at = evn_place_at(place, region, cu_here.space) + within;
    return evn_place_buffer(place, cu_here.space);
}

evn_buffer *evn_cu_address(const void *memory, size_t *at) {
    if (!at) cu_die(NULL, "omp_cu_address: NULL instead of where to put the offset in the arena");
    *at = 0;
    if (!cu_here.unit || !evn_cu_queue()) return NULL;
    return arena_of("omp_cu_address", memory, at);
}

/* 1 in a team's thread on a GPU unit, or in a thread beyond its unit's cores, whose unit is
 * unknown. */
static int may_be_on_device(void) {
    if (cu_here.unit) return 0;
    if (evn_cu_is_gpu()) return 1;
    return !evn_units_here() && omp_get_level() && cu.session && evn_units_about(cu.units).running;
}

void *evn_cu_pointer(const void *memory) {
    void *address = NULL;
    size_t at;
    if (may_be_on_device())
        cu_die(NULL, "omp_cu_pointer within a parallel region of a unit; its leader asks before");
    if (!cu_here.unit || !evn_cu_queue()) return (char *)memory;
    evn_buffer *arena = arena_of("omp_cu_pointer", memory, &at);
    evn_status status = evn_buffer_address(&address, arena, at);
    if (status && status != EVN_MISSING)
        cu_die(NULL, "omp_cu_pointer of %p: %s", memory, evn_message());
    if (address) cu_here.pointed = cu_here.iteration;
    return address;
}

/* ---- copying ------------------------------------------------------------------------------- */

/* One side of a copy: memory, where it was used last. */
struct side {
    int region, space;
    size_t at; /* byte in the region */
    char *host;
    evn_buffer *buffer; /* arena of the device; NULL: on the host */
    evn_queue *queue;
    evn_device *device;
};

/* The queue of the device that a space belongs to. */
static evn_queue *queue_of(int space) {
    for (int u = 0; space > EVN_HOST && u < evn_units_count(cu.units); u++) {
        const evn_unit *unit = evn_units_get(cu.units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++)
            if (evn_place_space(place, unit, d) == space) return evn_unit_queue(unit, d);
    }
    return NULL;
}

static struct side find_side(const void *memory, size_t bytes) {
    struct side s = {.host = (char *)memory, .region = -1, .space = EVN_HOST};
    pthread_mutex_lock(&lock);
    const int at = find_datum(memory);
    const int is_there = at < count && data[at].memory <= s.host &&
                         bytes <= (size_t)(data[at].memory + data[at].bytes - s.host);
    pthread_mutex_unlock(&lock);
    if (!is_there)
        cu_die(NULL, "omp_cu_copy: %zu bytes at %p are in no memory that was registered", bytes,
               memory);
    if (!place) return s;
    s.region = region_of("omp_cu_copy", memory, &s.at);
    s.space = evn_place_where(place, s.region);
    return s;
}

/* Acquired where it is, so that nothing moves. */
static evn_status hold(struct side *s, evn_access access) {
    evn_status status = evn_place_acquire(place, 1, &s->region, s->space, access);
    if (status) return status;
    s->at += evn_place_at(place, s->region, s->space);
    s->buffer = evn_place_buffer(place, s->space);
    s->device = evn_place_device(place, s->space);
    s->queue = queue_of(s->space);
    return EVN_OK;
}

static evn_status copy_sides(const struct side *to, const struct side *from, size_t bytes) {
    evn_queue *q = to->queue ? to->queue : from->queue;
    evn_status status = EVN_OK;
    if (!to->buffer && !from->buffer)
        memmove(to->host, from->host, bytes);
    else if (!to->buffer)
        status = evn_copy_to_host(q, to->host, from->buffer, from->at, bytes);
    else if (!from->buffer)
        status = evn_copy_to_device(q, to->buffer, to->at, from->host, bytes);
    else
        status = evn_copy_buffer(q, to->buffer, to->at, from->buffer, from->at, bytes);
    return status || !q ? status : evn_queue_finish(q);
}

/* Copies between two sides, both held; one region is held once, for reading and writing. */
static evn_status copy_held(struct side *to, struct side *from, size_t bytes) {
    const int same = to->region == from->region;
    evn_status status = hold(to, EVN_BOTH);
    if (status) return status;
    if (same) {
        const size_t at = from->at;
        *from = (struct side){.host = from->host,
                              .space = to->space,
                              .at = at + evn_place_at(place, to->region, to->space),
                              .buffer = to->buffer};
    } else {
        status = hold(from, EVN_READ);
    }
    const int both = !status && !same;
    if (!status) status = copy_sides(to, from, bytes);
    if (both) evn_place_release(place, 1, &from->region, from->space);
    evn_status released = evn_place_release(place, 1, &to->region, to->space);
    return status ? status : released;
}

void evn_cu_copy(void *to, const void *from, size_t bytes) {
    if (cu_here.unit || evn_units_here())
        cu_die(NULL, "omp_cu_copy within units' work; there omp_migrate() brings what is needed");
    if (!bytes) return;
    struct side target = find_side(to, bytes), source = find_side(from, bytes);
    if (!place) {
        memmove(to, from, bytes);
        return;
    }
    if (copy_held(&target, &source, bytes))
        cu_die(NULL, "omp_cu_copy of %zu bytes to %p: %s", bytes, to, evn_message());
}
