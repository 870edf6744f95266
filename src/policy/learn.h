/* Learning: estimates of tasks' costs and units' speeds from measured times, and the decision
 * whether they justify a migration.
 *
 * The model is seconds = cost of the task / speed of the unit. Two windows estimate both: medians
 * over the last few instances detect a change; without a change beyond the scatter of measurements,
 * the estimate is a mean over up to LEARN_MEMORY instances. So a spike in one instance, of a task
 * or a whole unit, changes nothing; noise averages out while conditions are constant; and a lasting
 * change is adopted once it fills half of the short window (3 of the usual 5 instances). Of two
 * middle values the shorter time counts, since disturbances lengthen times.
 *
 * The factor common to all tasks of a unit is the unit's speed; a task's own factor is its cost.
 * Times of tasks that never move cannot separate a slow unit from costly tasks. Until tasks have
 * moved, the problem's speeds are believed as far as units differ from them by no more than the
 * scatter of their tasks explains, and beyond that its weights; what tasks have shown by their
 * first move then corrects both. In either case cost / speed predicts a task's seconds on its
 * present unit.
 *
 * Migration is a question of uncertainty. During the first instances a gain counts that is likely,
 * as each plan stands on more of them than the one before, and in the last of these a smaller one,
 * whatever has just moved; afterwards one that is certain. The
 * scatter of units' times and the number of instances give the standard error of a prediction; a
 * gain counts only beyond a multiple of it. After a recent move, or a move whose promise failed,
 * the multiple is larger for a while; after a search in vain the next one waits twice as many
 * instances, or until the imbalance is clearly worse. Without scatter nothing is delayed.
 *
 *     char *block = malloc(sizeof *state + learn_bytes(tasks, units, LEARN_WINDOW));
 *     struct learn *l = learn_init(block + sizeof *state, problem, LEARN_WINDOW);
 *     ...
 *     if (learn_feed(l, owner, seconds)) return;  // in the policy's learn()
 *     const double *cost = learn_cost(l), *speed = learn_speed(l);
 *     double now = learn_makespan(l, s->owner);
 *     if (learn_asks(l, now, could)) { // the best that can be hoped for
 *         ... a new assignment `to` from cost and speed ...
 *         double then = learn_makespan(l, to);
 *         if (learn_pays(l, now, then, learn_seconds_to_move(l, s->owner, to))) {
 *             learn_moves(l, now, then);
 *             memcpy(s->owner, to, ...);
 *         } else {
 *             learn_stays(l, now, could, then);
 *         }
 *     }
 */
#pragma once

#include "schedule/origins.h"
#include "schedule/pool.h"
#include <evener/schedule.h>
#include <stddef.h>

enum { LEARN_WINDOW_MAX = 64, LEARN_MEMORY = 64 }; /* numbers of instances */

struct learn;

/* Bytes of a learner; a multiple of 16. */
size_t learn_bytes(int tasks, int units, int window);

/* Initialises a learner in `block`, which the caller allocated (aligned as by malloc(); a struct
 * before it must have a size that is a multiple of 8) and frees. `problem` is copied except for its
 * arrays, which must live as long; its `carry` may change. Costs start as the weights, speeds as
 * the problem's. 1 <= window <= LEARN_WINDOW_MAX. */
struct learn *learn_init(void *block, const evn_problem *problem, int window);

/* Continues from `from` in `block` with other tasks of `problem`, whose owners are `owner`. Of
 * units all stays. A kept task keeps its costs, scaled to its weight; a born one costs by its
 * weight what its origins did by theirs, and counts as if it had been there in all instances kept.
 */
struct learn *learn_change(void *block, const evn_problem *problem, const struct learn *from,
                           const struct origins *o, const int *owner);

/* Feeds an instance: `owner` ran each task in `seconds` (n entries each, checked by
 * evn_schedule_learn()). 1: not enough memory, and nothing is learnt from it. */
int learn_feed(struct learn *l, const int *owner, const double *seconds);

/* The next instance fed stands for `instances` of them; else for one. */
void learn_passed(struct learn *l, int instances);

/* Scales costs and kept times from weights `before` (n entries) to the present ones. A task that
 * weighed nothing gets the mean cost of its weight. */
void learn_weights(struct learn *l, const double *before);

/* Forgets the instances, keeps the estimates. */
void learn_forget(struct learn *l);

/* Number of instances fed, one for each mean; and 1 if they fill half of the window, so that one
 * outlier does not matter. */
int learn_instances(const struct learn *l);
int learn_ready(const struct learn *l);

/* 1 during the first instances: each new plan stands on more of them than the one before, so that
 * it may follow what is likely and need not wait for what is certain. */
int learn_settles(const struct learn *l);

/* 1 at the last of these instances, from which on a gain must be certain: tasks move once more if
 * that is likely to gain. Where units have few tasks, too little is known of each. */
int learn_closes(const struct learn *l);

/* 1 if times agree with the speeds of the problem, or tasks that moved have shown others. Else a
 * unit that takes long may be slow or have heavy tasks: nobody can tell yet. */
int learn_trusts(const struct learn *l);

/* Cost of each task, n entries, >= 0 and finite; speed of each unit, U entries, > 0 and finite:
 * cost / speed is in seconds (before the first feed: in the problem's unit of time). The sum of
 * speeds is that of the problem's. A unit without tasks in the window keeps its estimate. */
const double *learn_cost(const struct learn *l);
const double *learn_speed(const struct learn *l);

/* Speed of each unit in the last instance alone, on the scale of learn_speed(); 0: no information.
 */
const double *learn_seen(const struct learn *l);

/* Factor by which all speeds have been scaled since the first instance, to compare two instances.
 */
double learn_scale(const struct learn *l);

/* Seconds of the problem's unit of time (1 before the first feed): sum of costs over sum of
 * weights. A bandwidth in bytes per unit of time is bandwidth / learn_time_unit() bytes a second.
 */
double learn_time_unit(const struct learn *l);

/* Predicted compute time of the longest unit under `owner`, s. */
double learn_makespan(struct learn *l, const int *owner);

/* Remaining instances; infinite if the problem gives none. */
double learn_left(const struct learn *l);

/* Remaining instances for sums over them: at most 1000, also where the problem gives none. */
double learn_horizon(const struct learn *l);

/* Seconds of a perfectly even instance: sum of costs over sum of speeds. */
double learn_even(const struct learn *l);

/* Lower bound of an instance without exchange, s: that, or the heaviest task on the fastest unit.
 */
double learn_least(const struct learn *l);

/* Relative standard error of the predicted time of an instance, from the scatter of units' times
 * and the number of instances. 0 where times repeat. */
double learn_uncertainty(struct learn *l);

/* Relative gain below which a change is within the uncertainty; 0 where there is none. */
double learn_noise(struct learn *l);

/* Cost of a migration, s: each migrated task takes its time once more on the new unit, where its
 * data are not in the caches, all units at once; and the transfer of states to other spaces. */
double learn_seconds_to_move(const struct learn *l, const int *from, const int *to);

/* Seconds for the transfer of states alone. */
double learn_seconds_to_carry(const struct learn *l, const int *from, const int *to);

/* 1 if states may be transferred, with instances of `now` and `then` seconds before and after: the
 * saving over the remaining instances must pay for it; once units have changed their speed by a
 * tenth, so must the saving over as many instances as the present speeds have lasted. 1 if no state
 * would move. */
int learn_carries(struct learn *l, double now, double then, const int *from, const int *to);

/* 1 if a change pays: `now` and `then` are the seconds of an instance before and after, `cost`
 * those of the change. It must save at least a fiftieth of an instance (half a hundredth during the
 * first ones), a multiple of the uncertainty, and over the remaining instances more than it costs.
 */
int learn_pays(struct learn *l, double now, double then, double cost);

/* learn_pays() without uncertainty, for a change whose gain is certain, as after new weights: a
 * fiftieth in any case. */
int learn_pays_certainly(const struct learn *l, double now, double then, double cost);

/* 1 if a search for another assignment may pay, which may take long: `now` as above, `could` the
 * best that can be hoped for. Not too often. */
int learn_asks(struct learn *l, double now, double could);

/* Result of the search: no certain gain (`could` as in learn_asks(), `then` the best found), or a
 * migration that promises `then`. The promise is checked after some instances. */
void learn_stays(struct learn *l, double now, double could, double then);
void learn_moves(struct learn *l, double now, double then);
