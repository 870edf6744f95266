/* evener bench schedules RECORD: all schedules on the tasks of a program, by the times that it
 * took, on units that need not be there. */
#include "bench/bench_schedules.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include "plan/foreign.h"
#include "plan/times_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct comparison {
    struct job job;
    struct machine_file *file;
    struct machine_model model;
    struct times_file times;
    double *speed;
};

int bench_is_record(const char *path) {
    char why[256];
    cJSON *root;
    struct stat there;
    if (stat(path, &there) || !S_ISREG(there.st_mode)) return 0; /* a pipe is read once */
    if (json_file_try(&root, path, why, sizeof why)) return 0;   /* who reads it next says so */
    const int is = cJSON_GetObjectItemCaseSensitive(root, "evener") != NULL;
    cJSON_Delete(root);
    return is;
}

static int open_model(struct comparison *c, const struct record_request *r) {
    struct job *job = &c->job;
    const struct job_words words = {.units = r->units, .steps = -1};
    int code = job_begin(job, &foreign_record);
    if (code) return code;
    ((struct foreign *)job->state)->path = r->path;
    if (r->machine) code = machine_file_open(&c->file, r->machine);
    if (!code) code = job_check(job);
    if (!code) code = job_open(job, 1);
    if (!code) code = job_units(job, &words, EVN_DESCRIBE_ONLY);
    if (!code) code = machine_model_open(&c->model, job->units, NULL, &job->tasks, 0, 0);
    const struct foreign *f = job->state;
    if (!code && c->file)
        code = machine_model_fill(&c->model, c->file, f->name ? f->name : "*", &job->tasks);
    if (!code) code = times_file_read(&c->times, r->path, job, &c->model, c->file != NULL);
    if (code) return code;
    c->model.model.sequential = r->exchange;
    c->model.model.noise = r->noise;
    c->speed = malloc((size_t)job->tasks.units * sizeof *c->speed);
    if (c->speed) return 0;
    complain("not enough memory for %d units", job->tasks.units);
    return EXIT_FAILED;
}

static int compare(struct comparison *c, const struct record_request *r) {
    const struct foreign *f = c->job.state;
    const int steps = r->steps > 0 ? (int)r->steps : f->steps;
    /* what a task takes, for schedules that go by weight: as evener plan with the same record */
    evn_problem tasks = c->job.tasks;
    tasks.weight = c->model.seconds + (size_t)c->model.kind[0] * (size_t)tasks.tasks;
    struct schedule_row row;
    double first = NAN;
    int code = 0;
    printf("%s: %s, %d %ss on %s, %d steps; milliseconds a step\n\n%-21s  %9s  %9s  %9s  %7s  "
           "%9s  %8s\n",
           f->name ? f->name : "record", f->key, f->tasks, f->noun ? f->noun : "task",
           evn_units_text(c->job.units), steps, "schedule", "compute", "exchange", "step",
           "/static", "cut bytes", "migrated");
    for (int i = 0; !code && bench_schedule(i); i++) {
        code = bench_run_schedule(&row, bench_schedule(i), &c->model, &tasks, steps, c->speed);
        if (code || !row.there) continue;
        const double step = row.compute + row.exchange;
        if (isnan(first)) first = step;
        printf("%-21s  %9.4f  %9.4f  %9.4f  %7.3f  %9.0f  %8.2f\n", bench_schedule_label(i),
               1e3 * row.compute, 1e3 * row.exchange, 1e3 * step, step / first, row.bytes,
               row.migrations);
    }
    if (!code && isfinite(c->times.step_s))
        printf("\nmeasured in the record: %.4f ms a step\n", 1e3 * c->times.step_s);
    return code;
}

int bench_record(const struct record_request *request) {
    struct comparison c = {.file = NULL};
    int code = open_model(&c, request);
    if (!code) code = compare(&c, request);
    free(c.speed);
    machine_model_close(&c.model);
    machine_file_close(c.file);
    job_close(&c.job);
    return code;
}
