/* The passes by our own kernels: their constants, and how they are launched. */
#include "ft/device/engine.h"
#include "common/run/npb_random.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source ft_kernels;

struct engine {
    const struct transform *t;
    evn_device *device;
    evn_buffer *table, *order, *decay;
    struct engine_line x, y, z;
    int twiddle;  /* offset in the table of the factors for rows */
    double *host; /* the decay of a step, until the queue has come past */
};

static int log_of(int n) {
    int log = 0;
    while (1 << log < n) log++;
    return log;
}

static size_t decays(const struct transform *t) {
    return (size_t)t->nx + (size_t)t->ny + (size_t)t->nz;
}

/* Doubles of the table: roots of three lines, and of rows or their matrix. */
static size_t line_doubles(const struct line *l) { return 4 * (size_t)(l->n / l->last); }
static size_t table_doubles(const struct transform *t) {
    return line_doubles(&t->x) + line_doubles(&t->y) + line_doubles(&t->z) + 2 * (size_t)t->nx;
}
static size_t orders(const struct transform *t) {
    return (size_t)t->x.n + (size_t)t->y.n + (size_t)t->z.n;
}

double engine_bytes(const struct transform *t) {
    return 8.0 * (double)(table_doubles(t) + decays(t)) + 4.0 * (double)orders(t);
}

/* ---- constants ------------------------------------------------------------------------------ */

static struct engine_line add_line(const struct line *l, double *table, int *doubles, int *order,
                                   int *numbers) {
    struct engine_line e = {.n = l->n,
                            .log = log_of(l->n),
                            .passes = l->passes,
                            .log_first = log_of(l->first),
                            .log_last = log_of(l->last),
                            .twiddle = *doubles,
                            .order = *numbers};
    memcpy(table + *doubles, l->twiddle, line_doubles(l) * sizeof *table);
    memcpy(order + *numbers, l->order, (size_t)(l->n / l->last) * sizeof *order);
    *doubles += (int)line_doubles(l);
    *numbers += l->n;
    return e;
}

/* Roots of the transforms over lanes: one number of all packs, then the next one, since
 * neighbouring items have neighbouring packs. */
static void add_roots(const struct transform *t, double *table) {
    for (int v = 0; v < PACK_PART; v++)
        for (int p = 0; p < t->packs; p++)
            table[v * t->packs + p] =
                t->x_twiddle[p / PACK_PART * (4 * PACK) + v * PACK_PART + p % PACK_PART];
}

static void fill(struct engine *e, double *table, int *order) {
    const struct transform *t = e->t;
    int doubles = 0, numbers = 0;
    e->x = add_line(&t->x, table, &doubles, order, &numbers);
    e->y = add_line(&t->y, table, &doubles, order, &numbers);
    e->z = add_line(&t->z, table, &doubles, order, &numbers);
    e->twiddle = doubles;
    if (t->x_matrix)
        memcpy(table + doubles, t->x_matrix, 2 * (size_t)t->nx * sizeof *table);
    else
        add_roots(t, table + doubles);
}

/* Sends both, and waits, since the host's are given back. */
static evn_status send(struct engine *e, const double *table, const int *order) {
    evn_queue *q = NULL;
    evn_status status = evn_queue_open(&q, e->device);
    if (status) return status;
    status = evn_copy_to_device(q, e->table, 0, table, table_doubles(e->t) * sizeof *table);
    if (!status) status = evn_copy_to_device(q, e->order, 0, order, orders(e->t) * sizeof *order);
    evn_status finished = evn_queue_finish(q);
    evn_queue_close(q);
    return status ? status : finished;
}

static evn_status make(struct engine *e) {
    const struct transform *t = e->t;
    double *table = calloc(table_doubles(t), sizeof *table);
    int *order = calloc(orders(t), sizeof *order);
    e->host = malloc(decays(t) * sizeof *e->host);
    evn_status status = EVN_OK;
    if (!table || !order || !e->host) status = evn_fail(EVN_MEMORY, "ft: not enough memory");
    if (!status) status = evn_buffer_open(&e->table, e->device, table_doubles(t) * sizeof *table);
    if (!status) status = evn_buffer_open(&e->order, e->device, orders(t) * sizeof *order);
    if (!status) status = evn_buffer_open(&e->decay, e->device, decays(t) * sizeof *e->host);
    if (!status) {
        fill(e, table, order);
        status = send(e, table, order);
    }
    free_all(table, order);
    return status;
}

evn_status engine_open(struct engine **out, evn_device *device, const struct transform *t) {
    *out = NULL;
    const int n = t->nx > t->ny ? t->nx : t->ny, longest = n > t->nz ? n : t->nz;
    if (longest > ENGINE_LONGEST)
        return evn_fail(EVN_USAGE,
                        "ft: lines of %d points on %s; its kernels have memory for %d at most, so "
                        "give these to CPU units",
                        longest, evn_device_traits(device)->name, (int)ENGINE_LONGEST);
    struct engine *e = calloc(1, sizeof *e);
    if (!e) return evn_fail(EVN_MEMORY, "ft: not enough memory");
    e->t = t;
    e->device = device;
    evn_status status = make(e);
    if (status)
        engine_close(e);
    else
        *out = e;
    return status;
}

void engine_close(struct engine *e) {
    if (!e) return;
    evn_buffer_close(e->table);
    evn_buffer_close(e->order);
    evn_buffer_close(e->decay);
    free_all(e->host, e);
}

/* ---- launches ------------------------------------------------------------------------------- */

static evn_status launch(const struct engine *e, evn_queue *queue, const char *name, double groups,
                         const evn_argument *argument, int arguments) {
    evn_kernel *kernel = NULL;
    evn_status status = evn_kernel_get(e->device, &ft_kernels, name, &kernel);
    if (status) return status;
    return evn_launch(queue, kernel, (int)groups, 0, argument, arguments);
}

static double over(double count, double each) {
    return (double)(long long)((count + each - 1) / each);
}

evn_status engine_decay(struct engine *e, evn_queue *queue, const struct decay *decay) {
    const struct transform *t = e->t;
    memcpy(e->host, decay->x, (size_t)t->nx * sizeof(double));
    memcpy(e->host + t->nx, decay->y, (size_t)t->ny * sizeof(double));
    memcpy(e->host + t->nx + t->ny, decay->z, (size_t)t->nz * sizeof(double));
    return evn_copy_to_device(queue, e->decay, 0, e->host, decays(t) * sizeof(double));
}

evn_status engine_start(const struct engine *e, const struct engine_job *job) {
    const struct transform *t = e->t;
    const struct engine_start v = {.factor = NPB_RANDOM_FACTOR,
                                   .seed = NPB_RANDOM_SEED,
                                   .mask = NPB_RANDOM_MASK,
                                   .leap = npb_random_power(NPB_RANDOM_FACTOR, PACK),
                                   .scale = 0x1p-46,
                                   .first = job->first,
                                   .count = job->count,
                                   .log_y = log_of(t->ny),
                                   .log_packs = log_of(t->packs),
                                   .to = job->to};
    const evn_argument argument[] = {{.buffer = job->memory},
                                     {.buffer = job->ways},
                                     {.buffer = job->numbers},
                                     {.value = &v, .bytes = sizeof v}};
    return launch(e, job->queue, "ft_start",
                  over((double)job->count * t->ny * PACK_PART, ENGINE_ITEMS), argument, 4);
}

evn_status engine_copy(const struct engine *e, const struct engine_job *job, int decays) {
    const struct transform *t = e->t;
    const struct engine_copy v = {.first = job->first,
                                  .count = job->count,
                                  .log_y = log_of(t->ny),
                                  .log_packs = log_of(t->packs),
                                  .from = job->from,
                                  .to = job->to,
                                  .decays = decays,
                                  .y = t->nx,
                                  .z = t->nx + t->ny};
    const evn_argument argument[] = {{.buffer = job->memory},
                                     {.buffer = e->decay},
                                     {.buffer = job->ways},
                                     {.buffer = job->numbers},
                                     {.value = &v, .bytes = sizeof v}};
    return launch(e, job->queue, "ft_copy", over((double)job->count * t->ny * t->nx, ENGINE_ITEMS),
                  argument, 5);
}

evn_status engine_x(const struct engine *e, const struct engine_job *job) {
    const struct transform *t = e->t;
    const struct engine_rows v = {.line = e->x,
                                  .first = job->first,
                                  .count = job->count,
                                  .log_y = log_of(t->ny),
                                  .log_x = log_of(t->nx),
                                  .sign = job->sign,
                                  .from = job->from,
                                  .to = job->to,
                                  .twiddle = e->twiddle};
    const double groups = over((double)job->count * t->ny * t->nx, ENGINE_POINTS);
    const evn_argument value = {.value = &v, .bytes = sizeof v};
    if (t->x_matrix)
        return launch(e, job->queue, "ft_short", groups,
                      (const evn_argument[]){{.buffer = job->memory},
                                             {.buffer = e->table},
                                             {.buffer = job->ways},
                                             {.buffer = job->numbers},
                                             value},
                      5);
    return launch(e, job->queue, "ft_rows", groups,
                  (const evn_argument[]){{.buffer = job->memory},
                                         {.buffer = e->table},
                                         {.buffer = e->order},
                                         {.buffer = job->ways},
                                         {.buffer = job->numbers},
                                         value},
                  6);
}

static evn_status lines(const struct engine *e, const struct engine_job *job,
                        const struct engine_line *line, int decays) {
    const struct transform *t = e->t;
    const struct engine_lines v = {.line = *line,
                                   .first = job->first,
                                   .count = job->count,
                                   .log_packs = log_of(t->packs),
                                   .sign = job->sign,
                                   .from = job->from,
                                   .to = job->to,
                                   .decays = decays,
                                   .y = t->nx,
                                   .z = t->nx + t->ny};
    const evn_argument argument[] = {{.buffer = job->memory},
                                     {.buffer = e->table},
                                     {.buffer = e->order},
                                     {.buffer = e->decay},
                                     {.buffer = job->ways},
                                     {.buffer = job->numbers},
                                     {.value = &v, .bytes = sizeof v}};
    return launch(e, job->queue, "ft_lines",
                  over((double)job->count * t->nx * line->n, ENGINE_POINTS), argument, 7);
}

evn_status engine_y(const struct engine *e, const struct engine_job *job) {
    return lines(e, job, &e->y, 0);
}

evn_status engine_z(const struct engine *e, const struct engine_job *job, int decays) {
    return lines(e, job, &e->z, decays);
}

evn_status engine_points(const struct engine *e, evn_queue *queue, evn_buffer *memory,
                         evn_buffer *at, int count, size_t result) {
    const struct engine_points v = {.result = (evn_long)result, .count = count};
    const evn_argument argument[] = {
        {.buffer = memory}, {.buffer = at}, {.value = &v, .bytes = sizeof v}};
    return launch(e, queue, "ft_points", over(count, ENGINE_ITEMS), argument, 3);
}
