/* evener model td-bem --gpus: the published run on 2 to 8 nodes with 0 to 3 GPUs each (figures 13
 * and 14 of Bramas, Coulaud and Sylvand, Parallel Computing 49, 2015), from speeds of its tables.
 */
#include "tdbem/study/model_gpus.h"
#include "tdbem/study/cluster.h"
#include "common/cli/files.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include <evener/number.h>
#include <evener/version.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = OPTION_WORDS * OPTION_WORDS };

struct study {
    struct cluster_case of;
    struct cluster_node node;
    struct cluster_row row[ROWS];
    int rows;
};

static int read_list(long *out, int *count, const char *option, const char *text, long least,
                     long most) {
    struct option_list list;
    const int code = options_list(&list, option, text);
    for (*count = 0; !code && *count < list.count; ++*count)
        if (evn_read_whole(list.word[*count], least, most, &out[*count]))
            return complain("--%s %s: %s: %s", option, text, list.word[*count], evn_message());
    return code;
}

/* Rows of one number of GPUs stand together; speed-ups are over the fewest nodes of them. */
static int add_rows(struct study *s, const struct model_gpus *words) {
    long nodes[OPTION_WORDS], gpus[OPTION_WORDS];
    int node_counts, gpu_counts;
    int code = read_list(nodes, &node_counts, "ranks", words->nodes ? words->nodes : "2,4,6,8", 1,
                         s->of.of.blocks);
    if (!code) code = read_list(gpus, &gpu_counts, "gpus", words->gpus, 0, s->node.cores - 1);
    for (int g = 0; !code && g < gpu_counts; g++) {
        const int first = s->rows;
        int fewest = first;
        for (int i = 0; i < node_counts; i++) {
            const double tree = nodes[i] > 1 ? scaling_nodes(s->of.of.blocks, (int)nodes[i]) : 0;
            s->row[s->rows++] =
                cluster_predict(&s->of, &s->node, (int)nodes[i], (int)gpus[g], tree);
            if (nodes[i] < s->row[fewest].nodes) fewest = s->rows - 1;
        }
        for (int i = first; i < s->rows; i++)
            s->row[i].speedup = s->row[fewest].run_s / s->row[i].run_s;
    }
    return code;
}

static void print_page(const struct study *s, FILE *out) {
    fprintf(out,
            "td-bem on nodes with GPUs, a model: the published run, 23962 unknowns, 10823 steps, "
            "single precision\nnodes of %d cores of %.1f GFlop/s and GPUs of %.0f GFlop/s and "
            "%.3g GB; seconds of the run, and shares of it\n\n"
            "%6s %5s  %9s  %8s  %10s  %9s %9s %9s %9s  %8s\n",
            s->node.cores, 1e-9 * s->node.core_rate, 1e-9 * s->node.gpu_rate,
            1e-9 * s->node.gpu_bytes, "nodes", "GPUs", "run, s", "speed-up", "efficiency", "sum",
            "radiation", "messages", "solve", "outside");
    for (int i = 0; i < s->rows; i++) {
        const struct cluster_row *r = &s->row[i];
        int fewest = r->nodes;
        for (int k = 0; k < s->rows; k++)
            if (s->row[k].gpus == r->gpus && s->row[k].nodes < fewest) fewest = s->row[k].nodes;
        if (i && r->gpus != r[-1].gpus) fprintf(out, "\n");
        fprintf(out, "%6d %5d  %9.1f  %8.2f  %10.3f  %7.1f %% %7.1f %% %7.1f %% %7.1f %%", r->nodes,
                r->gpus, r->run_s, r->speedup, r->speedup * fewest / r->nodes,
                100 * r->sum_s / r->run_s, 100 * r->radiation_s / r->run_s,
                100 * r->sent_s / r->run_s, 100 * r->solve_s / r->run_s);
        if (r->outside > 0) fprintf(out, "  %6.1f %%", 100 * r->outside);
        fprintf(out, "\n");
    }
    fprintf(out, "\nspeed-up: over the fewest nodes with as many GPUs. outside: share of the GPUs' "
                 "values that their memory\nhas no room for and that come over the bus each time. "
                 "Every node solves, as long as the paper's efficiency\nof 0.78 on 8 nodes without "
                 "GPUs says.\n");
}

static int write_record(const struct study *s, evn_output *output) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", "td-bem");
    record_number(root, "gpu_bytes", s->node.gpu_bytes);
    cJSON *list = cJSON_AddArrayToObject(root, "with_gpus");
    for (int i = 0; i < s->rows; i++) {
        const struct cluster_row *r = &s->row[i];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "nodes", r->nodes);
        cJSON_AddNumberToObject(o, "gpus", r->gpus);
        record_number(o, "run_s", r->run_s);
        record_number(o, "speedup", r->speedup);
        record_number(o, "summation_s", r->sum_s);
        record_number(o, "radiation_s", r->radiation_s);
        record_number(o, "messages_s", r->sent_s);
        record_number(o, "solve_s", r->solve_s);
        record_number(o, "outside", r->outside);
        cJSON_AddItemToArray(list, o);
    }
    char *text = record_text(root);
    const int code = !text || output_commit(output, text) ? EXIT_FAILED : 0;
    free(text);
    return code;
}

int model_gpus(const struct model_gpus *words) {
    struct study *s = calloc(1, sizeof *s);
    if (!s) return give_up(evn_fail(EVN_MEMORY, "model: not enough memory"));
    int code = 0;
    s->of = cluster_paper_case(words->latency, words->per_byte);
    s->node = cluster_paper_node;
    const evn_bounds bounds = {1, 1e15, 0};
    if (words->memory && evn_read_size(words->memory, bounds, &s->node.gpu_bytes))
        code = complain("--gpu-memory %s: %s", words->memory, evn_message());
    evn_output *record = NULL;
    if (!code) code = add_rows(s, words);
    if (!code) code = output_open(&record, words->json);
    if (!code && !words->quiet) print_page(s, files_page());
    if (!code && record) code = write_record(s, record);
    evn_output_close(record);
    free(s);
    return code;
}
