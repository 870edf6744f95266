/* Copies blocks of words of 8, 4 or 1 bytes: within a device, out of it into a message, or out of a
 * message. */
#include "block.h"

/* Neighbouring items have neighbouring words of the last index. */
#define EXCHANGE_COPY                                                                              \
    {                                                                                              \
        const int block = pieces[EVN_GROUP].block, first = pieces[EVN_GROUP].first;                \
        const int n1 = blocks[block].n[1], n2 = blocks[block].n[2];                                \
        const int count = evn_imin(EXCHANGE_PIECE, blocks[block].n[0] * n1 * n2 - first);          \
        const evn_long from_at = blocks[block].from, to_at = blocks[block].to;                     \
        const evn_long f0 = blocks[block].from_stride[0], t0 = blocks[block].to_stride[0];         \
        const evn_long f1 = blocks[block].from_stride[1], t1 = blocks[block].to_stride[1];         \
        const evn_long f2 = blocks[block].from_stride[2], t2 = blocks[block].to_stride[2];         \
        EVN_SHARE(i, count) {                                                                      \
            const int e = first + i, row = e / n2, c = e - row * n2;                               \
            const int a = row / n1, b = row - a * n1;                                              \
            to[to_at + a * t0 + b * t1 + c * t2] = from[from_at + a * f0 + b * f1 + c * f2];       \
        }                                                                                          \
    }

EVN_KERNEL(exchange_copy8, EXCHANGE_ITEMS,
           (EVN_IN(evn_ulong, from), EVN_BUFFER(evn_ulong, to),
            EVN_IN(struct exchange_block, blocks), EVN_IN(struct exchange_piece, pieces)))
EXCHANGE_COPY

EVN_KERNEL(exchange_copy4, EXCHANGE_ITEMS,
           (EVN_IN(unsigned, from), EVN_BUFFER(unsigned, to), EVN_IN(struct exchange_block, blocks),
            EVN_IN(struct exchange_piece, pieces)))
EXCHANGE_COPY

EVN_KERNEL(exchange_copy1, EXCHANGE_ITEMS,
           (EVN_IN(unsigned char, from), EVN_BUFFER(unsigned char, to),
            EVN_IN(struct exchange_block, blocks), EVN_IN(struct exchange_piece, pieces)))
EXCHANGE_COPY
