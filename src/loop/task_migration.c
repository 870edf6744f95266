/* Migration of tasks to another rank: their memory is sent block by block.
 *
 * All ranks walk the moved tasks in ascending order; the old home sends, the new one receives. So
 * no deadlock can arise: the rank with the lowest unfinished task can proceed. */
#include "loop/loop_ranks.h"
#include "base/argument.h"
#include "cluster/cluster.h"
#include "cluster/log.h"
#include "place/use.h"

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

/* A region in memory of the place's leaves with its owner's home.drop(). */
static evn_status leave(evn_loop *loop, int task) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < loop->home.blocks; i++) {
        const int region = region_of(loop, task, i);
        if (region < 0) continue;
        if (loop->tie.arg && place_is_made(loop->place, region))
            status = place_bring_home(loop->place, region);
        else
            status = evn_place_leave(loop->place, region);
    }
    return status;
}

static evn_status arrive(evn_loop *loop, int region, void *block) {
    if (region < 0 || (loop->tie.arg && place_is_made(loop->place, region))) return EVN_OK;
    return evn_place_arrive(loop->place, region, block);
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

/* A task leaves this rank; after a failure its receiver is told. */
static evn_status send_task(evn_loop *loop, int task, int peer, evn_status failed) {
    struct log_entry entry = moved(loop, task, peer, log_begin(loop->cluster));
    if (!failed) failed = leave(loop, task);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < loop->home.blocks; i++) {
        size_t bytes;
        char *block = block_of(loop, task, i, &bytes, &failed);
        status = send_block(loop->cluster, peer, block, block ? bytes : 0, failed);
        if (!failed) loop->totals.moved_bytes += (double)bytes;
        entry.bytes += (double)bytes;
    }
    if (failed || status) return failed ? failed : status;
    entry.out = 1;
    log_end(loop->cluster, entry);
    loop->home.drop(loop->home_arg, task);
    loop->totals.moved++;
    return EVN_OK;
}

/* A task comes to this rank; `made`: its memory is there. */
static evn_status receive_task(evn_loop *loop, int task, int peer, int made, evn_status failed) {
    struct log_entry entry = moved(loop, task, peer, log_begin(loop->cluster));
    if (!failed && !made) failed = loop->home.make(loop->home_arg, task);
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

/* Whether a task comes to this rank. */
static int comes(const evn_loop *loop, int from, int to) {
    return loop_own(loop, to) >= 0 && loop_crosses(loop, from, to);
}

evn_status move_make_room(const evn_loop *loop, const int *from, const int *to) {
    const int tasks = loop->problem->tasks;
    int first = 0, t;
    while (first < tasks && !loop_crosses(loop, from[first], to[first])) first++;
    evn_status status = first < tasks ? check_homes(loop) : EVN_OK;
    if (status || !loop->home.make) return status;
    for (t = first; !status && t < tasks; t++)
        if (comes(loop, from[t], to[t])) status = loop->home.make(loop->home_arg, t);
    if (status) move_drop_room(loop, from, to, t - 1);
    return status;
}

void move_drop_room(const evn_loop *loop, const int *from, const int *to, int tasks) {
    for (int t = 0; loop->home.drop && t < tasks; t++)
        if (comes(loop, from[t], to[t])) loop->home.drop(loop->home_arg, t);
}

/* After a failure the walk continues, since other ranks wait for their tasks. */
evn_status move_tasks(evn_loop *loop, const int *from, const int *to, int made) {
    const int me = evn_cluster_rank(loop->cluster);
    evn_status status = check_homes(loop);
    if (!loop->home.memory) return status;
    for (int t = 0; t < loop->problem->tasks; t++) {
        const int old = evn_cluster_rank_of(loop->cluster, from[t]);
        const int new = evn_cluster_rank_of(loop->cluster, to[t]);
        evn_status moved = EVN_OK;
        if (old == new) continue;
        if (old == me) moved = send_task(loop, t, new, status);
        if (new == me) moved = receive_task(loop, t, old, made, status);
        if (moved) status = moved;
    }
    return status;
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
