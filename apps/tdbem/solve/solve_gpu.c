/* Launches in order, one queue, and a wait at the end. */
#include "tdbem/solve/solve_gpu.h"
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source solve_kernels;

enum {
    STATES = 2,
    FIRST_TIME = 16, /* iterations given out when nothing is known */
    MORE = 4         /* and when they were not enough */
};

struct solve_gpu {
    const struct solve_matrix *m;
    double tolerance;
    int rows; /* padded */
    evn_device *device;
    evn_queue *queue;
    evn_program *program;
    evn_kernel *begin, *multiply, *advance;
    evn_buffer *strips, *column, *value, *vector, *gamma, *delta, *target;
    double *message; /* b and a on their way; then a and states */
    int expected;    /* iterations */
};

/* a and the states behind it. */
static size_t home_bytes(const struct solve_gpu *g) {
    return (size_t)g->rows * sizeof(double) + STATES * sizeof(struct solve_state);
}

/* ---- opening ---- */

static evn_status open_kernels(struct solve_gpu *g) {
    evn_status status = evn_program_open(&g->program, g->device, &solve_kernels, NULL);
    if (!status) status = evn_kernel_open(&g->begin, g->program, "cg_begin");
    if (!status) status = evn_kernel_open(&g->multiply, g->program, "cg_multiply");
    if (!status) status = evn_kernel_open(&g->advance, g->program, "cg_advance");
    return status;
}

static evn_status send(struct solve_gpu *g, evn_buffer **buffer, const void *data, size_t bytes) {
    evn_status status = evn_buffer_open(buffer, g->device, bytes);
    return status ? status : evn_copy_to_device(g->queue, *buffer, 0, data, bytes);
}

static evn_status open_all(struct solve_gpu *g) {
    const struct solve_matrix *m = g->m;
    const size_t strips = (size_t)g->rows / SOLVE_STRIP, entries = m->begin[strips] * SOLVE_STRIP;
    const size_t sums = (size_t)m->chunks * sizeof(double);
    void *message = NULL;
    evn_status status = evn_queue_open(&g->queue, g->device);
    if (!status) status = open_kernels(g);
    if (!status) status = send(g, &g->strips, m->begin, (strips + 1) * sizeof *m->begin);
    if (!status) status = send(g, &g->column, m->column, entries * sizeof *m->column);
    if (!status) status = send(g, &g->value, m->value, entries * sizeof *m->value);
    if (!status)
        status = evn_buffer_open(&g->vector, g->device,
                                 4 * (size_t)g->rows * sizeof(double) + home_bytes(g));
    if (!status) status = evn_buffer_open(&g->gamma, g->device, sums);
    if (!status) status = evn_buffer_open(&g->delta, g->device, sums);
    if (!status) status = evn_buffer_open(&g->target, g->device, sums);
    if (!status)
        status = evn_host_memory_open(&message, g->device,
                                      (size_t)g->rows * sizeof(double) + home_bytes(g));
    g->message = message;
    if (g->queue) {
        evn_status finished = evn_queue_finish(g->queue);
        if (!status) status = finished;
    }
    if (!status) memset(g->message, 0, 2 * (size_t)g->rows * sizeof *g->message);
    return status;
}

evn_status solve_gpu_open(struct solve_gpu **out, const struct solve_cg *cg, evn_device *device) {
    *out = NULL;
    struct solve_gpu *g = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's solver");
    g->m = solve_cg_matrix(cg);
    g->tolerance = solve_cg_tolerance(cg);
    g->rows = g->m->chunks * SOLVE_CHUNK;
    g->device = device;
    g->expected = FIRST_TIME;
    evn_status status = open_all(g);
    if (status) {
        solve_gpu_close(g);
        return status;
    }
    *out = g;
    return EVN_OK;
}

void solve_gpu_close(struct solve_gpu *g) {
    if (!g) return;
    if (g->queue) evn_queue_finish(g->queue); /* after a failure something may be left */
    evn_buffer *buffer[] = {g->strips, g->column, g->value, g->vector,
                            g->gamma,  g->delta,  g->target};
    for (size_t i = 0; i < sizeof buffer / sizeof *buffer; i++) evn_buffer_close(buffer[i]);
    if (g->message) evn_host_memory_close(g->message, g->device);
    evn_kernel_close(g->begin);
    evn_kernel_close(g->multiply);
    evn_kernel_close(g->advance);
    evn_program_close(g->program);
    if (g->queue) evn_queue_close(g->queue);
    free(g);
}

/* ---- solving ---- */

#define BUFFER(b)                                                                                  \
    { .buffer = (b) }
#define VALUE(v)                                                                                   \
    { .value = &(v), .bytes = sizeof(v) }

static evn_status launch(struct solve_gpu *g, evn_kernel *kernel, const evn_argument *argument,
                         int arguments) {
    return evn_launch(g->queue, kernel, g->m->chunks, evn_kernel_items(kernel), argument,
                      arguments);
}

static evn_status begin(struct solve_gpu *g, struct solve_sweep sweep) {
    const evn_argument argument[] = {BUFFER(g->strips), BUFFER(g->column), BUFFER(g->value),
                                     BUFFER(g->vector), BUFFER(g->gamma),  BUFFER(g->target),
                                     VALUE(sweep)};
    return launch(g, g->begin, argument, sizeof argument / sizeof *argument);
}

static evn_status multiply(struct solve_gpu *g, struct solve_sweep sweep) {
    const evn_argument argument[] = {BUFFER(g->strips), BUFFER(g->column), BUFFER(g->value),
                                     BUFFER(g->vector), BUFFER(g->vector), BUFFER(g->gamma),
                                     BUFFER(g->target), BUFFER(g->delta),  VALUE(sweep)};
    return launch(g, g->multiply, argument, sizeof argument / sizeof *argument);
}

static evn_status advance(struct solve_gpu *g, struct solve_sweep sweep) {
    const evn_argument argument[] = {BUFFER(g->vector), BUFFER(g->vector), BUFFER(g->gamma),
                                     BUFFER(g->delta), VALUE(sweep)};
    return launch(g, g->advance, argument, sizeof argument / sizeof *argument);
}

/* Iterations from sweep->k, where the product is made already, to `end`, and home what came of
 * them. */
static evn_status go_on(struct solve_gpu *g, struct solve_sweep *sweep, int end,
                        struct solve_state *state) {
    evn_status status = EVN_OK;
    while (!status && sweep->k < end) {
        status = advance(g, *sweep);
        sweep->k++;
        if (!status) status = multiply(g, *sweep);
    }
    if (!status)
        status = evn_copy_to_host(g->queue, g->message, g->vector,
                                  (size_t)g->rows * sizeof *g->message, home_bytes(g));
    if (!status) status = evn_queue_finish(g->queue);
    if (!status)
        memcpy(state, (char *)(g->message + g->rows) + (sweep->k & 1) * (int)sizeof *state,
               sizeof *state);
    return status;
}

evn_status solve_gpu(struct solve_gpu *g, const double *b, double *a, int *iterations) {
    const struct solve_matrix *m = g->m;
    struct solve_sweep sweep = {
        .tolerance = g->tolerance * g->tolerance, .rows = g->rows, .chunks = m->chunks};
    struct solve_state state = {0};
    *iterations = 0;
    double *to = g->message;
    memset(to + m->n, 0, (size_t)(g->rows - m->n) * sizeof *to);
    for (int i = 0; i < m->n; i++) {
        to[i] = m->scale[i] * b[i];
        to[g->rows + i] = m->root[i] * a[i];
    }
    memset(to + g->rows + m->n, 0, (size_t)(g->rows - m->n) * sizeof *to);
    evn_status status =
        evn_copy_to_device(g->queue, g->vector, 0, to, 2 * (size_t)g->rows * sizeof *to);
    if (!status) status = begin(g, sweep);
    if (!status) status = multiply(g, sweep);
    for (int end = g->expected; !status; end = sweep.k + MORE) {
        if (end > SOLVE_ITERATIONS_MAX) end = SOLVE_ITERATIONS_MAX;
        status = go_on(g, &sweep, end, &state);
        if (status || state.done || sweep.k == SOLVE_ITERATIONS_MAX) break;
    }
    if (status) return status;
    for (int i = 0; i < m->n; i++) a[i] = state.done == SOLVE_ZERO ? 0 : m->scale[i] * to[i];
    *iterations = state.iterations;
    g->expected = state.iterations + 1;
    return solve_verdict(&state, g->tolerance);
}
