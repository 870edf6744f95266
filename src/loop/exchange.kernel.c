/* Copies blocks of values: within a device, out of it into a message, or out of a message. */
#include "exchange_block.h"

/* Neighbouring items have neighbouring values of the last index. */
EVN_KERNEL(exchange_copy, EXCHANGE_ITEMS,
           (EVN_IN(double, from), EVN_BUFFER(double, to), EVN_IN(struct exchange_block, blocks),
            EVN_IN(struct exchange_piece, pieces))) {
    const int block = pieces[EVN_GROUP].block, first = pieces[EVN_GROUP].first;
    const int n1 = blocks[block].n[1], n2 = blocks[block].n[2];
    const int count = evn_imin(EXCHANGE_PIECE, blocks[block].n[0] * n1 * n2 - first);
    const evn_long from_at = blocks[block].from, to_at = blocks[block].to;
    const evn_long f0 = blocks[block].from_stride[0], t0 = blocks[block].to_stride[0];
    const evn_long f1 = blocks[block].from_stride[1], t1 = blocks[block].to_stride[1];
    const evn_long f2 = blocks[block].from_stride[2], t2 = blocks[block].to_stride[2];
    EVN_SHARE(i, count) {
        const int e = first + i, row = e / n2, c = e - row * n2, a = row / n1, b = row - a * n1;
        to[to_at + a * t0 + b * t1 + c * t2] = from[from_at + a * f0 + b * f1 + c * f2];
    }
}
