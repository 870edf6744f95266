/* bench put: one-sided puts between two ranks by size, as figure 3 of González' "UPC + CUDA" has
 * them: half a ping-pong of puts with signals, and a flood of puts that one flush ends; by the
 * processor into a neighbour's memory, over the wire (MPI_Put() where that is MPI), and as messages
 * of the same wire; beside a copy within the own memory and copies to a device. */
#include "bench/bench.h"
#include "common/files.h"
#include "common/median.h"
#include "common/message.h"
#include "common/options.h"
#include "common/output.h"
#include "common/record.h"
#include <evener.h>
#include <evener/wire.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 32100, SAMPLES_MAX = 1000, TIMED = 7 };
enum { POINTER, WIRE, WAYS }; /* of puts */
enum { DATA, DONE, SIGNALS };

struct study {
    evn_cluster *cluster;
    evn_shared *shared[WAYS]; /* [POINTER] NULL: they see nothing of each other */
    unsigned long long turn[WAYS][SIGNALS];
    const evn_wire_kind *kind;
    evn_mail *out, *in;
    int rank, repeat;
    size_t max;
    char *here, *there; /* memory of this rank's own */
    FILE *page;         /* NULL: rank 0 prints nothing, either */
    cJSON *sizes, *copies;
};

/* How often in a sample: it takes some milliseconds at most. */
static int times(size_t bytes) {
    return bytes < 4096 ? 400 : bytes < 65536 ? 100 : bytes < 1048576 ? 16 : 4;
}

/* ---- what is timed ---- */

static evn_status await(struct study *s, int way, int signal) {
    return evn_shared_wait(s->shared[way], !s->rank, signal, ++s->turn[way][signal]);
}

static evn_status put_ping_pong(struct study *s, int way, size_t bytes) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < times(bytes); i++) {
        if (s->rank) status = await(s, way, DATA);
        if (!status)
            status = evn_shared_put_signal(s->shared[way], !s->rank, 0, s->here, bytes, DATA);
        if (!status && !s->rank) status = await(s, way, DATA);
    }
    return status;
}

/* The target waits in the library, so puts come on where they need it. */
static evn_status put_flood(struct study *s, int way, size_t bytes) {
    evn_status status = EVN_OK;
    if (s->rank) return await(s, way, DONE);
    for (int i = 0; !status && i < times(bytes); i++)
        status = evn_shared_put(s->shared[way], 1, 0, s->here, bytes);
    if (!status) status = evn_shared_flush(s->shared[way], 1);
    return status ? status : evn_shared_raise(s->shared[way], 1, DONE);
}

static evn_status send(struct study *s, size_t bytes) {
    void *room;
    evn_status status = s->kind->take(s->out, &room);
    if (status) return status;
    memcpy(room, s->here, bytes);
    return s->kind->send(s->out, bytes);
}

static evn_status receive(struct study *s) {
    const void *data;
    size_t bytes;
    evn_status status = s->kind->expect(s->in);
    if (!status) status = s->kind->wait(s->in, &data, &bytes);
    if (status) return status;
    memcpy(s->there, data, bytes);
    s->kind->release(s->in);
    return EVN_OK;
}

static evn_status mail_ping_pong(struct study *s, size_t bytes) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < times(bytes); i++) {
        if (s->rank) status = receive(s);
        if (!status) status = send(s, bytes);
        if (!status && !s->rank) status = receive(s);
    }
    return status;
}

static evn_status mail_flood(struct study *s, size_t bytes) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < times(bytes); i++)
        status = s->rank ? receive(s) : send(s, bytes);
    if (status) return status;
    return s->rank ? send(s, 0) : receive(s);
}

static void copy(struct study *s, size_t bytes) {
    for (int i = 0; i < times(bytes); i++) {
        memcpy(s->there, s->here, bytes);
        __asm__ volatile("" : : "r"(s->there) : "memory");
    }
}

/* ---- the table of puts ---- */

static const char *const name[TIMED] = {"pointer_s",       "wire_s",       "message_s",
                                        "pointer_flood_s", "wire_flood_s", "message_flood_s",
                                        "copy_s"};

static evn_status timed(struct study *s, int what, size_t bytes) {
    switch (what) {
    case 0: return s->shared[POINTER] ? put_ping_pong(s, POINTER, bytes) : EVN_OK;
    case 1: return put_ping_pong(s, WIRE, bytes);
    case 2: return mail_ping_pong(s, bytes);
    case 3: return s->shared[POINTER] ? put_flood(s, POINTER, bytes) : EVN_OK;
    case 4: return put_flood(s, WIRE, bytes);
    case 5: return mail_flood(s, bytes);
    default: copy(s, bytes); return EVN_OK;
    }
}

/* What is compared is done in turn; seconds of one in the middle of all samples. */
static evn_status measure(struct study *s, size_t bytes, double *seconds) {
    static double sample[TIMED][SAMPLES_MAX];
    evn_status status = EVN_OK;
    for (int i = -1; !status && i < s->repeat; i++) /* the first one only warms */
        for (int k = 0; !status && k < TIMED; k++) {
            const double begin = evn_now();
            status = timed(s, k, bytes);
            if (i >= 0) sample[k][i] = (evn_now() - begin) / times(bytes) / (k < 3 ? 2 : 1);
        }
    for (int k = 0; !status && k < TIMED; k++)
        seconds[k] = s->shared[POINTER] || k % 3 || k == 6 ? median(sample[k], s->repeat) : NAN;
    return status;
}

static void print_number(FILE *page, double value) {
    if (isnan(value))
        fprintf(page, " %9s", "-");
    else
        fprintf(page, " %9.3f", value);
}

static void print_row(const struct study *s, size_t bytes, const double *seconds) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "bytes", (double)bytes);
    for (int k = 0; k < TIMED; k++)
        if (!isnan(seconds[k])) record_number(o, name[k], seconds[k]);
    cJSON_AddItemToArray(s->sizes, o);
    if (!s->page) return;
    fprintf(s->page, "  %10zu |", bytes);
    for (int k = 0; k < 3; k++) print_number(s->page, 1e6 * seconds[k]);
    fprintf(s->page, " |");
    for (int k = 3; k < TIMED; k++) print_number(s->page, 1e-9 * (double)bytes / seconds[k]);
    fprintf(s->page, "\n");
}

/* In factors of eight, and the longest. */
static size_t next_size(size_t bytes, size_t max) {
    return bytes * 8 < max || bytes == max ? bytes * 8 : max;
}

static evn_status table_of_puts(struct study *s) {
    evn_status status = EVN_OK;
    if (s->page)
        fprintf(s->page, "\n  %10s | %29s | %39s\n  %10s | %9s %9s %9s | %9s %9s %9s %9s\n",
                "bytes", "half a ping-pong, us", "flood, GB/s", "", "pointer", "wire", "message",
                "pointer", "wire", "message", "copy");
    for (size_t bytes = 8; !status && bytes <= s->max; bytes = next_size(bytes, s->max)) {
        double seconds[TIMED];
        status = measure(s, bytes, seconds);
        if (!status && !s->rank) print_row(s, bytes, seconds);
    }
    return status;
}

/* ---- copies to a device, of rank 0 ---- */

struct way {
    const char *name;
    const void *from;
    evn_queue *queue;
    evn_buffer *to;
};

static evn_status start(const void *way, size_t bytes) {
    const struct way *w = way;
    return evn_copy_to_device(w->queue, w->to, 0, w->from, bytes);
}

static evn_status start_and_finish(const void *way, size_t bytes) {
    evn_status status = start(way, bytes);
    return status ? status : evn_queue_finish(((const struct way *)way)->queue);
}

/* Seconds of a copy that is waited for, and of one of many that are started together. */
static evn_status time_copy(const struct study *s, evn_device *device, const struct way *w,
                            size_t bytes, double seconds[2]) {
    double sample[2][SAMPLES_MAX];
    evn_status status = start_and_finish(w, bytes);
    for (int i = 0; !status && i < s->repeat; i++) {
        status = bench_timed(device, w->queue, start_and_finish, w, bytes, times(bytes) / 4,
                             &sample[0][i]);
        const double begin = evn_now();
        if (!status)
            status = bench_timed(device, w->queue, start, w, bytes, times(bytes), &sample[1][i]);
        if (!status) status = evn_queue_finish(w->queue);
        if (!evn_device_traits(device)->clock_is_virtual)
            sample[1][i] = (evn_now() - begin) / times(bytes);
    }
    for (int k = 0; !status && k < 2; k++) seconds[k] = median(sample[k], s->repeat);
    return status;
}

static evn_status table_of_copies(struct study *s, evn_device *device, struct way *way, int ways) {
    evn_status status = EVN_OK;
    if (s->page)
        fprintf(s->page, "\nto %s\n  %10s | %29s | %29s\n  %10s | %9s %9s %9s | %9s %9s %9s\n",
                evn_device_traits(device)->name, "bytes", "latency, us", "flood, GB/s", "",
                way[0].name, way[1].name, way[2].name, way[0].name, way[1].name, way[2].name);
    for (size_t bytes = 8; !status && bytes <= s->max; bytes = next_size(bytes, s->max)) {
        double seconds[8][2];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "bytes", (double)bytes);
        for (int w = 0; !status && w < ways; w++) {
            char key[40];
            status = time_copy(s, device, &way[w], bytes, seconds[w]);
            for (int k = 0; !status && k < 2; k++) {
                snprintf(key, sizeof key, "%s%s_s", way[w].name, k ? "_flood" : "");
                record_number(o, key, seconds[w][k]);
            }
        }
        cJSON_AddItemToArray(s->copies, o);
        if (status || !s->page) continue;
        fprintf(s->page, "  %10zu |", bytes);
        for (int w = 0; w < ways; w++) print_number(s->page, 1e6 * seconds[w][0]);
        fprintf(s->page, " |");
        for (int w = 0; w < ways; w++) print_number(s->page, 1e-9 * (double)bytes / seconds[w][1]);
        fprintf(s->page, "\n");
    }
    return status;
}

static evn_status copies(struct study *s, const char *devices) {
    char why[512];
    int count;
    evn_device *device = NULL;
    evn_queue *queue = NULL;
    evn_buffer *buffer = NULL;
    void *pinned = NULL;
    evn_status status = evn_devices_count(devices, &count, why, sizeof why);
    if (!status && !count)
        status = evn_fail(EVN_MISSING, "bench put: --devices %s: there is none: %s", devices, why);
    if (!status) status = evn_device_open(&device, devices, 0);
    if (!status) status = evn_queue_open(&queue, device);
    if (!status) status = evn_buffer_open(&buffer, device, s->max);
    if (!status) status = evn_host_memory_open(&pinned, device, s->max);
    if (!status) {
        memset(pinned, 1, s->max);
        struct way way[] = {{"pinned", pinned, queue, buffer},
                            {"pageable", s->here, queue, buffer},
                            {"shared", evn_shared_memory(s->shared[WIRE]), queue, buffer}};
        status = table_of_copies(s, device, way, 3);
    }
    if (pinned) evn_host_memory_close(pinned, device);
    evn_buffer_close(buffer);
    evn_queue_close(queue);
    evn_device_close(device);
    return status;
}

/* ---- all of it ---- */

static evn_status ways_open(struct study *s) {
    evn_wire *wire;
    evn_shared_shape shape = {s->max, SIGNALS, 0};
    s->kind = evn_cluster_wire_of(s->cluster, &wire);
    s->here = malloc(s->max);
    s->there = malloc(s->max);
    evn_status status = s->here && s->there
                            ? EVN_OK
                            : evn_fail(EVN_MEMORY, "bench put: no memory for %zu bytes", s->max);
    if (!status) memset(s->here, 1, s->max);
    if (!status) memset(s->there, 1, s->max);
    status = evn_cluster_agree(s->cluster, status);
    if (!status) status = evn_shared_open(&s->shared[POINTER], s->cluster, &shape);
    shape.per_node = 1;
    if (!status) status = evn_shared_open(&s->shared[WIRE], s->cluster, &shape);
    if (!status && s->rank < 2) {
        status = s->kind->mail_open(&s->out, wire, !s->rank, TAG, 1, s->max);
        if (!status) status = s->kind->mail_open(&s->in, wire, !s->rank, TAG, 0, s->max);
    }
    return evn_cluster_agree(s->cluster, status);
}

static void ways_close(struct study *s, evn_shared *pointer) {
    if (s->out) s->kind->mail_close(s->out);
    if (s->in) s->kind->mail_close(s->in);
    evn_shared_close(s->shared[WIRE]);
    evn_shared_close(pointer);
    free(s->here);
    free(s->there);
}

static evn_status study(struct study *s, const char *devices) {
    if (evn_cluster_size(s->cluster) < 2)
        return evn_fail(EVN_USAGE, "bench put: --wire: there is one rank; puts need two");
    if (s->page)
        fprintf(s->page, "%s, rank 0 to rank 1 of %d, medians of %d samples\n",
                evn_cluster_wire(s->cluster), evn_cluster_size(s->cluster), s->repeat);
    evn_status status = ways_open(s);
    evn_shared *pointer = s->shared[POINTER];
    if (!status && s->rank < 2) {
        if (!evn_shared_pointer(pointer, !s->rank)) s->shared[POINTER] = NULL;
        status = table_of_puts(s);
    }
    if (!status && !s->rank && devices) status = copies(s, devices);
    status = evn_cluster_agree(s->cluster, status);
    ways_close(s, pointer);
    return status;
}

/* ---- the command ---- */

struct request {
    const char *wire, *devices, *json;
    long max, repeat;
    int quiet;
};

#define AT(field) offsetof(struct request, field)
static const struct option table[] = {
    {"wire", "HOW", "which ranks: processes:N, mpi, .. (default processes:2, under mpirun its own)",
     OPTION_TEXT, AT(wire), 0, 0},
    {"devices", "SPEC",
     "copies to a device beside, as cuda or emulated:1,link=8GB/s (default: none)", OPTION_TEXT,
     AT(devices), 0, 0},
    {"max", "BYTES", "the longest put (default 4194304)", OPTION_NUMBER, AT(max), 8, 1 << 30},
    {"repeat", "N", "samples, of which the median is shown (default 7)", OPTION_NUMBER, AT(repeat),
     1, SAMPLES_MAX},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT, AT(json), 0, 0},
    {"quiet", NULL, "no tables", OPTION_FLAG, AT(quiet), 0, 0},
    {0},
};
#undef AT

static int keep_record(evn_output *file, const struct study *s) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "wire", evn_cluster_wire(s->cluster));
    cJSON_AddNumberToObject(root, "ranks", evn_cluster_size(s->cluster));
    cJSON_AddItemToObject(root, "sizes", cJSON_Duplicate(s->sizes, 1));
    cJSON_AddItemToObject(root, "copies", cJSON_Duplicate(s->copies, 1));
    cJSON_AddStringToObject(root, "command", command_line);
    char *text = record_text(root);
    const int code = !text || output_commit(file, text) ? EXIT_FAILED : EXIT_DONE;
    free(text);
    return code;
}

/* Rank 0 has the record's file, before anything is measured. */
static int measure_all(evn_cluster *cluster, const struct request *request, evn_status *agreed) {
    struct study s = {.cluster = cluster,
                      .rank = evn_cluster_rank(cluster),
                      .repeat = (int)request->repeat,
                      .max = (size_t)request->max,
                      .page = request->quiet || evn_cluster_rank(cluster) ? NULL : files_page(),
                      .sizes = cJSON_CreateArray(),
                      .copies = cJSON_CreateArray()};
    evn_output *file = NULL;
    const int refused = s.rank ? 0 : output_open(&file, request->json);
    *agreed = evn_cluster_agree(cluster, refused ? EVN_USAGE : EVN_OK);
    if (!*agreed) *agreed = study(&s, request->devices);
    /* only rank 0 says so; launchers end all when another returns something else than 0 */
    int code = refused ? refused : *agreed && !s.rank ? give_up(*agreed) : EXIT_DONE;
    if (file && !*agreed) code = keep_record(file, &s);
    cJSON_Delete(s.sizes);
    cJSON_Delete(s.copies);
    evn_output_close(file);
    return code;
}

int bench_put(int argc, char **argv) {
    struct request request = {.max = 4 << 20, .repeat = 7};
    int code = options_read_plain("bench put",
                                  "usage: evener bench put [options]\n\n"
                                  "How long one-sided puts between two ranks take.",
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
