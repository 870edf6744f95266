/* Other weights in two steps, for ranks that change them all or none. */
#ifndef SCHEDULE_WEIGH_H
#define SCHEDULE_WEIGH_H

#include <evener/schedule.h>

/* Checks the weights of evn_schedule_weights(), and makes a copy of the present ones in *before:
 * NULL where none changes. The caller frees it. EVN_USAGE, EVN_MEMORY: nothing to free. */
evn_status schedule_weigh_open(double **before, const evn_schedule *schedule, const double *weight);

/* The schedule takes them, without fail. */
void schedule_weigh(evn_schedule *schedule, const double *weight, const double *before);

#endif
