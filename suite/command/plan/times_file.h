/* Measured times: what the record of a run says about its tasks, for plans of other runs. */
#pragma once

#include "machine/machine_file.h"
#include "run/job.h"

/* The record's figures of the whole run. */
struct times_file {
    double step_s;          /* wall time of an instance of the loop; NAN: not said */
    double compute_s;       /* of it in tasks */
    double communication_s; /* of it in exchange */
    double median_s;        /* median of the latest instances; NAN: not said */
    char guess[160];        /* what is taken for teams of a size that has not run; "" */
    const char *unknown;    /* what the record cannot know of these units; NULL */
};

/* Reads the record at `path`, of a run of the job's problem, and puts into the model what it
 * tells: seconds of each task on each kind of its units ("task_s"; on kinds that did not run it, in
 * the proportion of what both kinds did), and, unless `keep_routes`, what a byte of a face took
 * each kind of units (exchange_s over the bytes of their faces, at the rate of the median instance,
 * as the tasks' seconds are; the unit that receives takes it, between units as within one). CPU
 * units of a size that was not run take the times of the nearest one, in proportion to cores; kinds
 * that were not run at all keep the seconds that the model has, which must then not be 0. Tasks
 * take in all what the median's "task_s" says. What a step takes beside tasks and faces is the
 * median's "beside_s" on any units, but for waking, which is theirs by the machine's "wake_s".
 *
 * 0, or an exit status after a message that names what the record lacks. */
int times_file_read(struct times_file *out, const char *path, const struct job *job,
                    struct machine_model *m, int keep_routes);
