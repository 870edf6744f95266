/* Memory of a device, its ranges of planes, and launches. */
#include "mg/device/device.h"
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source mg_kernels;

static size_t plane_bytes(const struct part *p, int l) {
    return (size_t)p->shape[l].plane * sizeof(double);
}

/* Position of a level's slots in the table: finest first. */
static int slots_at(const struct part *p, int l) { return 2 * p->n - 2 * p->shape[l].n; }

evn_status part_open(struct part *p, evn_device *device, evn_queue *queue,
                     const struct problem *problem) {
    const struct grid *g = &problem->grid;
    *p = (struct part){.device = device,
                       .queue = queue,
                       .finest = g->finest,
                       .n = g->level[g->finest].n,
                       .smoother = problem->smoother};
    p->table = malloc(2 * (size_t)p->n * sizeof *p->table);
    if (!p->table) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    for (int i = 0; i < 2 * p->n; i++) p->table[i] = -1;
    for (int l = 1; l <= p->finest; l++) {
        p->shape[l] = level_shape(g->level[l].n);
        p->field[l].slot = p->table + slots_at(p, l);
    }
    return EVN_OK;
}

static void forget_lists(struct part *p) {
    for (int i = 0; i < p->lists; i++) {
        free(p->ranges[i].range);
        evn_buffer_close(p->ranges[i].buffer);
    }
    p->lists = 0;
}

void part_close(struct part *p) {
    if (p->queue) evn_queue_finish(p->queue); /* whatever it says: all is closed */
    forget_lists(p);
    for (int l = 1; l <= p->finest; l++) {
        evn_buffer_close(p->field[l].u);
        evn_buffer_close(p->field[l].old);
        evn_buffer_close(p->field[l].r);
    }
    evn_buffer_close(p->slot);
    evn_buffer_close(p->charge);
    evn_buffer_close(p->square);
    free(p->table);
    memset(p, 0, sizeof *p);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* A plane that is new has the lowest slot that no other has. */
void part_want(struct part *p, int l, const unsigned char *wanted) {
    const int n = p->shape[l].n;
    int *slot = p->field[l].slot;
    for (int k = 0; k < n; k++)
        if (!wanted[k]) slot[k] = -1;
    for (int k = 0, next = 0; k < n; k++) {
        if (!wanted[k] || slot[k] >= 0) continue;
        for (int q = 0; q < n; q++) /* what is taken; few planes are ever new */
            if (slot[q] == next) {
                next++;
                q = -1;
            }
        slot[k] = next++;
    }
}

static int slots_of(const struct part *p, int l) {
    int count = 0;
    for (int k = 0; k < p->shape[l].n; k++)
        if (p->field[l].slot[k] >= count) count = p->field[l].slot[k] + 1;
    return count;
}

double part_needs(const struct part *p, double *largest) {
    double sum = 2.0 * p->n * sizeof(int) + 8.0 * p->n * sizeof(double) + sizeof p->charges;
    *largest = sum;
    for (int l = 1; l <= p->finest; l++) {
        const double bytes = (double)slots_of(p, l) * (double)plane_bytes(p, l);
        sum += 2 * bytes;
        if (bytes > *largest) *largest = bytes;
    }
    return sum;
}

/* A buffer of so many bytes that begins with what is in *buffer. */
static evn_status enlarge(struct part *p, evn_buffer **buffer, size_t bytes) {
    evn_buffer *larger = NULL;
    evn_status status = evn_buffer_open(&larger, p->device, bytes);
    if (!status && *buffer)
        status = evn_copy_buffer(p->queue, larger, 0, *buffer, 0, evn_buffer_bytes(*buffer));
    if (!status && *buffer) status = evn_queue_finish(p->queue);
    if (status) {
        evn_buffer_close(larger);
        return status;
    }
    evn_buffer_close(*buffer);
    *buffer = larger;
    return EVN_OK;
}

static evn_status fit_level(struct part *p, int l) {
    struct field *f = &p->field[l];
    const int count = slots_of(p, l);
    const size_t bytes = (size_t)count * plane_bytes(p, l);
    if (count <= f->room) return EVN_OK;
    evn_status status = enlarge(p, &f->u, bytes);
    if (!status) status = enlarge(p, l == p->finest ? &f->old : &f->r, bytes);
    if (!status) f->room = count;
    return status;
}

evn_status part_fit(struct part *p) {
    const size_t table = 2 * (size_t)p->n * sizeof *p->table;
    evn_status status = evn_queue_finish(p->queue);
    if (!status && !p->slot) {
        status = evn_buffer_open(&p->slot, p->device, table);
        if (!status) status = evn_buffer_open(&p->charge, p->device, sizeof p->charges);
        if (!status)
            status = evn_buffer_open(&p->square, p->device, 8 * (size_t)p->n * sizeof(double));
    }
    for (int l = 1; !status && l <= p->finest; l++) status = fit_level(p, l);
    if (!status) status = evn_copy_to_device(p->queue, p->slot, 0, p->table, table);
    return status ? status : evn_queue_finish(p->queue);
}

evn_buffer *part_u(const struct part *p, int l) {
    return l == p->finest && p->swept ? p->field[l].old : p->field[l].u;
}

size_t part_at(const struct part *p, int l, int k) {
    return (size_t)p->field[l].slot[k & (p->shape[l].n - 1)] * plane_bytes(p, l);
}

void part_swap(struct part *p) {
    struct field *f = &p->field[p->finest];
    evn_buffer *u = part_u(p, p->finest);
    f->old = u == f->u ? f->old : f->u;
    f->u = u;
    p->swept = 0;
}

/* ---- launches ------------------------------------------------------------------------------- */

static evn_status launch(struct part *p, const char *name, int groups, const evn_argument *argument,
                         int arguments) {
    evn_kernel *kernel;
    evn_status status = evn_kernel_get(p->device, &mg_kernels, name, &kernel);
    if (status) return status;
    return evn_launch(p->queue, kernel, groups, 0, argument, arguments);
}

/* The ranges cut into pieces of at most `most` planes, on the device: sent when they are not there
 * yet. */
static evn_status send_ranges(struct part *p, const int *begin, const int *end, int count, int most,
                              const struct ranges **out) {
    int pieces = 0, at = 0;
    for (int i = 0; i < count; i++) pieces += (end[i] - begin[i] + most - 1) / most;
    int *range = malloc(2 * (size_t)(pieces + 1) * sizeof *range);
    if (!range) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    for (int i = 0; i < count; i++) {
        const int parts = (end[i] - begin[i] + most - 1) / most;
        for (int q = 0; q < parts; q++) {
            range[at++] = begin[i] + (end[i] - begin[i]) * q / parts;
            range[at++] = begin[i] + (end[i] - begin[i]) * (q + 1) / parts;
        }
    }
    const size_t bytes = 2 * (size_t)pieces * sizeof *range;
    for (int i = 0; i < p->lists; i++)
        if (p->ranges[i].count == pieces && !memcmp(p->ranges[i].range, range, bytes)) {
            free(range);
            *out = &p->ranges[i];
            return EVN_OK;
        }
    evn_status status = EVN_OK;
    if (p->lists == RANGES) {
        status = evn_queue_finish(p->queue);
        forget_lists(p);
    }
    struct ranges *r = &p->ranges[p->lists];
    *r = (struct ranges){.count = pieces, .range = range};
    if (!status && pieces) status = evn_buffer_open(&r->buffer, p->device, bytes);
    if (status) {
        free(range);
        return status;
    }
    p->lists++;
    *out = r;
    return pieces ? evn_copy_to_device(p->queue, r->buffer, 0, range, bytes) : EVN_OK;
}

static struct device_level level_of(const struct part *p, int l) {
    const struct level *s = &p->shape[l];
    return (struct device_level){
        .row = s->row, .plane = s->plane, .n = s->n, .slots = slots_at(p, l)};
}

static int over(int a, int b) { return (a + b - 1) / b; }

/* So many planes to a group that there are some hundred groups, and not less than four. */
static int planes_each(int planes, int tiles, int groups, int most) {
    const int each = over(planes * tiles, groups);
    return each < 4 ? 4 : each > most ? most : each;
}

static int planes_of(const int *begin, const int *end, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) sum += end[i] - begin[i];
    return sum;
}

evn_status part_up(struct part *p, int l, const int *begin, const int *end, int count) {
    const int n = p->shape[l].n, finest = l == p->finest, tiles = over(n, UP_X) * over(n, UP_Y);
    const struct field *f = &p->field[l];
    const struct ranges *ranges = NULL;
    evn_status status =
        send_ranges(p, begin, end, count,
                    planes_each(planes_of(begin, end, count), tiles, UP_GROUPS, UP_MOST), &ranges);
    if (status || !ranges->count) return status;
    struct up_value value = {.here = level_of(p, l),
                             .below = level_of(p, l - 1),
                             .c0 = p->smoother.c0,
                             .c1 = p->smoother.c1,
                             .c2 = p->smoother.c2,
                             .finest = finest};
    evn_argument argument[] = {{.buffer = finest ? f->u : f->r},
                               {.buffer = finest ? f->old : f->u},
                               {.buffer = finest ? f->u : f->r},
                               {.buffer = p->field[l - 1].u},
                               {.buffer = p->slot},
                               {.buffer = ranges->buffer},
                               {.buffer = p->charge},
                               {.value = &value, .bytes = sizeof value}};
    if (finest) p->swept = 1;
    return launch(p, "mg_up", tiles * ranges->count, argument, 8);
}

static evn_status launch_last(struct part *p, const int *begin, const int *end, int count) {
    const int m = p->n / 2, tiles = over(m, LAST_X) * over(m, LAST_Y);
    const struct ranges *ranges = NULL;
    evn_status status = send_ranges(
        p, begin, end, count,
        planes_each(planes_of(begin, end, count), tiles, LAST_GROUPS, LAST_MOST), &ranges);
    if (status || !ranges->count) return status;
    struct pair_value value = {level_of(p, p->finest), level_of(p, p->finest - 1)};
    evn_argument argument[] = {{.buffer = part_u(p, p->finest)},
                               {.buffer = p->field[p->finest - 1].r},
                               {.buffer = p->slot},
                               {.buffer = ranges->buffer},
                               {.buffer = p->charge},
                               {.value = &value, .bytes = sizeof value}};
    return launch(p, "mg_last", tiles * ranges->count, argument, 6);
}

evn_status part_down(struct part *p, int l, const int *begin, const int *end, int count) {
    if (l == p->finest - 1) return launch_last(p, begin, end, count);
    const int m = p->shape[l].n, tiles = over(m * m, POINT_ITEMS);
    const struct ranges *ranges = NULL;
    evn_status status = send_ranges(p, begin, end, count, 1, &ranges);
    if (status || !ranges->count) return status;
    struct pair_value value = {level_of(p, l + 1), level_of(p, l)};
    evn_argument argument[] = {{.buffer = p->field[l + 1].r},
                               {.buffer = p->field[l].r},
                               {.buffer = p->slot},
                               {.buffer = ranges->buffer},
                               {.value = &value, .bytes = sizeof value}};
    return launch(p, "mg_down", tiles * ranges->count, argument, 5);
}

evn_status part_squares(struct part *p, const int *begin, const int *end, int count) {
    const struct field *f = &p->field[p->finest];
    evn_buffer *u = part_u(p, p->finest), *r = u == f->u ? f->old : f->u;
    const int tiles = over(p->n * p->n, POINT_ITEMS);
    const int most = planes_each(planes_of(begin, end, count), tiles, LAST_GROUPS, UP_MOST);
    const struct ranges *ranges = NULL;
    evn_status status = send_ranges(p, begin, end, count, most, &ranges);
    if (status || !ranges->count) return status;
    struct pair_value value = {level_of(p, p->finest), level_of(p, p->finest - 1)};
    evn_argument residual[] = {{.buffer = u},         {.buffer = r},
                               {.buffer = p->slot},   {.buffer = ranges->buffer},
                               {.buffer = p->charge}, {.value = &value, .bytes = sizeof value}};
    status = launch(p, "mg_residual", tiles * ranges->count, residual, 6);
    if (!status) status = send_ranges(p, begin, end, count, 1, &ranges);
    if (status) return status;
    evn_argument squares[] = {{.buffer = r},
                              {.buffer = p->square},
                              {.buffer = p->slot},
                              {.buffer = ranges->buffer},
                              {.value = &value, .bytes = sizeof value}};
    return launch(p, "mg_squares", ranges->count, squares, 5);
}

evn_status part_fetch_squares(struct part *p, double *square, int begin, int end) {
    const size_t at = 8 * (size_t)begin;
    if (end <= begin) return EVN_OK;
    evn_status status = evn_copy_to_host(p->queue, square + at, p->square, at * sizeof(double),
                                         8 * (size_t)(end - begin) * sizeof(double));
    return status ? status : evn_queue_finish(p->queue);
}

static evn_status coarsest(struct part *p) {
    struct up_value value = {.here = level_of(p, 1),
                             .below = level_of(p, 1),
                             .c0 = p->smoother.c0,
                             .c1 = p->smoother.c1,
                             .c2 = p->smoother.c2};
    evn_argument argument[] = {{.buffer = p->field[1].r},
                               {.buffer = p->field[1].u},
                               {.buffer = p->slot},
                               {.value = &value, .bytes = sizeof value}};
    return launch(p, "mg_coarsest", 1, argument, 4);
}

evn_status part_below(struct part *p, int top) {
    const int begin = 0;
    evn_status status = EVN_OK;
    for (int l = top - 1; !status && l > 0; l--)
        status = part_down(p, l, &begin, &p->shape[l].n, 1);
    if (!status) status = coarsest(p);
    for (int l = 2; !status && l <= top; l++) status = part_up(p, l, &begin, &p->shape[l].n, 1);
    return status;
}

evn_status part_clear(struct part *p) {
    const struct field *f = &p->field[p->finest];
    evn_long count = (evn_long)f->room * p->shape[p->finest].plane;
    evn_argument argument[] = {{.buffer = f->u}, {.value = &count, .bytes = sizeof count}};
    p->swept = 0;
    return launch(p, "mg_clear", (int)(count < 1 << 17 ? over((int)count, POINT_ITEMS) : 1024),
                  argument, 2);
}

evn_status part_charges(struct part *p, const struct charges *charges) {
    for (int i = 0; i < DEVICE_CHARGES; i++)
        p->charges[i] = (struct device_charge){.value = charges->at[i].value,
                                               .x = charges->at[i].x,
                                               .y = charges->at[i].y,
                                               .z = charges->at[i].z};
    evn_status status = evn_copy_to_device(p->queue, p->charge, 0, p->charges, sizeof p->charges);
    return status ? status : evn_queue_finish(p->queue);
}
