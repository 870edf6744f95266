/* Copies blocks of words of 8, 4 or 1 bytes: within a device, out of it into a message, or out of a
 * message; or takes means of their numbers, or repeats them. */
#include "block.h"

union exchange_double {
    evn_ulong word;
    double number;
};
union exchange_floats {
    evn_ulong word;
    float number[2];
};
union exchange_float {
    unsigned word;
    float number;
};

/* The mean of the numbers of 2, 4 or 8 words: statement ADD for each, the last index fastest. */
#define EXCHANGE_EACH(ADD)                                                                         \
    for (int a = 0; a <= (scale & 1); a++)                                                         \
        for (int b = 0; b <= (scale >> 2 & 1); b++)                                                \
            for (int c = 0; c <= (scale >> 4 & 1); c++) {                                          \
                if (a + b + c == 0) continue;                                                      \
                v.word = from[a * f0 + b * f1 + c * f2];                                           \
                ADD;                                                                               \
            }
#define EXCHANGE_COUNT (1 << ((scale & 1) + (scale >> 2 & 1) + (scale >> 4 & 1)))

EVN_DEVICE_FUNCTION evn_ulong exchange_mean8(EVN_GLOBAL const evn_ulong *from, evn_long f0,
                                             evn_long f1, evn_long f2, int scale) {
    if (scale & EXCHANGE_FLOATS) {
        union exchange_floats v, sum;
        sum.word = from[0];
        EXCHANGE_EACH(sum.number[0] += v.number[0]; sum.number[1] += v.number[1])
        sum.number[0] *= 1.0f / (float)EXCHANGE_COUNT;
        sum.number[1] *= 1.0f / (float)EXCHANGE_COUNT;
        return sum.word;
    }
    union exchange_double v, sum;
    sum.word = from[0];
    EXCHANGE_EACH(sum.number += v.number)
    sum.number *= 1.0 / (double)EXCHANGE_COUNT;
    return sum.word;
}

EVN_DEVICE_FUNCTION unsigned exchange_mean4(EVN_GLOBAL const unsigned *from, evn_long f0,
                                            evn_long f1, evn_long f2, int scale) {
    union exchange_float v, sum;
    sum.word = from[0];
    EXCHANGE_EACH(sum.number += v.number)
    sum.number *= 1.0f / (float)EXCHANGE_COUNT;
    return sum.word;
}

/* Numbers have 4 bytes or 8. */
EVN_DEVICE_FUNCTION unsigned char exchange_mean1(EVN_GLOBAL const unsigned char *from, evn_long f0,
                                                 evn_long f1, evn_long f2, int scale) {
    (void)f0;
    (void)f1;
    (void)f2;
    (void)scale;
    return from[0];
}

/* Index at the source of the first value for value i along index d. */
#define EXCHANGE_SOURCE(d, i) ((i) << (scale >> 2 * (d)&1) >> (scale >> (2 * (d) + 1) & 1))

/* Neighbouring items have neighbouring words of the last index. */
#define EXCHANGE_COPY(mean)                                                                        \
    {                                                                                              \
        const int block = pieces[EVN_GROUP].block, first = pieces[EVN_GROUP].first;                \
        const int n1 = blocks[block].n[1], n2 = blocks[block].n[2];                                \
        const int count = evn_imin(EXCHANGE_PIECE, blocks[block].n[0] * n1 * n2 - first);          \
        const evn_long from_at = blocks[block].from, to_at = blocks[block].to;                     \
        const evn_long f0 = blocks[block].from_stride[0], t0 = blocks[block].to_stride[0];         \
        const evn_long f1 = blocks[block].from_stride[1], t1 = blocks[block].to_stride[1];         \
        const evn_long f2 = blocks[block].from_stride[2], t2 = blocks[block].to_stride[2];         \
        const int scale = blocks[block].scale;                                                     \
        EVN_SHARE(i, count) {                                                                      \
            const int e = first + i, row = e / n2, c = e - row * n2;                               \
            const int a = row / n1, b = row - a * n1;                                              \
            const evn_long target = to_at + a * t0 + b * t1 + c * t2;                              \
            const evn_long source = from_at + EXCHANGE_SOURCE(0, a) * f0 +                         \
                                    EXCHANGE_SOURCE(1, b) * f1 + EXCHANGE_SOURCE(2, c) * f2;       \
            to[target] =                                                                           \
                scale & EXCHANGE_MEANS ? mean(from + source, f0, f1, f2, scale) : from[source];    \
        }                                                                                          \
    }

EVN_KERNEL(exchange_copy8, EXCHANGE_ITEMS,
           (EVN_IN(evn_ulong, from), EVN_BUFFER(evn_ulong, to),
            EVN_IN(struct exchange_block, blocks), EVN_IN(struct exchange_piece, pieces)))
EXCHANGE_COPY(exchange_mean8)

EVN_KERNEL(exchange_copy4, EXCHANGE_ITEMS,
           (EVN_IN(unsigned, from), EVN_BUFFER(unsigned, to), EVN_IN(struct exchange_block, blocks),
            EVN_IN(struct exchange_piece, pieces)))
EXCHANGE_COPY(exchange_mean4)

EVN_KERNEL(exchange_copy1, EXCHANGE_ITEMS,
           (EVN_IN(unsigned char, from), EVN_BUFFER(unsigned char, to),
            EVN_IN(struct exchange_block, blocks), EVN_IN(struct exchange_piece, pieces)))
EXCHANGE_COPY(exchange_mean1)
