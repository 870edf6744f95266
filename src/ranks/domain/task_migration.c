/* Migration of tasks to another rank: their memory is sent block by block.
 *
 * All ranks walk the moved tasks in ascending order; the old home sends, the new one receives. So
 * no deadlock can arise: the rank with the lowest unfinished task can proceed.
 *
 * Between instances a task is sent, and dropped where it was. Where a change of tasks gathers
 * origins, all or none move: memory is made first; then both ranks have the task (move_copy());
 * once all ranks have agreed, one of the two drops it (move_end(), move_undo()). */
#include "domain/loop_ranks.h"
#include "base/argument.h"
#include "cluster/cluster.h"
#include "cluster/log.h"
#include "data/use.h"

/* Before each block. */
struct block_header {
    long long bytes;   /* that follow, in pieces */
    evn_status status; /* of the sender, which has nothing to send then */
};

/* ---- blocks -------------------------------------------------------------------------------- */

/* A block, or that there is none because of `failed`. */
static evn_status send_block(evn_cluster *c, int peer, char *block, size_t bytes,
                             evn_status failed) {
    struct block_header header = {failed ? 0 : (long long)bytes, failed};
    const int me = evn_cluster_rank(c);
    evn_status status = cluster_carry(c, me, peer, &header, sizeof header);
    return status ? status : cluster_carry(c, me, peer, block, (size_t)header.bytes);
}

/* A block into memory of `bytes`; `failed`: what comes is let through, so that the sender can go
 * on. */
static evn_status receive_block(evn_cluster *c, int peer, char *block, size_t bytes,
                                evn_status failed) {
    struct block_header header;
    const int me = evn_cluster_rank(c);
    evn_status status = cluster_carry(c, peer, me, &header, sizeof header);
    if (status) return status;
    if (!failed && header.status)
        failed = evn_fail(EVN_STOPPED, "loop: the task was not sent: %s",
                          evn_status_text(header.status)); /* the sender says why */
    if (!failed && header.bytes != (long long)bytes)
        failed = evn_fail(EVN_USAGE,
                          "loop: a block has %lld bytes where it comes from and %zu where it goes "
                          "to",
                          header.bytes, bytes);
    status = cluster_carry(c, peer, me, failed ? NULL : block, (size_t)header.bytes);
    return failed ? failed : status;
}

/* ---- tasks --------------------------------------------------------------------------------- */

static int region_of(const evn_loop *loop, int task, int block) {
    return loop->place ? loop->region[task * loop->regions + block] : -1;
}

/* Whether a region, if there is one, arrives and leaves with its task's memory; one in memory of
 * the place's goes with the functions of its owner's home. */
static int travels(const evn_loop *loop, int region) {
    return region >= 0 && !(loop->owner_ops.arg && place_is_made(loop->place, region));
}

static evn_status arrive(const evn_loop *loop, int region, void *block) {
    if (!travels(loop, region)) return EVN_OK;
    return evn_place_arrive(loop->place, region, block);
}

/* Regions that have left are with their memory again. */
static void come_back(const evn_loop *loop, int task) {
    for (int i = 0; loop->place && i < loop->home.blocks; i++) {
        size_t bytes = 0;
        const int region = region_of(loop, task, i);
        if (region < 0 || !place_is_absent(loop->place, region)) continue;
        void *block = loop->home.memory(loop->home_arg, task, i, &bytes);
        if (block) arrive(loop, region, block);
    }
}

/* A task's regions are valid in the host's memory, and leave; one in memory of the place's does so
 * with its owner's home.drop(). After a failure all are here. */
static evn_status leave(const evn_loop *loop, int task) {
    evn_status status = EVN_OK;
    const int blocks = loop->place ? loop->home.blocks : 0;
    for (int i = 0; !status && i < blocks; i++) {
        const int region = region_of(loop, task, i);
        if (region >= 0) status = place_bring_home(loop->place, region);
    }
    if (status) return status;
    for (int i = 0; !status && i < blocks; i++) {
        const int region = region_of(loop, task, i);
        if (travels(loop, region)) status = evn_place_leave(loop->place, region);
    }
    if (status) come_back(loop, task);
    return status;
}

/* A task that has gone or come. The plan it goes under is counted on all ranks alike. */
static struct log_entry moved(const evn_loop *loop, int task, int peer, double begin) {
    return (struct log_entry){.begin = begin,
                              .number = (long long)loop->plan << 32 | task,
                              .peer = peer,
                              .kind = LOG_TASK};
}

/* A block of a task that goes; where there should be one and is none, why is in evn_message(). */
static char *block_of(const evn_loop *loop, int task, int block, size_t *bytes,
                      evn_status *failed) {
    *bytes = 0;
    char *memory = loop->home.memory(loop->home_arg, task, block, bytes);
    if (!memory && *bytes && !*failed) *failed = EVN_DEVICE;
    return memory;
}

/* A task's regions leave, and its memory is sent; after a failure its receiver is told. */
static evn_status send_task(evn_loop *loop, int task, int peer, evn_status failed,
                            double *bytes_sent) {
    struct log_entry entry = moved(loop, task, peer, log_begin(loop->cluster));
    if (!failed) failed = leave(loop, task);
    const int left = !failed;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < loop->home.blocks; i++) {
        size_t bytes;
        char *block = block_of(loop, task, i, &bytes, &failed);
        status = send_block(loop->cluster, peer, block, block ? bytes : 0, failed);
        entry.bytes += (double)bytes;
    }
    if (!failed) failed = status;
    if (failed && left) come_back(loop, task);
    if (failed) return failed;
    entry.out = 1;
    log_end(loop->cluster, entry);
    *bytes_sent += entry.bytes;
    return EVN_OK;
}

/* A task comes into memory that was made for it. */
static evn_status receive_task(evn_loop *loop, int task, int peer, evn_status failed) {
    struct log_entry entry = moved(loop, task, peer, log_begin(loop->cluster));
    for (int i = 0; i < loop->home.blocks; i++) {
        size_t bytes = 0;
        char *block = failed ? NULL : loop->home.memory(loop->home_arg, task, i, &bytes);
        evn_status status = receive_block(loop->cluster, peer, block, block ? bytes : 0, failed);
        if (!status) status = arrive(loop, region_of(loop, task, i), block);
        if (status) failed = status;
        entry.bytes += (double)bytes;
    }
    if (!failed) log_end(loop->cluster, entry);
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

/* The rank that the task leaves or comes from, where that is this one; -1. */
static int goes_to(const evn_loop *loop, int from, int to) {
    if (loop_own(loop, from) < 0 || !loop_crosses(loop, from, to)) return -1;
    return evn_cluster_rank_of(loop->cluster, to);
}
static int comes_from(const evn_loop *loop, int from, int to) {
    if (loop_own(loop, to) < 0 || !loop_crosses(loop, from, to)) return -1;
    return evn_cluster_rank_of(loop->cluster, from);
}

/* After a failure the walk continues, since other ranks wait for their tasks. */
evn_status move_tasks(evn_loop *loop, const int *from, const int *to) {
    evn_status status = check_homes(loop);
    if (!loop->home.memory) return status;
    for (int t = 0; t < loop->problem->tasks; t++) {
        const int old = comes_from(loop, from[t], to[t]), new = goes_to(loop, from[t], to[t]);
        evn_status moved = EVN_OK;
        if (new >= 0) {
            moved = send_task(loop, t, new, status, &loop->totals.moved_bytes);
            if (!moved) loop->home.drop(loop->home_arg, t);
            loop->totals.moved += !moved;
        } else if (old >= 0) {
            if (!status) moved = loop->home.make(loop->home_arg, t);
            moved = receive_task(loop, t, old, moved ? moved : status);
        }
        if (moved) status = moved;
    }
    return status;
}

/* ---- all or none --------------------------------------------------------------------------- */

static evn_status make_room(const evn_loop *loop, struct moves *m, int t) {
    const int old = comes_from(loop, m->from[t], m->to[t]);
    const int new = goes_to(loop, m->from[t], m->to[t]);
    evn_status status = EVN_OK;
    if (old >= 0) status = cluster_carry_reserve(loop->cluster, old, 0);
    if (new >= 0) status = cluster_carry_reserve(loop->cluster, new, 1);
    if (status || old < 0) return status;
    status = loop->home.make(loop->home_arg, t);
    if (!status) m->done[t] = MOVE_MADE;
    return status;
}

evn_status move_make_room(const evn_loop *loop, struct moves *m) {
    for (int t = 0; t < m->tasks; t++) m->across += loop_crosses(loop, m->from[t], m->to[t]);
    evn_status status = m->across ? check_homes(loop) : EVN_OK;
    if (!m->across || !loop->home.memory) return status;
    for (int t = 0; !status && t < m->tasks; t++) status = make_room(loop, m, t);
    return status;
}

evn_status move_copy(evn_loop *loop, struct moves *m) {
    evn_status status = EVN_OK;
    if (!m->across || !loop->home.memory) return status;
    for (int t = 0; t < m->tasks; t++) {
        const int old = comes_from(loop, m->from[t], m->to[t]);
        const int new = goes_to(loop, m->from[t], m->to[t]);
        evn_status moved = EVN_OK;
        if (new >= 0) moved = send_task(loop, t, new, status, &m->bytes);
        if (old >= 0) moved = receive_task(loop, t, old, status);
        if (!moved && new >= 0) m->done[t] = MOVE_SENT;
        if (moved) status = moved;
    }
    return status;
}

void move_end(evn_loop *loop, const struct moves *m) {
    for (int t = 0; t < m->tasks; t++) {
        if (m->done[t] != MOVE_SENT) continue;
        loop->home.drop(loop->home_arg, t);
        loop->totals.moved++;
    }
    loop->totals.moved_bytes += m->bytes;
    loop->totals.migrations += m->across;
}

/* A task that has come, or was to, is elsewhere again. */
static void go_again(const evn_loop *loop, int task) {
    for (int i = 0; loop->place && i < loop->home.blocks; i++) {
        const int region = region_of(loop, task, i);
        if (travels(loop, region) && !place_is_absent(loop->place, region))
            evn_place_leave(loop->place, region);
    }
    loop->home.drop(loop->home_arg, task);
}

void move_undo(const evn_loop *loop, const struct moves *m) {
    for (int t = 0; t < m->tasks; t++) {
        if (m->done[t] == MOVE_SENT) come_back(loop, t);
        if (m->done[t] == MOVE_MADE) go_again(loop, t);
    }
}

evn_status evn_loop_homes(evn_loop *loop, const evn_home *home, void *arg) {
    NEED(loop, "a loop");
    if (!home || home->blocks < 1 || !home->make || !home->memory || !home->drop)
        return evn_fail(EVN_USAGE, "loop: evn_loop_homes() wants 1 block or more, and all three "
                                   "functions");
    loop->home = *home;
    loop->home_arg = arg;
    return EVN_OK;
}
