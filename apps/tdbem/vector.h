/* The widest vector that the compiler was told to use, the permutations that interleave rows and
 * steps in it, and loads that repeat a few bytes all over it. */
#ifndef TDBEM_VECTOR_H
#define TDBEM_VECTOR_H

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

static inline __attribute__((always_inline)) vector_bits vector_repeat_8(const void *p) {
    typedef int64_t any __attribute__((aligned(4), may_alias));
    return *(const any *)p - (vector_bits){0};
}

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

/* Lists of indices for __builtin_shufflevector, by lanes and rows p that share a vector. DUPLICATE:
 * lane i takes i/p. SEPARATE: from lane g*p + r to lane r*lanes/p + g. */
#define DUPLICATE_4_2     0, 0, 1, 1
#define DUPLICATE_8_2     0, 0, 1, 1, 2, 2, 3, 3
#define DUPLICATE_8_4     0, 0, 0, 0, 1, 1, 1, 1
#define DUPLICATE_16_2    0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7
#define DUPLICATE_16_4    0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3
#define DUPLICATE_16_8    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
#define SEPARATE_4_2      0, 2, 1, 3
#define SEPARATE_8_2      0, 2, 4, 6, 1, 3, 5, 7
#define SEPARATE_8_4      0, 4, 1, 5, 2, 6, 3, 7
#define SEPARATE_16_2     0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15
#define SEPARATE_16_4     0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15
#define SEPARATE_16_8     0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15
#define LIST_(name, l, p) name##_##l##_##p
#define LIST(name, l, p)  LIST_(name, l, p)

#endif
