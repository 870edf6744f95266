/* The choice of `map` for one problem. */
#pragma once

#include "policy/map/repair.h"

enum { MAP_BUDGET = 4000000 }; /* budget of a plan in visits of links: some 0.05 s */
enum {
    MAP_MANY = 2000, /* tasks above which the multilevel scheme alone cuts fewer bytes than Scotch,
                        unless units are near and far or memory is short */
    MAP_SCOTCH_TASKS = 20000, /* above this, or with more units, Scotch takes too long for a plan */
    MAP_SCOTCH_UNITS = 1024,
};
#define MAP_NEAR 0.0005 /* excess over the bound up to which a makespan is short enough */

/* The best assignment of `p` under the model `m`. 1: not enough memory. */
int map_choose(const evn_problem *p, const struct map_model *m, int *owner);

/* map_choose(), opening the model with weights and speeds as map_model_open(): first without
 * capacities; if that does not fit, with them. 1: not enough memory, and nothing to close. */
int map_plan(struct map_model *m, const evn_problem *p, const double *weight, const double *speed,
             int *owner);

/* Gives the parts `to` of a plan to units that are alike, in speed and all else that is told of
 * them, so that much weight stays with its `owner`: the heaviest overlaps first. 1: not enough
 * memory, and `to` is as it was. */
int map_rename(const evn_problem *p, const double *speed, const int *owner, int *to);

/* Learner of a `map` schedule. */
struct learn *map_learnt(const evn_schedule *map);

/* With routes: assigns tasks to nodes, then those of a node to its units; on one node by kinds of
 * units. 1: the result is no other than before, or there is not enough memory. */
int map_by_nodes(const evn_problem *p, const struct map_model *m, int *owner);

/* Evener's own multilevel scheme (levels.h); another seed gives another assignment. 1: no links,
 * fewer tasks than units, or not enough memory. */
int map_multilevel(const struct map_model *m, unsigned long long seed, int *owner);

/* Opens Scotch's library, once in a process. EVN_MISSING, without a message. Any thread. */
evn_status map_scotch_open(void);
/* Opens it, with its version and file in `text`. EVN_MISSING. */
evn_status map_scotch_look(char *text, size_t size);

/* The i-th mapping of Scotch, which is open; the model has links, and tasks for all of its two or
 * more units. 1: none. */
int map_scotch(const struct map_model *m, int i, int *owner);
