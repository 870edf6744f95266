/* Memory of the levels, one block of all. */
#include "mg/grid.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct level level_shape(int n) {
    const ptrdiff_t row = n < 64 ? n : n + 8;
    return (struct level){.n = n, .row = row, .plane = row * n + (n < 64 ? 8 : 136)};
}

static size_t field(const struct level *l) { return (size_t)l->plane * (size_t)l->n; }

static size_t doubles(int n) {
    size_t sum = GRID_SIDES * (size_t)(level_shape(n).row * n);
    for (int m = 2; m <= n; m *= 2) {
        const struct level l = level_shape(m);
        sum += field(&l) * (m == n ? 1 : 2);
    }
    return sum;
}

double grid_bytes(int n) { return (double)doubles(n) * sizeof(double); }

/* Addresses of all, memory for touched pages, which over ranks are a part. */
static void *addresses(struct grid *g, size_t bytes) {
    const size_t page = (size_t)1 << 21;
    g->bytes = bytes + page;
    g->memory = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (g->memory == MAP_FAILED) {
        g->memory = NULL;
        return NULL;
    }
    char *begin = (char *)g->memory + (page - (uintptr_t)g->memory % page) % page;
#ifdef MADV_HUGEPAGE
    if (bytes >= page)
        madvise(begin, bytes / page * page, MADV_HUGEPAGE); /* advice: may be refused */
#endif
    return begin;
}

evn_status grid_open(struct grid *g, int n) {
    memset(g, 0, sizeof *g);
    double *next = addresses(g, doubles(n) * sizeof(double));
    g->plane = malloc((size_t)n * sizeof *g->plane);
    if (!next || !g->plane) {
        grid_close(g);
        return evn_fail(EVN_MEMORY, "mg: no memory for a grid of %d points a side", n);
    }
    for (int m = n, l = g->finest = __builtin_ctz((unsigned)n); l > 0; l--, m /= 2) {
        struct level *level = &g->level[l];
        *level = level_shape(m);
        level->u = next;
        next += field(level);
        if (m == n) continue;
        level->r = next;
        next += field(level);
    }
    g->sides = next;
    grid_planes(g);
    return EVN_OK;
}

void grid_planes(struct grid *g) {
    const struct level *level = &g->level[g->finest];
    for (int k = 0; k < level->n; k++) g->plane[k] = level_plane(level, level->u, k);
}

void grid_close(struct grid *g) {
    free(g->plane);
    if (g->memory) munmap(g->memory, g->bytes);
    memset(g, 0, sizeof *g);
}
