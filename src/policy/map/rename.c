/* Names for the parts of a plan: which unit gets which, among units that are alike, so that few
 * tasks move. */
#include "policy/map/choice.h"
#include <math.h>
#include <stdlib.h>

/* A part, a unit that is alike to the part's own, and the weight that it has of the part already.
 */
struct overlap {
    int part, unit;
    double weight;
};

static int by_pair(const void *a, const void *b) {
    const struct overlap *x = a, *y = b;
    if (x->part != y->part) return x->part - y->part;
    if (x->unit != y->unit) return x->unit - y->unit;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static int by_weight(const void *a, const void *b) {
    const struct overlap *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return x->part != y->part ? x->part - y->part : x->unit - y->unit;
}

/* 1 if two units may exchange their tasks, as far as a plan can tell. */
static int are_alike(const evn_problem *p, const double *speed, int u, int v) {
    return fabs(speed[u] - speed[v]) <= MAP_NEAR * speed[u] &&
           (!p->kind || p->kind[u] == p->kind[v]) && (!p->node || p->node[u] == p->node[v]) &&
           (!p->space || p->space[u] == p->space[v]) &&
           (!p->capacity || p->capacity[u] == p->capacity[v]);
}

/* Each pair once, with the sum of its weights; their number. */
static int merge(struct overlap *list, int count) {
    int pairs = 0;
    qsort(list, (size_t)count, sizeof *list, by_pair);
    for (int i = 0; i < count; i++) {
        const int same =
            pairs && list[pairs - 1].part == list[i].part && list[pairs - 1].unit == list[i].unit;
        if (same)
            list[pairs - 1].weight += list[i].weight;
        else
            list[pairs++] = list[i];
    }
    return pairs;
}

int map_rename(const evn_problem *p, const double *speed, const int *owner, int *to) {
    struct overlap *list = malloc((size_t)p->tasks * sizeof *list);
    int *unit_of = malloc(2 * (size_t)p->units * sizeof *unit_of), count = 0;
    if (!list || !unit_of) {
        free(list);
        free(unit_of);
        return 1;
    }
    int *part_of = unit_of + p->units;
    for (int t = 0; t < p->tasks; t++)
        if (p->weight[t] > 0 && are_alike(p, speed, to[t], owner[t]))
            list[count++] = (struct overlap){to[t], owner[t], p->weight[t]};
    if (count) count = merge(list, count);
    if (count) qsort(list, (size_t)count, sizeof *list, by_weight);
    for (int u = 0; u < p->units; u++) unit_of[u] = part_of[u] = -1;
    for (int i = 0; i < count; i++)
        if (unit_of[list[i].part] < 0 && part_of[list[i].unit] < 0) {
            unit_of[list[i].part] = list[i].unit;
            part_of[list[i].unit] = list[i].part;
        }
    /* a part without a unit takes the place of the one that has got its own */
    for (int part = 0; part < p->units; part++) {
        if (unit_of[part] >= 0) continue;
        int u = part;
        while (part_of[u] >= 0) u = part_of[u];
        unit_of[part] = u;
        part_of[u] = part;
    }
    for (int t = 0; t < p->tasks; t++) to[t] = unit_of[to[t]];
    free(list);
    free(unit_of);
    return 0;
}
