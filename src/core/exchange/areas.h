/* Areas: the bytes that one side of a face reads or writes; and clusters of areas whose ranges
 * touch, in which overlaps are looked for. */
#pragma once

#include <evener/exchange.h>
#include <stdint.h>

/* One side of a face; bytes from the beginning of the region, or addresses. */
struct area {
    int face, rank; /* number, and the rank that gave it; -1: the number says all */
    int task, slot; /* the task, and the index of the region among its own */
    int written;
    size_t region;           /* areas of different regions do not overlap */
    long long base;          /* the region's begin */
    long long at, lo, hi;    /* value (0,0,0); the first byte; behind the last one */
    const long long *stride; /* strides, in values */
    int n[3];                /* extents at this side */
};

/* Checks that no value is written twice, or written and read; sorts the areas. Messages begin with
 * `noun`. EVN_USAGE, EVN_MEMORY. */
evn_status areas_check(const char *noun, size_t element, struct area *area, int areas);

/* Areas that touch each other, and a bit for each `grain` bytes of them. */
struct cluster {
    const struct area *area;
    int count;
    long long lo, hi, grain;
    size_t element;
    uint64_t *bit;
};

/* 1 if no value is written twice, or written and read; 0: not known. Boxes are counted from the
 * first area's base. */
int boxes_are_apart(const struct cluster *c);

/* Extents of the block that a face writes (`to` 1), or reads. */
void exchange_extents(const evn_face *f, int to, int n[3]);

/* Range of a side of a face, *lo to *hi, in values from the beginning of its region. -1: not
 * representable. */
int exchange_reach(long long at, const long long stride[3], const int n[3], long long *lo,
                   long long *hi);

/* Fills `at` and all behind it: the side of `f` that a->written says, of values of `element` bytes.
 */
static inline void area_fill(struct area *a, const evn_face *f, size_t element) {
    const int to = a->written;
    const long long at = to ? f->to_at : f->from_at, size = (long long)element;
    a->stride = to ? f->to_stride : f->from_stride;
    exchange_extents(f, to, a->n);
    exchange_reach(at, a->stride, a->n, &a->lo, &a->hi);
    a->at = a->base + size * at;
    a->lo = a->base + size * a->lo;
    a->hi = a->base + size * (a->hi + 1);
}

/* Checks resolutions, and numbers where means are taken, of face `number` of messages that begin
 * with `noun`. EVN_USAGE. */
evn_status exchange_check_resolution(const char *noun, int number, const evn_face *f,
                                     size_t element);
