/* Ranks tell each other something, without an array of all of it anywhere: numbers of all ranks by
 * the control tree, packets between any ranks by halving. */
#include "domain/inside.h"
#include "cluster/collective_record.h"
#include <stdlib.h>
#include <string.h>

/* ---- all ranks ----------------------------------------------------------------------------- */

evn_status distributed_agree(const evn_distributed *d, const char *what, evn_status mine) {
    if (d->size == 1) return mine;
    return cluster_agree(d->cluster, what, mine);
}

evn_status distributed_allgather(const evn_distributed *d, const char *what, evn_status mine,
                                 const void *up, size_t bytes, void *all) {
    if (d->size == 1) {
        if (!mine) memcpy(all, up, bytes);
        return mine;
    }
    return cluster_allgather(d->cluster, what, mine, up, bytes, all);
}

/* ---- packets ------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes) { return (bytes + 7) / 8 * 8; }

evn_status packets_add(struct record *packets, int from, int to, const void *data, size_t bytes) {
    static const char nothing[8];
    const struct packet l = {from, to, bytes};
    const size_t before = packets->bytes;
    evn_status status = record_add(packets, &l, sizeof l);
    if (!status && bytes) status = record_add(packets, data, bytes);
    if (!status && rounded(bytes) > bytes)
        status = record_add(packets, nothing, rounded(bytes) - bytes);
    if (status) packets->bytes = before;
    return status;
}

const struct packet *packets_next(const struct record *packets, size_t *at) {
    if (*at >= packets->bytes) return NULL;
    const struct packet *l = (const struct packet *)(const void *)(packets->data + *at);
    *at += sizeof *l + rounded(l->bytes);
    return l;
}

/* A round: the ranks lo .. lo + n - 1 are halved, and each rank sends one of the other half all
 * that goes there. Where the lower half has one more, its last rank sends to a rank that another
 * one sends to as well, and gets nothing. */
struct round {
    int out, in[2]; /* ranks; -1: none */
    int lo, n;      /* this rank's half */
};

static struct round halve(int rank, int lo, int n) {
    struct round r = {-1, {-1, -1}, lo, n};
    if (n < 2) return r;
    const int lower = (n + 1) / 2, upper = n - lower, i = rank - lo;
    if (i < lower) {
        r.out = lo + lower + (i < upper ? i : upper - 1);
        r.in[0] = i < upper ? lo + lower + i : -1;
        r.n = lower;
    } else {
        r.out = r.in[0] = lo + i - lower;
        r.in[1] = i - lower == upper - 1 && lower > upper ? lo + lower - 1 : -1;
        r.lo = lo + lower;
        r.n = upper;
    }
    return r;
}

/* Packets for the other half leave. */
static evn_status part(const struct round *r, struct record *packets, struct record *leave) {
    struct record stay = {0};
    evn_status status = EVN_OK;
    const struct packet *l;
    for (size_t at = 0; !status && (l = packets_next(packets, &at));) {
        const int here = l->to >= r->lo && l->to < r->lo + r->n;
        status = record_add(here ? &stay : leave, l, sizeof *l + rounded(l->bytes));
    }
    record_free(packets);
    *packets = stay;
    return status;
}

evn_status packets_yield(evn_status status) {
    return status == EVN_BODY ? evn_fail(EVN_STOPPED, "distributed: another rank has failed")
                              : status;
}

/* One round with parcels of the size of `ranks`, all empty before and after. First sizes go, which
 * both ends must know; a rank that has failed sends none. */
static evn_status pass(const evn_distributed *d, const struct round *r, struct record *packets,
                       evn_parcel *out, evn_parcel *in, evn_status mine) {
    struct record leave = {0}, come = {0};
    unsigned long long size = 0, sizes[2] = {0, 0};
    if (!mine && r->out >= 0) mine = part(r, packets, &leave);
    if (mine) leave.bytes = 0;
    size = leave.bytes;
    if (r->out >= 0) out[r->out] = (evn_parcel){&size, sizeof size};
    for (int i = 0; i < 2; i++)
        if (r->in[i] >= 0) in[r->in[i]] = (evn_parcel){&sizes[i], sizeof *sizes};
    evn_status status = evn_cluster_exchange(d->cluster, EVN_OK, out, in);
    if (!status) {
        come.data = malloc(sizes[0] + sizes[1] + 1);
        if (!come.data && !mine)
            mine = evn_fail(EVN_MEMORY, "distributed: no memory for %llu bytes of other ranks",
                            sizes[0] + sizes[1]);
        come.bytes = come.data ? sizes[0] + sizes[1] : 0;
        if (r->out >= 0) out[r->out] = (evn_parcel){leave.data, (size_t)size};
        /* without memory nothing is written, but it is received */
        char *room = come.data ? (char *)come.data : (char *)&size;
        if (r->in[0] >= 0) in[r->in[0]] = (evn_parcel){room, sizes[0]};
        if (r->in[1] >= 0) in[r->in[1]] = (evn_parcel){room + sizes[0], sizes[1]};
        status = evn_cluster_exchange(d->cluster, come.data ? EVN_OK : EVN_MEMORY, out, in);
    }
    if (!status && !mine && come.bytes) status = record_add(packets, come.data, come.bytes);
    if (r->out >= 0) out[r->out] = (evn_parcel){0};
    for (int i = 0; i < 2; i++)
        if (r->in[i] >= 0) in[r->in[i]] = (evn_parcel){0};
    record_free(&leave);
    record_free(&come);
    return mine ? mine : packets_yield(status);
}

struct place_of {
    const struct packet *packet;
};

static int by_sender(const void *a, const void *b) {
    const struct packet *x = ((const struct place_of *)a)->packet;
    const struct packet *y = ((const struct place_of *)b)->packet;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x > y) - (x < y);
}

static evn_status sort(struct record *packets) {
    size_t count = 0;
    const struct packet *l;
    for (size_t at = 0; packets_next(packets, &at);) count++;
    struct place_of *of = malloc((count + 1) * sizeof *of);
    struct record sorted = {0};
    if (!of) return evn_fail(EVN_MEMORY, "distributed: no memory for %zu packets", count);
    count = 0;
    for (size_t at = 0; (l = packets_next(packets, &at));) of[count++].packet = l;
    qsort(of, count, sizeof *of, by_sender);
    evn_status status = EVN_OK;
    for (size_t i = 0; !status && i < count; i++)
        status =
            record_add(&sorted, of[i].packet, sizeof *of[i].packet + rounded(of[i].packet->bytes));
    free(of);
    record_free(packets);
    *packets = sorted;
    return status;
}

evn_status packets_route(const evn_distributed *d, struct record *packets, evn_status mine) {
    if (d->size > 1) {
        struct round r = {.lo = 0, .n = d->size};
        for (int widest = d->size; widest > 1; widest = (widest + 1) / 2) {
            r = halve(d->rank, r.lo, r.n);
            mine = pass(d, &r, packets, d->parcel, d->parcel + d->size, mine);
        }
    }
    if (!mine) mine = sort(packets);
    if (mine) packets->bytes = 0;
    return mine;
}
