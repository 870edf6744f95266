/* Tasks that go to another rank: their memory travels, block by block, in pieces.
 *
 * All ranks walk the moved tasks in ascending order, the old home sends and the new one receives.
 * So no circle of waiting can arise: whoever has the lowest task that is not through can go on.
 */
#include "loop/ranks.h"
#include "wire/cluster.h"
#include <stdlib.h>
#include <string.h>

/* Large enough for the bandwidth, small enough that two a neighbour are no matter. */
enum { PIECE = 4 << 20 };

/* Before each block. */
struct block_header {
    long long bytes;   /* that follow, in pieces */
    evn_status status; /* of the sender, which has nothing to send then */
};

/* Ways to and from each rank, opened when first needed. */
struct mover {
    int ranks, tag;
    evn_mail **out, **in;
};

evn_status move_open(evn_loop *loop) {
    const int ranks = evn_cluster_size(loop->cluster);
    struct mover *m = loop->mover = calloc(1, sizeof *m);
    if (m) {
        m->ranks = ranks;
        m->tag = cluster_tag(loop->cluster, CLUSTER_MOVES);
        m->out = calloc((size_t)ranks, sizeof(evn_mail *));
        m->in = calloc((size_t)ranks, sizeof(evn_mail *));
    }
    if (m && m->out && m->in) return EVN_OK;
    return evn_fail(EVN_MEMORY, "loop: no memory for the ways of tasks between %d ranks", ranks);
}

void move_close(evn_loop *loop) {
    struct mover *m = loop->mover;
    if (!m) return;
    for (int r = 0; m->out && m->in && r < m->ranks; r++) {
        cluster_mail_close(loop->cluster, m->out[r]);
        cluster_mail_close(loop->cluster, m->in[r]);
    }
    free(m->out);
    free(m->in);
    free(m);
    loop->mover = NULL;
}

/* A way that cannot be opened leaves the other end waiting for ever, so that ends the run. */
static evn_mail *open_way(evn_loop *loop, int peer, int out) {
    evn_mail **way = out ? &loop->mover->out[peer] : &loop->mover->in[peer];
    if (!*way && cluster_mail_open(loop->cluster, way, peer, loop->mover->tag, out, PIECE))
        cluster_abort(loop->cluster);
    return *way;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static evn_status send_piece(evn_cluster *c, evn_mail *way, const void *data, size_t bytes) {
    void *room;
    evn_status status = cluster_take(c, way, &room);
    if (status) return status;
    memcpy(room, data, bytes);
    return cluster_send(c, way, bytes);
}

/* A block, or that there is none because of `failed`. */
static evn_status send_block(evn_cluster *c, evn_mail *way, const char *block, size_t bytes,
                             evn_status failed) {
    const struct block_header header = {failed ? 0 : (long long)bytes, failed};
    evn_status status = send_piece(c, way, &header, sizeof header);
    for (size_t at = 0; !status && at < (size_t)header.bytes; at += PIECE) {
        const size_t left = bytes - at;
        status = send_piece(c, way, block + at, left < PIECE ? left : PIECE);
    }
    return status;
}

/* The next message of a way, of which `to` gets `bytes`; NULL: nobody wants it. */
static evn_status receive_piece(evn_cluster *c, evn_mail *way, void *to, size_t bytes) {
    const void *data;
    size_t piece;
    evn_status status = cluster_expect(c, way);
    if (!status) status = cluster_wait(c, way, &data, &piece);
    if (status) return status;
    if (to && piece != bytes)
        status = evn_fail(EVN_SYSTEM, "loop: a piece of %zu bytes of a task has come, expected %zu",
                          piece, bytes);
    else if (to)
        memcpy(to, data, bytes);
    cluster_release(c, way);
    return status;
}

/* A block into memory of `bytes`; `failed`: what comes is let through, so that the sender can go
 * on. */
static evn_status receive_block(evn_cluster *c, evn_mail *way, char *block, size_t bytes,
                                evn_status failed) {
    struct block_header header;
    evn_status status = receive_piece(c, way, &header, sizeof header);
    if (status) return status;
    if (!failed && header.status)
        failed = evn_fail(EVN_STOPPED, "loop: the task was not sent: %s",
                          evn_status_text(header.status)); /* the sender says why */
    if (!failed && header.bytes != (long long)bytes)
        failed = evn_fail(EVN_USAGE,
                          "loop: a block has %lld bytes where it comes from and %zu where it goes "
                          "to",
                          header.bytes, bytes);
    for (size_t at = 0; !status && at < (size_t)header.bytes; at += PIECE) {
        const size_t left = (size_t)header.bytes - at;
        status = receive_piece(c, way, failed ? NULL : block + at, left < PIECE ? left : PIECE);
    }
    return failed ? failed : status;
}

/* ---- tasks --------------------------------------------------------------------------------- */

static int region_of(const evn_loop *loop, int task, int block) {
    return loop->place ? loop->region[task * loop->regions + block] : -1;
}

static evn_status leave(evn_loop *loop, int task) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < loop->home.blocks; i++)
        if (region_of(loop, task, i) >= 0)
            status = evn_place_leave(loop->place, region_of(loop, task, i));
    return status;
}

/* A task leaves this rank; after a failure its receiver is told. */
static evn_status send_task(evn_loop *loop, int task, int peer, evn_status failed) {
    evn_mail *way = open_way(loop, peer, 1);
    if (!failed) failed = leave(loop, task);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < loop->home.blocks; i++) {
        size_t bytes = 0;
        const char *block = loop->home.memory(loop->home_arg, task, i, &bytes);
        status = send_block(loop->cluster, way, block, block ? bytes : 0, failed);
        if (!failed) loop->totals.moved_bytes += (double)bytes;
    }
    if (failed || status) return failed ? failed : status;
    loop->home.drop(loop->home_arg, task);
    loop->totals.moved++;
    return EVN_OK;
}

/* A task comes to this rank. */
static evn_status receive_task(evn_loop *loop, int task, int peer, evn_status failed) {
    evn_mail *way = open_way(loop, peer, 0);
    if (!failed) failed = loop->home.make(loop->home_arg, task);
    for (int i = 0; i < loop->home.blocks; i++) {
        size_t bytes = 0;
        char *block = failed ? NULL : loop->home.memory(loop->home_arg, task, i, &bytes);
        evn_status status = receive_block(loop->cluster, way, block, block ? bytes : 0, failed);
        if (!status && region_of(loop, task, i) >= 0)
            status = evn_place_arrive(loop->place, region_of(loop, task, i), block);
        if (status) failed = status;
    }
    if (!failed && loop->home.arrived) failed = loop->home.arrived(loop->home_arg, task);
    return failed;
}

static evn_status check_homes(const evn_loop *loop) {
    if (!loop->place || loop->home.blocks == loop->regions) return EVN_OK;
    if (!loop->home.memory)
        return evn_fail(EVN_USAGE,
                        "loop: the schedule moves tasks to another rank, and nothing was "
                        "said of how their regions travel; say it with "
                        "evn_loop_homes()");
    return evn_fail(EVN_USAGE,
                    "loop: tasks have %d regions each, and %d blocks that travel "
                    "(evn_loop_homes()); block i is the memory of region i",
                    loop->regions, loop->home.blocks);
}

/* After a failure the walk goes on, since other ranks wait for what is theirs. */
evn_status move_tasks(evn_loop *loop, const int *from, const int *to) {
    const int me = evn_cluster_rank(loop->cluster);
    evn_status status = check_homes(loop);
    if (!loop->home.memory) return status;
    for (int t = 0; t < loop->problem->tasks; t++) {
        const int old = evn_cluster_rank_of(loop->cluster, from[t]);
        const int new = evn_cluster_rank_of(loop->cluster, to[t]);
        evn_status moved = EVN_OK;
        if (old == new) continue;
        if (old == me) moved = send_task(loop, t, new, status);
        if (new == me) moved = receive_task(loop, t, old, status);
        if (moved) status = moved;
    }
    return status;
}

evn_status evn_loop_homes(evn_loop *loop, const evn_home *home, void *arg) {
    if (!home || home->blocks < 1 || !home->make || !home->memory || !home->drop)
        return evn_fail(EVN_USAGE, "loop: evn_loop_homes() wants 1 block or more, and all three "
                                   "functions");
    loop->home = *home;
    loop->home_arg = arg;
    return EVN_OK;
}
