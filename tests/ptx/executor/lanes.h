/* What translated kernels need of C: loops over lanes, branches, and PTX's arithmetic where C's
 * differs. */
#pragma once

#include "kernel.h"
#include <math.h>

static const struct executor *ex;

#define LANE(m)                                                                                    \
    for (u32 l = 0, m_ = (m); l < LANES; l++)                                                      \
        if (m_ >> l & 1)
#define RUNS(b) (w->block_runs[b]++, w->block_lanes[b] += (u64)__builtin_popcount(m))

/* Lanes of condition c go to block t, the others to f, and all meet at r. */
#define BRANCH(c, t, f, r, b)                                                                      \
    do {                                                                                           \
        const u32 yes_ = (c)&m, no_ = m & ~yes_;                                                   \
        if (!no_)                                                                                  \
            e->at = t;                                                                             \
        else if (!yes_)                                                                            \
            e->at = f;                                                                             \
        else {                                                                                     \
            w->diverged[b]++;                                                                      \
            if (e->join == r && w->depth > 0)                                                      \
                w->depth--;                                                                        \
            else {                                                                                 \
                e->at = r;                                                                         \
                e->mask = m;                                                                       \
            }                                                                                      \
            w->stack[++w->depth] = (struct entry){f, r, no_};                                      \
            w->stack[++w->depth] = (struct entry){t, r, yes_};                                     \
        }                                                                                          \
    } while (0)

#define BITS(name, to, from)                                                                       \
    static inline to name(from x) {                                                                \
        to y;                                                                                      \
        __builtin_memcpy(&y, &x, sizeof y);                                                        \
        return y;                                                                                  \
    }
BITS(double_of, double, u64)
BITS(float_of, float, u32)
BITS(bits_of_double, u64, double)
BITS(bits_of_float, u32, float)

/* conversions saturate, and NaN is 0 */
#define SATURATED(t, low, high)                                                                    \
    static inline t saturated_##t(double x) {                                                      \
        return x != x ? (t)0 : x <= (double)(low) ? (low) : x >= (double)(high) ? (high) : (t)x;   \
    }
SATURATED(s32, INT32_MIN, INT32_MAX)
SATURATED(u32, 0, UINT32_MAX)
SATURATED(s64, INT64_MIN, INT64_MAX)
SATURATED(u64, 0, UINT64_MAX)

/* division by 0 does not trap */
#define DIVISION_SIGNED(t, unsigned_t)                                                             \
    static inline unsigned_t div_##t(t a, t b) {                                                   \
        return b == 0       ? (unsigned_t)-1                                                       \
               : b == (t)-1 ? (unsigned_t)(0 - (unsigned_t)a)                                      \
                            : (unsigned_t)(a / b);                                                 \
    }                                                                                              \
    static inline unsigned_t rem_##t(t a, t b) {                                                   \
        return b == 0 ? (unsigned_t)a : b == (t)-1 ? 0 : (unsigned_t)(a % b);                      \
    }
DIVISION_SIGNED(s16, u16)
DIVISION_SIGNED(s32, u32)
DIVISION_SIGNED(s64, u64)
#define DIVISION(t)                                                                                \
    static inline t div_##t(t a, t b) { return b == 0 ? (t)-1 : a / b; }                           \
    static inline t rem_##t(t a, t b) { return b == 0 ? a : a % b; }
DIVISION(u16)
DIVISION(u32)
DIVISION(u64)

/* bit fields: c is where one begins, d how many bits it has */
#define FIELD(bits, t)                                                                             \
    static inline t field_mask_##bits(u32 c, u32 d) {                                              \
        return (d > (bits)-1 ? ~(t)0 : ((t)1 << d) - 1) << c;                                      \
    }                                                                                              \
    static inline t bfi_##bits(t a, t b, u32 c, u32 d) {                                           \
        c &= 255, d &= 255;                                                                        \
        if (c > (bits)-1 || !d) return b;                                                          \
        return (b & ~field_mask_##bits(c, d)) | (a << c & field_mask_##bits(c, d));                \
    }                                                                                              \
    static inline t bfe_##bits(t a, u32 c, u32 d) {                                                \
        c &= 255, d &= 255;                                                                        \
        return c > (bits)-1 || !d ? 0 : a >> c & field_mask_##bits(0, d);                          \
    }
/* a signed field, whose last bit in the word is its sign */
#define FIELD_SIGNED(bits, t, signed_t)                                                            \
    static inline t bfe_signed_##bits(t a, u32 c, u32 d) {                                         \
        c &= 255, d &= 255;                                                                        \
        if (!d) return 0;                                                                          \
        if (c > (bits)-1) return (t)((signed_t)a >> ((bits)-1));                                   \
        const u32 last = c + d - 1 > (bits)-1 ? (bits)-1 : c + d - 1;                              \
        return (t)((signed_t)(a << ((bits)-1 - last)) >> ((bits)-1 - last + c));                   \
    }
FIELD_SIGNED(32, u32, s32)
FIELD_SIGNED(64, u64, s64)
FIELD(32, u32)
FIELD(64, u64)

static inline u32 prmt(u32 a, u32 b, u32 selectors) {
    const u64 all = (u64)b << 32 | a;
    u32 d = 0;
    for (int i = 0; i < 4; i++) {
        const u32 n = selectors >> 4 * i & 15;
        u32 x = (u32)(all >> 8 * (n & 7)) & 255;
        if (n & 8) x = x & 128 ? 255 : 0; /* its sign */
        d |= x << 8 * i;
    }
    return d;
}

static inline u32 shf(int is_left, int is_wrapped, u32 a, u32 b, u32 c) {
    const u32 n = is_wrapped ? c & 31 : c > 32 ? 32 : c;
    const u64 all = (u64)b << 32 | a;
    return is_left ? (u32)(all << n >> 32) : (u32)(all >> n);
}

static inline u32 redux_u32(u32 m, char how, const u32 *x) {
    u32 r = 0;
    int is_first = 1;
    LANE(m) {
        if (is_first)
            r = x[l];
        else
            r = how == '+'   ? r + x[l]
                : how == '&' ? (r & x[l])
                : how == '|' ? (r | x[l])
                             : r ^ x[l];
        is_first = 0;
    }
    return r;
}
