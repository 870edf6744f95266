/* The parts of a step on a device: what the bodies of a run do there with the tasks of a batch,
 * ranges [begin, end) of them. */
#pragma once

#include "mg/device/device.h"

struct task_ranges {
    const int *begin, *end;
    int count;
};

/* `square`: eight sums a plane of the finest level, as struct problem has them. `what`: SWEEP_..,
 * or a level, as the host's passes have it. */
typedef evn_status device_step(struct part *part, double *square, struct task_ranges tasks,
                               int what);

device_step device_clear, device_first, device_finest, device_edges;
/* r of level `what` to the level below: of a task's own planes, or of those that lie under two
 * tasks; and up to level `what`. */
device_step device_down, device_down_shared, device_up;
