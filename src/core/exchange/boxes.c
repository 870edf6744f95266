/* Areas as boxes: a proof that faces do not overlap, without a look at each value.
 *
 * The offset of a value, counted in values, is written in mixed radix: one digit for each stride
 * that the areas of a cluster have, the largest stride first. An area is then a box of digits, and
 * if its digits never carry over, no other box of such digits has the same value elsewhere: two
 * areas share a value exactly if their boxes meet in every digit. Wherever an area is no such box,
 * the answer is left to the check of each value. */
#include "exchange/areas.h"
#include <string.h>

enum {
    DIGITS = 8,
    AREAS = 256, /* areas of a cluster up to which all pairs are compared */
    STEPS = 2    /* a stride that is so many times another one is a step of that one */
};

struct box {
    long long lo[DIGITS], hi[DIGITS], step[DIGITS];
};

static long long length(long long stride) { return stride < 0 ? -stride : stride; }

/* Inserts a stride into the descending ones; returns their number, -1: too many. */
static int add_stride(long long *stride, int count, long long s) {
    int at = 0;
    while (at < count && stride[at] > s) at++;
    if (at < count && stride[at] == s) return count;
    if (count == DIGITS) return -1;
    memmove(&stride[at + 1], &stride[at], (size_t)(count - at) * sizeof *stride);
    stride[at] = s;
    return count + 1;
}

/* Removes strides that are steps of a smaller one, as of every second value. */
static int drop_steps(long long *stride, int count) {
    for (int k = 0; k < count; k++) {
        int step = 0;
        for (int j = k + 1; j < count; j++)
            step |= stride[k] % stride[j] == 0 && stride[k] / stride[j] <= STEPS;
        if (!step) continue;
        memmove(&stride[k], &stride[k + 1], (size_t)(count - k - 1) * sizeof *stride);
        count--, k--;
    }
    return count;
}

/* The strides of all areas, and 1, descending; -1: too many. */
static int find_strides(const struct cluster *c, long long *stride) {
    int count = add_stride(stride, 0, 1);
    for (int i = 0; i < c->count; i++)
        for (int d = 0; count > 0 && d < 3; d++)
            if (c->area[i].n[d] > 1 && c->area[i].stride[d])
                count = add_stride(stride, count, length(c->area[i].stride[d]));
    return count < 0 ? count : drop_steps(stride, count);
}

/* 1 if no digit carries over into the one before it. */
static int is_unique(const struct box *b, const long long *stride, int count) {
    long long reach = 0;
    for (int k = count - 1; k > 0; k--) {
        long long part;
        if (__builtin_mul_overflow(b->hi[k], stride[k], &part) ||
            __builtin_add_overflow(reach, part, &reach) || reach >= stride[k - 1])
            return 0;
    }
    return 1;
}

/* Makes an area's box; 0: it is none. */
static int make_box(const struct cluster *c, const struct area *a, long long base,
                    const long long *stride, int count, struct box *b) {
    if ((a->lo - base) % (long long)c->element) return 0;
    long long rest = (a->lo - base) / (long long)c->element;
    for (int k = 0; k < count; k++) {
        b->lo[k] = b->hi[k] = rest / stride[k];
        b->step[k] = 1;
        rest %= stride[k];
    }
    for (int d = 0; d < 3; d++) {
        const long long s = length(a->stride[d]);
        if (a->n[d] < 2 || (!s && !a->written)) continue;
        int k = 0;
        while (k < count && (s % stride[k] || s / stride[k] > STEPS)) k++;
        if (!s || k == count || b->hi[k] != b->lo[k]) return 0;
        b->step[k] = s / stride[k];
        b->hi[k] += (a->n[d] - 1) * b->step[k];
    }
    return is_unique(b, stride, count);
}

static int meet(const struct box *a, const struct box *b, int count) {
    for (int k = 0; k < count; k++)
        if (a->lo[k] > b->hi[k] || b->lo[k] > a->hi[k] ||
            (a->step[k] == b->step[k] && (a->lo[k] - b->lo[k]) % a->step[k]))
            return 0;
    return 1;
}

int boxes_are_apart(const struct cluster *c) {
    const long long base = c->area->base;
    struct box box[AREAS];
    long long stride[DIGITS + 1];
    if (c->count > AREAS || base > c->lo) return 0;
    const int count = find_strides(c, stride);
    if (count < 0) return 0;
    for (int i = 0; i < c->count; i++)
        if (!make_box(c, &c->area[i], base, stride, count, &box[i])) return 0;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < i; j++)
            if ((c->area[i].written || c->area[j].written) && meet(&box[i], &box[j], count))
                return 0;
    return 1;
}
