/* Sorting of indices by value, the largest first, the lowest index of equal ones. */
#pragma once

#include <stdlib.h>

struct ranked {
    double value;
    int index;
};

static inline int ranked_compare(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static inline void rank_descending(struct ranked *r, int n) {
    qsort(r, (size_t)n, sizeof *r, ranked_compare);
}
