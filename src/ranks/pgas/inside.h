/* Internals of one-sided memory. */
#pragma once

#include <evener/shared.h>
#include <evener/wire.h>
#include <pthread.h>
#include <stdatomic.h>

/* Doubles a reduction step. */
enum { REDUCE_ROOM = 32 };

/* One thread of a rank at a time, which has the gate, is in the queue of a lock. */
struct shared_lock {
    pthread_mutex_t gate;
    _Atomic(const void *) thread; /* the one that has the lock; NULL: none of this rank */
    evn_shared_signal *next; /* [size]: the raise to await from each rank; none from this one */
};

struct evn_shared {
    evn_cluster *cluster;
    const evn_wire_shared *wire;
    evn_segment *segment;
    int rank, size;
    int signals, row; /* signals of the program; words that each rank has for each rank */
    int locks;        /* lock l has signal `signals` + l */
    struct shared_lock *lock;
    atomic_int is_queue_broken; /* 1: this rank may have left a queue before its turn */
    evn_shared_array array;     /* count 0: none */
    size_t *bytes;              /* bytes of each rank, without the room of reductions */
    size_t begin;               /* offset of the program's bytes, behind the room of reductions */
    unsigned char **there;      /* the parts of this node's ranks; NULL: elsewhere */
    int is_near;                /* 1: all ranks are on this node */
    unsigned long long rounds;  /* number of barriers and reductions */
    atomic_llong near_puts, far_puts, near_bytes, far_bytes, signals_raised, gets, got_bytes;
};

/* Says what block 0 is. EVN_USAGE, EVN_MEMORY. And the bytes of a rank's blocks. */
evn_status shared_array_settle(evn_shared_array *array, int ranks);
size_t shared_array_bytes(const evn_shared_array *array, int rank, int ranks);

/* One process by itself. */
extern const evn_wire_shared shared_alone;
evn_status shared_alone_open(evn_segment **out, const evn_wire_host *host, size_t bytes, int words);

/* Index of the word of rank `from`'s signal; -1 is that of barriers and reductions. */
static inline int shared_word(const evn_shared *s, int from, int signal) {
    return from * s->row + 1 + signal;
}

/* Copies directly or by the wire; `at` counts from the part's beginning. Arguments are checked. */
evn_status shared_put(evn_shared *shared, int to, size_t at, const void *from, size_t bytes);
evn_status shared_raise(evn_shared *shared, int to, int signal);
evn_status shared_wait(evn_shared *shared, const evn_shared_signal *of, int count, int *which);

/* evn_shared_atomic() in a part. */
evn_status shared_update(evn_shared *shared, int to, size_t at, evn_atomic what, void *value);

/* Position of a lock's word in a part: behind the room of reductions. At first the word is 0. */
static inline size_t shared_lock_at(const evn_shared *s, int lock) {
    return (size_t)s->size * 2 * REDUCE_ROOM * sizeof(double) + (size_t)lock * sizeof(int64_t);
}
/* 1: not enough memory. */
int shared_locks_make(evn_shared *shared);
void shared_locks_forget(evn_shared *shared);

/* Counts a put to another rank. */
void shared_count(evn_shared *shared, int to, size_t bytes);

/* EVN_USAGE, with a message that begins with `what`, unless these bytes of that rank's part exist,
 * and the source, if there are any. */
evn_status shared_check_put(const evn_shared *shared, const char *what, int to, size_t at,
                            const void *from, size_t bytes);

/* EVN_USAGE, with a message that begins with `what`, unless there is such a rank or signal. */
evn_status shared_check_rank(const evn_shared *shared, const char *what, int rank);
evn_status shared_check_signal(const evn_shared *shared, const char *what, int signal);
