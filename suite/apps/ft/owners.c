/* Owners of planes and rows. */
#include "ft/owners.h"
#include "ft/parts.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

static int axis_open(struct axis *a, int n, int ranks) {
    a->n = n;
    a->rank = calloc((size_t)n, sizeof *a->rank);
    a->space = calloc((size_t)n, sizeof *a->space);
    a->at = calloc((size_t)n, sizeof *a->at);
    a->count = calloc((size_t)ranks, sizeof *a->count);
    a->host = calloc((size_t)ranks, sizeof *a->host);
    a->base = calloc((size_t)ranks, sizeof *a->base);
    a->begin = calloc(2, sizeof *a->begin);
    return a->rank && a->space && a->at && a->count && a->host && a->base && a->begin ? 0 : -1;
}

static void axis_close(struct axis *a) {
    free_all(a->rank, a->space, a->at, a->count, a->host, a->base, a->begin);
}

/* The lines of all tasks that are in a space of that number, whichever rank's. */
static void axis_deal_space(struct axis *a, const struct owners *o, int space) {
    for (int t = 0; t < o->tasks; t++)
        for (int i = parts_begin(a->n, o->tasks, t);
             o->space[t] == space && i < parts_begin(a->n, o->tasks, t + 1); i++) {
            a->rank[i] = o->rank[t];
            a->space[i] = space;
            a->at[i] = a->count[o->rank[t]]++;
        }
}

static void axis_deal(struct axis *a, const struct owners *o, int spaces) {
    memset(a->count, 0, (size_t)o->ranks * sizeof *a->count);
    for (int s = 0; s < spaces; s++) {
        axis_deal_space(a, o, s);
        if (s < o->spaces) a->begin[s + 1] = a->count[o->me];
        if (!s) memcpy(a->host, a->count, (size_t)o->ranks * sizeof *a->host);
    }
    for (int r = 0, before = 0; r < o->ranks; before += a->count[r++]) a->base[r] = before;
}

int owners_open(struct owners *o, const int n[3], int tasks, int ranks, int me) {
    *o = (struct owners){.ranks = ranks, .me = me, .tasks = tasks, .spaces = 1};
    o->rank = calloc((size_t)tasks, sizeof *o->rank);
    o->space = calloc((size_t)tasks, sizeof *o->space);
    if (!o->rank || !o->space || axis_open(&o->z, n[2], ranks) || axis_open(&o->y, n[1], ranks))
        return -1;
    owners_deal(o, o->rank, NULL);
    return 0;
}

void owners_close(struct owners *o) {
    axis_close(&o->z);
    axis_close(&o->y);
    free_all(o->rank, o->space);
    *o = (struct owners){0};
}

int owners_spaces(struct owners *o, int spaces) {
    struct axis *axis[2] = {&o->z, &o->y};
    for (int i = 0; i < 2; i++) {
        int *begin = realloc(axis[i]->begin, (size_t)(spaces + 1) * sizeof *begin);
        if (!begin) return -1;
        axis[i]->begin = begin;
        for (int s = o->spaces; s < spaces; s++) begin[s + 1] = begin[s];
    }
    o->spaces = spaces;
    return 0;
}

void owners_deal(struct owners *o, const int *rank, const int *space) {
    const size_t bytes = (size_t)o->tasks * sizeof *rank;
    int spaces = o->spaces;
    memmove(o->rank, rank, bytes);
    if (space)
        memmove(o->space, space, bytes);
    else
        memset(o->space, 0, bytes);
    for (int t = 0; t < o->tasks; t++)
        if (o->space[t] >= spaces) spaces = o->space[t] + 1;
    axis_deal(&o->z, o, spaces);
    axis_deal(&o->y, o, spaces);
}

int owners_on_hosts(const struct owners *o) {
    for (int t = 0; t < o->tasks; t++)
        if (o->space[t]) return 0;
    return 1;
}
