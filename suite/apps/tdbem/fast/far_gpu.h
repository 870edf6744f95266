/* The far field on a device: its row-vectors and all states there. A period's solutions go to it,
 * and its sums come back; with the host's bits where nothing is fused. */
#pragma once

#include "tdbem/fast/far.h"
#include <evener/device.h>

struct far_gpu;

/* Bytes on a device, with so many states. */
double far_gpu_bytes(const struct far *far, int states);

/* far and the device must outlive it. EVN_MEMORY, EVN_DEVICE, EVN_SYSTEM: the kernels could not be
 * built. */
evn_status far_gpu_open(struct far_gpu **out, const struct far *far, evn_device *device,
                        int states);
void far_gpu_close(struct far_gpu *g);

/* Takes a host's state over, which must stay until the close; and brings it up to date again. */
evn_status far_gpu_take(struct far_gpu *g, int number, far_state *state);
evn_status far_gpu_home(struct far_gpu *g, int number);

/* far_begin() and far_note(): the host's state then has the sums for far_sum(). EVN_DEVICE. */
evn_status far_gpu_begin(struct far_gpu *g, int number, int n);
evn_status far_gpu_note(struct far_gpu *g, int number, int n, const double *a);
