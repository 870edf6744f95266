/* Areas: the bytes that one side of a face reads or writes, and clusters of areas whose ranges
 * touch, in which overlaps are looked for. */
#ifndef EXCHANGE_AREAS_H
#define EXCHANGE_AREAS_H

#include "exchange/plan.h"
#include <stdint.h>

/* One side of a face; bytes from the beginning of the region, or addresses. */
struct area {
    const struct face *face;
    int written, region;     /* without a place 0; of a task of another rank one of its own */
    long long at, lo, hi;    /* value (0,0,0); the first byte; behind the last one */
    const long long *stride; /* strides, in values */
    int n[3];                /* extents at this side */
};

/* Areas that touch each other, and a bit for each `grain` bytes of them. */
struct cluster {
    const struct area *area;
    int count;
    long long lo, hi, grain;
    size_t element;
    uint64_t *bit;
};

/* 1 if no value is written twice, or written and read; 0: not known. `base`: byte from which boxes
 * are counted, at most c->lo. */
int boxes_are_apart(const struct cluster *c, long long base);

#endif
