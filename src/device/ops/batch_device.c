/* A batch on a device: its queue, buffer and table, and launches. */
#include "loop/birth.h"
#include "loop/internal.h"
#include "base/argument.h"
#include <evener/change.h>
#include <evener/device.h>
#include <stdlib.h>
#include <string.h>

/* A program that asks for a batch's queue has the code that opens units with devices. */
struct device_ops;
extern const struct device_ops device_ops;
extern const struct device_ops *const batch_device_ops;
const struct device_ops *const batch_device_ops = &device_ops;

evn_queue *evn_batch_queue(const evn_batch *b) {
    NEED_OR(NULL, b, "a batch");
    return b->in_flight ? evn_unit_queue(b->unit, b->device) : NULL;
}

evn_buffer *evn_batch_buffer(const evn_batch *b) {
    NEED_OR(NULL, b, "a batch");
    if (!b->in_flight) return NULL;
    if (evn_batch_space(b) < 0) return NULL;
    return evn_place_buffer(b->loop->place, b->space);
}

/* ---- the table ----------------------------------------------------------------------------- */

/* Numbers of a row: the task and its regions; of a birth also its origins'. */
static size_t row_of(const evn_loop *loop) {
    const size_t regions = (size_t)loop->regions;
    return 1 + regions + (loop->bearing ? 2 + EVN_ORIGINS_IN_ROW * regions : 0);
}

/* Numbers of the largest table: behind the rows are regions of origins that did not go into them.
 */
static size_t most_numbers(const evn_loop *loop) {
    const struct birth *b = loop->bearing;
    if (!b) return (size_t)loop->problem->tasks * row_of(loop);
    return (size_t)b->tasks * row_of(loop) + (size_t)b->first[b->tasks] * (size_t)loop->regions;
}

static evn_status open_table(const evn_batch *b, struct table *t) {
    const size_t bytes = most_numbers(b->loop) * sizeof(evn_long);
    t->sent = malloc(bytes);
    t->row = malloc(bytes);
    if (!t->sent || !t->row)
        return evn_fail(EVN_MEMORY, "batch: no memory for a table of %d tasks",
                        b->loop->problem->tasks);
    return evn_buffer_open(&t->buffer, evn_unit_device(b->unit, b->device), bytes);
}

static evn_long offset_of(const evn_batch *b, int region) {
    return region < 0 ? -1 : (evn_long)evn_place_at(b->loop->place, region, b->space);
}

/* The origins of a row; returns the next number behind all rows. */
static size_t fill_origins(const evn_batch *b, int task, evn_long *row, evn_long *table,
                           size_t end) {
    const struct birth *of = b->loop->bearing;
    const int index = birth_index(of, task), count = birth_origins(of, index);
    const int *region = of->region + (size_t)of->first[index] * (size_t)of->regions;
    *row++ = count;
    *row++ = count > EVN_ORIGINS_IN_ROW ? (evn_long)end : -1;
    for (int i = 0; i < EVN_ORIGINS_IN_ROW * of->regions; i++)
        *row++ = i < count * of->regions ? offset_of(b, region[i]) : -1;
    for (int i = EVN_ORIGINS_IN_ROW * of->regions; i < count * of->regions; i++)
        table[end++] = offset_of(b, region[i]);
    return end;
}

/* Returns the table's numbers. */
static size_t fill_table(const evn_batch *b, evn_long *table) {
    const evn_loop *loop = b->loop;
    const size_t width = row_of(loop);
    size_t end = (size_t)b->count * width;
    for (int k = 0; k < b->count; k++) {
        evn_long *row = table + (size_t)k * width;
        *row++ = b->task[k];
        for (int i = 0; i < loop->regions; i++)
            *row++ =
                offset_of(b, loop->region[(size_t)b->task[k] * (size_t)loop->regions + (size_t)i]);
        if (loop->bearing) end = fill_origins(b, b->task[k], row, table, end);
    }
    return end;
}

/* Sends it if it is not what the device has; the one that was sent stays until the next is. */
static evn_status send_table(const evn_batch *b, struct table *t) {
    const size_t bytes = fill_table(b, t->row) * sizeof(evn_long);
    if (t->rows == b->count && !memcmp(t->row, t->sent, bytes)) return EVN_OK;
    evn_long *last = t->sent;
    t->sent = t->row;
    t->row = last;
    t->rows = 0;
    evn_status status = evn_copy_to_device(evn_batch_queue(b), t->buffer, 0, t->sent, bytes);
    if (!status) t->rows = b->count;
    return status;
}

static void close_table(struct table *t) {
    evn_buffer_close(t->buffer);
    free(t->sent);
    free(t->row);
    *t = (struct table){0};
}

evn_buffer *evn_batch_table(const evn_batch *b) {
    NEED_OR(NULL, b, "a batch");
    if (!b->in_flight) return NULL;
    struct table *t = &b->in_flight->table;
    evn_status status = EVN_OK;
    if (!t->buffer) status = open_table(b, t);
    if (!status) status = send_table(b, t);
    if (!status) return t->buffer;
    worker_fail(b->loop, b->worker, status);
    if (!t->buffer) close_table(t);
    return NULL;
}

/* ---- kernels ------------------------------------------------------------------------------- */

evn_status evn_batch_launch(const evn_batch *b, const evn_kernel_source *source, const char *name,
                            int groups, const evn_argument *argument, int arguments) {
    NEED(b, "a batch");
    if (!b->in_flight)
        return evn_fail(EVN_USAGE,
                        "batch: evn_batch_launch() of \"%s\" on the cores of unit %d; ask "
                        "evn_batch_device() first",
                        name ? name : "", evn_unit_number(b->unit));
    if (!source || !name)
        return evn_fail(EVN_USAGE, "batch: evn_batch_launch() without a source or a kernel's name");
    evn_kernel *kernel = NULL;
    evn_status status = evn_kernel_get(evn_unit_device(b->unit, b->device), source, name, &kernel);
    if (status) return status;
    return evn_launch(evn_batch_queue(b), kernel, groups, 0, argument, arguments);
}

void batch_forget(struct in_flight *f) { close_table(&f->table); }
