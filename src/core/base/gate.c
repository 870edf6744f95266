/* Gates: spin, then sleep. Barriers: a count, and a gate. */
#include "base/gate.h"
#include "base/pause.h"
#include "base/ticks.h"
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOKS = 32 }; /* reads of the counter for each read of the clock */

static void sleep_while(atomic_uint *count, unsigned seen) {
    syscall(SYS_futex, count, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void wake_all(atomic_uint *count) {
    syscall(SYS_futex, count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void gate_init(struct gate *g, double spin) {
    atomic_init(&g->count, 0);
    atomic_init(&g->sleepers, 0);
    g->spin = (uint64_t)(spin / ticks_open());
}

void gate_open(struct gate *g) {
    /* both sides first write and then read (sequentially consistent): the opener sees the sleeper,
     * or the sleeper sees the new count, here or in the kernel */
    atomic_fetch_add(&g->count, 1);
    if (atomic_load(&g->sleepers)) wake_all(&g->count);
}

/* 1 if the counter moves within the time to spin. */
static int moves(struct gate *g, unsigned seen) {
    if (gate_count(g) != seen) return 1;
    const uint64_t begin = ticks_now();
    do {
        for (int i = 0; i < LOOKS; i++) {
            pause_core();
            if (gate_count(g) != seen) return 1;
        }
    } while (ticks_now() - begin < g->spin);
    return 0;
}

void gate_wait(struct gate *g, unsigned seen) {
    if (moves(g, seen)) return;
    atomic_fetch_add(&g->sleepers, 1);
    while (atomic_load(&g->count) == seen) sleep_while(&g->count, seen);
    atomic_fetch_sub(&g->sleepers, 1);
}

void barrier_init(struct barrier *b, double spin) {
    gate_init(&b->gate, spin);
    atomic_init(&b->arrived, 0);
}

void barrier_wait(struct barrier *b, int cores) {
    const unsigned seen = gate_count(&b->gate);
    if (atomic_fetch_add(&b->arrived, 1) != cores - 1) {
        gate_wait(&b->gate, seen);
        return;
    }
    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    gate_open(&b->gate);
}
