/* Learning: from who ran what in how many seconds to what a task costs and how fast a unit is, and
 * when what was learnt is reason enough to move data.
 *
 * The model is seconds = cost of the task / speed of the unit. Two windows see to both: medians
 * over the last few instances tell whether something has changed, and as long as they do not,
 * beyond what measurements scatter by, what is believed is a mean over up to LEARN_MEMORY
 * instances. So a spike of a single instance, be it of a task or of a whole unit, changes nothing;
 * noise averages out the better the longer things stay as they are; and a lasting change is
 * believed once it fills half of the short window (3 instances of the usual 5), all of it. Of two
 * middle values the shorter time counts, because what disturbs a measurement makes it longer.
 *
 * What all tasks of a unit have in common is the unit's speed; what a task has of its own is its
 * cost. Times of tasks that stay where they are cannot tell a slow unit from costly tasks; until
 * tasks have moved, the problem's weights decide between them. Either way cost / speed predicts the
 * seconds of a task where it is.
 *
 * Whether to move is a question of uncertainty. The times of the units scatter from instance to
 * instance, and by the number of instances that stand behind them one knows how far the prediction
 * may be off; a gain counts only beyond a multiple of that. Who has moved and did not get what was
 * promised, or has moved a short while ago, needs a larger multiple for a while; and who has looked
 * for something better in vain looks again after twice as many instances, or when things have
 * become a good deal worse. Where times do not scatter there is no uncertainty and none of this
 * delays anything.
 *
 *     char *block = malloc(sizeof *state + learn_bytes(tasks, units, LEARN_WINDOW));
 *     struct learn *l = learn_init(block + sizeof *state, problem, LEARN_WINDOW);
 *     ...
 *     learn_feed(l, owner, seconds);              // in the policy's learn()
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
#ifndef SCHEDULE_LEARN_H
#define SCHEDULE_LEARN_H

#include <evener/schedule.h>
#include <stddef.h>

enum { LEARN_WINDOW = 5, LEARN_WINDOW_MAX = 64, LEARN_MEMORY = 64 }; /* instances */

struct learn;

/* Bytes of a learner; a multiple of 16. */
size_t learn_bytes(int tasks, int units, int window);

/* Makes one in `block`, which the caller allocated (aligned as malloc does; a struct before it must
 * have a size that is a multiple of 8) and frees: a learner owns nothing else. `problem` is copied
 * but for its arrays, which must live as long, as must its `carry`, which may change. Costs start
 * as the weights, speeds as the problem's. 1 <= window <= LEARN_WINDOW_MAX. */
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

/* Speed of each unit in the last instance alone, on the scale of learn_speed(); 0: it had nothing
 * that told. */
const double *learn_seen(const struct learn *l);

/* What all speeds have been scaled by since the first instance, so that those of two instances can
 * be compared. */
double learn_scale(const struct learn *l);

/* Seconds in the problem's unit of time (1 before the first feed): sum of costs over sum of
 * weights. A bandwidth in bytes per unit of time is bandwidth / learn_time_unit() bytes a
 * second. */
double learn_time_unit(const struct learn *l);

/* The longest unit's compute time under `owner`, in seconds as cost and speed predict it. */
double learn_makespan(struct learn *l, const int *owner);

/* Instances that are still to come; infinite if the problem says many. */
double learn_left(const struct learn *l);

/* Seconds of an instance in which all units are done at once: sum of costs over sum of speeds. */
double learn_even(const struct learn *l);

/* How far the predicted time of an instance may be off, relative to it, as one standard error: from
 * the scatter of the units' times and the number of instances behind them. 0 where times repeat. */
double learn_uncertainty(struct learn *l);

/* The relative gain that a change must exceed for uncertainty alone; 0 where there is none. */
double learn_noise(struct learn *l);

/* Seconds below which no change of the assignment is to be had: that each task that changes its
 * unit takes once on the new one, because its data are cold there, wherever they come from; and
 * that states take to other spaces. */
double learn_seconds_to_move(const struct learn *l, const int *from, const int *to);

/* The latter alone. */
double learn_seconds_to_carry(const struct learn *l, const int *from, const int *to);

/* Whether states may be carried to other spaces where an instance takes `now` and `then` seconds
 * before and after: that must be worth it over the instances that are left, and once units have
 * changed their speed by a tenth also over as many as they have kept it. 1 where none would be. */
int learn_carries(struct learn *l, double now, double then, const int *from, const int *to);

/* Whether to change the assignment: `now` and `then` are the seconds of an instance before and
 * after, `cost` the seconds that the change takes. It must save at least a fiftieth of an instance
 * and some times what uncertainty there is, and over the instances that are left more than it
 * costs. */
int learn_pays(struct learn *l, double now, double then, double cost);

/* Whether to look for another assignment, which may take long: `now` as above, `could` the best
 * that can be hoped for. It asks whether that would pay, and not too often. */
int learn_asks(struct learn *l, double now, double could);

/* What came of it: nothing that is certainly worth having (`could` as asked with, `then` the best
 * there was), or a move that promises `then`. The promise is looked at after some instances. */
void learn_stays(struct learn *l, double now, double could, double then);
void learn_moves(struct learn *l, double now, double then);

#endif
