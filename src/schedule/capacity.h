/* Memory: whether the data of the tasks fit where their owners are, and an assignment in which they
 * do. */
#ifndef SCHEDULE_CAPACITY_H
#define SCHEDULE_CAPACITY_H

#include <evener/schedule.h>
#include <stdio.h>

/* Whether the problem says what tasks take and what some unit holds. */
int capacity_given(const evn_problem *p);

/* Bytes that a unit's memory holds; infinite if it is not said. */
double capacity_of(const evn_problem *p, int unit);

/* What is over, of `used` bytes on a unit. */
static inline double capacity_excess(double capacity, double used) {
    return used > capacity * (1 + 1e-12) ? used - capacity : 0;
}

/* Bytes by which the units are over their capacities, all together; rounding is none. `used`: bytes
 * of each unit, U entries. */
double capacity_over(const evn_problem *p, const int *owner, double *used);

/* Moves tasks until as few bytes as possible are over, each to a unit that is done with it soon;
 * with few tasks all assignments are looked at, with many as far as moves and swaps go. In *over
 * what is left of it; *least: it is proven that no assignment has less. 1: not enough memory. */
int capacity_fit(const evn_problem *p, int *owner, double *over, int *least);

/* Says which units are over their capacity, and whether that must be. Nothing where all is well. 1:
 * not enough memory. */
int capacity_explain(const evn_problem *p, const int *owner, FILE *out);

#endif
