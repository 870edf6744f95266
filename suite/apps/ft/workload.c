/* FT as a workload of the command. */
#include "common/run/workload.h"
#include "common/cli/message.h"
#include "common/run/phases.h"
#include "common/run/put_counts.h"
#include "common/run/ranks.h"
#include "common/run/record.h"
#include "common/checkpoint/state.h"
#include "ft/ft.h"
#include "ft/study.h"
#include <evener/number.h>
#include <string.h>

struct state {
    const char *class_, *size, *variant;
    long transposes, per_node;
    struct ft_way way;
    struct state_files files;
    ft *problem;
    ft_shape shape;
    char class_text[2], key[64];
    ft_result result;
};

#define OPTIONS_OF struct state
static const struct option options[] = {
    {"class", "S", "problem class, S W A B C D E or F (default S)", OPTION_TEXT(class_)},
    {"size", "NXxNYxNZ", "points instead of a class's, powers of two (6 steps)", OPTION_TEXT(size)},
    {"variant", "NAME",
     "transpose between ranks: packed, slabs, best (default: direct writes within a node), or "
     "funneled: ranks of a node share a device",
     OPTION_TEXT(variant)},
    {"transposes", "1|2", "of each transform: 1 (default), or 2, as the paper has it",
     OPTION_NUMBER(transposes, 1, 2)},
    {"per-node", "N", "for studies: as if each node had N of the ranks",
     OPTION_NUMBER(per_node, 1, 1 << 20)},
    STATE_OPTIONS(files),
    {0},
};

static const struct option_rule rules[] = {
    STATE_RULES,
    {"size", OPTION_EXCLUDES, "class", "a class has its size; give one of them"},
    {"evener plan", OPTION_IGNORES, "variant transposes per-node", "a plan computes nothing"},
    {0},
};

/* Three numbers with an x between them. */
static int read_size(const char *text, long size[3]) {
    char part[32];
    for (int d = 0; d < 3; d++) {
        const size_t length = strcspn(text, "x");
        if (length >= sizeof part || (text[length] == 'x') != (d < 2)) return -1;
        memcpy(part, text, length);
        part[length] = 0;
        if (evn_read_whole(part, 1, FT_MOST, &size[d])) return -1;
        text += length + 1;
    }
    return 0;
}

static int open_size(struct state *s) {
    long size[3];
    if (read_size(s->size, size))
        return complain("--size %s: expected points along x, y and z, as 256x256x128, each a power "
                        "of two up to %d",
                        s->size, FT_MOST);
    evn_status status = ft_open_size(&s->problem, size);
    return status ? give_up(status) : 0;
}

static int open_class(struct state *s) {
    char class_;
    const int failed = options_class("ft", s->class_, &class_);
    if (failed) return failed;
    evn_status status = ft_open_class(&s->problem, class_);
    return status ? give_up(status) : 0;
}

static int read_way(struct state *s) {
    static const char *const variant[] = {[FT_BEST] = "best",
                                          [FT_SLABS] = "slabs",
                                          [FT_PACKED] = "packed",
                                          [FT_FUNNELED] = "funneled"};
    enum { VARIANTS = sizeof variant / sizeof *variant };
    int v = 0;
    while (s->variant && v < VARIANTS && strcmp(s->variant, variant[v]) != 0) v++;
    s->way = (struct ft_way){.variant = (enum ft_variant)v,
                             .transposes = s->transposes ? (int)s->transposes : 1,
                             .per_node = (int)s->per_node};
    if (v < VARIANTS) return 0;
    return complain(
        "--variant %s: there is no such variant, expected packed, slabs, best or funneled",
        s->variant);
}

static int check(void *p, const struct workload *is) {
    struct state *s = p;
    (void)is;
    int failed = read_way(s);
    if (!failed) failed = s->size ? open_size(s) : open_class(s);
    if (failed) return failed;
    s->shape = ft_describe(s->problem);
    s->class_text[0] = s->shape.class_;
    if (s->shape.class_)
        snprintf(s->key, sizeof s->key, "%c", s->shape.class_);
    else
        snprintf(s->key, sizeof s->key, "%dx%dx%d", s->shape.n[0], s->shape.n[1], s->shape.n[2]);
    return 0;
}

static int is_led(const void *p, const evn_cluster *cluster) {
    const struct state *s = p;
    const int me = evn_cluster_rank(cluster);
    return s->way.variant == FT_FUNNELED && ranks_master(cluster, s->way.per_node, me) != me;
}

static struct workload_shape describe(const void *p) {
    const struct state *s = p;
    return (struct workload_shape){.class_ = s->shape.class_ ? s->class_text : NULL,
                                   .key = s->key,
                                   .steps = s->shape.steps,
                                   .group = 1,
                                   .bytes = s->shape.bytes};
}

static evn_problem tasks(const void *p) { return ft_tasks(((const struct state *)p)->problem); }

static int run(void *p, evn_units *units, evn_schedule *schedule, const struct run_options *o,
               const struct run_result **result) {
    struct state *s = p;
    const int variant = s->variant && !evn_units_about(units).devices; /* which have it, too */
    if (!o->cluster && (variant || s->per_node))
        complain("warning: --%s is about ranks and changes nothing: there is one",
                 variant ? "variant" : "per-node");
    ft_result_free(&s->result);
    struct run_options options = *o;
    options.files = &s->files;
    evn_status status = ft_run(s->problem, &s->way, units, schedule, &options, &s->result);
    *result = &s->result.run;
    return status ? give_up(status) : 0;
}

static struct workload_kept kept(void *p) {
    struct state *s = p;
    return (struct workload_kept){s->files.checkpoint, &s->files.restart};
}

static void close_state(void *p) {
    struct state *s = p;
    ft_result_free(&s->result);
    ft_close(s->problem);
}

/* ---- the page and the record ---------------------------------------------------------------- */

static void print_problem(const void *p, int steps, FILE *out) {
    const ft_shape *shape = &((const struct state *)p)->shape;
    fprintf(out, "FT");
    if (shape->class_) fprintf(out, " class %c", shape->class_);
    fprintf(out, ": %d x %d x %d points, %d steps\n", shape->n[0], shape->n[1], shape->n[2], steps);
}

static void print_result(const void *p, const struct workload_page *page) {
    const struct state *s = p;
    const ft_result *r = &s->result;
    fprintf(page->out, "\n  step  checksum\n");
    for (int i = 0; i < r->run.steps; i++)
        fprintf(page->out, "  %4d  %19.12f %19.12f\n", i + 1, r->checksum[i][0], r->checksum[i][1]);
    if (r->run.verified >= 0)
        fprintf(page->out, "\n  %s: largest relative error of the checksums %.1e\n",
                r->run.verified ? "verified" : "NOT verified", r->error);
    fprintf(page->out, "  Mop/s  %.1f\n", r->run.mops);
    if (r->run.ranks > 1)
        fprintf(page->out, "  puts   %lld of %.3f MB together, %lld of them to other nodes\n",
                r->puts.puts, 1e-6 * r->puts.bytes, r->puts.far_puts);
    if (page->verbose && r->count[FT_CONTEXTS] > 0 && r->run.ranks > 1)
        fprintf(page->out, "  %.0f contexts of devices for %d ranks%s\n", r->count[FT_CONTEXTS],
                r->run.ranks,
                s->way.variant == FT_FUNNELED
                    ? ": the first rank of a node leads its device, the others have a core instead"
                    : "");
    if (page->verbose) phases_print(page->out, FT_PHASES, ft_phase_name, r->phase_s);
}

/* By the earliest of them. */
static void record_spans(const ft_result *r, cJSON *list) {
    double first = r->span[0].begin;
    for (int i = 0; i < r->spans; i++)
        if (r->span[i].begin < first) first = r->span[i].begin;
    for (int i = 0; i < r->spans; i++) {
        const ft_span *s = &r->span[i];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "rank", s->rank);
        cJSON_AddStringToObject(o, "what", s->is_put ? "put" : "device");
        record_number(o, "begin_s", s->begin - first);
        record_number(o, "end_s", s->end - first);
        cJSON_AddItemToArray(list, o);
    }
}

static void record(const void *p, cJSON *root) {
    const struct state *s = p;
    const ft_result *r = &s->result;
    cJSON *sums = cJSON_AddArrayToObject(root, "checksums");
    for (int i = 0; i < r->run.steps; i++)
        cJSON_AddItemToArray(sums, record_numbers(r->checksum[i], 2));
    cJSON *size = cJSON_AddArrayToObject(root, "size");
    for (int d = 0; d < 3; d++) cJSON_AddItemToArray(size, cJSON_CreateNumber(s->shape.n[d]));
    phases_record(root, FT_PHASES, ft_phase_name, r->phase_s);
    cJSON_AddNumberToObject(root, "transposes", s->way.transposes);
    puts_record(root, &r->puts);
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    for (int i = 0; i < FT_COUNTS; i++) record_number(counts, ft_count_name(i), r->count[i]);
    if (r->spans) record_spans(r, cJSON_AddArrayToObject(root, "latest_z"));
    states_record(&s->files, &r->run, root);
}

static const struct study studies[] = {
    {"ft", "transforms of three axes on one core, beside FFTW's", ft_study},
    {0},
};

static const struct workload ft_workload = {
    .name = "ft",
    .help = "NPB FT: three-dimensional Fourier transforms",
    .about = "The NAS Parallel Benchmark FT: the heat equation on a periodic box, solved with a\n"
             "three-dimensional Fourier transform a step, verified by checksums. A task is some\n"
             "planes of the field, and as many rows of its transpose.\n",
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
    .describe = describe,
    .tasks = tasks,
    .kept = kept,
    .print_problem = print_problem,
    .run = run,
    .print_result = print_result,
    .record = record,
    .close = close_state,
    .in_time = &ft_in_time,
    .studies = studies,
};

extern const struct workload *const ft_workloads[];
const struct workload *const ft_workloads[] = {&ft_workload, NULL};
