/* Which region has an address: memory of the host in order, for binary search. */
#ifndef PLACE_ADDRESS_H
#define PLACE_ADDRESS_H

#include <stddef.h>

struct address_range {
    const char *begin, *end;
    int region;
};

struct addresses {
    struct address_range *range;
    int count, room;
};

/* Room for at least `count` ranges in all, so that as many can be put in without failing. -1: no
 * memory. */
int address_reserve(struct addresses *a, int count);

/* The region that has any of the bytes; -1: none. */
int address_overlaps(const struct addresses *a, const void *begin, size_t bytes);

/* There must be room, and no overlap. */
void address_put(struct addresses *a, const void *begin, size_t bytes, int region);

/* Takes out the range that begins there. */
void address_drop(struct addresses *a, const void *begin);

/* The region that has the byte, and where in it; -1: none. */
int address_find(const struct addresses *a, const void *address, size_t *offset);

#endif
