/* Batches of blocks on a device. A batch that fits is one upload of the past, one launch and one
 * message home. One that does not is done in parts, two of which are on the device at a time: while
 * one is summed the next one comes in. */
#include "summation_gpu.h"
#include "summation.h"
#include "summation_part.h"
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

/* Blocks that are on their way through the device. */
struct flight {
    int first, count; /* entries of the batch; count 0: none */
    evn_event *done;
};

struct summation_gpu {
    const struct layout *layout;
    evn_place *place;
    const int *region;
    int space;
    evn_device *device;
    evn_queue *queue;
    evn_program *program;
    evn_kernel *kernel, *merge;
    evn_buffer *past, *parts, *blocks, *pairs, *sums;
    int slots; /* blocks that there is room for sums of */
    struct sum_shape shape;
    struct sum_block *block; /* of the batch */
    struct sum_pair *pair;   /* likewise */
    int *number, *regions, *span;
    struct flight flight[2];
    evn_event *fetched;
    int has_fetched; /* it was recorded */
};

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
    return (size_t)tiles(a) * (size_t)a->columns * sizeof(struct sum_part);
}

/* Sums of all blocks where they take an eighth of the memory at most, else as many as that holds,
 * but two: one comes home while the next one is made. */
static int slots(const struct layout *a, size_t memory) {
    const size_t some = memory / 8 / summation_sums_bytes(a);
    return some > (size_t)a->blocks ? a->blocks : some < 2 ? 2 : (int)some;
}

static size_t largest(const struct layout *a) {
    size_t most = 0;
    for (int b = 0; b < a->blocks; b++)
        if (a->begin[b + 1] - a->begin[b] > most) most = a->begin[b + 1] - a->begin[b];
    return most;
}

evn_status summation_gpu_share(double *share, const struct layout *a, const struct history *past,
                               evn_device *device) {
    const evn_traits *t = evn_device_traits(device);
    const double memory = (double)t->memory, usable = 0.95 * memory;
    const double beside = (double)(past_bytes(past) + parts_bytes(a)) +
                          (double)slots(a, t->memory) * (double)summation_sums_bytes(a) +
                          (double)a->blocks * (sizeof(struct sum_block) + sizeof(struct sum_pair)) +
                          8192;
    const double left = usable - beside, least = (double)largest(a);
    *share = left / memory;
    if (left >= least && (double)t->most_buffer >= least) return EVN_OK;
    return evn_fail(
        EVN_MEMORY,
        "td-bem: %s has %.3f MB of memory; %.3f MB for the past and sums and %.3f MB for "
        "a block of slices need %.3f MB",
        t->name, memory * 1e-6, beside * 1e-6, least * 1e-6, (beside + least) / 0.95 * 1e-6);
}

evn_status summation_gpu_regions(const struct layout *a, evn_place *place, int *region) {
    evn_status status = EVN_OK;
    for (int b = 0; !status && b < a->blocks; b++)
        status = evn_place_add(place, a->memory + a->begin[b], a->begin[b + 1] - a->begin[b],
                               &region[b]);
    return status;
}

/* ---- opening ---- */

/* Where parts are within their regions. */
static evn_status send_parts(struct summation_gpu *g) {
    const struct layout *a = g->layout;
    const size_t describes = a->is.kind == LAYOUT_FULL ? sizeof *a->full : sizeof *a->meta;
    /* kernels count full blocks' descriptions in 32-bit words */
    const size_t words = a->is.kind == LAYOUT_FULL ? sizeof *a->full / sizeof(uint32_t) : 1;
    struct sum_part *part = malloc(parts_bytes(a));
    if (!part) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's tables");
    for (int t = 0; t < tiles(a); t++)
        for (int b = 0; b < a->blocks; b++)
            for (int j = a->slice[b]; j < a->slice[b + 1]; j++) {
                const size_t at = (size_t)t * (size_t)a->columns + (size_t)j, begin = a->begin[b];
                const struct part *p = &a->part[at];
                part[at] = (struct sum_part){
                    .value = (evn_long)(p->value - begin / real(a)),
                    .meta = (evn_long)((p->meta - begin / describes) * words),
                    .where = (evn_long)(p->where - begin / sizeof *a->where),
                    .count = p->count,
                };
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
        .bundle = a->bundle_rows,
        .length = a->is.kind == LAYOUT_FULL ? a->is.bc : a->padded,
        .tall = a->tall,
        .carries = summation_carries(a),
    };
    while (1 << g->shape.shift < a->bundle_rows) g->shape.shift++;
}

static evn_status open_all(struct summation_gpu *g, const struct history *past) {
    static const char *const kernel[] = {[LAYOUT_ROWS] = "sum_rows",
                                         [LAYOUT_CONTIGUOUS] = "sum_contiguous",
                                         [LAYOUT_FULL] = "sum_full"};
    const struct layout *a = g->layout;
    const size_t blocks = (size_t)a->blocks;
    g->block = malloc(blocks * sizeof *g->block);
    g->number = malloc(blocks * sizeof *g->number);
    g->regions = malloc(blocks * sizeof *g->regions);
    g->span = malloc(blocks * sizeof *g->span);
    g->pair = malloc(blocks * sizeof *g->pair);
    if (!g->block || !g->number || !g->regions || !g->span || !g->pair)
        return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's tables");
    set_shape(g, past);
    evn_status status =
        evn_program_open(&g->program, g->device, source(a->is.single, a->wide), NULL);
    if (!status) status = evn_kernel_open(&g->kernel, g->program, kernel[a->is.kind]);
    if (!status) status = evn_kernel_open(&g->merge, g->program, "sum_pairs");
    if (!status) status = evn_buffer_open(&g->pairs, g->device, blocks * sizeof *g->pair);
    if (!status) status = evn_buffer_open(&g->past, g->device, past_bytes(past));
    if (!status) status = evn_buffer_open(&g->parts, g->device, parts_bytes(a));
    if (!status) status = evn_buffer_open(&g->blocks, g->device, blocks * sizeof *g->block);
    if (!status)
        status = evn_buffer_open(&g->sums, g->device, (size_t)g->slots * summation_sums_bytes(a));
    for (int f = 0; !status && f < 2; f++) status = evn_event_open(&g->flight[f].done, g->device);
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

/* The flight's work is done: others may have its place. */
static void leave(struct summation_gpu *g, struct flight *f) {
    if (f->count) evn_place_release(g->place, f->count, g->regions + f->first, g->space);
    f->count = 0;
}

void summation_gpu_close(struct summation_gpu *g) {
    if (!g) return;
    for (int f = 0; f < 2; f++) {
        leave(g, &g->flight[f]);
        evn_event_close(g->flight[f].done);
    }
    evn_event_close(g->fetched);
    evn_buffer_close(g->sums);
    evn_buffer_close(g->pairs);
    evn_buffer_close(g->blocks);
    evn_buffer_close(g->parts);
    evn_buffer_close(g->past);
    evn_kernel_close(g->merge);
    evn_kernel_close(g->kernel);
    evn_program_close(g->program);
    free(g->block);
    free(g->number);
    free(g->regions);
    free(g->span);
    free(g->pair);
    free(g);
}

/* ---- batches ---- */

/* The past of the batch's slices. */
static evn_status send_past(struct summation_gpu *g, const struct history *past, int first,
                            int last) {
    const struct layout *a = g->layout;
    const size_t column = past->stride * real(a);
    const int from = a->slice[first], to = a->slice[last + 1];
    g->shape.first = from;
    return evn_copy_to_device(g->queue, g->past, 0,
                              (const char *)past->value + (size_t)from * column,
                              (size_t)(to - from) * column);
}

/* What is on the device already comes first: what comes later pushes out what was used longest ago,
 * and in the order of blocks that would always be the very block that is wanted next. */
static void arrange(struct summation_gpu *g, int count, const int *block) {
    int n = 0;
    for (int there = 1; there >= 0; there--)
        for (int i = 0; i < count; i++)
            if (evn_place_valid(g->place, g->region[block[i]], g->space) == there)
                g->number[n++] = block[i];
    for (int i = 0; i < count; i++) g->regions[i] = g->region[g->number[i]];
}

/* The flight's blocks in order, so that neighbours meet. */
static void put_in_order(struct summation_gpu *g, const struct flight *f) {
    int *number = g->number + f->first;
    for (int i = 1; i < f->count; i++) { /* two ascending runs, mostly */
        const int b = number[i];
        int to = i;
        for (; to > 0 && number[to - 1] > b; to--) number[to] = number[to - 1];
        number[to] = b;
    }
    for (int i = 0; i < f->count; i++) g->regions[f->first + i] = g->region[number[i]];
}

/* The pairs of the tree's nodes of `size` blocks that the flight has both of, to `pair`; how many.
 */
static int pair_up(const struct summation_gpu *g, const struct flight *f, int size,
                   struct sum_pair *pair) {
    const int *number = g->number + f->first;
    int *span = g->span + f->first, n = 0;
    for (int i = 0; i + size < f->count; i++) {
        const int j = i + size;
        if (span[i] != size || span[j] != size || number[i] % (2 * size) ||
            number[j] != number[i] + size)
            continue;
        pair[n++] = (struct sum_pair){i, j};
        span[i] = 2 * size;
        span[j] = 0;
    }
    return n;
}

/* Adds up what the flight has of the tree, level by level. */
static evn_status merge(struct summation_gpu *g, const struct flight *f, int slot) {
    struct sum_pair *pair = g->pair + f->first;
    int pairs[32], levels = 0, all = 0;
    for (int i = 0; i < f->count; i++) g->span[f->first + i] = 1;
    for (int size = 1; size < f->count; size *= 2) {
        pairs[levels] = pair_up(g, f, size, pair + all);
        all += pairs[levels++];
    }
    if (!all) return EVN_OK;
    evn_status status = evn_copy_to_device(g->queue, g->pairs, (size_t)f->first * sizeof *pair,
                                           pair, (size_t)all * sizeof *pair);
    struct sum_merge shape = {.sums = g->shape.sums, .entry = f->first, .slot = slot};
    const int chunks = (int)((shape.sums + SUM_MERGED - 1) / SUM_MERGED);
    for (int l = 0; !status && l < levels; l++) {
        const evn_argument argument[] = {
            {.buffer = g->sums}, {.buffer = g->pairs}, {.value = &shape, .bytes = sizeof shape}};
        if (pairs[l])
            status = evn_launch(g->queue, g->merge, pairs[l] * chunks, evn_kernel_items(g->merge),
                                argument, 3);
        shape.entry += pairs[l];
    }
    return status;
}

/* Sums of the flight's blocks into `slot` and the following ones, and home from there. */
static evn_status sum(struct summation_gpu *g, const struct flight *f, int slot, char *home,
                      size_t home_bytes, int *span) {
    const struct layout *a = g->layout;
    evn_buffer *arena = evn_place_buffer(g->place, g->space);
    struct sum_block *block = g->block + f->first;
    put_in_order(g, f);
    for (int i = 0; i < f->count; i++) {
        const int b = g->number[f->first + i];
        block[i] = (struct sum_block){
            .at = (evn_long)evn_place_at(g->place, g->region[b], g->space),
            .first = a->slice[b],
            .end = a->slice[b + 1],
        };
    }
    evn_status status = evn_copy_to_device(g->queue, g->blocks, (size_t)f->first * sizeof *block,
                                           block, (size_t)f->count * sizeof *block);
    if (status) return status;
    g->shape.entry = f->first;
    g->shape.slot = slot;
    int groups = f->count * g->shape.tiles;
    if (a->is.kind == LAYOUT_CONTIGUOUS)
        groups = f->count * ((a->rows + SUM_ROWS - 1) / SUM_ROWS) *
                 (a->wide > SUM_STEPS ? a->wide / SUM_STEPS : 1);
    evn_argument argument[8];
    int n = 0;
    argument[n++] = (evn_argument){.buffer = arena};
    if (a->is.kind != LAYOUT_FULL) argument[n++] = (evn_argument){.buffer = arena};
    if (a->is.kind != LAYOUT_CONTIGUOUS) argument[n++] = (evn_argument){.buffer = arena};
    argument[n++] = (evn_argument){.buffer = g->past};
    argument[n++] = (evn_argument){.buffer = g->parts};
    argument[n++] = (evn_argument){.buffer = g->blocks};
    argument[n++] = (evn_argument){.buffer = g->sums};
    argument[n++] = (evn_argument){.value = &g->shape, .bytes = sizeof g->shape};
    status = evn_launch(g->queue, g->kernel, groups, evn_kernel_items(g->kernel), argument, n);
    if (!status) status = merge(g, f, slot);
    const size_t bytes = summation_sums_bytes(a);
    for (int i = 0; !status && i < f->count; i++) {
        const int b = g->number[f->first + i];
        span[b] = g->span[f->first + i];
        if (span[b])
            status = evn_copy_to_host(g->queue, home + (size_t)b * home_bytes, g->sums,
                                      (size_t)(slot + i) * bytes, bytes);
    }
    return status ? status : evn_event_record(f->done, g->queue);
}

static evn_status wait_for(struct summation_gpu *g, struct flight *f) {
    evn_status status = f->count ? evn_event_finish(f->done) : EVN_OK;
    leave(g, f);
    return status;
}

/* Blocks of a part: all of them if they fit; else so many that two parts do. */
static evn_status part_size(struct summation_gpu *g, int count, int *most) {
    int fit;
    evn_status status = evn_place_fits(g->place, count, g->regions, g->space, &fit);
    *most = count;
    if (fit >= count && count <= g->slots) return status;
    if (fit > g->slots) fit = g->slots;
    *most = fit > 1 ? fit / 2 : 1;
    return status;
}

/* Acquires the flight's regions. Where they find no room beside the other flight's, which may lie
 * in the middle of it, that one has to end first. */
static evn_status board(struct summation_gpu *g, struct flight *f, struct flight *other) {
    const int count = f->count;
    f->count = 0; /* nothing to be released yet */
    evn_status status =
        evn_place_acquire(g->place, count, g->regions + f->first, g->space, EVN_READ);
    if (status == EVN_MEMORY && other->count) {
        status = wait_for(g, other);
        if (!status)
            status = evn_place_acquire(g->place, count, g->regions + f->first, g->space, EVN_READ);
    }
    if (!status) f->count = count;
    return status;
}

void summation_gpu_fetch(struct summation_gpu *g, int count, const int *block) {
    for (int f = 0; f < 2; f++) leave(g, &g->flight[f]);
    if (!count) return;
    arrange(g, count, block);
    int fit = 0;
    evn_status status = evn_place_fits(g->place, count, g->regions, g->space, &fit);
    if (status) return;
    status = evn_place_acquire(g->place, fit, g->regions, g->space, EVN_READ);
    for (; status == EVN_MEMORY && fit > 1; fit /= 2) /* gaps between what is there */
        status = evn_place_acquire(g->place, fit / 2, g->regions, g->space, EVN_READ);
    if (!status) evn_place_release(g->place, fit, g->regions, g->space);
    g->has_fetched = !evn_event_record(g->fetched, g->queue);
}

void summation_gpu_fetched(struct summation_gpu *g) {
    if (g->has_fetched) evn_event_finish(g->fetched);
}

evn_status summation_gpu_batch(struct summation_gpu *g, int count, const int *block,
                               const struct history *past, char *sums, size_t sums_bytes,
                               int *span) {
    for (int f = 0; f < 2; f++) leave(g, &g->flight[f]);
    if (!count) return EVN_OK;
    arrange(g, count, block);
    int most;
    evn_status status = part_size(g, count, &most);
    if (!status) status = send_past(g, past, block[0], block[count - 1]);
    for (int first = 0, part = 0; !status && first < count; part++) {
        struct flight *f = &g->flight[part % 2], *other = &g->flight[(part + 1) % 2];
        status = wait_for(g, f);
        if (status) break;
        f->first = first;
        f->count = count - first < most ? count - first : most;
        status = board(g, f, other);
        while (status == EVN_MEMORY && f->first == first && most > 1) {
            most /= 2; /* blocks differ in size */
            f->count = most;
            status = board(g, f, other);
        }
        if (status) break;
        first += f->count;
        status = sum(g, f, most == count ? 0 : part % 2 * (g->slots / 2), sums, sums_bytes, span);
    }
    return status;
}
