/* The gate: where threads wait for a counter to move. It spins for a moment, since the next loop
 * usually comes at once, and then sleeps, since a spinning thread takes the core of one that has
 * work. */
#ifndef BASE_GATE_H
#define BASE_GATE_H

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

/* times to look before sleeping: some hundred microseconds, longer than a core needs that has not
 * been interrupted; and where threads are not bound, and may share cores */
enum { GATE_SPINS = 4000, GATE_SPINS_UNBOUND = 100 };

/* A barrier, whose gate the last one to arrive opens. */
struct barrier {
    struct gate gate;
    _Alignas(64) atomic_int arrived;
};

void barrier_init(struct barrier *b, int spins);
void barrier_destroy(struct barrier *b);

/* Returns when `cores` threads have called it; they see what each other wrote before. */
void barrier_wait(struct barrier *b, int cores);

#endif
