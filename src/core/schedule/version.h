/* Version of an assignment, stealing and cost of migrations, between a loop and its schedule. */
#pragma once

#include <evener/schedule.h>

/* A number that changes whenever evn_schedule_owner(), or chunk or order of evn_schedule_about(),
 * may have changed. While it is constant and the chunk is 0, a copy of the owners stays
 * valid. evn_schedule_learn() does not check owners in the schedule's own array. */
unsigned schedule_version(const evn_schedule *schedule);

/* Counts an instance of a schedule that has nothing to learn; 0: it learns, by
 * evn_schedule_learn(), or as follows. */
int schedule_pass(evn_schedule *schedule);

/* Room for the time of each unit in an instance, valid until the next call of the schedule; NULL:
 * evn_schedule_learn() is needed. */
double *schedule_unit_times(evn_schedule *schedule);

/* evn_schedule_learn() by these times of `owner`'s units, which looks at the tasks only now and
 * then; `same`: owners are the same as in the last such call. */
evn_status schedule_learn_units(evn_schedule *schedule, const int *owner, const double *seconds,
                                int same);

/* Reports whether units may take tasks of each other, as schedule_steals() allows; before each
 * instance in which that changes. */
void schedule_set_stealing(evn_schedule *schedule, int stealing);

/* Reports the cost of migrations: `bytes` of states went to other spaces in `seconds`. The schedule
 * uses a mean of reports that favours recent ones. EVN_USAGE: bytes not above 0, a negative time,
 * or either not finite. */
evn_status schedule_carried(evn_schedule *schedule, double bytes, double seconds);

/* 1 if the assignment will not change as long as tasks and units keep their speeds. */
int schedule_settled(const evn_schedule *schedule);
/* Of evn_schedule_about(). */
int schedule_chunk(const evn_schedule *schedule);
int schedule_instance(const evn_schedule *schedule);

/* 1 if CPU units that have done their own tasks take tasks that other units have not begun, and do
 * not wait for a unit that has not arrived: the default schedule, auto. The owners stay the
 * schedule's. evn_loop_stealing() has the details, and forbids it. */
int schedule_steals(const evn_schedule *schedule);
