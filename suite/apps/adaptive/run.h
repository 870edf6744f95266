/* A run of the adaptive mesh on the library: two stages of a loop over blocks a step, ghosts and
 * fluxes by exchanges, and every few steps another set of blocks (evn_loop_change()). */
#pragma once

#include "adaptive/mesh.h"
#include "common/run/run.h"

/* The problem: cells a side of the coarsest mesh, a multiple of CELLS; levels above it; steps
 * between looks at the mesh. */
struct problem {
    int size, levels, every;
};

struct outcome {
    struct run_result run;
    double time, error;              /* time of the flow; mean error of the density */
    double mass_drift, energy_drift; /* relative drift */
    int blocks, most;                /* number of blocks at the end, and at most */
    double updates;                  /* number of updates of cells */
    int changes;
    long long born, gone;
};
void outcome_free(struct outcome *outcome);

/* The mesh at the beginning, with its values; refined where the flow is steep. -1: no memory. */
int adaptive_begin(struct mesh *mesh, const struct problem *problem);

/* The time of a step; and the blocks that there should be next, by their steepness. -1: no memory.
 */
double adaptive_step(const struct mesh *mesh);
int adaptive_decide(const struct mesh *mesh, const double *steep, struct change *change);

/* Runs `steps` steps from the beginning. `mesh` is then that of the end, over ranks with the blocks
 * that this rank has; the others are NULL. */
evn_status adaptive_run(struct mesh *mesh, const struct problem *problem, evn_units *units,
                        evn_schedule *schedule, const struct run_options *options, int steps,
                        struct outcome *outcome);
