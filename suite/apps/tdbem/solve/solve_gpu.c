/* Launches in order, one queue, and a wait at the end. */
#include "tdbem/solve/solve_gpu.h"
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source solve_kernels;

enum {
    FIRST_TIME = 22, /* iterations given out when nothing is known */
    BEYOND = 1,      /* iterations beyond those that the last group took */
    MORE = 4         /* further iterations when these were not enough */
};

struct solve_gpu {
    const struct solve_matrix *m;
    double tolerance;
    int rows;          /* rows, padded */
    int steps, single; /* steps of a group; 1: solutions are rounded to float */
    evn_device *device;
    evn_queue *queue;
    evn_kernel *begin, *multiply, *advance, *end;
    evn_buffer *strips, *column, *value, *scale, *root, *vector, *gamma, *delta, *target;
    evn_buffer *result; /* states and solutions */
    double *message;    /* b and a in transfer */
    double *home;       /* what `result` had last */
    int *given;         /* [steps]: iterations given out for each */
    int expected;       /* iterations that a step is expected to need */
};

/* All states, and the solutions of the first steps. */
static size_t home_bytes(const struct solve_gpu *g, int steps) {
    return (size_t)SOLVE_SOLUTION(steps, g->steps, g->rows) * sizeof(double);
}

/* ---- opening ---- */

static evn_status open_kernels(struct solve_gpu *g) {
    const evn_kernel_source *from = &solve_kernels;
    evn_status status = evn_kernel_get(g->device, from, "cg_begin", &g->begin);
    if (!status) status = evn_kernel_get(g->device, from, "cg_multiply", &g->multiply);
    if (!status) status = evn_kernel_get(g->device, from, "cg_advance", &g->advance);
    if (!status) status = evn_kernel_get(g->device, from, "cg_end", &g->end);
    return status;
}

evn_status solve_device_send(const struct solve_device *d, evn_buffer **buffer, const void *data,
                             size_t bytes) {
    evn_status status = evn_buffer_open(buffer, d->device, bytes);
    return status ? status : evn_copy_to_device(d->queue, *buffer, 0, data, bytes);
}

static evn_status send_matrix(struct solve_gpu *g) {
    const struct solve_matrix *m = g->m;
    const size_t strips = (size_t)g->rows / SOLVE_STRIP, entries = m->begin[strips] * SOLVE_STRIP;
    const size_t rows = (size_t)g->rows * sizeof(double);
    const struct solve_device d = solve_gpu_device(g);
    evn_status status =
        solve_device_send(&d, &g->strips, m->begin, (strips + 1) * sizeof *m->begin);
    if (!status) status = solve_device_send(&d, &g->column, m->column, entries * sizeof *m->column);
    if (!status) status = solve_device_send(&d, &g->value, m->value, entries * sizeof *m->value);
    if (!status) status = solve_device_send(&d, &g->scale, m->scale, rows);
    if (!status) status = solve_device_send(&d, &g->root, m->root, rows);
    return status;
}

static evn_status make_room(struct solve_gpu *g) {
    const size_t sums = (size_t)g->m->chunks * sizeof(double), rows = (size_t)g->rows;
    const struct {
        evn_buffer **buffer;
        size_t bytes;
    } room[] = {{&g->vector, 5 * rows * sizeof(double)},
                {&g->gamma, sums},
                {&g->delta, sums},
                {&g->target, sums},
                {&g->result, home_bytes(g, g->steps)}};
    evn_status status = EVN_OK;
    for (size_t i = 0; !status && i < sizeof room / sizeof *room; i++)
        status = evn_buffer_open(room[i].buffer, g->device, room[i].bytes);
    void *message = NULL, *home = NULL;
    if (!status) status = evn_host_memory_open(&message, g->device, 2 * rows * sizeof(double));
    g->message = message;
    if (!status) status = evn_host_memory_open(&home, g->device, home_bytes(g, g->steps));
    g->home = home;
    g->given = calloc((size_t)g->steps, sizeof *g->given);
    if (!status && !g->given)
        status = evn_fail(EVN_MEMORY, "td-bem: no memory for %d steps", g->steps);
    if (!status) memset(g->message, 0, 2 * rows * sizeof *g->message);
    return status;
}

static evn_status open_all(struct solve_gpu *g) {
    evn_status status = evn_queue_open(&g->queue, g->device);
    if (!status) status = open_kernels(g);
    if (!status) status = send_matrix(g);
    if (!status) status = make_room(g);
    if (!g->queue) return status;
    evn_status finished = evn_queue_finish(g->queue);
    return status ? status : finished;
}

evn_status solve_gpu_open(struct solve_gpu **out, const struct solve_cg *cg, evn_device *device,
                          int steps, int single) {
    *out = NULL;
    struct solve_gpu *g = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's solver");
    g->m = solve_cg_matrix(cg);
    g->tolerance = solve_cg_tolerance(cg);
    g->rows = g->m->chunks * SOLVE_CHUNK;
    g->steps = steps;
    g->single = single;
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
    evn_buffer *buffer[] = {g->strips, g->column, g->value, g->scale,  g->root,
                            g->vector, g->gamma,  g->delta, g->target, g->result};
    for (size_t i = 0; i < sizeof buffer / sizeof *buffer; i++) evn_buffer_close(buffer[i]);
    void *memory[] = {g->message, g->home};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        if (memory[i]) evn_host_memory_close(memory[i], g->device);
    if (g->queue) evn_queue_close(g->queue);
    free(g->given);
    free(g);
}

struct solve_device solve_gpu_device(const struct solve_gpu *g) {
    return (struct solve_device){.device = g->device,
                                 .queue = g->queue,
                                 .rows = g->rows,
                                 .vector = g->vector,
                                 .scale = g->scale,
                                 .root = g->root,
                                 .steps = g->steps,
                                 .result = g->result};
}

/* ---- solving ---- */

#define BUFFER(b)                                                                                  \
    { .buffer = (b) }
#define VALUE(v)                                                                                   \
    { .value = &(v), .bytes = sizeof(v) }

static evn_status launch(struct solve_gpu *g, evn_kernel *kernel, const evn_argument *argument,
                         int arguments) {
    return evn_launch(g->queue, kernel, g->m->chunks, 0, argument, arguments);
}

static evn_status begin(struct solve_gpu *g, struct solve_sweep sweep) {
    const evn_argument argument[] = {BUFFER(g->strips), BUFFER(g->column), BUFFER(g->value),
                                     BUFFER(g->vector), BUFFER(g->result), BUFFER(g->gamma),
                                     BUFFER(g->target), VALUE(sweep)};
    return launch(g, g->begin, argument, sizeof argument / sizeof *argument);
}

static evn_status multiply(struct solve_gpu *g, struct solve_sweep sweep) {
    const evn_argument argument[] = {BUFFER(g->strips), BUFFER(g->column), BUFFER(g->value),
                                     BUFFER(g->vector), BUFFER(g->result), BUFFER(g->gamma),
                                     BUFFER(g->target), BUFFER(g->delta),  VALUE(sweep)};
    return launch(g, g->multiply, argument, sizeof argument / sizeof *argument);
}

static evn_status advance(struct solve_gpu *g, struct solve_sweep sweep) {
    const evn_argument argument[] = {BUFFER(g->vector), BUFFER(g->result), BUFFER(g->gamma),
                                     BUFFER(g->delta), VALUE(sweep)};
    return launch(g, g->advance, argument, sizeof argument / sizeof *argument);
}

static evn_status finish(struct solve_gpu *g, struct solve_sweep sweep) {
    const evn_argument argument[] = {BUFFER(g->vector), BUFFER(g->scale), BUFFER(g->result),
                                     BUFFER(g->result), VALUE(sweep)};
    return launch(g, g->end, argument, sizeof argument / sizeof *argument);
}

int solve_gpu_ready(const struct solve_gpu *g, int q) {
    return q < 0 ? -1 : SOLVE_STATE(q, g->given[q]);
}

static struct solve_sweep sweep_of(const struct solve_gpu *g, int q) {
    return (struct solve_sweep){.tolerance = g->tolerance * g->tolerance,
                                .rows = g->rows,
                                .chunks = g->m->chunks,
                                .k = g->given[q],
                                .step = q,
                                .steps = g->steps,
                                .before = solve_gpu_ready(g, q - 1),
                                .single = g->single};
}

/* Iterations of step q, where the product is made already, to `end`, and the solution. */
static evn_status go_on(struct solve_gpu *g, int q, int end) {
    struct solve_sweep sweep = sweep_of(g, q);
    evn_status status = EVN_OK;
    if (end > SOLVE_ITERATIONS_MAX) end = SOLVE_ITERATIONS_MAX;
    while (!status && sweep.k < end) {
        status = advance(g, sweep);
        sweep.k++;
        if (!status) status = multiply(g, sweep);
    }
    g->given[q] = sweep.k;
    return status ? status : finish(g, sweep);
}

evn_status solve_gpu_give(struct solve_gpu *g, int q) {
    g->given[q] = 0;
    evn_status status = begin(g, sweep_of(g, q));
    if (!status) status = multiply(g, sweep_of(g, q));
    return status ? status : go_on(g, q, g->expected);
}

evn_status solve_gpu_more(struct solve_gpu *g, int q) {
    const int end = g->given[q] + MORE;
    if (end > g->expected) g->expected = end; /* later steps may be like it */
    return go_on(g, q, end);
}

evn_status solve_gpu_home(struct solve_gpu *g, int steps) {
    evn_status status = evn_copy_to_host(g->queue, g->home, g->result, 0, home_bytes(g, steps));
    return status ? status : evn_queue_finish(g->queue);
}

evn_status solve_gpu_look(struct solve_gpu *g, int q, int *more, int *iterations) {
    const struct solve_state *state =
        (const struct solve_state *)g->home + SOLVE_STATE(q, g->given[q]);
    *iterations = state->iterations;
    *more = state->done == SOLVE_GOES_ON && g->given[q] < SOLVE_ITERATIONS_MAX;
    return *more ? EVN_OK : solve_verdict(state, g->tolerance);
}

const double *solve_gpu_solution(const struct solve_gpu *g, int q) {
    return g->home + SOLVE_SOLUTION(q, g->steps, g->rows);
}

void solve_gpu_expect(struct solve_gpu *g, int iterations) {
    if (iterations) g->expected = iterations + BEYOND; /* none: nothing has come yet */
}

/* Padding stays zero. */
static evn_status send_equation(struct solve_gpu *g, const double *b, const double *a) {
    const struct solve_matrix *m = g->m;
    double *to = g->message;
    for (int i = 0; i < m->n; i++) {
        to[i] = m->scale[i] * b[i];
        to[g->rows + i] = m->root[i] * a[i];
    }
    return evn_copy_to_device(g->queue, g->vector, 0, to, 2 * (size_t)g->rows * sizeof *to);
}

evn_status solve_gpu(struct solve_gpu *g, const double *b, double *a, int *iterations) {
    int more = 0;
    *iterations = 0;
    evn_status status = send_equation(g, b, a);
    if (!status) status = solve_gpu_give(g, 0);
    do {
        if (!status && more) status = solve_gpu_more(g, 0);
        if (!status) status = solve_gpu_home(g, 1);
        if (!status) status = solve_gpu_look(g, 0, &more, iterations);
    } while (!status && more);
    if (status) return status;
    memcpy(a, solve_gpu_solution(g, 0), (size_t)g->m->n * sizeof *a);
    solve_gpu_expect(g, *iterations);
    return EVN_OK;
}
