/* Learning over ranks, each of which has the times of its own tasks: rank 0's schedule is told the
 * units' times of each instance, and says what the ranks do with their tasks' times (struct
 * pool_turn) and when it learns from them. Not where units draw. */
#pragma once

#include "schedule/pool.h"
#include <evener/schedule.h>

/* 1: the units' times are enough, but for some lessons; the same for schedules of one text. */
int lessons_suffice(const evn_schedule *schedule);

/* Makes memory on rank 0. EVN_MEMORY. */
evn_status lessons_open(evn_schedule *schedule);

/* An instance has ended, in which each unit took `unit_s`. */
struct pool_turn lessons_note(evn_schedule *schedule, const double *unit_s);

/* Learns, if it ever does, from what the ranks have sent. EVN_USAGE as evn_schedule_learn(). */
evn_status lessons_learn(evn_schedule *schedule, const int *owner, const double *seconds);

/* Owners have changed: the ranks' sums are of no use. */
void lessons_forget(evn_schedule *schedule);
