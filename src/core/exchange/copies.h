/* Lists of blocks that one end of an exchange copies together, by its cores or by one launch on its
 * device. */
#pragma once

#include "exchange/block.h"
#include <evener/unit.h>
#include <stdatomic.h>

/* Extents of the block that is written, and `scale` as of struct exchange_block. */
struct shape {
    int n[3], scale;
};

/* One side of a block: position of its first element, and strides, in bytes. */
struct side {
    char *host;        /* base of `at`; NULL: the beginning of a device's buffer */
    char *const *base; /* pointer to the base at the time of copying; NULL: `host` is the base */
    long long at;
    long long stride[3];
};

/* A block that cores copy: n[0] x n[1] x n[2] elements written. */
struct copy {
    const char *from;
    char *to;
    char *const *from_base, *const *to_base; /* not NULL: `from`, `to` are bytes from there */
    long long from_stride[3], to_stride[3];  /* strides in bytes */
    size_t element;
    int n[3], scale;
    int number; /* private to the caller */
    /* a block in the opposite direction beside it: element by element from to + back_from to from +
     * back_to */
    int both;
    long long back_from, back_to; /* offsets in bytes */
};

/* Bits for the two tasks of a copy, set when they have their new values. */
enum { FROM_MET = 1, TO_MET = 2, BOTH_MET = 3 };

enum { SPARES = 8 }; /* numbers of pieces for which blocks are kept that were taken out */

struct copies {
    /* by cores */
    struct copy *copy;
    long long *size;   /* elements of each copy; 0: it was taken out */
    long long *before; /* elements of the copies before each, once copies are settled */
    int count, room;
    int settled;             /* number of copies that are settled */
    const atomic_uchar *met; /* by a copy's number, BOTH_MET: copied already; NULL: none is */
    int shares;              /* parts for units that arrive */
    atomic_int taken;        /* parts taken so far */
    /* by a device: blocks of n[0] 0 were taken out */
    struct exchange_block *block;
    struct exchange_piece *piece;
    int *next; /* next block of each block's copy; of a block taken out, the next one of as many
                  pieces; -1: none */
    int blocks, block_room, next_room, pieces, piece_room;
    int first, last;              /* blocks of the copy that was added last */
    int spare[SPARES];            /* by number of pieces less 1, a block taken out + 1; 0: none */
    int sent_blocks, sent_pieces; /* blocks and pieces that the device has */
    int *renewed, renewals, renewed_room; /* sent blocks that have changed since */
    evn_buffer *block_buffer, *piece_buffer;
};

/* Room for one more element of `size` bytes behind `count` in an array that has *room; NULL: no
 * memory, and the array is unchanged. */
void *array_grow(void *array, int count, int *room, size_t size);

void copies_clear(struct copies *c); /* empties the lists, keeps their memory */
void copies_close(struct copies *c);

/* Adds a block of elements of `element` bytes; -1: no memory. */
int copies_add_to_cores(struct copies *c, struct shape shape, size_t element,
                        const struct side *from, const struct side *to);
int copies_add_to_device(struct copies *c, struct shape shape, size_t element,
                         const struct side *from, const struct side *to);

/* The last block added. */
struct copy *copies_last(struct copies *c);

/* Takes a block of cores out of the list, or a copy of a device by its first block; the numbers of
 * others stay. A block of a device takes the place of one that was taken out if it has as many
 * pieces. */
void copies_cut(struct copies *c, int copy);
void copies_cut_blocks(struct copies *c, int first);

/* Copies all of a block. */
void copy_block(const struct copy *copy);

/* Number of elements that cores still have to copy. */
long long copies_left(const struct copies *c);

/* Resets the parts, before units copy. */
void copies_begin(struct copies *c);

/* The cores of the calling leader's unit copy shares that nobody has taken, until none is left.
 * The leader alone does: `alone`, or where the unit's other threads cannot be made. */
void copies_help(struct copies *c, evn_unit *unit, int alone);

/* The cores of the calling leader's unit copy all blocks that are not copied yet. */
void copies_by_cores(struct copies *c, evn_unit *unit);
