/* A block of words to be copied, as the exchange's kernels read it. */
#pragma once

#include <evener/kernel.h>

/* Bits of `scale`: for each index d, MEAN and REPEAT shifted by 2d; FLOATS: numbers of means. */
enum { EXCHANGE_MEAN = 1, EXCHANGE_REPEAT = 2, EXCHANGE_MEANS = 21, EXCHANGE_FLOATS = 64 };

/* n[0] x n[1] x n[2] words written, at most EXCHANGE_WORDS; offsets and strides in words. */
struct exchange_block {
    evn_long from, to;
    evn_long from_stride[3], to_stride[3];
    int n[3];
    int scale;
};

/* Work of a group of items: words first .. first + EXCHANGE_PIECE - 1 of a block. */
struct exchange_piece {
    int block, first;
};

enum { EXCHANGE_ITEMS = 64, EXCHANGE_PIECE = 512, EXCHANGE_WORDS = 1 << 30 };
