/* Cells of 16 times the reach, in a hash table. */
#include "tdbem/mesh/mesh_cells.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t slot(const struct cells *c, const int64_t at[3]) {
    uint64_t h = (uint64_t)at[0] * 0x9e3779b97f4a7c15u ^ (uint64_t)at[1] * 0xc2b2ae3d27d4eb4fu ^
                 (uint64_t)at[2] * 0x165667b19e3779f9u;
    return (size_t)(h ^ h >> 31) & c->mask;
}

evn_status cells_open(struct cells *c, const double (*x)[3], size_t count, const double low[3],
                      double reach) {
    *c = (struct cells){.x = x, .size = 16 * reach, .reach = reach, .mask = 1};
    memcpy(c->low, low, sizeof c->low);
    while (c->mask < 2 * count) c->mask *= 2;
    c->head = malloc(c->mask * sizeof *c->head);
    c->next = malloc((count + 1) * sizeof *c->next);
    if (!c->head || !c->next) {
        cells_close(c);
        return evn_fail(EVN_MEMORY, "mesh: no memory for %zu vertices", count);
    }
    for (size_t i = 0; i < c->mask; i++) c->head[i] = -1;
    c->mask--;
    return EVN_OK;
}

void cells_close(struct cells *c) {
    free(c->head);
    free(c->next);
    c->head = c->next = NULL;
}

void cells_add(struct cells *c, int point) {
    int64_t at[3];
    for (int k = 0; k < 3; k++) at[k] = (int64_t)floor((c->x[point][k] - c->low[k]) / c->size);
    const size_t s = slot(c, at);
    c->next[point] = c->head[s];
    c->head[s] = point;
}

static int first_point(int point, void *arg) {
    *(int *)arg = point;
    return 1;
}

int cells_find(const struct cells *c, const double x[3]) {
    int found = -1;
    cells_each(c, x, first_point, &found);
    return found;
}

void cells_each(const struct cells *c, const double x[3], int (*each)(int point, void *arg),
                void *arg) {
    int64_t from[3], to[3];
    for (int k = 0; k < 3; k++) {
        from[k] = (int64_t)floor((x[k] - c->low[k] - c->reach) / c->size);
        to[k] = (int64_t)floor((x[k] - c->low[k] + c->reach) / c->size);
    }
    for (int64_t i = from[0]; i <= to[0]; i++)
        for (int64_t j = from[1]; j <= to[1]; j++)
            for (int64_t k = from[2]; k <= to[2]; k++)
                for (int v = c->head[slot(c, (int64_t[3]){i, j, k})]; v >= 0; v = c->next[v]) {
                    double d2 = 0;
                    for (int a = 0; a < 3; a++) d2 += (c->x[v][a] - x[a]) * (c->x[v][a] - x[a]);
                    if (d2 <= c->reach * c->reach && each(v, arg)) return;
                }
}
