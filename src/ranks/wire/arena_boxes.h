/* Contents of the arena's memory, and waits in it. */
#pragma once

#include "wire/arena.h"
#include <pthread.h>
#include <stdatomic.h>

/* A counter on which ranks wait. */
struct wire_arena_counter {
    _Alignas(64) atomic_uint count;
    atomic_uint sleepers;
};

enum { RECEIVER, SENDER, ENDS };

/* One channel. The box and its buffers begin on pages. */
struct wire_arena_box {
    struct wire_arena_box *next; /* next in its list */
    int from, to, tag;
    int opened[ENDS], closed[ENDS]; /* like all above, under the arena's lock */
    size_t max;
    unsigned char *room[2];
    size_t length[2];  /* bytes of the message there */
    double visible[2]; /* time when the message is visible; 0: at once */
    struct wire_arena_counter sent, taken;
};

/* Size classes of allocations: four to a factor of two, so that memory freed by one plan fits the
 * next with little waste. */
enum { ARENA_CLASSES = 4 * 64, ARENA_LISTS = 256 };

struct wire_arena_free {
    struct wire_arena_free *next;
};

struct wire_arena {
    size_t bytes, page;
    int ranks, supervised;
    pthread_mutex_t lock;
    size_t end;  /* everything above was never used */
    size_t used; /* bytes below it that are in boxes */
    struct wire_arena_free *free[ARENA_CLASSES];
    struct wire_arena_box *list[ARENA_LISTS];
    struct wire_arena_segment *segments; /* open segments of one-sided memory */
    atomic_int lost;                     /* 1 + the rank that has died; 0: none */
    struct wire_arena_counter left;
    atomic_int state[ARENA_RANKS_MAX];
};

/* A rank's wire. */
struct evn_wire {
    struct wire_arena *arena;
    int rank;
    const char *name;
    const evn_wire_host *host;
    struct wire_arena_speed speed;
    double port;           /* time when all sent bytes have passed the port */
    atomic_int is_leaving; /* 1: a wait has ended by a stop: later ones end at once */
    unsigned segments;     /* segments opened so far */
};

/* Allocates pages for `bytes`, under the arena's lock; *is_clean: they are zeros. NULL: no room. */
void *wire_arena_deal(struct wire_arena *arena, size_t bytes, int *is_clean);
void wire_arena_give_back(struct wire_arena *arena, void *memory, size_t bytes);

/* Time when `bytes` sent now arrive at the emulated speed; 0: at once. */
double wire_arena_through(evn_wire *wire, size_t bytes);

/* The box of a channel, whose `end` the caller opens. EVN_USAGE, EVN_MEMORY. */
evn_status wire_arena_box_open(struct wire_arena_box **out, struct wire_arena *arena,
                               const char *name, int from, int to, int tag, int end, size_t max);
void wire_arena_box_close(struct wire_arena_box *box, struct wire_arena *arena, int end);

/* Adds 1 to the counter and wakes sleepers; a rank that sees the count sees earlier writes. */
void wire_arena_count(struct wire_arena_counter *counter);
/* Returns once the counter differs from `seen`; `from`: the awaited rank, for the message, -1: all.
 * EVN_STOPPED, EVN_SYSTEM: a rank has died. */
evn_status wire_arena_await(evn_wire *wire, struct wire_arena_counter *counter, unsigned seen,
                            int from);
/* Returns at time `when`. */
evn_status wire_arena_await_time(evn_wire *wire, double when);
