/* Regions of a loop's present tasks, brought to the host's memory. */
#ifndef LOOP_COLLECT_H
#define LOOP_COLLECT_H

#include <evener/loop.h>

/* Makes the regions of this process's tasks valid in the host's memory. The tasks are those of the
 * last evn_loop_change(). Failures as of evn_place_acquire(). */
evn_status loop_collect(const evn_loop *loop);

/* Memory of tasks that travel goes by the numbers of the present tasks: evn_loop_change() is
 * EVN_USAGE from now on. */
void loop_tie(evn_loop *loop);

#endif
