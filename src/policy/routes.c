/* Routes of a problem as policies use them: told apart from those that are all alike, for which a
 * bandwidth does. */
#include "policy/routes.h"
#include <math.h>
#include <stdlib.h>

static const evn_route free_of_charge = {.hops = 1};

static double latency(const evn_route *r) {
    return r->latency[0] + (r->hops == 2 ? r->latency[1] : 0);
}

static double per_byte(const evn_route *r) {
    return r->per_byte[0] + (r->hops == 2 ? r->per_byte[1] : 0);
}

struct spot {
    int node, kind;
};

static int by_node(const void *a, const void *b) {
    const struct spot *x = a, *y = b;
    return x->node != y->node ? (x->node < y->node ? -1 : 1)
                              : (x->kind > y->kind) - (x->kind < y->kind);
}

/* Marks the routes, within and between nodes, that occur between two units of the problem. 1: not
 * enough memory. */
static int mark_used(const struct routes *r, int units, char *used) {
    const int kinds = r->kinds;
    struct spot *spot = malloc((size_t)units * sizeof *spot);
    int *node = malloc(2 * (size_t)kinds * sizeof *node); /* node of a unit of each kind */
    char *several = calloc((size_t)kinds, 2), *there = several + kinds; /* kind on several nodes */
    const int failed = !spot || !node || !several;
    int *on = node + kinds, seen = 0; /* kinds of units on the present node */
    for (int u = 0; !failed && u < units; u++)
        spot[u] = (struct spot){r->node ? r->node[u] : 0, r->kind ? r->kind[u] : 0};
    if (!failed) qsort(spot, (size_t)units, sizeof *spot, by_node);
    for (int u = 0; !failed && u < units; u++) {
        const int k = spot[u].kind;
        several[k] |= there[k] && node[k] != spot[u].node;
        there[k] = 1;
        node[k] = spot[u].node;
        const int same_node = u && spot[u - 1].node == spot[u].node;
        if (!same_node) seen = 0;
        if (same_node && spot[u - 1].kind == k) {
            used[k * kinds + k] = 1;
            continue;
        }
        for (int i = 0; i < seen; i++) used[k * kinds + on[i]] = used[on[i] * kinds + k] = 1;
        on[seen++] = k;
    }
    for (int a = 0; !failed && a < kinds; a++)
        for (int b = 0; b < kinds; b++)
            used[(kinds + a) * kinds + b] =
                there[a] && there[b] && (several[a] || several[b] || node[a] != node[b]);
    free(spot);
    free(node);
    free(several);
    return failed;
}

/* 1 if all routes have the same time a byte, *time. */
static int alike(const struct routes *r, const char *used, double *time) {
    const size_t n = 2 * (size_t)r->kinds * (size_t)r->kinds;
    *time = -1;
    for (size_t i = 0; i < n; i++) {
        if (!used[i]) continue;
        if (r->latency[i] > 0 || (*time >= 0 && r->per_byte[i] != *time)) return 0;
        *time = r->per_byte[i];
    }
    return 1;
}

/* Replaces routes that no two units use by one that is used, so that they are no extremes. */
static void like_used(struct routes *r, const char *used) {
    const size_t n = 2 * (size_t)r->kinds * (size_t)r->kinds;
    size_t first = 0;
    while (!used[first]) first++;
    for (size_t i = 0; i < n; i++) {
        if (used[i]) continue;
        r->latency[i] = r->latency[first];
        r->per_byte[i] = r->per_byte[first];
    }
}

static int no_memory(struct routes *r, char *used) {
    free(used);
    routes_close(r);
    return 1;
}

int routes_open(struct routes *r, const evn_problem *p, double scale) {
    *r = (struct routes){.bandwidth = p->bandwidth};
    if (!p->route && !p->far) return 0;
    const size_t kinds = p->kinds ? (size_t)p->kinds : 1, n = 2 * kinds * kinds;
    *r = (struct routes){.kinds = (int)kinds,
                         .kind = p->kind,
                         .node = p->node,
                         .latency = malloc(n * sizeof(double)),
                         .per_byte = malloc(n * sizeof(double))};
    char *used = calloc(n, 1);
    if (!r->latency || !r->per_byte || !used || mark_used(r, p->units, used))
        return no_memory(r, used);
    for (size_t far = 0; far < 2; far++) {
        const evn_route *route = far && p->far ? p->far : p->route;
        for (size_t a = 0; a < kinds; a++)
            for (size_t b = 0; b < kinds; b++) {
                const evn_route *way = route ? &route[a * kinds + b] : &free_of_charge;
                const size_t at = (far * kinds + a) * kinds + b;
                /* latencies are limited to 1e100, so that sums of them stay finite */
                r->latency[at] = fmin(latency(way) * scale, 1e100);
                r->per_byte[at] = fmin(per_byte(way) * scale, 1e100);
            }
    }
    double time;
    const int uniform = alike(r, used, &time);
    if (!uniform) like_used(r, used);
    free(used);
    if (!uniform) return 0;
    routes_close(r);
    r->bandwidth = time > 0 ? scale / time : 0;
    return 0;
}

void routes_range(const struct routes *r, double bytes, double *least, double *max) {
    const int n = r->kinds;
    *least = INFINITY;
    *max = 0;
    for (int i = 0; i < 2 * n * n; i++) {
        /* the way there, and the one back in the same half */
        const int back = i / (n * n) * n * n + i % n * n + i / n % n;
        const double cost = fmax(r->latency[i] + bytes * r->per_byte[i],
                                 r->latency[back] + bytes * r->per_byte[back]);
        *least = fmin(*least, cost);
        *max = fmax(*max, cost);
    }
}

void routes_close(struct routes *r) {
    free(r->latency);
    free(r->per_byte);
    *r = (struct routes){0};
}
