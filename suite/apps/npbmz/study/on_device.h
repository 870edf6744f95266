/* Phases of NPB-MZ on devices beside what these allow (on_device.c). */
#pragma once

#include "npbmz/npbmz.h"

/* Bytes and fused multiply-adds (as two) a second, of all devices together; 0: not known. */
struct device_peaks {
    double bandwidth, operations;
};

/* Figures that `asked` leaves open are measured on all of a device's, as far as possible. */
struct device_peaks device_peaks(evn_units *units, struct device_peaks asked);

/* One line a phase of a run with its launches timed: time, operations and bytes against the
 * devices'. */
void device_phases_print(const npbmz *problem, enum npbmz_benchmark benchmark,
                         const struct run_result *r, struct device_peaks peaks);
