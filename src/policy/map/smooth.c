/* The second part of the repair: passes that cut fewer bytes under a limit. */
#include "policy/map/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE = 40, /* steps of a pass without a new best */
    SWEEPS = 3,    /* passes over all tasks of single moves that cut less */
};

static int by_units_and_gain(const void *a, const void *b) {
    const struct border *x = a, *y = b;
    if (x->u != y->u) return x->u < y->u ? -1 : 1;
    if (x->v != y->v) return x->v < y->v ? -1 : 1;
    if (x->gain != y->gain) return x->gain < y->gain ? -1 : 1;
    return (x->t > y->t) - (x->t < y->t);
}

/* Appends task t's entries to n others, one for each unit it has links to. */
static int add_borders(struct map_repair *r, int t, struct border *border, int n) {
    const struct map_model *m = r->m;
    const int u = r->owner[t];
    int touched = 0, at = n;
    for (int i = m->start[t]; i < m->start[t + 1]; i++) {
        int v = r->owner[m->neighbour[i]];
        if (r->to[v] == 0) r->touched[touched++] = v;
        r->to[v] += m->bytes[i];
    }
    for (int k = 0; k < touched; k++) {
        int v = r->touched[k];
        if (v == u) continue;
        border[at] = (struct border){.u = u, .v = v, .t = t, .gain = r->to[u] - r->to[v]};
        if (m->routes.kinds) {
            const struct ties near = ties(r, t, v);
            border[at].gain = near.own - near.other + (near.to - near.from);
        }
        at++;
    }
    for (int k = 0; k < touched; k++) r->to[r->touched[k]] = 0;
    r->budget -= 1 + m->start[t + 1] - m->start[t];
    return at;
}

/* 1 if neither unit exceeds the limit or, if one does, not more than before, and no more is over
 * the capacities. */
static int allowed(const struct map_repair *r, struct effect e, int u, int v, double limit) {
    return e.u <= fmax(limit, r->cost[u]) && e.v <= fmax(limit, r->cost[v]) && e.third <= limit &&
           !(e.over > 0);
}

/* The best swap between the entries a0..a1 from u to v and b0..b1 back, both by
 * rising gain. */
static void best_swap(struct map_repair *r, int a0, int a1, int b0, int b1, double limit,
                      struct step *best) {
    const struct border *border = r->border;
    for (int i = a0; i < a1; i++) {
        const int a = border[i].t, u = border[i].u, v = border[i].v;
        if (border[i].gain + border[b0].gain >= best->value) break;
        struct ties ka = ties(r, a, v);
        set_mark(r, a, v, 1);
        for (int j = b0; j < b1; j++) {
            r->budget--;
            if (border[i].gain + border[j].gain >= best->value) break;
            const int b = border[j].t;
            double gain = border[i].gain + border[j].gain + 2 * r->mark[b];
            if (gain >= best->value) continue;
            struct effect e = swapped(r, a, ka, b, ties(r, b, u), r->mark[b], u, v);
            if (!allowed(r, e, u, v, limit)) continue;
            *best = (struct step){.a = a, .b = b, .v = v, .value = gain};
        }
        set_mark(r, a, v, 0);
    }
}

/* Updates the n entries after tasks have moved; returns their new number. */
static int refresh(struct map_repair *r, int n, const int *changed, int changes) {
    int kept = 0, fresh = 0;
    for (int i = 0; i < n; i++)
        if (!r->dirty[r->border[i].t]) r->border[kept++] = r->border[i];
    r->budget -= n;
    for (int i = 0; i < changes; i++) {
        r->dirty[changed[i]] = 0;
        if (!r->locked[changed[i]]) fresh = add_borders(r, changed[i], r->fresh, fresh);
    }
    qsort(r->fresh, (size_t)fresh, sizeof *r->fresh, by_units_and_gain);
    /* from the end, so that it fits in place */
    for (int at = kept + fresh, i = kept - 1, k = fresh - 1; k >= 0;)
        if (i >= 0 && by_units_and_gain(&r->border[i], &r->fresh[k]) > 0)
            r->border[--at] = r->border[i--];
        else
            r->border[--at] = r->fresh[k--];
    return kept + fresh;
}

/* Where each unit's entries begin, of n; n where it has none. */
static void find_units(struct map_repair *r, int n, int *first) {
    for (int u = 0; u < r->m->units; u++) first[u] = n;
    for (int i = n - 1; i >= 0; i--) first[r->border[i].u] = i;
}

/* The end of the entries from `i` on that lead from u to units before v. */
static int skip_to(const struct border *border, int n, int i, int u, int v) {
    while (i < n && border[i].u == u && border[i].v < v) i++;
    return i;
}

/* Finds the step that cuts the fewest bytes more, of tasks that have entries. */
static struct step best_step(struct map_repair *r, int n, double limit) {
    const struct border *border = r->border;
    struct step best = {.a = -1, .value = INFINITY};
    int *at = r->target; /* the entries back from each unit: both ways the units come in order */
    for (int i = 0; i < n; i++) {
        const struct border *x = &border[i];
        if (x->gain >= best.value || !may_give(r, x->u)) continue;
        struct effect e = moved(r, x->t, ties(r, x->t, x->v), x->u, x->v);
        if (!allowed(r, e, x->u, x->v, limit)) continue;
        best = (struct step){.a = x->t, .b = -1, .v = x->v, .value = x->gain};
    }
    find_units(r, n, at);
    for (int i = 0, end; i < n; i = end) {
        const int u = border[i].u, v = border[i].v;
        end = skip_to(border, n, i, u, v + 1);
        if (u > v) continue;
        const int b0 = at[v] = skip_to(border, n, at[v], v, u);
        const int b1 = at[v] = skip_to(border, n, b0, v, u + 1);
        if (b0 < b1) best_swap(r, i, end, b0, b1, limit, &best);
    }
    return best;
}

/* Appends task t and its neighbours, whose entries are outdated, to a list. */
static int add_dirty(struct map_repair *r, int t, int *list, int n) {
    const struct map_model *m = r->m;
    for (int i = m->start[t] - 1; i < m->start[t + 1]; i++) {
        int task = i < m->start[t] ? t : m->neighbour[i];
        if (r->dirty[task]) continue;
        r->dirty[task] = 1;
        list[n++] = task;
    }
    return n;
}

/* Makes one pass; returns 1 if it found something better. */
static int pass(struct map_repair *r, double limit, double loose) {
    const double began = r->cut;
    double best = began;
    int steps = 0, kept = 0, n = 0; /* entries of the trail; of the border */
    memset(r->locked, 0, (size_t)r->m->tasks);
    for (int t = 0; t < r->m->tasks; t++) n = add_borders(r, t, r->border, n);
    qsort(r->border, (size_t)n, sizeof *r->border, by_units_and_gain);
    for (int since = 0; since < PATIENCE && r->budget > 0; since++) {
        struct step s = best_step(r, n, loose);
        if (s.a < 0) break;
        const int task[2] = {s.a, s.b}, to[2] = {s.v, r->owner[s.a]};
        int changes = 0;
        for (int i = 0; i < 2 && task[i] >= 0; i++) {
            r->trail[2 * steps] = task[i];
            r->trail[2 * steps++ + 1] = r->owner[task[i]];
            r->locked[task[i]] = 1;
            map_move(r, task[i], to[i]);
            changes = add_dirty(r, task[i], r->changed, changes);
        }
        n = refresh(r, n, r->changed, changes);
        if (r->cut < best * (1 - 1e-12) && map_repair_makespan(r) <= limit) {
            best = r->cut;
            kept = steps;
            since = 0;
        }
    }
    while (steps > kept) {
        steps--;
        map_move(r, r->trail[2 * steps], r->trail[2 * steps + 1]);
    }
    return best < began;
}

/* 1 if all links of task t are within its unit: such a task cuts no less elsewhere. */
static int is_inside(struct map_repair *r, int t) {
    const struct map_model *m = r->m;
    const int u = r->owner[t];
    for (int i = m->start[t]; i < m->start[t + 1]; i++)
        if (r->owner[m->neighbour[i]] != u) return 0;
    r->budget -= 1 + m->start[t + 1] - m->start[t];
    return 1;
}

/* Makes single moves that cut less, tasks in order. */
static void sweep(struct map_repair *r, double limit) {
    for (int s = 0, moves = 1; s < SWEEPS && moves && r->budget > 0; s++) {
        moves = 0;
        for (int t = 0; t < r->m->tasks && r->budget > 0; t++) {
            if (!may_give(r, r->owner[t]) || is_inside(r, t)) continue;
            int n = add_borders(r, t, r->border, 0), to = -1;
            double best = 0;
            for (int i = 0; i < n; i++) {
                const struct border *x = &r->border[i];
                if (x->gain >= best) continue;
                struct effect e = moved(r, t, ties(r, t, x->v), x->u, x->v);
                if (!allowed(r, e, x->u, x->v, limit)) continue;
                best = x->gain;
                to = x->v;
            }
            if (to < 0) continue;
            map_move(r, t, to);
            moves = 1;
        }
    }
}

void map_smooth(struct map_repair *r, double limit, double loose) {
    limit = fmax(limit, map_repair_makespan(r));
    loose = fmax(limit, loose);
    sweep(r, limit);
    if (r->m->tasks > SMOOTHED) return;
    while (r->budget > 0 && pass(r, limit, loose)) {
    }
}

void map_straighten(struct map_repair *r, double limit, double looser) {
    const double loose = limit * (1 + looser);
    if (looser > 0) {
        map_balance(r, loose);
        map_smooth(r, loose, loose);
    }
    map_balance(r, limit);
    map_smooth(r, limit, limit * 1.01);
}
