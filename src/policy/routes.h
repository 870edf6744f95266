/* Cost of a link at each end, if its ends are on different units: by the problem's routes, else by
 * its bandwidth. */
#pragma once

#include <evener/schedule.h>
#include <stddef.h>

/* Routes between different units. A unit sends and receives at the same time, so a link costs both
 * ends the longer of its two directions. Each link counts as a message of its own, the worst case.
 */
struct routes {
    double bandwidth; /* if all used routes are equal, or there are none; 0: free */
    int kinds;        /* 0: only the bandwidth is given */
    const int *kind;  /* the problem's; NULL: all 0 */
    const int *node;  /* the problem's; NULL: one node */
    double *latency;  /* within a node, [from * kinds + to], then between nodes */
    double *per_byte;
};

/* Reads the routes of `p`, whose arrays must live as long; times are multiplied by `scale`. 1: not
 * enough memory. */
int routes_open(struct routes *r, const evn_problem *p, double scale);
void routes_close(struct routes *r);

/* Index of the route from u to v; only with kinds > 0. */
static inline size_t routes_between(const struct routes *r, int u, int v) {
    const size_t kinds = (size_t)r->kinds;
    const size_t a = r->kind ? (size_t)r->kind[u] : 0, b = r->kind ? (size_t)r->kind[v] : 0;
    return (r->node && r->node[u] != r->node[v] ? kinds * kinds : 0) + a * kinds + b;
}

/* Cost of a link; 0 within a unit. */
static inline double routes_cost(const struct routes *r, int u, int v, double bytes) {
    if (u == v) return 0;
    const size_t there = routes_between(r, u, v), back = routes_between(r, v, u);
    const double a = r->latency[there] + bytes * r->per_byte[there],
                 b = r->latency[back] + bytes * r->per_byte[back];
    return a > b ? a : b;
}

/* Least and largest cost of a link of `bytes` between two units. */
void routes_range(const struct routes *r, double bytes, double *least, double *max);
