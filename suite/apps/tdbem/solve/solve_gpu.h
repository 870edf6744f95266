/* Conjugate gradients on a device: solve.kernel.h says what is computed, with the host's bits where
 * nothing is fused.
 *
 * Steps of a group are given out one after another, each with some iterations, and the host waits
 * once behind all of them. Iterations that turn out to be too many do nothing; where they were too
 * few for a step, those after it do nothing, and are given out again behind more iterations.
 */
#pragma once

#include "tdbem/solve/solve_cg.h"
#include <evener/device.h>

struct solve_gpu;

/* Other work in the device's queue before and after a step. */
struct solve_device {
    evn_device *device;
    evn_queue *queue;
    int rows;           /* rows of a vector: SOLVE_CHUNKs, the last one filled up with zeros */
    evn_buffer *vector; /* [5 * rows]: the right-hand side and the first guess, both scaled */
    evn_buffer *scale;  /* [rows]: factors of the right-hand side */
    evn_buffer *root;   /* [rows]: factors of the guess */
    evn_buffer *result; /* states, and SOLVE_SOLUTION of each step */
    int steps;          /* that a group has room for */
};

/* A buffer of these bytes, which must stay as they are until the queue has been finished. */
evn_status solve_device_send(const struct solve_device *d, evn_buffer **buffer, const void *data,
                             size_t bytes);

/* The matrix goes to the device, with room for groups of `steps` steps; `single`: solutions are
 * rounded to float. `cg` and the device must outlive it. EVN_MEMORY, EVN_DEVICE, EVN_SYSTEM: the
 * kernels could not be built. */
evn_status solve_gpu_open(struct solve_gpu **out, const struct solve_cg *cg, evn_device *device,
                          int steps, int single);
void solve_gpu_close(struct solve_gpu *g);

/* `a`: first guess, then the solution; *iterations: their number. EVN_BODY as solve_cg();
 * EVN_DEVICE: the device has failed. */
evn_status solve_gpu(struct solve_gpu *g, const double *b, double *a, int *iterations);

struct solve_device solve_gpu_device(const struct solve_gpu *g);

/* Step q's iterations, behind what has put its right-hand side and its guess into the queue. Steps
 * are given from 0 on. solve_gpu_more(): some more of the same step, where those were too few. */
evn_status solve_gpu_give(struct solve_gpu *g, int q);
evn_status solve_gpu_more(struct solve_gpu *g, int q);
/* Number of the state that says whether step q is solved, for what follows on it; -1 for q = -1. */
int solve_gpu_ready(const struct solve_gpu *g, int q);
/* States, and solutions of so many steps, go home in one message; waits. */
evn_status solve_gpu_home(struct solve_gpu *g, int steps);
/* After a step has come home: its iterations, and whether it needs more. A step that is neither
 * solved nor needs more: EVN_BODY as solve_cg(). */
evn_status solve_gpu_look(struct solve_gpu *g, int q, int *more, int *iterations);
/* Tells the iterations of the group's longest step; the next group's steps get somewhat more. */
void solve_gpu_expect(struct solve_gpu *g, int iterations);
/* [rows of M_0], until the next group. */
const double *solve_gpu_solution(const struct solve_gpu *g, int q);
