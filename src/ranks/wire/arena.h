/* The arena: memory that all ranks share, at the same address in each, with their channels. It is
 * made before the ranks: processes are forked by its maker; threads share it anyway. Each rank
 * joins it and then has a wire.
 *
 * A channel is a box, found by (from, to, tag) under a lock by the rank that opens it first: two
 * buffers, a counter of messages sent, and one of messages received. A waiter spins for a moment,
 * unless ranks share cores, and then sleeps in the kernel; raising a counter enters the kernel only
 * if a rank sleeps. */
#pragma once

#include <evener/wire.h>

struct wire_arena;

enum { ARENA_RANKS_MAX = 1024 };

/* State of a rank, for the supervisor. */
enum wire_arena_rank_state {
    ARENA_JOINING, /* joining or at work */
    ARENA_CLOSED,
    ARENA_ABORTED, /* ends all ranks */
    ARENA_GAVE_UP  /* another rank was lost; this one ends silently */
};

/* EVN_MEMORY, EVN_SYSTEM. */
/* `supervised`: the ranks are processes with a supervisor, which reports the loss of one; waiting
 * ranks then end at once, silently. */
evn_status wire_arena_open(struct wire_arena **out, int ranks, int supervised);
/* Unmaps the arena from the calling process. */
void wire_arena_close(struct wire_arena *arena);

/* Records that `rank` has died: waits of the other ranks end. The first one is kept. */
void wire_arena_lose(struct wire_arena *arena, int rank);
enum wire_arena_rank_state wire_arena_rank_state(const struct wire_arena *arena, int rank);
/* Bytes in boxes now, and bytes ever allocated. */
void wire_arena_use(struct wire_arena *arena, size_t *now, size_t *ever);

/* Speed of an emulated wire. A message is visible to its receiver when all bytes that its sender
 * has sent so far have passed the sender's port, plus the latency. */
struct wire_arena_speed {
    double latency;   /* latency, s */
    double bandwidth; /* bandwidth, B/s; 0: no limit */
};

/* Parses "latency=20us,bandwidth=1GB/s"; NULL: no emulation. `what` begins the message. EVN_USAGE.
 */
evn_status wire_arena_speed_read(struct wire_arena_speed *out, const char *what,
                                 const char *options);

/* Joins as `rank`; `name`: the kind's, for messages. EVN_MEMORY. */
evn_status wire_arena_join(evn_wire **out, struct wire_arena *arena, int rank, const char *name,
                           const struct wire_arena_speed *speed, const evn_wire_host *host);

/* Functions common to all kinds over an arena. */
void wire_arena_leave(evn_wire *wire); /* close(): waits for all ranks, keeps the arena */
struct wire_arena *wire_arena_of(const evn_wire *wire);
void wire_arena_abort(evn_wire *wire, int status);
int wire_arena_rank(const evn_wire *wire);
int wire_arena_size(const evn_wire *wire);
evn_status wire_arena_channel_open(evn_channel **out_channel, evn_wire *wire, int peer, int tag,
                                   int out, size_t max);
void wire_arena_channel_close(evn_channel *channel);
evn_status wire_arena_take(evn_channel *channel, void **room);
evn_status wire_arena_send(evn_channel *channel, size_t bytes);
evn_status wire_arena_expect(evn_channel *channel);
evn_status wire_arena_look(evn_channel *channel, int *here);
evn_status wire_arena_wait(evn_channel *channel, const void **data, size_t *bytes);
void wire_arena_release(evn_channel *channel);
extern const evn_wire_shared wire_arena_shared;

#define ARENA_FUNCTIONS                                                                            \
    .abort = wire_arena_abort, .rank = wire_arena_rank, .size = wire_arena_size,                   \
    .channel_open = wire_arena_channel_open, .channel_close = wire_arena_channel_close,            \
    .take = wire_arena_take, .send = wire_arena_send, .expect = wire_arena_expect,                 \
    .look = wire_arena_look, .wait = wire_arena_wait, .release = wire_arena_release,               \
    .shared = &wire_arena_shared
