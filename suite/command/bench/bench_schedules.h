/* Parts of the study of schedules. */
#pragma once

#include "common/cli/options.h"
#include "machine/machine_file.h"
#include "run/job.h"

/* map beside the others on BT-MZ of these classes; 0, or 1 if what is asked of it does not hold. */
int bench_map_table(const char *classes);

/* interval beside the best contiguous intervals; 0, an exit status after a message, or 1 if it is
 * not near them. */
int bench_intervals(void);

/* Seconds of a plan of `tasks` tasks on `units` units under every schedule; 0, or 1 if one but
 * optimal takes `max` seconds or more. */
int bench_planning(int tasks, int units, double max);

/* The i-th of the schedules that are compared, and what tables call it; NULL beyond the last. */
const char *bench_schedule(int i);
const char *bench_schedule_label(int i);

/* A whole run under one schedule, in seconds a step. */
struct schedule_row {
    int there;                           /* 0: the schedule is not built in */
    double compute, migration, exchange; /* mean over the steps; migration is part of compute */
    double bytes, migrations;            /* a step, mean over the steps */
};

/* One schedule on one model; `speed`: room for a number a unit. 0, or an exit status after a
 * message. */
int bench_run_schedule(struct schedule_row *row, const char *spec, const struct machine_model *m,
                       const evn_problem *tasks, int steps, double *speed);

/* All schedules on the tasks of a program's record. `machine` NULL: none is described; steps 0: as
 * many as the record has; `exchange`: an evn_exchange_order. */
struct record_request {
    const char *path, *units, *machine;
    long steps;
    int exchange;
    double noise;
};
int bench_is_record(const char *path);
int bench_record(const struct record_request *request);

/* The default schedule beside all others, on quiet, uneven and disturbed machines; 0, an exit
 * status after a message, or 1 if the default is not near the best. */
int bench_default(void);

/* The problem of a class, checked. 0, or an exit status after a message; the job is to be closed in
 * any case. */
int bench_begin_class(struct job *job, const struct workload *is, char class_);

/* --apps and --classes: workloads that have these classes, all of them once. As above. */
int bench_read_lists(struct option_list *apps, const char *text, const char *classes);
