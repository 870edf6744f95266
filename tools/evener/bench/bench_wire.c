/* bench wire: what messages between ranks take, by size: half a ping-pong with messages that are
 * left in place and such that are copied in and out, beside the two copies alone; a flood one way;
 * a barrier by the number of ranks; an agreement. */
#include "bench/bench.h"
#include "common/files.h"
#include "common/median.h"
#include "common/message.h"
#include "common/options.h"
#include "common/output.h"
#include "common/record.h"
#include <evener.h>
#include <evener/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 32000, SAMPLES_MAX = 1000 };

/* A rank's ends of a way to another rank and of the one back. */
struct ends {
    const evn_wire_kind *kind;
    evn_mail *out, *in;
};

static evn_status ends_open(struct ends *e, evn_cluster *cluster, int to, int from, int tag,
                            size_t max) {
    evn_wire *wire;
    *e = (struct ends){.kind = evn_cluster_wire_of(cluster, &wire)};
    evn_status status = e->kind->mail_open(&e->out, wire, to, tag, 1, max);
    return status ? status : e->kind->mail_open(&e->in, wire, from, tag, 0, max);
}

static void ends_close(struct ends *e) {
    if (e->out) e->kind->mail_close(e->out);
    if (e->in) e->kind->mail_close(e->in);
}

/* `from` NULL: what is in the room goes as it is. */
static evn_status put(struct ends *e, const void *from, size_t bytes) {
    void *room;
    evn_status status = e->kind->take(e->out, &room);
    if (status) return status;
    if (from) memcpy(room, from, bytes);
    return e->kind->send(e->out, bytes);
}

static evn_status get(struct ends *e, void *to) {
    const void *data;
    size_t bytes;
    evn_status status = e->kind->expect(e->in);
    if (!status) status = e->kind->wait(e->in, &data, &bytes);
    if (status) return status;
    if (to) memcpy(to, data, bytes);
    e->kind->release(e->in);
    return EVN_OK;
}

/* ---- two ranks ---- */

struct study {
    evn_cluster *cluster;
    struct ends ends; /* of ranks 0 and 1 */
    int rank, repeat;
    char *here, *there; /* memory of this rank's own */
    FILE *page;         /* NULL: rank 0 prints nothing, either */
    cJSON *sizes;       /* of the record */
};

/* How often in a sample: it takes about a millisecond. */
static int times(size_t bytes) {
    return bytes < 4096 ? 1000 : bytes < 65536 ? 200 : bytes < 1048576 ? 30 : 4;
}

static evn_status ping_pong(struct study *s, size_t bytes, int copies) {
    void *from = copies ? s->here : NULL, *to = copies ? s->there : NULL;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < times(bytes); i++) {
        if (s->rank) status = get(&s->ends, to);
        if (!status) status = put(&s->ends, from, bytes);
        if (!status && !s->rank) status = get(&s->ends, to);
    }
    return status;
}

/* Copied in and out, and one short answer at the end. */
static evn_status flood(struct study *s, size_t bytes) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < times(bytes); i++)
        status = s->rank ? get(&s->ends, s->there) : put(&s->ends, s->here, bytes);
    if (status) return status;
    return s->rank ? put(&s->ends, NULL, 0) : get(&s->ends, NULL);
}

static void copy(struct study *s, size_t bytes) {
    for (int i = 0; i < times(bytes); i++) {
        memcpy(s->there, s->here, bytes);
        __asm__ volatile("" : : "r"(s->there) : "memory");
        memcpy(s->here, s->there, bytes);
        __asm__ volatile("" : : "r"(s->here) : "memory");
    }
}

/* Seconds of one message in the middle of all samples; what is compared is done in turn. */
struct row {
    double in_place, copied, flood, copies;
};

static evn_status measure(struct study *s, size_t bytes, struct row *row) {
    double sample[4][SAMPLES_MAX];
    evn_status status = EVN_OK;
    for (int i = -1; !status && i < s->repeat; i++) { /* the first one only warms */
        double at[5];
        at[0] = evn_now();
        status = ping_pong(s, bytes, 0);
        at[1] = evn_now();
        if (!status) status = ping_pong(s, bytes, 1);
        at[2] = evn_now();
        if (!status) status = flood(s, bytes);
        at[3] = evn_now();
        if (!s->rank) copy(s, bytes);
        at[4] = evn_now();
        for (int k = 0; i >= 0 && k < 4; k++)
            sample[k][i] = (at[k + 1] - at[k]) / times(bytes) / (k < 2 ? 2 : 1);
    }
    if (!status)
        *row = (struct row){median(sample[0], s->repeat), median(sample[1], s->repeat),
                            median(sample[2], s->repeat), median(sample[3], s->repeat)};
    return status;
}

static void print_row(const struct study *s, size_t bytes, const struct row *row) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "bytes", (double)bytes);
    record_number(o, "in_place_s", row->in_place);
    record_number(o, "copied_s", row->copied);
    record_number(o, "flood_s", row->flood);
    record_number(o, "copies_s", row->copies);
    cJSON_AddItemToArray(s->sizes, o);
    if (s->page)
        fprintf(s->page, "  %10zu %12.2f %12.2f %12.2f %12.2f %12.3f\n", bytes, 1e6 * row->in_place,
                1e6 * row->copied, row->copied / row->in_place, row->copied / row->copies,
                1e-9 * (double)bytes / row->flood);
}

/* In factors of eight, and the longest. */
static size_t next_size(size_t bytes, size_t max) {
    return bytes * 8 < max || bytes == max ? bytes * 8 : max;
}

static evn_status two_ranks(struct study *s, size_t max) {
    evn_status status = EVN_OK;
    s->here = malloc(max);
    s->there = malloc(max);
    if (!s->here || !s->there) status = evn_fail(EVN_MEMORY, "bench wire: not enough memory");
    if (!status) status = ends_open(&s->ends, s->cluster, !s->rank, !s->rank, TAG, max);
    if (!status) {
        memset(s->here, 1, max);
        memset(s->there, 1, max);
    }
    if (!status && s->page)
        fprintf(s->page, "\n  %10s %12s %12s %12s %12s %12s\n  %10s %12s %12s %12s %12s %12s\n",
                "bytes", "in place, us", "copied, us", "copied over", "copied over", "flood, GB/s",
                "", "", "", "in place", "two copies", "");
    for (size_t bytes = 8; !status && bytes <= max; bytes = next_size(bytes, max)) {
        struct row row;
        status = measure(s, bytes, &row);
        if (!status && !s->rank) print_row(s, bytes, &row);
    }
    ends_close(&s->ends);
    free(s->here);
    free(s->there);
    return status;
}

/* ---- barriers ---- */

enum { HOPS = 10 };

/* Of the first `ranks`: in hop h everybody hears from who is 2^h before, directly or not from
 * twice as many as in the one before (Hensgen, Finkel and Manber, "Two algorithms for barrier
 * synchronization", 1988). */
static evn_status barrier(struct ends *hop, int hops) {
    evn_status status = EVN_OK;
    for (int h = 0; !status && h < hops; h++) {
        status = put(&hop[h], NULL, 0);
        if (!status) status = get(&hop[h], NULL);
    }
    return status;
}

static evn_status time_barrier(struct study *s, int ranks, double *seconds) {
    struct ends hop[HOPS] = {{0}};
    double sample[SAMPLES_MAX];
    int hops = 0;
    evn_status status = EVN_OK;
    for (int step = 1; !status && step < ranks; step *= 2, hops++)
        status = ends_open(&hop[hops], s->cluster, (s->rank + step) % ranks,
                           (s->rank + ranks - step) % ranks, TAG + 1 + hops, 0);
    for (int i = -1; !status && i < s->repeat; i++) {
        const double begin = evn_now();
        for (int k = 0; !status && k < 100; k++) status = barrier(hop, hops);
        if (i >= 0) sample[i] = (evn_now() - begin) / 100;
    }
    for (int h = 0; h < hops; h++) ends_close(&hop[h]);
    if (!status) *seconds = median(sample, s->repeat);
    return status;
}

/* In factors of two, and all. */
static int next_ranks(int ranks, int size) {
    return ranks * 2 < size || ranks == size ? ranks * 2 : size;
}

static evn_status barriers(struct study *s) {
    const int size = evn_cluster_size(s->cluster);
    double two = 0;
    evn_status agreed = EVN_OK;
    if (s->page) fprintf(s->page, "\n  %10s %12s %12s\n", "ranks", "barrier, us", "over two");
    for (int ranks = 2; !agreed && ranks <= size; ranks = next_ranks(ranks, size)) {
        double seconds = 0;
        evn_status status = s->rank < ranks ? time_barrier(s, ranks, &seconds) : EVN_OK;
        agreed = evn_cluster_agree(s->cluster, status);
        if (ranks == 2) two = seconds;
        if (!agreed && s->page)
            fprintf(s->page, "  %10d %12.2f %12.2f\n", ranks, 1e6 * seconds, seconds / two);
    }
    return agreed;
}

/* What a loop's end costs at least: all statuses made one, up and down the control tree. */
static evn_status agreement(struct study *s) {
    double sample[SAMPLES_MAX];
    evn_status status = EVN_OK;
    for (int i = -1; !status && i < s->repeat; i++) {
        const double begin = evn_now();
        for (int k = 0; !status && k < 100; k++) status = evn_cluster_agree(s->cluster, EVN_OK);
        if (i >= 0) sample[i] = (evn_now() - begin) / 100;
    }
    if (!status && s->page)
        fprintf(s->page, "\n  agreement of all %d: %.2f us\n", evn_cluster_size(s->cluster),
                1e6 * median(sample, s->repeat));
    return status;
}

static evn_status study(evn_cluster *cluster, long max, int repeat, int quiet, cJSON *sizes) {
    struct study s = {.cluster = cluster,
                      .rank = evn_cluster_rank(cluster),
                      .repeat = repeat,
                      .page = quiet || evn_cluster_rank(cluster) ? NULL : files_page(),
                      .sizes = sizes};
    if (evn_cluster_size(cluster) < 2)
        return evn_fail(EVN_USAGE, "bench wire: --wire: there is one rank; messages need two");
    if (s.page)
        fprintf(s.page, "%s, %d ranks, medians of %d samples\n", evn_cluster_wire(cluster),
                evn_cluster_size(cluster), repeat);
    evn_status status = s.rank < 2 ? two_ranks(&s, (size_t)max) : EVN_OK;
    status = evn_cluster_agree(cluster, status);
    if (!status) status = barriers(&s);
    return status ? status : agreement(&s);
}

/* ---- the command ---- */

struct request {
    const char *wire, *json;
    long max, repeat;
    int quiet;
};

#define AT(field) offsetof(struct request, field)
static const struct option table[] = {
    {"wire", "HOW", "which ranks: processes:N, mpi, .. (default processes:2, under mpirun its own)",
     OPTION_TEXT, AT(wire), 0, 0},
    {"max", "BYTES", "the longest message (default 4194304)", OPTION_NUMBER, AT(max), 8, 1 << 30},
    {"repeat", "N", "samples, of which the median is shown (default 7)", OPTION_NUMBER, AT(repeat),
     1, SAMPLES_MAX},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT, AT(json), 0, 0},
    {"quiet", NULL, "no tables", OPTION_FLAG, AT(quiet), 0, 0},
    {0},
};
#undef AT

/* What the study came to; consumes `sizes`. */
static int keep_record(evn_output *file, const evn_cluster *cluster, cJSON *sizes) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "wire", evn_cluster_wire(cluster));
    cJSON_AddNumberToObject(root, "ranks", evn_cluster_size(cluster));
    cJSON_AddItemToObject(root, "sizes", sizes);
    cJSON_AddStringToObject(root, "command", command_line);
    char *text = record_text(root);
    const int code = !text || output_commit(file, text) ? EXIT_FAILED : EXIT_DONE;
    free(text);
    return code;
}

/* Rank 0 has the record's file, before anything is measured. */
static int measure_all(evn_cluster *cluster, const struct request *request, evn_status *agreed) {
    const int rank = evn_cluster_rank(cluster);
    evn_output *file = NULL;
    const int refused = rank ? 0 : output_open(&file, request->json);
    cJSON *sizes = cJSON_CreateArray();
    *agreed = evn_cluster_agree(cluster, refused ? EVN_USAGE : EVN_OK);
    if (!*agreed)
        *agreed = study(cluster, request->max, (int)request->repeat, request->quiet, sizes);
    /* only rank 0 says so; launchers end all when another returns something else than 0 */
    int code = refused ? refused : *agreed && !rank ? give_up(*agreed) : EXIT_DONE;
    if (file && !*agreed)
        code = keep_record(file, cluster, sizes);
    else
        cJSON_Delete(sizes);
    evn_output_close(file);
    return code;
}

int bench_wire(int argc, char **argv) {
    struct request request = {.max = 4 << 20, .repeat = 7};
    int code = options_read_plain("bench wire",
                                  "usage: evener bench wire [options]\n\n"
                                  "How long messages between ranks take, and barriers of them.",
                                  (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    evn_cluster *cluster;
    evn_status status = evn_cluster_open(&cluster, request.wire ? request.wire : "auto");
    if (!status && !request.wire && evn_cluster_size(cluster) == 1) {
        evn_cluster_close(cluster, EVN_OK);
        status = evn_cluster_open(&cluster, "processes:2");
    }
    if (status) return give_up(status);
    code = measure_all(cluster, &request, &status);
    fflush(stdout);
    evn_cluster_close(cluster, status);
    return code;
}
