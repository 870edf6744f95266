/* A policy by time that plans again: costs of tasks and speeds of units are those that times tell
 * (learn.h); a planner makes another plan of them, and it is taken if it pays. */
#pragma once

#include "policy/learn.h"
#include "schedule/policy.h"

struct planner {
    /* The shortest that an instance could be, s. */
    double (*least)(const evn_schedule *s);
    /* Other owners, and the seconds of an instance under the present ones and under these. *plan
     * may receive a schedule that has made them, to be kept with them. 1: there are none, or not
     * enough memory. */
    int (*plan)(const evn_schedule *s, int *to, evn_schedule **plan, double *now, double *then);
};

/* The state of such a policy. */
struct replan {
    const struct planner *planner;
    struct learn *learn;
    evn_schedule *plan; /* the schedule that made the last plan taken; or NULL */
};

/* Makes the state, without a plan. EVN_MEMORY. */
evn_status replan_open(evn_schedule *s, const struct planner *planner);

/* Functions of the policy. */
void replan_learn(evn_schedule *s, const int *owner, const double *seconds);
void replan_weights(evn_schedule *s, const double *before);
evn_status replan_change(evn_schedule *s, const struct origins *o);
void replan_close(evn_schedule *s);
