/* The summation by rows: one sum at a time over all columns and past steps, the third of the
 * paper's orders (Bramas, Coulaud, Sylvand 2015, figure 2), beside products by fronts, a matrix
 * M_k at a time, and by slices, which the layouts have. */
#pragma once

#include "tdbem/matrices/slices.h"

/* M_1 .. M_kmax, row after row, of each row its row-vectors by ascending columns, and the past that
 * they meet. */
struct by_row {
    int columns;
    const struct slices *slices;
    int *first, *count; /* [row * columns + column], first >= 1 */
    double *value;
    double *past; /* [column * (kmax + 1) + k] */
    double *sum;  /* [row]: sum of the row */
};

/* `x`: the past by fronts, [(k - 1) * columns + column]. To be closed in any case; `s` must outlive
 * it. */
evn_status by_row_open(struct by_row *a, const struct slices *s, const double *x);
void by_row_close(struct by_row *a);

/* Sets all sums. */
void by_row_multiply(void *by_row);
