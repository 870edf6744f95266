/* Launches that are timed: what device.c asks of phases.c. */
#ifndef DEVICE_PHASES_H
#define DEVICE_PHASES_H

#include "device/backend.h"

/* The slot `launch`, on a device that is timed: an event before it and one behind it. */
evn_status phases_launch(evn_queue *q, evn_kernel *k, int groups, int items, int is_resident,
                         const evn_argument *argument, int arguments);

/* Sums begin at zero. EVN_MEMORY. */
evn_status phases_begin(evn_device *d);
/* Waits for what is under way, and adds it. */
evn_status phases_end(evn_device *d);

/* With the device, once all queues are closed. */
void phases_close(evn_device *d);

#endif
