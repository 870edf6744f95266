/* Runs: one message to each neighbour, the exchange within the rank while they travel, then the
 * loop. Values of regions are packed and unpacked in the host's memory. */
#include "distributed/inside.h"
#include "exchange/plan.h"
#include "base/argument.h"
#include <stdlib.h>
#include <string.h>

/* Stands before the values of a message. */
struct header {
    long long bytes;
    int status; /* status of the sender, which sends no values if it has failed */
    char room[52];
};
_Static_assert(sizeof(struct header) == 64, "values begin at a line of the cache");

static evn_status no_memory(const evn_distributed *d) {
    return evn_fail(EVN_MEMORY, "distributed: no memory for messages of %d tasks", d->tasks);
}

/* ---- ways ---------------------------------------------------------------------------------- */

void ways_close(evn_distributed *d) {
    for (int i = 0; i < d->ways; i++) {
        cluster_mail_close(d->cluster, d->way[i].out);
        cluster_mail_close(d->cluster, d->way[i].in);
    }
    free(d->way);
    free(d->packed);
    free(d->unpacked);
    d->way = NULL;
    d->packed = d->unpacked = NULL;
    d->ways = d->packs = d->unpacks = 0;
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

static int find_way(const evn_distributed *d, int rank) {
    int lo = 0, hi = d->ways - 1;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (d->way[mid].rank < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Neighbours, ascending. */
static evn_status find_ways(evn_distributed *d) {
    int *rank = malloc(((size_t)d->fars + (size_t)d->reads + 1) * sizeof *rank), count = 0;
    if (!rank) return no_memory(d);
    for (int i = 0; i < d->reads; i++) rank[count++] = d->read[i].rank;
    for (int i = 0; i < d->fars; i++) rank[count++] = d->face[d->far[i]].from.rank;
    count = sort_once(rank, count);
    d->way = calloc((size_t)count + 1, sizeof *d->way);
    for (int i = 0; d->way && i < count; i++) d->way[i].rank = rank[i];
    d->ways = d->way ? count : 0;
    free(rank);
    return d->way ? EVN_OK : no_memory(d);
}

static int region_of(const evn_distributed *d, int task, int slot) {
    return d->region[(size_t)task * (size_t)d->regions + (size_t)slot];
}

/* Where each face lies in its message, and the regions that messages are of. */
static evn_status lay_out(evn_distributed *d) {
    d->packed = malloc(((size_t)d->reads + 1) * sizeof *d->packed);
    d->unpacked = malloc(((size_t)d->fars + 1) * sizeof *d->unpacked);
    if (!d->packed || !d->unpacked) return no_memory(d);
    d->packs = d->unpacks = 0;
    for (int i = 0; i < d->reads; i++) {
        struct reading *r = &d->read[i];
        r->way = find_way(d, r->rank);
        r->at = d->way[r->way].out_bytes;
        d->way[r->way].out_bytes += bytes_of(d, &r->block);
        d->packed[d->packs++] = region_of(d, r->block.from, r->block.from_region);
    }
    for (int i = 0; i < d->fars; i++) {
        struct writing *f = &d->face[d->far[i]];
        f->way = find_way(d, f->from.rank);
        f->at = d->way[f->way].in_bytes;
        d->way[f->way].in_bytes += bytes_of(d, &f->block);
        d->unpacked[d->unpacks++] = region_of(d, f->to, f->block.to_region);
    }
    d->packs = sort_once(d->packed, d->packs);
    d->unpacks = sort_once(d->unpacked, d->unpacks);
    return EVN_OK;
}

evn_status ways_open(evn_distributed *d, evn_status mine) {
    ways_close(d);
    if (d->size == 1) return mine;
    /* another one for each plan: mail of the old size must not be taken for mail of the new one */
    const int tag = cluster_tag(d->cluster, CLUSTER_EXCHANGES);
    if (!mine) mine = find_ways(d);
    if (!mine) mine = lay_out(d);
    for (int i = 0; !mine && i < d->ways; i++) {
        struct neighbour *w = &d->way[i];
        if (w->out_bytes)
            mine = cluster_mail_open(d->cluster, &w->out, w->rank, tag, 1,
                                     sizeof(struct header) + w->out_bytes);
        if (!mine && w->in_bytes)
            mine = cluster_mail_open(d->cluster, &w->in, w->rank, tag, 0,
                                     sizeof(struct header) + w->in_bytes);
    }
    return mine;
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
        copy(d, &r->block, 0, region, d->way[r->way].out_room + sizeof(struct header) + r->at);
    }
    return evn_place_release(d->place, d->packs, d->packed, EVN_HOST);
}

static evn_status unpack(const evn_distributed *d) {
    evn_status status = evn_place_acquire(d->place, d->unpacks, d->unpacked, EVN_HOST, EVN_BOTH);
    if (status) return status;
    for (int i = 0; i < d->fars; i++) {
        const struct writing *f = &d->face[d->far[i]];
        char *region = evn_place_host(d->place, region_of(d, f->to, f->block.to_region));
        copy(d, &f->block, 1, region,
             (char *)(uintptr_t)d->way[f->way].in_room + sizeof(struct header) + f->at);
    }
    return evn_place_release(d->place, d->unpacks, d->unpacked, EVN_HOST);
}

/* ---- messages ------------------------------------------------------------------------------ */

/* The wire's own failures: EVN_STOPPED is returned; after another one neighbours wait in vain. */
static evn_status wired(const evn_distributed *d, evn_status status) {
    if (status && status != EVN_STOPPED) cluster_abort(d->cluster);
    return status;
}

/* Receives are announced, and room for messages is taken, before anything is sent. */
static evn_status begin(evn_distributed *d) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->ways; i++) {
        struct neighbour *w = &d->way[i];
        void *room = NULL;
        if (w->in) status = cluster_expect(d->cluster, w->in);
        if (!status && w->out) status = cluster_take(d->cluster, w->out, &room);
        w->out_room = room;
    }
    return wired(d, status);
}

static evn_status send(evn_distributed *d, evn_status mine) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->ways; i++) {
        struct neighbour *w = &d->way[i];
        if (!w->out) continue;
        const size_t bytes = mine ? 0 : w->out_bytes;
        const struct header h = {.bytes = (long long)bytes, .status = mine};
        memcpy(w->out_room, &h, sizeof h);
        status = cluster_send(d->cluster, w->out, sizeof h + bytes);
    }
    return wired(d, status);
}

/* All messages; *theirs: a neighbour has failed, which it says itself when all meet. */
static evn_status receive(evn_distributed *d, evn_status *theirs) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->ways; i++) {
        struct neighbour *w = &d->way[i];
        const void *data;
        size_t bytes;
        if (!w->in) continue;
        status = cluster_wait(d->cluster, w->in, &data, &bytes);
        if (status) break;
        struct header h;
        memcpy(&h, data, sizeof h);
        w->in_room = data;
        if (h.status)
            *theirs = evn_fail(EVN_STOPPED, "distributed: rank %d has failed: %s", w->rank,
                               evn_status_text((evn_status)h.status));
        else if (bytes != sizeof h + w->in_bytes)
            status =
                evn_fail(EVN_SYSTEM, "distributed: rank %d sent %zu bytes of faces, expected %zu",
                         w->rank, bytes - sizeof h, w->in_bytes);
    }
    return wired(d, status);
}

static void let_go(evn_distributed *d) {
    for (int i = 0; i < d->ways; i++) {
        struct neighbour *w = &d->way[i];
        if (w->in_room) cluster_release(d->cluster, w->in);
        w->in_room = NULL;
    }
}

/* `mine`: this rank's status so far, which its neighbours hear of. *stopped: the wire is of no use
 * any more. */
static evn_status exchange(evn_distributed *d, evn_status mine, int *stopped) {
    evn_status theirs = EVN_OK;
    if ((*stopped = begin(d) != EVN_OK)) return EVN_STOPPED;
    if (!mine && d->packs) mine = pack(d);
    if ((*stopped = send(d, mine) != EVN_OK)) return EVN_STOPPED;
    if (!mine && d->exchange) mine = evn_exchange_run(d->exchange);
    if ((*stopped = receive(d, &theirs) != EVN_OK)) return EVN_STOPPED;
    if (!mine) mine = theirs;
    if (!mine && d->unpacks) mine = unpack(d);
    let_go(d);
    return mine;
}

/* ---- runs ---------------------------------------------------------------------------------- */

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
    int stopped = 0;
    status = exchange(d, body ? EVN_OK : argument_missing(__func__, "a body"), &stopped);
    if (stopped) return status;
    if (!status && d->loop) status = evn_loop_run(d->loop, body, arg);
    status = distributed_agree(d, what, status);
    if (!status) learn(d);
    return status;
}
