/* Kernels that are opened once a device and kept (evn_kernel_get()). */
#pragma once

#include "device/backend.h"

void kept_init(evn_device *d);
/* Closes the kept kernels; no other object of the device is open. */
void kept_close(evn_device *d);
