/* Memory of the levels, one block of all. */
#include "mg/grid.h"
#include "common/room.h"
#include <stdlib.h>
#include <string.h>

struct level level_shape(int n) {
    const ptrdiff_t row = n < 64 ? n : n + 8;
    return (struct level){.n = n, .row = row, .plane = row * n + (n < 64 ? 8 : 136)};
}

static size_t field(const struct level *l) { return (size_t)l->plane * (size_t)l->n; }

static size_t doubles(int n) {
    size_t sum = 0;
    for (int m = 2; m <= n; m *= 2) {
        const struct level l = level_shape(m);
        sum += field(&l) * (m == n ? 1 : 2);
    }
    return sum;
}

double grid_bytes(int n) { return (double)doubles(n) * sizeof(double); }

evn_status grid_open(struct grid *g, int n) {
    memset(g, 0, sizeof *g);
    g->memory = room(doubles(n) * sizeof(double));
    if (!g->memory) return evn_fail(EVN_MEMORY, "mg: no memory for a grid of %d points a side", n);
    double *next = g->memory;
    for (int m = n, l = g->finest = __builtin_ctz((unsigned)n); l > 0; l--, m /= 2) {
        struct level *level = &g->level[l];
        *level = level_shape(m);
        level->u = next;
        next += field(level);
        if (m == n) continue;
        level->r = next;
        next += field(level);
    }
    return EVN_OK;
}

void grid_close(struct grid *g) {
    free(g->memory);
    memset(g, 0, sizeof *g);
}
