/* Queries about slices: row-vectors, single matrices, the mass matrix. */
#include "tdbem/matrices/slices.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

void slices_close(struct slices *s) {
    if (!s) return;
    free_all(s->run_start, s->run, s->first, s->count, s->begin, s->value, s);
}

void slices_mass(const struct mesh *m, const double *x, double *y) {
    for (int v = 0; v < m->vertices; v++) y[v] = 0;
    for (int t = 0; t < m->triangles; t++) {
        const int *c = m->corner[t];
        double normal[3], area = mesh_normal(m, t, normal);
        double sum = x[c[0]] + x[c[1]] + x[c[2]];
        for (int a = 0; a < 3; a++) y[c[a]] += area / 12 * (sum + x[c[a]]);
    }
}

const double *slices_column(const struct slices *s, int j) {
    return s->value + (s->begin[j] - s->begin[s->from]);
}

const double *slices_row(const struct slices *s, int i, int j, int *first, int *count) {
    const double *value = slices_column(s, j);
    struct slices_walk w = slices_walk(s, j);
    for (; w.row < i; slices_step(&w)) value += s->count[w.at];
    *first = w.row == i ? s->first[w.at] : 0;
    *count = w.row == i ? s->count[w.at] : 0;
    return value;
}

static evn_status no_matrix(struct slices_csr *m, size_t entries) {
    const int k = m->k;
    slices_csr_free(m);
    return evn_fail(EVN_MEMORY, "matrices: no memory for the %zu entries of M_%d", entries, k);
}

evn_status slices_matrix_begin(struct slices_csr *m, int k, int from, int to) {
    *m = (struct slices_csr){.k = k, .first = from, .rows = to - from};
    m->start = calloc((size_t)m->rows + 2, sizeof *m->start);
    return m->start ? EVN_OK : no_matrix(m, 0);
}

void slices_matrix_count(struct slices_csr *m, const struct slices *s, int from, int to) {
    const int end = m->first + m->rows;
    for (int j = from; j < to; j++)
        for (struct slices_walk w = slices_walk(s, j); w.row < end; slices_step(&w)) {
            const int first = s->first[w.at];
            if (w.row >= m->first && m->k >= first && m->k < first + s->count[w.at])
                m->start[w.row - m->first + 2]++;
        }
}

evn_status slices_matrix_ready(struct slices_csr *m) {
    for (int i = 0; i < m->rows; i++) m->start[i + 2] += m->start[i + 1];
    const size_t n = slices_matrix_entries(m);
    m->column = malloc((n + 1) * sizeof *m->column);
    m->value = malloc((n + 1) * sizeof *m->value);
    return m->column && m->value ? EVN_OK : no_matrix(m, n);
}

size_t slices_matrix_entries(const struct slices_csr *m) { return m->start[m->rows + 1]; }

evn_status slices_matrix_open(struct slices_csr *m, const struct slices *s, int k, int from,
                              int to) {
    evn_status status = slices_matrix_begin(m, k, from, to);
    if (status) return status;
    slices_matrix_count(m, s, 0, s->columns);
    return slices_matrix_ready(m);
}

/* start[i+1] walks to the end of row i. */
void slices_matrix_put(struct slices_csr *m, int row, int column, double value) {
    const size_t at = m->start[row - m->first + 1]++;
    m->column[at] = column;
    m->value[at] = value;
}

void slices_matrix_add(struct slices_csr *m, const struct slices *s) {
    for (int j = s->from; j < s->to; j++) {
        const double *value = slices_column(s, j);
        const int end = m->first + m->rows;
        for (struct slices_walk w = slices_walk(s, j); w.row < end; slices_step(&w)) {
            const int first = s->first[w.at], count = s->count[w.at];
            if (w.row >= m->first && m->k >= first && m->k < first + count)
                slices_matrix_put(m, w.row, j, value[m->k - first]);
            value += count;
        }
    }
}

evn_status slices_matrix(struct slices_csr *m, const struct slices *s, int k, int with_points) {
    evn_status status = slices_matrix_open(m, s, k, 0, with_points ? s->rows : s->columns);
    if (!status) slices_matrix_add(m, s);
    return status;
}

void slices_csr_free(struct slices_csr *m) {
    free_all(m->start, m->column, m->value);
    memset(m, 0, sizeof *m);
}

size_t slices_csr_find(const struct slices_csr *m, int list, int number) {
    const size_t end = m->start[list + 1];
    size_t low = m->start[list], high = end;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->column[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && m->column[low] == number ? low : end;
}

double slices_score(const struct slices *s, int vertices) {
    double sum = 0;
    for (size_t j = 0; j < (size_t)s->columns; j++)
        for (size_t at = j * (size_t)s->rows, end = at + (size_t)vertices; at + 1 < end; at++) {
            int a = s->first[at], b = s->first[at + 1];
            int low = a > b ? a : b, high = a + s->count[at], other = b + s->count[at + 1];
            if (other < high) high = other;
            if (high > low) sum += (double)(high - low) * (high - low);
        }
    return vertices > 1 ? sum / ((double)s->columns * (vertices - 1)) : 0;
}
