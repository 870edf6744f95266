/* A device's part of the summation: kernels, tables, room for the past and for sums. */
#include "tdbem/summation/summation.h"
#include "tdbem/summation/summation_gpu_inside.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

/* f(real, wide) for all of them */
#define EACH(f, real)       f(real, 1) f(real, 2) f(real, 4) f(real, 8) f(real, 16) f(real, 32)
#define DECLARE(real, wide) extern const evn_kernel_source summation_##real##_##wide##_kernels;
EACH(DECLARE, double)
EACH(DECLARE, float)
#undef DECLARE

static const evn_kernel_source *source(int single, int wide) {
#define CASE(real, n)                                                                              \
    case n: return &summation_##real##_##n##_kernels;
    if (single) switch (wide) {
            EACH(CASE, float)
        default: return NULL;
        }
    switch (wide) {
        EACH(CASE, double)
    default: return NULL;
    }
#undef CASE
}

static size_t real(const struct layout *a) { return a->is.single ? sizeof(float) : sizeof(double); }

size_t summation_sums_bytes(const struct layout *a) {
    return ((size_t)a->rows * (size_t)a->wide * real(a) + 63) / 64 * 64;
}

static size_t past_bytes(const struct history *past) {
    return past->stride * (size_t)past->columns * (past->single ? sizeof(float) : sizeof(double));
}

/* Contiguous slices have no tiles there. */
static int tiles(const struct layout *a) { return a->is.kind == LAYOUT_CONTIGUOUS ? 1 : a->tiles; }

static size_t parts_bytes(const struct layout *a) {
    const size_t count = a->strip ? layout_parts(a) : (size_t)tiles(a) * (size_t)a->columns;
    return count * sizeof(struct sum_part);
}

/* Sums of all blocks where they take an eighth of the memory at most, else as many as that holds,
 * but two: one comes home while the next one is made. */
static int slots(const struct layout *a, size_t memory) {
    const size_t some = memory / 8 / summation_sums_bytes(a);
    return some > (size_t)a->blocks ? a->blocks : some < 2 ? 2 : (int)some;
}

evn_status summation_gpu_share(double *share, const struct layout *a, const struct history *past,
                               evn_device *device) {
    const evn_traits *t = evn_device_traits(device);
    const double memory = (double)t->memory, usable = 0.95 * memory;
    const double beside =
        (double)(past_bytes(past) + parts_bytes(a) + evn_device_counts(device, NULL).used) +
        (double)slots(a, t->memory) * (double)summation_sums_bytes(a) +
        (double)a->blocks * (sizeof(struct sum_block) + sizeof(struct sum_pair)) + 8192;
    const double left = usable - beside, least = (double)layout_largest(a);
    *share = left / memory;
    if (left >= least && (double)t->max_buffer >= least) return EVN_OK;
    return evn_fail(
        EVN_MEMORY,
        "td-bem: %s has %.3f MB of memory; %.3f MB for the past and sums and %.3f MB for "
        "a block of slices need %.3f MB",
        t->name, memory * 1e-6, beside * 1e-6, least * 1e-6, (beside + least) / 0.95 * 1e-6);
}

evn_status summation_gpu_regions(const struct layout *a, evn_place *place, int *region) {
    evn_status status = EVN_OK;
    for (int b = 0; !status && b < a->blocks; b++)
        status = evn_place_add(place, layout_has(a, b) ? a->memory + a->begin[b] : NULL,
                               a->begin[b + 1] - a->begin[b], &region[b]);
    return status;
}

/* ---- opening ---- */

/* Sends the places of parts within their regions. */
static evn_status send_parts(struct summation_gpu *g) {
    const struct layout *a = g->layout;
    const size_t describes = a->is.kind == LAYOUT_FULL ? sizeof *a->full : sizeof *a->meta;
    /* kernels count full blocks' descriptions in 32-bit words */
    const size_t words = a->is.kind == LAYOUT_FULL ? sizeof *a->full / sizeof(uint32_t) : 1;
    struct sum_part *part = malloc(parts_bytes(a));
    if (!part) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's tables");
    for (int b = 0; b < a->blocks; b++) {
        const int slices = a->slice[b + 1] - a->slice[b];
        for (int n = 0; n < (a->strip ? a->strips : tiles(a) * slices); n++) {
            const size_t begin = a->begin[b];
            const size_t at = a->strip ? (size_t)b * (size_t)a->strips + (size_t)n
                                       : (size_t)(n / slices) * (size_t)a->columns +
                                             (size_t)(a->slice[b] + n % slices);
            const struct part *p = &a->part[at];
            part[at] = (struct sum_part){
                .value = (evn_long)(p->value - begin / real(a)),
                .meta = (evn_long)((p->meta - begin / describes) * words),
                .where = (evn_long)(p->where - begin / sizeof *a->where),
                .count = p->count,
            };
        }
    }
    evn_status status = evn_copy_to_device(g->queue, g->parts, 0, part, parts_bytes(a));
    evn_status finished = evn_queue_finish(g->queue);
    free(part);
    return status ? status : finished;
}

static void set_shape(struct summation_gpu *g, const struct history *past) {
    const struct layout *a = g->layout;
    g->shape = (struct sum_shape){
        .stride = (evn_long)past->stride,
        .sums = (evn_long)(summation_sums_bytes(a) / real(a)),
        .now = past->front + past->depth,
        .columns = a->columns,
        .rows = a->rows,
        .tile = a->tile_row[1],
        .tiles = tiles(a),
        .bundle = a->strip ? a->strip : a->bundle_rows,
        .strips = a->strips,
        .length = a->is.kind == LAYOUT_FULL ? a->is.bc : a->padded,
        .tall = a->tall,
        .carries = summation_carries(a),
    };
    while (1 << g->shape.shift < g->shape.bundle) g->shape.shift++;
}

/* Nodes that a unit's interval has of the tree over so many blocks: two of each size at most. */
static int nodes_of_interval(int blocks) {
    int n = 2;
    for (int size = 1; size < blocks; size *= 2) n += 2;
    return n < blocks ? n : blocks;
}

static evn_status open_tables(struct summation_gpu *g) {
    const size_t blocks = (size_t)g->layout->blocks;
    g->block = malloc(blocks * sizeof *g->block);
    g->pair = malloc(blocks * sizeof *g->pair);
    g->ordered = malloc(blocks * sizeof *g->ordered);
    g->slot = malloc(blocks * sizeof *g->slot);
    g->held = malloc(blocks * sizeof *g->held);
    g->known = malloc(blocks * sizeof *g->known);
    g->piece = malloc(blocks * sizeof *g->piece);
    g->part = malloc(blocks * sizeof *g->part);
    g->regions = malloc(blocks * sizeof *g->regions);
    g->stays = calloc(blocks, sizeof *g->stays);
    if (!g->block || !g->pair || !g->ordered || !g->slot || !g->held || !g->known || !g->piece ||
        !g->part || !g->regions || !g->stays)
        return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's tables");
    g->home_nodes = nodes_of_interval(g->layout->blocks);
    return evn_host_memory_open((void **)&g->home, g->device,
                                (size_t)g->home_nodes * summation_sums_bytes(g->layout));
}

static evn_status open_all(struct summation_gpu *g, const struct history *past) {
    static const char *const kernel[] = {[LAYOUT_ROWS] = "sum_rows",
                                         [LAYOUT_CONTIGUOUS] = "sum_contiguous",
                                         [LAYOUT_FULL] = "sum_full"};
    const struct layout *a = g->layout;
    const char *const name = a->strip ? "sum_strips" : kernel[a->is.kind];
    const size_t blocks = (size_t)a->blocks;
    evn_status status = open_tables(g);
    if (status) return status;
    set_shape(g, past);
    const evn_kernel_source *from = source(a->is.single, a->wide);
    status = evn_kernel_get(g->device, from, name, &g->kernel);
    if (!status) status = evn_kernel_get(g->device, from, "sum_pairs", &g->merge);
    if (!status) status = evn_buffer_open(&g->pairs, g->device, blocks * sizeof *g->pair);
    if (!status) status = evn_buffer_open(&g->past, g->device, past_bytes(past));
    if (!status) status = evn_buffer_open(&g->parts, g->device, parts_bytes(a));
    if (!status) status = evn_buffer_open(&g->blocks, g->device, blocks * sizeof *g->block);
    if (!status)
        status = evn_buffer_open(&g->sums, g->device, (size_t)g->slots * summation_sums_bytes(a));
    for (int f = 0; !status && f < 2; f++)
        status = evn_event_open(&g->in_flight[f].done, g->device);
    if (!status) status = evn_event_open(&g->fetched, g->device);
    return status ? status : send_parts(g);
}

evn_status summation_gpu_open(struct summation_gpu **out, const struct layout *layout,
                              const struct history *past, evn_place *place, const int *region,
                              int space, evn_queue *queue) {
    *out = NULL;
    struct summation_gpu *g = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's tables");
    g->layout = layout;
    g->place = place;
    g->region = region;
    g->space = space;
    g->device = evn_place_device(place, space);
    g->queue = queue;
    g->slots = slots(layout, evn_device_traits(g->device)->memory);
    evn_status status = open_all(g, past);
    if (status) {
        summation_gpu_close(g);
        return status;
    }
    *out = g;
    return EVN_OK;
}

void summation_gpu_close(struct summation_gpu *g) {
    if (!g) return;
    batch_close(g);
    for (int f = 0; f < 2; f++) evn_event_close(g->in_flight[f].done);
    evn_event_close(g->fetched);
    evn_buffer_close(g->sums);
    evn_buffer_close(g->pairs);
    evn_buffer_close(g->blocks);
    evn_buffer_close(g->parts);
    evn_buffer_close(g->past);
    evn_host_memory_close(g->home, g->device);
    free_all(g->spill, g->block, g->pair, g->ordered, g->slot, g->held, g->known, g->piece, g->part,
             g->regions, g->stays, g);
}
