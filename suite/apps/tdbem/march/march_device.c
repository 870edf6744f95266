/* A group of steps is given out as a whole; where a step needs more iterations than it was given,
 * it and those behind it are given out again. */
#include "tdbem/march/march_device.h"
#include "tdbem/solve/right_gpu.h"
#include "tdbem/solve/solve_gpu.h"
#include "tdbem/summation/radiation_gpu.h"
#include <stdlib.h>
#include <string.h>

struct march_device {
    struct solve_gpu *solve;
    struct solve_device d;
    struct right_gpu *right;
    struct radiation_gpu *radiation;
    void *fast[2]; /* memory that the device reaches at full speed */
    double *load;  /* [group * columns]: right-hand sides that the host makes; NULL: the device's */
};

/* Whether it leaves most of the device's memory to blocks of slices. */
static int has_room(const struct march *m, const struct solve_device *d) {
    const struct layout *l = m->p->layout;
    const struct incident *in = m->p->incident;
    const double needs = radiation_gpu_bytes(m->p->radiation) + 8.0 * l->rows * l->wide +
                         8.0 * d->rows * (l->is.group + 1) +
                         in->blocks * (sizeof *in->block + 6.0 * 8 * INCIDENT_LANES);
    const double memory = (double)evn_device_traits(d->device)->memory;
    return 4 * (needs + (double)evn_device_counts(d->device, NULL).used) <= memory;
}

static void make_fast(struct march *m) {
    const struct layout *l = m->p->layout;
    struct march_device *g = m->on_device;
    void *memory[] = {m->total, m->before};
    const size_t count[] = {(size_t)l->rows * (size_t)l->wide, GUESS * (size_t)l->columns};
    for (int i = 0; i < 2; i++)
        if (!evn_host_memory_register(g->d.device, memory[i], count[i] * sizeof(double)))
            g->fast[i] = memory[i];
}

evn_status march_device_open(struct march *m) {
    const struct layout *l = m->p->layout;
    struct solve_gpu *solve = solver_gpu(m->p->solver);
    /* the host has a part in each step of filters and of the far field */
    if (!solve || m->ranks || m->memory || m->far) return EVN_OK;
    const struct solve_device d = solve_gpu_device(solve);
    if (!has_room(m, &d)) return EVN_OK;
    struct march_device *g = m->on_device = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's steps");
    g->solve = solve;
    g->d = d;
    evn_status status = right_gpu_open(&g->right, m->p->incident, d, l->columns, l->rows, l->wide);
    if (!status) status = radiation_gpu_open(&g->radiation, m->p->radiation, d);
    if (!status && (m->p->columns > 1 || !incident_plain(m->p->incident))) {
        g->load = malloc((size_t)l->is.group * (size_t)l->columns * sizeof *g->load);
        if (!g->load) status = evn_fail(EVN_MEMORY, "td-bem: no memory for right-hand sides");
    }
    if (!status) make_fast(m);
    if (status) march_device_close(m);
    return status == EVN_MEMORY ? EVN_OK : status; /* the host can do it, too */
}

void march_device_close(struct march *m) {
    struct march_device *g = m->on_device;
    if (!g) return;
    evn_queue_finish(g->d.queue); /* after a failure something may be left */
    for (int i = 0; i < 2; i++)
        if (g->fast[i]) evn_host_memory_unregister(g->fast[i], g->d.device);
    right_gpu_close(g->right);
    radiation_gpu_close(g->radiation);
    free(g->load);
    free(g);
    m->on_device = NULL;
}

/* Adds the q-th step's contribution to the steps behind it. */
static evn_status radiate(struct march *m, int q, int count) {
    struct march_device *g = m->on_device;
    if (q + 1 == count) return EVN_OK;
    return radiation_gpu_add(g->radiation, q + 1, right_gpu_total(g->right), m->p->layout->wide,
                             solve_gpu_ready(g->solve, q));
}

/* Steps from the `from`-th of the group on. */
static evn_status give(struct march *m, int n, int from, int count) {
    struct march_device *g = m->on_device;
    evn_status status = EVN_OK;
    for (int q = from; !status && q < count; q++) {
        status = right_gpu_give(g->right, n + q, q, solve_gpu_ready(g->solve, q - 1));
        if (!status) status = solve_gpu_give(g->solve, q);
        if (!status) status = radiate(m, q, count);
    }
    return status;
}

/* More iterations for a step, and all that follows it. */
static evn_status give_more(struct march *m, int n, int q, int count) {
    evn_status status = solve_gpu_more(m->on_device->solve, q);
    if (!status) status = radiate(m, q, count);
    return status ? status : give(m, n, q + 1, count);
}

static evn_status come_home(struct march *m, int count) {
    struct march_device *g = m->on_device;
    evn_status status = right_gpu_home(g->right, m->total);
    return status ? status : solve_gpu_home(g->solve, count);
}

/* The right-hand sides of a group, where they are the host's. */
struct loads {
    struct march *m;
    int n, q;
};

static void make_load(evn_crew *crew, int me, int cores, void *arg) {
    const struct loads *step = arg;
    struct march *m = step->m;
    incident_part(m->incident, crew, me, cores, step->n + step->q,
                  m->on_device->load + (size_t)step->q * (size_t)m->p->layout->columns);
}

static void make_loads(struct march *m, int n, int count) {
    struct incident *in = m->incident;
    for (struct loads step = {m, n, 0}; m->on_device->load && step.q < count; step.q++)
        evn_crew_run(m->crew, &in->pace, incident_cores(in, m->crew, n + step.q), make_load, &step);
}

evn_status march_device_group(struct march *m, int n, int count, int *solved) {
    struct march_device *g = m->on_device;
    const size_t columns = (size_t)m->p->layout->columns;
    int most = 0;
    *solved = 0;
    make_loads(m, n, count);
    evn_status status = right_gpu_begin(g->right, m->total, m->before, g->load, count);
    if (!status) status = give(m, n, 0, count);
    if (!status) status = come_home(m, count);
    while (!status && *solved < count) {
        int more, iterations;
        const int q = *solved;
        status = solve_gpu_look(g->solve, q, &more, &iterations);
        if (status) return evn_fail(status, "step %d: %s", n + q, evn_message());
        if (more) {
            status = give_more(m, n, q, count);
            if (!status) status = come_home(m, count);
            continue;
        }
        memcpy(m->a + (size_t)q * columns, solve_gpu_solution(g->solve, q), columns * sizeof *m->a);
        solver_solved(m->p->solver, iterations);
        if (iterations > most) most = iterations;
        ++*solved;
    }
    if (!status) solve_gpu_expect(g->solve, most);
    return status ? evn_fail(status, "steps %d to %d: %s", n, n + count - 1, evn_message())
                  : EVN_OK;
}
