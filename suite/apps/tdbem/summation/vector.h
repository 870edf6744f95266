/* The widest vector that the compiler was told to use, and loads that repeat a few bytes all over
 * it. */
#pragma once

#include "common/simd/shuffle.h"

#if defined(__AVX512F__)
#    define VECTOR_BYTES 64
#elif defined(__AVX__)
#    define VECTOR_BYTES 32
#else
#    define VECTOR_BYTES 16
#endif

#if defined(__AVX__)
#    include <immintrin.h>
#endif
#include <stdint.h>

/* Any vector of VECTOR_BYTES. The loads are what one instruction does, but gcc does not find it. */
typedef int64_t vector_bits __attribute__((vector_size(VECTOR_BYTES)));

static inline __attribute__((always_inline)) vector_bits vector_repeat_16(const void *p) {
#if VECTOR_BYTES == 64
    return (vector_bits)_mm512_broadcast_f32x4(_mm_loadu_ps(p));
#elif VECTOR_BYTES == 32
    return (vector_bits)_mm256_broadcast_ps(p);
#else
    typedef vector_bits any __attribute__((aligned(4), may_alias));
    return *(const any *)p;
#endif
}

static inline __attribute__((always_inline)) vector_bits vector_repeat_32(const void *p) {
#if VECTOR_BYTES == 64
    return (vector_bits)_mm512_broadcast_f64x4(_mm256_loadu_pd(p));
#else
    typedef vector_bits any __attribute__((aligned(4), may_alias));
    return *(const any *)p;
#endif
}
