/* Learning: from who ran what in how many seconds to what a task costs and how fast a unit is.
 *
 * The model is seconds = cost of the task / speed of the unit. Fed after each instance of a loop,
 * it keeps the last `window` of them and estimates by medians, so that one bad measurement among
 * them is thrown away: a spike of a single instance, be it of a task or of a whole unit, does not
 * change the estimates, and a lasting change is believed once it fills half of the window (3
 * instances of the usual 5). Of two middle values the shorter time counts, because what disturbs a
 * measurement makes it longer.
 *
 * What all tasks of a unit have in common is the unit's speed; what a task has of its own is its
 * cost. Times of tasks that stay where they are cannot tell a slow unit from costly tasks; until
 * tasks have moved, the problem's weights decide between them. Either way cost / speed predicts the
 * seconds of a task where it is.
 *
 *     char *block = malloc(sizeof *state + learn_bytes(tasks, units, LEARN_WINDOW));
 *     struct learn *l = learn_init(block + sizeof *state, problem, LEARN_WINDOW);
 *     ...
 *     learn_feed(l, owner, seconds);              // in the policy's learn()
 *     const double *cost = learn_cost(l), *speed = learn_speed(l);
 *     ... a new assignment `to` from cost and speed ...
 *     if (learn_pays(l, learn_makespan(l, from), learn_makespan(l, to), seconds_to_move))
 *         memcpy(s->owner, to, ...);
 */
#ifndef SCHEDULE_LEARN_H
#define SCHEDULE_LEARN_H

#include <evener/schedule.h>
#include <stddef.h>

enum { LEARN_WINDOW = 5, LEARN_WINDOW_MAX = 64 }; /* instances */

struct learn;

/* Bytes of a learner; a multiple of 16. */
size_t learn_bytes(int tasks, int units, int window);

/* Makes one in `block`, which the caller allocated (aligned as malloc does; a struct before it must
 * have a size that is a multiple of 8) and frees: a learner owns nothing else. `problem` is copied
 * but for its arrays, which must live as long. Costs start as the weights, speeds as the
 * problem's. 1 <= window <= LEARN_WINDOW_MAX. */
struct learn *learn_init(void *block, const evn_problem *problem, int window);

/* An instance is over: `owner` ran each task in `seconds` (n entries each, as checked by
 * evn_schedule_learn()). */
void learn_feed(struct learn *l, const int *owner, const double *seconds);

/* Forgets the instances, and goes on from the estimates. */
void learn_forget(struct learn *l);

/* Instances fed so far, and whether they fill half of the window, so that one outlier is no matter.
 */
int learn_instances(const struct learn *l);
int learn_ready(const struct learn *l);

/* Cost of each task, n entries, >= 0 and finite; speed of each unit, U entries, > 0 and finite:
 * cost / speed is in seconds (before the first feed: in the problem's unit of time). Speeds are
 * scaled so that they add up to what the problem's do. A unit that had nothing to do in the window
 * keeps what was known of it. */
const double *learn_cost(const struct learn *l);
const double *learn_speed(const struct learn *l);

/* Seconds in the problem's unit of time (1 before the first feed): sum of costs over sum of
 * weights. A bandwidth in bytes per unit of time is bandwidth / learn_time_unit() bytes a
 * second. */
double learn_time_unit(const struct learn *l);

/* The longest unit's compute time under `owner`, in seconds as cost and speed predict it. */
double learn_makespan(struct learn *l, const int *owner);

/* Instances that are still to come; infinite if the problem says many. */
double learn_left(const struct learn *l);

/* Whether to change the assignment: `now` and `then` are the seconds of an instance before and
 * after, `cost` the seconds that the change takes (0 if unknown). It must save at least a
 * fiftieth of an instance, or the noise of measuring would move data to and fro, and over the
 * instances that are left more than it costs. */
int learn_pays(const struct learn *l, double now, double then, double cost);

#endif
