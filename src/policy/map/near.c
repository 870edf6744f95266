/* The repair where units are near and far: what a task's links cost two units depends on where
 * their other ends are, and a task that moves from one node to another makes links of third units
 * longer or shorter. */
#include "policy/map/state.h"

struct ties map_near_ties(const struct map_repair *r, int t, int v) {
    const struct map_model *m = r->m;
    const int u = r->owner[t];
    struct ties k = {0};
    for (int i = m->start[t]; i < m->start[t + 1]; i++) {
        const int o = r->owner[m->neighbour[i]];
        const double across = map_cost(m, i, u, v);
        k.own += o == u ? across : 0;
        k.other += o == v ? across : 0;
        k.from += o == u ? across : map_cost(m, i, u, o);
        k.to += o == v ? across : map_cost(m, i, v, o);
    }
    return k;
}

/* 1 if links to third units cost the same from both units. */
static int are_near(const struct map_model *m, int u, int v) {
    const struct routes *r = &m->routes;
    return (!r->kind || r->kind[u] == r->kind[v]) && (!r->node || r->node[u] == r->node[v]);
}

/* Adds to r->to how much more task t costs each third unit on v than on u; lists those units. */
static int add_thirds(struct map_repair *r, int t, int u, int v, int n) {
    const struct map_model *m = r->m;
    for (int i = m->start[t]; i < m->start[t + 1]; i++) {
        const int w = r->owner[m->neighbour[i]];
        if (w == u || w == v) continue;
        if (!r->is_third[w]) r->touched[n++] = w;
        r->is_third[w] = 1;
        r->to[w] += map_cost(m, i, w, v) - map_cost(m, i, w, u);
    }
    r->budget -= m->start[t + 1] - m->start[t];
    return n;
}

double map_near_third(struct map_repair *r, int a, int b, int u, int v) {
    if (are_near(r->m, u, v)) return 0;
    int n = add_thirds(r, a, u, v, 0);
    if (b >= 0) n = add_thirds(r, b, v, u, n);
    double longest = 0;
    for (int i = 0; i < n; i++) {
        const int w = r->touched[i];
        if (r->to[w] > 0 && r->cost[w] + r->to[w] > longest) longest = r->cost[w] + r->to[w];
        r->to[w] = 0;
        r->is_third[w] = 0;
    }
    return longest;
}

void map_near_move(struct map_repair *r, int t, int u, int v) {
    if (are_near(r->m, u, v)) return;
    const int n = add_thirds(r, t, u, v, 0);
    for (int i = 0; i < n; i++) {
        const int w = r->touched[i];
        r->out[w] += r->to[w];
        r->cost[w] = unit_cost(r, w, r->load[w], r->out[w]);
        tournament_changed(&r->longest, w);
        tournament_changed(&r->shortest, w);
        r->to[w] = 0;
        r->is_third[w] = 0;
    }
}
