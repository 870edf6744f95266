/* MG as a workload of the command. */
#include "common/run/workload.h"
#include "common/cli/message.h"
#include "common/run/phases.h"
#include "common/run/put_counts.h"
#include "common/run/ranks.h"
#include "common/run/record.h"
#include "common/checkpoint/state.h"
#include "mg/mg.h"
#include "mg/study.h"
#include <string.h>

struct state {
    const char *class_, *smoother, *variant;
    long size, per_node;
    mg_variant chosen;
    int ranks;
    struct state_files files;
    mg *problem;
    mg_shape shape;
    char class_text[2], key[32];
    mg_result result;
};

#define OPTIONS_OF struct state
static const struct option options[] = {
    {"class", "S", "problem class, S W A B C D E or F (default S)", OPTION_TEXT(class_)},
    {"size", "N", "points a side instead of a class's, a power of two (4 steps)",
     OPTION_NUMBER(size, MG_LEAST, MG_MOST)},
    {"smoother", "a|b", "the smoother of --size (default a)", OPTION_TEXT(smoother)},
    {"variant", "NAME",
     "best (default): slabs in one pass; bulk, overlap, funneled: blocks, faces after each "
     "operator",
     OPTION_TEXT(variant)},
    {"per-node", "N", "for studies: as if each node had N of the ranks",
     OPTION_NUMBER(per_node, 1, 1 << 20)},
    STATE_OPTIONS(files),
    {0},
};

static const struct option_rule rules[] = {
    STATE_RULES,
    {"size", OPTION_EXCLUDES, "class", "a class has its size; give one of them"},
    {"smoother", OPTION_NEEDS, "size", "a class has its smoother"},
    {"evener plan", OPTION_IGNORES, "smoother per-node", "a plan computes nothing"},
    {"evener plan", OPTION_EXCLUDES, "variant", "a plan is one of slabs"},
    {"evener calibrate", OPTION_EXCLUDES, "variant", "it measures slabs"},
    {"variant=bulk", OPTION_EXCLUDES, "checkpoint restart", "states are kept of slabs"},
    {"variant=overlap", OPTION_EXCLUDES, "checkpoint restart", "states are kept of slabs"},
    {"variant=funneled", OPTION_EXCLUDES, "checkpoint restart", "states are kept of slabs"},
    {0},
};

static int open_size(struct state *s) {
    const char *smoother = s->smoother ? s->smoother : "a";
    if (strlen(smoother) != 1)
        return complain("--smoother: there is no \"%s\", expected a or b", smoother);
    evn_status status = mg_open_size(&s->problem, s->size, smoother[0]);
    return status ? give_up(status) : 0;
}

static int open_class(struct state *s) {
    char class_;
    const int failed = options_class("mg", s->class_, &class_);
    if (failed) return failed;
    evn_status status = mg_open_class(&s->problem, class_);
    return status ? give_up(status) : 0;
}

/* The variant by its name. */
static int choose(struct state *s) {
    static const char *const name[] = {[MG_BEST] = "best",
                                       [MG_BULK] = "bulk",
                                       [MG_OVERLAP] = "overlap",
                                       [MG_FUNNELED] = "funneled"};
    const char *word = s->variant ? s->variant : "best";
    for (int i = 0; i <= MG_FUNNELED; i++)
        if (!strcmp(word, name[i])) {
            s->chosen = (mg_variant)i;
            return 0;
        }
    return complain("--variant: there is no \"%s\", expected bulk, overlap, funneled or best",
                    word);
}

static int check(void *p, const struct workload *is) {
    struct state *s = p;
    (void)is;
    int failed = choose(s);
    if (!failed) failed = s->size ? open_size(s) : open_class(s);
    if (failed) return failed;
    s->shape = mg_describe(s->problem);
    s->class_text[0] = s->shape.class_;
    if (s->shape.class_)
        snprintf(s->key, sizeof s->key, "%c", s->shape.class_);
    else
        snprintf(s->key, sizeof s->key, "%d, smoother %c", s->shape.n, s->shape.smoother);
    return 0;
}

/* Ranks of a node share the device of the lowest. */
static int is_led(const void *p, const evn_cluster *cluster) {
    const struct state *s = p;
    const int me = evn_cluster_rank(cluster);
    return s->chosen == MG_FUNNELED && ranks_master(cluster, (int)s->per_node, me) != me;
}

static void join(void *p, evn_cluster *cluster) {
    ((struct state *)p)->ranks = evn_cluster_size(cluster);
}

static int choose_tasks(void *p, int quiet) {
    struct state *s = p;
    (void)quiet;
    evn_status status =
        mg_choose(s->problem, (mg_way){s->chosen, (int)s->per_node}, s->ranks ? s->ranks : 1);
    s->shape = mg_describe(s->problem);
    return status ? give_up(status) : 0;
}

static struct workload_shape describe(const void *p) {
    const struct state *s = p;
    return (struct workload_shape){.class_ = s->shape.class_ ? s->class_text : NULL,
                                   .key = s->key,
                                   .steps = s->shape.steps,
                                   .group = 1,
                                   .bytes = s->shape.bytes};
}

static evn_problem tasks(const void *p) { return mg_tasks(((const struct state *)p)->problem); }

static int run(void *p, evn_units *units, evn_schedule *schedule, const struct run_options *o,
               const struct run_result **result) {
    struct state *s = p;
    mg_result_free(&s->result);
    struct run_options options = *o;
    options.files = &s->files;
    evn_status status = mg_run(s->problem, units, schedule, &options, &s->result);
    *result = &s->result.run;
    return status ? give_up(status) : 0;
}

static struct workload_kept kept(void *p) {
    struct state *s = p;
    return (struct workload_kept){s->files.checkpoint, &s->files.restart};
}

static void close_state(void *p) {
    struct state *s = p;
    mg_result_free(&s->result);
    mg_close(s->problem);
}

/* ---- the page and the record ---------------------------------------------------------------- */

static void print_problem(const void *p, int steps, FILE *out) {
    const mg_shape *shape = &((const struct state *)p)->shape;
    fprintf(out, "MG");
    if (shape->class_) fprintf(out, " class %c", shape->class_);
    fprintf(out, ": %d x %d x %d points, smoother %c, %d steps\n", shape->n, shape->n, shape->n,
            shape->smoother, steps);
}

static int is_by_operator(const mg_result *r) { return r->operator_s[MG_RESID] > 0; }

static void print_result(const void *p, const struct workload_page *page) {
    const struct state *s = p;
    const mg_result *r = &s->result;
    const double official = mg_official(s->problem);
    fprintf(page->out, "\n  norm of the residual  %.13e", r->norm);
    if (r->run.verified >= 0)
        fprintf(page->out, "\n  official              %.13e\n  %s: relative error %.1e", official,
                r->run.verified ? "verified" : "NOT verified", (r->norm - official) / official);
    fprintf(page->out, "\n  Mop/s                 %.1f\n", r->run.mops);
    if (page->verbose && r->blocks.contexts)
        fprintf(page->out, "  %lld block%s on %lld device%s\n", r->blocks.blocks,
                r->blocks.blocks > 1 ? "s" : "", r->blocks.contexts,
                r->blocks.contexts > 1 ? "s" : "");
    if (page->verbose) phases_print(page->out, MG_PHASES, mg_phase_name, r->phase_s);
    if (page->verbose && is_by_operator(r))
        phases_print(page->out, MG_OPERATORS, mg_operator_name, r->operator_s);
}

/* Counts of devices with blocks. */
static void record_blocks(cJSON *root, const mg_block_counts *c) {
    if (!c->contexts) return;
    cJSON *o = cJSON_AddObjectToObject(root, "blocks");
    cJSON_AddNumberToObject(o, "contexts", (double)c->contexts);
    cJSON_AddNumberToObject(o, "on_devices", (double)c->blocks);
    cJSON_AddNumberToObject(o, "launches", (double)c->launches);
    cJSON_AddNumberToObject(o, "within", (double)c->within);
    record_number(o, "within_bytes", c->within_bytes);
    cJSON_AddNumberToObject(o, "local_copies", (double)c->copies);
    record_number(o, "local_bytes", c->copied_bytes);
    cJSON_AddNumberToObject(o, "copies_in", (double)c->device.copies_in);
    cJSON_AddNumberToObject(o, "bytes_in", (double)c->device.bytes_in);
    cJSON_AddNumberToObject(o, "copies_out", (double)c->device.copies_out);
    cJSON_AddNumberToObject(o, "bytes_out", (double)c->device.bytes_out);
    record_number(o, "device_s", c->device_s);
    record_number(o, "local_s", c->local_s);
    record_number(o, "put_s", c->put_s);
}

static void record(const void *p, cJSON *root) {
    const struct state *s = p;
    const mg_result *r = &s->result;
    record_number(root, "norm", r->norm);
    cJSON_AddNumberToObject(root, "size", s->shape.n);
    cJSON_AddStringToObject(root, "smoother", s->shape.smoother == 'b' ? "b" : "a");
    puts_record(root, &r->puts);
    record_blocks(root, &r->blocks);
    states_record(&s->files, &r->run, root);
    phases_record(root, MG_PHASES, mg_phase_name, r->phase_s);
    if (!is_by_operator(r)) return;
    cJSON *operators = cJSON_AddObjectToObject(root, "operators");
    for (int i = 0; i < MG_OPERATORS; i++)
        record_number(operators, mg_operator_name(i), r->operator_s[i]);
}

static const struct study studies[] = {
    {"mg", "MG: pass by pass against the bytes it must move and memory's bandwidth", mg_study},
    {0},
};

static const struct workload mg_workload = {
    .name = "mg",
    .help = "NPB MG: multigrid on a periodic cube",
    .about = "The NAS Parallel Benchmark MG: V-cycles of multigrid for a Poisson equation on a\n"
             "periodic cube, verified by the norm of the last residual. A task is four planes of\n"
             "the finest level.\n",
    .noun = "slab",
    .weight = "points",
    .schedule = "static",
    .sample = "--class=W",
    .ranks = 1,
    .by_core = 1,
    .options = options,
    .rules = rules,
    .state = sizeof(struct state),
    .check = check,
    .is_led = is_led,
    .join = join,
    .open = choose_tasks,
    .describe = describe,
    .tasks = tasks,
    .kept = kept,
    .print_problem = print_problem,
    .run = run,
    .print_result = print_result,
    .record = record,
    .close = close_state,
    .in_time = &mg_in_time,
    .studies = studies,
};

extern const struct workload *const mg_workloads[];
const struct workload *const mg_workloads[] = {&mg_workload, NULL};
