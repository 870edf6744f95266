/* Owners of tasks from a file, for --plan. */
#pragma once

#include <evener/schedule.h>

/* Gives the schedule the owners that the file has: a record of evener plan (its last iteration) or
 * of evener run, the text of evn_schedule_export(), of any schedule, or a list of owners, a line a
 * task. 0, or an exit status after a message: no such file, or for other tasks or units. */
int plan_file_read(const char *path, evn_schedule *schedule);
