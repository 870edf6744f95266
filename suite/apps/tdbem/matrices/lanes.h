/* Additions to the SIMD vector of common/simd/lanes.h for boundary integrals, one outer point a
 * lane: masks, fast roots and quotients, and elementary functions (angle of a plane vector,
 * difference of two asinh), in full double precision and without branches, so that a lane's value
 * does not depend on its neighbours. */
#pragma once

/* masks of eight lanes take more than the first AVX-512, whole numbers in four more than AVX */
#if defined(__AVX512F__) && !defined(__AVX512DQ__)
#    define LANES 4
#elif defined(__AVX__) && !defined(__AVX2__)
#    define LANES 2
#endif
#include "common/simd/lanes.h"
#if LANES > 2
#    include <immintrin.h>
#endif

/* One truth a lane. With AVX-512 these are bits in registers of their own; elsewhere vectors of all
 * ones or all zeros. */
#if LANES == 8
typedef __mmask8 vec_truth;
INLINE vec_truth vec_lt(vec a, vec b) {
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
}
INLINE vec_truth vec_le(vec a, vec b) {
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ);
}
INLINE vec_truth vec_eq(vec a, vec b) {
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
}
INLINE vec_truth vec_and(vec_truth a, vec_truth b) { return _kand_mask8(a, b); }
INLINE vec_truth vec_or(vec_truth a, vec_truth b) { return _kor_mask8(a, b); }
INLINE vec_truth vec_not(vec_truth a) { return _knot_mask8(a); }
INLINE int vec_any(vec_truth m) { return m != 0; }
INLINE int vec_all(vec_truth m) { return m == 0xff; }
INLINE vec_truth vec_lane(vec_truth m, int lane, int truth) {
    return (vec_truth)(truth ? m | 1 << lane : m & ~(1 << lane));
}

/* m ? a : b */
INLINE vec vec_choose(vec_truth m, vec a, vec b) {
    return (vec)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a);
}
/* m ? a : 0 */
INLINE vec vec_mask(vec_truth m, vec a) { return (vec)_mm512_maskz_mov_pd(m, (__m512d)a); }
#else
typedef ivec vec_truth;
INLINE vec_truth vec_lt(vec a, vec b) { return a < b; }
INLINE vec_truth vec_le(vec a, vec b) { return a <= b; }
INLINE vec_truth vec_eq(vec a, vec b) { return a == b; }
INLINE vec_truth vec_and(vec_truth a, vec_truth b) { return a & b; }
INLINE vec_truth vec_or(vec_truth a, vec_truth b) { return a | b; }
INLINE vec_truth vec_not(vec_truth a) { return ~a; }
INLINE int vec_any(vec_truth m) {
#    if LANES == 4
    return _mm256_movemask_pd((__m256d)m) != 0;
#    else
    return (m[0] | m[1]) != 0;
#    endif
}
INLINE int vec_all(vec_truth m) { return !vec_any(~m); }
INLINE vec_truth vec_lane(vec_truth m, int lane, int truth) {
    m[lane] = truth ? -1 : 0;
    return m;
}
INLINE vec vec_choose(vec_truth m, vec a, vec b) {
#    if LANES == 4
    return (vec)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
#    else
    return (vec)(((ivec)a & m) | ((ivec)b & ~m));
#    endif
}
INLINE vec vec_mask(vec_truth m, vec a) { return (vec)((ivec)a & m); }
#endif

/* Square root of a >= 0 and quotient, to about an ulp; the root of 0 is 1e-140, of no account in
 * sums of lengths. With AVX-512 by Newton's method from 14 bits, which takes a third of the time of
 * the divider. */
INLINE vec vec_root(vec a) {
#if LANES == 8
    const vec b = (vec)_mm512_max_pd((__m512d)a, _mm512_set1_pd(1e-280));
    vec y = (vec)_mm512_rsqrt14_pd((__m512d)b);
    const vec e = 1 - b * y * y;
    y += y * e * (0.5 + 0.375 * e);
    const vec g = b * y;
    return g + (b - g * g) * (0.5 * y);
#elif LANES == 4
    return (vec)_mm256_sqrt_pd((__m256d)a);
#else
    vec r;
    for (int l = 0; l < LANES; l++) r[l] = __builtin_sqrt(a[l]);
    return r;
#endif
}

INLINE vec vec_quotient(vec a, vec b) {
#if LANES == 8
    vec y = (vec)_mm512_rcp14_pd((__m512d)b);
    const vec e = 1 - b * y;
    y += y * (e + e * e);
    const vec q = a * y;
    return q + (a - b * q) * y;
#else
    return a / b;
#endif
}

INLINE vec vec_min(vec a, vec b) {
#if LANES == 8
    return (vec)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif LANES == 4
    return (vec)_mm256_min_pd((__m256d)a, (__m256d)b);
#else
    return vec_choose(a < b, a, b);
#endif
}

INLINE vec vec_max(vec a, vec b) {
#if LANES == 8
    return (vec)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif LANES == 4
    return (vec)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return vec_choose(a > b, a, b);
#endif
}

INLINE vec vec_abs(vec a) { return (vec)((ivec)a & INT64_MAX); }

/* sign of s on the magnitude a >= 0 */
INLINE vec vec_sign(vec a, vec s) { return (vec)((ivec)a | ((ivec)s & INT64_MIN)); }

/* largest integer not above a */
INLINE vec vec_floor(vec a) {
#if LANES == 8
    return (vec)_mm512_roundscale_pd((__m512d)a, 9);
#elif LANES == 4
    return (vec)_mm256_floor_pd((__m256d)a);
#else
    vec r;
    for (int l = 0; l < LANES; l++) r[l] = __builtin_floor(a[l]);
    return r;
#endif
}

/* largest of all lanes */
INLINE double vec_reduce_max(vec a) {
#if LANES == 8
    return _mm512_reduce_max_pd((__m512d)a);
#else
    double max = a[0];
    for (int l = 1; l < LANES; l++) max = a[l] > max ? a[l] : max;
    return max;
#endif
}

/* The polynomials below are Chebyshev fits of the relative error; in u = t*t. */

/* (atan(t)/t - 1)/u for |t| <= tan(pi/8), to 6e-18 */
INLINE vec atan_tail(vec u) {
    static const double c[11] = {
        -0.0191754047111049337, 0.0392304477847930952, -0.0508540783458948426,
        0.0585814090486632828,  -0.066645105255089366, 0.0769218312537689209,
        -0.0909090457530648908, 0.111111110151870187,  -0.142857142846656808,
        0.199999999999955165,   -0.333333333333333302};
    vec p = vec_set(c[0]);
    for (int i = 1; i < 11; i++) p = p * u + c[i];
    return p;
}

/* (atanh(t)/t - 1)/u for |t| <= 0.2, to 1e-18 */
INLINE vec atanh_tail(vec u) {
    static const double c[8] = {0.0680451513142924936, 0.0660485412102973163, 0.0769443390280685831,
                                0.0909086881315146858, 0.11111111524175794,   0.142857142836379673,
                                0.200000000000039705,  0.333333333333333321};
    vec p = vec_set(c[0]);
    for (int i = 1; i < 8; i++) p = p * u + c[i];
    return p;
}

/* Angle of the plane vector (x, y) in [-pi, pi], 2 ulp; 0 for (0, 0). */
INLINE vec vec_angle(vec y, vec x) {
    const vec ax = vec_abs(x), ay = vec_abs(y);
    const vec lo = vec_min(ax, ay), hi = vec_max(ax, ay);
    /* beyond tan(pi/8) measured from pi/4 */
    const vec_truth wide = vec_lt(0.41421356237309503 * hi, lo);
    const vec den = vec_max(hi + vec_mask(wide, lo), vec_set(1e-300));
    const vec t = vec_quotient(lo - vec_mask(wide, hi), den);
    const vec u = t * t;
    vec a = t + t * (u * atan_tail(u)) + vec_mask(wide, vec_set(0.78539816339744831));
    a = vec_choose(vec_lt(ax, ay), 1.5707963267948966 - a, a);
    a = vec_choose(vec_lt(x, vec_set(0)), 3.1415926535897931 - a, a);
    return vec_sign(a, y);
}

/* log(a), a > 0 and normal, as e ln 2 + 2 atanh(f): gives f, |f| <= 0.172, and e */
INLINE vec vec_log_parts(vec a, vec *e) {
    const ivec bits = (ivec)a;
    /* the exponent that leaves a mantissa in [sqrt(1/2), sqrt(2)) */
    const ivec shifted = bits - 0x3fe6a09e667f3bcd;
    ivec k = shifted >> 52;
    const vec m = (vec)(bits - (k << 52));
    /* integer to double: through the mantissa of 1.5 * 2^52 */
    *e = (vec)(k + 0x4338000000000000) - 6755399441055744.0;
    return vec_quotient(m - 1, m + 1);
}
