/* Transforms of lines, eight lines side by side.
 *
 * Complex numbers are kept in packs: the real parts of eight neighbours along x, then their
 * imaginary parts, 128 bytes. A line of packs is therefore eight lines, and its transform needs no
 * shuffles: it is the same for all lanes. The length is a power of two.
 *
 * Decimation in frequency, radix 4, with a last pass of radix 2, 4 or 8: every pass works in place
 * on a buffer that the first one fills and the last one empties, which also puts the results in
 * their natural order. So a line is read once and written once, wherever its packs lie, and what is
 * to be done with them on the way costs no pass of its own.
 *
 * Operations a point and pass of radix 4: 16 additions, 6 multiplications and 6 fused ones for four
 * points, beside 8 loads and 8 stores of the buffer.
 *
 * The sign of the exponent is that of e^(-2 pi i jk / n) as written. The other sign is the same
 * text with real and imaginary parts in exchanged places (LINE_PLUS).
 */
#ifndef FT_LINE_H
#define FT_LINE_H

#include "common/simd/lanes.h"

/* doubles of a pack, and of each of its two parts */
enum { PACK = 16, PACK_PART = 8, PACK_VECS = PACK_PART / LANES };

/* Sign of the exponent: offset of the real parts within a pack; imaginary parts begin at 8 - sign.
 */
enum line_sign { LINE_MINUS = 0, LINE_PLUS = 8 };

/* Plan of the transform of lines of n packs. */
struct line {
    int n;
    int passes;      /* number of passes of radix 4 with twiddle factors, before the last one */
    int last;        /* radix of the last pass; 1: n is 1 */
    double *twiddle; /* factors of each pass, one after another, for j < length/4: w^j, w^2j, w^3j
                        of that pass's length, real and imaginary parts */
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
/* -i a */
INLINE struct cnum cnum_turn(struct cnum a) { return (struct cnum){a.im, -a.re}; }
INLINE struct cnum cnum_times(struct cnum a, vec re, vec im) {
    return (struct cnum){a.re * re - a.im * im, a.re * im + a.im * re};
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

/* a[q] = sum over p of a[p] e^(-2 pi i pq / 4) */
INLINE void transform4(struct cnum a[4]) {
    const struct cnum s = cnum_add(a[0], a[2]), d = cnum_sub(a[0], a[2]);
    const struct cnum t = cnum_add(a[1], a[3]), e = cnum_turn(cnum_sub(a[1], a[3]));
    a[0] = cnum_add(s, t);
    a[1] = cnum_add(d, e);
    a[2] = cnum_sub(s, t);
    a[3] = cnum_sub(d, e);
}

/* the transform of eight numbers */
INLINE void transform8(struct cnum a[8]) {
    const vec half = vec_set(0.70710678118654752440);
    struct cnum even[4], odd[4];
    for (int p = 0; p < 4; p++) {
        even[p] = cnum_add(a[p], a[p + 4]);
        odd[p] = cnum_sub(a[p], a[p + 4]);
    }
    odd[1] = (struct cnum){half * (odd[1].re + odd[1].im), half * (odd[1].im - odd[1].re)};
    odd[2] = cnum_turn(odd[2]);
    odd[3] = (struct cnum){half * (odd[3].im - odd[3].re), -half * (odd[3].re + odd[3].im)};
    transform4(even);
    transform4(odd);
    for (int q = 0; q < 4; q++) {
        a[2 * q] = even[q];
        a[2 * q + 1] = odd[q];
    }
}

/* Source of a line's packs: pack j is at `at` + j*stride doubles, multiplied by
 * factor[j]*scale[lane] unless factor is NULL. */
struct line_from {
    const double *at;
    ptrdiff_t stride;
    const double *factor;
    const double *scale;
};

INLINE struct cnum line_load(struct line_from from, int j, int h, enum line_sign sign) {
    const struct cnum a = pack_load(from.at + j * from.stride, h, sign);
    if (!from.factor) return a;
    const vec f = vec_load(from.scale + h * LANES) * from.factor[j];
    return (struct cnum){a.re * f, a.im * f};
}

/* Four points of a pass, `step` packs apart, multiplied by their twiddle factors behind it. */
INLINE void line_twiddle(struct cnum a[4], const double *w) {
    transform4(a);
    for (int q = 1; q < 4; q++)
        a[q] = cnum_times(a[q], vec_set(w[2 * q - 2]), vec_set(w[2 * q - 1]));
}

/* The first pass, from memory into the buffer. */
INLINE void line_fill(const struct line *line, struct line_from from, double *buffer,
                      enum line_sign sign) {
    const int step = line->n / 4;
    if (!line->passes) {
        for (int j = 0; j < line->n; j++)
            for (int h = 0; h < PACK_VECS; h++)
                pack_store(buffer + j * PACK, h, sign, line_load(from, j, h, sign));
        return;
    }
    for (int j = 0; j < step; j++)
        for (int h = 0; h < PACK_VECS; h++) {
            struct cnum a[4];
            for (int p = 0; p < 4; p++) a[p] = line_load(from, j + p * step, h, sign);
            line_twiddle(a, line->twiddle + 6 * j);
            for (int p = 0; p < 4; p++)
                pack_store(buffer + (ptrdiff_t)(j + p * step) * PACK, h, sign, a[p]);
        }
}

/* The passes between the first and the last. */
INLINE void line_middle(const struct line *line, double *buffer, enum line_sign sign) {
    const double *w = line->twiddle + 6 * (line->n / 4);
    for (int pass = 1, length = line->n / 4; pass < line->passes; pass++, length /= 4) {
        const int step = length / 4;
        for (double *block = buffer; block < buffer + (ptrdiff_t)line->n * PACK;
             block += (ptrdiff_t)length * PACK)
            for (int j = 0; j < step; j++)
                for (int h = 0; h < PACK_VECS; h++) {
                    double *at = block + (ptrdiff_t)j * PACK;
                    struct cnum a[4];
                    for (int p = 0; p < 4; p++)
                        a[p] = pack_load(at + (ptrdiff_t)p * step * PACK, h, sign);
                    line_twiddle(a, w + 6 * j);
                    for (int p = 0; p < 4; p++)
                        pack_store(at + (ptrdiff_t)p * step * PACK, h, sign, a[p]);
                }
        w += 6 * step;
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

INLINE void line_store(struct line_to to, int k, int h, enum line_sign sign, struct cnum a) {
    double *pack = to.plane ? to.plane[k] + to.stride : to.at + k * to.stride;
    if (to.past)
        pack_stream(pack, h, sign, a);
    else
        pack_store(pack, h, sign, a);
}

/* One block of the last pass. */
INLINE void line_block(const struct line *line, const double *buffer, struct line_to to, int b,
                       enum line_sign sign, int radix) {
    const int blocks = line->n / radix;
    for (int h = 0; h < PACK_VECS; h++) {
        struct cnum a[8];
        for (int p = 0; p < radix; p++)
            a[p] = pack_load(buffer + ((ptrdiff_t)b * radix + p) * PACK, h, sign);
        if (radix == 8) transform8(a);
        if (radix == 4) transform4(a);
        if (radix == 2) {
            const struct cnum d = cnum_sub(a[0], a[1]);
            a[0] = cnum_add(a[0], a[1]);
            a[1] = d;
        }
        for (int q = 0; q < radix; q++) line_store(to, line->order[b] + q * blocks, h, sign, a[q]);
    }
}

/* The last pass, from the buffers of `count` neighbouring lines, whose results are neighbours. */
INLINE void line_empty(const struct line *line, const double *buffer, int count, struct line_to to,
                       enum line_sign sign, int radix) {
    for (int b = 0; b < line->n / radix; b++) {
        struct line_to at = to;
        for (int i = 0; i < count; i++) {
            for (int k = 0; to.soon && k < 2 * radix; k++)
                __builtin_prefetch(to.soon + ((ptrdiff_t)i * line->n + b * radix) * PACK +
                                   k * PACK_PART);
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
INLINE void line_end(const struct line *line, const double *buffer, int count, struct line_to to,
                     enum line_sign sign) {
    if (line->last == 8)
        line_empty(line, buffer, count, to, sign, 8);
    else if (line->last == 4)
        line_empty(line, buffer, count, to, sign, 4);
    else if (line->last == 2)
        line_empty(line, buffer, count, to, sign, 2);
    else
        line_empty(line, buffer, count, to, sign, 1);
}

/* Transforms a line. Results may go where the line comes from. */
INLINE void line_transform(const struct line *line, struct line_from from, double *buffer,
                           struct line_to to, enum line_sign sign) {
    line_begin(line, from, buffer, sign);
    line_end(line, buffer, 1, to, sign);
}

#endif
