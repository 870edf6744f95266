/* evener model of FT and MG: time of a step on nodes of threads that share a GPU, variant by
 * variant, in virtual time. Nothing is computed and no clock is read. */
#include "model/in_time.h"
#include "cli/command.h"
#include "common/cli/files.h"
#include "common/cli/json_file.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "report/report.h"
#include <evener/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 4096, ROWS_MAX = 512 };

struct request {
    const char *class_, *nodes, *variant, *hybrid, *machine, *json, *report;
    long per_node, transposes;
    int quiet;
};

struct row {
    int nodes, threads, variant, gpu, transposes;
    double gpu_bytes; /* that a node's GPU has to hold; 0: none is used */
    int fits;         /* 0: it has not as many, and nothing else is known */
    double step_s;
    double group_s[TIME_GROUPS]; /* of a thread, in the mean */
    struct virtual_counts counts;
};

struct study_of {
    const struct workload *is;
    const struct virtual_program *program;
    const struct request *request;
    char class_;
    struct virtual_node node;
    char described[128]; /* "" the paper's */
    double one_thread_s;
    struct row row[ROWS_MAX];
    int rows;
};

static const char *const group_name[TIME_GROUPS] = {"compute", "copies", "puts", "barriers"};

/* ---- the machine ---- */

static int refuse(const char *path, const char *key, const char *why) {
    return complain("%s: \"%s\" %s", path, key, why);
}

static int read_figure(struct virtual_node *node, const char *path, const cJSON *item) {
    const struct virtual_figure *f = virtual_figures;
    while (f->name && strcmp(f->name, item->string) != 0) f++;
    if (!f->name)
        return refuse(path, item->string,
                      "is no figure of a node (evener model ft --json - has them all)");
    const double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    if (f->rate ? !(value >= 1 && isfinite(value)) : !(value >= 0 && value <= VIRTUAL_LONGEST))
        return refuse(path, item->string,
                      f->rate ? "is none: expected a number from 1"
                              : "is none: expected a number from 0 to 1e6");
    *(double *)((char *)node + f->at) = value;
    return 0;
}

/* Figures in place of the paper's. */
static int read_machine(struct study_of *s, const char *path) {
    cJSON *root;
    int code = json_file_read(&root, path);
    if (code) return code;
    const cJSON *figures = cJSON_GetObjectItemCaseSensitive(root, "figures"), *item;
    const char *name = json_text(root, "machine");
    if (!cJSON_IsObject(figures) || !name || !*name)
        code = refuse(
            path, cJSON_IsObject(figures) ? "machine" : "figures",
            "is not there: expected {\"machine\": \"its name\", \"figures\": {\"put\": 4e-7, ..}}");
    if (!code) snprintf(s->described, sizeof s->described, "%s", name);
    if (!code) cJSON_ArrayForEach(item, figures) {
            code = code ? code : read_figure(&s->node, path, item);
        }
    cJSON_Delete(root);
    return code;
}

/* ---- a step ---- */

static int out_of_memory(int threads) {
    complain("model: a step of %d threads has more operations than there is room for; expected "
             "fewer nodes, or a smaller class",
             threads);
    return EXIT_FAILED;
}

/* Means over threads. */
static void read_times(const struct virtual_cluster *c, struct row *row) {
    const struct timeline *t = &c->time;
    row->step_s = t->end;
    row->counts = c->counts;
    for (int g = 0; g < TIME_GROUPS; g++) {
        row->group_s[g] = 0;
        for (int i = 0; i < c->threads; i++)
            row->group_s[g] += t->spent[i * TIME_GROUPS + g] / c->threads;
    }
}

static int step(const struct study_of *s, struct row *row, int nodes, int per_node) {
    struct virtual_cluster c;
    row->nodes = nodes;
    row->threads = nodes * per_node;
    const int code = s->program->check(s->class_, row->threads);
    if (code) return code;
    int failed = virtual_open(&c, &s->node, nodes, per_node);
    c.gpu = row->gpu;
    c.master = row->gpu && s->program->variant[row->variant].master;
    if (!failed) failed = s->program->lay(&c, s->class_, row->variant, row->transposes);
    if (!failed) failed = timeline_run(&c.time);
    if (!failed) read_times(&c, row);
    virtual_close(&c);
    return failed ? out_of_memory(row->threads) : 0;
}

static int transposes(const struct study_of *s, int variant) {
    return s->request->transposes ? (int)s->request->transposes
                                  : s->program->variant[variant].transposes;
}

/* Whether a node's GPU holds all that it has to. */
static int fits(const struct study_of *s, struct row *row, int nodes) {
    const int per_node = (int)s->request->per_node;
    row->gpu_bytes =
        row->gpu ? s->program->gpu_bytes(s->class_, row->variant, nodes * per_node, per_node) : 0;
    return row->gpu_bytes <= s->node.gpu_bytes;
}

/* A variant on so many nodes. */
static int add_row(struct study_of *s, int nodes, int variant, int gpu) {
    if (s->rows == ROWS_MAX)
        return complain("model: more than %d rows, expected fewer nodes or variants", ROWS_MAX);
    struct row *row = &s->row[s->rows];
    *row = (struct row){.variant = variant, .gpu = gpu, .transposes = transposes(s, variant)};
    row->fits = fits(s, row, nodes);
    const int per_node = (int)s->request->per_node;
    int code = s->program->check(s->class_, nodes * per_node);
    row->nodes = nodes;
    row->threads = nodes * per_node;
    if (!code && row->fits) code = step(s, row, nodes, per_node);
    s->rows += !code;
    return code;
}

/* ---- arguments ---- */

static int wrong_variant(const struct study_of *s, const char *word) {
    char known[160] = "";
    for (const struct virtual_variant *v = s->program->variant; v->name; v++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s, ", v->name);
    return complain("--variant %s: there is no such variant, expected some of %sor all", word,
                    known);
}

static int wanted(const struct option_list *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (!strcmp(list->word[i], name)) return 1;
    return !list->count;
}

static int read_variants(const struct study_of *s, struct option_list *list, int cores) {
    *list = (struct option_list){.count = 0};
    if (!strcmp(s->request->variant, "all")) return 0;
    const int code = options_list(list, "variant", s->request->variant);
    if (code) return code;
    for (int i = 0; i < list->count; i++) {
        const struct virtual_variant *v = s->program->variant;
        while (v->name && strcmp(v->name, list->word[i]) != 0) v++;
        if (!v->name) return wrong_variant(s, list->word[i]);
        if (cores && !v->cores)
            return complain(
                "--variant %s: threads share a GPU there, and there is none with --hybrid off",
                v->name);
    }
    return 0;
}

/* No node holds its part. */
static int none_fits(const struct study_of *s) {
    const struct row *r = &s->row[s->rows - 1];
    return complain("%s class %c: %s on %d nodes needs %.3g GB of each GPU, which has %.3g "
                    "(gpu_bytes); expected more nodes, or --hybrid off",
                    s->is->name, s->class_, s->program->variant[r->variant].name, r->nodes,
                    1e-9 * r->gpu_bytes, 1e-9 * s->node.gpu_bytes);
}

static int add_rows(struct study_of *s) {
    static const char *const hybrid[] = {"off", "on", "both"};
    const struct request *r = s->request;
    struct option_list nodes, variants;
    int on = 0;
    while (on < 3 && strcmp(r->hybrid, hybrid[on]) != 0) on++;
    if (on == 3) return complain("--hybrid %s: expected on, off or both", r->hybrid);
    int code = read_variants(s, &variants, on == 0);
    if (!code) code = options_list(&nodes, "nodes", r->nodes);
    for (int i = 0; !code && i < nodes.count; i++) {
        long count;
        if (evn_read_whole(nodes.word[i], 1, NODES_MAX, &count))
            return complain("--nodes %s: %s: %s", r->nodes, nodes.word[i], evn_message());
        for (int gpu = on == 1; !code && gpu <= (on > 0); gpu++)
            for (int v = 0; !code && s->program->variant[v].name; v++)
                if (wanted(&variants, s->program->variant[v].name) &&
                    (gpu || s->program->variant[v].cores))
                    code = add_row(s, (int)count, v, gpu);
    }
    int some = 0;
    for (int i = 0; i < s->rows; i++) some |= s->row[i].fits;
    return code || some || !s->rows ? code : none_fits(s);
}

/* ---- what comes out ---- */

static void print_page(const struct study_of *s, FILE *out) {
    fprintf(out,
            "%s class %c in virtual time, a model: nodes of %ld threads that share a GPU, of %s\n"
            "one thread without a GPU: %.3f ms a step\n\n"
            "%6s %8s  %-9s %-4s %10s %9s  %8s %7s %7s %8s  %9s %10s\n",
            s->is->name, s->class_, s->request->per_node,
            *s->described ? s->described : "the paper's", 1e3 * s->one_thread_s, "nodes", "threads",
            "variant", "on", "ms a step", "speed-up", "compute", "copies", "puts", "barriers",
            "messages", "MB put");
    for (int i = 0; i < s->rows; i++) {
        const struct row *r = &s->row[i];
        if (i && r->nodes != s->row[i - 1].nodes) fprintf(out, "\n");
        fprintf(out, "%6d %8d  %-9s %-4s ", r->nodes, r->threads,
                s->program->variant[r->variant].name, r->gpu ? "GPU" : "CPU");
        if (!r->fits) {
            fprintf(out, "needs %.3g GB of each GPU, which has %.3g\n", 1e-9 * r->gpu_bytes,
                    1e-9 * s->node.gpu_bytes);
            continue;
        }
        fprintf(out, "%10.3f %9.2f ", 1e3 * r->step_s, s->one_thread_s / r->step_s);
        for (int g = 0; g < TIME_GROUPS; g++)
            fprintf(out, " %5.1f %%", 100 * r->group_s[g] / r->step_s);
        fprintf(out, "  %9.0f %10.3f\n", r->counts.messages, 1e-6 * r->counts.bytes);
    }
    fprintf(out, "\nspeed-up: over one thread. compute to barriers: what a thread does or waits "
                 "for, in the mean.\nMessages and MB of a step, of all threads.\n");
}

static cJSON *record_counts(const struct virtual_counts *c) {
    static const struct {
        const char *key;
        size_t at;
    } of[] = {
#define AT(name) {#name, offsetof(struct virtual_counts, name)}
        AT(messages),          AT(bytes),           AT(far_messages),
        AT(far_bytes),         AT(device_faces),    AT(device_bytes),
        AT(to_device),         AT(to_device_bytes), AT(from_device),
        AT(from_device_bytes), AT(kernels),
#undef AT
    };
    cJSON *o = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        record_number(o, of[i].key, *(const double *)((const char *)c + of[i].at));
    return o;
}

/* A row whose GPUs are too small. */
static cJSON *record_refused(const struct study_of *s, const struct row *r) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "nodes", r->nodes);
    cJSON_AddNumberToObject(o, "threads", r->threads);
    cJSON_AddStringToObject(o, "variant", s->program->variant[r->variant].name);
    record_number(o, "gpu_bytes", r->gpu_bytes);
    return o;
}

static cJSON *record_row(const struct study_of *s, const struct row *r) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "nodes", r->nodes);
    cJSON_AddNumberToObject(o, "threads", r->threads);
    cJSON_AddStringToObject(o, "variant", s->program->variant[r->variant].name);
    cJSON_AddBoolToObject(o, "gpu", r->gpu);
    if (r->gpu) record_number(o, "gpu_bytes", r->gpu_bytes);
    if (r->transposes) cJSON_AddNumberToObject(o, "transposes", r->transposes);
    record_number(o, "step_s", r->step_s);
    record_number(o, "speedup", s->one_thread_s / r->step_s);
    cJSON *groups = cJSON_AddObjectToObject(o, "groups_s");
    for (int g = 0; g < TIME_GROUPS; g++) record_number(groups, group_name[g], r->group_s[g]);
    cJSON_AddItemToObject(o, "step", record_counts(&r->counts));
    return o;
}

static cJSON *record(const struct study_of *s) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", s->is->name);
    cJSON_AddStringToObject(root, "class", (char[]){s->class_, 0});
    cJSON_AddStringToObject(root, "machine", *s->described ? s->described : "the paper's");
    cJSON *figures = cJSON_AddObjectToObject(root, "figures");
    for (const struct virtual_figure *f = virtual_figures; f->name; f++)
        record_number(figures, f->name, *(const double *)((const char *)&s->node + f->at));
    cJSON *from = cJSON_AddObjectToObject(root, "figures_from");
    for (const struct virtual_figure *f = virtual_figures; f->name && !*s->described; f++)
        cJSON_AddStringToObject(from, f->name, f->from);
    cJSON_AddNumberToObject(root, "per_node", (double)s->request->per_node);
    record_number(root, "one_thread_s", s->one_thread_s);
    cJSON *list = cJSON_AddArrayToObject(root, "in_time");
    for (int i = 0; i < s->rows; i++)
        if (s->row[i].fits) cJSON_AddItemToArray(list, record_row(s, &s->row[i]));
    cJSON *refused = cJSON_AddArrayToObject(root, "refused");
    for (int i = 0; i < s->rows; i++)
        if (!s->row[i].fits) cJSON_AddItemToArray(refused, record_refused(s, &s->row[i]));
    cJSON_AddStringToObject(root, "command", command_line);
    return root;
}

static int write_all(const struct study_of *s, evn_output *out, evn_output *page) {
    if (!s->request->quiet) print_page(s, files_page());
    if (!out && !page) return 0;
    char *text = record_text(record(s));
    int code = !text || (out && output_commit(out, text)) ? EXIT_FAILED : 0;
    if (!code && page) code = report_made(page, "evener model", text);
    free(text);
    return code;
}

/* ---- the command ---- */

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"class", "B", "problem class, S W A B C D E or F (default B)", OPTION_TEXT(class_)},
    {"nodes", "LIST", "numbers of nodes (default 1,2,4,8,16)", OPTION_TEXT(nodes)},
    {"per-node", "N", "threads of a node, each with a core (default 4)",
     OPTION_NUMBER(per_node, 1, 1024)},
    {"variant", "LIST", "some of the workload's, or all (default)", OPTION_TEXT(variant)},
    {"transposes", "1|2", "of each transform of ft (default: as the variant has it)",
     OPTION_NUMBER(transposes, 1, 2)},
    {"hybrid", "WHEN", "on: GPUs compute, off: cores do, both (default)", OPTION_TEXT(hybrid)},
    {"machine", "FILE", "figures of a node in place of the paper's", OPTION_INPUT(machine)},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT(json)},
    {"report", "FILE", "a page with speed-ups, and where the time goes", OPTION_OUTPUT(report)},
    {"quiet", NULL, "no table", OPTION_FLAG(quiet)},
    {0},
};

/* Checks the options before anything is laid out. */
static int check(struct study_of *s) {
    const struct request *r = s->request;
    if (strlen(r->class_) != 1)
        return complain("--class %s: there is no such class, expected one of S W A B C D E F",
                        r->class_);
    s->class_ = r->class_[0];
    if (r->transposes && !s->program->variant[0].transposes)
        return complain("--transposes: %s has none; it is for ft", s->is->name);
    s->node = virtual_paper();
    int code = s->program->check(s->class_, 1);
    if (!code && r->machine) code = read_machine(s, r->machine);
    if (code || (double)r->per_node <= s->node.cores) return code;
    return complain("--per-node %ld: a node has %.0f cores, and each thread has one", r->per_node,
                    s->node.cores);
}

static int predict(struct study_of *s) {
    struct row one = {.transposes = transposes(s, 0)};
    int code = check(s);
    if (!code) code = step(s, &one, 1, 1);
    s->one_thread_s = one.step_s;
    return code ? code : add_rows(s);
}

static int help(const char *name, const struct option_set *sets) {
    printf("usage: evener model %s [options]\n"
           "\n"
           "Predicted time of a step on nodes of threads that share a GPU, variant by variant, in\n"
           "virtual time: cores, GPU, bus and network do one thing at a time each. By default on\n"
           "the node of the paper on UPC and CUDA. Nothing is computed.\n"
           "\n"
           "options:\n",
           name);
    options_help("model", sets, 0);
    return EXIT_DONE;
}

int in_time_model(const struct workload *is, int argc, char **argv) {
    struct request request = {
        .class_ = "B", .nodes = "1,2,4,8,16", .variant = "all", .hybrid = "both", .per_node = 4};
    const struct option_set sets[] = {{table, &request, NULL}, {0}};
    const char *word;
    int words;
    int code = options_read("model", sets, argc, argv, &word, 1, &words);
    if (code < 0) return help(is->name, sets);
    struct study_of *s = calloc(1, sizeof *s);
    if (!s) return EXIT_FAILED;
    s->is = is;
    s->program = is->in_time;
    s->request = &request;
    evn_output *out = NULL, *page = NULL;
    if (!code) code = predict(s);
    if (!code) code = output_open(&out, request.json);
    if (!code) code = output_open(&page, request.report);
    if (!code) code = write_all(s, out, page);
    evn_output_close(page);
    evn_output_close(out);
    free(s);
    return code;
}
