/* The model of `map`, and the repair that makes any assignment good under it.
 *
 * The model: a unit's step takes load / speed + bytes / bandwidth, its load
 * being the weights of its tasks and its bytes those of the links that leave it
 * (counted once a link, as they go out while as many come in); the step takes
 * as long as the longest unit. Bandwidth 0: exchange takes no time. Where units
 * are near and far, a link takes the time of its route instead, and "bytes" are
 * such times throughout.
 *
 * Memory: with capacities, no step puts more bytes over them than there are.
 *
 * The order of objectives: first the makespan, and of assignments that keep a
 * limit on it the one that cuts the fewest bytes. The limit is what makes the
 * two comparable; it is the caller's.
 *
 * The repair has two parts, both best moves and swaps. `map_balance` takes
 * tasks from the longest unit, or swaps them for smaller ones, always by the
 * step that costs the fewest bytes cut per time saved. `map_smooth` then
 * straightens the borders under the limit: passes in which the best step is
 * taken even if it is a bad one, each task once, and which go back to the best
 * state seen (Kernighan and Lin, "An Efficient Heuristic Procedure for
 * Partitioning Graphs", Bell System Technical Journal 49, 1970). No unit gives
 * away its last task. All work is counted, and ends with a budget rather than
 * with time, so that the same input gives the same answer everywhere.
 */
#ifndef SCHEDULE_MAP_REPAIR_H
#define SCHEDULE_MAP_REPAIR_H

#include "schedule/routes.h"

/* A problem made ready: weights and times scaled to be near 1, links as a graph
 * of neighbours. */
struct map_model {
    int tasks, units;
    double *weight;   /* of each task; the heaviest has 1 */
    double *pace;     /* time per weight of each unit; the fastest has 1 */
    double per_byte;  /* time per byte that a unit sends; 0: exchange is free */
    double bound;     /* no makespan can be below; exchange not counted */
    double time_unit; /* of the problem, in one of the model */
    int *start;       /* tasks + 1: where each task's neighbours begin */
    int *neighbour;   /* each link twice */
    double *bytes;
    struct routes routes; /* kinds > 0: they count instead of per_byte, which is 1 */
    const double *memory; /* bytes of each task, the problem's; NULL: there is enough */
    double *capacity;     /* of each unit */
    int is_part;          /* what a node has of a larger problem; 0 at first */
};

/* Makes it from `p` with weights and speeds in place of the problem's (NULL:
 * the problem's own, where NULL is all 1). 1: not enough memory, and there is
 * nothing to close. */
int map_model_open(struct map_model *m, const evn_problem *p, const double *weight,
                   const double *speed);
void map_model_close(struct map_model *m);

/* What entry i of `bytes` counts between units u and v, which differ. */
static inline double map_cost(const struct map_model *m, int i, int u, int v) {
    return m->routes.kinds ? routes_cost(&m->routes, u, v, m->bytes[i]) : m->bytes[i];
}

struct map_score {
    double over;     /* bytes over the capacities */
    double makespan; /* in the model's time */
    double cut;      /* bytes, once a link */
};
/* `scratch` has units entries. */
struct map_score map_score(const struct map_model *m, const int *owner, double *scratch);

/* Whether to prefer a to b under a limit on the makespan: one that puts fewer
 * bytes over the capacities; of equal ones one that keeps the limit to
 * one that does not; of two that keep it the fewer bytes; of two that do not
 * the shorter. */
int map_better(struct map_score a, struct map_score b, double limit);

/* The simple candidates; both starve nobody when tasks suffice. 1: not enough
 * memory. */
/* Tasks by weight, descending, each to the unit that is done with it first
 * (Graham, "Bounds on Multiprocessing Timing Anomalies", 1969, for unequal
 * speeds). */
int map_longest_first(const struct map_model *m, int *owner);
/* The optimum over consecutive tasks in the order of the units, exchange not
 * counted. */
int map_consecutive(const struct map_model *m, int *owner);

/* Gives every unit that has nothing the lightest task of one that has several,
 * if there are enough. 1: not enough memory. */
int map_feed(const struct map_model *m, int *owner);

/* The repair of one assignment, in memory of its own. It stops where it is when
 * it has looked at `budget` links. */
struct map_repair;
struct map_repair *map_repair_open(const struct map_model *m);
void map_repair_close(struct map_repair *r);
void map_repair_start(struct map_repair *r, const int *owner, long budget);
long map_repair_left(const struct map_repair *r); /* of the budget; may be below 0 */
/* Steps that bring the makespan down to `limit`, as far as they go. */
void map_balance(struct map_repair *r, double limit);
/* Steps that cut fewer bytes while no unit exceeds `limit` in the end, `loose`
 * (>= limit) on the way. What exceeds the limit at the start may stay. */
void map_smooth(struct map_repair *r, double limit, double loose);
const int *map_repair_owner(const struct map_repair *r);
struct map_score map_repair_score(const struct map_repair *r);
/* The same as the sums that it keeps have it, without counting all again. */
double map_repair_makespan(const struct map_repair *r);
double map_repair_cut(const struct map_repair *r);

#endif
