/* Simulation of one instance in virtual time: the unit that takes each task. */
#pragma once

#include <evener/schedule.h>

/* Called when unit `unit` takes task `task`: adds its time to busy[unit]. */
typedef void draw_take(void *arg, int task, int unit);

/* Simulates the tasks in order, each on its unit, or where units draw on the first free one (the
 * lowest number of several). `busy`: the end of each unit's work, initially 0; `heap`: scratch, an
 * entry a unit. */
void schedule_draw(const evn_schedule *schedule, const double *busy, int *heap, draw_take *take,
                   void *arg);
