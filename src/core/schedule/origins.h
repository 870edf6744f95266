/* Origins: a checked change, and its effect on each task before and after it. */
#pragma once

#include <evener/schedule.h>

struct origins {
    const evn_change *change;
    const evn_problem *before; /* the problem of before */
    int *heaviest;             /* heaviest origin of each task, the first of equal ones; -1: none */
    int *now;                  /* number now of each task of before; -1: gone */
    int renumbers;             /* 1: all tasks are kept, and all weights: numbers alone change */
};

/* Checks a change from `before`, and makes its summary; `room`: the name of the caller in messages.
 * EVN_USAGE, EVN_MEMORY: nothing to close. */
evn_status origins_open(struct origins *o, const evn_problem *before, const evn_change *change,
                        const char *room);
void origins_close(struct origins *o);

/* evn_schedule_change() with a summary that the caller owns. */
evn_status schedule_change(evn_schedule *schedule, const struct origins *o);

static inline int origins_kept(const struct origins *o, int t) {
    return o->change->kept && o->change->kept[t];
}

/* Checks as schedule_change() does, without changing anything. EVN_USAGE, EVN_MEMORY. */
evn_status schedule_change_check(const struct origins *o);

/* On ranks that follow rank 0's schedule, after a change: memory for the problem of now, with the
 * same checks; then, without fail, that problem, and owners, chunk and instance as they were told.
 * From then on such a schedule learns nothing. EVN_USAGE, EVN_MEMORY: nothing to close. */
struct schedule_follow {
    evn_problem problem;
    int *owner;
};
evn_status schedule_follow_open(struct schedule_follow *follow, const struct origins *o);
void schedule_follow(evn_schedule *schedule, struct schedule_follow *follow, const int *owner,
                     int chunk, int instance);
void schedule_follow_close(struct schedule_follow *follow);

/* `x` of before, or the mean over the origins of each task; `all`: without origins. n numbers in
 * `to`. */
void origins_mean(const struct origins *o, const double *x, double *to);
