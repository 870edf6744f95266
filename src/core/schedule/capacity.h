/* Memory: checks that the tasks' data fit on their owners, and makes assignments that fit. */
#pragma once

#include <evener/schedule.h>
#include <stdio.h>

/* 1 if the problem gives bytes of tasks and capacities of units. */
int capacity_given(const evn_problem *p);

/* Capacity of a unit, bytes; infinite if not given. */
double capacity_of(const evn_problem *p, int unit);

/* Bytes of `used` beyond a unit's capacity. */
static inline double capacity_excess(double capacity, double used) {
    return used > capacity * (1 + 1e-12) ? used - capacity : 0;
}

/* Bytes beyond all capacities, in all; rounding is ignored. `used`: bytes of each unit, U entries.
 */
double capacity_over(const evn_problem *p, const int *owner, double *used);

/* Moves tasks until as few bytes as possible are beyond capacities, each to a unit that finishes it
 * soon; exhaustive for few tasks, by moves and swaps for many. *over: the remaining excess; *least:
 * proven minimal. 1: not enough memory. */
int capacity_fit(const evn_problem *p, int *owner, double *over, int *least);

/* Explains which units are over their capacity, and whether that is unavoidable; nothing if none
 * is. 1: not enough memory. */
int capacity_explain(const evn_problem *p, const int *owner, FILE *out);
