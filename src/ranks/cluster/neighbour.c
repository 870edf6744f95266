/* Messages between a rank and its neighbours. */
#include "cluster/neighbour.h"
#include "cluster/cluster.h"
#include "cluster/log.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Stands before the values of a message. A rank that gets a message of another run, or from before
 * neighbours were opened anew, must not take it for the one it waits for. */
struct header {
    long long run, bytes;
    int tag, status;
    char room[40];
};
_Static_assert(sizeof(struct header) == 64, "values begin at a line of the cache");

/* ---- opening ------------------------------------------------------------------------------- */

evn_status neighbours_open(struct neighbours *n, evn_cluster *cluster, const char *room) {
    const int ranks = evn_cluster_size(cluster);
    *n = (struct neighbours){.cluster = cluster, .room = room, .run = n->run};
    n->tag = cluster_tag(cluster, CLUSTER_EXCHANGES);
    n->index = calloc((size_t)ranks, sizeof *n->index);
    return n->index ? EVN_OK : evn_fail(EVN_MEMORY, "%s: no memory for %d ranks", room, ranks);
}

evn_status neighbours_list(struct neighbours *n) {
    const int ranks = evn_cluster_size(n->cluster);
    int count = 0;
    for (int r = 0; r < ranks; r++) count += n->index[r];
    n->of = calloc((size_t)count + 1, sizeof *n->of);
    if (!n->of) return evn_fail(EVN_MEMORY, "%s: no memory for %d neighbours", n->room, count);
    for (int r = 0; r < ranks; r++) {
        if (!n->index[r]) continue;
        n->index[r] = n->count;
        n->of[n->count].rank = r;
        pthread_mutex_init(&n->of[n->count++].lock, NULL);
    }
    return EVN_OK;
}

static evn_status open_channel(const struct neighbours *n, evn_channel **channel, int rank, int out,
                               size_t bytes) {
    if (!bytes) return EVN_OK;
    return cluster_channel_open(n->cluster, channel, rank, n->tag, out,
                                sizeof(struct header) + bytes);
}

evn_status neighbours_connect(struct neighbours *n) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < n->count; i++) {
        struct neighbour *w = &n->of[i];
        status = open_channel(n, &w->out_channel, w->rank, 1, w->out_bytes);
        if (!status) status = open_channel(n, &w->in_channel, w->rank, 0, w->in_bytes);
    }
    return status;
}

void neighbours_close(struct neighbours *n) {
    neighbours_settle(n);
    for (int i = 0; i < n->count; i++) {
        cluster_channel_close(n->cluster, n->of[i].out_channel);
        cluster_channel_close(n->cluster, n->of[i].in_channel);
        pthread_mutex_destroy(&n->of[i].lock);
    }
    free(n->index);
    free(n->of);
    *n = (struct neighbours){.run = n->run};
}

/* ---- sending ------------------------------------------------------------------------------- */

void neighbours_next(struct neighbours *n) { n->run++; }

/* Receives are announced before anything is sent, so that messages can arrive at once. */
static evn_status expect(evn_cluster *cluster, struct neighbour *w) {
    if (!w->in_channel || w->expected) return EVN_OK;
    w->expected = 1;
    w->here = 0;
    w->status = EVN_OK;
    atomic_store(&w->reading, w->readers);
    return cluster_expect(cluster, w->in_channel);
}

/* All of them, also where one has failed: neighbours are to hear of it. */
evn_status neighbours_begin(struct neighbours *n) {
    evn_status status = EVN_OK;
    for (int i = 0; i < n->count; i++) {
        struct neighbour *w = &n->of[i];
        void *message = NULL;
        evn_status begun = expect(n->cluster, w);
        if (!begun && w->out_channel) begun = cluster_take(n->cluster, w->out_channel, &message);
        w->out = message ? (char *)message + sizeof(struct header) : NULL;
        if (begun) status = begun;
    }
    return status;
}

/* For traces: the same at both ends, and another one for each message of a pair. */
static long long message_number(const struct neighbours *n) {
    return (long long)n->tag << 40 | n->run;
}

static evn_status send(const struct neighbours *n, struct neighbour *w, evn_status failed) {
    const size_t bytes = failed ? 0 : w->out_bytes;
    *((struct header *)(void *)w->out - 1) =
        (struct header){.run = n->run, .bytes = (long long)bytes, .tag = n->tag, .status = failed};
    w->out = NULL;
    const double begin = log_begin(n->cluster);
    const evn_status status =
        cluster_send(n->cluster, w->out_channel, sizeof(struct header) + bytes);
    log_end(n->cluster, (struct log_entry){.begin = begin,
                                           .bytes = (double)bytes,
                                           .number = message_number(n),
                                           .peer = w->rank,
                                           .kind = LOG_FACES,
                                           .out = 1});
    return status;
}

evn_status neighbours_send(struct neighbours *n, evn_status failed) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < n->count; i++)
        if (n->of[i].out) status = send(n, &n->of[i], failed);
    if (status && status != EVN_STOPPED) cluster_abort(n->cluster); /* neighbours wait in vain */
    return status;
}

/* ---- what comes ---------------------------------------------------------------------------- */

static evn_status check_header(const struct neighbours *n, const struct neighbour *w,
                               const struct header *h, size_t bytes) {
    /* that rank says why when all meet: a failure that follows from it must not be taken for it */
    if (h->status)
        return evn_fail(EVN_STOPPED, "%s: rank %d has failed: %s", n->room, w->rank,
                        evn_status_text((evn_status)h->status));
    if (h->tag == n->tag && h->run == n->run && bytes == sizeof *h + w->in_bytes &&
        h->bytes == (long long)w->in_bytes)
        return EVN_OK;
    return evn_fail(EVN_SYSTEM,
                    "%s: rank %d sent %lld bytes of faces of run %lld under plan %d, expected %zu "
                    "of %lld under %d",
                    n->room, w->rank, h->bytes, h->run, h->tag, w->in_bytes, n->run, n->tag);
}

static evn_status arrive(const struct neighbours *n, struct neighbour *w, const struct header **h,
                         size_t *bytes) {
    const void *data = NULL;
    const double begin = log_begin(n->cluster);
    w->here = 1;
    const evn_status status = cluster_wait(n->cluster, w->in_channel, &data, bytes);
    if (status) return status;
    log_end(n->cluster, (struct log_entry){.begin = begin,
                                           .bytes = (double)(*bytes - sizeof **h),
                                           .number = message_number(n),
                                           .peer = w->rank,
                                           .kind = LOG_FACES});
    *h = data;
    w->in = (char *)(uintptr_t)data + sizeof **h;
    return EVN_OK;
}

evn_status neighbour_receive(const struct neighbours *n, struct neighbour *from) {
    pthread_mutex_lock(&from->lock);
    if (!from->here) {
        const struct header *h;
        size_t bytes;
        from->status = arrive(n, from, &h, &bytes);
        if (!from->status) from->status = check_header(n, from, h, bytes);
        if (from->status) snprintf(from->text, sizeof from->text, "%s", evn_message());
    }
    const evn_status status = from->status ? evn_fail(from->status, "%s", from->text) : EVN_OK;
    pthread_mutex_unlock(&from->lock);
    return status;
}

static void let_go(evn_cluster *cluster, struct neighbour *w) {
    if (!w->expected) return;
    w->expected = 0;
    if (w->in) cluster_release(cluster, w->in_channel);
    w->in = NULL;
}

void neighbour_release(const struct neighbours *n, struct neighbour *from) {
    if (atomic_fetch_sub(&from->reading, 1) == 1) let_go(n->cluster, from);
}

void neighbours_settle(struct neighbours *n) {
    for (int i = 0; i < n->count; i++) {
        struct neighbour *w = &n->of[i];
        const struct header *h;
        size_t bytes;
        if (w->expected && !w->here) arrive(n, w, &h, &bytes);
        let_go(n->cluster, w);
    }
}
