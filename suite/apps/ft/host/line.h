/* Transforms of lines, eight lines side by side.
 *
 * Complex numbers are kept in packs: the real parts of eight neighbours along x, then their
 * imaginary parts, 128 bytes. A line of packs is therefore eight lines, and its transform needs no
 * shuffles: it is the same for all lanes. The length is a power of two.
 *
 * A first pass of radix 2, 4 or 8, then radix 4: every pass works in place on a buffer that the
 * first one fills and the last one empties, which also puts the results in their natural order. So
 * a line is read once and written once, wherever its packs lie, and what is to be done with them on
 * the way costs no pass of its own.
 *
 * A butterfly takes a polynomial modulo z^2L - r^2 to the two modulo z^L - r and z^L + r, and a
 * pass does that two or three times. So the packs of a block, those of one polynomial, have their
 * roots in common, and products are fused with sums: a + r b, and a - r b = 2 a - (a + r b). In the
 * first pass r is 1 and costs nothing. Blocks lie in the order of their numbers' bits in reverse,
 * by which block b has the same roots in every pass.
 *
 * Operations: 24 for four packs, all fused, beside 8 loads and 8 stores of the buffer; 16 and 52
 * for the four and eight packs of a first pass.
 *
 * The sign of the exponent is that of e^(-2 pi i jk / n) as written. The other sign is the same
 * text with real and imaginary parts in exchanged places (LINE_PLUS).
 */
#pragma once

#include "common/simd/lanes.h"

/* doubles of a pack, and of each of its two parts */
enum { PACK = 16, PACK_PART = 8, PACK_VECS = PACK_PART / LANES };

/* Sign of the exponent: offset of the real parts within a pack; imaginary parts begin at 8 - sign.
 */
enum line_sign { LINE_MINUS = 0, LINE_PLUS = 8 };

/* Plan of the transform of lines of n packs. */
struct line {
    int n;
    int first;       /* radix of the first pass */
    int passes;      /* number of passes of radix 4 behind it */
    int last;        /* radix of the last of those; 1: there are none */
    double *twiddle; /* roots of a pass of radix 4, four doubles a block: r and r^2 */
    int *order;      /* which result the last pass's block b begins with */
};

/* 0, or -1 without memory; n is a power of two. */
int line_open(struct line *line, int n);
void line_close(struct line *line);

/* e^(-2 pi i j / n), 0 <= j < n */
void line_root(int j, int n, double root[2]);

struct cnum {
    vec re, im;
};

INLINE struct cnum cnum_add(struct cnum a, struct cnum b) {
    return (struct cnum){a.re + b.re, a.im + b.im};
}
INLINE struct cnum cnum_sub(struct cnum a, struct cnum b) {
    return (struct cnum){a.re - b.re, a.im - b.im};
}
/* Vector h of a pack. */
INLINE struct cnum pack_load(const double *pack, int h, enum line_sign sign) {
    return (struct cnum){vec_kept(vec_load(pack + sign + h * LANES)),
                         vec_kept(vec_load(pack + (8 - sign) + h * LANES))};
}
INLINE void pack_store(double *pack, int h, enum line_sign sign, struct cnum a) {
    vec_store(pack + sign + h * LANES, a.re);
    vec_store(pack + (8 - sign) + h * LANES, a.im);
}
INLINE void pack_stream(double *pack, int h, enum line_sign sign, struct cnum a) {
    vec_stream(pack + sign + h * LANES, a.re);
    vec_stream(pack + (8 - sign) + h * LANES, a.im);
}

/* a + w b and a - w b; w == NULL is 1; turned: -i w in place of w */
INLINE void cnum_pair(struct cnum *a, struct cnum *b, const struct cnum *w, int turned) {
    const struct cnum t = turned ? (struct cnum){b->im, -b->re} : *b;
    if (!w) {
        *b = cnum_sub(*a, t);
        *a = cnum_add(*a, t);
        return;
    }
    const struct cnum s = {a->re + w->re * t.re - w->im * t.im,
                           a->im + w->re * t.im + w->im * t.re};
    *b = (struct cnum){vec_set(2) * a->re - s.re, vec_set(2) * a->im - s.im};
    *a = s;
}

/* sums over p of a[p] r^p e^(-2 pi i pq / 4), of q = 0, 2, 1, 3; with r2 = r^2, turned: -i r2 = r^2
 */
INLINE void butterfly4(struct cnum a[4], const struct cnum *r, const struct cnum *r2, int turned) {
    cnum_pair(&a[0], &a[2], r2, turned);
    cnum_pair(&a[1], &a[3], r2, turned);
    cnum_pair(&a[0], &a[1], r, 0);
    cnum_pair(&a[2], &a[3], r, 1);
}

/* r, r^2, r^4, and r e^(-2 pi i / 8) */
struct roots8 {
    const struct cnum *r, *r2, *r4, *eighth;
};

/* Sums over p of a[p] r^p e^(-2 pi i pq / 8): the first step, of a[p] and a[p+4], p < 4; then a
 * half, of even or odd q: 0, 4, 2, 6 or 1, 5, 3, 7. Callers store it before the other one, since 16
 * registers hold no more. */
INLINE void butterfly8_first(struct cnum a[8], int p, struct roots8 r) {
    cnum_pair(&a[p], &a[p + 4], r.r4, 0);
}
INLINE void butterfly8_half(struct cnum a[8], int odd, struct roots8 r) {
    butterfly4(a + 4 * odd, odd ? r.eighth : r.r, r.r2, odd);
}

/* Source of a line's packs: pack j is at `at` + j*stride doubles, multiplied by
 * factor[j]*scale[lane] unless factor is NULL. */
struct line_from {
    const double *at;
    ptrdiff_t stride;
    const double *factor;
    const double *scale;
};

/* Products are kept from being fused with the sums behind them: of two products in a sum the
 * compiler would choose one, and not the same one in a kernel. */
INLINE struct cnum line_load(struct line_from from, ptrdiff_t j, int h, enum line_sign sign) {
    const struct cnum a = pack_load(from.at + j * from.stride, h, sign);
    if (!from.factor) return a;
    const vec f = vec_load(from.scale + h * LANES) * from.factor[j];
    return (struct cnum){vec_kept(a.re * f), vec_kept(a.im * f)};
}

/* Packs j + p n/8 of a first pass of radix 8. */
INLINE void line_first8(struct line_from from, ptrdiff_t step, double *to, int h,
                        enum line_sign sign) {
    const struct cnum eighth = {vec_set(0.70710678118654752440), vec_set(-0.70710678118654752440)};
    struct cnum a[8];
    for (int p = 0; p < 4; p++) {
        a[p] = line_load(from, p * step, h, sign);
        a[p + 4] = line_load(from, (p + 4) * step, h, sign);
        butterfly8_first(a, p, (struct roots8){.eighth = &eighth});
    }
    butterfly8_half(a, 0, (struct roots8){.eighth = &eighth});
    for (int p = 0; p < 4; p++) pack_store(to + p * step * PACK, h, sign, a[p]);
    butterfly8_half(a, 1, (struct roots8){.eighth = &eighth});
    for (int p = 4; p < 8; p++) pack_store(to + p * step * PACK, h, sign, a[p]);
}

/* The first pass, from memory into the buffer. */
INLINE void line_first(const struct line *line, struct line_from from, double *buffer,
                       enum line_sign sign, int radix) {
    const ptrdiff_t step = line->n / radix;
    for (double *to = buffer; to < buffer + step * PACK; to += PACK) {
#pragma GCC unroll 4
        for (int h = 0; h < PACK_VECS; h++) {
            struct cnum a[4];
            if (radix == 8) line_first8(from, step, to, h, sign);
            for (int p = 0; p < radix && radix < 8; p++) a[p] = line_load(from, p * step, h, sign);
            if (radix == 4) butterfly4(a, NULL, NULL, 0);
            if (radix == 2) cnum_pair(&a[0], &a[1], NULL, 0);
            for (int p = 0; p < radix && radix < 8; p++)
                pack_store(to + p * step * PACK, h, sign, a[p]);
        }
        from.at += from.stride;
        if (from.factor) from.factor++;
    }
}
INLINE void line_fill(const struct line *line, struct line_from from, double *buffer,
                      enum line_sign sign) {
    if (line->first == 8)
        line_first(line, from, buffer, sign, 8);
    else if (line->first == 4)
        line_first(line, from, buffer, sign, 4);
    else if (line->first == 2)
        line_first(line, from, buffer, sign, 2);
    else
        line_first(line, from, buffer, sign, 1);
}

/* Root i of a block, of all lanes. */
INLINE struct cnum line_root_at(const double *twiddle, int i) {
    return (struct cnum){vec_set(twiddle[2 * i]), vec_set(twiddle[2 * i + 1])};
}

/* The passes between the first and the last. */
INLINE void line_middle(const struct line *line, double *buffer, enum line_sign sign) {
    ptrdiff_t apart = (ptrdiff_t)line->n / line->first / 4 * PACK;
    for (int pass = 1; pass < line->passes; pass++, apart /= 4) {
        const double *twiddle = line->twiddle;
        for (double *block = buffer; block < buffer + (ptrdiff_t)line->n * PACK;
             block += 4 * apart, twiddle += 4) {
            const struct cnum r = line_root_at(twiddle, 0), r2 = line_root_at(twiddle, 1);
            for (double *at = block; at < block + apart; at += PACK)
                for (int h = 0; h < PACK_VECS; h++) {
                    struct cnum a[4];
                    for (int p = 0; p < 4; p++) a[p] = pack_load(at + p * apart, h, sign);
                    butterfly4(a, &r, &r2, 0);
                    for (int p = 0; p < 4; p++) pack_store(at + p * apart, h, sign, a[p]);
                }
        }
    }
}

/* Target of its results. */
struct line_to {
    double *at; /* result k goes to at + k*stride doubles */
    ptrdiff_t stride;
    double *const *plane; /* not NULL: result k goes to plane[k] + stride instead */
    int past;             /* 1: written past the caches, since they are read much later */
    const double *soon;   /* as many packs, contiguous, that are read next: fetched meanwhile, so
                             that the memory has something to do in the passes within the buffer,
                             too; NULL: nothing */
};

/* One block of the last pass. */
INLINE void line_block(const struct line *line, double *buffer, struct line_to to, int b,
                       enum line_sign sign, int radix) {
    const int blocks = line->n / radix, k = line->order[b];
    const double *twiddle = line->twiddle + 4 * b;
    const struct cnum r = line_root_at(twiddle, 0), r2 = line_root_at(twiddle, 1);
    double *pack[4];
    for (int p = 0; p < radix; p++) {
        const int q = p >> 1 | (p & 1) * 2;
        pack[p] = to.plane ? to.plane[k + q * blocks] + to.stride
                           : to.at + k * to.stride + q * (blocks * to.stride);
    }
    buffer += (ptrdiff_t)b * radix * PACK;
    const int parts = to.past && PACK_VECS > 1; /* vectors are parts of lines */
#pragma GCC unroll 4
    for (int h = 0; h < PACK_VECS; h++) {
        struct cnum a[4];
        for (int p = 0; p < radix; p++) a[p] = pack_load(buffer + p * PACK, h, sign);
        if (radix == 4) butterfly4(a, &r, &r2, 0);
        for (int p = 0; p < radix; p++)
            if (to.past && !parts)
                pack_stream(pack[p], h, sign, a[p]);
            else
                pack_store(parts ? buffer + p * PACK : pack[p], h, sign, a[p]);
    }
    /* A line past the caches whole: Ice Lake takes four times as long where its parts come with
     * those of others between them. */
    for (int p = 0; p < radix && parts; p++)
        for (int i = 0; i < PACK; i += LANES)
            vec_stream(pack[p] + i, vec_load(buffer + p * PACK + i));
}

/* The last pass, from the buffers of `count` neighbouring lines, whose results are neighbours. */
INLINE void line_empty(const struct line *line, double *buffer, int count, struct line_to to,
                       enum line_sign sign, int radix) {
    for (int b = 0; b < line->n / radix; b++) {
        struct line_to at = to;
        for (int i = 0; i < count; i++) {
            const double *soon = to.soon + ((ptrdiff_t)i * line->n + b * radix) * PACK;
            for (int k = 0; to.soon && k < 2 * radix; k++) __builtin_prefetch(soon + k * PACK_PART);
            line_block(line, buffer + (ptrdiff_t)i * line->n * PACK, at, b, sign, radix);
            if (at.plane)
                at.stride += PACK;
            else
                at.at += PACK;
        }
    }
}

/* All but the last pass of a line; `buffer` has line->n packs. */
INLINE void line_begin(const struct line *line, struct line_from from, double *buffer,
                       enum line_sign sign) {
    line_fill(line, from, buffer, sign);
    line_middle(line, buffer, sign);
}

/* The last pass of `count` lines, whose buffers lie one behind the other. */
INLINE void line_end(const struct line *line, double *buffer, int count, struct line_to to,
                     enum line_sign sign) {
    if (line->last == 4)
        line_empty(line, buffer, count, to, sign, 4);
    else
        line_empty(line, buffer, count, to, sign, 1);
}

/* Transforms a line. Results may go where the line comes from. */
INLINE void line_transform(const struct line *line, struct line_from from, double *buffer,
                           struct line_to to, enum line_sign sign) {
    line_begin(line, from, buffer, sign);
    line_end(line, buffer, 1, to, sign);
}
