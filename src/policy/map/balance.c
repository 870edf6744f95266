/* The first part of the repair: steps that shorten the longest unit. */
#include "policy/map/state.h"
#include <math.h>
#include <stdlib.h>

enum {
    ALL_UNITS = 16, /* most units with which a task may go to any unit, not only to a neighbour's */
    NEAREST = 4,    /* partners looked at on either side of the best weight */
};

/* fmax(x - limit, 0) for numbers; a call of the library for each took a third of a large plan. */
static double above(double x, double limit) { return x > limit ? x - limit : 0; }

/* Steps that do not cut more come first, the one that saves the most time before the others; then
 * by bytes per time saved. Inlined, as copies for a call took a sixth of best_step(). */
static inline __attribute__((always_inline)) void
consider(struct step *best, struct step s, struct effect e, double u, double v, double limit) {
    if (e.u >= u || e.v >= u || e.third >= u || e.over > 0) return;
    const double saved = above(u, limit) + above(v, limit) - above(e.u, limit) - above(e.v, limit) -
                         above(e.third, limit);
    if (!(saved > 1e-12 * u)) return;
    s.value = e.cut <= 0 ? -saved : e.cut / saved;
    if (best->a < 0 || s.value < best->value) *best = s;
}

/* Target units of u's tasks: with `all` all, else its neighbours and the unit that finishes first.
 */
static int find_targets(struct map_repair *r, int u, int all) {
    const struct map_model *m = r->m;
    int n = 0;
    if (all) {
        for (int v = 0; v < m->units; v++)
            if (v != u) r->target[n++] = v;
        return n;
    }
    for (int t = r->first[u]; t >= 0; t = r->next[t]) {
        for (int i = m->start[t]; i < m->start[t + 1]; i++) {
            int v = r->owner[m->neighbour[i]];
            if (v == u || r->is_target[v]) continue;
            r->is_target[v] = 1;
            r->target[n++] = v;
        }
        r->budget -= 1 + m->start[t + 1] - m->start[t];
    }
    int v = tournament_winner(&r->shortest);
    if (v != u && !r->is_target[v]) r->target[n++] = v;
    for (int i = 0; i < n; i++) r->is_target[r->target[i]] = 0;
    return n;
}

static int by_weight(const void *a, const void *b) {
    const struct partner *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return (x->t > y->t) - (x->t < y->t);
}

/* Examines swaps between u and v: with `border`, of tasks with links across; else for each task
 * those whose difference in weight is nearest to the excess. */
static void consider_swaps(struct map_repair *r, int u, int v, double limit, int border,
                           struct step *best) {
    const double excess = (r->cost[u] - limit) / r->m->pace[u];
    struct partner *p = r->partner;
    int n = 0;
    for (int b = r->first[v]; b >= 0; b = r->next[b]) {
        struct ties k = ties(r, b, u);
        if (!border || k.other > 0)
            p[n++] = (struct partner){.t = b, .weight = r->m->weight[b], .k = k};
    }
    if (!border) qsort(p, (size_t)n, sizeof *p, by_weight);
    for (int a = r->first[u]; a >= 0 && n && r->budget > 0; a = r->next[a]) {
        struct ties ka = ties(r, a, v);
        if (border && !(ka.other > 0)) continue;
        const double weight = r->m->weight[a];
        int from = 0, to = n;
        if (!border) {
            for (int high = n; from < high;) {
                int middle = (from + high) / 2;
                if (p[middle].weight < weight - excess)
                    from = middle + 1;
                else
                    high = middle;
            }
            to = from + NEAREST < n ? from + NEAREST : n;
            from = from > NEAREST ? from - NEAREST : 0;
        }
        set_mark(r, a, v, 1);
        r->budget -= to - from;
        for (int i = from; i < to; i++) {
            if (r->m->per_byte == 0 && !(p[i].weight < weight)) continue;
            consider(best, (struct step){.a = a, .b = p[i].t, .v = v},
                     swapped(r, a, ka, p[i].t, p[i].k, r->mark[p[i].t], u, v), r->cost[u],
                     r->cost[v], limit);
        }
        set_mark(r, a, v, 0);
    }
}

/* The best step from u, the longest unit, to its neighbours or, with `all`, to any unit. */
static struct step best_step(struct map_repair *r, int u, double limit, int all) {
    struct step best = {.a = -1};
    const int targets = find_targets(r, u, all);
    double heaviest = 0;
    for (int a = r->first[u]; a >= 0; a = r->next[a])
        if (r->m->weight[a] > heaviest) heaviest = r->m->weight[a];
    for (int a = r->first[u]; a >= 0 && may_give(r, u); a = r->next[a])
        for (int i = 0; i < targets; i++) {
            int v = r->target[i];
            consider(&best, (struct step){.a = a, .b = -1, .v = v},
                     moved(r, a, ties(r, a, v), u, v), r->cost[u], r->cost[v], limit);
        }
    /* far from the limit moves suffice; swaps refine by less than a task */
    const int fine = r->cost[u] - limit < heaviest * r->m->pace[u] && r->m->tasks <= SMOOTHED;
    for (int i = 0; i < targets && (fine || best.a < 0); i++)
        consider_swaps(r, u, r->target[i], limit, 1, &best);
    for (int i = 0; i < targets && best.a < 0; i++)
        consider_swaps(r, u, r->target[i], limit, 0, &best);
    return best;
}

void map_balance(struct map_repair *r, double limit) {
    const int few = r->m->units <= ALL_UNITS;
    while (r->budget > 0) {
        const int u = tournament_winner(&r->longest);
        if (r->cost[u] <= limit) return;
        struct step best = best_step(r, u, limit, few);
        if (best.a < 0 && !few && !r->m->routes.kinds) best = best_step(r, u, limit, 1);
        if (best.a < 0) return;
        map_move(r, best.a, best.v);
        if (best.b >= 0) map_move(r, best.b, u);
    }
}
