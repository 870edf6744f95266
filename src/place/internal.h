/* What a place is made of, for the files of this room.
 *
 * One lock guards it. It is let go while data moves, so that the links of several devices work at a
 * time; what moves is `in_transfer` until then, and whoever wants it waits. Whoever calls a
 * function here has the lock, unless it says otherwise; a function that lets it go says so.
 *
 * What evn_place_valid(), _where(), _at() and their like read, they read without the lock: regions
 * stay where they are in memory however many there are, and what may change meanwhile is atomic. */
#ifndef PLACE_INTERNAL_H
#define PLACE_INTERNAL_H

#include <evener/place.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "place/address.h"
#include "place/arena.h"

/* A region in one space. */
struct copy {
    size_t at; /* its piece of the device's arena, bytes */
    long used; /* when it was last acquired here */
    int users; /* how often it is acquired here now */
    atomic_bool valid;
    bool resident; /* has a piece */
};

struct region {
    int number;
    int from;      /* the space it is being copied from; -1 */
    int next_free; /* of those that were removed; -1 */
    enum { KEPT_NOTHING, KEPT_UNWRITTEN, KEPT_COPY } keeps;
    void *kept, *spare; /* copy of evn_place_keep(), and memory for the next one; NULL */
    void *host;         /* NULL: absent; or made, and never on the host so far */
    long call;          /* the latest one that has it in its list, which writes it */
    bool call_writes;
    bool made;    /* by the place: its host memory is the place's */
    bool written; /* a made one: somebody has written it */
    /* what every acquire looks at */
    bool writer; /* its user writes */
    bool in_transfer;
    int users;          /* in all spaces */
    int copies;         /* that are valid */
    atomic_int where;   /* the valid one that was used last; -1: there is none */
    size_t bytes;       /* 0: there is no such region */
    struct copy copy[]; /* in each space */
};

struct space {
    double share;       /* of the device's memory, for regions */
    evn_device *device; /* NULL: the host, or a device that was lost */
    evn_queue *queue;   /* the place's own: copies need not wait for kernels on other regions */
    evn_buffer *buffer;
    struct arena *arena;
    size_t capacity;
    size_t refused; /* the device had no memory for a buffer of so much; 0 */
    long holds;     /* regions acquired here, and copies from here: the buffer must stay */
    bool poisoning; /* the queue may still have to poison something */
};

/* The regions by number. Who has outgrown one gets a larger one; others may still read the former,
 * which lives as long as the place. */
struct table {
    struct table *former;
    int room;
    struct region *region[];
};

struct evn_place {
    pthread_mutex_t lock;
    pthread_cond_t transferred; /* some region that was in transfer */
    int spaces;
    struct space *space;
    bool poisons; /* a device does: stale copies of the host are poisoned too */
    _Atomic(struct table *) table;
    size_t region_bytes; /* with its copies */
    atomic_int regions;  /* numbers that were ever given out */
    int first_free;      /* of those that were given back; -1 */
    size_t registered;   /* bytes that regions need in an arena, but for absent ones */
    struct addresses addresses;
    bool kept;
    long clock;       /* calls of acquire */
    evn_moves *moves; /* from space to space */
};

/* What a call wants: access modes are one for each region, or one for all (step 0). */
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

/* Region `number`, which there is or was. */
static inline struct region *region_at(const evn_place *p, int number) {
    return atomic_load_explicit(&p->table, memory_order_acquire)->region[number];
}

/* The same for any number; NULL: there is none. */
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

/* ---- place.c ---- */

/* Whether there is such a space, and whether its device was not lost. EVN_USAGE. The first one
 * needs no lock. */
evn_status place_check_space(const evn_place *p, int space);
evn_status place_check_alive(const evn_place *p, int space);

/* Closes what belongs to a space. */
void place_close_space(struct space *s);

/* ---- regions.c ---- */

evn_status place_no_region(int region); /* EVN_USAGE */

/* Host memory for a region that the place has made. EVN_MEMORY. */
evn_status place_need_host(evn_place *p, struct region *r);

/* Where a region is held, as "in space 1 for reading, in space 2 for reading"; returns `text`. */
enum { HELD_TEXT = 200 };
const char *place_held(const evn_place *p, const struct region *r, char text[HELD_TEXT]);

/* ---- move.c ---- */

/* A copy is valid from now on. */
void place_becomes_valid(struct region *r, int space);

/* Nobody reads this copy any more; its piece of the arena, if it has one, is given back. */
void place_forget(evn_place *p, struct region *r, int space);

/* Forgets all copies but the one in `space`; -1: all. */
void place_forget_others(evn_place *p, struct region *r, int space);

/* Chooses where a region lies that has left the space it was in. */
void place_settle_where(struct region *r);

/* Puts the copy of a region from one space to another into a queue, and counts it; `host`: the
 * memory of the host that is meant. */
evn_status place_copy(evn_place *p, struct region *r, int from, int to, void *host);

/* The best space to copy from: the host, unless a device that has it reaches the other directly.
 * -1: no copy is valid. */
int place_source(const evn_place *p, const struct region *r, int to);

/* Brings what has to be read and is missing, and waits for it; lets the lock go. The regions have
 * memory in the space, a valid copy somewhere, and none is in transfer. All or nothing. */
evn_status place_fetch(evn_place *p, const struct request *q);

/* Waits for the queues of the spaces that are marked; needs no lock. The first failure is the one
 * that is told: `status`, if that is one. */
evn_status place_finish(const evn_place *p, const char *used, evn_status status);

/* ---- room.c ---- */

/* Gives each of the regions memory in the space and counts a user of it; all or none. *missing: one
 * has to be brought. *again: the lock was let go, nothing was given, and what was known of the
 * regions may have changed. */
evn_status place_make_room(evn_place *p, const struct request *q, bool *missing, bool *again);

/* Takes these users back. */
void place_unpin(evn_place *p, const struct request *q);

#endif
