/* The exact schedule by measured times. */
#ifndef SCHEDULE_OPTIMAL_TIME_H
#define SCHEDULE_OPTIMAL_TIME_H

#include "schedule/policy.h"

extern const struct policy policy_optimal_time;

#endif
