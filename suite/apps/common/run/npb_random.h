/* The pseudo-random numbers of the NAS Parallel Benchmarks: X <- 5^13 X mod 2^46, a number R = X /
 * 2^46 in (0, 1) a step (Bailey et al., RNR-94-007, section 2.3).
 *
 * 2^46 divides 2^64, so that products of unsigned words that wrap around are exact. The first
 * number delivered is that of X(1): a step comes first. */
#pragma once

#include <stdint.h>

#define NPB_RANDOM_FACTOR UINT64_C(1220703125)
#define NPB_RANDOM_SEED   UINT64_C(314159265)
#define NPB_RANDOM_MASK   ((UINT64_C(1) << 46) - 1)

/* a^k mod 2^46 */
static inline uint64_t npb_random_power(uint64_t a, uint64_t k) {
    uint64_t power = 1;
    for (; k; k >>= 1, a = a * a & NPB_RANDOM_MASK)
        if (k & 1) power = power * a & NPB_RANDOM_MASK;
    return power;
}

static inline uint64_t npb_random_next(uint64_t x) {
    return x * NPB_RANDOM_FACTOR & NPB_RANDOM_MASK;
}

/* X(k); X(0) is the seed. */
static inline uint64_t npb_random_at(uint64_t k) {
    return npb_random_power(NPB_RANDOM_FACTOR, k) * NPB_RANDOM_SEED & NPB_RANDOM_MASK;
}

/* R of X, exact. */
static inline double npb_random_value(uint64_t x) { return (double)x * 0x1p-46; }
