/* evener model td-bem: steps on many ranks, predicted from a run on one, or for the case that is
 * published (Bramas, Coulaud and Sylvand, Parallel Computing 49, 2015, section 7): 23962 vertices
 * and 5.5e9 values on nodes of an assumed speed; beside a run over ranks, if there is one. */
#include "tdbem/study/model_gpus.h"
#include "tdbem/study/scaling.h"
#include "tdbem/study/study.h"
#include "common/cli/files.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include <evener/number.h>
#include <evener/version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 65536 };

struct request {
    const char *ranks, *record, *measured, *latency, *bandwidth, *gpus, *gpu_memory, *json;
    int quiet;
};

/* A node sums 600 GFlop/s and solves with half of what 16 cores have; 128 blocks, and 256 beyond 32
 * nodes. */
static const struct scaling_case published = {.rows = 23962,
                                              .group = 16,
                                              .wide = 16,
                                              .real = 8,
                                              .blocks = 128,
                                              .sum_s = 291e-3,
                                              .radiation_s = 8.1e-3,
                                              .solve_s = 5e-3,
                                              .gradients_s = 5e-3,
                                              .iterations = 19};

struct study_of {
    struct scaling_case of;
    char problem[256]; /* "" the published case */
    struct scaling row[OPTION_WORDS];
    int rows;
    int ranks; /* ranks of the run that was measured; 0: none */
    double measured_s, nodes;
};

/* ---- records ---- */

static int refuse(const char *path, const char *why) { return complain("%s: %s", path, why); }

/* The number after "ng=" in the words of a problem, "sphere:3, double, rows, ng=16". */
static int group_of(const char *problem) {
    const char *at = problem ? strstr(problem, ", ng=") : NULL;
    const int group = at ? atoi(at + 5) : 0;
    return group >= 1 && group <= 32 ? group : 0;
}

/* A record of TD-BEM; NULL after a message. */
static cJSON *read_record(const char *path, int *code) {
    cJSON *root = NULL;
    *code = json_file_read(&root, path);
    if (*code) return NULL;
    const char *app = json_text(root, "app");
    const double steps = json_number(root, "steps"), seconds = json_number(root, "seconds");
    if (app && !strcmp(app, "td-bem") && group_of(json_text(root, "problem")) && steps >= 1 &&
        seconds > 0)
        return root;
    cJSON_Delete(root);
    *code = refuse(path, "expected the record of a run of td-bem (evener run td-bem --json FILE)");
    return NULL;
}

static int ranks_of(const cJSON *root) {
    const cJSON *ranks = cJSON_GetObjectItemCaseSensitive(root, "ranks");
    return cJSON_IsArray(ranks) ? cJSON_GetArraySize(ranks) : 1;
}

static int read_one(struct study_of *s, const char *path) {
    int code;
    cJSON *root = read_record(path, &code);
    if (!root) return code;
    const cJSON *stages = cJSON_GetObjectItemCaseSensitive(root, "stages"),
                *matrix = cJSON_GetObjectItemCaseSensitive(root, "matrix");
    const char *problem = json_text(root, "problem");
    struct scaling_case *of = &s->of;
    snprintf(s->problem, sizeof s->problem, "%s", problem);
    of->group = group_of(problem);
    for (of->wide = 1; of->wide < of->group;) of->wide *= 2;
    of->real = strstr(problem, ", float") ? 4 : 8;
    const double blocks = json_number(matrix, "blocks"), rows = json_number(matrix, "rows");
    const double groups = json_number(root, "steps") / of->group;
    of->rows = rows;
    of->blocks = blocks >= 1 && blocks <= 1e6 ? (int)blocks : 0;
    of->sum_s = (json_number(stages, "summation_s") + json_number(stages, "reduction_s")) / groups;
    of->radiation_s = json_number(stages, "radiation_s") / groups;
    of->right_s = json_number(stages, "right_hand_side_s") / groups;
    /* whatever else there is, too */
    of->solve_s = json_number(root, "seconds") / groups - of->sum_s - of->radiation_s - of->right_s;
    of->gradients_s = json_number(stages, "solve_s") / groups;
    of->iterations = json_number(root, "solver_iterations");
    const int ranks = ranks_of(root);
    cJSON_Delete(root);
    if (ranks != 1) return refuse(path, "expected the record of a run on one rank");
    if (!of->blocks || !(rows >= 1) || !(of->solve_s >= 0))
        return refuse(path, "its stages, rows and blocks make no sense together");
    return 0;
}

/* Nodes of what each rank had in a group. */
static double nodes_of(const cJSON *root) {
    const cJSON *sent = cJSON_GetObjectItemCaseSensitive(root, "sent"),
                *matrix = cJSON_GetObjectItemCaseSensitive(root, "matrix");
    const double ranks = ranks_of(root), rows = json_number(matrix, "rows");
    const int group = group_of(json_text(root, "problem"));
    int wide = 1;
    while (wide < group) wide *= 2;
    const double real = strstr(json_text(root, "problem"), ", float") ? 4 : 8;
    const double groups = ceil(json_number(root, "steps") / group);
    return json_number(sent, "sums_bytes") / (groups * (ranks - 1) * rows * wide * real);
}

static int read_measured(struct study_of *s, const char *path) {
    int code;
    if (!path) return 0;
    cJSON *root = read_record(path, &code);
    if (!root) return code;
    const char *problem = json_text(root, "problem");
    s->ranks = ranks_of(root);
    s->measured_s = json_number(root, "seconds") * s->of.group / json_number(root, "steps");
    s->nodes = s->ranks > 1 ? nodes_of(root) : 0;
    if (strcmp(problem, s->problem) != 0) {
        code = complain("%s is of %s, and the run on one rank of %s", path, problem, s->problem);
    } else if (s->ranks < 2 || !(s->nodes >= 0)) {
        code = refuse(path, "expected the record of a run on several ranks");
    }
    cJSON_Delete(root);
    return code;
}

/* ---- arguments ---- */

static int read_amount(const char *option, const char *text, double *value) {
    if (!text || !evn_read_real(text, (evn_bounds){0, 1e12, 1}, value)) return 0;
    return complain("--%s %s: %s", option, text, evn_message());
}

static int add_row(struct study_of *s, int ranks) {
    struct scaling_case *of = &s->of;
    const int published_ = !*s->problem;
    const int blocks = published_ && ranks > 32 ? 256 : of->blocks;
    if (ranks > blocks)
        return complain("--ranks %d: expected at most %d, the number of blocks", ranks, blocks);
    const double nodes = ranks == s->ranks ? s->nodes
                         : ranks > 1       ? scaling_nodes(blocks, ranks)
                                           : 0;
    s->row[s->rows++] = scaling_predict(of, ranks, nodes);
    return 0;
}

/* --ranks, and the number of those that were measured. */
static int add_rows(struct study_of *s, const char *text) {
    struct option_list list;
    int here = !s->ranks;
    int code = options_list(&list, "ranks", text);
    for (int i = 0; !code && i < list.count; i++) {
        long ranks;
        if (evn_read_whole(list.word[i], 1, RANKS_MAX, &ranks))
            return complain("--ranks %s: %s: %s", text, list.word[i], evn_message());
        code = add_row(s, (int)ranks);
        here |= ranks == s->ranks;
    }
    return code || here || s->rows == OPTION_WORDS ? code : add_row(s, s->ranks);
}

/* ---- what comes out ---- */

static void print_page(const struct study_of *s, FILE *out) {
    const struct scaling_case *of = &s->of;
    fprintf(out, "td-bem over ranks: %s; %.0f rows, groups of %d\n",
            *s->problem ? s->problem : "23962 vertices, the published case on assumed nodes",
            of->rows, of->group);
    fprintf(out, "messages %.2f us and %.3g GB/s; ms of a group:\n\n", 1e6 * of->latency,
            1e-9 / of->per_byte);
    fprintf(out, "%6s  %9s  %9s  %9s  %9s  %9s  %9s  %9s  %9s  %9s  %10s  %8s  %9s%s\n", "ranks",
            "sum", "radiation", "sides", "sums sent", "shared", "solve", "group", "cg:ranks",
            "overlaid", "efficiency", "messages", "MB sent", s->ranks ? "   measured   ratio" : "");
    for (int i = 0; i < s->rows; i++) {
        const struct scaling *r = &s->row[i];
        const double ms[] = {r->sum_s,   r->radiation_s, r->right_s,   r->sent_s,    r->shared_s,
                             r->solve_s, r->group_s,     r->by_rows_s, r->overlaid_s};
        fprintf(out, "%6d", r->ranks);
        for (size_t k = 0; k < sizeof ms / sizeof *ms; k++) fprintf(out, "  %9.3f", 1e3 * ms[k]);
        fprintf(out, "  %10.3f  %8.0f  %9.3f", r->efficiency, r->messages,
                1e-6 * (r->sums_b + r->rows_b));
        if (r->ranks == s->ranks)
            fprintf(out, "  %9.3f  %6.3f", 1e3 * s->measured_s, r->group_s / s->measured_s);
        fprintf(out, "\n");
    }
    fprintf(
        out,
        "\nsum, radiation and right-hand sides are shared out; every rank solves (--solver cg).\n"
        "cg:ranks: a group with the solution's rows shared out; overlaid: if the exchanges\n"
        "of that took no time beside the summation. ");
    if (*s->problem)
        fprintf(out, "From a run on one rank.\n");
    else
        fprintf(out, "The paper measured an efficiency\nof 0.78 on 8 nodes, whose sparse direct "
                     "solver took as long on 8 as on 2.\n");
}

static cJSON *record_row(const struct study_of *s, const struct scaling *r) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "ranks", r->ranks);
    record_number(o, "nodes", r->nodes);
    record_number(o, "messages", r->messages);
    record_number(o, "sums_bytes", r->sums_b);
    record_number(o, "rows_bytes", r->rows_b);
    record_number(o, "summation_s", r->sum_s);
    record_number(o, "radiation_s", r->radiation_s);
    record_number(o, "right_hand_side_s", r->right_s);
    record_number(o, "sums_sent_s", r->sent_s);
    record_number(o, "rows_shared_s", r->shared_s);
    record_number(o, "solve_s", r->solve_s);
    record_number(o, "group_s", r->group_s);
    record_number(o, "efficiency", r->efficiency);
    record_number(o, "by_rows_s", r->by_rows_s);
    record_number(o, "overlaid_s", r->overlaid_s);
    if (r->ranks == s->ranks) record_number(o, "measured_s", s->measured_s);
    return o;
}

static int write_record(const struct study_of *s, evn_output *output) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", "td-bem");
    if (*s->problem) cJSON_AddStringToObject(root, "problem", s->problem);
    cJSON_AddNumberToObject(root, "rows", s->of.rows);
    cJSON_AddNumberToObject(root, "group", s->of.group);
    record_number(root, "latency_s", s->of.latency);
    record_number(root, "bandwidth", 1 / s->of.per_byte);
    cJSON *list = cJSON_AddArrayToObject(root, "over_ranks");
    for (int i = 0; i < s->rows; i++) cJSON_AddItemToArray(list, record_row(s, &s->row[i]));
    char *text = record_text(root);
    const int code = !text || output_commit(output, text) ? EXIT_FAILED : 0;
    free(text);
    return code;
}

/* ---- the command ---- */

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"ranks", "LIST", "numbers of ranks (default 1,2,4,8,16,32,64, as far as there are blocks)",
     OPTION_TEXT(ranks)},
    {"record", "FILE",
     "the record of a run on one rank, whose stages count (default: the published case)",
     OPTION_INPUT(record)},
    {"measured", "FILE", "the record of a run on several, to stand beside the prediction",
     OPTION_INPUT(measured)},
    {"latency", "US", "of a message between two ranks (default 2)", OPTION_TEXT(latency)},
    {"bandwidth", "GB", "a second between two ranks (default 12.5)", OPTION_TEXT(bandwidth)},
    {"gpus", "LIST",
     "the published run on the paper's cluster, by GPUs of a node (0 to 3): time, speed-up and "
     "stages on --ranks nodes (default 2,4,6,8)",
     OPTION_TEXT(gpus)},
    {"gpu-memory", "SIZE", "of each GPU (default 6GB)", OPTION_TEXT(gpu_memory)},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT(json)},
    {"quiet", NULL, "no table", OPTION_FLAG(quiet)},
    {0},
};

static const struct option_rule rules[] = {
    {"measured", OPTION_NEEDS, "record", "from which the prediction is made"},
    {"gpus", OPTION_EXCLUDES, "record", "it is of the published run"},
    {"gpu-memory", OPTION_NEEDS, "gpus", "which have it"},
    {0},
};

static int read_network(const struct request *request, struct study_of *s) {
    double us = 2, gb = 12.5;
    int code = read_amount("latency", request->latency, &us);
    if (!code) code = read_amount("bandwidth", request->bandwidth, &gb);
    s->of.latency = 1e-6 * us;
    s->of.per_byte = 1e-9 / gb;
    return code;
}

static int predict(const struct request *request, struct study_of *s) {
    struct study_of network;
    int code = read_network(request, &network);
    s->of = published;
    if (!code && request->record) code = read_one(s, request->record);
    if (!code) code = read_measured(s, request->measured);
    s->of.latency = network.of.latency;
    s->of.per_byte = network.of.per_byte;
    if (code || request->ranks) return code ? code : add_rows(s, request->ranks);
    for (int ranks = 1; ranks <= 64 && ranks <= s->of.blocks; ranks *= 2) code = add_row(s, ranks);
    return code;
}

int tdbem_model(int argc, char **argv) {
    struct request request = {0};
    struct study_of s = {.rows = 0};
    const struct option_set sets[] = {{table, &request, rules}, {0}};
    const char *word;
    int words;
    int code = options_read("model", sets, argc, argv, &word, 1, &words);
    if (code < 0) {
        printf("usage: evener model td-bem [options]\n\n"
               "What a group of steps takes on P ranks: from a run on one, or for the published\n"
               "case. Nothing is computed.\n\noptions:\n");
        options_help("model", sets, 0);
        return EXIT_DONE;
    }
    if (!code && request.gpus) {
        code = read_network(&request, &s);
        if (code) return code;
        return model_gpus(&(struct model_gpus){.nodes = request.ranks,
                                               .gpus = request.gpus,
                                               .memory = request.gpu_memory,
                                               .json = request.json,
                                               .quiet = request.quiet,
                                               .latency = s.of.latency,
                                               .per_byte = s.of.per_byte});
    }
    evn_output *record = NULL;
    if (!code) code = predict(&request, &s);
    if (!code) code = output_open(&record, request.json);
    if (!code && !request.quiet) print_page(&s, files_page());
    if (!code && record) code = write_record(&s, record);
    evn_output_close(record);
    return code;
}
