/* Copies of blocks by a device, in one launch. Its kernels handle three indices and words of 8, 4
 * or 1 bytes; elements are composed of these. */
#include "exchange/copies.h"
#include "device/ops/exchange_devices.h"
#include <stdlib.h>
#include <string.h>

/* Blocks sent along with others are so few as take less time than a copy of their own. */
enum { CLOSE = 64 };

/* A block of words before it is what a kernel knows. */
struct words {
    long long from, to, from_stride[4], to_stride[4], n[4];
    int scale[4]; /* EXCHANGE_MEAN or EXCHANGE_REPEAT of each index; 0 */
    int floats;   /* EXCHANGE_FLOATS: means are of floats; 0: of doubles */
};

static int word_of(size_t element) { return element % 8 == 0 ? 8 : element % 4 == 0 ? 4 : 1; }

const char *copies_kernel(size_t element) {
    const int word = word_of(element);
    return word == 8 ? "exchange_copy8" : word == 4 ? "exchange_copy4" : "exchange_copy1";
}

static int count_pieces(const struct exchange_block *b) {
    return (b->n[0] * b->n[1] * b->n[2] + EXCHANGE_PIECE - 1) / EXCHANGE_PIECE;
}

/* A block of the list on the device is another one; without memory to note it all are sent. */
static void renew(struct copies *c, int block) {
    if (block >= c->sent_blocks) return;
    int *more = array_grow(c->renewed, c->renewals, &c->renewed_room, sizeof *more);
    if (more) {
        c->renewed = more;
        c->renewed[c->renewals++] = block;
    } else {
        c->sent_blocks = c->sent_pieces = c->renewals = 0;
    }
}

/* A new block with its pieces. */
static int append_block(struct copies *c, int pieces) {
    struct exchange_block *more = array_grow(c->block, c->blocks, &c->block_room, sizeof *more);
    if (!more) return -1;
    c->block = more;
    int *next = array_grow(c->next, c->blocks, &c->next_room, sizeof *next);
    if (!next) return -1;
    c->next = next;
    for (int i = 0; i < pieces; i++) {
        struct exchange_piece *piece =
            array_grow(c->piece, c->pieces, &c->piece_room, sizeof *piece);
        if (!piece) return -1;
        c->piece = piece;
        c->piece[c->pieces++] = (struct exchange_piece){c->blocks, i * EXCHANGE_PIECE};
    }
    return c->blocks++;
}

/* A block that was taken out and has so many pieces; -1: there is none. */
static int take_spare(struct copies *c, int pieces) {
    const int block = pieces <= SPARES ? c->spare[pieces - 1] - 1 : -1;
    if (block < 0) return -1;
    c->spare[pieces - 1] = c->next[block] + 1;
    renew(c, block);
    return block;
}

static int add_block(struct copies *c, const struct words *w) {
    struct exchange_block block = {.from = w->from, .to = w->to, .scale = w->floats};
    for (int d = 0; d < 3; d++) {
        block.from_stride[d] = w->from_stride[d + 1];
        block.to_stride[d] = w->to_stride[d + 1];
        block.n[d] = (int)w->n[d + 1];
        block.scale |= w->scale[d + 1] << 2 * d;
    }
    const int pieces = count_pieces(&block);
    int at = take_spare(c, pieces);
    if (at < 0) at = append_block(c, pieces);
    if (at < 0) return -1;
    c->block[at] = block;
    c->next[at] = -1;
    if (c->first < 0)
        c->first = at;
    else
        c->next[c->last] = at;
    c->last = at;
    return 0;
}

void copies_cut_blocks(struct copies *c, int first) {
    for (int b = first, next; b >= 0; b = next) {
        const int pieces = count_pieces(&c->block[b]);
        next = c->next[b];
        memset(c->block[b].n, 0, sizeof c->block[b].n);
        renew(c, b);
        if (pieces > SPARES) continue;
        c->next[b] = c->spare[pieces - 1] - 1;
        c->spare[pieces - 1] = b + 1;
    }
}

static void set_index(struct words *w, int to, int from) {
    w->n[to] = w->n[from];
    w->from_stride[to] = w->from_stride[from];
    w->to_stride[to] = w->to_stride[from];
    w->scale[to] = w->scale[from];
}

/* Makes an index the first one. The others keep their order, in which means are summed. */
static void put_first(struct words *w, int index) {
    struct words first = *w;
    set_index(&first, 0, index);
    for (int d = index; d > 0; d--) set_index(w, d, d - 1);
    w->n[0] = first.n[0];
    w->from_stride[0] = first.from_stride[0];
    w->to_stride[0] = first.to_stride[0];
    w->scale[0] = first.scale[0];
}

/* Whether an index is none once it has one value: not of means, which read two. */
static int can_vanish(const struct words *w, int d) { return w->scale[d] != EXCHANGE_MEAN; }

/* Makes do with indices 1 to 3 where it can: words of elements that lie one after another belong to
 * these elements' index, and indices that have one value only are none. What is left at 0 is the
 * shorter one of the outer two; or, if these are of means, one that is not: words of an element. */
static void fold(struct words *w) {
    if (w->n[3] > 1 && !w->scale[2] && w->from_stride[2] == w->n[3] && w->to_stride[2] == w->n[3]) {
        w->n[3] *= w->n[2];
        w->n[2] = 1;
    }
    int last = 3;
    for (int d = 3; d >= 0; d--)
        if (w->n[d] != 1 || !can_vanish(w, d)) set_index(w, last--, d);
    for (; last >= 0; last--) {
        w->n[last] = 1;
        w->from_stride[last] = w->to_stride[last] = 0;
        w->scale[last] = 0;
    }
    if (w->n[0] > w->n[1] && can_vanish(w, 0) && can_vanish(w, 1)) put_first(w, 1);
    for (int d = 1; d < 4 && !can_vanish(w, 0); d++)
        if (can_vanish(w, d)) put_first(w, d);
}

/* Adds the block, in halves of halves until each has three indices and not too many words. */
static int add_parts(struct copies *c, const struct words *w) {
    if (w->n[0] == 1 && w->n[1] * w->n[2] * w->n[3] <= EXCHANGE_WORDS) return add_block(c, w);
    int d = 0;
    while (w->n[d] == 1) d++;
    struct words low = *w, high = *w;
    long long half = w->n[d] / 2, sources = half;
    if (w->scale[d] == EXCHANGE_REPEAT) { /* the high part begins with a new value, or has one */
        if (w->n[d] > 2) half = (half + 1) / 2 * 2;
        sources = half / 2;
    }
    if (w->scale[d] == EXCHANGE_MEAN) sources = 2 * half;
    low.n[d] = half;
    high.n[d] -= half;
    high.from += sources * w->from_stride[d];
    high.to += half * w->to_stride[d];
    return add_parts(c, &low) || add_parts(c, &high) ? -1 : 0;
}

int copies_add_to_device(struct copies *c, struct shape shape, size_t element,
                         const struct side *from, const struct side *to) {
    const int word = word_of(element);
    struct words w = {
        .from = from->at / word, .to = to->at / word, .floats = shape.scale & EXCHANGE_FLOATS};
    for (int d = 0; d < 3; d++) {
        w.n[d] = shape.n[d];
        w.scale[d] = shape.scale >> 2 * d & (EXCHANGE_MEAN | EXCHANGE_REPEAT);
        w.from_stride[d] = from->stride[d] / word;
        w.to_stride[d] = to->stride[d] / word;
    }
    w.n[3] = (long long)element / word;
    w.from_stride[3] = w.to_stride[3] = 1;
    fold(&w);
    c->first = -1;
    return add_parts(c, &w);
}

evn_status buffer_of_at_least(evn_buffer **buffer, evn_device *device, size_t bytes) {
    if (!bytes || (*buffer && evn_buffer_bytes(*buffer) >= bytes)) return EVN_OK;
    evn_buffer_close(*buffer);
    *buffer = NULL;
    return evn_buffer_open(buffer, device, bytes);
}

/* A list's room on the device; where it has to grow, by more than it must. *kept: it is as it was.
 */
static evn_status make_room(evn_buffer **buffer, evn_device *device, size_t bytes, int *kept) {
    *kept = *buffer && evn_buffer_bytes(*buffer) >= bytes;
    return *kept ? EVN_OK : buffer_of_at_least(buffer, device, *buffer ? bytes + bytes / 8 : bytes);
}

static evn_status send_blocks(const struct copies *c, evn_queue *queue, int from, int to) {
    const size_t size = sizeof *c->block, at = (size_t)from * size;
    return from == to ? EVN_OK
                      : evn_copy_to_device(queue, c->block_buffer, at, c->block + from,
                                           (size_t)(to - from) * size);
}

static int ascending(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Blocks that are others now; those that are close go together. */
static evn_status send_renewed(struct copies *c, evn_queue *queue) {
    evn_status status = EVN_OK;
    if (!c->renewals) return EVN_OK;
    qsort(c->renewed, (size_t)c->renewals, sizeof *c->renewed, ascending);
    for (int i = 0; !status && i < c->renewals;) {
        const int from = c->renewed[i];
        int to = from + 1;
        for (; i < c->renewals && c->renewed[i] < to + CLOSE; i++) to = c->renewed[i] + 1;
        status = send_blocks(c, queue, from, to);
    }
    return status;
}

evn_status copies_send(struct copies *c, evn_device *device, evn_queue *queue) {
    if (!c->pieces) return EVN_OK;
    const size_t blocks = (size_t)c->blocks * sizeof *c->block, piece = sizeof *c->piece;
    int kept[2] = {0};
    evn_status status = make_room(&c->block_buffer, device, blocks, &kept[0]);
    if (!status) status = make_room(&c->piece_buffer, device, (size_t)c->pieces * piece, &kept[1]);
    if (!kept[0]) c->sent_blocks = c->renewals = 0;
    if (!kept[1]) c->sent_pieces = 0;
    if (!status) status = send_renewed(c, queue);
    if (!status) status = send_blocks(c, queue, c->sent_blocks, c->blocks);
    if (!status && c->sent_pieces < c->pieces)
        status = evn_copy_to_device(queue, c->piece_buffer, (size_t)c->sent_pieces * piece,
                                    c->piece + c->sent_pieces,
                                    (size_t)(c->pieces - c->sent_pieces) * piece);
    if (status) return status;
    c->sent_blocks = c->blocks;
    c->sent_pieces = c->pieces;
    c->renewals = 0;
    return EVN_OK;
}

evn_status copies_launch(const struct copies *c, evn_queue *queue, evn_kernel *kernel,
                         evn_buffer *from, evn_buffer *to) {
    if (!c->pieces) return EVN_OK;
    const evn_argument argument[] = {
        {.buffer = from}, {.buffer = to}, {.buffer = c->block_buffer}, {.buffer = c->piece_buffer}};
    return evn_launch(queue, kernel, c->pieces, 0, argument, 4);
}
