/* Figures of the model: time of a task on a core by its size, alpha, costs of messages. Measured
 * here and kept as calibrations, or described in a machine file. */
#pragma once

#include "model/runs.h"
#include "run/job.h"
#include "machine/machine_file.h"
#include <evener/predict.h>

struct figures {
    int timed;       /* 0: a task's seconds are its weight, and all else is free */
    char basis[96];  /* where they are from, for the heading */
    char class_[16]; /* whose costs were measured; "": they were not */
    double *seconds;
    double alpha, residual;
    int points; /* runs that alpha was fitted to; 0: it was given */
    double copy_per_byte;
    evn_way near, far;
    int node; /* cores of a node; 0: not said */
};

/* Seconds are the weights, alpha is the published one of the Origin 3000. */
int figures_plain(struct figures *f, const struct job *job);

/* As an entry of calibrations has it: -1 where there is none, or one that is damaged. */
int figures_kept(struct figures *f, const struct job *job);

/* As a machine file has it, of several kinds of nodes the first; alpha stays. 0, or an exit status
 * after a message. */
int figures_described(struct figures *f, const struct job *job, const struct machine_file *file);

/* Measures them in runs of `steps` steps, three of each kind, and keeps them. As above. */
int figures_measure(const struct job *job, int steps, int quiet);

/* Ways to run Np x Nt: Np processes of one unit each, Np units of one process, or such units with
 * threads reassigned by their loads. */
enum as { AS_PROCESSES, AS_UNITS, AS_REASSIGNED };

struct way {
    int processes, threads;
    enum as as;
};

/* One run: seconds of a step. `record` (may be NULL) receives the record, `look` (may be NULL)
 * looks at it meanwhile. As above. */
int figures_run(const struct job *job, int steps, struct way way, const struct runs_look *look,
                double *seconds, cJSON **record);

void figures_close(struct figures *f);
