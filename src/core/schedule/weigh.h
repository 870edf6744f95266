/* Other weights between two instances; in two steps for ranks that change them all or none. */
#pragma once

#include <evener/schedule.h>

/* Checks the weights of schedule_weights(), and makes a copy of the present ones in *before:
 * NULL where none changes. The caller frees it. EVN_USAGE, EVN_MEMORY: nothing to free. */
evn_status schedule_weigh_open(double **before, const evn_schedule *schedule, const double *weight);

/* The schedule takes them, without fail. */
void schedule_weigh(evn_schedule *schedule, const double *weight, const double *before);

/* Replaces the weights from the next instance on, as for cells whose atoms have moved: n numbers,
 * >= 0 and finite, copied; NULL: all 1. Learnt times scale with the weight: a task of twice the
 * weight is expected to take twice as long; a task that weighed nothing takes the mean time of its
 * weight. The assignment follows: under auto and map tasks move until it is as even as before;
 * interval, guided:time and binpack:time search again; binpack, weighted and optimal, by time too,
 * plan again. All of these change the assignment only where that saves a fiftieth of an instance
 * and, where times are known, pays for the moves. guided:size moves its boundaries once per
 * instance again; static and dynamic ignore weights. Call it between instances. Equal weights
 * change nothing. EVN_USAGE: a weight is negative or not finite, and nothing has changed.
 * EVN_MEMORY. */
evn_status schedule_weights(evn_schedule *schedule, const double *weight);
