/* Definitions common to the layouts' files. */
#pragma once

#include "tdbem/layout/layout.h"
#include <limits.h>

/* A row-vector without its k = 0, and cut where the layout ends. */
struct vector {
    int row, start, length;
    const double *value;
};

/* Gathers the row-vectors that are not empty of the next rows of a slice, up to to-1, as far as
 * k = last; they are numbered from row `from` on. Returns how many. `value` is that of the walk's
 * row before and after; NULL where only places are wanted. */
int layout_gather(struct slices_walk *walk, int from, int to, int last, const double **value,
                  struct vector *v);

/* Element `at` of the values. */
static inline void layout_put(struct layout *a, size_t at, double value) {
    if (a->is.single)
        ((float *)a->value)[at] = (float)value;
    else
        ((double *)a->value)[at] = value;
}

/* Range of k of the slices in it. */
static inline int layout_last(const struct layout *a) {
    return a->is.last ? a->is.last : INT_MAX - 1;
}

/* The strips of the blocks of columns from .. to-1, whole blocks: what each takes, values and
 * 16-bit words of meta, to their parts; or, where the layout has its memory, they are written to
 * their places. Non-zero without memory. */
int layout_strips(struct layout *a, const struct slices *s, int from, int to);
