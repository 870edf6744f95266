/* Kernels that are opened once a device (evn_kernel_get()). */
#ifndef DEVICE_KEPT_H
#define DEVICE_KEPT_H

#include "device/backend.h"

void kept_init(evn_device *d);
/* Closes them; nothing else of the device is open. */
void kept_close(evn_device *d);

#endif
