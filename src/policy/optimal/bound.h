/* The load model of the exact schedule, and bounds that need no solver.
 *
 * The load of a unit is the time of its tasks, weight / speed, and of its links to tasks of other
 * units: bytes / bandwidth at each end, or the time of the route (Gonzalez and Morancho, "Multi-GPU
 * Parallelization of the NAS Multi-Zone Parallel Benchmarks", 2021, section 3.3.1). The model's
 * unit of time is chosen so that the largest number is 1. */
#pragma once

#include "policy/routes.h"
#include <evener/status.h>
#include <math.h>
#include <stdio.h>
#include <sys/types.h>

struct optimal_model {
    int tasks, units, links;
    double unit;    /* the problem's time that is 1 here */
    double *weight; /* weight of each task */
    double *speed;  /* speed of each unit; the largest is 1 */
    double total;   /* sum of the weights */
    int *heavy;     /* the tasks by descending weight, the lower number first */
    /* links of task t: entries first[t] .. first[t + 1] - 1 */
    int *first, *other;
    double *cost;  /* cost at each end if the ends are on different units; with routes, at least */
    double *bytes; /* bytes of the link */
    double *tied;  /* sum of the costs of each task's links */
    /* the grid of tasks, x fastest, if the links are those of one; else 0 x 0 */
    int across, up;
    double rows, columns; /* cost of dividing every row, every column */
    double density;       /* largest weight of a task over the cost of its row and column */
    struct routes routes; /* in the problem's unit of time */
    /* with capacities, in parts of the largest task's memory; else NULL */
    double *memory, *capacity; /* memory of each task, capacity of each unit */
    double over;               /* allowed excess over the capacities, in all */
    double *holds;             /* largest weight that each unit's memory holds */
    double until;              /* end of the search by optimal_clock(); initially INFINITY */
};

/* The clock of the limit: processor time of this thread and of its solver, so that other programs
 * change nothing of a plan. */
double optimal_clock(void);

/* Adds the time of the process that the solver works in to the clock; 0: that process has ended. */
void optimal_watch(pid_t process);

static inline int optimal_late(const struct optimal_model *m) {
    return m->until < INFINITY && optimal_clock() >= m->until;
}

/* Makes the model; `memory`: with capacities, except for `over` bytes. EVN_MEMORY. Free it in any
 * case. */
evn_status optimal_model_make(struct optimal_model *m, const evn_problem *p, int memory,
                              double over);
void optimal_model_free(struct optimal_model *m);

/* Cost of link `at` at each end, with its ends on u and v. */
double optimal_cost(const struct optimal_model *m, int at, int u, int v);

/* 1 if units u and v are interchangeable. */
int optimal_alike(const struct optimal_model *m, int u, int v);

/* Fills the loads of the units and returns the largest. */
double optimal_load(const struct optimal_model *m, const int *owner, double *load);

/* Lower bound of the cost of links between a set of tasks of weight `weight` and all others;
 * concave in `weight`. 0 if the links are not those of a grid. */
double optimal_boundary(const struct optimal_model *m, double weight);

/* Largest weight on unit u with a load of at most `longest`. */
double optimal_capacity(const struct optimal_model *m, int u, double longest);

/* A lower bound of the largest load, at most `longest`, the largest load of some assignment; *why
 * names the argument. If time runs out the bound is weaker, but valid. */
double optimal_bound(const struct optimal_model *m, double longest, const char **why);

/* Proof of the exact schedule's answer, in the problem's units of time. */
struct optimal_proof {
    double longest;     /* largest load of the assignment; NAN: there was no memory to find it */
    double bound;       /* no assignment has a smaller largest load */
    double gap;         /* longest / bound - 1; 0 if both are 0 */
    const char *found;  /* method that found the assignment */
    const char *proved; /* method that proved the bound */
    int solved;         /* 1: the integer program was started */
    int answered;       /* 1: it came to an end */
    int nodes;          /* nodes of its tree */
    double solver;      /* bound proven by the solver alone; 0: none */
};

/* The proof of a schedule of the policy optimal. */
const struct optimal_proof *optimal_proof(const evn_schedule *s);
void optimal_explain(const evn_schedule *s, FILE *out);
