/* Checks and copies of problems. */
#pragma once

#include <evener/schedule.h>
#include <evener/status.h>

/* EVN_USAGE: a number is outside of the range in the public header. */
evn_status problem_check(const evn_problem *p);

/* Checks weights alone; NULL: all 1. */
evn_status problem_check_weights(const double *weight, int tasks);

/* Copies a checked problem; NULL weights and speeds become 1. 1: not enough memory. Drop the copy
 * in any case. */
int problem_copy(evn_problem *to, const evn_problem *from);
void problem_drop(evn_problem *p);
