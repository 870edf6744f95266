/* Bytes from one rank to another: in pieces, over the pair's channel, which is opened when first
 * needed. */
#include "base/argument.h"
#include "cluster/inside.h"
#include <stdlib.h>
#include <string.h>

/* Large enough for full bandwidth; small enough for two buffers a pair of ranks. */
enum { PIECE = 4 << 20 };

struct carriage {
    int tag;
    evn_channel **out, **in; /* channels to and from each rank; NULL: not opened yet */
};

evn_status cluster_carry_open(evn_cluster *c) {
    const size_t ranks = (size_t)c->size;
    struct carriage *k = c->carriage = calloc(1, sizeof *k);
    if (k) {
        k->tag = cluster_tag(c, CLUSTER_MOVES);
        k->out = calloc(ranks, sizeof(evn_channel *));
        k->in = calloc(ranks, sizeof(evn_channel *));
    }
    if (k && k->out && k->in) return EVN_OK;
    return evn_fail(EVN_MEMORY, "cluster: no memory for the ways between %zu ranks", ranks);
}

void cluster_carry_close(evn_cluster *c) {
    struct carriage *k = c->carriage;
    if (!k) return;
    for (int r = 0; k->out && k->in && r < c->size; r++) {
        cluster_channel_close(c, k->out[r]);
        cluster_channel_close(c, k->in[r]);
    }
    free(k->out);
    free(k->in);
    free(k);
    c->carriage = NULL;
}

evn_status cluster_carry_reserve(evn_cluster *c, int peer, int out) {
    evn_channel **channel = out ? &c->carriage->out[peer] : &c->carriage->in[peer];
    return *channel ? EVN_OK : cluster_channel_open(c, channel, peer, c->carriage->tag, out, PIECE);
}

/* The channel to or from a peer. A failure to open it ends the run, since the other end would wait
 * for ever. */
static evn_channel *way(evn_cluster *c, int peer, int out) {
    if (cluster_carry_reserve(c, peer, out)) cluster_abort(c);
    return out ? c->carriage->out[peer] : c->carriage->in[peer];
}

static evn_status send(evn_cluster *c, evn_channel *channel, const void *data, size_t bytes) {
    void *room;
    evn_status status = cluster_take(c, channel, &room);
    if (status) return status;
    memcpy(room, data, bytes);
    return cluster_send(c, channel, bytes);
}

static evn_status receive(evn_cluster *c, evn_channel *channel, void *data, size_t bytes) {
    const void *here;
    size_t come;
    evn_status status = cluster_expect(c, channel);
    if (!status) status = cluster_wait(c, channel, &here, &come);
    if (status) return status;
    if (come == bytes && data)
        memcpy(data, here, bytes);
    else if (come != bytes)
        status = evn_fail(EVN_SYSTEM, "cluster: a piece of %zu bytes has come, expected %zu", come,
                          bytes);
    cluster_release(c, channel);
    return status;
}

evn_status cluster_carry(evn_cluster *c, int from, int to, void *data, size_t bytes) {
    const int out = from == c->rank;
    evn_channel *channel = way(c, out ? to : from, out);
    evn_status status = EVN_OK;
    for (size_t at = 0; !status && at < bytes; at += PIECE) {
        const size_t left = bytes - at, piece = left < PIECE ? left : PIECE;
        void *here = data ? (char *)data + at : NULL;
        status = out ? send(c, channel, here, piece) : receive(c, channel, here, piece);
    }
    return status;
}

evn_status evn_cluster_carry(evn_cluster *c, int from, int to, void *data, size_t bytes) {
    NEED(c, "a cluster");
    const int me = c->rank;
    if (from == to || (me != from && me != to) || from < 0 || to < 0 || from >= c->size ||
        to >= c->size)
        return evn_fail(EVN_USAGE, "cluster: rank %d cannot carry bytes from rank %d to rank %d",
                        me, from, to);
    if (bytes) NEED(data, "bytes to carry");
    return cluster_carry(c, from, to, data, bytes);
}
