/* Lanes: the SIMD vector of host kernels.
 *
 * A `vec` holds LANES doubles, each of one grid line (or one grid point along i). Arithmetic is
 * written with ordinary operators, which gcc and clang apply lane by lane, so the text of a point
 * or line is the same for a SIMD lane and a device's work item. There is no scalar remainder loop:
 * lanes without a line compute on padding and are masked when stored. So the bits are independent
 * of how lines are divided among threads. */
#pragma once

#include "common/simd/shuffle.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef EVENER_ANY_LEVEL
#    error this source is compiled once for all levels (ONCE in its CMakeLists.txt), and has no lanes
#endif

/* A header that needs more of the processor for as many lanes may have chosen fewer. */
#ifndef LANES
#    if defined(__AVX512F__)
#        define LANES 8
#    elif defined(__AVX__)
#        define LANES 4
#    else
#        define LANES 2
#    endif
#endif
/* The compiler's own names where it has them: the header takes longer to read than most files that
 * include this one take to compile. */
#if LANES == 8 && defined(__has_builtin)
#    if __has_builtin(__builtin_ia32_ptestmq512) && __has_builtin(__builtin_ia32_blendmpd_512_mask)
#        define LANES_BLEND 1
#    endif
#endif
#if LANES == 8 && !defined(LANES_BLEND)
#    include <immintrin.h>
#endif

/* for what must become part of its caller: hooks, and code that a constant argument specialises */
#define INLINE static inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(LANES * 8)));
typedef int64_t ivec __attribute__((vector_size(LANES * 8)));
typedef double vec_unaligned __attribute__((vector_size(LANES * 8), aligned(8)));

static inline vec vec_load(const double *p) { return *(const vec *)p; } /* `p` is aligned */
static inline void vec_store(double *p, vec a) { *(vec *)p = a; }
static inline vec vec_loadu(const double *p) { return *(const vec_unaligned *)p; }
static inline void vec_storeu(double *p, vec a) { *(vec_unaligned *)p = a; }

/* Past the caches, aligned, where there are more than two lanes; vec_streamed() goes before others
 * may read them. Not clang's own store of that kind, which becomes a plain one where the same code
 * has a plain one for another case. */
static inline void vec_stream(double *p, vec a) {
#if LANES > 2 && defined(__AVX__)
    __asm__("vmovntpd %1, %0" : "=m"(*(vec *)p) : "v"(a));
#else
    vec_store(p, a);
#endif
}
static inline void vec_streamed(void) {
#if LANES > 2 && defined(__AVX__)
    __builtin_ia32_sfence();
#endif
}

/* `a` in a register: gcc would load it once for a sum and once more for a difference. */
static inline vec vec_kept(vec a) {
#if defined(__AVX__)
    __asm__("" : "+v"(a));
#endif
    return a;
}

static inline vec vec_set(double a) { return a - (vec){0}; }

/* 0, 1, 2, .. */
static inline ivec vec_iota(void) {
    ivec r;
    for (int l = 0; l < LANES; l++) r[l] = l;
    return r;
}

/* lane by lane: m ? a : b, where m is all ones or all zeros (the result of a comparison) */
static inline vec vec_select(ivec m, vec a, vec b) {
#if defined(LANES_BLEND)
    typedef long long whole __attribute__((vector_size(64)));
    return __builtin_ia32_blendmpd_512_mask(
        b, a, __builtin_ia32_ptestmq512((whole)m, (whole)m, (unsigned char)-1));
#elif LANES == 8 /* gcc would make two instructions of it, and a masked operation needs none */
    return (vec)_mm512_mask_blend_pd(_mm512_test_epi64_mask((__m512i)m, (__m512i)m), (__m512d)b,
                                     (__m512d)a);
#else
    return (vec)(((ivec)a & m) | ((ivec)b & ~m));
#endif
}

/* the lanes of i = i0 .. i0+LANES-1 that are interior points, 1 <= i <= nx-2 */
static inline ivec vec_interior(int i0, int nx) {
    ivec i = vec_iota() + (int64_t)i0;
    return (i >= 1) & (i <= (int64_t)nx - 2);
}

static inline vec vec_sqrt(vec a) {
    vec r;
    for (int l = 0; l < LANES; l++) r[l] = __builtin_sqrt(a[l]);
    return r;
}

/* t[a] lane b  <->  t[b] lane a */
static inline void vec_transpose(vec t[LANES]) {
#if LANES == 8
    vec s[8];
    for (int p = 0; p < 8; p += 2) {
        s[p] = __builtin_shufflevector(t[p], t[p + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[p + 1] = __builtin_shufflevector(t[p], t[p + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int q = 0; q < 8; q += 4)
        for (int p = 0; p < 2; p++) {
            t[q + p] = __builtin_shufflevector(s[q + p], s[q + p + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            t[q + p + 2] =
                __builtin_shufflevector(s[q + p], s[q + p + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int p = 0; p < 4; p++) {
        s[p] = __builtin_shufflevector(t[p], t[p + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        s[p + 4] = __builtin_shufflevector(t[p], t[p + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    for (int p = 0; p < 8; p++) t[p] = s[p];
#elif LANES == 4
    vec s[4];
    for (int p = 0; p < 4; p += 2) {
        s[p] = __builtin_shufflevector(t[p], t[p + 1], 0, 4, 2, 6);
        s[p + 1] = __builtin_shufflevector(t[p], t[p + 1], 1, 5, 3, 7);
    }
    for (int p = 0; p < 2; p++) {
        t[p] = __builtin_shufflevector(s[p], s[p + 2], 0, 1, 4, 5);
        t[p + 2] = __builtin_shufflevector(s[p], s[p + 2], 2, 3, 6, 7);
    }
#else
    vec a = __builtin_shufflevector(t[0], t[1], 0, 2);
    t[1] = __builtin_shufflevector(t[0], t[1], 1, 3);
    t[0] = a;
#endif
}
