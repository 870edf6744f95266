/* Studies of two ranks: ends of channels, samples in turn, the page and the record. */
#include "bench/pair.h"
#include "common/cli/files.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 32000 };

/* ---- channels ---- */

evn_status pair_ends_open(struct pair_ends *e, evn_cluster *cluster, int to, int from, int tag,
                          size_t max) {
    evn_wire *wire = evn_cluster_about(cluster).ends;
    *e = (struct pair_ends){.kind = evn_cluster_about(cluster).kind};
    evn_status status = e->kind->channel_open(&e->out, wire, to, tag, 1, max);
    return status ? status : e->kind->channel_open(&e->in, wire, from, tag, 0, max);
}

void pair_ends_close(struct pair_ends *e) {
    if (e->out) e->kind->channel_close(e->out);
    if (e->in) e->kind->channel_close(e->in);
}

evn_status pair_send(struct pair_ends *e, const void *from, size_t bytes) {
    void *room;
    evn_status status = e->kind->take(e->out, &room);
    if (status) return status;
    if (from) memcpy(room, from, bytes);
    return e->kind->send(e->out, bytes);
}

evn_status pair_receive(struct pair_ends *e, void *to) {
    const void *data;
    size_t bytes;
    evn_status status = e->kind->expect(e->in);
    if (!status) status = e->kind->wait(e->in, &data, &bytes);
    if (status) return status;
    if (to) memcpy(to, data, bytes);
    e->kind->release(e->in);
    return EVN_OK;
}

/* ---- samples ---- */

size_t pair_next_size(size_t bytes, size_t max) {
    return bytes * 8 < max || bytes == max ? bytes * 8 : max;
}

int pair_times(size_t bytes) {
    return bytes < 4096 ? 500 : bytes < 65536 ? 100 : bytes < 1048576 ? 20 : 4;
}

evn_status pair_measure(struct pair *p, const struct pair_timed *of, int count, size_t bytes,
                        double *seconds) {
    static double sample[PAIR_TIMED_MAX][PAIR_SAMPLES_MAX];
    evn_status status = EVN_OK;
    for (int i = -1; !status && i < p->repeat; i++) /* the first one only warms */
        for (int k = 0; !status && k < count; k++) {
            const double begin = evn_now();
            if (of[k].run) status = of[k].run(p, of[k].way, bytes);
            if (i >= 0) sample[k][i] = (evn_now() - begin) / pair_times(bytes) / of[k].parts;
        }
    for (int k = 0; !status && k < count; k++)
        seconds[k] = of[k].run ? median(sample[k], p->repeat) : NAN;
    return status;
}

void pair_record(cJSON *list, const struct pair_timed *of, int count, size_t bytes,
                 const double *seconds) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "bytes", (double)bytes);
    for (int k = 0; k < count; k++)
        if (!isnan(seconds[k])) record_number(o, of[k].key, seconds[k]);
    cJSON_AddItemToArray(list, o);
}

evn_status pair_ping_pong(struct pair *p, int copies, size_t bytes) {
    void *from = copies ? p->here : NULL, *to = copies ? p->there : NULL;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < pair_times(bytes); i++) {
        if (p->rank) status = pair_receive(&p->ends, to);
        if (!status) status = pair_send(&p->ends, from, bytes);
        if (!status && !p->rank) status = pair_receive(&p->ends, to);
    }
    return status;
}

evn_status pair_flood(struct pair *p, int way, size_t bytes) {
    evn_status status = EVN_OK;
    (void)way;
    for (int i = 0; !status && i < pair_times(bytes); i++)
        status = p->rank ? pair_receive(&p->ends, p->there) : pair_send(&p->ends, p->here, bytes);
    if (status) return status;
    return p->rank ? pair_send(&p->ends, NULL, 0) : pair_receive(&p->ends, NULL);
}

/* ---- all of it ---- */

static evn_status prepare(struct pair *p) {
    evn_status status = EVN_OK;
    if (p->rank < 2) {
        p->here = malloc(p->max);
        p->there = malloc(p->max);
        if (!p->here || !p->there)
            status =
                evn_fail(EVN_MEMORY, "%s: not enough memory for %zu bytes", p->study->name, p->max);
        if (!status) status = pair_ends_open(&p->ends, p->cluster, !p->rank, !p->rank, TAG, p->max);
        if (!status) {
            memset(p->here, 1, p->max);
            memset(p->there, 1, p->max);
        }
    }
    return evn_cluster_agree(p->cluster, status);
}

static evn_status examine(struct pair *p) {
    if (evn_cluster_size(p->cluster) < 2)
        return evn_fail(EVN_USAGE, "%s: --wire: there is one rank; it takes two", p->study->name);
    if (p->page)
        fprintf(p->page, "%s, %d ranks, medians of %d samples\n",
                evn_cluster_about(p->cluster).wire, evn_cluster_size(p->cluster), p->repeat);
    evn_status status = prepare(p);
    if (!status) status = evn_cluster_agree(p->cluster, p->study->run(p));
    pair_ends_close(&p->ends);
    free(p->here);
    free(p->there);
    return status;
}

static cJSON *begin_record(const evn_cluster *cluster) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "wire", evn_cluster_about(cluster).wire);
    cJSON_AddNumberToObject(root, "ranks", evn_cluster_size(cluster));
    return root;
}

/* Consumes the record. */
static int keep_record(evn_output *file, cJSON *root) {
    cJSON_AddStringToObject(root, "command", command_line);
    char *text = record_text(root);
    const int code = !text || output_commit(file, text) ? EXIT_FAILED : EXIT_DONE;
    free(text);
    return code;
}

struct request {
    const char *wire, *json;
    long max, repeat;
    int quiet;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"wire", "HOW", "which ranks: processes:N, mpi, .. (default processes:2, under mpirun its own)",
     OPTION_TEXT(wire)},
    {"max", "BYTES", "the longest message (default 4194304)", OPTION_NUMBER(max, 8, 1 << 30)},
    {"repeat", "N", "samples, of which the median is shown (default 7)",
     OPTION_NUMBER(repeat, 1, PAIR_SAMPLES_MAX)},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT(json)},
    {"quiet", NULL, "no tables", OPTION_FLAG(quiet)},
    {0},
};

/* Rank 0 has the record's file, before anything is measured. */
static int measure_all(evn_cluster *cluster, const struct pair_study *study,
                       const struct request *request, evn_status *agreed) {
    const int rank = evn_cluster_rank(cluster);
    struct pair p = {.study = study,
                     .cluster = cluster,
                     .rank = rank,
                     .repeat = (int)request->repeat,
                     .max = (size_t)request->max,
                     .page = request->quiet || rank ? NULL : files_page(),
                     .record = begin_record(cluster)};
    evn_output *file = NULL;
    const int refused = rank ? 0 : output_open(&file, request->json);
    *agreed = evn_cluster_agree(cluster, refused ? EVN_USAGE : EVN_OK);
    if (!*agreed) *agreed = examine(&p);
    /* only rank 0 says so; launchers end all when another returns something else than 0 */
    int code = refused ? refused : *agreed && !rank ? give_up(*agreed) : EXIT_DONE;
    if (file && !*agreed)
        code = keep_record(file, p.record);
    else
        cJSON_Delete(p.record);
    evn_output_close(file);
    return code;
}

static int read_options(const struct pair_study *study, struct request *request, int argc,
                        char **argv) {
    const struct option_set sets[] = {
        {table, request, NULL}, {study->own, study->request, NULL}, {0}};
    const char *word;
    int words;
    const int code = options_read(study->name, sets, argc, argv, &word, 0, &words);
    if (code >= 0) return code;
    printf("%s\n\n", study->usage);
    for (int i = 0; sets[i].table; i++) options_help(study->name, sets, i);
    return code;
}

int pair_command(const struct pair_study *study, int argc, char **argv) {
    struct request request = {.max = 4 << 20, .repeat = 7};
    int code = read_options(study, &request, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    evn_cluster *cluster;
    evn_status status = evn_cluster_open(&cluster, request.wire ? request.wire : "auto");
    if (!status && !request.wire && evn_cluster_size(cluster) == 1) {
        evn_cluster_close(cluster, EVN_OK);
        status = evn_cluster_open(&cluster, "processes:2");
    }
    if (status) return give_up(status);
    code = measure_all(cluster, study, &request, &status);
    fflush(stdout);
    evn_cluster_close(cluster, status);
    return code;
}
