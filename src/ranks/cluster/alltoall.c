/* All-to-all with variable sizes (MPI_Alltoallv): evn_cluster_exchange(). A parcel, the data for
 * one rank, travels as one message or in pieces. Channels are kept from call to call, of several
 * sizes, so that small parcels do not occupy large buffers; both ends know from the size of a piece
 * by which channel it comes. In each round a rank sends its next piece to all before it waits for
 * any, and a channel has two buffers: the rank furthest behind can always go on, so there is no
 * deadlock. */
#include "base/argument.h"
#include "cluster/inside.h"
#include "cluster/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers of the channel of size class s; the largest holds a whole piece. */
enum { SIZES = 7, PIECE = 16 << 20 };
static size_t room_of(int s) { return (size_t)4096 << (2 * s); }
_Static_assert(4096 << (2 * (SIZES - 1)) == PIECE, "pieces go by the largest ways");

/* Header before the data of each piece. */
struct piece_header {
    long long bytes;
    long long status; /* status of the sender, which has no data if it has failed */
};

/* Channels to and from a rank, one of each size. */
struct ways {
    evn_channel *out[SIZES], *in[SIZES];
    int failed; /* 1: this rank came with a failure to the current exchange */
};

struct parcels {
    int tag[SIZES];
    struct ways *way;
    long long calls; /* number of calls of evn_cluster_exchange() */
    long long messages;
    double bytes;
};

void parcels_close(evn_cluster *c) {
    struct parcels *p = c->parcels;
    if (!p) return;
    for (int r = 0; p->way && r < c->size; r++)
        for (int s = 0; s < SIZES; s++) {
            cluster_channel_close(c, p->way[r].out[s]);
            cluster_channel_close(c, p->way[r].in[s]);
        }
    free(p->way);
    free(p);
    c->parcels = NULL;
}

/* Memory for all channels. Without it the run ends, since the other ranks would wait for ever. */
static struct parcels *open_parcels(evn_cluster *c) {
    if (c->parcels) return c->parcels;
    struct parcels *p = c->parcels = calloc(1, sizeof *p);
    if (p) p->way = calloc((size_t)c->size, sizeof *p->way);
    if (!p || !p->way) {
        evn_fail(EVN_MEMORY, "cluster: no memory for the ways between %d ranks", c->size);
        cluster_abort(c);
    }
    for (int s = 0; s < SIZES; s++) p->tag[s] = cluster_tag(c, CLUSTER_PARCELS);
    return p;
}

/* The channel for a piece of this size. */
static evn_channel *find_way(evn_cluster *c, int peer, int out, size_t bytes) {
    int s = 0;
    while (room_of(s) < bytes) s++;
    struct ways *w = &c->parcels->way[peer];
    evn_channel **way = out ? &w->out[s] : &w->in[s];
    const size_t room = sizeof(struct piece_header) + room_of(s);
    if (!*way && cluster_channel_open(c, way, peer, c->parcels->tag[s], out, room))
        cluster_abort(c);
    return *way;
}

/* Bytes of piece number `round` of a parcel. */
static size_t piece_bytes(const evn_parcel *parcel, size_t round) {
    const size_t at = round * PIECE;
    if (at >= parcel->bytes) return 0;
    return parcel->bytes - at < PIECE ? parcel->bytes - at : PIECE;
}

/* Number of a piece, the same at both ends; no parcel has so many pieces. */
static long long piece_number(const evn_cluster *c, size_t round) {
    return c->parcels->calls << 24 | (long long)round;
}

static evn_status send_piece(evn_cluster *c, int peer, const evn_parcel *parcel, size_t round,
                             evn_status mine) {
    const size_t bytes = piece_bytes(parcel, round);
    evn_channel *way = find_way(c, peer, 1, bytes);
    void *room;
    const double begin = log_begin(c);
    evn_status status = cluster_take(c, way, &room);
    if (status) return status;
    const struct piece_header header = {mine ? 0 : (long long)bytes, mine};
    memcpy(room, &header, sizeof header);
    if (!mine)
        memcpy((char *)room + sizeof header, (const char *)parcel->data + round * PIECE, bytes);
    c->parcels->messages++;
    c->parcels->bytes += (double)header.bytes;
    status = cluster_send(c, way, sizeof header + (size_t)header.bytes);
    log_end(c, (struct log_entry){.begin = begin,
                                  .bytes = (double)header.bytes,
                                  .number = piece_number(c, round),
                                  .peer = peer,
                                  .kind = LOG_PARCEL,
                                  .out = 1});
    return status;
}

/* Receives a piece; a rank that has failed discards it. */
static evn_status receive_piece(evn_cluster *c, int peer, const evn_parcel *parcel, size_t round,
                                evn_status mine) {
    const size_t bytes = piece_bytes(parcel, round);
    evn_channel *way = find_way(c, peer, 0, bytes);
    struct piece_header header;
    const void *data;
    size_t all;
    const double begin = log_begin(c);
    evn_status status = cluster_wait(c, way, &data, &all);
    if (status) return status;
    memcpy(&header, data, sizeof header);
    if (header.status)
        c->parcels->way[peer].failed = 1;
    else if (all != sizeof header + bytes || header.bytes != (long long)bytes)
        status = evn_fail(EVN_USAGE, "cluster: rank %d sends %lld bytes, and rank %d expects %zu",
                          peer, header.bytes, c->rank, bytes);
    else if (!mine)
        memcpy((char *)parcel->data + round * PIECE, (const char *)data + sizeof header, bytes);
    cluster_release(c, way);
    log_end(c, (struct log_entry){.begin = begin,
                                  .bytes = (double)header.bytes,
                                  .number = piece_number(c, round),
                                  .peer = peer,
                                  .kind = LOG_PARCEL});
    return status;
}

/* One piece to each rank, and one from each. A rank that has failed sends one message instead of
 * its parcel. */
static evn_status exchange_round(evn_cluster *c, evn_status mine, const evn_parcel *out,
                                 const evn_parcel *in, size_t round) {
    evn_status status = EVN_OK;
    for (int i = 1; !status && i < c->size; i++) {
        const int peer = (c->rank + c->size - i) % c->size;
        const size_t bytes = piece_bytes(&in[peer], round);
        if (bytes && !c->parcels->way[peer].failed)
            status = cluster_expect(c, find_way(c, peer, 0, bytes));
    }
    for (int i = 1; !status && i < c->size; i++) {
        const int peer = (c->rank + i) % c->size;
        if (piece_bytes(&out[peer], round) && !(mine && round))
            status = send_piece(c, peer, &out[peer], round, mine);
    }
    for (int i = 1; !status && i < c->size; i++) {
        const int peer = (c->rank + c->size - i) % c->size;
        if (piece_bytes(&in[peer], round) && !c->parcels->way[peer].failed)
            status = receive_piece(c, peer, &in[peer], round, mine);
    }
    return status;
}

static evn_status check_parcels(const evn_cluster *c, const evn_parcel *out, const evn_parcel *in) {
    for (int r = 0; r < c->size; r++)
        if ((!out[r].data && out[r].bytes) || (!in[r].data && in[r].bytes))
            return evn_fail(
                EVN_USAGE, "cluster: %s rank %d is nowhere (NULL)",
                !out[r].data && out[r].bytes ? "what goes to" : "room for what comes of", r);
    return EVN_OK;
}

/* Copies the parcel that a rank sends to itself. */
static evn_status keep_own(const evn_cluster *c, const evn_parcel *out, const evn_parcel *in) {
    const evn_parcel *from = &out[c->rank], *to = &in[c->rank];
    if (from->bytes != to->bytes)
        return evn_fail(EVN_USAGE, "cluster: rank %d gives itself %zu bytes and expects %zu",
                        c->rank, from->bytes, to->bytes);
    if (from->bytes && from->data != to->data) memmove(to->data, from->data, from->bytes);
    return EVN_OK;
}

evn_status evn_cluster_exchange(evn_cluster *c, evn_status mine, const evn_parcel *out,
                                const evn_parcel *in) {
    NEED(c, "a cluster");
    NEED(out, "parcels that go");
    NEED(in, "room for parcels that come");
    if (!mine) mine = check_parcels(c, out, in);
    if (!mine) mine = keep_own(c, out, in);
    if (!c->kind) return mine;
    struct parcels *p = open_parcels(c);
    size_t rounds = 0;
    p->calls++;
    for (int r = 0; r < c->size; r++) {
        const size_t bytes = out[r].bytes > in[r].bytes ? out[r].bytes : in[r].bytes;
        if (r != c->rank && (bytes + PIECE - 1) / PIECE > rounds)
            rounds = (bytes + PIECE - 1) / PIECE;
        p->way[r].failed = 0;
    }
    char why[1024];
    snprintf(why, sizeof why, "%s", mine ? evn_message() : "");
    evn_status status = EVN_OK;
    for (size_t i = 0; !status && i < rounds; i++) status = exchange_round(c, mine, out, in, i);
    /* ranks that expect other pieces than those that come cannot go on, nor can the wire */
    if (status && status != EVN_STOPPED) cluster_abort(c);
    if (status) return status;
    if (mine) return evn_fail(mine, "%s", why);
    for (int r = 0; r < c->size; r++)
        if (p->way[r].failed) return evn_fail(EVN_BODY, "cluster: rank %d has failed", r);
    return EVN_OK;
}

void parcels_sent(const evn_cluster *c, long long *messages, double *bytes) {
    *messages = c->parcels ? c->parcels->messages : 0;
    *bytes = c->parcels ? c->parcels->bytes : 0;
}
