/* Finding and opening a side's driver. */
#pragma once

#include "device/gpu/gpu.h"

/* Finds the driver and starts it; else evn_message() says why there is none. */
evn_status driver_open(const struct side *side, struct gpu_driver *driver);
void driver_close(struct gpu_driver *driver);

/* Number of its devices. EVN_DEVICE: none, or it does not say. */
evn_status driver_count(const struct side *side, const struct gpu_driver *driver, int *have);

/* A call's name in messages: that of the manual. */
const char *driver_call(const struct side *side, enum gpu_call call, char name[80]);
