/* What exchange costs the unit at each end of a link whose ends are on different units: by routes
 * where the problem has some, else by its bandwidth. */
#ifndef SCHEDULE_ROUTES_H
#define SCHEDULE_ROUTES_H

#include <evener/schedule.h>
#include <stddef.h>

/* Routes between units that differ. A unit's port is busy with what it sends and with what it
 * receives at once, so that a link costs both ends the longer of its two ways. Each link is taken
 * for a message of its own, which it is at worst. */
struct routes {
    double bandwidth; /* if all routes that are used are alike, or there are none; 0: it is free */
    int kinds;        /* 0: that is all there is to know, and there is nothing below */
    const int *kind;  /* the problem's, NULL: all 0 */
    const int *node;  /* the problem's, NULL: all the same */
    double *latency;  /* near ones, [from * kinds + to], then far ones */
    double *per_byte;
};

/* Reads them out of `p`, whose arrays must live as long; times are multiplied by `scale`. 1: not
 * enough memory. */
int routes_open(struct routes *r, const evn_problem *p, double scale);
void routes_close(struct routes *r);

/* Where in these the way from u to v is; with kinds > 0 only. */
static inline size_t routes_between(const struct routes *r, int u, int v) {
    const size_t kinds = (size_t)r->kinds;
    const size_t a = r->kind ? (size_t)r->kind[u] : 0, b = r->kind ? (size_t)r->kind[v] : 0;
    return (r->node && r->node[u] != r->node[v] ? kinds * kinds : 0) + a * kinds + b;
}

/* The same of a link: nothing within a unit. */
static inline double routes_cost(const struct routes *r, int u, int v, double bytes) {
    if (u == v) return 0;
    const size_t there = routes_between(r, u, v), back = routes_between(r, v, u);
    const double a = r->latency[there] + bytes * r->per_byte[there],
                 b = r->latency[back] + bytes * r->per_byte[back];
    return a > b ? a : b;
}

/* The least and the most that a link of so many bytes costs between two units. */
void routes_range(const struct routes *r, double bytes, double *least, double *max);

#endif
