/* The repair of assignments by best moves and swaps: see repair.h for the
 * model and sources. */
#include "policy/map/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void map_repair_close(struct map_repair *r) {
    if (!r) return;
    free(r->longest.winner);
    free(r->shortest.winner);
    free(r->owner);
    free(r->count);
    free(r->first);
    free(r->next);
    free(r->prev);
    free(r->load);
    free(r->out);
    free(r->used);
    free(r->cost);
    free(r->locked);
    free(r->to);
    free(r->mark);
    free(r->touched);
    free(r->target);
    free(r->is_target);
    free(r->is_third);
    free(r->partner);
    free(r->border);
    free(r->fresh);
    free(r->dirty);
    free(r->changed);
    free(r->order);
    free(r->trail);
    free(r->scratch);
    free(r);
}

struct map_repair *map_repair_open(const struct map_model *m) {
    struct map_repair *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    const size_t n = (size_t)m->tasks, units = (size_t)m->units;
    /* entries of all tasks at once are only needed where passes are made */
    size_t ends = m->tasks <= SMOOTHED ? (size_t)m->start[m->tasks] : 0;
    for (int t = 0; t < m->tasks; t++)
        if ((size_t)(m->start[t + 1] - m->start[t]) > ends)
            ends = (size_t)(m->start[t + 1] - m->start[t]);
    r->m = m;
    r->owner = calloc(n, sizeof *r->owner);
    r->next = malloc(n * sizeof *r->next);
    r->prev = malloc(n * sizeof *r->prev);
    r->locked = calloc(n, 1);
    r->mark = calloc(n, sizeof *r->mark);
    r->trail = malloc(2 * n * sizeof *r->trail);
    r->count = malloc(units * sizeof *r->count);
    r->first = malloc(units * sizeof *r->first);
    r->load = malloc(units * sizeof *r->load);
    r->out = malloc(units * sizeof *r->out);
    r->used = calloc(units, sizeof *r->used);
    r->cost = calloc(units, sizeof *r->cost);
    r->scratch = malloc(units * sizeof *r->scratch);
    r->to = calloc(units, sizeof *r->to);
    r->touched = malloc(units * sizeof *r->touched);
    r->target = malloc(units * sizeof *r->target);
    r->is_target = calloc(units, 1);
    r->is_third = calloc(units, 1);
    r->partner = malloc(n * sizeof *r->partner);
    r->border = malloc((ends + 1) * sizeof *r->border);
    r->fresh = malloc((ends + 1) * sizeof *r->fresh);
    r->dirty = calloc(n, 1);
    r->changed = malloc(n * sizeof *r->changed);
    r->order = malloc(n * sizeof *r->order);
    if (!r->owner || !r->next || !r->prev || !r->locked || !r->mark || !r->trail || !r->count ||
        !r->first || !r->load || !r->out || !r->cost || !r->to || !r->touched || !r->target ||
        !r->is_target || !r->is_third || !r->used || !r->scratch || !r->partner || !r->border ||
        !r->fresh || !r->dirty || !r->changed || !r->order ||
        tournament_open(&r->longest, r->cost, m->units, -1) ||
        tournament_open(&r->shortest, r->cost, m->units, 1)) {
        map_repair_close(r);
        return NULL;
    }
    return r;
}

const int *map_repair_owner(const struct map_repair *r) { return r->owner; }

struct map_score map_repair_score(const struct map_repair *r) {
    if (r->m->memory) return map_score(r->m, r->owner, r->scratch);
    return (struct map_score){.makespan = map_repair_makespan(r), .cut = r->cut};
}

static void link_in(struct map_repair *r, int t, int u) {
    r->owner[t] = u;
    r->prev[t] = -1;
    r->next[t] = r->first[u];
    if (r->next[t] >= 0) r->prev[r->next[t]] = t;
    r->first[u] = t;
    r->count[u]++;
}

static void link_out(struct map_repair *r, int t) {
    int u = r->owner[t];
    if (r->next[t] >= 0) r->prev[r->next[t]] = r->prev[t];
    if (r->prev[t] >= 0)
        r->next[r->prev[t]] = r->next[t];
    else
        r->first[u] = r->next[t];
    r->count[u]--;
}

double map_repair_makespan(const struct map_repair *r) {
    return r->cost[tournament_winner(&r->longest)];
}

long map_repair_left(const struct map_repair *r) { return r->budget; }

static int lighter(const void *a, const void *b, void *weight) {
    const int s = *(const int *)a, t = *(const int *)b;
    const double *w = weight;
    return w[s] < w[t] ? -1 : w[s] > w[t] ? 1 : s - t;
}

/* Order in which tasks get into the units' lists, and so are tried: by number, as neighbours have
 * numbers that are near; without links by weight, so that other numbers give the same repair. */
static const int *order_of(struct map_repair *r) {
    const struct map_model *m = r->m;
    for (int t = 0; t < m->tasks; t++) r->order[t] = t;
    if (!m->start[m->tasks] && m->tasks <= SMOOTHED)
        qsort_r(r->order, (size_t)m->tasks, sizeof *r->order, lighter, m->weight);
    return r->order;
}

void map_repair_start(struct map_repair *r, const int *owner, long budget) {
    const struct map_model *m = r->m;
    for (int u = 0; u < m->units; u++) {
        r->first[u] = -1;
        r->count[u] = 0;
        r->load[u] = r->out[u] = r->used[u] = 0;
    }
    r->cut = 0;
    r->budget = budget;
    const int *order = order_of(r);
    for (int at = m->tasks - 1; at >= 0; at--) {
        const int t = order[at], u = owner[t];
        link_in(r, t, u);
        r->load[u] += m->weight[t];
        for (int i = m->start[t]; i < m->start[t + 1]; i++) {
            const int v = owner[m->neighbour[i]];
            if (v == u) continue;
            const double bytes = map_cost(m, i, u, v);
            r->out[u] += bytes;
            r->cut += bytes / 2;
        }
        if (m->memory) r->used[u] += m->memory[t];
    }
    for (int u = 0; u < m->units; u++) r->cost[u] = unit_cost(r, u, r->load[u], r->out[u]);
    tournament_start(&r->longest, m->units);
    tournament_start(&r->shortest, m->units);
}

void map_move(struct map_repair *r, int t, int v) {
    const int u = r->owner[t];
    struct ties k = ties(r, t, v);
    struct effect e = moved(r, t, k, u, v);
    if (r->m->routes.kinds) map_near_move(r, t, u, v);
    link_out(r, t);
    link_in(r, t, v);
    r->load[u] -= r->m->weight[t];
    r->load[v] += r->m->weight[t];
    r->out[u] += 2 * k.own - k.from;
    r->out[v] += k.to - 2 * k.other;
    if (r->m->memory) {
        r->used[u] -= r->m->memory[t];
        r->used[v] += r->m->memory[t];
    }
    r->cut += e.cut;
    r->cost[u] = e.u;
    r->cost[v] = e.v;
    tournament_changed(&r->longest, u);
    tournament_changed(&r->longest, v);
    tournament_changed(&r->shortest, u);
    tournament_changed(&r->shortest, v);
}
