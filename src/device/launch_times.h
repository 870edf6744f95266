/* Timing of launches, for device.c. */
#pragma once

#include "device/backend.h"

/* The slot `launch` on a timed device: with an event before and one after it. */
evn_status phases_launch(evn_queue *q, evn_kernel *k, int groups, int items, int is_resident,
                         const evn_argument *argument, int arguments);

/* Sums begin at zero. EVN_MEMORY. */
evn_status phases_begin(evn_device *d);
/* Waits for the timed launches and adds them up. */
evn_status phases_end(evn_device *d);

/* Frees the sums with the device, after all queues are closed. */
void phases_close(evn_device *d);
