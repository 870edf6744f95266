/* The incident wave's tables on a device, and three launches a step. */
#include "tdbem/solve/right_gpu.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source right_kernels;

enum {
    LANES = INCIDENT_LANES,
    ITEMS = 64 /* right_integrate's */,
    WAVE = 5 /* numbers of a triangle */
};

struct right_gpu {
    const struct incident *incident;
    struct solve_device d;
    int columns, rows, wide;
    int triangles; /* number of triangles, filled up to whole groups */
    evn_kernel *integrate, *gather, *make;
    evn_buffer *wave, *ends, *rule, *share, *begin, *where, *load, *before, *total;
    int *kept; /* [d.steps + 1]: the step that each kept L is of */
    int made;  /* the host has made l_n of the group, the q-th at q */
};

/* ---- opening ---- */

static evn_status send_rule(struct right_gpu *g, double rule[INCIDENT_POINTS][4]) {
    for (int p = 0; p < INCIDENT_POINTS; p++) {
        for (int c = 0; c < 3; c++) rule[p][c] = incident_place[p][c];
        rule[p][3] = incident_share[p];
    }
    return solve_device_send(&g->d, &g->rule, rule, INCIDENT_POINTS * sizeof *rule);
}

static evn_status open_kernels(struct right_gpu *g) {
    evn_device *d = g->d.device;
    evn_status status = evn_kernel_get(d, &right_kernels, "right_integrate", &g->integrate);
    if (!status) status = evn_kernel_get(d, &right_kernels, "right_gather", &g->gather);
    if (!status) status = evn_kernel_get(d, &right_kernels, "right_make", &g->make);
    return status;
}

static evn_status make_room(struct right_gpu *g) {
    const size_t real = sizeof(double), columns = (size_t)g->columns;
    const size_t kept = (size_t)g->d.steps + 1;
    evn_device *d = g->d.device;
    evn_status status = evn_buffer_open(&g->share, d, 6 * (size_t)g->triangles * sizeof(double));
    if (!status) status = evn_buffer_open(&g->load, d, 2 * kept * (size_t)g->d.rows * real);
    if (!status) status = evn_buffer_open(&g->before, d, 3 * columns * real);
    if (!status) status = evn_buffer_open(&g->total, d, (size_t)g->rows * (size_t)g->wide * real);
    g->kept = malloc(kept * sizeof *g->kept);
    for (size_t i = 0; g->kept && i < kept; i++) g->kept[i] = -1;
    if (!status && !g->kept) status = evn_fail(EVN_MEMORY, "td-bem: no memory for %zu steps", kept);
    return status;
}

/* Blocks of triangles become arrays of all of them, and so do places in what they give. What fills
 * them up weighs nothing, and f is 0 for it. */
static void lay_out(const struct incident *in, int triangles, double *wave, double *ends,
                    int *where) {
    memset(wave, 0, WAVE * (size_t)triangles * sizeof *wave);
    for (int b = 0; b < triangles / LANES; b++) {
        const struct incident_block *block = &in->block[b];
        ends[2 * b] = b < in->blocks ? block->first : INFINITY;
        ends[2 * b + 1] = b < in->blocks ? block->last : -INFINITY;
        for (int l = 0; b < in->blocks && l < LANES; l++) {
            for (int c = 0; c < 3; c++) wave[c * triangles + b * LANES + l] = block->delay[c][l];
            wave[3 * triangles + b * LANES + l] = block->weight[l];
            wave[4 * triangles + b * LANES + l] = block->extra[l];
        }
    }
    for (int i = 0; i < in->begin[in->vertices]; i++) {
        const int b = in->where[i] / (3 * LANES), c = in->where[i] / LANES % 3;
        where[i] = c * triangles + b * LANES + in->where[i] % LANES;
    }
}

static evn_status send_tables(struct right_gpu *g) {
    const struct incident *in = g->incident;
    const size_t triangles = (size_t)g->triangles, corners = (size_t)in->begin[in->vertices];
    double rule[INCIDENT_POINTS][4];
    double *wave = malloc(WAVE * triangles * sizeof *wave);
    double *ends = malloc(2 * (triangles / LANES) * sizeof *ends);
    int *where = malloc(corners * sizeof *where);
    evn_status status = EVN_OK;
    if (!wave || !ends || !where)
        status = evn_fail(EVN_MEMORY, "td-bem: no memory for a device's incident wave");
    else
        lay_out(in, g->triangles, wave, ends, where);
    if (!status) status = solve_device_send(&g->d, &g->wave, wave, WAVE * triangles * sizeof *wave);
    if (!status)
        status = solve_device_send(&g->d, &g->ends, ends, 2 * (triangles / LANES) * sizeof *ends);
    if (!status) status = solve_device_send(&g->d, &g->where, where, corners * sizeof *where);
    if (!status)
        status = solve_device_send(&g->d, &g->begin, in->begin,
                                   ((size_t)in->vertices + 1) * sizeof *in->begin);
    if (!status) status = send_rule(g, rule);
    evn_status finished = evn_queue_finish(g->d.queue);
    free_all(wave, ends, where);
    return status ? status : finished;
}

static evn_status open_all(struct right_gpu *g) {
    evn_status status = open_kernels(g);
    if (!status) status = make_room(g);
    return status || !incident_plain(g->incident) ? status : send_tables(g);
}

evn_status right_gpu_open(struct right_gpu **out, const struct incident *incident,
                          struct solve_device solve, int columns, int rows, int wide) {
    *out = NULL;
    struct right_gpu *g = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's right-hand side");
    g->incident = incident;
    g->d = solve;
    g->triangles = (incident->blocks * LANES + ITEMS - 1) / ITEMS * ITEMS;
    g->columns = columns;
    g->rows = rows;
    g->wide = wide;
    evn_status status = open_all(g);
    if (status) {
        right_gpu_close(g);
        return status;
    }
    *out = g;
    return EVN_OK;
}

void right_gpu_close(struct right_gpu *g) {
    if (!g) return;
    evn_buffer *buffer[] = {g->wave,  g->ends, g->rule,   g->share, g->begin,
                            g->where, g->load, g->before, g->total};
    for (size_t i = 0; i < sizeof buffer / sizeof *buffer; i++) evn_buffer_close(buffer[i]);
    free_all(g->kept, g);
}

/* ---- a group ---- */

#define BUFFER(b)                                                                                  \
    { .buffer = (b) }
#define VALUE(v)                                                                                   \
    { .value = &(v), .bytes = sizeof(v) }

static evn_status launch(struct right_gpu *g, evn_kernel *kernel, int groups,
                         const evn_argument *argument, int arguments) {
    return evn_launch(g->d.queue, kernel, groups, 0, argument, arguments);
}

evn_status right_gpu_begin(struct right_gpu *g, const double *total, const double *before,
                           const double *load, int count) {
    const size_t columns = (size_t)g->columns, real = sizeof *load;

    evn_status status = evn_copy_to_device(g->d.queue, g->total, 0, total,
                                           (size_t)g->rows * (size_t)g->wide * sizeof *total);
    if (!status)
        status = evn_copy_to_device(g->d.queue, g->before, 0, before, 3 * columns * sizeof *before);
    g->made = load != NULL;
    for (int q = 0; !status && load && q < count; q++)
        status = evn_copy_to_device(g->d.queue, g->load, (size_t)q * (size_t)g->d.rows * real,
                                    load + (size_t)q * columns, columns * real);
    return status;
}

static int kept_at(const struct right_gpu *g, int n) { return n % (g->d.steps + 1); }

/* L of step n, unless it is there. */
static evn_status sample(struct right_gpu *g, int n) {
    if (g->kept[kept_at(g, n)] == n) return EVN_OK;
    struct incident_time time = incident_at(g->incident, n);
    const struct incident_right right = {.rows = g->d.rows,
                                         .columns = g->columns,
                                         .triangles = g->triangles,
                                         .now = kept_at(g, n),
                                         .damped = g->incident->damped ? g->d.steps + 1 : 0};
    const evn_argument first[] = {BUFFER(g->wave), BUFFER(g->ends), BUFFER(g->rule),
                                  BUFFER(g->share), VALUE(time)};
    const evn_argument then[] = {BUFFER(g->share), BUFFER(g->begin), BUFFER(g->where),
                                 BUFFER(g->load), VALUE(right)};
    time.triangles = g->triangles;
    time.damped = g->incident->damped;
    evn_status status = launch(g, g->integrate, g->triangles / ITEMS, first, 5);
    if (!status) status = launch(g, g->gather, g->d.rows / SOLVE_CHUNK, then, 5);
    g->kept[kept_at(g, n)] = status ? -1 : n;
    return status;
}

evn_status right_gpu_give(struct right_gpu *g, int n, int q, int ready) {
    const int differs = g->incident->differs, quiet = incident_quiet(g->incident, n);
    const int again = g->incident->damped ? g->d.steps + 1 : 0;
    const struct incident_right right = {
        .rows = g->d.rows,
        .columns = g->columns,
        .load = g->made   ? 1
                : quiet   ? 0
                : differs ? 2
                          : 1,
        .now = g->made ? q : kept_at(g, n) + again,
        .last = kept_at(g, n - 1),
        .wide = g->wide,
        .step = q,
        .one = q - 1,
        .two = q - 2,
        .three = q - 3,
        .at = (int)SOLVE_SOLUTION(0, g->d.steps, 0),
        .before = ready,
    };
    const evn_argument argument[] = {BUFFER(g->load),     BUFFER(g->total),    BUFFER(g->before),
                                     BUFFER(g->d.result), BUFFER(g->d.scale),  BUFFER(g->d.root),
                                     BUFFER(g->d.result), BUFFER(g->d.vector), VALUE(right)};
    evn_status status = EVN_OK;
    if (!g->made && !quiet && differs) status = sample(g, n - 1);
    if (!g->made && !status && !quiet) status = sample(g, n);
    return status ? status : launch(g, g->make, g->d.rows / SOLVE_CHUNK, argument, 9);
}

evn_buffer *right_gpu_total(const struct right_gpu *g) { return g->total; }

evn_status right_gpu_home(struct right_gpu *g, double *total) {
    const size_t from = (size_t)g->columns * (size_t)g->wide;
    const size_t count = (size_t)(g->rows - g->columns) * (size_t)g->wide;
    if (!count) return EVN_OK;
    return evn_copy_to_host(g->d.queue, total + from, g->total, from * sizeof *total,
                            count * sizeof *total);
}
