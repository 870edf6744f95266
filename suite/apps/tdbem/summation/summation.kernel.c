/* The summation stage on a device: the sums of blocks of slices, what summation.c computes and in
 * its order: for each row and step the slices one after another, in each the values from the first
 * on.
 *
 * Given: REAL, and STEPS, the steps of a group rounded up to a power of two. An item has some steps
 * of one row: it reads a value once and keeps a window of the past in registers, which moves on by
 * one element a value. No two items add to one sum, so nothing is reduced but what the host reduces
 * too, the blocks.
 *
 * - contiguous: an item has a row and all its steps (up to 16), and the sums stay in registers
 * while the slices pass by. Neighbouring items read neighbouring values. Nothing is shared.
 * - strips: the same, but a strip's row-vectors are as long as the longest of them in each slice,
 *   and come in an order of their own.
 * - rows, full: rows come in another order in every slice, so a group has a tile of rows and the
 *   sums are in device memory, where they stay in caches; all items have come to the same slice.
 *   STEPS / 4 items, neighbours, read the same value, and `bundle` of these neighbouring ones.
 *
 * Cost of a row-vector of d values of w bytes (spec.: Bramas, Coulaud, Sylvand 2015, section 4): 2
 * d STEPS operations. From device memory d w bytes of values, and of what describes them 2 bytes
 * (contiguous), 2 + 8/bundle (rows), 8/rows of a block (full); so 2 d STEPS / (d w + 2) operations
 * a byte: 3.8 at d = 10, STEPS = 16 in double, 7.2 in float. From caches (d + STEPS) w bytes of the
 * past, and for rows and full 2 STEPS w bytes of sums. A block's sums, rows x STEPS, are written to
 * device memory once, and neighbouring blocks' are added up there: a few of them come home.
 */
#include "tdbem/summation/summation.kernel.h"

#if STEPS < 4
#    define FEW STEPS
#else
#    define FEW 4
#endif
#if STEPS < SUM_STEPS
#    define MANY STEPS
#else
#    define MANY SUM_STEPS
#endif
#define ITEMS 256

#if EVN_ON_DEVICE
#    define UNROLL      _Pragma("unroll")
#    define FEW_AT_ONCE _Pragma("unroll 2")
#else
#    define UNROLL
#    define FEW_AT_ONCE
#endif

#if STEPS > 1

/* name(acc, v, stride, length, x): adds value l, v[l * stride], times x[g - l] to acc[g], l = 0 ..
 * length-1, for g = 0 .. n-1. The window of the past is w[3 - k ..] for the k-th of four values,
 * and moves by four after them. */
#    define VALUE(n, k)                                                                            \
        {                                                                                          \
            const REAL m = v[(evn_long)(l + (k)) * stride];                                        \
            w[3 - (k)] = x[-(l + (k))];                                                            \
            UNROLL for (int g = 0; g < (n); g++) acc[g] += m * w[3 - (k) + g];                     \
        }
#    define ROW_VECTOR(name, n)                                                                    \
        EVN_DEVICE_FUNCTION void name(REAL *acc, EVN_GLOBAL const REAL *v, int stride, int length, \
                                      EVN_GLOBAL const REAL *x) {                                  \
            REAL w[(n) + 3];                                                                       \
            int l = 0;                                                                             \
            UNROLL for (int g = 1; g < (n); g++) w[3 + g] = x[g];                                  \
            for (; l + 4 <= length; l += 4) {                                                      \
                VALUE(n, 0)                                                                        \
                VALUE(n, 1)                                                                        \
                VALUE(n, 2)                                                                        \
                VALUE(n, 3)                                                                        \
                UNROLL for (int g = (n)-2; g >= 0; g--) w[g + 4] = w[g];                           \
            }                                                                                      \
            if (l < length) {                                                                      \
                VALUE(n, 0)                                                                        \
                if (l + 1 < length) {                                                              \
                    VALUE(n, 1)                                                                    \
                    if (l + 2 < length) VALUE(n, 2)                                                \
                }                                                                                  \
            }                                                                                      \
        }
ROW_VECTOR(row_vector, FEW)
#    if MANY != FEW
ROW_VECTOR(row_vector_many, MANY)
#    else
#        define row_vector_many row_vector
#    endif

#else

/* Nothing is kept between rows, since compilers for 8.0 would rather spill than take a 41st
 * register. */
EVN_DEVICE_FUNCTION void row_vector(REAL *acc, EVN_GLOBAL const REAL *v, int stride, int length,
                                    EVN_GLOBAL const REAL *x) {
    REAL a = acc[0];
    FEW_AT_ONCE for (int l = 0; l < length; l++) a += v[(evn_long)l * stride] * x[-l];
    acc[0] = a;
}
#    define row_vector_many row_vector

#endif

/* One row-vector into FEW sums of its row. */
EVN_DEVICE_FUNCTION void add_row(EVN_GLOBAL REAL *sum, int carries, EVN_GLOBAL const REAL *v,
                                 int stride, int length, EVN_GLOBAL const REAL *x) {
    REAL acc[FEW];
    UNROLL for (int g = 0; g < FEW; g++) acc[g] = carries ? sum[g] : 0;
    row_vector(acc, v, stride, length, x);
    UNROLL for (int g = 0; g < FEW; g++) sum[g] = carries ? acc[g] : sum[g] + acc[g];
}

/* A group's tile from its number, in macros since a function would change which products are fused:
 * its entry of the batch's list; `height` rows of that block, `from` one on, are its tile. Groups:
 * of a block as many as tiles. */
#define TILE_OF_GROUP                                                                              \
    const int b = EVN_GROUP / a.tiles, tile = EVN_GROUP - b * a.tiles, entry = a.entry + b;        \
    const int from = tile * a.tile, height = evn_imin(a.tile, a.rows - from);                      \
    const evn_long sum = block[entry].slot * a.sums + (evn_long)from * STEPS, at = block[entry].at

/* A group of SUM_ROWS rows of the block, `from` one on, and MANY steps, from q * MANY on. Groups:
 * of a block ceil(rows / SUM_ROWS) times STEPS / MANY. */
#define CHUNK_OF_GROUP                                                                             \
    const int q = EVN_GROUP % (STEPS / MANY), chunk = EVN_GROUP / (STEPS / MANY);                  \
    const int chunks = (a.rows + SUM_ROWS - 1) / SUM_ROWS;                                         \
    const int b = chunk / chunks, entry = a.entry + b, from = (chunk - b * chunks) * SUM_ROWS

EVN_KERNEL(sum_rows, ITEMS,
           (EVN_IN(REAL, value), EVN_IN(unsigned short, meta), EVN_IN(unsigned, words),
            EVN_IN(REAL, past), EVN_IN(struct sum_part, part), EVN_IN(struct sum_block, block),
            EVN_BUFFER(REAL, sums), EVN_VALUE(struct sum_shape, a))) {
    TILE_OF_GROUP;
    const evn_long values = at / (evn_long)sizeof(REAL), metas = at / 2, wheres = at / 4;
    EVN_SHARE(e, height * STEPS) { sums[sum + e] = 0; }
    EVN_BARRIER;
    for (int j = block[entry].first; j < block[entry].end; j++) {
        const evn_long p = (evn_long)tile * a.columns + j;
        const evn_long now = (j - a.first) * a.stride + a.now;
        const evn_long v = values + part[p].value, m = metas + part[p].meta;
        const evn_long begin = wheres + part[p].where;
        EVN_SHARE(e, (int)part[p].count * a.bundle * (STEPS / FEW)) {
            const int q = e % (STEPS / FEW), in = e / (STEPS / FEW);
            const int n = in >> a.shift, r = in & (a.bundle - 1);
            const evn_long described = m + (evn_long)n * (2 + a.bundle);
            const int row = meta[described + 2 + r];
            if (row < height)
                add_row(sums + (sum + (evn_long)row * STEPS + q * FEW), a.carries,
                        value + (v + (evn_long)words[begin + n] * a.bundle + r), a.bundle,
                        meta[described + 1], past + (now - meta[described] + q * FEW));
        }
        EVN_BARRIER;
    }
}

/* A block's rows overlap those of the next one where that has begun before its end; they are zeros
 * in there, and left out. */
EVN_KERNEL(sum_full, ITEMS,
           (EVN_IN(REAL, value), EVN_IN(unsigned, words), EVN_IN(REAL, past),
            EVN_IN(struct sum_part, part), EVN_IN(struct sum_block, block), EVN_BUFFER(REAL, sums),
            EVN_VALUE(struct sum_shape, a))) {
    TILE_OF_GROUP;
    const evn_long values = at / (evn_long)sizeof(REAL), metas = at / 4;
    EVN_SHARE(e, height * STEPS) { sums[sum + e] = 0; }
    EVN_BARRIER;
    for (int j = block[entry].first; j < block[entry].end; j++) {
        const evn_long p = (evn_long)tile * a.columns + j;
        const evn_long now = (j - a.first) * a.stride + a.now;
        const evn_long v = values + part[p].value, m = metas + part[p].meta;
        const int count = (int)part[p].count;
        EVN_SHARE(e, count * a.tall * (STEPS / FEW)) {
            const int q = e % (STEPS / FEW), in = e / (STEPS / FEW);
            const int n = in / a.tall, r = in - n * a.tall, row = (int)words[m + 2 * n] + r;
            const int end = n + 1 < count ? (int)words[m + 2 * n + 2] : height;
            if (row < end)
                add_row(sums + (sum + (evn_long)row * STEPS + q * FEW), a.carries,
                        value + (v + (evn_long)n * a.tall * a.length + r), a.tall, a.length,
                        past + (now - (int)(words[m + 2 * n + 1] & 0xffff) + q * FEW));
        }
        EVN_BARRIER;
    }
}

EVN_KERNEL(sum_contiguous, SUM_ROWS,
           (EVN_IN(REAL, value), EVN_IN(unsigned short, meta), EVN_IN(REAL, past),
            EVN_IN(struct sum_part, part), EVN_IN(struct sum_block, block), EVN_BUFFER(REAL, sums),
            EVN_VALUE(struct sum_shape, a))) {
    CHUNK_OF_GROUP;
    const evn_long at = block[entry].at, values = at / (evn_long)sizeof(REAL), metas = at / 2;
    EVN_ITEMS(i) {
        const int row = from + i;
        if (row < a.rows) {
            REAL total[MANY], acc[MANY];
            UNROLL for (int g = 0; g < MANY; g++) total[g] = 0;
            for (int j = block[entry].first; j < block[entry].end; j++) {
                const evn_long now = (j - a.first) * a.stride + a.now;
                UNROLL for (int g = 0; g < MANY; g++) acc[g] = 0;
                row_vector_many(acc, value + (values + part[j].value + row), a.rows, a.length,
                                past + (now - meta[metas + part[j].meta + row] + q * MANY));
                UNROLL for (int g = 0; g < MANY; g++) total[g] += acc[g];
            }
            const evn_long sum = block[entry].slot * a.sums + (evn_long)row * STEPS + q * MANY;
            UNROLL for (int g = 0; g < MANY; g++) sums[sum + g] = total[g];
        }
    }
}

/* A bundle is described by its slice, latest start, length (and BUNDLE_FAR, see
 * layout.h), and a byte for each row: by how many steps it begins earlier.
 * Bundles rotate among SETS sets of sums, as on the host. */
#if STEPS < 8
#    define SETS (8 / STEPS)
#else
#    define SETS 1
#endif
EVN_KERNEL(sum_strips, SUM_ROWS,
           (EVN_IN(REAL, value), EVN_IN(unsigned short, meta), EVN_IN(REAL, past),
            EVN_IN(struct sum_part, part), EVN_IN(struct sum_block, block), EVN_BUFFER(REAL, sums),
            EVN_VALUE(struct sum_shape, a))) {
    CHUNK_OF_GROUP;
    const evn_long at = block[entry].at, parts = (evn_long)block[entry].number * a.strips;
    const evn_long begin = (block[entry].first - a.first) * a.stride + a.now + q * MANY;
    EVN_ITEMS(i) {
        const int row = from + i;
        if (row < a.rows) {
            const evn_long p = parts + (row >> a.shift);
            const int r = row & (a.bundle - 1);
            evn_long v = at / (evn_long)sizeof(REAL) + part[p].value + r;
            evn_long m = at / 2 + part[p].meta;
            REAL total[SETS][MANY], acc[MANY];
            UNROLL for (int s = 0; s < SETS; s++) UNROLL for (int g = 0; g < MANY; g++)
                total[s][g] = 0;
            for (int n = 0; n < (int)part[p].count; n++) {
                const int length = meta[m + 2] & 255;
                const int ahead = meta[m + 4 + (r >> 1)] >> (r & 1) * 8 & 255;
                UNROLL for (int g = 0; g < MANY; g++) acc[g] = total[0][g];
                row_vector_many(acc, value + v, a.bundle, length,
                                past + (begin + meta[m] * a.stride - meta[m + 1] + ahead));
                UNROLL for (int s = 1; s < SETS; s++) UNROLL for (int g = 0; g < MANY; g++)
                    total[s - 1][g] = total[s][g];
                UNROLL for (int g = 0; g < MANY; g++) total[SETS - 1][g] = acc[g];
                v += (evn_long)length * a.bundle;
                m += 4 + (a.bundle >> 1);
            }
            UNROLL for (int s = 1; s < SETS; s++) UNROLL for (int g = 0; g < MANY; g++)
                total[0][g] += total[s][g];
            const evn_long sum = block[entry].slot * a.sums + (evn_long)row * STEPS + q * MANY;
            UNROLL for (int g = 0; g < MANY; g++) sums[sum + g] = total[0][g];
        }
    }
}

/* Blocks' sums added up two by two, in the order of the pairs: an element needs no other one, so it
 * goes through all of them. Groups: ceil(a.sums / SUM_MERGED). Three elements of device memory, or
 * of a cache, for one operation. */
EVN_KERNEL(sum_pairs, ITEMS,
           (EVN_BUFFER(REAL, sums), EVN_IN(struct sum_pair, pair),
            EVN_VALUE(struct sum_merge, a))) {
    const int from = EVN_GROUP * SUM_MERGED, count = evn_imin(SUM_MERGED, (int)a.sums - from);
    EVN_SHARE(e, count) {
        for (int p = a.entry; p < a.entry + a.pairs; p++)
            sums[pair[p].left * a.sums + (from + e)] += sums[pair[p].right * a.sums + (from + e)];
    }
}
