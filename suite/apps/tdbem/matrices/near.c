/* Slices of near row-vectors, column by column. */
#include "tdbem/matrices/near.h"
#include "common/run/free_all.h"
#include <stdlib.h>

int near_last(int group) {
    int steps = 1;
    while (2 * steps < group) steps *= 2;
    return group > 1 ? 2 * steps - 1 : 0;
}

static evn_status no_memory(const struct near *n) {
    return evn_fail(EVN_MEMORY, "td-bem: no memory for the near part of rows %d to %d", n->from,
                    n->to - 1);
}

static int grow(void **memory, size_t count, size_t size) {
    void *more = realloc(*memory, count * size);
    if (more) *memory = more;
    return more != NULL;
}

/* For a row-vector more, and a run that begins with it, and where the next one does. */
static int make_room(struct near *n) {
    struct slices *s = &n->s;
    if (n->vectors < n->room) return 1;
    n->room = 2 * n->room + 4096;
    return grow((void **)&s->first, n->room, sizeof *s->first) &&
           grow((void **)&s->count, n->room, sizeof *s->count) &&
           grow((void **)&s->run, n->room + 1, sizeof *s->run);
}

evn_status near_open(struct near **out, int columns, int from, int to, int last) {
    struct near *n = *out = calloc(1, sizeof *n);
    if (!n) return evn_fail(EVN_MEMORY, "td-bem: no memory for the near part");
    n->from = from;
    n->to = to;
    n->last = last;
    n->s = (struct slices){.columns = columns, .rows = to - from, .high = columns, .to = columns};
    n->s.run_start = calloc((size_t)columns + 1, sizeof *n->s.run_start);
    n->s.begin = calloc((size_t)columns + 1, sizeof *n->s.begin);
    if (!n->s.run_start || !n->s.begin || !make_room(n)) return no_memory(n);
    n->s.run->at = 0;
    return EVN_OK;
}

void near_close(struct near *n) {
    if (!n) return;
    free_all(n->s.run_start, n->s.begin, n->s.run, n->s.first, n->s.count, n->s.value, n);
}

/* To the last run of its column, of which there are some from `begin` on, if it follows on. */
static int add_vector(struct near *n, size_t begin, int row, int first, int count) {
    struct slices *s = &n->s;
    if (!make_room(n)) return -1;
    s->first[n->vectors] = (uint16_t)first;
    s->count[n->vectors] = (uint8_t)count;
    if (n->runs == begin || s->run[n->runs - 1].to != row)
        s->run[n->runs++] = (struct slices_run){.from = row, .at = n->vectors};
    s->run[n->runs - 1].to = row + 1;
    s->run[n->runs].at = ++n->vectors;
    return 0;
}

evn_status near_add(struct near *n, const struct slices *s, int from, int to) {
    for (int j = from; j < to; j++) {
        size_t values = 0, begin = n->runs;
        for (struct slices_walk w = slices_walk(s, j); w.row < n->to; slices_step(&w)) {
            int first;
            const int count = w.row < n->from ? 0 : near_part(s, w.at, n->last, &first);
            if (count && add_vector(n, begin, w.row - n->from, first, count)) return no_memory(n);
            values += (size_t)count;
        }
        n->s.run_start[j + 1] = n->runs;
        n->s.begin[j + 1] = n->s.begin[j] + values;
    }
    return EVN_OK;
}

evn_status near_reserve(struct near *n) {
    n->s.value = calloc(n->s.begin[n->s.columns] + 1, sizeof *n->s.value);
    return n->s.value ? EVN_OK : no_memory(n);
}

double near_bytes(const struct near *n) {
    return 3.0 * (double)n->vectors + (double)sizeof *n->s.run * (double)n->runs +
           8.0 * (double)n->s.begin[n->s.columns] + 16.0 * (n->s.columns + 1);
}
