/* Puts of several blocks, and of a device's memory. */
#include "pgas/inside.h"
#include <evener/device.h>
#include <stdint.h>
#include <stdlib.h>

/* Whether the last block ends within a size_t: *end, from the first one's begin. */
static int ends(const evn_shared_blocks *b, size_t apart, size_t *end) {
    const size_t last = (size_t)b->count - 1;
    if (last && apart > (SIZE_MAX - b->bytes) / last) return 0;
    *end = last * apart + b->bytes;
    return 1;
}

evn_status evn_shared_put_blocks(evn_shared *s, int to, size_t at, const void *from,
                                 const evn_shared_blocks *blocks) {
    static const char what[] = "evn_shared_put_blocks()";
    size_t end = 0, here = 0;
    if (!s) return evn_fail(EVN_USAGE, "%s: the shared memory is NULL", what);
    if (!blocks) return evn_fail(EVN_USAGE, "%s: the blocks are NULL", what);
    if (blocks->count < 0)
        return evn_fail(EVN_USAGE, "%s: %d blocks, expected 0 or more", what, blocks->count);
    if (blocks->count > 1 && blocks->there < blocks->bytes)
        return evn_fail(EVN_USAGE,
                        "%s: blocks of %zu bytes begin %zu apart at the target, and "
                        "would overlap",
                        what, blocks->bytes, blocks->there);
    if (blocks->count && (!ends(blocks, blocks->there, &end) || !ends(blocks, blocks->here, &here)))
        return evn_fail(EVN_USAGE, "%s: %d blocks of %zu bytes end beyond all memory", what,
                        blocks->count, blocks->bytes);
    evn_status status = shared_check_put(s, what, to, at, from, end);
    for (int i = 0; !status && blocks->bytes && i < blocks->count; i++)
        status = evn_shared_put(s, to, at + (size_t)i * blocks->there,
                                (const char *)from + (size_t)i * blocks->here, blocks->bytes);
    return status;
}

/* ---- a device's memory ---------------------------------------------------------------------- */

static evn_status copy_out(evn_queue *q, void *to, evn_buffer *b, size_t from, size_t bytes) {
    evn_status status = evn_copy_to_host(q, to, b, from, bytes);
    const evn_status finished = evn_queue_finish(q);
    return status ? status : finished;
}

static evn_status copy_in(evn_queue *q, evn_buffer *b, size_t to, const void *from, size_t bytes) {
    evn_status status = evn_copy_to_device(q, b, to, from, bytes);
    const evn_status finished = evn_queue_finish(q);
    return status ? status : finished;
}

static evn_status no_stage(const char *what, size_t bytes) {
    return evn_fail(EVN_MEMORY, "%s: no memory for %zu bytes on their way", what, bytes);
}

static evn_status check_device(const evn_shared *s, const char *what, int rank, size_t at,
                               const evn_queue *queue, const evn_buffer *buffer, size_t bytes) {
    evn_status status = shared_check_put(s, what, rank, at, "", bytes);
    if (!status && (!queue || !buffer))
        status = evn_fail(EVN_USAGE, "%s: the %s is NULL", what, queue ? "buffer" : "queue");
    return status;
}

evn_status evn_shared_put_device(evn_shared *s, int to, size_t at, evn_queue *queue,
                                 evn_buffer *buffer, size_t from, size_t bytes) {
    static const char what[] = "evn_shared_put_device()";
    evn_status status = check_device(s, what, to, at, queue, buffer, bytes);
    if (status || !bytes) return status;
    if (s->there[to]) {
        status = copy_out(queue, s->there[to] + s->begin + at, buffer, from, bytes);
        if (!status) shared_count(s, to, bytes);
        return status;
    }
    void *stage = malloc(bytes);
    if (!stage) return no_stage(what, bytes);
    status = copy_out(queue, stage, buffer, from, bytes);
    if (!status) status = evn_shared_put(s, to, at, stage, bytes);
    if (!status) status = evn_shared_flush(s, to);
    free(stage);
    return status;
}

evn_status evn_shared_get_device(evn_shared *s, int from, size_t at, evn_queue *queue,
                                 evn_buffer *buffer, size_t to, size_t bytes) {
    static const char what[] = "evn_shared_get_device()";
    evn_status status = check_device(s, what, from, at, queue, buffer, bytes);
    if (status || !bytes) return status;
    void *stage = malloc(bytes);
    if (!stage) return no_stage(what, bytes);
    status = evn_shared_get(s, from, at, stage, bytes);
    if (!status) status = evn_shared_flush(s, from);
    if (!status) status = copy_in(queue, buffer, to, stage, bytes);
    free(stage);
    return status;
}
