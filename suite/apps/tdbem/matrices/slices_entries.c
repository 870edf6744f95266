/* Single entries, for looking up and for comparing with other computations: blocks of one row and
 * one column, before the skew lag. */
#include "tdbem/matrices/slices.h"
#include <stdlib.h>

static int by_place(const void *p, const void *q) {
    const struct slices_entry *a = *(const struct slices_entry *const *)p;
    const struct slices_entry *b = *(const struct slices_entry *const *)q;
    if (a->j != b->j) return a->j < b->j ? -1 : 1;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    return a < b ? -1 : a > b;
}

static evn_status look_up(const struct slices_body *body, struct slices_entry **sorted, int count) {
    struct slices_block block = {0};
    evn_status status = EVN_OK;
    for (int e = 0; e < count && !status; e++) {
        struct slices_entry *s = sorted[e];
        const int same = e > 0 && s->i == sorted[e - 1]->i && s->j == sorted[e - 1]->j;
        if (!same) status = slices_block(&block, body, &s->i, 1, &s->j, 1);
        if (status) break;
        const int m = s->k - block.first[0];
        s->value = m >= 0 && m < block.count[0] ? block.value[m] : 0;
    }
    slices_block_close(&block);
    return status;
}

static evn_status check(const struct slices_entry *entry, int count, int rows, int columns) {
    for (int e = 0; e < count; e++) {
        const struct slices_entry *s = &entry[e];
        if (s->k < 0 || s->i < 0 || s->j < 0 || s->i >= rows || s->j >= columns)
            return evn_fail(
                EVN_USAGE,
                "matrices: entry %d: k %d, i %d, j %d, expected k from 0, i below %d, j below %d",
                e, s->k, s->i, s->j, rows, columns);
    }
    return EVN_OK;
}

evn_status slices_entries(struct slices_entry *entry, int count, const struct mesh *mesh,
                          const struct slices_options *o) {
    struct slices_body *body;
    evn_status status = slices_body_open(&body, mesh, o);
    if (status) return status;
    struct slices_entry **sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    status = check(entry, count, mesh->vertices + o->points, mesh->vertices);
    if (!sorted) status = evn_fail(EVN_MEMORY, "matrices: no memory for %d entries", count);
    if (!status) {
        for (int e = 0; e < count; e++) sorted[e] = &entry[e];
        qsort(sorted, (size_t)count, sizeof *sorted, by_place);
        status = look_up(body, sorted, count);
    }
    free(sorted);
    slices_body_close(body);
    return status;
}
