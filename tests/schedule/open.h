/* What tests of schedules have in common: a sequence of numbers, schedules that must open, and the
 * model in plain words. */
#pragma once

#include "check.h"

#include <evener/plugin.h>
#include <math.h>

/* A reproducible sequence of numbers in [0, 1). */
static inline double draw(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Whether the library of schedule `name` is here (map: Scotch; optimal: CBC). */
static inline int has_library(const char *name) {
    const char *library;
    char text[256];
    return !evn_schedule_library(name, &library, text, sizeof text);
}

static inline evn_schedule *open_or_fail(const char *text, const evn_problem *p) {
    evn_schedule *s;
    if (evn_schedule_open(&s, text, p)) fail_msg("%s: %s", text, evn_message());
    return s;
}

/* Seconds of `bytes` from unit u to unit v. */
static inline double one_way(const evn_problem *p, int u, int v, double bytes) {
    const int kinds = p->kinds ? p->kinds : 1, a = p->kind ? p->kind[u] : 0,
              b = p->kind ? p->kind[v] : 0;
    const int far = p->node && p->node[u] != p->node[v];
    const evn_route *matrix = far && p->far ? p->far : p->route;
    if (!matrix) return 0;
    const evn_route r = matrix[a * kinds + b];
    return r.latency[0] + bytes * r.per_byte[0] +
           (r.hops == 2 ? r.latency[1] + bytes * r.per_byte[1] : 0);
}

/* The longest unit of an assignment. */
static inline double makespan(const evn_problem *p, const int *owner) {
    double time[p->units], longest = 0;
    for (int u = 0; u < p->units; u++) time[u] = 0;
    for (int t = 0; t < p->tasks; t++)
        time[owner[t]] += p->weight[t] / (p->speed ? p->speed[owner[t]] : 1);
    for (int l = 0; l < p->links; l++) {
        const int u = owner[p->link[l].task[0]], v = owner[p->link[l].task[1]];
        if (u == v) continue;
        const double cost = p->route || p->far ? fmax(one_way(p, u, v, p->link[l].bytes),
                                                      one_way(p, v, u, p->link[l].bytes))
                            : p->bandwidth > 0 ? p->link[l].bytes / p->bandwidth
                                               : 0;
        time[u] += cost;
        time[v] += cost;
    }
    for (int u = 0; u < p->units; u++) longest = fmax(longest, time[u]);
    return longest;
}
