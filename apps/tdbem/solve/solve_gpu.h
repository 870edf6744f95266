/* Conjugate gradients on a device: solve_part.h says what is computed, with the host's bits where
 * nothing is fused.
 *
 * For each solution one message goes to the device, the right-hand side and the first guess, and
 * one comes home, the solution and how it was come to. Iterations are given out in advance, as many
 * as the last solution took and one more; those that turn out to be too many do nothing.
 */
#ifndef TDBEM_SOLVE_GPU_H
#define TDBEM_SOLVE_GPU_H

#include "tdbem/solve/solve_cg.h"
#include <evener/device.h>

struct solve_gpu;

/* The matrix goes to the device; `cg` and the device must outlive it. EVN_MEMORY, EVN_DEVICE,
 * EVN_SYSTEM: the kernels could not be built. */
evn_status solve_gpu_open(struct solve_gpu **out, const struct solve_cg *cg, evn_device *device);
void solve_gpu_close(struct solve_gpu *g);

/* `a` is a first guess and becomes the solution; *iterations what it took. EVN_BODY as
 * solve_cg(); EVN_DEVICE: the device has failed. */
evn_status solve_gpu(struct solve_gpu *g, const double *b, double *a, int *iterations);

#endif
