/* Regions by address: ranges of host memory in order, for binary search. */
#pragma once

#include <stddef.h>

struct address_block;

/* The first `blocks` blocks are in use, in order; those up to `room` are spare. */
struct addresses {
    struct address_block **block;
    int blocks, room;
};

void address_close(struct addresses *a);

/* Reserves room for at least `count` ranges, so that insertion cannot fail. -1: no memory. */
int address_reserve(struct addresses *a, int count);

/* The region that overlaps these bytes; -1: none. */
int address_overlaps(const struct addresses *a, const void *begin, size_t bytes);

/* Inserts a range; there must be room, and no overlap. */
void address_put(struct addresses *a, const void *begin, size_t bytes, int region);

/* Removes the range that begins there. */
void address_drop(struct addresses *a, const void *begin);

/* The region that contains the byte, and the offset in it; -1: none. */
int address_find(const struct addresses *a, const void *address, size_t *offset);
