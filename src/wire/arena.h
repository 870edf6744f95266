/* The arena: one piece of memory that all ranks share, with their mail in it, at the same address
 * in each. It is made before the ranks are: processes are forked from the one that made it, and
 * threads have it anyway. Each rank joins it and has a wire then.
 *
 * A way is a box, found by (from, to, tag) under a lock by whoever opens it first: two rooms, and a
 * counter of messages sent and one of messages received. Who waits for a counter spins for a
 * moment, not where ranks share cores, and then sleeps in the kernel; who moves it calls the kernel
 * only if somebody sleeps. */
#ifndef WIRE_ARENA_H
#define WIRE_ARENA_H

#include <evener/wire.h>

struct wire_arena;

enum { ARENA_RANKS_MAX = 1024 };

/* What becomes of a rank, for whoever looks after them. */
enum wire_arena_rank_state {
    ARENA_JOINING, /* it is at work, or will be */
    ARENA_CLOSED,
    ARENA_ABORTED, /* ends all */
    ARENA_GAVE_UP  /* another one was lost, and it ends without a word */
};

/* EVN_MEMORY, EVN_SYSTEM. */
/* `supervised`: somebody looks after the ranks, which are processes, and says what has happened to
 * one that is lost: then others that wait end at once and say nothing. */
evn_status wire_arena_open(struct wire_arena **out, int ranks, int supervised);
/* Of the calling process alone. */
void wire_arena_close(struct wire_arena *arena);

/* `rank` has died: from now on waits of the others end. The first one is kept. */
void wire_arena_lose(struct wire_arena *arena, int rank);
enum wire_arena_rank_state wire_arena_rank_state(const struct wire_arena *arena, int rank);
/* Bytes that boxes have now, and those that the arena has ever given out. */
void wire_arena_use(struct wire_arena *arena, size_t *now, size_t *ever);

/* An emulated wire. A message is visible to its receiver when all bytes that its sender has sent
 * so far have gone through the sender's port, and a latency after. */
struct wire_arena_speed {
    double latency;   /* s */
    double bandwidth; /* B/s; 0: no limit */
};

/* Reads "latency=20us,bandwidth=1GB/s"; NULL: nothing is emulated. `what` begins the message.
 * EVN_USAGE. */
evn_status wire_arena_speed_read(struct wire_arena_speed *out, const char *what,
                                 const char *options);

/* The calling process or thread is `rank`; `name` is the kind's, for messages. EVN_MEMORY. */
evn_status wire_arena_join(evn_wire **out, struct wire_arena *arena, int rank, const char *name,
                           const struct wire_arena_speed *speed, const evn_wire_host *host);

/* What kinds over an arena have in common. */
void wire_arena_leave(evn_wire *wire); /* close(): waits for all, but leaves the arena as it is */
struct wire_arena *wire_arena_of(const evn_wire *wire);
void wire_arena_abort(evn_wire *wire, int status);
int wire_arena_rank(const evn_wire *wire);
int wire_arena_size(const evn_wire *wire);
evn_status wire_arena_mail_open(evn_mail **out_mail, evn_wire *wire, int peer, int tag, int out,
                                size_t max);
void wire_arena_mail_close(evn_mail *mail);
evn_status wire_arena_take(evn_mail *mail, void **room);
evn_status wire_arena_send(evn_mail *mail, size_t bytes);
evn_status wire_arena_expect(evn_mail *mail);
evn_status wire_arena_look(evn_mail *mail, int *here);
evn_status wire_arena_wait(evn_mail *mail, const void **data, size_t *bytes);
void wire_arena_release(evn_mail *mail);
extern const evn_wire_shared wire_arena_shared;

#define ARENA_FUNCTIONS                                                                            \
    .abort = wire_arena_abort, .rank = wire_arena_rank, .size = wire_arena_size,                   \
    .mail_open = wire_arena_mail_open, .mail_close = wire_arena_mail_close,                        \
    .take = wire_arena_take, .send = wire_arena_send, .expect = wire_arena_expect,                 \
    .look = wire_arena_look, .wait = wire_arena_wait, .release = wire_arena_release,               \
    .shared = &wire_arena_shared

#endif
