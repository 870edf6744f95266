/* Spin, then sleep; and a barrier of it. */
#include "base/gate.h"
#include "base/pause.h"

void gate_init(struct gate *g, int spins) {
    atomic_init(&g->count, 0);
    atomic_init(&g->sleepers, 0);
    g->spins = spins;
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->moved, NULL);
}

void gate_destroy(struct gate *g) {
    pthread_mutex_destroy(&g->mutex);
    pthread_cond_destroy(&g->moved);
}

void gate_open(struct gate *g) {
    /* both sides first say what they do and then look at the other (sequentially consistent), so
     * either the opener sees the sleeper or the sleeper sees the new count */
    atomic_fetch_add(&g->count, 1);
    if (atomic_load(&g->sleepers) == 0) return;
    pthread_mutex_lock(&g->mutex);
    pthread_cond_broadcast(&g->moved);
    pthread_mutex_unlock(&g->mutex);
}

void gate_wait(struct gate *g, unsigned seen) {
    for (int i = 0; i < g->spins; i++) {
        if (gate_count(g) != seen) return;
        pause_core();
    }
    pthread_mutex_lock(&g->mutex);
    atomic_fetch_add(&g->sleepers, 1);
    while (atomic_load(&g->count) == seen) pthread_cond_wait(&g->moved, &g->mutex);
    atomic_fetch_sub(&g->sleepers, 1);
    pthread_mutex_unlock(&g->mutex);
}

void barrier_init(struct barrier *b, int spins) {
    gate_init(&b->gate, spins);
    atomic_init(&b->arrived, 0);
}

void barrier_destroy(struct barrier *b) { gate_destroy(&b->gate); }

void barrier_wait(struct barrier *b, int cores) {
    const unsigned seen = gate_count(&b->gate);
    if (atomic_fetch_add(&b->arrived, 1) != cores - 1) {
        gate_wait(&b->gate, seen);
        return;
    }
    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    gate_open(&b->gate);
}
