/* How a device takes LU's sweeps: as a wave of launches, or as one launch whose groups wait for
 * each other (wave.h). Which is sooner depends on what a launch, a step and a flag cost, which no
 * device says, and on how many groups it has at a time; so it is a model's choice, with its reason,
 * and the user's if they name one (--sweeps). Both give the same bits. */
#pragma once

#include <evener/device.h>

struct problem;
struct gpu_solver;

enum lu_sweeps { LU_SWEEPS_AUTO, LU_SWEEPS_LAUNCHES, LU_SWEEPS_ONE };

/* A sweep over a batch, counted, and its time by the model. */
struct lu_sweep_cost {
    int launches, steps;      /* steps of each launch */
    int path, waits;          /* one launch: steps behind each other, and flags waited for */
    double launches_s, one_s; /* predicted times */
};

/* A batch whose largest zone has nx, ny, nz points; groups are one a bundle. */
struct lu_sweep_cost lu_sweep_cost(int nx, int ny, int nz);

/* Steps of a launch that the model finds best. */
int lu_launch_steps(int hyperplanes, int bundles);
/* Launches of a sweep; bundles: along y and z together. */
int lu_launches(int hyperplanes, int bundles, int steps);

/* The solver for a device, and why in `reason`: "one launch a sweep, 121 us by the model, beside
 * 180 us as 18 launches of 20 steps". LU_SWEEPS_ONE on a device that cannot: EVN_USAGE. */
evn_status lu_sweeps_choose(const struct gpu_solver **out, const struct problem *p,
                            evn_device *device, enum lu_sweeps wanted, char *reason, size_t size);

/* "auto", "launches" or "one". EVN_USAGE. */
evn_status lu_sweeps_find(enum lu_sweeps *out, const char *name);
