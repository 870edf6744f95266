/* The gate: where threads wait for a counter to move. It spins for a moment, since the next loop
 * usually comes at once, and then sleeps, since a spinning thread takes the core of one that has
 * work. */
#ifndef UNIT_GATE_H
#define UNIT_GATE_H

#include <pthread.h>
#include <stdatomic.h>

struct gate {
    _Alignas(64) atomic_uint count;
    atomic_int sleepers;
    int spins; /* how often to look before sleeping; 0 where threads share cores */
    pthread_mutex_t mutex;
    pthread_cond_t moved;
};

void gate_init(struct gate *g, int spins);
void gate_destroy(struct gate *g);

static inline unsigned gate_count(struct gate *g) {
    return atomic_load_explicit(&g->count, memory_order_acquire);
}

/* Adds 1 to the counter and wakes who sleeps. What was written before is seen by whoever sees the
 * count. */
void gate_open(struct gate *g);

/* Returns once the counter is no longer `seen`. */
void gate_wait(struct gate *g, unsigned seen);

#endif
