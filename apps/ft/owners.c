/* Which rank has which planes and rows. */
#include "ft/owners.h"
#include "ft/parts.h"
#include <stdlib.h>
#include <string.h>

static int axis_open(struct axis *a, int n, int ranks) {
    a->n = n;
    a->rank = calloc((size_t)n, sizeof *a->rank);
    a->at = calloc((size_t)n, sizeof *a->at);
    a->count = calloc((size_t)ranks, sizeof *a->count);
    a->base = calloc((size_t)ranks, sizeof *a->base);
    return a->rank && a->at && a->count && a->base ? 0 : -1;
}

static void axis_close(struct axis *a) {
    free(a->rank);
    free(a->at);
    free(a->count);
    free(a->base);
}

static void axis_deal(struct axis *a, const struct owners *o) {
    memset(a->count, 0, (size_t)o->ranks * sizeof *a->count);
    for (int t = 0; t < o->tasks; t++)
        for (int i = parts_begin(a->n, o->tasks, t); i < parts_begin(a->n, o->tasks, t + 1); i++) {
            a->rank[i] = o->rank[t];
            a->at[i] = a->count[o->rank[t]]++;
        }
    for (int r = 0, before = 0; r < o->ranks; before += a->count[r++]) a->base[r] = before;
}

int owners_open(struct owners *o, const int n[3], int tasks, int ranks, int me) {
    *o = (struct owners){.ranks = ranks, .me = me, .tasks = tasks};
    o->rank = calloc((size_t)tasks, sizeof *o->rank);
    if (!o->rank || axis_open(&o->z, n[2], ranks) || axis_open(&o->y, n[1], ranks)) return -1;
    owners_deal(o, o->rank);
    return 0;
}

void owners_close(struct owners *o) {
    axis_close(&o->z);
    axis_close(&o->y);
    free(o->rank);
    *o = (struct owners){0};
}

void owners_deal(struct owners *o, const int *rank) {
    memmove(o->rank, rank, (size_t)o->tasks * sizeof *rank);
    axis_deal(&o->z, o);
    axis_deal(&o->y, o);
}
