/* Arguments of the summation's kernels, common to host and kernels. All arrays of a block are in
 * one region, and a region is in the arena from byte `at` on; parts give positions in it in
 * elements of their kind from the region's begin. */
#pragma once

#include <evener/kernel.h>

/* Slice j's part in a tile, [tile * columns + j]; contiguous: tile 0, the whole slice. With strips:
 * a strip's part in a block, [block * strips + strip]. */
struct sum_part {
    evn_long value; /* begin of the values, in REALs */
    evn_long meta;  /* begin of the description: bundles or starts in 16-bit words; full: in 32-bit
                       words */
    evn_long where; /* begin in `where`, in 32-bit words */
    evn_long count; /* bundles, or blocks */
};

/* A block of slices that is summed. */
struct sum_block {
    evn_long at; /* begin of its region in the arena, bytes; a multiple of 8 */
    int first, end;
    int slot;   /* slot of its sums */
    int number; /* which of all blocks */
};

/* The layout, and where things are; the same for all blocks of a launch. */
struct sum_shape {
    evn_long stride; /* stride of the past, from column to column */
    evn_long sums;   /* elements from one block's sums to the next one's */
    int entry;       /* entry of the launch's first block in the list of blocks */
    int now;         /* where in a column of the past x_j[depth] is */
    int first;       /* column that the past begins with */
    int columns, rows;
    int tile, tiles; /* rows of a tile (the last one may have fewer); tiles */
    int bundle;      /* rows: rows of a bundle */
    int shift;       /* rows: their logarithm */
    int length;      /* contiguous: of all row-vectors, padded; full: columns of a block */
    int tall;        /* full: rows of a block */
    int carries;     /* a row-vector's products are added to the sum one by one */
    int unused;      /* fills a hole */
    int strips;      /* strips of the rows, each of `bundle` rows; 0: without */
};

/* Sums that are added up, one pair after another: those of slot `right` onto those of slot `left`.
 */
struct sum_pair {
    int left, right;
};
struct sum_merge {
    evn_long sums;    /* elements from one slot to the next one */
    int entry, pairs; /* the launch's first pair, and how many */
};

/* Elements that a group adds up. */
#define SUM_MERGED 256

/* The kernels for contiguous slices and for strips: rows of a group, and steps that an item takes
 * at most. */
#define SUM_ROWS  128
#define SUM_STEPS 16
