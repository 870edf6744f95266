/* State of a repair, for repair.c, balance.c and smooth.c. */
#pragma once

#include "schedule/capacity.h"
#include "policy/map/repair.h"
#include "schedule/tournament.h"

enum { SMOOTHED = 20000 }; /* with more tasks than this, single moves only */

/* Task t of unit u, and a neighbour's unit v to which it may move. */
struct border {
    int u, v, t;
    double gain; /* change of the cut if it moved */
};

/* Bytes of a task's links to its unit u, to another unit v, and in all, as they count for u and for
 * v at one end; the last two differ only with routes. */
struct ties {
    double own, other, from, to;
};

struct partner {
    int t;
    double weight;
    struct ties k;
};

struct map_repair {
    const struct map_model *m;
    int *owner, *count;       /* unit of each task; number of tasks of each unit */
    int *first, *next, *prev; /* the tasks of each unit, as lists */
    double *load, *out;       /* weight of each unit; bytes of its links that are cut */
    double *cost;             /* the model's time of each unit */
    double *used;             /* bytes of each unit's tasks in memory */
    double cut;
    struct tournament longest, shortest;
    char *locked; /* tasks moved in this pass */
    double *to;   /* bytes of one task's links to each unit */
    double *mark; /* bytes of one task's links to each other task */
    int *touched; /* units that have an entry in `to` */
    int *target;  /* units that a task may go to */
    char *is_target;
    char *is_third;          /* units that have an entry in `to` where units are near and far */
    struct partner *partner; /* tasks of a unit that may be swapped against */
    struct border *border, *fresh; /* sorted entries; new ones to be merged into them */
    char *dirty;                   /* 1: the task's entries are outdated */
    int *changed;                  /* list of the dirty tasks */
    int *order;                    /* order in which tasks get into the lists */
    int *trail;                    /* trail of moves: task, unit that it came from */
    double *scratch;               /* an entry a unit */
    long budget;                   /* remaining visits of links */
};

/* With routes (near.c): the ties of t; the cost of the longest third unit that becomes longer
 * when a of u moves to v, and with b >= 0 b moves back, 0 if none does; the update of third units
 * when t moves. */
struct ties map_near_ties(const struct map_repair *r, int t, int v);
double map_near_third(struct map_repair *r, int a, int b, int u, int v);
void map_near_move(struct map_repair *r, int t, int u, int v);

static inline double unit_cost(const struct map_repair *r, int u, double load, double out) {
    return load * r->m->pace[u] + out * r->m->per_byte;
}

static inline struct ties ties(struct map_repair *r, int t, int v) {
    const struct map_model *m = r->m;
    const int u = r->owner[t];
    struct ties k = {0};
    r->budget -= 1 + m->start[t + 1] - m->start[t];
    if (m->routes.kinds) return map_near_ties(r, t, v);
    for (int i = m->start[t]; i < m->start[t + 1]; i++) {
        int o = r->owner[m->neighbour[i]];
        if (o == u)
            k.own += m->bytes[i];
        else if (o == v)
            k.other += m->bytes[i];
        k.from += m->bytes[i];
    }
    k.to = k.from;
    return k;
}

/* Effect of a step: the two units' costs, the cut, the longest other unit that becomes longer, and
 * the bytes beyond capacities. */
struct effect {
    double u, v, cut, third, over;
};

static inline double change_of_over(const struct map_repair *r, double bytes, int u, int v) {
    const double *capacity = r->m->capacity;
    return capacity_excess(capacity[u], r->used[u] - bytes) +
           capacity_excess(capacity[v], r->used[v] + bytes) -
           capacity_excess(capacity[u], r->used[u]) - capacity_excess(capacity[v], r->used[v]);
}

/* Effect of moving task a of u, with ties ka to v, to v. */
static inline struct effect moved(struct map_repair *r, int a, struct ties ka, int u, int v) {
    const struct map_model *m = r->m;
    double w = m->weight[a];
    return (struct effect){
        .u = unit_cost(r, u, r->load[u] - w, r->out[u] + 2 * ka.own - ka.from),
        .v = unit_cost(r, v, r->load[v] + w, r->out[v] - 2 * ka.other + ka.to),
        .cut = ka.own - ka.other + (ka.to - ka.from),
        .third = m->routes.kinds ? map_near_third(r, a, -1, u, v) : 0,
        .over = m->memory ? change_of_over(r, m->memory[a], u, v) : 0,
    };
}

/* Effect of swapping a with task b of v; `between`: bytes of the link between the two. */
static inline struct effect swapped(struct map_repair *r, int a, struct ties ka, int b,
                                    struct ties kb, double between, int u, int v) {
    const struct map_model *m = r->m;
    double w = m->weight[a] - m->weight[b];
    double own = kb.own + between, other = kb.other - between; /* once a has moved */
    return (struct effect){
        .u = unit_cost(r, u, r->load[u] - w, r->out[u] + 2 * ka.own - ka.from - 2 * other + kb.to),
        .v = unit_cost(r, v, r->load[v] + w, r->out[v] - 2 * ka.other + ka.to + 2 * own - kb.from),
        .cut = ka.own - ka.other + own - other + (ka.to - ka.from) + (kb.to - kb.from),
        .third = m->routes.kinds ? map_near_third(r, a, b, u, v) : 0,
        .over = m->memory ? change_of_over(r, m->memory[a] - m->memory[b], u, v) : 0,
    };
}

/* 1 if unit u may give away a task without getting one. */
static inline int may_give(const struct map_repair *r, int u) {
    return r->count[u] > 1 || r->m->tasks < r->m->units;
}

/* Sets in `mark`, or clears, the bytes of a's links to each task, as they count between a's unit
 * and v. */
static inline void set_mark(struct map_repair *r, int a, int v, int on) {
    const struct map_model *m = r->m;
    for (int i = m->start[a]; i < m->start[a + 1]; i++)
        r->mark[m->neighbour[i]] =
            on ? r->mark[m->neighbour[i]] + map_cost(m, i, r->owner[a], v) : 0;
}

/* A step that shortens the longest unit: a moves to v, and b, unless -1, back. */
struct step {
    int a, b, v;
    double value; /* the least is the best */
};

/* Moves task t to unit v. */
void map_move(struct map_repair *r, int t, int v);
