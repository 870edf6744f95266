/* Batches of blocks on a device. A batch that fits is one upload of the past, two launches and one
 * message home.
 *
 * Of one that does not fit some blocks stay, always the same ones, and the others stream, with two
 * batches in flight: while one is summed the next one is in transfer. So a group of steps takes as
 * long as the one before, and a schedule can learn from it. What is still there from the last
 * batches comes first. */
#include "tdbem/layout/stream.h"
#include "tdbem/summation/summation_gpu_inside.h"
#include <stdlib.h>
#include <string.h>

/* Regions of blocks; until the next call. */
static const int *regions(const struct summation_gpu *g, int count, const int *block) {
    for (int i = 0; i < count; i++) g->regions[i] = g->region[block[i]];
    return g->regions;
}

static void release(const struct summation_gpu *g, int count, const int *block) {
    evn_place_release(g->place, count, regions(g, count, block), g->space);
}

/* Acquires blocks, all or none: one after the other where the host has them on disk, since it may
 * have room for one only. */
static evn_status acquire(struct summation_gpu *g, int count, const int *block) {
    struct stream *stream = g->layout->stream;
    evn_status status = EVN_OK;
    int have = 0;
    if (!stream)
        return evn_place_acquire(g->place, count, regions(g, count, block), g->space, EVN_READ);
    while (!status && have < count) {
        const int region = g->region[block[have]];
        const int there = evn_place_valid(g->place, region, g->space);
        if (!there) status = stream_hold(stream, block[have]);
        if (status) break;
        status = evn_place_acquire(g->place, 1, &region, g->space, EVN_READ);
        if (!there) stream_drop(stream, block[have], g->layout->tiles);
        if (!status) have++;
    }
    if (status) release(g, have, block);
    return status;
}

static void drop(struct summation_gpu *g, struct stream_batch *f) {
    release(g, f->count, f->block);
    f->count = 0;
}

static evn_status wait_for(struct summation_gpu *g, struct stream_batch *f) {
    evn_status status = f->count ? evn_event_finish(f->done, NULL) : EVN_OK;
    drop(g, f);
    return status;
}

/* ---- what stays ---- */

/* The batch's blocks, what is on the device first. */
static void arrange(struct summation_gpu *g, int count, const int *block) {
    int n = 0;
    for (int there = 1; there >= 0; there--)
        for (int i = 0; i < count; i++)
            if (evn_place_valid(g->place, g->region[block[i]], g->space) == there)
                g->ordered[n++] = block[i];
}

static void give_up(struct summation_gpu *g, int holds) {
    while (g->holds > holds) {
        const int block = g->held[--g->holds];
        release(g, 1, &block);
        g->stays[block] = 0;
    }
}

static size_t bytes_of(const struct summation_gpu *g, int block) {
    return g->layout->begin[block + 1] - g->layout->begin[block];
}

void batch_close(struct summation_gpu *g) {
    for (int f = 0; f < 2; f++) drop(g, &g->in_flight[f]);
    give_up(g, 0);
}

void summation_gpu_forget(struct summation_gpu *g) {
    evn_queue_finish(g->queue);
    batch_close(g);
    g->knows = 0;
}

/* How many of the first of g->ordered stay. All, if they fit; else as many as leave room for two
 * batches in flight, and for a block more, since blocks differ and gaps between them are of no use.
 * Such a batch is of some blocks where there are many, since a launch of few keeps few cores busy.
 */
static int how_many_stay(struct summation_gpu *g, int count, int fit) {
    if (fit >= count) return count;
    const size_t room = evn_buffer_bytes(evn_place_buffer(g->place, g->space));
    size_t max = 0, sum = 0;
    for (int i = 0; i < count; i++)
        if (bytes_of(g, g->ordered[i]) > max) max = bytes_of(g, g->ordered[i]);
    g->streamed = fit < 16 ? 1 : fit / 16;
    const size_t others = (2 * (size_t)g->streamed + 1) * max;
    int stay = 0;
    while (stay < count && sum + bytes_of(g, g->ordered[stay]) + others <= room)
        sum += bytes_of(g, g->ordered[stay++]);
    return stay;
}

/* Chooses the blocks that stay, and fetches them. */
static evn_status settle(struct summation_gpu *g, int count, const int *block) {
    if (g->knows == count && !memcmp(g->known, block, sizeof *block * (size_t)count)) return EVN_OK;
    give_up(g, 0);
    g->knows = 0;
    arrange(g, count, block);
    int fit;
    evn_status status =
        evn_place_fits(g->place, count, regions(g, count, g->ordered), g->space, &fit);
    if (status) return status;
    int stay = how_many_stay(g, count, fit);
    while (stay) {
        status = acquire(g, stay, g->ordered);
        if (status != EVN_MEMORY) break;
        stay = stay < 2 ? 0 : stay - stay / 8 - 1; /* gaps between what is there */
        status = EVN_OK;
    }
    if (status) return status;
    g->holds = stay;
    memcpy(g->held, g->ordered, sizeof *g->held * (size_t)stay);
    for (int i = 0; i < stay; i++) g->stays[g->held[i]] = 1;
    g->knows = count;
    memcpy(g->known, block, sizeof *block * (size_t)count);
    return EVN_OK;
}

void summation_gpu_fetch(struct summation_gpu *g, int count, const int *block) {
    for (int f = 0; f < 2; f++) drop(g, &g->in_flight[f]);
    if (!count || settle(g, count, block)) return;
    g->has_fetched = !evn_event_record(g->fetched, g->queue);
}

void summation_gpu_fetched(struct summation_gpu *g) {
    if (g->has_fetched) evn_event_finish(g->fetched, NULL);
}

/* ---- sums of blocks ---- */

/* The past of the batch's slices. */
static evn_status send_past(struct summation_gpu *g, const struct history *past, int first,
                            int last) {
    const struct layout *a = g->layout;
    const size_t column = past->stride * (a->is.single ? sizeof(float) : sizeof(double));
    const int from = a->slice[first], to = a->slice[last + 1];
    g->shape.first = from;
    return evn_copy_to_device(g->queue, g->past, 0,
                              (const char *)past->value + (size_t)from * column,
                              (size_t)(to - from) * column);
}

/* Sums of so many blocks that are on the device, to their slots. */
static evn_status sum(struct summation_gpu *g, int count, const int *number) {
    const struct layout *a = g->layout;
    struct sum_block *block = g->block + g->entries;
    evn_buffer *arena = evn_place_buffer(g->place, g->space);
    for (int i = 0; i < count; i++)
        block[i] = (struct sum_block){
            .at = (evn_long)evn_place_at(g->place, g->region[number[i]], g->space),
            .first = a->slice[number[i]],
            .end = a->slice[number[i] + 1],
            .slot = g->slot[number[i]],
            .number = number[i],
        };
    g->shape.entry = g->entries;
    g->entries += count;
    evn_status status =
        evn_copy_to_device(g->queue, g->blocks, (size_t)g->shape.entry * sizeof *block, block,
                           (size_t)count * sizeof *block);
    int groups = count * g->shape.tiles;
    if (a->is.kind == LAYOUT_CONTIGUOUS || a->strip)
        groups = count * ((a->rows + SUM_ROWS - 1) / SUM_ROWS) *
                 (a->wide > SUM_STEPS ? a->wide / SUM_STEPS : 1);
    evn_argument argument[8];
    int n = 0;
    argument[n++] = (evn_argument){.buffer = arena};
    if (a->is.kind != LAYOUT_FULL) argument[n++] = (evn_argument){.buffer = arena};
    if (a->is.kind != LAYOUT_CONTIGUOUS && !a->strip)
        argument[n++] = (evn_argument){.buffer = arena};
    argument[n++] = (evn_argument){.buffer = g->past};
    argument[n++] = (evn_argument){.buffer = g->parts};
    argument[n++] = (evn_argument){.buffer = g->blocks};
    argument[n++] = (evn_argument){.buffer = g->sums};
    argument[n++] = (evn_argument){.value = &g->shape, .bytes = sizeof g->shape};
    return status ? status : evn_launch(g->queue, g->kernel, groups, 0, argument, n);
}

/* Acquires the batch's regions. Where they find no room beside the other one's, which may lie
 * in the middle of it, that one has to end first; and one that is alone may need the place of a
 * block that would have stayed. */
static evn_status acquire_batch(struct summation_gpu *g, struct stream_batch *f,
                                struct stream_batch *other, int count) {
    for (;;) {
        evn_status status = acquire(g, count, f->block);
        if (!status) f->count = count;
        if (status != EVN_MEMORY) return status;
        if (other->count) {
            status = wait_for(g, other);
        } else if (count == 1 && g->holds) {
            status = evn_queue_finish(g->queue);
            give_up(g, g->holds - 1);
        } else {
            return status;
        }
        if (status) return status;
    }
}

/* Sums of blocks that do not stay, part by part. */
static evn_status stream(struct summation_gpu *g, int count, const int *number) {
    evn_status status = EVN_OK;
    int max = g->streamed;
    for (int first = 0, half = 0; !status && first < count; half = !half) {
        struct stream_batch *f = &g->in_flight[half];
        status = wait_for(g, f);
        if (status) break;
        f->block = number + first;
        int n = count - first < max ? count - first : max;
        status = acquire_batch(g, f, &g->in_flight[!half], n);
        for (; status == EVN_MEMORY && n > 1; max = n) /* blocks differ in size */
            status = acquire_batch(g, f, &g->in_flight[!half], n /= 2);
        if (!status) status = sum(g, n, number + first);
        if (!status) status = evn_event_record(f->done, g->queue);
        first += n;
    }
    return status;
}

/* ---- sums of nodes ---- */

/* The tree's largest nodes that the piece has all blocks of. Their sums will be in the first slots,
 * in order. How many. */
static int find_nodes(struct summation_gpu *g, int count, const int *number,
                      struct summation_node *node) {
    const int nodes = summation_nodes(count, number, g->layout->blocks, node);
    for (int i = 0, first = 0, other = nodes; i < count; i++)
        g->slot[number[i]] = node[number[i]].span ? first++ : other++;
    return nodes;
}

/* Adds up each node, level by level. */
static evn_status merge(struct summation_gpu *g, int count, const int *number,
                        const struct summation_node *node) {
    struct sum_pair *pair = g->pair + g->paired;
    int pairs = 0;
    for (int size = 1, more = 1; more; size *= 2) {
        more = 0;
        for (int i = 0; i < count; i++) {
            const int span = node[number[i]].span;
            more |= span > 2 * size;
            for (int k = 0; k + size < span; k += 2 * size)
                pair[pairs++] =
                    (struct sum_pair){g->slot[number[i + k]], g->slot[number[i + k + size]]};
        }
    }
    if (!pairs) return EVN_OK;
    struct sum_merge shape = {.sums = g->shape.sums, .entry = g->paired, .pairs = pairs};
    evn_status status = evn_copy_to_device(g->queue, g->pairs, (size_t)g->paired * sizeof *pair,
                                           pair, (size_t)pairs * sizeof *pair);
    g->paired += pairs;
    const evn_argument argument[] = {
        {.buffer = g->sums}, {.buffer = g->pairs}, {.value = &shape, .bytes = sizeof shape}};
    const int groups = (int)((shape.sums + SUM_MERGED - 1) / SUM_MERGED);
    return status ? status : evn_launch(g->queue, g->merge, groups, 0, argument, 3);
}

void summation_gpu_begin(struct summation_gpu *g) { g->used = g->spilt = 0; }

/* Sums of the piece's nodes, in one message. */
static evn_status send_home(struct summation_gpu *g, int count, const int *number, int nodes,
                            struct summation_node *node) {
    const size_t bytes = summation_sums_bytes(g->layout);
    char *to;
    if (g->used + nodes <= g->home_nodes) {
        to = g->home + (size_t)g->used * bytes;
        g->used += nodes;
    } else {
        if (!g->spill) g->spill = aligned_alloc(64, (size_t)g->layout->blocks * bytes);
        if (!g->spill)
            return evn_fail(EVN_MEMORY, "td-bem: not enough memory for a device's sums, %.3g GB",
                            (double)bytes * g->layout->blocks * 1e-9);
        to = g->spill + (size_t)g->spilt * bytes;
        g->spilt += nodes;
    }
    for (int i = 0; i < count; i++)
        if (node[number[i]].span) node[number[i]].sums = to + (size_t)g->slot[number[i]] * bytes;
    return evn_copy_to_host(g->queue, to, g->sums, 0, (size_t)nodes * bytes);
}

/* Blocks whose sums have slots together. */
static evn_status do_piece(struct summation_gpu *g, int count, const int *number,
                           struct summation_node *node) {
    const int nodes = find_nodes(g, count, number, node);
    int stay = 0, first = 0;
    for (int i = 0; i < count; i++)
        if (g->stays[number[i]]) g->part[stay++] = number[i];
    evn_status status = stay ? sum(g, stay, g->part) : EVN_OK;
    for (int there = 1; there >= 0; there--)
        for (int i = 0; i < count; i++)
            if (!g->stays[number[i]] &&
                evn_place_valid(g->place, g->region[number[i]], g->space) == there)
                g->part[first++] = number[i];
    if (!status) status = stream(g, first, g->part);
    if (!status) status = merge(g, count, number, node);
    return status ? status : send_home(g, count, number, nodes, node);
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

evn_status summation_gpu_batch(struct summation_gpu *g, int count, const int *block,
                               const struct history *past, struct summation_node *node) {
    for (int f = 0; f < 2; f++) drop(g, &g->in_flight[f]);
    if (!count) return EVN_OK;
    g->entries = g->paired = 0;
    evn_status status = settle(g, count, block);
    if (!status) status = send_past(g, past, block[0], block[count - 1]);
    if (count <= g->slots) return status ? status : do_piece(g, count, block, node);
    arrange(g, count, block);
    for (int first = 0; !status && first < count; first += g->slots) {
        const int n = count - first < g->slots ? count - first : g->slots;
        for (int f = 0; !status && f < 2; f++) status = wait_for(g, &g->in_flight[f]);
        memcpy(g->piece, g->ordered + first, sizeof *g->piece * (size_t)n);
        qsort(g->piece, (size_t)n, sizeof *g->piece, ascending);
        if (!status) status = do_piece(g, n, g->piece, node);
    }
    return status;
}
