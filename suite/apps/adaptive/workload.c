/* An adaptive mesh as a workload of the command. */
#include "adaptive/run.h"
#include "common/cli/message.h"
#include "common/run/record.h"
#include "common/run/workload.h"

struct state {
    long size, levels, every;
    struct problem problem;
    struct mesh mesh;
    int used; /* 1: the mesh is that of a run's end */
    char key[64];
    struct outcome outcome;
};

enum { STEPS = 200, SIZE_MOST = 1 << 12 };

#define OPTIONS_OF struct state
static const struct option options[] = {
    {"size", "N", "cells a side of the coarsest mesh, a multiple of 16 (default 64)",
     OPTION_NUMBER(size, 2 * CELLS, SIZE_MOST)},
    {"levels", "L", "levels of cells of half the side above it (default 3)",
     OPTION_NUMBER(levels, 0, LEVELS_MAX)},
    {"every", "M", "steps between changes of the mesh (default 4)",
     OPTION_NUMBER(every, 1, 1000000)},
    {0},
};

static const struct option_rule rules[] = {
    {"evener plan", OPTION_IGNORES, "every", "a plan computes nothing"},
    {0},
};

static void defaults(void *p) {
    struct state *s = p;
    s->size = 64;
    s->levels = 3;
    s->every = 4;
}

static int begin(struct state *s) {
    adaptive_mesh_close(&s->mesh);
    s->used = 0;
    if (!adaptive_begin(&s->mesh, &s->problem)) return 0;
    return give_up(evn_fail(EVN_MEMORY,
                            "adaptive: no memory for a mesh of %ld x %ld cells and %ld levels",
                            s->size, s->size, s->levels));
}

static int check(void *p, const struct workload *is) {
    struct state *s = p;
    (void)is;
    if (s->size % CELLS)
        return complain("--size %ld: blocks have %d cells a side; expected a multiple, as %ld",
                        s->size, CELLS, (s->size / CELLS + 1) * CELLS);
    s->problem = (struct problem){(int)s->size, (int)s->levels, (int)s->every};
    snprintf(s->key, sizeof s->key, "%ld, levels %ld", s->size, s->levels);
    return begin(s);
}

static struct workload_shape describe(const void *p) {
    const struct state *s = p;
    return (struct workload_shape){.key = s->key,
                                   .steps = STEPS,
                                   .group = 1,
                                   .bytes = (double)s->mesh.tree.leaves * sizeof(struct block)};
}

static evn_problem tasks(const void *p) {
    return (evn_problem){.tasks = ((const struct state *)p)->mesh.tree.leaves};
}

static void print_problem(const void *p, int steps, FILE *out) {
    const struct state *s = p;
    fprintf(out,
            "adaptive: a vortex in a square of %ld x %ld cells and %ld levels, %d blocks of %d x "
            "%d cells, %d steps\n",
            s->size, s->size, s->levels, s->mesh.tree.leaves, CELLS, CELLS, steps);
}

static int run(void *p, evn_units *units, evn_schedule *schedule, const struct run_options *o,
               const struct run_result **result) {
    struct state *s = p;
    const int failed = s->used ? begin(s) : 0;
    if (failed) return failed;
    s->used = 1;
    evn_status status = adaptive_run(&s->mesh, &s->problem, units, schedule, o,
                                     o->steps < 0 ? STEPS : o->steps, &s->outcome);
    *result = &s->outcome.run;
    return status ? give_up(status) : 0;
}

static void print_result(const void *p, const struct workload_page *page) {
    const struct state *s = p;
    const struct outcome *o = &s->outcome;
    fprintf(page->out, "\n  blocks                %d at the end, %d at most, %d if all were fine\n",
            o->blocks, o->most, (int)(s->size / CELLS * s->size / CELLS) << 2 * s->levels);
    fprintf(page->out, "  changes               %d: %lld blocks born, %lld gone\n", o->changes,
            o->born, o->gone);
    fprintf(page->out, "  error of the density  %.3e at time %.3f\n", o->error, o->time);
    fprintf(page->out, "  mass and energy       changed by %.1e and %.1e of themselves: %s\n",
            o->mass_drift, o->energy_drift, o->run.verified ? "verified" : "NOT verified");
    fprintf(page->out, "  Mop/s                 %.1f\n", o->run.mops);
}

static void record(const void *p, cJSON *root) {
    const struct state *s = p;
    const struct outcome *o = &s->outcome;
    record_number(root, "time", o->time);
    record_number(root, "error", o->error);
    record_number(root, "mass_drift", o->mass_drift);
    record_number(root, "energy_drift", o->energy_drift);
    cJSON *mesh = cJSON_AddObjectToObject(root, "mesh");
    cJSON_AddNumberToObject(mesh, "size", (double)s->size);
    cJSON_AddNumberToObject(mesh, "levels", (double)s->levels);
    cJSON_AddNumberToObject(mesh, "every", (double)s->every);
    cJSON_AddNumberToObject(mesh, "blocks", o->blocks);
    cJSON_AddNumberToObject(mesh, "blocks_most", o->most);
    cJSON_AddNumberToObject(mesh, "changes", o->changes);
    cJSON_AddNumberToObject(mesh, "born", (double)o->born);
    cJSON_AddNumberToObject(mesh, "gone", (double)o->gone);
    record_number(mesh, "cell_updates", o->updates);
}

static void close_state(void *p) {
    struct state *s = p;
    outcome_free(&s->outcome);
    adaptive_mesh_close(&s->mesh);
}

static const struct workload adaptive = {
    .name = "adaptive",
    .help = "a gas on an adaptive mesh: blocks come and go with a vortex",
    .about =
        "The Euler equations in a periodic square, by finite volumes of second order on blocks\n"
        "of 16 x 16 cells, which are refined where the flow is steep. A vortex moves across the\n"
        "square; the exact solution is known. Verified by the error of the density, mass and\n"
        "energy. A task is a block; the set of tasks changes while the loop runs.\n",
    .noun = "block",
    .weight = "blocks",
    .schedule = "map",
    .cpu_only = 1,
    .ranks = 1,
    .by_core = 1,
    .options = options,
    .rules = rules,
    .state = sizeof(struct state),
    .defaults = defaults,
    .check = check,
    .describe = describe,
    .tasks = tasks,
    .print_problem = print_problem,
    .run = run,
    .print_result = print_result,
    .record = record,
    .close = close_state,
};

extern const struct workload *const adaptive_workloads[];
const struct workload *const adaptive_workloads[] = {&adaptive, NULL};
