/* The summation by rows: values are copied from slices row after row, and each sum is finished
 * before the next one is begun. */
#include "tdbem/study/by_row.h"
#include "common/run/free_all.h"
#include <stdlib.h>

/* All row-vectors of row i, from M_1 on; `at` has how far each column has come. */
static double *copy_row(struct by_row *a, int i, size_t *at, double *to) {
    const struct slices *s = a->slices;
    for (int j = 0; j < s->columns; j++) {
        const size_t range = slices_at(s, j) + (size_t)i;
        const size_t own = (size_t)i * (size_t)s->columns + (size_t)j;
        const double *from = slices_column(s, j) + at[j];
        const int count = s->count[range], front = count && !s->first[range];
        a->first[own] = s->first[range] + front;
        a->count[own] = count - front;
        for (int k = front; k < count; k++) *to++ = from[k];
        at[j] += (size_t)count;
    }
    return to;
}

static void copy_past(struct by_row *a, const double *x) {
    const size_t columns = (size_t)a->columns, kmax = (size_t)a->slices->kmax;
    for (size_t j = 0; j < columns; j++)
        for (size_t k = 1; k <= kmax; k++) a->past[j * (kmax + 1) + k] = x[(k - 1) * columns + j];
}

evn_status by_row_open(struct by_row *a, const struct slices *s, const double *x) {
    const size_t n = (size_t)s->columns;
    *a = (struct by_row){.columns = s->columns, .slices = s};
    size_t *at = calloc(n, sizeof *at);
    a->first = malloc(sizeof *a->first * n * n);
    a->count = malloc(sizeof *a->count * n * n);
    a->value = malloc(sizeof *a->value * s->nnz);
    a->past = calloc(n * ((size_t)s->kmax + 1), sizeof *a->past);
    a->sum = calloc(n, sizeof *a->sum);
    const int there = at && a->first && a->count && a->value && a->past && a->sum;
    double *to = a->value;
    for (int i = 0; there && i < s->columns; i++) to = copy_row(a, i, at, to);
    if (there) copy_past(a, x);
    free(at);
    return there ? EVN_OK : evn_fail(EVN_MEMORY, "bench td-bem: not enough memory");
}

void by_row_close(struct by_row *a) { free_all(a->first, a->count, a->value, a->past, a->sum); }

void by_row_multiply(void *by_row) {
    struct by_row *a = by_row;
    const size_t columns = (size_t)a->columns, depth = (size_t)a->slices->kmax + 1;
    const double *value = a->value;
    for (size_t i = 0; i < columns; i++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++) {
            const int first = a->first[i * columns + j], count = a->count[i * columns + j];
            const double *past = a->past + j * depth + first;
            for (int k = 0; k < count; k++) sum += value[k] * past[k];
            value += count;
        }
        a->sum[i] = sum;
    }
}
