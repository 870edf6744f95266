/* What is in the arena's memory, and who waits for what in it. */
#ifndef WIRE_ARENA_BOXES_H
#define WIRE_ARENA_BOXES_H

#include "wire/arena.h"
#include <pthread.h>
#include <stdatomic.h>

/* Where ranks wait. */
struct wire_arena_counter {
    _Alignas(64) atomic_uint count;
    atomic_uint sleepers;
};

enum { RECEIVER, SENDER, ENDS };

/* One way. It begins a page, and so do its rooms. */
struct wire_arena_box {
    struct wire_arena_box *next; /* of its list */
    int from, to, tag;
    int opened[ENDS], closed[ENDS]; /* under the arena's lock, as all above */
    size_t max;
    unsigned char *room[2];
    size_t length[2];  /* of the message there */
    double visible[2]; /* when it is; 0: at once */
    struct wire_arena_counter sent, taken;
};

/* Sizes of what is given out: four to a factor of two, so that what one plan gives back fits the
 * next one's needs, and little is wasted. */
enum { ARENA_CLASSES = 4 * 64, ARENA_LISTS = 256 };

struct wire_arena_free {
    struct wire_arena_free *next;
};

struct wire_arena {
    size_t bytes, page;
    int ranks, supervised;
    pthread_mutex_t lock;
    size_t end;  /* what is above it was never used */
    size_t used; /* of what is below, the part that is in boxes */
    struct wire_arena_free *free[ARENA_CLASSES];
    struct wire_arena_box *list[ARENA_LISTS];
    struct wire_arena_segment *segments; /* of one-sided memory that are open */
    atomic_int lost;                     /* 1 + the rank that has died; 0: none */
    struct wire_arena_counter left;
    atomic_int state[ARENA_RANKS_MAX];
};

/* A rank's own. */
struct evn_wire {
    struct wire_arena *arena;
    int rank;
    const char *name;
    const evn_wire_host *host;
    struct wire_arena_speed speed;
    double port;           /* when all that was sent is through it */
    atomic_int is_leaving; /* a wait has ended because of a stop: the next ones end at once */
    unsigned segments;     /* opened so far */
};

/* Pages for `bytes`, under the arena's lock; *is_clean: they are zeros. NULL: no room. */
void *wire_arena_deal(struct wire_arena *arena, size_t bytes, int *is_clean);
void wire_arena_give_back(struct wire_arena *arena, void *memory, size_t bytes);

/* When `bytes` that the rank sends now have come, by the emulated speed; 0: at once. */
double wire_arena_through(evn_wire *wire, size_t bytes);

/* The box of a way whose `end` the caller opens now. EVN_USAGE, EVN_MEMORY. */
evn_status wire_arena_box_open(struct wire_arena_box **out, struct wire_arena *arena,
                               const char *name, int from, int to, int tag, int end, size_t max);
void wire_arena_box_close(struct wire_arena_box *box, struct wire_arena *arena, int end);

/* Adds 1 to the counter and wakes who sleeps. What was written before is seen by whoever sees the
 * count. */
void wire_arena_count(struct wire_arena_counter *counter);
/* Returns once the counter is no longer `seen`; `from` is whom it depends on, for the message: a
 * rank, -1: all. EVN_STOPPED, EVN_SYSTEM: a rank has died. */
evn_status wire_arena_await(evn_wire *wire, struct wire_arena_counter *counter, unsigned seen,
                            int from);
/* Returns at time `when`. */
evn_status wire_arena_await_time(evn_wire *wire, double when);

#endif
