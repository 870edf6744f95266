/* Internals of a place.
 *
 * One lock guards it. The lock is released while data move, so that the links of several devices
 * work at the same time; a moving region is `in_transfer`, and threads that need it wait. Functions
 * here are called with the lock held, unless they say otherwise; a function that releases it says
 * so.
 *
 * evn_place_valid(), _where(), _at() and other queries read without the lock: regions never change
 * their address, and fields that may change meanwhile are atomic. */
#pragma once

#include <evener/place.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "data/address.h"
#include "data/arena.h"
#include "data/use.h"

/* A region in one space. */
struct copy {
    size_t at; /* offset of its piece of the device's arena, bytes */
    long used; /* clock of the last acquire here */
    int users; /* number of present acquires here */
    atomic_bool valid;
    bool resident; /* 1: has a piece of the arena */
};

struct region {
    int number;
    int from;      /* source space of a copy under way; -1 */
    int next_free; /* next removed region; -1 */
    enum { KEPT_NOTHING, KEPT_UNWRITTEN, KEPT_COPY } keeps;
    void *kept, *spare; /* the snapshot's copy, and memory for the next; NULL */
    void *host;         /* NULL: absent; or made and never on the host */
    long call;          /* the latest call with this region in its list, and whether it writes */
    bool call_writes;
    bool made;    /* 1: the host memory belongs to the place */
    bool written; /* a made region was written */
    /* read by every acquire */
    bool writer; /* acquired for writing */
    bool in_transfer;
    int users;          /* acquires in all spaces */
    int copies;         /* number of valid copies */
    atomic_int where;   /* the most recently used valid copy; -1: none */
    size_t bytes;       /* 0: there is no such region */
    struct copy copy[]; /* in each space */
};

struct space {
    double share;       /* part of the device's memory for regions */
    evn_device *device; /* NULL: the host, or a device that was lost */
    const evn_traits *traits;
    evn_queue *queue; /* own queue: copies need not wait for kernels */
    evn_buffer *buffer;
    struct arena *arena;
    size_t capacity;
    size_t refused; /* size of a buffer that the device refused; 0 */
    long holds;     /* acquires here, and copies from here: the buffer must stay */
    bool poisoning; /* 1: fills of stale memory may be pending in the queue */
};

/* Regions by number. A full table is replaced by a larger one; readers may still use the former,
 * which lives as long as the place. */
struct table {
    struct table *former;
    int room;
    struct region *region[];
};

struct evn_place {
    pthread_mutex_t lock;
    pthread_cond_t transferred; /* signalled when a transfer ends */
    int spaces;
    struct space *space;
    bool poisons; /* 1: some device marks stale memory, so stale host copies are marked, too */
    _Atomic(struct table *) table;
    size_t region_bytes; /* size of a region with its copies */
    atomic_int regions;  /* region numbers given out so far */
    int first_free;      /* first reusable number; -1 */
    size_t registered;   /* bytes of all regions but absent ones */
    struct addresses addresses;
    bool kept;
    long clock;            /* number of acquire calls */
    unsigned long version; /* see place_version() */
    struct place_use *use; /* uses under way */
    evn_moves *moves;      /* counts of copies from space to space */
};

/* A call's regions; access modes are one for each region, or one for all (step 0). */
struct request {
    int count;
    const int *region;
    int space;
    const evn_access *access;
    int step;
};

static inline evn_access access_to(const struct request *q, int i) {
    return q->access[i * q->step];
}

/* Region `number`, which exists or existed. */
static inline struct region *region_at(const evn_place *p, int number) {
    return atomic_load_explicit(&p->table, memory_order_acquire)->region[number];
}

/* The region of any number; NULL: none. */
static inline struct region *region_of(const evn_place *p, int number) {
    if (number < 0 || number >= atomic_load_explicit(&p->regions, memory_order_acquire))
        return NULL;
    struct region *r = region_at(p, number);
    return r->bytes ? r : NULL;
}

static inline bool is_valid(const struct region *r, int space) {
    return atomic_load_explicit(&r->copy[space].valid, memory_order_relaxed);
}
static inline bool is_missing(const struct request *q, int i, const struct region *r) {
    return (access_to(q, i) & EVN_READ) && !is_valid(r, q->space);
}
static inline bool is_unwritten(const struct region *r) { return r->made && !r->written; }
static inline bool is_absent(const struct region *r) { return !r->made && !r->host; }

/* ---- use.c ---- */

/* place_lock(): takes the lock, and records uses under way in the regions. place_enter(): also
 * counts a version. */
void place_lock(evn_place *p);
void place_enter(evn_place *p);

/* ---- place.c ---- */

/* EVN_USAGE unless there is such a space; unless its device is not lost. The first needs no lock.
 */
evn_status place_check_space(const evn_place *p, int space);
evn_status place_check_alive(const evn_place *p, int space);

/* Frees a space's resources. */
void place_close_space(struct space *s);

/* ---- regions.c ---- */

evn_status place_no_region(int region); /* fails with EVN_USAGE */

/* Host memory for a region that the place has made. EVN_MEMORY. */
evn_status place_need_host(evn_place *p, struct region *r);

/* Takes the region's memory away from the place. */
void place_vacate(evn_place *p, struct region *r);

/* Describes where a region is held, as "in space 1 for reading, in space 2 for reading"; returns
 * `text`. */
enum { HELD_TEXT = 200 };
const char *place_held(const evn_place *p, const struct region *r, char text[HELD_TEXT]);

/* ---- transfer.c ---- */

/* Marks a copy as valid. */
void place_becomes_valid(struct region *r, int space);

/* Discards a copy and frees its piece of the arena. */
void place_forget(evn_place *p, struct region *r, int space);

/* Discards all copies but the one in `space`; -1: all. */
void place_forget_others(evn_place *p, struct region *r, int space);

/* Chooses a region's `where` after its copy there was discarded. */
void place_settle_where(struct region *r);

/* Enqueues the copy of a region from one space to another, and counts it; `host`: the host memory
 * to use. */
evn_status place_copy(evn_place *p, struct region *r, int from, int to, void *host);

/* The best source space: the host, unless a device with the data reaches the target directly. -1:
 * no valid copy. */
int place_source(const evn_place *p, const struct region *r, int to);

/* Copies missing regions that are to be read, and waits; releases the lock meanwhile. The regions
 * have memory in the space and a valid copy, and none is in transfer. All or nothing. */
evn_status place_fetch(evn_place *p, const struct request *q);

/* Waits for the queues of marked spaces, without the lock. Returns the first failure; `status`, if
 * that is one. */
evn_status place_finish(const evn_place *p, const char *used, evn_status status);

/* ---- eviction.c ---- */

/* Allocates memory in the space for each region and counts a user of it; all or none. *missing: one
 * must be copied. *again: the lock was released, nothing was allocated, and earlier knowledge of
 * the regions may be outdated. */
evn_status place_make_room(evn_place *p, const struct request *q, bool *missing, bool *again);

/* Undoes the users. */
void place_unpin(evn_place *p, const struct request *q);
