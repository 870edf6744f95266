/* Runs: one message to each neighbour, the exchange within the rank while they travel, then the
 * loop. Values of regions are packed and unpacked in the host's memory. */
#include "domain/inside.h"
#include "exchange/plan.h"
#include "base/argument.h"
#include <stdlib.h>

/* ---- neighbours ---------------------------------------------------------------------------- */

void rank_messages_close(evn_distributed *d) {
    neighbours_close(&d->neighbours);
    free(d->packed);
    free(d->unpacked);
    d->packed = d->unpacked = NULL;
    d->packs = d->unpacks = 0;
}

static size_t bytes_of(const evn_distributed *d, const evn_face *f) {
    const struct shape s = exchange_shape(f, PACKED);
    return (size_t)s.n[0] * (size_t)s.n[1] * (size_t)s.n[2] * d->element;
}

static int ascending(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int sort_once(int *number, int count) {
    int once = 0;
    qsort(number, (size_t)count, sizeof *number, ascending);
    for (int i = 0; i < count; i++)
        if (!once || number[i] != number[once - 1]) number[once++] = number[i];
    return once;
}

static int region_of(const evn_distributed *d, int task, int slot) {
    return d->region[(size_t)task * (size_t)d->regions + (size_t)slot];
}

/* Neighbours, where each face lies in its message, and the regions that messages are of. */
static evn_status lay_out(evn_distributed *d) {
    struct neighbours *n = &d->neighbours;
    for (int i = 0; i < d->reads; i++) neighbours_note(n, d->read[i].rank);
    for (int i = 0; i < d->fars; i++) neighbours_note(n, d->face[d->far[i]].from.rank);
    const evn_status status = neighbours_list(n);
    if (status) return status;
    d->packed = malloc(((size_t)d->reads + 1) * sizeof *d->packed);
    d->unpacked = malloc(((size_t)d->fars + 1) * sizeof *d->unpacked);
    if (!d->packed || !d->unpacked)
        return evn_fail(EVN_MEMORY, "distributed: no memory for messages of %d tasks", d->tasks);
    for (int i = 0; i < d->reads; i++) {
        struct reading *r = &d->read[i];
        struct neighbour *w = neighbours_find(n, r->rank);
        r->at = w->out_bytes;
        w->out_bytes += bytes_of(d, &r->block);
        d->packed[d->packs++] = region_of(d, r->block.from, r->block.from_region);
    }
    for (int i = 0; i < d->fars; i++) {
        struct writing *f = &d->face[d->far[i]];
        struct neighbour *w = neighbours_find(n, f->from.rank);
        f->at = w->in_bytes;
        f->comes = 1;
        w->in_bytes += bytes_of(d, &f->block);
        d->unpacked[d->unpacks++] = region_of(d, f->to, f->block.to_region);
    }
    d->packs = sort_once(d->packed, d->packs);
    d->unpacks = sort_once(d->unpacked, d->unpacks);
    return EVN_OK;
}

evn_status rank_messages_open(evn_distributed *d, evn_status mine) {
    rank_messages_close(d);
    if (d->size == 1) return mine;
    const evn_status status = neighbours_open(&d->neighbours, d->cluster, "distributed");
    if (!mine) mine = status;
    if (!mine) mine = lay_out(d);
    return mine ? mine : neighbours_connect(&d->neighbours);
}

/* ---- values -------------------------------------------------------------------------------- */

/* Copies a face between its region and a message. */
static void copy(const evn_distributed *d, const evn_face *f, int in, char *region, char *message) {
    const struct shape packed = exchange_shape(f, PACKED);
    const struct shape shape = exchange_shape(f, in ? UNPACKED : PACKED);
    const long long element = (long long)d->element;
    const long long *stride = in ? f->to_stride : f->from_stride;
    char *here = region + (in ? f->to_at : f->from_at) * element;
    struct copy c = {.from = in ? message : here,
                     .to = in ? here : message,
                     .element = d->element,
                     .scale = shape.scale};
    long long along = element;
    for (int i = 2; i >= 0; i--) {
        c.n[i] = shape.n[i];
        *(in ? &c.from_stride[i] : &c.to_stride[i]) = along;
        *(in ? &c.to_stride[i] : &c.from_stride[i]) = stride[i] * element;
        along *= packed.n[i];
    }
    copy_block(&c);
}

static evn_status pack(const evn_distributed *d) {
    evn_status status = evn_place_acquire(d->place, d->packs, d->packed, EVN_HOST, EVN_READ);
    if (status) return status;
    for (int i = 0; i < d->reads; i++) {
        const struct reading *r = &d->read[i];
        char *region = evn_place_host(d->place, region_of(d, r->block.from, r->block.from_region));
        copy(d, &r->block, 0, region, neighbours_find(&d->neighbours, r->rank)->out + r->at);
    }
    return evn_place_release(d->place, d->packs, d->packed, EVN_HOST);
}

static evn_status unpack(const evn_distributed *d) {
    evn_status status = evn_place_acquire(d->place, d->unpacks, d->unpacked, EVN_HOST, EVN_BOTH);
    if (status) return status;
    for (int i = 0; i < d->fars; i++) {
        const struct writing *f = &d->face[d->far[i]];
        char *region = evn_place_host(d->place, region_of(d, f->to, f->block.to_region));
        copy(d, &f->block, 1, region, neighbours_find(&d->neighbours, f->from.rank)->in + f->at);
    }
    return evn_place_release(d->place, d->unpacks, d->unpacked, EVN_HOST);
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* `mine`: this rank's status so far, which its neighbours hear of. */
static evn_status exchange(evn_distributed *d, evn_status mine) {
    struct neighbours *n = &d->neighbours;
    neighbours_next(n);
    const evn_status begun = neighbours_begin(n);
    if (!mine) mine = begun;
    if (!mine && d->packs) mine = pack(d);
    const evn_status sent = neighbours_send(n, mine);
    if (!mine) mine = sent;
    if (!mine && d->exchange) mine = evn_exchange_run(d->exchange);
    for (int i = 0; !mine && i < n->count; i++)
        if (n->of[i].in_bytes) mine = neighbour_receive(n, &n->of[i]);
    if (!mine && d->unpacks) mine = unpack(d);
    neighbours_settle(n);
    return mine;
}

/* Half of what was believed, half of what was measured. */
static void learn(evn_distributed *d) {
    const double *seconds = d->loop ? evn_loop_seconds(d->loop) : NULL;
    for (int t = 0; t < d->tasks; t++)
        d->seconds[t] =
            d->learnt && d->seconds[t] > 0 ? (d->seconds[t] + seconds[t]) / 2 : seconds[t];
    d->learnt = 1;
    if (d->counts && d->instances) d->instances--;
}

evn_status evn_distributed_run(evn_distributed *d, evn_body body, void *arg) {
    static const char *const what = "evn_distributed_run()";
    NEED(d, "distributed tasks");
    evn_status status = distributed_may(d, what);
    if (status) return status;
    distributed_end_births(d);
    status = exchange(d, body ? EVN_OK : argument_missing(__func__, "a body"));
    if (!status && d->loop) status = evn_loop_run(d->loop, body, arg);
    status = distributed_agree(d, what, status);
    if (!status) learn(d);
    return status;
}
