/* For tools: functions of math.h with the same bits on every device and on cores, in the dialect of
 * evener/kernel.h (evener-cc --kernels-math=same). Contraction must be off: each fused operation is
 * written as one.
 *
 * Results are within 0.9 ulp, since everything up to the last addition is done with more
 * digits, as sums of two doubles. Coefficients are those of Taylor's series, but for erfc's. */
#ifndef EVENER_KERNEL_MATH_H
#define EVENER_KERNEL_MATH_H

#ifndef EVN_CONTRACT
#    define EVN_CONTRACT 0
#endif
#ifndef EVN_ON_DEVICE
#    include <evener/kernel.h>
#endif

#if EVN_CONTRACT && EVN_ON_DEVICE
#    error "evener/kernel_math.h: a*b+c may be fused; compile with -ffp-contract=off"
#endif

/* ---- sums of two doubles, |lo| at most half an ulp of hi ---- */

struct evn_two {
    double hi, lo;
};

EVN_DEVICE_FUNCTION struct evn_two evn_two_of(double hi, double lo) {
    struct evn_two r;
    r.hi = hi;
    r.lo = lo;
    return r;
}

/* a + b, |a| >= |b| or a = 0 */
EVN_DEVICE_FUNCTION struct evn_two evn_two_quick(double a, double b) {
    const double sum = a + b;
    return evn_two_of(sum, b - (sum - a));
}

EVN_DEVICE_FUNCTION struct evn_two evn_two_sum(double a, double b) {
    const double sum = a + b, rest = sum - a;
    return evn_two_of(sum, (a - (sum - rest)) + (b - rest));
}

EVN_DEVICE_FUNCTION struct evn_two evn_two_add(struct evn_two a, struct evn_two b) {
    const struct evn_two sum = evn_two_sum(a.hi, b.hi);
    return evn_two_quick(sum.hi, sum.lo + (a.lo + b.lo));
}

EVN_DEVICE_FUNCTION struct evn_two evn_two_minus(struct evn_two a) {
    return evn_two_of(-a.hi, -a.lo);
}

/* times a power of two */
EVN_DEVICE_FUNCTION struct evn_two evn_two_times(struct evn_two a, double power) {
    return evn_two_of(a.hi * power, a.lo * power);
}

EVN_DEVICE_FUNCTION struct evn_two evn_two_product(double a, double b) {
    const double product = a * b;
    return evn_two_of(product, evn_fma(a, b, -product));
}

EVN_DEVICE_FUNCTION struct evn_two evn_two_mul(struct evn_two a, struct evn_two b) {
    const struct evn_two r = evn_two_product(a.hi, b.hi);
    return evn_two_quick(r.hi, evn_fma(a.hi, b.lo, evn_fma(a.lo, b.hi, r.lo)));
}

EVN_DEVICE_FUNCTION struct evn_two evn_two_div(struct evn_two a, struct evn_two b) {
    const double q = a.hi / b.hi;
    const double rest = evn_fma(-q, b.lo, evn_fma(-q, b.hi, a.hi) + a.lo);
    return evn_two_quick(q, rest / b.hi);
}

EVN_DEVICE_FUNCTION struct evn_two evn_two_root(struct evn_two a) {
    const double root = evn_sqrt(a.hi);
    if (root == 0) return evn_two_of(0, 0);
    return evn_two_quick(root, (evn_fma(-root, root, a.hi) + a.lo) / (2 * root));
}

/* ---- bits ---- */

EVN_DEVICE_FUNCTION double evn_infinity(void) { return evn_of_bits_((evn_ulong)0x7ff << 52); }
EVN_DEVICE_FUNCTION double evn_none(void) { return evn_of_bits_((evn_ulong)0x7ff8 << 48); }
EVN_DEVICE_FUNCTION int evn_is_minus(double a) { return (int)(evn_bits(a) >> 63); }
EVN_DEVICE_FUNCTION double evn_signed(double a, int minus) { return minus ? -a : a; }

/* 2^k of normal numbers */
EVN_DEVICE_FUNCTION double evn_power(int k) { return evn_of_bits_((evn_ulong)(k + 1023) << 52); }

/* a 2^k, |k| < 2044, rounded once where a is about 1 */
EVN_DEVICE_FUNCTION double evn_scaled(double a, int k) {
    return a * evn_power(k / 2) * evn_power(k - k / 2);
}

/* A power of two by which a, not negative, has room for its square. */
EVN_DEVICE_FUNCTION double evn_amid(double a) {
    return a > 0x1p+500 ? 0x1p-600 : a < 0x1p-400 ? 0x1p+600 : 1;
}

EVN_DEVICE_FUNCTION int evn_nearest(double a) { return (int)(a < 0 ? a - 0.5 : a + 0.5); }

#define EVN_LN2_      evn_two_of(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56)
#define EVN_PI_       evn_two_of(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53)
#define EVN_HALF_PI_  evn_two_of(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54)
#define EVN_LN2_HEAD_ 0x1.62e42fefa38p-1 /* 42 bits: k times it is exact */
#define EVN_LN2_TAIL_ 0x1.ef35793c7673p-45

/* ---- exponentials ---- */

/* e^r - 1, |r| < 0.36, within 2^-58 of e^r, and with as good digits where r is small */
EVN_DEVICE_FUNCTION struct evn_two evn_exp_near(struct evn_two r) {
    const double x = r.hi;
    double p = 1 / 87178291200.0;
    p = evn_fma(p, x, 1 / 6227020800.0);
    p = evn_fma(p, x, 1 / 479001600.0);
    p = evn_fma(p, x, 1 / 39916800.0);
    p = evn_fma(p, x, 1 / 3628800.0);
    p = evn_fma(p, x, 1 / 362880.0);
    p = evn_fma(p, x, 1 / 40320.0);
    p = evn_fma(p, x, 1 / 5040.0);
    p = evn_fma(p, x, 1 / 720.0);
    p = evn_fma(p, x, 1 / 120.0);
    p = evn_fma(p, x, 1 / 24.0);
    p = evn_fma(p, x, 1 / 6.0);
    const struct evn_two square = evn_two_product(x, x);
    const double low = evn_fma(x, r.lo, 0.5 * square.lo);
    return evn_two_add(r, evn_two_quick(0.5 * square.hi, evn_fma(x * square.hi, p, low)));
}

/* 2^k (1 + rest) */
struct evn_exp {
    struct evn_two rest;
    int k;
};

EVN_DEVICE_FUNCTION struct evn_exp evn_exp_of(struct evn_two x) {
    struct evn_exp e;
    e.k = evn_nearest(x.hi * 0x1.71547652b82fep+0);
    const double head = evn_fma(-(double)e.k, EVN_LN2_HEAD_, x.hi); /* exact */
    e.rest = evn_exp_near(evn_two_sum(head, evn_fma(-(double)e.k, EVN_LN2_TAIL_, x.lo)));
    return e;
}

/* 2^-k e^x, and the same of e^x - 1 */
EVN_DEVICE_FUNCTION struct evn_two evn_exp_digits(struct evn_exp e) {
    return evn_two_add(evn_two_of(1, 0), e.rest);
}
EVN_DEVICE_FUNCTION struct evn_two evn_expm1_digits(struct evn_exp e) {
    const double one = e.k > 1000 ? 0 : evn_power(-e.k);
    return e.k ? evn_two_add(evn_two_sum(1, -one), e.rest) : e.rest;
}

/* Beyond these e^x is infinite or 0. */
#define EVN_EXP_MOST_  720.0
#define EVN_EXP_LEAST_ -750.0

EVN_DEVICE_FUNCTION double evn_exp_two(struct evn_two x) {
    if (x.hi > EVN_EXP_MOST_) return evn_infinity();
    if (x.hi < EVN_EXP_LEAST_) return 0;
    const struct evn_exp e = evn_exp_of(x);
    const struct evn_two digits = evn_exp_digits(e);
    return evn_scaled(digits.hi + digits.lo, e.k);
}

EVN_DEVICE_FUNCTION double evn_exp(double x) { return x != x ? x : evn_exp_two(evn_two_of(x, 0)); }

EVN_DEVICE_FUNCTION double evn_exp2(double x) {
    struct evn_exp e;
    if (x != x) return x;
    if (x > 1100) return evn_infinity();
    if (x < -1100) return 0;
    e.k = evn_nearest(x);
    e.rest = evn_exp_near(evn_two_mul(evn_two_of(x - e.k, 0), EVN_LN2_));
    const struct evn_two digits = evn_exp_digits(e);
    return evn_scaled(digits.hi + digits.lo, e.k);
}

EVN_DEVICE_FUNCTION double evn_expm1(double x) {
    if (x != x || evn_abs(x) < 0x1p-54) return x;
    if (x > EVN_EXP_MOST_) return evn_infinity();
    if (x < -45) return -1;
    const struct evn_exp e = evn_exp_of(evn_two_of(x, 0));
    const struct evn_two digits = evn_expm1_digits(e);
    return evn_scaled(digits.hi, e.k);
}

/* e^x - 1 of a small positive x */
EVN_DEVICE_FUNCTION struct evn_two evn_expm1_two(double x) {
    const struct evn_exp e = evn_exp_of(evn_two_of(x, 0));
    return evn_two_times(evn_expm1_digits(e), evn_power(e.k));
}

/* e^x / 2 of a large positive x */
EVN_DEVICE_FUNCTION double evn_half_exp(double x) {
    if (x > EVN_EXP_MOST_) return evn_infinity();
    const struct evn_exp e = evn_exp_of(evn_two_of(x, 0));
    return evn_scaled(evn_exp_digits(e).hi, e.k - 1);
}

EVN_DEVICE_FUNCTION double evn_sinh(double x) {
    const double a = evn_abs(x);
    if (x != x || a < 0x1p-28) return x;
    if (a > 40) return evn_signed(evn_half_exp(a), x < 0);
    const struct evn_two e = evn_expm1_two(a), one = evn_two_of(1, 0);
    const struct evn_two sum = evn_two_add(e, evn_two_div(e, evn_two_add(one, e)));
    return evn_signed(0.5 * sum.hi, x < 0);
}

EVN_DEVICE_FUNCTION double evn_cosh(double x) {
    const double a = evn_abs(x);
    if (x != x) return x;
    if (a > 40) return evn_half_exp(a);
    const struct evn_two one = evn_two_of(1, 0), e = evn_two_add(one, evn_expm1_two(a));
    return 0.5 * evn_two_add(e, evn_two_div(one, e)).hi;
}

EVN_DEVICE_FUNCTION double evn_tanh(double x) {
    const double a = evn_abs(x);
    if (x != x || a < 0x1p-28) return x;
    if (a > 20) return evn_signed(1, x < 0);
    const struct evn_two e = evn_expm1_two(2 * a);
    return evn_signed(evn_two_div(e, evn_two_add(evn_two_of(2, 0), e)).hi, x < 0);
}

/* ---- logarithms ---- */

/* log(1 + f), -0.3 < f < 0.42, within 2^-64 of it: 2 (s + s^3/3 + ..), s = f / (2 + f) */
EVN_DEVICE_FUNCTION struct evn_two evn_log_near(struct evn_two f) {
    const struct evn_two s = evn_two_div(f, evn_two_add(evn_two_of(2, 0), f));
    const struct evn_two z = evn_two_mul(s, s);
    double p = 1 / 27.0;
    p = evn_fma(p, z.hi, 1 / 25.0);
    p = evn_fma(p, z.hi, 1 / 23.0);
    p = evn_fma(p, z.hi, 1 / 21.0);
    p = evn_fma(p, z.hi, 1 / 19.0);
    p = evn_fma(p, z.hi, 1 / 17.0);
    p = evn_fma(p, z.hi, 1 / 15.0);
    p = evn_fma(p, z.hi, 1 / 13.0);
    p = evn_fma(p, z.hi, 1 / 11.0);
    p = evn_fma(p, z.hi, 1 / 9.0);
    p = evn_fma(p, z.hi, 1 / 7.0);
    p = evn_fma(p, z.hi, 1 / 5.0);
    const struct evn_two third = evn_two_of(0x1.5555555555555p-2, 0x1.5555555555555p-56);
    const struct evn_two first = evn_two_mul(z, third);
    const struct evn_two sum = evn_two_quick(first.hi, evn_fma(z.hi * z.hi, p, first.lo));
    return evn_two_times(evn_two_add(s, evn_two_mul(s, sum)), 2);
}

/* log(a), a normal or subnormal and positive */
EVN_DEVICE_FUNCTION struct evn_two evn_log_of(struct evn_two a) {
    const int small = a.hi < 0x1p-1000;
    a = evn_two_times(a, small ? 0x1p+60 : 1);
    int k = (int)(evn_bits(a.hi) >> 52) - 1023;
    const double m = evn_of_bits_(evn_bits(a.hi) - ((evn_ulong)k << 52));
    const int high = m > 1.4142135623730951;
    k += high;
    const double down = high ? 0.5 : 1;
    const struct evn_two f = evn_two_sum(m * down - 1, evn_scaled(a.lo, -k));
    k -= small ? 60 : 0;
    const struct evn_two of_k = evn_two_quick(k * EVN_LN2_HEAD_, k * EVN_LN2_TAIL_);
    return evn_two_add(of_k, evn_log_near(f));
}

/* log(1 + a) */
EVN_DEVICE_FUNCTION struct evn_two evn_log1p_two(struct evn_two a) {
    if (a.hi > -0.29 && a.hi < 0.41) return evn_log_near(a);
    return evn_log_of(evn_two_add(evn_two_of(1, 0), a));
}

/* log(x) times a number */
EVN_DEVICE_FUNCTION double evn_log_times(double x, struct evn_two by) {
    if (x == 0) return -evn_infinity();
    if (x < 0) return evn_none();
    if (!(x < evn_infinity())) return x;
    return evn_two_mul(evn_log_of(evn_two_of(x, 0)), by).hi;
}

EVN_DEVICE_FUNCTION double evn_log(double x) { return evn_log_times(x, evn_two_of(1, 0)); }
EVN_DEVICE_FUNCTION double evn_log2(double x) {
    return evn_log_times(x, evn_two_of(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
}
EVN_DEVICE_FUNCTION double evn_log10(double x) {
    return evn_log_times(x, evn_two_of(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
}

EVN_DEVICE_FUNCTION double evn_log1p(double x) {
    if (x == -1) return -evn_infinity();
    if (x < -1) return evn_none();
    if (!(x < evn_infinity()) || evn_abs(x) < 0x1p-54) return x;
    return evn_log1p_two(evn_two_of(x, 0)).hi;
}

EVN_DEVICE_FUNCTION double evn_atanh(double x) {
    const double a = evn_abs(x);
    if (a < 0x1p-28 || x != x) return x;
    if (a > 1) return evn_none();
    if (a == 1) return evn_signed(evn_infinity(), x < 0);
    const struct evn_two y = evn_two_div(evn_two_of(2 * a, 0), evn_two_sum(1, -a));
    return evn_signed(0.5 * evn_log1p_two(y).hi, x < 0);
}

/* log(2 a) of a large a */
EVN_DEVICE_FUNCTION double evn_log_twice(double a) {
    return evn_two_add(evn_log_of(evn_two_of(a, 0)), EVN_LN2_).hi;
}

EVN_DEVICE_FUNCTION double evn_asinh(double x) {
    const double a = evn_abs(x);
    if (!(a < evn_infinity()) || a < 0x1p-28) return x;
    if (a > 0x1p+28) return evn_signed(evn_log_twice(a), x < 0);
    const struct evn_two one = evn_two_of(1, 0), square = evn_two_product(a, a);
    const struct evn_two below = evn_two_add(one, evn_two_root(evn_two_add(one, square)));
    const struct evn_two y = evn_two_add(evn_two_of(a, 0), evn_two_div(square, below));
    return evn_signed(evn_log1p_two(y).hi, x < 0);
}

EVN_DEVICE_FUNCTION double evn_acosh(double x) {
    if (x < 1) return evn_none();
    if (!(x < evn_infinity())) return x;
    if (x > 0x1p+28) return evn_log_twice(x);
    const struct evn_two t = evn_two_sum(x, -1), square = evn_two_mul(t, t);
    const struct evn_two y = evn_two_root(evn_two_add(evn_two_times(t, 2), square));
    return evn_log1p_two(evn_two_add(t, y)).hi;
}

/* 0: y is no integer; 1: an odd one; 2: an even one */
EVN_DEVICE_FUNCTION int evn_integer(double y) {
    if (evn_abs(y) >= 0x1p+53) return 2;
    const evn_long n = (evn_long)y;
    return (double)n != y ? 0 : n & 1 ? 1 : 2;
}

EVN_DEVICE_FUNCTION double evn_pow(double x, double y) {
    const int integer = evn_integer(y);
    const double a = evn_abs(x);
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return x + y;
    const int minus = evn_is_minus(x) && integer == 1;
    if (a == 1 && (integer || evn_abs(y) == evn_infinity())) return evn_signed(1, minus);
    if (x < 0 && !integer && a < evn_infinity()) return evn_none();
    if (a == 0 || a == evn_infinity() || evn_abs(y) > 0x1p+66) {
        const int grows = (a > 1) == (y > 0);
        return evn_signed(grows ? evn_infinity() : 0, minus);
    }
    const struct evn_two log = evn_log_of(evn_two_of(a, 0));
    return evn_signed(evn_exp_two(evn_two_mul(log, evn_two_of(y, 0))), minus);
}

/* ---- sine and its kin ---- */

/* an angle less `quarters` right angles, at most pi/4 */
struct evn_angle {
    struct evn_two rest;
    int quarters;
};

/* 2/pi, behind two words of 0 */
EVN_TABLE(unsigned, evn_two_by_pi,
          40) = {0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u,
                 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu,
                 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u,
                 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu,
                 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
                 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u,
                 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0};

/* Of a large a = m 2^e: m times 192 bits of 2/pi, those whose products are below 4. */
EVN_DEVICE_FUNCTION struct evn_angle evn_angle_large(double a) {
    const int begin = (int)(evn_bits(a) >> 52) - 1023 - 52 - 2 + 64, word = begin >> 5;
    const evn_ulong low = 0xffffffffu, bits = evn_bits(a);
    const evn_ulong m0 = bits & low, m1 = (bits >> 32 & 0xfffff) | 0x100000;
    evn_ulong piece[6], carry = 0, last = 0;
    for (int i = 5; i >= 0; i--) {
        const evn_ulong both =
            (evn_ulong)evn_two_by_pi[word + i] << 32 | evn_two_by_pi[word + i + 1];
        const evn_ulong v = both >> (32 - (begin & 31)) & low;
        const evn_ulong p0 = m0 * v, p1 = m1 * last, sum = (p0 & low) + (p1 & low) + carry;
        piece[i] = sum & low;
        carry = (sum >> 32) + (p0 >> 32) + (p1 >> 32);
        last = v;
    }
    struct evn_angle r;
    r.quarters = (int)(piece[0] >> 30);
    piece[0] &= 0x3fffffff;
    const int above = piece[0] >= 0x20000000; /* from here on downwards to the next one */
    r.quarters += above;
    r.rest = evn_two_of(0, 0);
    double unit = 0x1p-30;
    for (int i = 0; i < 6; i++) {
        const evn_ulong part = above ? piece[i] ^ (i ? low : 0x3fffffff) : piece[i];
        r.rest = evn_two_add(r.rest, evn_two_of((double)part * unit, 0));
        unit *= 0x1p-32;
    }
    r.rest = evn_two_mul(r.rest, EVN_HALF_PI_);
    if (above) r.rest = evn_two_minus(r.rest);
    return r;
}

EVN_DEVICE_FUNCTION struct evn_angle evn_angle_of(double x) {
    const double a = evn_abs(x);
    struct evn_angle r;
    if (a < 0x1p+20) {
        const double n = evn_nearest(a * 0x1.45f306dc9c883p-1);
        const double head = evn_fma(-n, 0x1.921fb54442d18p+0, a); /* exact */
        const struct evn_two tail = evn_two_product(n, 0x1.1a62633145c07p-54);
        const struct evn_two near = evn_two_sum(head, -tail.hi);
        const double low = evn_fma(n, 0x1.f1976b7ed8fbcp-110, near.lo - tail.lo);
        r.rest = evn_two_quick(near.hi, low);
        r.quarters = (int)n;
    } else {
        r = evn_angle_large(a);
    }
    if (x < 0) {
        r.rest = evn_two_minus(r.rest);
        r.quarters = -r.quarters;
    }
    r.quarters &= 3;
    return r;
}

EVN_DEVICE_FUNCTION struct evn_two evn_sin_near(struct evn_two r) {
    const double x = r.hi, z = x * x;
    double p = -1 / 121645100408832000.0;
    p = evn_fma(p, z, 1 / 355687428096000.0);
    p = evn_fma(p, z, -1 / 1307674368000.0);
    p = evn_fma(p, z, 1 / 6227020800.0);
    p = evn_fma(p, z, -1 / 39916800.0);
    p = evn_fma(p, z, 1 / 362880.0);
    p = evn_fma(p, z, -1 / 5040.0);
    p = evn_fma(p, z, 1 / 120.0);
    p = evn_fma(p, z, -1 / 6.0);
    return evn_two_quick(x, evn_fma(x * z, p, evn_fma(-0.5 * z, r.lo, r.lo)));
}

EVN_DEVICE_FUNCTION struct evn_two evn_cos_near(struct evn_two r) {
    const struct evn_two square = evn_two_product(r.hi, r.hi);
    const double z = square.hi;
    double p = -1 / 6402373705728000.0;
    p = evn_fma(p, z, 1 / 20922789888000.0);
    p = evn_fma(p, z, -1 / 87178291200.0);
    p = evn_fma(p, z, 1 / 479001600.0);
    p = evn_fma(p, z, -1 / 3628800.0);
    p = evn_fma(p, z, 1 / 40320.0);
    p = evn_fma(p, z, -1 / 720.0);
    p = evn_fma(p, z, 1 / 24.0);
    const struct evn_two head = evn_two_quick(1, -0.5 * z);
    const double low = evn_fma(-r.hi, r.lo, evn_fma(-0.5, square.lo, head.lo));
    return evn_two_quick(head.hi, evn_fma(z * z, p, low));
}

/* the sine `ahead` right angles on */
EVN_DEVICE_FUNCTION double evn_sine(struct evn_angle a, int ahead) {
    const int quarters = a.quarters + ahead;
    const struct evn_two r = quarters & 1 ? evn_cos_near(a.rest) : evn_sin_near(a.rest);
    return evn_signed(r.hi, quarters >> 1 & 1);
}

EVN_DEVICE_FUNCTION double evn_sin(double x) {
    if (!(evn_abs(x) < evn_infinity())) return evn_none();
    return evn_abs(x) < 0x1p-27 ? x : evn_sine(evn_angle_of(x), 0);
}

EVN_DEVICE_FUNCTION double evn_cos(double x) {
    return evn_abs(x) < evn_infinity() ? evn_sine(evn_angle_of(x), 1) : evn_none();
}

EVN_DEVICE_FUNCTION double evn_tan(double x) {
    if (!(evn_abs(x) < evn_infinity())) return evn_none();
    if (evn_abs(x) < 0x1p-27) return x;
    const struct evn_angle a = evn_angle_of(x);
    const struct evn_two sine = evn_sin_near(a.rest), cosine = evn_cos_near(a.rest);
    return a.quarters & 1 ? -evn_two_div(cosine, sine).hi : evn_two_div(sine, cosine).hi;
}

/* ---- arc tangent and its kin ---- */

/* atan(k / 8) */
EVN_TABLE(double, evn_atan_hi, 9) = {
    0,
    0x1.fd5ba9aac2f6ep-4,
    0x1.f5b75f92c80ddp-3,
    0x1.6f61941e4def1p-2,
    0x1.dac670561bb4fp-2,
    0x1.1e00babdefeb4p-1,
    0x1.4978fa3269ee1p-1,
    0x1.700a7c5784634p-1,
    0x1.921fb54442d18p-1,
};
EVN_TABLE(double, evn_atan_lo, 9) = {
    0,
    -0x1.cd37686760c17p-59,
    0x1.8ab6e3cf7afbdp-57,
    -0x1.c63aae6f6e918p-56,
    0x1.a2b7f222f65e2p-56,
    -0x1.928df287a668fp-58,
    0x1.2419a87f2a458p-56,
    -0x1.8c34d25aadef6p-56,
    0x1.1a62633145c07p-55,
};

/* atan(y / x), neither negative, not both 0 */
EVN_DEVICE_FUNCTION struct evn_two evn_atan_of(struct evn_two y, struct evn_two x) {
    const int steep = y.hi > x.hi;
    const struct evn_two a = steep ? x : y, b = steep ? y : x;
    const int k = evn_nearest(8 * (a.hi / b.hi));
    const struct evn_two c = evn_two_of(0.125 * k, 0);
    const struct evn_two above = evn_two_add(a, evn_two_minus(evn_two_mul(c, b)));
    const struct evn_two t = evn_two_div(above, evn_two_add(b, evn_two_mul(c, a)));
    const double z = t.hi * t.hi;
    double p = -1 / 15.0;
    p = evn_fma(p, z, 1 / 13.0);
    p = evn_fma(p, z, -1 / 11.0);
    p = evn_fma(p, z, 1 / 9.0);
    p = evn_fma(p, z, -1 / 7.0);
    p = evn_fma(p, z, 1 / 5.0);
    p = evn_fma(p, z, -1 / 3.0);
    const struct evn_two rest = evn_two_quick(t.hi, evn_fma(t.hi * z, p, t.lo));
    const struct evn_two r = evn_two_add(evn_two_of(evn_atan_hi[k], evn_atan_lo[k]), rest);
    return steep ? evn_two_add(EVN_HALF_PI_, evn_two_minus(r)) : r;
}

EVN_DEVICE_FUNCTION double evn_atan(double x) {
    const double a = evn_abs(x);
    if (x != x || a < 0x1p-27) return x;
    const struct evn_two one = evn_two_of(1, 0);
    const double r = a > 0x1p+60 ? EVN_HALF_PI_.hi : evn_atan_of(evn_two_of(a, 0), one).hi;
    return evn_signed(r, x < 0);
}

/* sqrt(1 - a^2) */
EVN_DEVICE_FUNCTION struct evn_two evn_other_side(double a) {
    return evn_two_root(evn_two_mul(evn_two_sum(1, -a), evn_two_sum(1, a)));
}

EVN_DEVICE_FUNCTION double evn_asin(double x) {
    const double a = evn_abs(x);
    if (x != x || a < 0x1p-27) return x;
    if (a > 1) return evn_none();
    return evn_signed(evn_atan_of(evn_two_of(a, 0), evn_other_side(a)).hi, x < 0);
}

EVN_DEVICE_FUNCTION double evn_acos(double x) {
    const double a = evn_abs(x);
    if (x != x) return x;
    if (a > 1) return evn_none();
    const struct evn_two r = evn_atan_of(evn_other_side(a), evn_two_of(a, 0));
    return x < 0 ? evn_two_add(EVN_PI_, evn_two_minus(r)).hi : r.hi;
}

EVN_DEVICE_FUNCTION double evn_atan2(double y, double x) {
    double b = evn_abs(y), a = evn_abs(x);
    const int back = evn_is_minus(x);
    if (x != x || y != y) return x + y;
    if (a == evn_infinity() || b == evn_infinity()) {
        a = a == evn_infinity();
        b = b == evn_infinity();
    }
    struct evn_two r;
    if (b == 0 || a > b * 0x1p+60) {
        r = evn_two_of(b == 0 || back ? 0 : b / a, 0);
    } else if (b > a * 0x1p+60) {
        r = EVN_HALF_PI_;
    } else {
        const double by = evn_amid(a);
        r = evn_atan_of(evn_two_of(b * by, 0), evn_two_of(a * by, 0));
    }
    if (back) r = evn_two_add(EVN_PI_, evn_two_minus(r));
    return evn_signed(r.hi, evn_is_minus(y));
}

/* ---- the error function ---- */

/* |x| <= 0.5 */
EVN_DEVICE_FUNCTION struct evn_two evn_erf_near(double x) {
    const double z = x * x;
    double p = -1 / 168129561600.0;
    p = evn_fma(p, z, 1 / 11975040000.0);
    p = evn_fma(p, z, -1 / 918086400.0);
    p = evn_fma(p, z, 1 / 76204800.0);
    p = evn_fma(p, z, -1 / 6894720.0);
    p = evn_fma(p, z, 1 / 685440.0);
    p = evn_fma(p, z, -1 / 75600.0);
    p = evn_fma(p, z, 1 / 9360.0);
    p = evn_fma(p, z, -1 / 1320.0);
    p = evn_fma(p, z, 1 / 216.0);
    p = evn_fma(p, z, -1 / 42.0);
    p = evn_fma(p, z, 1 / 10.0);
    p = evn_fma(p, z, -1 / 3.0);
    const struct evn_two by = evn_two_of(0x1.20dd750429b6dp+0, 0x1.1ae3a914fed8p-56);
    const struct evn_two first = evn_two_mul(evn_two_of(x, 0), by);
    return evn_two_quick(first.hi, evn_fma(first.hi * z, p, first.lo));
}

/* erfc(x) as 2^k rest, 0.5 <= x <= 28: e^-x^2 / (1 + 2 x) times a polynomial of u, which goes from
 * -1 to 1 there, by Chebyshev's points. */
EVN_DEVICE_FUNCTION struct evn_exp evn_erfc_far(double x) {
    const double width = 0x1.4f2094f2094f2p+3, odd = 2 * x + 1;
    const struct evn_two part = evn_two_div(evn_two_of(width, 0), evn_two_sum(x, 4));
    const struct evn_two place = evn_two_sum(0x1.53c8253c8253dp+0, -part.hi);
    const double u = place.hi;
    double p = 0x1.ab0c6fb33c0fep-39;
    p = evn_fma(p, u, 0x1.69af1b804ae74p-38);
    p = evn_fma(p, u, -0x1.d503f5c1cdbc5p-35);
    p = evn_fma(p, u, -0x1.350904ad102d9p-34);
    p = evn_fma(p, u, 0x1.7bb3b9e3ac15cp-31);
    p = evn_fma(p, u, 0x1.97fe776698e75p-32);
    p = evn_fma(p, u, -0x1.28b80b16833bcp-27);
    p = evn_fma(p, u, 0x1.c37d1b3798048p-28);
    p = evn_fma(p, u, 0x1.a8fba8cbb8cd5p-24);
    p = evn_fma(p, u, -0x1.32c760d2f7b87p-22);
    p = evn_fma(p, u, -0x1.65d86f6cc0222p-21);
    p = evn_fma(p, u, 0x1.9a2ec3857624ep-18);
    p = evn_fma(p, u, -0x1.85aff99b058e2p-17);
    p = evn_fma(p, u, -0x1.9bafbbf215a05p-15);
    p = evn_fma(p, u, 0x1.dce26ce439cc5p-12);
    p = evn_fma(p, u, -0x1.ff9f0bfb91c48p-10);
    p = evn_fma(p, u, 0x1.83f4e4b35b1b9p-8);
    p = evn_fma(p, u, -0x1.c7f6d4709c446p-7);
    p = evn_fma(p, u, 0x1.a7a8889673aadp-6);
    p = evn_fma(p, u, -0x1.2c8a54706511dp-5);
    p = evn_fma(p, u, 0x1.0dd518c02030cp-5);
    p = evn_fma(p, u, 0x1.db125e5875e65p-8);
    p = evn_fma(p, u, -0x1.b611a46e0f957p-4);
    /* what u was rounded by, times the derivative, which the value gives */
    const double value = evn_fma(u, p, 0x1.3c24d628d2216p+0), by = 2 * value / odd;
    const double slope = evn_fma(odd, evn_fma(x, by, -0x1.20dd750429b6dp+0), by);
    const double low = (place.lo - part.lo) * ((x + 4) * (x + 4) / width) * slope;
    const struct evn_two first = evn_two_of(0x1.3c24d628d2216p+0, low - 0x1.31c2668acbeadp-58);
    const struct evn_two sum = evn_two_add(first, evn_two_product(u, p));
    struct evn_exp e = evn_exp_of(evn_two_minus(evn_two_product(x, x)));
    e.rest = evn_two_div(evn_two_mul(evn_exp_digits(e), sum), evn_two_sum(1, 2 * x));
    return e;
}

/* 1 - erfc(x) of x >= 0.5 */
EVN_DEVICE_FUNCTION struct evn_two evn_erf_far(double x) {
    if (x > 6.5) return evn_two_of(1, 0);
    const struct evn_exp e = evn_erfc_far(x);
    return evn_two_add(evn_two_of(1, 0), evn_two_times(e.rest, -evn_power(e.k)));
}

EVN_DEVICE_FUNCTION double evn_erf(double x) {
    const double a = evn_abs(x);
    if (x != x) return x;
    if (a < 0x1p-1000) return evn_fma(x, 0x1.06eba8214db69p-3, x);
    return evn_signed(a <= 0.5 ? evn_erf_near(a).hi : evn_erf_far(a).hi, x < 0);
}

EVN_DEVICE_FUNCTION double evn_erfc(double x) {
    if (x != x) return x;
    if (x > 28) return 0;
    const struct evn_two one = evn_two_of(1, 0);
    if (evn_abs(x) <= 0.5) return evn_two_add(one, evn_two_minus(evn_erf_near(x))).hi;
    if (x < 0) return evn_two_add(one, evn_erf_far(-x)).hi;
    const struct evn_exp e = evn_erfc_far(x);
    return evn_scaled(e.rest.hi, e.k);
}

/* ---- roots ---- */

EVN_DEVICE_FUNCTION double evn_hypot(double x, double y) {
    double a = evn_max(evn_abs(x), evn_abs(y)), b = evn_min(evn_abs(x), evn_abs(y));
    if (evn_abs(x) == evn_infinity() || evn_abs(y) == evn_infinity()) return evn_infinity();
    if (x != x || y != y) return x + y;
    if (a > b * 0x1p+60) return a;
    if (a == 0) return 0;
    const double by = evn_amid(a);
    a *= by;
    b *= by;
    return evn_two_root(evn_two_add(evn_two_product(a, a), evn_two_product(b, b))).hi / by;
}

EVN_DEVICE_FUNCTION double evn_cbrt(double x) {
    if (x == 0 || !(evn_abs(x) < evn_infinity())) return x;
    const int small = evn_abs(x) < 0x1p-1000;
    const double a = evn_abs(x) * (small ? 0x1p+60 : 1);
    const int exponent = (int)(evn_bits(a) >> 52) - 1023;
    const int third = (exponent + 3072) / 3 - 1024; /* rounded down */
    const double m = evn_scaled(a, -3 * third);     /* 1 to 8 */
    double t = evn_fma(m, 1 / 7.0, 0.92);
    for (int i = 0; i < 2; i++) {
        const double cube = t * t * t;
        t *= (cube + 2 * m) / (2 * cube + m);
    }
    const struct evn_two cube = evn_two_mul(evn_two_product(t, t), evn_two_of(t, 0));
    t -= ((cube.hi - m) + cube.lo) / (3 * t * t);
    return evn_signed(evn_scaled(t, third - (small ? 20 : 0)), x < 0);
}

#endif
