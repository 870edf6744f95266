/* The load model of the exact schedule, and what can be proven about it without a solver.
 *
 * The load of a unit is the time of its tasks, weight / speed, and of its links to tasks of other
 * units, bytes / bandwidth at each end, or what the route between the two units takes (Gonzalez and
 * Morancho, "Multi-GPU Parallelization of the NAS Multi-Zone Parallel Benchmarks", 2021,
 * section 3.3.1). All numbers of a model are in its own unit of time, chosen so that the largest of
 * them is 1 whatever the problem's are.
 */
#ifndef SCHEDULE_OPTIMAL_BOUND_H
#define SCHEDULE_OPTIMAL_BOUND_H

#include "schedule/routes.h"
#include <evener/status.h>
#include <stdio.h>

struct optimal_model {
    int tasks, units, links;
    double unit;    /* time of the problem that is 1 here */
    double *weight; /* n */
    double *speed;  /* U, the largest is 1 */
    double total;   /* of the weights */
    int *heavy;     /* the tasks by descending weight, the lower number first */
    /* links of task t: entries first[t] .. first[t + 1] - 1 */
    int *first, *other;
    double *cost;  /* to the unit of each end, if the ends are on different units; where those are
                      near and far, at least */
    double *bytes; /* in bytes */
    double *tied;  /* sum of the costs of each task's links */
    /* the grid of tasks, x fastest, if the links are those of one; else 0 x 0 */
    int across, up;
    double rows, columns; /* what it costs to divide every row, every column */
    double density;       /* largest weight of a task over what its row and column cost */
    struct routes routes; /* in the problem's unit of time */
    /* if memory counts, else NULL; in parts of the largest task's */
    double *memory, *capacity; /* of each task, of each unit */
    double over;               /* what may be over the capacities, all together */
    double *holds;             /* the weight that each unit's memory holds at most */
};

/* `memory`: the capacities count, but for `over` bytes. EVN_MEMORY. Free it in any case. */
evn_status optimal_model_make(struct optimal_model *m, const evn_problem *p, int memory,
                              double over);
void optimal_model_free(struct optimal_model *m);

/* What link `at` costs the unit at each end, with its ends on u and v. */
double optimal_cost(const struct optimal_model *m, int at, int u, int v);

/* Whether units u and v can change their names. */
int optimal_alike(const struct optimal_model *m, int u, int v);

/* Fills the loads of the units and returns the largest. */
double optimal_load(const struct optimal_model *m, const int *owner, double *load);

/* The least that the links between a set of tasks of weight `weight` and all others can cost. It is
 * concave in `weight`. 0 if the links are not those of a grid. */
double optimal_boundary(const struct optimal_model *m, double weight);

/* No more weight than this fits on unit u if its load is to be at most `longest`. */
double optimal_capacity(const struct optimal_model *m, int u, double longest);

/* A lower bound of the largest load, at most `longest`, which must be the largest load of some
 * assignment; *why names the argument. */
double optimal_bound(const struct optimal_model *m, double longest, const char **why);

/* What the exact schedule knows of its own answer, in the problem's units of time. */
struct optimal_proof {
    double longest;     /* largest load of the assignment */
    double bound;       /* no assignment has a smaller one */
    double gap;         /* longest / bound - 1; 0 if both are 0 */
    const char *found;  /* what found the assignment */
    const char *proved; /* what proved the bound */
    int solved;         /* whether the integer program was started */
    int nodes;          /* of its tree */
    double solver;      /* the bound that it alone has proven; 0: none */
};

/* For a schedule of the policy optimal. */
const struct optimal_proof *optimal_proof(const evn_schedule *s);
void optimal_explain(const evn_schedule *s, FILE *out);

#endif
