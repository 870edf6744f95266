/* Transposes of LANES rows of LANES points on their way from memory and back: for line solves along
 * x, where a lane is a line.
 *
 * vec_transpose does the same between registers in three rounds of shuffles, all on one port. Here
 * memory replaces one round: loads combine half vectors, both ways. 16 shuffles instead of 24 for
 * 8x8 points. Cycles: docs/notes/tuning.md. */
#pragma once

#include "common/simd/lanes.h"

#if LANES == 8

#    include <immintrin.h>

/* written as an intrinsic, since only this becomes an insertion from memory, which takes no
 * shuffle */
static inline vec halves(const double *lo, const double *hi) {
    return (vec)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(lo)), _mm256_load_pd(hi),
                                   1);
}
/* an intrinsic as well: an extraction to memory takes no shuffle */
static inline void store_half(double *p, vec a, int high) {
    _mm256_store_pd(p, high ? _mm512_extractf64x4_pd((__m512d)a, 1)
                            : _mm512_castpd512_pd256((__m512d)a));
}

/* to + i*stride lane l = from[l] + offset + i, of the first `points` of them at least */
static inline void transpose_in_first(int points, const double *const from[LANES], ptrdiff_t offset,
                                      double *to, ptrdiff_t stride) {
    vec v[8], s[4];
    for (int h = 0; 4 * h < points; h++) { /* points 4h to 4h+3 */
        const ptrdiff_t o = offset + 4 * h;
        v[0] = halves(from[0] + o, from[2] + o);
        v[1] = halves(from[1] + o, from[3] + o);
        v[2] = halves(from[4] + o, from[6] + o);
        v[3] = halves(from[5] + o, from[7] + o);
        s[0] = __builtin_shufflevector(v[0], v[1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[1] = __builtin_shufflevector(v[0], v[1], 1, 9, 3, 11, 5, 13, 7, 15);
        s[2] = __builtin_shufflevector(v[2], v[3], 0, 8, 2, 10, 4, 12, 6, 14);
        s[3] = __builtin_shufflevector(v[2], v[3], 1, 9, 3, 11, 5, 13, 7, 15);
        for (int i = 0; i < 2; i++) {
            double *p = to + (4 * h + i) * stride;
            vec_store(p, __builtin_shufflevector(s[i], s[i + 2], 0, 1, 4, 5, 8, 9, 12, 13));
            vec_store(p + 2 * stride,
                      __builtin_shufflevector(s[i], s[i + 2], 2, 3, 6, 7, 10, 11, 14, 15));
        }
    }
}

/* to[l] + offset + i = from + i*stride lane l, of the first 4 points */
static inline void transpose_out_half(const double *from, ptrdiff_t stride, double *const to[LANES],
                                      ptrdiff_t offset) {
    vec v[4], s[4], t[4];
    for (int i = 0; i < 4; i++) v[i] = vec_load(from + i * stride);
    for (int i = 0; i < 2; i++) {
        s[i] = __builtin_shufflevector(v[i], v[i + 2], 0, 1, 8, 9, 2, 3, 10, 11);
        s[i + 2] = __builtin_shufflevector(v[i], v[i + 2], 4, 5, 12, 13, 6, 7, 14, 15);
    }
    for (int i = 0; i < 2; i++) { /* rows 4i and 4i+2; 4i+1 and 4i+3 */
        t[2 * i] = __builtin_shufflevector(s[2 * i], s[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[2 * i + 1] = __builtin_shufflevector(s[2 * i], s[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int l = 0; l < 8; l++) store_half(to[l] + offset, t[l / 4 * 2 + l % 2], l % 4 >= 2);
}

/* to[l] + offset + i = from + i*stride lane l, likewise */
static inline void transpose_out_first(int points, const double *from, ptrdiff_t stride,
                                       double *const to[LANES], ptrdiff_t offset) {
    if (points <= 4) {
        transpose_out_half(from, stride, to, offset);
        return;
    }
    vec v[4], s[4];
    for (int h = 0; h < 2; h++) { /* lines 4h to 4h+3 */
        const double *p = from + 4 * h;
        for (int i = 0; i < 4; i++) v[i] = halves(p + i * stride, p + (i + 4) * stride);
        s[0] = __builtin_shufflevector(v[0], v[1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[1] = __builtin_shufflevector(v[0], v[1], 1, 9, 3, 11, 5, 13, 7, 15);
        s[2] = __builtin_shufflevector(v[2], v[3], 0, 8, 2, 10, 4, 12, 6, 14);
        s[3] = __builtin_shufflevector(v[2], v[3], 1, 9, 3, 11, 5, 13, 7, 15);
        for (int i = 0; i < 2; i++) {
            double *const *row = to + 4 * h + i;
            vec_store(row[0] + offset,
                      __builtin_shufflevector(s[i], s[i + 2], 0, 1, 8, 9, 4, 5, 12, 13));
            vec_store(row[2] + offset,
                      __builtin_shufflevector(s[i], s[i + 2], 2, 3, 10, 11, 6, 7, 14, 15));
        }
    }
}

#else

typedef double half __attribute__((vector_size(LANES * 4)));
static inline vec halves(const double *lo, const double *hi) {
    vec a;
    half *h = (half *)&a;
    h[0] = *(const half *)lo;
    h[1] = *(const half *)hi;
    return a;
}
static inline void store_half(double *p, vec a, int high) { *(half *)p = ((half *)&a)[high]; }

static inline void transpose_in_first(int points, const double *const from[LANES], ptrdiff_t offset,
                                      double *to, ptrdiff_t stride) {
    (void)points;
    vec v[LANES];
    for (int l = 0; l < LANES; l++) v[l] = vec_load(from[l] + offset);
    vec_transpose(v);
    for (int i = 0; i < LANES; i++) vec_store(to + i * stride, v[i]);
}

static inline void transpose_out_first(int points, const double *from, ptrdiff_t stride,
                                       double *const to[LANES], ptrdiff_t offset) {
    (void)points;
    vec v[LANES];
    for (int i = 0; i < LANES; i++) v[i] = vec_load(from + i * stride);
    vec_transpose(v);
    for (int l = 0; l < LANES; l++) vec_store(to[l] + offset, v[l]);
}

#endif

static inline void transpose_in(const double *const from[LANES], ptrdiff_t offset, double *to,
                                ptrdiff_t stride) {
    transpose_in_first(LANES, from, offset, to, stride);
}
static inline void transpose_out(const double *from, ptrdiff_t stride, double *const to[LANES],
                                 ptrdiff_t offset) {
    transpose_out_first(LANES, from, stride, to, offset);
}
