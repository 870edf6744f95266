/* The model of `map`, and the repair that improves any assignment under it.
 *
 * Model: a unit's step takes load / speed + bytes / bandwidth; its load is the sum of its tasks'
 * weights, its bytes those of the links that leave it (once a link, since as many enter). The step
 * takes as long as the longest unit. Bandwidth 0: exchange is free. With routes a link takes the
 * time of its route, and "bytes" are such times throughout.
 *
 * Memory: with capacities, no step increases the bytes beyond them.
 *
 * Objectives: first the makespan; among assignments within a limit on it, the fewest bytes cut. The
 * limit, the caller's, makes the two comparable.
 *
 * The repair has two parts, both with best moves and swaps. `map_balance` takes tasks from the
 * longest unit, or swaps them for smaller ones, by the step with the fewest bytes cut per time
 * saved. `map_smooth` straightens borders under the limit: passes that take the best step even if
 * it is a bad one, each task once, and return to the best state seen (Kernighan and Lin, "An
 * Efficient Heuristic Procedure for Partitioning Graphs", Bell System Technical Journal 49, 1970).
 * No unit gives away its last task. Work is limited by counting, so the same input gives the same
 * answer everywhere. */
#pragma once

#include "policy/routes.h"

/* A prepared problem: weights and times scaled to about 1, links as a graph of neighbours. */
struct map_model {
    int tasks, units;
    double *weight;   /* weight of each task; the heaviest has 1 */
    double *pace;     /* time per weight of each unit; the fastest has 1 */
    double per_byte;  /* time per byte that a unit sends; 0: exchange is free */
    double bound;     /* lower bound of the makespan, without exchange */
    double time_unit; /* the problem's unit of time, in the model's */
    int *start;       /* tasks + 1: where each task's neighbours begin */
    int *neighbour;   /* neighbours at the other ends of links, each link twice */
    double *bytes;
    struct routes routes; /* kinds > 0: used instead of per_byte, which is 1 */
    const double *memory; /* bytes of each task, the problem's; NULL: enough memory */
    double *capacity;     /* capacity of each unit */
    int is_part;          /* 1: one node's part of a larger problem; initially 0 */
};

/* malloc(), in large pages if they are large and the system gives them: first touches of small
 * pages took half of a plan's time. */
void *map_model_memory(size_t bytes);

/* Prepares `p` with these weights and speeds (NULL: the problem's, where NULL is all 1). 1: not
 * enough memory, and nothing to close. */
int map_model_open(struct map_model *m, const evn_problem *p, const double *weight,
                   const double *speed);
void map_model_close(struct map_model *m);

/* Cost of entry i of `bytes` between different units u and v. */
static inline double map_cost(const struct map_model *m, int i, int u, int v) {
    return m->routes.kinds ? routes_cost(&m->routes, u, v, m->bytes[i]) : m->bytes[i];
}

struct map_score {
    double over;     /* bytes over the capacities */
    double makespan; /* longest unit, in the model's time */
    double cut;      /* bytes cut, once a link */
};
/* `scratch` has units entries. */
struct map_score map_score(const struct map_model *m, const int *owner, double *scratch);

/* 1 if a is better than b under a limit of the makespan: fewer bytes beyond capacities; then within
 * the limit; then of two within it fewer bytes cut, of two beyond it the shorter. */
int map_better(struct map_score a, struct map_score b, double limit);

/* Simple candidates; no unit stays empty if tasks suffice. 1: not enough memory. */
/* Tasks by descending weight, each to the unit that finishes it first (Graham, "Bounds on
 * Multiprocessing Timing Anomalies", 1969, for unequal speeds). */
int map_longest_first(const struct map_model *m, int *owner);
/* The optimum among consecutive tasks in the order of units, without exchange. */
int map_consecutive(const struct map_model *m, int *owner);

/* Gives every empty unit the lightest task of a unit with several, if there are enough. 1: not
 * enough memory. */
int map_feed(const struct map_model *m, int *owner);

/* The repair of one assignment, in memory of its own; it stops after `budget` visits of links. */
struct map_repair;
struct map_repair *map_repair_open(const struct map_model *m);
void map_repair_close(struct map_repair *r);
void map_repair_start(struct map_repair *r, const int *owner, long budget);
long map_repair_left(const struct map_repair *r); /* remaining budget; may be negative */
/* Steps that reduce the makespan to `limit`, as far as possible. */
void map_balance(struct map_repair *r, double limit);
/* Steps that cut fewer bytes; no unit exceeds `limit` at the end, nor `loose` (>= limit) in
 * between. A unit beyond the limit at the start may stay so. */
void map_smooth(struct map_repair *r, double limit, double loose);
/* map_balance() and map_smooth(): under a limit that is looser by a part first, if it is above 0,
 * and then under it. */
void map_straighten(struct map_repair *r, double limit, double looser);
const int *map_repair_owner(const struct map_repair *r);
/* From the sums that the repair keeps; memories, if there are any, are counted. */
struct map_score map_repair_score(const struct map_repair *r);
double map_repair_makespan(const struct map_repair *r);
