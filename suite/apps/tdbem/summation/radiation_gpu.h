/* The radiation stage on the device that solves, so that no step of a group comes home before the
 * last one; with the host's bits where nothing is fused. */
#pragma once

#include "tdbem/solve/solve_gpu.h"
#include "tdbem/summation/radiation.h"

struct radiation_gpu;

/* Bytes of its entries on a device. */
double radiation_gpu_bytes(const struct radiation *r);

/* The near part goes to the device that `solve` is of. EVN_MEMORY, EVN_DEVICE, EVN_SYSTEM. */
evn_status radiation_gpu_open(struct radiation_gpu **out, const struct radiation *r,
                              struct solve_device solve);
/* Nothing may be in the queue any more. */
void radiation_gpu_close(struct radiation_gpu *g);

/* Puts radiation_add() for the group's first p steps into the queue: from solutions to `sums`,
 * doubles, [rows * wide]; `ready`: SOLVE_READY. */
evn_status radiation_gpu_add(struct radiation_gpu *g, int p, evn_buffer *sums, int wide, int ready);
