/* The past: of every column the values of the last `depth` steps, contiguous in time, as the
 * summation wants them.
 *
 * Before group n .. n+n_g-1: x_j[t] = a_(n-depth+t)(j) for 0 <= t < depth, and zeros from there on
 * (those are not known yet). Zeros also lie before, since padded row-vectors look there. Column j
 * begins at value + j * stride, and x_j[0] is `front` elements further.
 */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>

struct history {
    int columns, depth, front, group, single;
    size_t stride; /* elements from column to column */
    void *value;   /* float or double, 64-byte aligned */
};

/* All zero: nothing has happened before step 1. */
evn_status history_open(struct history **out, int columns, int depth, int front, int group,
                        int single);
void history_close(struct history *h);

/* The group's steps are known now: a[q * columns + j] for q = 0 .. steps-1. Those of columns from
 * .. to-1, which cores can share, become the latest past (rounded to the history's precision), and
 * the oldest are forgotten. */
void history_append(struct history *h, const double *a, int steps, int from, int to);

/* Appends steps, before which all becomes zero. */
void history_replace(struct history *h, const double *a, int steps, int from, int to);

/* The whole past as doubles, [columns * depth], and back: a float's bits survive. */
void history_export(const struct history *h, double *out);
void history_import(struct history *h, const double *in);
