/* The packing of binpack, and the policy that packs by learnt times. */
#pragma once

#include "schedule/policy.h"

/* Packs the tasks of `p`. EVN_MEMORY. */
evn_status binpack_plan(const evn_problem *p, int *owner);

/* binpack:time. */
extern const struct policy policy_binpack_time;
