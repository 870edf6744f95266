/* Version of an assignment, and stealing, between a loop and its schedule. */
#ifndef SCHEDULE_VERSION_H
#define SCHEDULE_VERSION_H

#include <evener/schedule.h>

/* A number that changes whenever evn_schedule_owner(), evn_schedule_chunk() or evn_schedule_order()
 * may have changed. While it is constant and evn_schedule_chunk() is 0, a copy of the owners stays
 * valid. evn_schedule_learn() does not check owners in the schedule's own array. */
unsigned schedule_version(const evn_schedule *schedule);

/* Reports whether units may take tasks of each other, as evn_schedule_steals() allows; before each
 * instance in which that changes. */
void schedule_set_stealing(evn_schedule *schedule, int stealing);

#endif
