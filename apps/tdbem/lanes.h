/* Lanes: the SIMD vector in which boundary integrals are computed, one outer point a lane, and the
 * elementary functions they need (angle of a plane vector, difference of two asinh), in full double
 * precision and without a branch, so that a lane's value does not depend on its neighbours. */
#ifndef TDBEM_LANES_H
#define TDBEM_LANES_H

#include <stdint.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#    include <immintrin.h>
#    define LANES 8
#elif defined(__AVX2__)
#    include <immintrin.h>
#    define LANES 4
#else
#    define LANES 2
#endif

#define INLINE static inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(LANES * 8)));
typedef int64_t ivec __attribute__((vector_size(LANES * 8)));
typedef double vec_unaligned __attribute__((vector_size(LANES * 8), aligned(8)));

INLINE vec vec_set(double a) { return a - (vec){0}; }
INLINE vec vec_loadu(const double *p) { return *(const vec_unaligned *)p; }

/* lane by lane m ? a : b; m comes from a comparison: all ones or all zeros */
INLINE vec vec_select(ivec m, vec a, vec b) {
#if LANES == 8 /* gcc would make two instructions of it */
    return (vec)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)m), (__m512d)b, (__m512d)a);
#elif LANES == 4
    return (vec)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
#else
    return (vec)(((ivec)a & m) | ((ivec)b & ~m));
#endif
}

/* a where m, 0 elsewhere */
INLINE vec vec_mask(ivec m, vec a) { return (vec)((ivec)a & m); }

INLINE int vec_any(ivec m) {
#if LANES == 8
    return _mm512_movepi64_mask((__m512i)m) != 0;
#elif LANES == 4
    return _mm256_movemask_pd((__m256d)m) != 0;
#else
    return (m[0] | m[1]) != 0;
#endif
}

INLINE vec vec_sqrt(vec a) {
#if LANES == 8
    return (vec)_mm512_sqrt_pd((__m512d)a);
#elif LANES == 4
    return (vec)_mm256_sqrt_pd((__m256d)a);
#else
    vec r;
    for (int l = 0; l < LANES; l++) r[l] = __builtin_sqrt(a[l]);
    return r;
#endif
}

INLINE vec vec_min(vec a, vec b) {
#if LANES == 8
    return (vec)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif LANES == 4
    return (vec)_mm256_min_pd((__m256d)a, (__m256d)b);
#else
    return vec_select(a < b, a, b);
#endif
}

INLINE vec vec_max(vec a, vec b) {
#if LANES == 8
    return (vec)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif LANES == 4
    return (vec)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return vec_select(a > b, a, b);
#endif
}

INLINE vec vec_abs(vec a) { return (vec)((ivec)a & INT64_MAX); }

/* sign of s on the magnitude a >= 0 */
INLINE vec vec_sign(vec a, vec s) { return (vec)((ivec)a | ((ivec)s & INT64_MIN)); }

/* largest integer not above a, 0 <= a < 2^51 */
INLINE vec vec_floor(vec a) {
    const vec big = vec_set(4503599627370496.0);
    vec r;
#if LANES > 2
    (void)big;
    r = (vec)
#    if LANES == 8
        _mm512_roundscale_pd((__m512d)a, 9);
#    else
        _mm256_floor_pd((__m256d)a);
#    endif
#else
    for (int l = 0; l < LANES; l++) r[l] = __builtin_floor(a[l]);
    (void)big;
#endif
    return r;
}

/* The polynomials below are Chebyshev fits of the relative error; in u = t*t. */

/* (atan(t)/t - 1)/u for |t| <= tan(pi/8), to 6e-18 */
INLINE vec atan_tail(vec u) {
    static const double c[11] = {
        -0.0191754047111049337, 0.0392304477847930952, -0.0508540783458948426, 0.0585814090486632828, -0.066645105255089366, 0.0769218312537689209, -0.0909090457530648908, 0.111111110151870187, -0.142857142846656808, 0.199999999999955165, -0.333333333333333302
    };
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
    const ivec wide = lo > 0.41421356237309503 * hi;
    const vec den = vec_max(hi + vec_mask(wide, lo), vec_set(1e-300));
    const vec t = (lo - vec_mask(wide, hi)) / den;
    const vec u = t * t;
    vec a = t + t * (u * atan_tail(u)) + vec_mask(wide, vec_set(0.78539816339744831));
    a = vec_select(ay > ax, 1.5707963267948966 - a, a);
    a = vec_select(x < 0, 3.1415926535897931 - a, a);
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
    return (m - 1) / (m + 1);
}

#endif
