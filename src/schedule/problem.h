/* Problems: what makes no sense in one, and a copy of one with arrays of its own. */
#ifndef SCHEDULE_PROBLEM_H
#define SCHEDULE_PROBLEM_H

#include <evener/schedule.h>
#include <evener/status.h>

/* EVN_USAGE: a number in it is none that the header allows. */
evn_status problem_check(const evn_problem *p);

/* Copies `from`, which was checked; weights and speeds that are NULL become 1. 1: not enough
 * memory. Drop the copy in any case. */
int problem_copy(evn_problem *to, const evn_problem *from);
void problem_drop(evn_problem *p);

#endif
