/* A plan that is to be made: its problem, units, model in virtual time, and schedule. */
#pragma once

#include "machine/machine_file.h"
#include "machine/nodes.h"
#include "plan/foreign.h"
#include "plan/times_file.h"
#include "run/job.h"
#include "run/slow.h"

/* The options. */
struct request {
    struct job_words words;
    const char *machine, *times, *exchange, *slow, *graph, *loop, *assignment, *json;
    long iterations, noise;
    int overlap, quiet, verbose;
};

struct planning {
    struct job job;
    struct workload foreign;      /* of a record or a graph, under the name of its program */
    struct machine_file *machine; /* NULL: none described */
    struct nodes nodes;
    struct machine_model model;
    struct times_file times;
    evn_problem problem; /* what the schedule is made for */
    int timed;           /* the model is in seconds */
    const char *basis;   /* where speeds are from, for the heading */
    double *speed, *weight, *slower;
    struct slow slow;
    char list[520]; /* of units */
    long steps;     /* before the last iteration */
    cJSON *bursts;  /* of the last iteration; NULL: none wanted */
};

/* Opens all of it, once the options were read into the job's state; 0, or an exit status after a
 * message. Close it in any case. */
int planning_open(struct planning *p, const struct request *request);
void planning_close(struct planning *p);
