/* TD-BEM as a workload of the command: scattering by a body, in the time domain. */
#include "common/run/workload.h"
#include "common/cli/interrupt.h"
#include "common/cli/message.h"
#include "tdbem/command/state.h"
#include "tdbem/study/study.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

static void defaults(void *p) {
    struct state *s = p;
    s->w.ng = 16;
}

static int check(void *p, const struct workload *is) {
    struct state *s = p;
    (void)is;
    return words_read(s);
}

static int instead(void *p) {
    const struct state *s = p;
    if (s->w.dry) return needs_print(s);
    return s->w.entries ? entries_print(s) : -1;
}

/* The matrices are made by as many threads as the march will have cores. */
static int check_units(void *p, const evn_units *units) {
    struct state *s = p;
    s->options.cores = 0;
    for (int u = 0; u < evn_units_count(units); u++)
        s->options.cores += evn_unit_cores(evn_units_get(units, u));
    evn_status status = tdbem_check_units(&s->options, units);
    return status ? give_up(status) : 0;
}

static void begin_progress(struct state *s) {
    progress_begin(&s->progress, "td-bem matrices, %", s->quiet);
}

static int on_generate(double done, void *p) {
    struct state *s = p;
    progress_step(&s->progress, (int)(100 * done), 100, evn_now() - s->began);
    return s->cluster && interrupted; /* alone an interrupt ends the process */
}

static void on_notice(const char *line, void *p) {
    struct state *s = p;
    progress_end(&s->progress);
    /* over ranks the page says it of all */
    if (!s->quiet && (!s->cluster || !strncmp(line, "warning:", 8))) complain("%s", line);
    begin_progress(s);
}

static void join(void *p, evn_cluster *cluster) { ((struct state *)p)->cluster = cluster; }

static void foresee(void *p) { ((struct state *)p)->foreseen = 1; }

static int make(void *p, const int *rank) {
    struct state *s = p;
    s->began = evn_now();
    begin_progress(s);
    evn_status status = tdbem_make(s->problem, rank);
    progress_end(&s->progress);
    return status ? give_up(status) : 0;
}

static int open_problem(void *p, int quiet) {
    struct state *s = p;
    const tdbem_options *o = &s->options;
    s->options.progress = on_generate;
    s->options.notice = on_notice;
    s->options.arg = s;
    s->quiet = quiet;
    s->began = evn_now();
    begin_progress(s);
    evn_status status = tdbem_open_for(&s->problem, o, s->cluster, s->foreseen);
    progress_end(&s->progress);
    if (status) return give_up(status);
    char scale[40] = "";
    if (o->scale > 0) snprintf(scale, sizeof scale, " x %g", o->scale);
    if (asprintf(&s->key, "%s%s, %s, %s, ng=%d", o->mesh, scale, o->single ? "float" : "double",
                 o->layout, o->group) < 0)
        s->key = NULL;
    return s->key ? 0 : give_up(evn_fail(EVN_MEMORY, "td-bem: not enough memory"));
}

static struct workload_shape describe(const void *p) {
    const struct state *s = p;
    const tdbem_shape shape = tdbem_describe(s->problem);
    return (struct workload_shape){.key = s->key,
                                   .steps = shape.default_steps,
                                   .group = s->options.group,
                                   .bytes = shape.bytes};
}

static evn_problem tasks(const void *p) {
    const struct state *s = p;
    return tdbem_tasks(s->problem);
}

/* Warnings from the `told`-th on; how many there are. */
static int complain_of(const struct state *s, int told) {
    for (; tdbem_warning(s->problem, told); told++)
        complain("warning: %s", tdbem_warning(s->problem, told));
    return told;
}

static int run(void *p, evn_units *units, evn_schedule *schedule, const struct run_options *o,
               const struct run_result **result) {
    struct state *s = p;
    tdbem_result *r = &s->result;
    int told = complain_of(s, 0);
    tdbem_result_free(r);
    evn_status status = tdbem_run(s->problem, units, schedule, o, &s->run, r);
    complain_of(s, told);
    if (status) return give_up(status);
    *result = &r->run;
    return 0;
}

static struct workload_kept kept(void *p) {
    struct state *s = p;
    return (struct workload_kept){s->run.checkpoint, &s->run.restart};
}

static void close_state(void *p) {
    struct state *s = p;
    tdbem_result_free(&s->result);
    tdbem_close(s->problem);
    free_all(s->point, s->vertex, s->frequency, s->key);
    waves_close(s);
}

static const struct study studies[] = {
    {"td-bem", "the summation stage of TD-BEM against the machine's peak and a sparse product",
     tdbem_study},
    {0},
};

static const struct study commands[] = {
    {"mesh", "checks, mends and describes a mesh, and what a run on it will need", mesh_command},
    {0},
};

static const struct workload tdbem_workload = {
    .name = "td-bem",
    .help = "scattering of a pulse by a closed body, in the time domain",
    .about = "Acoustic scattering of a pulse, of plane waves or of point sources, by a closed\n"
             "body, in the time domain, by boundary elements. Its tasks are blocks of the "
             "matrices. Give it --mesh.\n",
    .noun = "block",
    .weight = "values",
    .schedule = "auto",
    .schedule_over_ranks = "interval", /* blocks side by side are summed up on their rank */
    .ranks = 1,
    .by_core = 1,
    .sample = "--mesh=sphere:3",
    .options = tdbem_words,
    .rules = tdbem_rules,
    .state = sizeof(struct state),
    .defaults = defaults,
    .check = check,
    .instead = instead,
    .check_units = check_units,
    .open = open_problem,
    .describe = describe,
    .tasks = tasks,
    .join = join,
    .foresee = foresee,
    .make = make,
    .kept = kept,
    .print_problem = page_problem,
    .run = run,
    .print_result = page_result,
    .record = record_problem,
    .close = close_state,
    .model = tdbem_model,
    .studies = studies,
    .commands = commands,
};

extern const struct workload *const tdbem_workloads[];
const struct workload *const tdbem_workloads[] = {&tdbem_workload, NULL};
