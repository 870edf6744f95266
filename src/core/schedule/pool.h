/* Pooled instances: a policy gets the mean of many short instances, so that learning costs less
 * than a hundredth of the loop's time and a preempted thread has no effect.
 *
 * An instance of at least POOL_LONG seconds, in which learning is cheap, goes to the policy
 * directly. Shorter ones are summed, one addition a unit and, as far as there is time for it, one a
 * task, until they fill POOL_SHORT seconds; the policy learns the mean of the latter as one
 * instance. Learning is paid from a budget: each instance earns 7 thousandths of its length for
 * lessons, and 3 for adding up tasks' times. If tasks are so many that learning costs more than
 * POOL_SHORT earns, sums in which each unit took as long as before are merged with the next. Some
 * lessons are on credit, a hundredth of a second at most, so that a change of a unit is noticed
 * after POOL_SHORT; and the first ones are free as far as all of the loop is much longer.
 *
 * An instance twice as long as the shortest recent one is left out, unless a quarter of all are; so
 * is one under other owners. If those are the majority, as where units draw, the last instance
 * stands for all.
 *
 * No clock is read: the length of an instance is its tasks' seconds over the number of units. */
#pragma once

enum { LEARN_WINDOW = 5 }; /* lessons of which policies take medians (policy/learn.h) */

#define POOL_LONG  1e-3 /* s of an instance from which on each is learnt at once */
#define POOL_SHORT 2e-2

struct pool;

/* `instances` to come, 0: many. NULL: not enough memory. Freed with free(). */
struct pool *pool_open(int tasks, int units, int instances);

/* What is done with the times of an instance's tasks. */
struct pool_turn {
    enum {
        POOL_LEFT_OUT,
        POOL_BEGINS,
        POOL_ADDED
    } taken; /* `sum` is these times; they are added */
    /* then `sum` becomes the mean to learn from; or the last times are; or `sum` is kept */
    enum { POOL_GOES_ON, POOL_MEAN, POOL_LAST, POOL_KEPT } lesson;
    int agreed;    /* 1: with the sums that were kept before, in `before` */
    int instances; /* in a mean */
};

/* The pool's part, done to the times of `n` tasks. */
void pool_turn(const struct pool_turn *turn, int n, const double *seconds, double *sum,
               double *before);

/* Scales the sums to other weights, n entries each. */
void pool_weights(struct pool *p, const double *before, const double *now);

/* The pool of a loop that goes on with other tasks: the times are forgotten, the credit and the
 * units' spreads stay. NULL: not enough memory. */
struct pool *pool_change(const struct pool *p, int tasks);

/* Scales one array of sums from the weights `before` to those of `now`. */
void pool_scale(double *sum, const double *before, const double *now, int n);

/* Forgets instances not learnt yet. */
void pool_forget(struct pool *p);
