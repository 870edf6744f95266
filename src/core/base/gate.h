/* The gate: threads wait for a counter to change. A waiter spins for a moment, since the next loop
 * usually comes at once, then sleeps on a futex, since a spinning thread takes the core of one that
 * has work. Opening a gate enters the kernel only if a thread sleeps at it. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct gate {
    _Alignas(64) atomic_uint count;
    atomic_uint sleepers;
    uint64_t spin; /* ticks of spinning before it sleeps */
};

/* Seconds of spinning: longer than an uninterrupted core needs; and shorter where threads are
 * unbound or share cores, so that waiting blocks another thread's work. */
#define GATE_SPIN      50e-6
#define GATE_SPIN_FREE 5e-6

void gate_init(struct gate *g, double spin);

static inline unsigned gate_count(struct gate *g) {
    return atomic_load_explicit(&g->count, memory_order_acquire);
}

/* Adds 1 to the counter and wakes the sleepers. Threads that see the count see earlier writes. */
void gate_open(struct gate *g);

/* Returns once the counter differs from `seen`. */
void gate_wait(struct gate *g, unsigned seen);

/* A barrier; the last thread to arrive opens its gate. */
struct barrier {
    struct gate gate;
    _Alignas(64) atomic_int arrived;
};

void barrier_init(struct barrier *b, double spin);

/* Returns when `cores` threads have called it; their earlier writes are visible to all. */
void barrier_wait(struct barrier *b, int cores);
