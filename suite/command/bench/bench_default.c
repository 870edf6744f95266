/* evener bench schedules --default: what a run gets that names no schedule, beside all others, on
 * quiet, uneven and disturbed machines in virtual time.
 *
 * Each figure is a whole run from its first step, learning and migrations included. Tasks take what
 * they weigh and a little for each of them, so that weights are nearly but not quite right, and
 * vary from step to step as measured times do. Cores share their memory: a task that moves is read
 * once by another core. Devices exchange over links as those of suite/bench/machines.
 */
#include "bench/bench_schedules.h"
#include "common/cli/message.h"
#include <evener/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 8, KINDS = 2, STEPS = 100 };

#define NOISE  0.02
#define CACHED 262144 /* bytes of a task that a core's cache keeps from step to step */
#define LIMIT  1.03   /* the default over the best */

/* A machine. `speed`: of each unit, over that of a core; those above 4 are devices. */
struct scene {
    const char *name;
    double speed[UNITS]; /* up to the first 0 */
    int untold;          /* schedules take all units for equal .. */
    int unweighed;       /* .. and all tasks */
    int unit;            /* that is disturbed: `factor` times slower .. */
    double factor;       /* (0: none is) */
    int from, to;        /* .. in these steps, */
    int on, off;         /* and in them in turn; off 0: all of them */
};

/* clang-format off */
static const struct scene scenes[] = {
    {.name = "2 equal", .speed = {1, 1}},
    {.name = "4 equal", .speed = {1, 1, 1, 1}},
    {.name = "8 equal", .speed = {1, 1, 1, 1, 1, 1, 1, 1}},
    {.name = "1:2:4, told", .speed = {1, 2, 4}},
    {.name = "1:2:4, not told", .speed = {1, 2, 4}, .untold = 1},
    {.name = "2, one slow from the start", .speed = {1, 1}, .unit = 1, .factor = 2, .to = STEPS},
    {.name = "2, one slow from step 30", .speed = {1, 1}, .unit = 1, .factor = 2, .from = 30, .to = STEPS},
    {.name = "4, one slow from step 30", .speed = {1, 1, 1, 1}, .unit = 2, .factor = 3, .from = 30,
     .to = STEPS},
    {.name = "4, one slow for 40 steps", .speed = {1, 1, 1, 1}, .unit = 2, .factor = 2, .from = 30, .to = 70},
    {.name = "2, one flickers, 1 and 1", .speed = {1, 1}, .unit = 1, .factor = 2, .to = STEPS, .on = 1,
     .off = 1},
    {.name = "2, one flickers, 3 and 3", .speed = {1, 1}, .unit = 1, .factor = 2, .to = STEPS, .on = 3,
     .off = 3},
    {"2, one flickers, 10 and 10", {1, 1}, .unit = 1, .factor = 2, .to = STEPS, .on = 10, .off = 10},
    {"2, one flickers, 25 and 25", {1, 1}, .unit = 1, .factor = 2, .to = STEPS, .on = 25, .off = 25},
    {"4, one flickers, 5 and 5", {1, 1, 1, 1}, .unit = 1, .factor = 2, .to = STEPS, .on = 5, .off = 5},
    {"4, one hit now and then", {1, 1, 1, 1}, .unit = 1, .factor = 3, .to = STEPS, .on = 1, .off = 12},
    {.name = "4, weights unknown", .speed = {1, 1, 1, 1}, .unweighed = 1},
    {.name = "1 device, 4 cores, told", .speed = {10, 1, 1, 1, 1}},
    {.name = "1 device, 4 cores, not told", .speed = {10, 1, 1, 1, 1}, .untold = 1},
    {.name = "2 devices, 2 cores, told", .speed = {10, 10, 1, 1}},
};
/* clang-format on */
enum { SCENES = sizeof scenes / sizeof *scenes };

static const struct work {
    const char *app, *option;
    double seconds, each; /* of a weight and of a task, on a core */
} works[] = {
    {"bt-mz", "--class=A", 9e-8, 5e-5},        {"bt-mz", "--class=B", 9e-8, 5e-5},
    {"sp-mz", "--class=B", 5e-8, 5e-5},        {"lu-mz", "--class=A", 7e-8, 5e-5},
    {"td-bem", "--mesh=sphere:3", 8e-9, 1e-5},
};
enum { WORKS = sizeof works / sizeof *works };

struct setting {
    const struct scene *scene;
    int units, kind[UNITS], space[UNITS];
    double speed[UNITS], slow[UNITS];
    evn_route route[KINDS * KINDS], within[KINDS];
    double *seconds, *state;
    evn_model model;
    evn_problem problem;
};

static int is_device(double speed) { return speed > 4; }

/* Units of the scene; returns how many times as fast as a core its devices are, 0: there are none.
 */
static double open_units(struct setting *x) {
    const struct scene *scene = x->scene;
    double device = 0;
    for (int u = 0; u < UNITS && scene->speed[u] > 0; u++) {
        x->units++;
        x->kind[u] = is_device(scene->speed[u]);
        x->space[u] = x->kind[u] ? 1 + u : 0;
        if (x->kind[u]) device = scene->speed[u];
        x->speed[u] = scene->untold ? 1 : scene->speed[u];
    }
    return device;
}

static int setting_open(struct setting *x, const struct scene *scene, const struct job *job,
                        const struct work *work) {
    const evn_problem *tasks = &job->tasks;
    const size_t n = (size_t)tasks->tasks;
    *x = (struct setting){.scene = scene,
                          .seconds = malloc(KINDS * n * sizeof *x->seconds),
                          .state = malloc(n * sizeof *x->state)};
    if (!x->seconds || !x->state) return give_up(evn_fail(EVN_MEMORY, "not enough memory"));
    const double bytes = job->shape.bytes / job_weight(job), device = open_units(x);
    for (size_t t = 0; t < n; t++) {
        const double weight = tasks->weight ? tasks->weight[t] : 1;
        x->seconds[t] = weight * work->seconds + work->each;
        x->seconds[n + t] = device > 0 ? x->seconds[t] / device : 0;
        x->state[t] = device > 0 ? weight * bytes : fmin(weight * bytes, CACHED);
    }
    for (int i = 0; i < KINDS * KINDS; i++)
        x->route[i] = (evn_route){1, {i ? 1e-5 : 0}, {i ? 1e-10 : 5e-11}};
    x->model = (evn_model){.tasks = tasks->tasks,
                           .seconds = x->seconds,
                           .state = x->state,
                           .links = tasks->links,
                           .link = tasks->link,
                           .units = x->units,
                           .kinds = KINDS,
                           .kind = x->kind,
                           .slow = x->slow,
                           .route = x->route,
                           .within = x->within,
                           .noise = NOISE};
    x->problem = *tasks;
    x->problem.units = x->units;
    x->problem.speed = x->speed;
    x->problem.space = x->space;
    x->problem.instances = STEPS;
    if (scene->unweighed) x->problem.weight = NULL;
    return 0;
}

static void setting_close(struct setting *x) {
    free(x->seconds);
    free(x->state);
}

static void disturb(struct setting *x, int step) {
    const struct scene *s = x->scene;
    for (int u = 0; u < x->units; u++) x->slow[u] = x->kind[u] ? 1 : 1 / s->speed[u];
    if (!(s->factor > 0) || step < s->from || step >= s->to) return;
    if (s->off && (step - s->from) % (s->on + s->off) >= s->on) return;
    x->slow[s->unit] *= s->factor;
}

/* Seconds of a whole run in *took; infinite where the schedule is not built in. */
static int run(struct setting *x, const char *spec, double *took) {
    evn_schedule *schedule;
    evn_simulation *clock = NULL;
    disturb(x, 0);
    *took = INFINITY;
    evn_status status = evn_schedule_open(&schedule, spec, &x->problem);
    if (status == EVN_MISSING) return 0;
    if (!status) status = evn_simulation_open(&clock, &x->model);
    double sum = 0;
    for (int i = 0; !status && i < STEPS; i++) {
        evn_step step;
        disturb(x, i);
        status = evn_simulation_step(clock, schedule, &step);
        sum += step.step_s;
    }
    if (!status) *took = sum;
    evn_simulation_close(clock);
    evn_schedule_close(schedule);
    return status ? give_up(status) : 0;
}

/* One row: the default and the best of all; how far the former is from the latter. */
static int compare(struct setting *x, const struct job *job, const struct work *work,
                   double *ratio) {
    const char *best = "", *spec;
    double took, least = INFINITY, of_default;
    int code = run(x, job->is->schedule, &of_default);
    for (int i = 0; !code && (spec = bench_schedule(i)); i++) {
        code = run(x, spec, &took);
        if (!(took < least)) continue;
        least = took;
        best = spec;
    }
    if (code) return code;
    *ratio = of_default / least;
    printf("%-7s %-15s %-28s %10.4f %10.4f  %7.3f  %s%s\n", work->app, work->option, x->scene->name,
           1e3 * of_default / STEPS, 1e3 * least / STEPS, *ratio, best,
           *ratio > LIMIT ? "  TOO LONG" : "");
    fflush(stdout);
    return 0;
}

/* All scenes for one workload; adds to *cases and *late, and keeps the worst ratio. */
static int study(const struct work *work, int *cases, int *late, double *worst) {
    struct job job;
    char option[32];
    snprintf(option, sizeof option, "%s", work->option);
    int code = job_begin(&job, workload_find(work->app));
    if (!code) code = job_option(&job, "bench schedules", option);
    if (!code) code = job_check(&job);
    if (!code) code = job_open(&job, 1);
    for (int i = 0; !code && i < SCENES; i++) {
        struct setting x;
        double ratio = 1;
        code = setting_open(&x, &scenes[i], &job, work);
        if (!code) code = compare(&x, &job, work, &ratio);
        setting_close(&x);
        ++*cases;
        *late += ratio > LIMIT;
        *worst = fmax(*worst, ratio);
    }
    job_close(&job);
    return code;
}

int bench_default(void) {
    int code = 0, cases = 0, late = 0;
    double worst = 0;
    printf("%d steps in virtual time, learning and migrations included; milliseconds a step\n\n"
           "%-7s %-15s %-28s %10s %10s  %7s  %s\n",
           STEPS, "", "", "", "default", "best", "ratio", "which");
    for (int w = 0; !code && w < WORKS; w++) code = study(&works[w], &cases, &late, &worst);
    if (code) return code;
    printf("\n%d of %d cases are more than %.0f %% above the best of all, the worst %.1f %%\n",
           late, cases, 100 * (LIMIT - 1), 100 * (worst - 1));
    return late > 0;
}
