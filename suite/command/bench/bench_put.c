/* bench put: one-sided puts between two ranks by size, as figure 3 of "UPC + CUDA" (Wang and others
 * 2011) has them: half a ping-pong of puts with signals, and a flood of puts that one flush ends;
 * by the processor into a neighbour's memory, over the wire (MPI_Put() where that is MPI), and as
 * messages of the same wire; beside the same by MPI alone, a copy within the own memory, copies to
 * a device and from it, and the whole way to the other rank's device (put_between.c). */
#include "bench/bench.h"
#include "bench/pair.h"
#include "bench/put.h"
#include "bench/raw.h"
#include "common/run/median.h"
#include "common/run/record.h"
#include <evener/plugin.h>
#include <evener/shared.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTER, WIRE, MESSAGE, WAYS = PUT_WAYS }; /* as RAW_ALLOCATED, RAW_CREATED, RAW_MESSAGE */
enum { DATA, DONE, SIGNALS };

static struct request { const char *devices, *raw; } asked = {"emulated:1", NULL};

/* Memory that ranks put to: as neighbours, and as if each had a node of its own. */
static struct {
    evn_shared *shared[2];
    unsigned long long turn[2][SIGNALS];
    const raw_mpi *raw; /* NULL: there is no MPI to be had beside */
} has;

/* ---- what is timed ---- */

static evn_status await(const struct pair *p, int way, int signal) {
    return evn_shared_wait(has.shared[way], !p->rank, signal, ++has.turn[way][signal]);
}

static evn_status put_ping_pong(struct pair *p, int way, size_t bytes) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < pair_times(bytes); i++) {
        if (p->rank) status = await(p, way, DATA);
        if (!status)
            status = evn_shared_put_signal(has.shared[way], !p->rank, 0, p->here, bytes, DATA);
        if (!status && !p->rank) status = await(p, way, DATA);
    }
    return status;
}

/* The target waits in the library, so puts come on where they need it. */
static evn_status put_flood(struct pair *p, int way, size_t bytes) {
    evn_status status = EVN_OK;
    if (p->rank) return await(p, way, DONE);
    for (int i = 0; !status && i < pair_times(bytes); i++)
        status = evn_shared_put(has.shared[way], 1, 0, p->here, bytes);
    if (!status) status = evn_shared_flush(has.shared[way], 1);
    return status ? status : evn_shared_raise(has.shared[way], 1, DONE);
}

static evn_status copy(struct pair *p, int way, size_t bytes) {
    (void)way;
    for (int i = 0; i < pair_times(bytes); i++) {
        memcpy(p->there, p->here, bytes);
        __asm__ volatile("" : : "r"(p->there) : "memory");
    }
    return EVN_OK;
}

static evn_status raw_said(int code) {
    char text[300];
    if (!code) return EVN_OK;
    has.raw->say(code, text, sizeof text);
    return evn_fail(EVN_SYSTEM, "bench put: MPI alone: %s", text);
}

static evn_status raw_ping_pong(struct pair *p, int way, size_t bytes) {
    (void)p;
    return raw_said(has.raw->ping_pong(way, bytes, pair_times(bytes)));
}

static evn_status raw_flood(struct pair *p, int way, size_t bytes) {
    (void)p;
    return raw_said(has.raw->flood(way, bytes, pair_times(bytes)));
}

/* ---- the tables of puts ---- */

/* Half a ping-pong and a flood of each way, by the wire and, from RAW on, by MPI alone. */
enum { FLOODS = WAYS, RAW = 2 * WAYS, COPY = 4 * WAYS, TIMED };
static const struct pair_timed all[TIMED] = {{"pointer_s", put_ping_pong, POINTER, 2},
                                             {"wire_s", put_ping_pong, WIRE, 2},
                                             {"message_s", pair_ping_pong, MESSAGE, 2},
                                             {"pointer_flood_s", put_flood, POINTER, 1},
                                             {"wire_flood_s", put_flood, WIRE, 1},
                                             {"message_flood_s", pair_flood, MESSAGE, 1},
                                             {"raw_allocated_s", raw_ping_pong, RAW_ALLOCATED, 2},
                                             {"raw_created_s", raw_ping_pong, RAW_CREATED, 2},
                                             {"raw_message_s", raw_ping_pong, RAW_MESSAGE, 2},
                                             {"raw_allocated_flood_s", raw_flood, RAW_ALLOCATED, 1},
                                             {"raw_created_flood_s", raw_flood, RAW_CREATED, 1},
                                             {"raw_message_flood_s", raw_flood, RAW_MESSAGE, 1},
                                             {"copy_s", copy, 0, 1}};

struct row {
    size_t bytes;
    double seconds[TIMED];
};
enum { ROWS_MAX = 12 }; /* 8 B to 1 GiB */

static void print_number(FILE *page, double value) {
    if (isnan(value))
        fprintf(page, " %9s", "-");
    else
        fprintf(page, " %9.3f", value);
}

void put_print_head(FILE *page, const char *latency, const char *flood, const char *const *name,
                    int columns) {
    fprintf(page, "\n  %10s | %29s | %*s\n  %10s |", "bytes", latency, 10 * columns - 1, flood, "");
    for (int k = 0; k < PUT_WAYS; k++) fprintf(page, " %9s", name[k]);
    fprintf(page, " |");
    for (int k = 0; k < columns; k++) fprintf(page, " %9s", name[k]);
    fprintf(page, "\n");
}

void put_print_row(FILE *page, size_t bytes, const double *latency, const double *flood,
                   int columns) {
    fprintf(page, "  %10zu |", bytes);
    for (int k = 0; k < PUT_WAYS; k++) print_number(page, 1e6 * latency[k]);
    fprintf(page, " |");
    for (int k = 0; k < columns; k++) print_number(page, 1e-9 * (double)bytes / flood[k]);
    fprintf(page, "\n");
}

static void print_times(FILE *page, const struct row *row, int first, int has_copy) {
    double flood[WAYS + 1];
    memcpy(flood, row->seconds + first + FLOODS, WAYS * sizeof *flood);
    flood[WAYS] = row->seconds[COPY];
    put_print_row(page, row->bytes, row->seconds + first, flood, WAYS + has_copy);
}

/* Times over those of MPI alone. */
static void print_ratios(FILE *page, const struct row *row) {
    fprintf(page, "  %10zu |", row->bytes);
    for (int k = 0; k < 2 * WAYS; k++) {
        if (k == WAYS) fprintf(page, " |");
        print_number(page, row->seconds[k] / row->seconds[RAW + k]);
    }
    fprintf(page, "\n");
}

static void print_raw(FILE *page, const struct row *row, int rows) {
    static const char *const windows[] = {"allocated", "created", "message"};
    static const char *const over[] = {"pointer", "wire", "message"};
    fprintf(page, "\nMPI by itself, puts to windows of MPI_Win_allocate() and MPI_Win_create()");
    put_print_head(page, "half a ping-pong, us", "flood, GB/s", windows, WAYS);
    for (int r = 0; r < rows; r++) print_times(page, &row[r], RAW, 0);
    fprintf(page, "\ntimes over those of MPI by itself");
    put_print_head(page, "half a ping-pong", "flood", over, WAYS);
    for (int r = 0; r < rows; r++) print_ratios(page, &row[r]);
}

static evn_status tables_of_puts(struct pair *p, cJSON *sizes) {
    static const char *const ways[] = {"pointer", "wire", "message", "copy"};
    const int is_near = evn_shared_pointer(has.shared[POINTER], !p->rank) != NULL;
    struct pair_timed timed[TIMED];
    struct row row[ROWS_MAX];
    int rows = 0;
    evn_status status = EVN_OK;
    memcpy(timed, all, sizeof timed);
    for (int k = 0; k < TIMED; k++)
        if ((timed[k].run == put_ping_pong || timed[k].run == put_flood) && !is_near &&
            timed[k].way == POINTER)
            timed[k].run = NULL;
    for (int k = RAW; k < COPY && !has.raw; k++) timed[k].run = NULL;
    if (p->page) put_print_head(p->page, "half a ping-pong, us", "flood, GB/s", ways, WAYS + 1);
    for (size_t bytes = 8; !status && bytes <= p->max; bytes = pair_next_size(bytes, p->max)) {
        row[rows].bytes = bytes;
        status = pair_measure(p, timed, TIMED, bytes, row[rows].seconds);
        if (status || p->rank) continue;
        pair_record(sizes, timed, TIMED, bytes, row[rows].seconds);
        if (p->page) print_times(p->page, &row[rows++], 0, 1);
    }
    if (!status && p->page && has.raw) print_raw(p->page, row, rows);
    return status;
}

/* ---- copies to a device and from it, of rank 0 ---- */

struct way {
    const char *name;
    void *host;
    evn_queue *queue;
    evn_buffer *buffer;
    int back; /* from the device */
};
enum { HOSTS = PUT_WAYS };

static evn_status start(const void *way, size_t bytes) {
    const struct way *w = way;
    return w->back ? evn_copy_to_host(w->queue, w->host, w->buffer, 0, bytes)
                   : evn_copy_to_device(w->queue, w->buffer, 0, w->host, bytes);
}

static evn_status start_and_finish(const void *way, size_t bytes) {
    evn_status status = start(way, bytes);
    return status ? status : evn_queue_finish(((const struct way *)way)->queue);
}

/* Seconds of a copy that is waited for, and of one of many that are started together. */
static evn_status time_copy(const struct pair *p, evn_device *device, const struct way *w,
                            size_t bytes, double *latency, double *flood) {
    double sample[2][PAIR_SAMPLES_MAX];
    const int times = pair_times(bytes);
    evn_status status = start_and_finish(w, bytes);
    for (int i = 0; !status && i < p->repeat; i++) {
        status =
            bench_timed(device, w->queue, start_and_finish, w, bytes, times / 4, &sample[0][i]);
        const double begin = evn_now();
        if (!status) status = bench_timed(device, w->queue, start, w, bytes, times, &sample[1][i]);
        if (!status) status = evn_queue_finish(w->queue);
        if (!evn_device_traits(device)->clock_is_virtual)
            sample[1][i] = (evn_now() - begin) / times;
    }
    if (status) return status;
    *latency = median(sample[0], p->repeat);
    *flood = median(sample[1], p->repeat);
    return EVN_OK;
}

/* One size of one direction. */
static evn_status row_of_copies(const struct pair *p, evn_device *device, const struct way *way,
                                size_t bytes, cJSON *list) {
    double latency[HOSTS], flood[HOSTS];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "bytes", (double)bytes);
    cJSON_AddItemToArray(list, o);
    for (int w = 0; w < HOSTS; w++) {
        char key[40];
        evn_status status = time_copy(p, device, &way[w], bytes, &latency[w], &flood[w]);
        if (status) return status;
        snprintf(key, sizeof key, "%s_s", way[w].name);
        record_number(o, key, latency[w]);
        snprintf(key, sizeof key, "%s_flood_s", way[w].name);
        record_number(o, key, flood[w]);
    }
    if (p->page) put_print_row(p->page, bytes, latency, flood, HOSTS);
    return EVN_OK;
}

static evn_status table_of_copies(const struct pair *p, evn_device *device, struct way *way,
                                  int back) {
    const char *name[HOSTS];
    evn_status status = EVN_OK;
    cJSON *list = cJSON_AddArrayToObject(p->record, back ? "copies_back" : "copies");
    for (int w = 0; w < HOSTS; w++) {
        way[w].back = back;
        name[w] = way[w].name;
    }
    if (p->page) {
        fprintf(p->page, "\n%s %s", back ? "from" : "to", evn_device_traits(device)->name);
        put_print_head(p->page, "latency, us", "flood, GB/s", name, HOSTS);
    }
    for (size_t bytes = 8; !status && bytes <= p->max; bytes = pair_next_size(bytes, p->max))
        status = row_of_copies(p, device, way, bytes, list);
    return status;
}

static evn_status copies(const struct pair *p) {
    char why[512];
    int count;
    evn_device *device = NULL;
    evn_queue *queue = NULL;
    evn_buffer *buffer = NULL;
    void *pinned = NULL;
    evn_status status = evn_devices_count(asked.devices, &count, why, sizeof why);
    if (!status && !count)
        status =
            evn_fail(EVN_MISSING, "bench put: --devices %s: there is none: %s", asked.devices, why);
    if (!status) status = evn_device_open(&device, asked.devices, 0);
    if (!status) status = evn_queue_open(&queue, device);
    if (!status) status = evn_buffer_open(&buffer, device, p->max);
    if (!status) status = evn_host_memory_open(&pinned, device, p->max);
    if (!status) {
        memset(pinned, 1, p->max);
        struct way way[HOSTS] = {{"pinned", pinned, queue, buffer, 0},
                                 {"pageable", p->here, queue, buffer, 0},
                                 {"shared", evn_shared_memory(has.shared[WIRE]), queue, buffer, 0}};
        for (int back = 0; !status && back < 2; back++)
            status = table_of_copies(p, device, way, back);
    }
    if (pinned) evn_host_memory_close(pinned, device);
    evn_buffer_close(buffer);
    evn_queue_close(queue);
    evn_device_close(device);
    return status;
}

/* ---- all of it ---- */

/* The plug-in of the wire's MPI; NULL: the wire is none. */
static const char *raw_name(const evn_cluster *cluster) {
    const char *wire = evn_cluster_about(cluster).wire;
    return !strncmp(wire, "Open MPI", 8) ? "evener-raw-openmpi.so"
           : !strncmp(wire, "MPICH", 5)  ? "evener-raw-mpich.so"
                                         : NULL;
}

/* On all ranks or on none. What was asked for must be there; what was not is said. */
static evn_status raw_open(struct pair *p) {
    const char *name = raw_name(p->cluster);
    if (asked.raw && !strcmp(asked.raw, "none")) return EVN_OK;
    if (!name && asked.raw)
        return evn_fail(EVN_USAGE,
                        "bench put: --raw %s: the wire is \"%s\", and MPI by itself "
                        "needs one of MPI, as under mpirun",
                        asked.raw, evn_cluster_about(p->cluster).wire);
    const void *functions = NULL;
    evn_status status = EVN_MISSING;
    if (name)
        status = evn_plugin_open(
            &functions, NULL,
            &(evn_plugin){"raw", "EVENER_RAW", name, "evener_raw_v1", RAW_VERSION}, asked.raw);
    else
        evn_fail(EVN_MISSING, "the wire is none of MPI; mpirun -n 2 evener bench put has it");
    status = evn_cluster_agree(p->cluster, status);
    has.raw = status ? NULL : functions;
    if (!status) return evn_cluster_agree(p->cluster, raw_said(has.raw->open(p->max)));
    if (asked.raw) return status;
    if (p->page) fprintf(p->page, "MPI by itself is not beside: %s\n", evn_message());
    return EVN_OK;
}

static evn_status study(struct pair *p) {
    cJSON *sizes = cJSON_AddArrayToObject(p->record, "sizes");
    evn_shared_shape shape = {.bytes = p->max, .signals = SIGNALS};
    evn_status status = evn_shared_open(&has.shared[POINTER], p->cluster, &shape);
    shape.per_node = 1;
    if (!status) status = evn_shared_open(&has.shared[WIRE], p->cluster, &shape);
    if (!status) status = raw_open(p);
    if (!status && p->rank < 2) status = tables_of_puts(p, sizes);
    if (!status && !p->rank && strcmp(asked.devices, "none") != 0) status = copies(p);
    status = evn_cluster_agree(p->cluster, status);
    if (!status && strcmp(asked.devices, "none") != 0) status = put_between(p, asked.devices);
    if (has.raw) has.raw->close();
    evn_shared_close(has.shared[WIRE]);
    evn_shared_close(has.shared[POINTER]);
    return status;
}

static const struct option table[] = {
    {"devices", "SPEC",
     "copies to a device and back, as cuda or emulated:1,link=8GB/s (default emulated:1; none)",
     OPTION_TEXT, offsetof(struct request, devices), 0, 0},
    {"raw", "FILE", "MPI by itself beside its wire, by this plug-in (default the wire's MPI; none)",
     OPTION_TEXT, offsetof(struct request, raw), 0, 0},
    {0},
};

int bench_put(int argc, char **argv) {
    const struct pair_study put = {"bench put",
                                   "usage: evener bench put [options]\n"
                                   "\n"
                                   "Times of one-sided puts between two ranks.",
                                   table, &asked, study};
    return pair_command(&put, argc, argv);
}
