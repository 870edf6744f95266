/* The host's side of start.kernel.c: what the zones of a batch begin with, made on their device.
 *
 * The zones are cut by planes (norms_pieces()), and launches are those of gpu_launch(). Where
 * nothing is fused (EVENER_CONTRACT off) every byte of a zone's block is what zone_clear(),
 * zone_forcing() and zone_initialise() make on a host; else u and f agree to 1e-12.
 */
#pragma once

#include "npbmz/device/gpu.h"

extern const evn_kernel_source start_kernels;

/* Puts into the queue what makes the zones' blocks and their forcing, whatever was in the blocks; u
 * holds the exact solution then. */
evn_status start_launch_forcing(struct gpu *g, const struct problem *p, int cut);
/* Puts into the queue what makes the initial state; it leaves the forcing, LU's residual and all
 * that is beside the points as they are. */
evn_status start_launch_state(struct gpu *g, const struct problem *p, int cut);
