/* The right-hand side of each step of a group, and a first guess, on the device that solves:
 * right.kernel.c says how. The bits are the host's where nothing is fused.
 *
 * The sums of the past come to the device once a group; what the group's steps give each other is
 * added to them there (radiation_gpu.h).
 */
#pragma once

#include "tdbem/incident/incident.h"
#include "tdbem/solve/solve_gpu.h"

struct right_gpu;

/* The incident wave's tables go to the device that `solve` is of; sums are [rows * wide], of which
 * the first `columns` rows are those of M_0. All must outlive it. EVN_MEMORY, EVN_DEVICE,
 * EVN_SYSTEM. */
evn_status right_gpu_open(struct right_gpu **out, const struct incident *incident,
                          struct solve_device solve, int columns, int rows, int wide);
/* Nothing may be in the queue any more. */
void right_gpu_close(struct right_gpu *g);

/* Before a group: its sums, and the last three steps, [3 * columns], latest first; and, of waves
 * that are not plain, l_n of its `count` steps, [count * columns], else NULL. All must stay as they
 * are until the queue has been finished. */
evn_status right_gpu_begin(struct right_gpu *g, const double *total, const double *before,
                           const double *load, int count);
/* Puts the equations of step n, the q-th of its group, into the queue; `ready`: SOLVE_READY. */
evn_status right_gpu_give(struct right_gpu *g, int n, int q, int ready);
/* The sums, and the rows behind those of M_0 on their way home. */
evn_buffer *right_gpu_total(const struct right_gpu *g);
evn_status right_gpu_home(struct right_gpu *g, double *total);
