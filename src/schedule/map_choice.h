/* The choice that `map` makes for one problem. */
#ifndef SCHEDULE_MAP_CHOICE_H
#define SCHEDULE_MAP_CHOICE_H

#include "schedule/map_repair.h"

enum { MAP_BUDGET = 4000000 }; /* of a plan, in looks at a link: some 0.05 s */
#define MAP_NEAR 0.0005        /* of the bound: short enough */

/* The best assignment under the model `m` of `p`. 1: not enough memory. */
int map_choose(const evn_problem *p, const struct map_model *m, int *owner);

/* The same with the model, which is opened for weights and speeds as map_model_open() has them: as
 * if there was enough memory, and if that does not fit, so that it does. 1: not enough memory, and
 * there is nothing to close. */
int map_plan(struct map_model *m, const evn_problem *p, const double *weight, const double *speed,
             int *owner);

/* What a schedule that is a `map` has learnt. */
struct learn *map_learnt(const evn_schedule *map);

/* Where units are near and far: shares the tasks out to nodes, then those of a node to its units;
 * on one node by kinds of units. 1: that is nothing but what there is already, or there is not
 * enough memory. */
int map_by_nodes(const evn_problem *p, const struct map_model *m, int *owner);

/* The i-th mapping of Scotch; 1: there is none. */
int map_scotch(const struct map_model *m, int i, int *owner);

#endif
