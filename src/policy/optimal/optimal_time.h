/* The exact schedule by measured times. */
#pragma once

#include "schedule/policy.h"

extern const struct policy policy_optimal_time;
