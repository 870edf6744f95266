/* Pooled instances: a policy gets the mean of many short instances, so that learning costs less
 * than a hundredth of the loop's time and a preempted thread has no effect.
 *
 * An instance of at least POOL_LONG seconds, in which learning is cheap, goes to the policy
 * directly. Shorter ones are summed, one addition a task, until they fill POOL_SHORT seconds; the
 * policy learns their mean as one instance. Learning is paid from a budget: each instance earns a
 * hundredth of its length. If tasks are so many that learning costs more than POOL_SHORT earns,
 * sums in which each unit took as long as before are merged with the next. Some lessons are on
 * credit, a hundredth of a second at most, so that a loop learns from its first instances, and a
 * change of a unit is noticed after POOL_SHORT.
 *
 * An instance twice as long as the shortest recent one is left out, unless a quarter of all are; so
 * is one under other owners. If those are the majority, as where units draw, the last instance
 * stands for all.
 *
 * No clock is read: the length of an instance is its tasks' seconds over the number of units. */
#ifndef SCHEDULE_POOL_H
#define SCHEDULE_POOL_H

#define POOL_LONG  1e-3 /* s of an instance from which on each is learnt at once */
#define POOL_SHORT 2e-2

struct pool;

/* NULL: not enough memory. Freed with free(). */
struct pool *pool_open(int tasks, int units);

/* Adds an instance in which `owner` ran the tasks in *seconds, `total` in all. Returns the number
 * of instances that the policy learns from now, with *owner and *seconds to learn, valid until the
 * next call; 0: nothing yet. */
int pool_add(struct pool *p, const int **owner, const double **seconds, double total);

/* Scales the sums to other weights, n entries each. */
void pool_weights(struct pool *p, const double *before, const double *now);

/* The pool of a loop that goes on with other tasks: the times are forgotten, the credit and the
 * units' spreads stay. NULL: not enough memory. */
struct pool *pool_change(const struct pool *p, int tasks);

/* Forgets instances not learnt yet. */
void pool_forget(struct pool *p);

#endif
