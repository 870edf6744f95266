/* An instance of the loop in virtual time: who takes which task. */
#ifndef SCHEDULE_DRAW_H
#define SCHEDULE_DRAW_H

#include <evener/schedule.h>

/* Unit `unit` takes task `task`: adds what that takes to busy[unit]. */
typedef void draw_take(void *arg, int task, int unit);

/* The tasks in order, each on its unit, or where units draw on the one that is free first, the
 * lowest number of several. `busy`: until when each unit is, all 0 at the start; `heap`: room for
 * an entry a unit. */
void schedule_draw(const evn_schedule *schedule, const double *busy, int *heap, draw_take *take,
                   void *arg);

#endif
