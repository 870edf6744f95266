/* Ends: a list from which several threads take, each from the front or from the end.
 *
 * What is left of the list is one word, the first place and the length, and is changed by compare
 * and swap. The word orders nothing but itself: what a taker reads of the list was written before
 * the job that it is in.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Fills the list: places 0 to count - 1. */
static inline void ends_fill(_Atomic uint64_t *ends, int count) {
    atomic_store_explicit(ends, (uint64_t)count << 32, memory_order_relaxed);
}

/* How many places are left. */
static inline int ends_left(const _Atomic uint64_t *ends) {
    return (int)(atomic_load_explicit(ends, memory_order_relaxed) >> 32);
}

/* Takes up to `count` places that follow each other; how many, and the first one in *first. */
static inline int ends_take(_Atomic uint64_t *ends, int count, int at_end, int *first) {
    uint64_t seen = atomic_load_explicit(ends, memory_order_relaxed);
    for (;;) {
        const uint32_t next = (uint32_t)seen, left = (uint32_t)(seen >> 32);
        const uint32_t n = left < (uint32_t)count ? left : (uint32_t)count;
        if (!n) return 0;
        *first = (int)(at_end ? next + left - n : next);
        const uint64_t then = (uint64_t)(left - n) << 32 | (at_end ? next : next + n);
        if (atomic_compare_exchange_weak_explicit(ends, &seen, then, memory_order_relaxed,
                                                  memory_order_relaxed))
            return (int)n;
    }
}
