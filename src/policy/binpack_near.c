/* binpack with routes or capacities: as binpack.c, the heaviest task to the unit that would finish
 * it first; among tasks within 5 %, the one whose links cost least there, against the best places
 * of its other neighbours. A unit without room for any of them is skipped. */
#include "policy/binpack_near.h"
#include "schedule/capacity.h"
#include <math.h>
#include <stdlib.h>

enum { WINDOW = 256 }; /* tasks within 5 % that are looked at */

struct packing {
    const evn_problem *p;
    const struct routes *routes;
    int full;
    int *owner; /* -1: not placed */
    int *order; /* the tasks by descending weight */
    int *first, *neighbour;
    double *bytes; /* bytes of the link to each neighbour */
    double *load, *used;
    int *count;
    double farthest, byte_farthest; /* latency and time of a byte of the longest route */
};

static int by_weight(const void *a, const void *b, void *weight) {
    const int s = *(const int *)a, t = *(const int *)b;
    const double *w = weight;
    return w[s] != w[t] ? (w[s] < w[t] ? 1 : -1) : s - t;
}

static void find_neighbours(struct packing *k) {
    const evn_problem *p = k->p;
    for (int l = 0; l < p->links; l++)
        for (int e = 0; e < 2; e++) k->first[p->link[l].task[e] + 1]++;
    for (int t = 0; t < p->tasks; t++) k->first[t + 1] += k->first[t];
    for (int l = 0; l < p->links; l++)
        for (int e = 0; e < 2; e++) {
            /* first[t] moves to the end of t, which is where t + 1 begins */
            const int i = k->first[p->link[l].task[e]]++;
            k->neighbour[i] = p->link[l].task[1 - e];
            k->bytes[i] = p->link[l].bytes;
        }
    for (int t = p->tasks; t > 0; t--) k->first[t] = k->first[t - 1];
    k->first[0] = 0;
}

/* Saving of task t's links to placed tasks on unit u, against the longest routes. */
static double bond(const struct packing *k, int t, int u) {
    double saved = 0;
    for (int i = k->first[t]; i < k->first[t + 1]; i++) {
        const int v = k->owner[k->neighbour[i]];
        if (v < 0) continue;
        if (k->routes->kinds)
            saved += k->farthest + k->bytes[i] * k->byte_farthest -
                     routes_cost(k->routes, u, v, k->bytes[i]);
        else if (u == v)
            saved += k->bytes[i];
    }
    return saved;
}

static int has_room(const struct packing *k, int t, int u) {
    return !k->full || !k->p->bytes ||
           k->used[u] + k->p->bytes[t] <= capacity_of(k->p, u) * (1 + 1e-12);
}

/* The unit that would be done with task t first and has room for it, of equal ones that where its
 * links cost least; -1: none has room. `empty`: only units that have no task. */
static int soonest(const struct packing *k, int t, int empty) {
    int best = -1;
    double best_time = INFINITY, best_bond = 0;
    for (int u = 0; u < k->p->units; u++) {
        if ((empty && k->count[u]) || !has_room(k, t, u)) continue;
        const double time = (k->load[u] + k->p->weight[t]) / k->p->speed[u];
        if (best >= 0 && time > best_time) continue;
        const double saved = bond(k, t, u);
        if (best >= 0 && time == best_time && saved <= best_bond) continue;
        best = u;
        best_time = time;
        best_bond = saved;
    }
    return best;
}

/* The unit that task t fills beyond its capacity by the least. */
static int least_over(const struct packing *k, int t) {
    int best = 0;
    double least = INFINITY;
    for (int u = 0; u < k->p->units; u++) {
        const double over = k->used[u] + k->p->bytes[t] - capacity_of(k->p, u);
        if (over >= least) continue;
        least = over;
        best = u;
    }
    return best;
}

static void place(struct packing *k, int t, int u) {
    k->owner[t] = u;
    k->load[u] += k->p->weight[t];
    if (k->p->bytes) k->used[u] += k->p->bytes[t];
    k->count[u]++;
}

static void pack(struct packing *k) {
    const evn_problem *p = k->p;
    const int n = p->tasks;
    int without = p->units;
    for (int placed = 0, head = 0; placed < n; placed++) {
        while (k->owner[k->order[head]] >= 0) head++;
        int task = k->order[head];
        const double max = p->weight[task];
        int u = n >= p->units && n - placed == without ? soonest(k, task, 1) : -1;
        if (u < 0) u = soonest(k, task, 0);
        const int room = u >= 0;
        if (!room) u = least_over(k, task);
        double best = bond(k, task, u);
        for (int i = head + 1; room && i < n && i < head + WINDOW; i++) {
            const int t = k->order[i];
            if ((max - p->weight[t]) / max > 0.05) break;
            if (k->owner[t] >= 0 || !has_room(k, t, u)) continue;
            const double saved = bond(k, t, u);
            if (saved <= best) continue;
            best = saved;
            task = t;
        }
        without -= !k->count[u];
        place(k, task, u);
    }
}

evn_status binpack_near(const evn_problem *p, const struct routes *routes, int full, int *owner) {
    const size_t n = (size_t)p->tasks, units = (size_t)p->units, ends = 2 * (size_t)p->links;
    struct packing k = {.p = p, .routes = routes, .full = full, .owner = owner};
    k.order = malloc(n * sizeof *k.order);
    k.first = calloc(n + 2, sizeof *k.first);
    k.neighbour = malloc((ends + 1) * sizeof *k.neighbour);
    k.bytes = malloc((ends + 1) * sizeof *k.bytes);
    k.load = calloc(2 * units, sizeof *k.load);
    k.count = calloc(units, sizeof *k.count);
    const int failed = !k.order || !k.first || !k.neighbour || !k.bytes || !k.load || !k.count;
    if (!failed) {
        k.used = k.load + units;
        for (int t = 0; t < p->tasks; t++) {
            k.order[t] = t;
            owner[t] = -1;
        }
        qsort_r(k.order, n, sizeof *k.order, by_weight, (void *)p->weight);
        find_neighbours(&k);
        for (int i = 0; i < 2 * routes->kinds * routes->kinds; i++) {
            k.farthest = fmax(k.farthest, routes->latency[i]);
            k.byte_farthest = fmax(k.byte_farthest, routes->per_byte[i]);
        }
        pack(&k);
    }
    free(k.order);
    free(k.first);
    free(k.neighbour);
    free(k.bytes);
    free(k.load);
    free(k.count);
    return failed ? EVN_MEMORY : EVN_OK;
}
