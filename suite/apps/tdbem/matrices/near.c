/* A list of near row-vectors, and slices made of it. */
#include "tdbem/matrices/near.h"
#include <stdlib.h>
#include <string.h>

int near_last(int group) {
    int steps = 1;
    while (2 * steps < group) steps *= 2;
    return group > 1 ? 2 * steps - 1 : 0;
}

static evn_status no_memory(const struct near *n) {
    return evn_fail(EVN_MEMORY, "td-bem: no memory for the near part of rows %d to %d", n->from,
                    n->to - 1);
}

evn_status near_open(struct near **out, int columns, int from, int to, int last) {
    struct near *n = *out = calloc(1, sizeof *n);
    if (!n) return evn_fail(EVN_MEMORY, "td-bem: no memory for the near part");
    n->columns = columns;
    n->from = from;
    n->to = to;
    n->last = last;
    n->start = calloc((size_t)columns + 1, sizeof *n->start);
    n->begin = calloc((size_t)columns + 1, sizeof *n->begin);
    return n->start && n->begin ? EVN_OK : no_memory(n);
}

void near_close(struct near *n) {
    if (!n) return;
    free(n->start);
    free(n->begin);
    free(n->vector);
    free(n->value);
    free(n);
}

static int add_vector(struct near *n, int row, int first, int count) {
    if (n->vectors == n->room) {
        const size_t room = 2 * n->room + 4096;
        struct near_vector *more = realloc(n->vector, room * sizeof *more);
        if (!more) return -1;
        n->vector = more;
        n->room = room;
    }
    n->vector[n->vectors++] = (struct near_vector){row, (uint8_t)first, (uint8_t)count};
    return 0;
}

evn_status near_add(struct near *n, const struct slices *s, int from, int to) {
    for (int j = from; j < to; j++) {
        size_t values = 0;
        for (int i = n->from; i < n->to; i++) {
            int first;
            const int count = near_part(s, slices_at(s, j) + (size_t)i, n->last, &first);
            if (count && add_vector(n, i - n->from, first, count)) return no_memory(n);
            values += (size_t)count;
        }
        n->start[j + 1] = n->vectors;
        n->begin[j + 1] = n->begin[j] + values;
    }
    return EVN_OK;
}

evn_status near_reserve(struct near *n) {
    n->value = calloc(n->begin[n->columns] + 1, sizeof *n->value);
    return n->value ? EVN_OK : no_memory(n);
}

double near_bytes(const struct near *n) {
    return (double)n->vectors * sizeof *n->vector +
           (double)n->begin[n->columns] * sizeof *n->value + 16.0 * (n->columns + 1);
}

/* Columns s->low .. s->high-1, spread out. */
static void spread(const struct near *n, struct slices *s) {
    const size_t all = (size_t)s->rows * (size_t)(s->high - s->low);
    memset(s->first, 0, all * sizeof *s->first);
    memset(s->count, 0, all * sizeof *s->count);
    for (int j = s->low; j < s->high; j++)
        for (size_t e = n->start[j]; e < n->start[j + 1]; e++) {
            const struct near_vector *v = &n->vector[e];
            s->first[slices_at(s, j) + (size_t)v->row] = v->first;
            s->count[slices_at(s, j) + (size_t)v->row] = v->count;
        }
}

evn_status near_visit(const struct near *n,
                      evn_status (*take)(void *arg, const struct slices *s, int from, int to),
                      void *arg) {
    enum { ROOM = 1 << 20 };
    const int rows = n->to - n->from + 1, some = ROOM / rows + 1;
    const int width = some < n->columns ? some : n->columns;
    const size_t room = (size_t)rows * (size_t)width;
    struct slices s = {.columns = n->columns, .rows = n->to - n->from, .begin = n->begin};
    s.first = malloc(room * sizeof *s.first);
    s.count = malloc(room * sizeof *s.count);
    evn_status status = s.first && s.count ? EVN_OK : no_memory(n);
    for (int from = 0; !status && from < n->columns; from += width) {
        s.low = s.from = from;
        s.high = s.to = from + width < n->columns ? from + width : n->columns;
        s.value = n->value ? n->value + n->begin[from] : NULL;
        spread(n, &s);
        status = take(arg, &s, s.from, s.to);
    }
    free(s.first);
    free(s.count);
    return status;
}
