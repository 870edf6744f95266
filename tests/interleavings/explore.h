/* All interleavings of a few threads: the scheduler of a model checker for code that waits.
 *
 * Threads are coroutines on one thread of the system. Each operation on an atomic object that
 * other threads can notice, and each call of a futex, is a point at which any of them may go on
 * (explore_atomics.h takes these operations over, in the source files that are looked at
 * themselves). Every state that can be reached is visited once: the shared memory, the stacks and
 * what is in the store buffers say which state it is, so loops that wait end.
 *
 * Memory is that of C11 as far as stores are late: a store that is not sequentially consistent
 * goes into a buffer of its thread first; relaxed ones leave it in any order, a release store after
 * all before it. An operation that reads and writes empties the buffer and is taken for
 * sequentially consistent, as on x86-64; loads are never late. A compare-and-swap that is weak
 * fails once without a reason, a sleeper wakes once without one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { EXPLORE_THREADS = 4 };

/* A small program of threads 0 to threads - 1. */
struct explore_program {
    int threads;
    void *memory; /* all that they share */
    size_t bytes;
    void (*begin)(void);    /* fills the memory */
    void (*thread)(int me); /* each thread */
    void (*end)(void);      /* checks, when all threads have ended; or NULL */
    int whims;              /* failures and wake-ups without a reason, of each thread */
};

struct explore_result {
    const char *fault; /* NULL: none; else the first one that was found */
    long states, steps;
};

/* Visits all states. The steps to a fault are printed where `tells`. */
struct explore_result explore(const struct explore_program *program, int tells);

/* By a thread, or at its end: a fault, unless `holds`. */
void explore_check(int holds, const char *fault);

/* What explore_atomics.h calls. `size`: of the object, 4 or 8 bytes. */
enum explore_change { EXPLORE_ADD, EXPLORE_AND, EXPLORE_OR, EXPLORE_SWAP };
struct explore_site {
    const char *text;
    int line;
};
uint64_t explore_load(const volatile void *at, size_t size, struct explore_site site);
void explore_store(volatile void *at, size_t size, uint64_t value, int order,
                   struct explore_site site);
uint64_t explore_change(volatile void *at, size_t size, enum explore_change change, uint64_t value,
                        struct explore_site site);
int explore_swap_if(volatile void *at, size_t size, void *expected, uint64_t value, int weak,
                    struct explore_site site);
long explore_futex(struct explore_site site, volatile void *at, int operation, unsigned value, ...);
