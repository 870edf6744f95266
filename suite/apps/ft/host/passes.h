/* The passes of a run over a task's planes and rows, each by one core of a team. */
#pragma once

#include "ft/host/fields.h"

/* Data of the passes. */
struct work {
    struct transform t;
    struct fields f;
    int tasks;
    struct decay decay; /* decay of the step */
    uint64_t *hash;     /* hash of each task's planes */
};

/* Core `me`'s part, of `cores`, of a task; `room` is its own. Barriers in a pass are the team's. */
typedef void task_pass(struct work *w, int task, int me, int cores, double *room);

/* doubles of a core's room */
size_t pass_room(const struct transform *t);

/* The field at the start, along x and y, into layout Y. */
task_pass pass_start;
/* Along z, in place. */
task_pass pass_start_z;
/* V times the decay, along z, into layout Z. */
task_pass pass_z;
/* Along x and y, in place. */
task_pass pass_xy;

/* With two transposes: V times the decay, along x and y, into layout Y; along z and back, into V
 * and into the field; what came back of other ranks, likewise. */
task_pass pass_decay_xy;
task_pass pass_start_z_back, pass_z_back;
task_pass pass_start_unpack, pass_unpack;

/* Goes on with a hash by the values of a plane with so many doubles from row to row. */
uint64_t hash_plane(const struct transform *t, const double *plane, ptrdiff_t row, uint64_t hash);

/* Hash of the field's values: planes, rows, points, real part first. */
task_pass pass_hash;
