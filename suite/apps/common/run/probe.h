/* Probes: the machine's peaks, measured in the same run as the figures compared with them. */
#pragma once

#include <evener.h>
#include <evener/device.h>
#include <stddef.h>

/* Floating-point operations a second of fused multiply-adds on registers, all cores of all units at
 * once. */
double probe_fma(evn_units *units);

/* Bytes a second that a triad a = b + s c moves (two read, one written), all cores of all units at
 * once, each core on arrays of its own that are together `bytes` large. 0 if there is no memory for
 * it. */
double probe_bandwidth(evn_units *units, size_t bytes);

/* Bytes a second that a copy within the device's memory moves (half of them read, half written), on
 * a sixteenth of its memory or 256 MiB, whichever is less. 0 where that is not known: the device's
 * clock is computed, there is no memory for it, the device has failed. */
double probe_device_bandwidth(evn_device *device, evn_queue *queue);
