/* Arguments of the kernels of mg/blocks/blocks.kernel.c. All blocks of a device are in one buffer,
 * and positions in it are doubles from its beginning: of a field, of the ghost cell at its lower
 * corner. */
#pragma once

#include <evener/kernel.h>

enum { BLOCK_ITEMS = 128, BLOCK_CHARGES = 20, BLOCK_PLANES = 8 };

struct block_place {
    evn_long at, row, plane; /* doubles from one row and plane to the next */
};

/* y = b + W x, points [from, from + count) along each axis. A group has 2^shift items along x, the
 * first and the last of them for their neighbours, the rest of its items along y, and BLOCK_PLANES
 * planes. */
struct block_stencil {
    evn_long y, b, x, row, plane;
    double weight[4];
    int from[3], count[3];
    int shift, unused;
};

/* `count` points along each axis of the result, without ghost cells on the way down, with them on
 * the way up; `add`: the target has values already. */
struct block_between {
    struct block_place from, to;
    int count[3], add;
};

/* One or two faces of a x b points, to and from wherever they lie. */
struct block_faces {
    evn_long from[2], to[2];
    evn_long from_a, from_b, to_a, to_b; /* from one point to the next */
    int a, b, faces, unused;
};

/* The squares of each row. */
struct block_rows {
    struct block_place x;
    evn_long to;
    int count[3], unused;
};

struct block_charges {
    evn_long at[BLOCK_CHARGES];
    double value[BLOCK_CHARGES];
    int count, unused;
};

struct block_zeros {
    evn_long at, count;
};
