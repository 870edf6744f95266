/* Parts of the study of schedules. */
#ifndef TOOL_BENCH_SCHEDULES_H
#define TOOL_BENCH_SCHEDULES_H

/* map beside the others on BT-MZ of these classes; 0, or 1 if what is asked of it does not hold. */
int bench_map_table(const char *classes);

/* Seconds of a plan of `tasks` tasks on `units` units under every schedule; 0, or 1 if one but
 * optimal takes `max` seconds or more. */
int bench_planning(int tasks, int units, double max);

#endif
