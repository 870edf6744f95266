/* Memory that is told to a schedule once it is open, by a loop whose tasks have got regions. */
#pragma once

#include <evener/schedule.h>

/* Tells the bytes of each task's data and the memory of each unit (evn_problem.bytes, .capacity),
 * which are copied. A policy that keeps to capacities plans anew with them; an imported assignment
 * stays. Nothing happens after the first instance, if the problem has had capacities of its own, or
 * if each unit has memory for all tasks, or if the same was told before. EVN_MEMORY: nothing has
 * changed. */
evn_status schedule_memory(evn_schedule *schedule, const double *bytes, const double *capacity);
