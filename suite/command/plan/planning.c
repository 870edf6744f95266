/* Opening what a plan is made of. */
#include "plan/planning.h"
#include "common/cli/message.h"
#include "machine/calibration.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tasks without weights weigh 1 each. */
static double weight_of(const evn_problem *tasks, int t) {
    return tasks->weight ? tasks->weight[t] : 1;
}

/* Without a described machine and without times: a task takes its weight over the unit's speed, and
 * nothing is known in seconds unless the node was calibrated. */
static int plain_model(struct planning *p, const struct request *request) {
    const int n = p->job.tasks.tasks, units = p->job.tasks.units;
    double bandwidth = 0, *per_byte = calloc((size_t)units, sizeof *per_byte);
    int known = -1;
    for (int u = 0; u < units; u++)
        p->speed[u] =
            p->job.speed ? p->job.speed[u] : evn_unit_about(evn_units_get(p->job.units, u)).speed;
    p->basis = request->words.speeds                         ? "speeds as given"
               : evn_machine_about(p->job.machine).kinds > 1 ? "speeds by cores and their kinds"
                                                             : "speeds by cores";
    if (!request->words.speeds && request->words.schedule &&
        !strncmp(request->words.schedule, "weighted", 8))
        known = calibration_speeds(p->job.is, p->job.shape.key, p->job.units, p->speed, per_byte);
    for (int u = 0; !known && per_byte && u < units; u++)
        if (per_byte[u] > 0 && !(bandwidth > 0 && bandwidth <= 1 / per_byte[u]))
            bandwidth = 1 / per_byte[u];
    free(per_byte);
    if (!known) p->basis = "speeds as calibrated";
    for (int u = 0; u < units; u++) p->slower[u] = 1 / p->speed[u];
    for (int t = 0; t < n; t++) p->model.seconds[t] = weight_of(&p->job.tasks, t);
    p->model.model.kinds = 1; /* units differ by their factor alone */
    p->model.model.kind = NULL;
    p->model.model.route = p->model.model.within = NULL;
    p->model.model.state = NULL;
    p->problem.bandwidth = bandwidth;
    return 0;
}

/* Whether the schedule is told times instead of sizes: those of a record, or, where it plans once
 * and for good, those of the machine. */
static int goes_by_times(const struct request *request) {
    const char *schedule = request->words.schedule;
    return request->times || (schedule && !strncmp(schedule, "optimal", 7));
}

/* The model in seconds, and what the schedule is told of it. */
static int timed_model(struct planning *p, const struct request *request) {
    const evn_problem *tasks = &p->job.tasks;
    struct machine_model *m = &p->model;
    int code = 0;
    if (p->machine) code = machine_model_fill(m, p->machine, p->job.is->name, tasks);
    if (!code && request->times)
        code = times_file_read(&p->times, request->times, &p->job, m, p->machine != NULL);
    if (code) return code;
    p->timed = 1;
    p->basis = request->times ? "times as measured" : "times as described";
    if (goes_by_times(request)) { /* what a task takes on unit 0's kind */
        memcpy(p->weight, m->seconds + (size_t)m->kind[0] * (size_t)tasks->tasks,
               sizeof *p->weight * (size_t)tasks->tasks);
        p->problem.weight = p->weight;
    }
    p->problem.bandwidth = evn_model_speeds(&m->model, p->problem.weight, p->speed);
    if (!p->nodes.count) return 0;
    p->problem.bandwidth = 0; /* schedules that keep neighbours near know the ways themselves */
    p->problem.kinds = m->kinds;
    p->problem.kind = m->kind;
    p->problem.route = m->model.route;
    p->problem.far = m->model.far;
    return 0;
}

/* Room for the model, whose tasks and units are known. */
static int make_room(struct planning *p) {
    const struct job *job = &p->job;
    int code = machine_model_open(&p->model, job->units, &p->nodes, &job->tasks,
                                  job_moved_bytes(job), job_copied_bytes(job));
    if (code) return code;
    p->model.model.pieces = job->shape.pieces;
    p->model.model.loops = job->shape.loops;
    p->speed = malloc(sizeof *p->speed * (size_t)job->tasks.units);
    p->slower = malloc(sizeof *p->slower * (size_t)job->tasks.units);
    p->weight = malloc(sizeof *p->weight * (size_t)job->tasks.tasks);
    if (!p->speed || !p->slower || !p->weight) {
        complain("not enough memory for %d tasks", job->tasks.tasks);
        return EXIT_USAGE;
    }
    for (int u = 0; u < job->tasks.units; u++) p->slower[u] = 1;
    p->model.model.slow = p->slower;
    return 0;
}

/* The problem. Where it is costly to open, it is said what is waited for. */
static int open_problem(struct job *job, const struct request *request) {
    if (job->is->open && !request->quiet)
        fprintf(stderr, "%s: its tasks are known once its problem is open ..\n", job->is->name);
    if (job->is->foresee) job->is->foresee(job->state);
    return job_open(job, request->quiet);
}

static int is_foreign(const struct planning *p) { return p->job.is == &p->foreign; }

/* A record's tasks are called as its program calls them. */
static void name_foreign(struct planning *p) {
    const struct foreign *f = p->job.state;
    if (!is_foreign(p)) return;
    if (f->name && *f->name) p->foreign.name = f->name;
    if (f->noun && *f->noun) p->foreign.noun = f->noun;
}

int planning_open(struct planning *p, const struct request *request) {
    struct job_words words = request->words;
    int exchange, code = exchange_read(&exchange, request->exchange);
    if (!code && request->machine) code = machine_file_open(&p->machine, request->machine);
    if (!code) code = job_check(&p->job);
    if (!code) name_foreign(p);
    if (!code) code = open_problem(&p->job, request);
    if (code) return code;
    if (p->machine && !strcmp(words.units, "auto")) words.units = machine_file_units(p->machine);
    if (nodes_are_in(words.units)) {
        code = nodes_read(&p->nodes, words.units, p->machine);
        words.units = p->nodes.units;
    }
    if (!code) code = job_units(&p->job, &words, EVN_DESCRIBE_ONLY);
    if (!code) code = make_room(p);
    if (code) return code;
    p->problem = p->job.tasks;
    if (p->nodes.count) p->problem.node = p->nodes.node;
    p->model.model.overlap = request->overlap;
    p->problem.speed = p->speed;
    p->problem.instances = (int)request->iterations;
    p->model.model.sequential = exchange;
    p->model.model.noise = request->noise / 100.0;
    code = request->machine || request->times ? timed_model(p, request) : plain_model(p, request);
    if (!code) code = slow_read(&p->slow, request->slow, p->job.units, 0);
    if (!code) code = slow_begins(&p->slow, request->slow, request->iterations);
    if (code) return code;
    p->job.tasks = p->problem;
    return job_schedule(&p->job, &words);
}

void planning_close(struct planning *p) {
    free(p->speed);
    free(p->slower);
    free(p->weight);
    machine_model_close(&p->model);
    job_close(&p->job);
    machine_file_close(p->machine);
    nodes_close(&p->nodes);
}
