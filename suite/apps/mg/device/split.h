/* Places of a rank's tasks. All CPU units of a rank share the host's grid, and each device has
 * memory of its own. Between places the same planes are exchanged as between ranks
 * (mg/slabs/halo.h).
 *
 * Planes of a device that others need go to the host's grid, and from there also to other ranks;
 * planes that a device needs come from there, or directly from a near device. One copy for adjacent
 * planes. If one device has all tasks of all ranks, nothing is copied. */
#pragma once

#include "mg/device/device.h"
#include "mg/slabs/halo.h"
#include "mg/slabs/pieces.h"

/* Beside those of ranks: u of the fourth level, which the host makes for its devices. */
enum { SPLIT_U3 = HALO_KINDS, SPLIT_KINDS };

/* Planes that a device sends to the host's grid, gets from there, and gets from devices
 * (strip.rank). */
struct traffic {
    struct strips out, in, peers;
};

struct split {
    const struct problem *p;
    struct halo *halo;
    int tasks, count; /* number of tasks, and of devices */
    struct part *part;
    struct traffic *traffic; /* traffic of each device, SPLIT_KINDS entries */
    char **stage;            /* by device, memory of the host that copies go through */
    size_t *stage_bytes;
    int *place; /* place of each task: 0 the host's grid, 1 + i device i, -1 - r on rank r */
    int *next, *device;
    unsigned char *wanted;
    int whole;       /* one device has all there is */
    long long moved; /* tasks that have changed their place on this rank, and their bytes */
    double moved_bytes;
};

/* For units of which some are devices; else nothing is ever done. EVN_USAGE: as
 * split_before(); EVN_MEMORY: a device has too little, with how much is needed. */
evn_status split_open(struct split *split, const struct problem *p, struct halo *halo,
                      const evn_loop *loop, int tasks);
void split_close(struct split *split);

/* Plans the transfers for the loop's present owners, after an instance; each received range of this
 * rank is a piece of its own. */
evn_status split_plan(struct split *split, const evn_loop *loop, struct pieces *pieces);
/* Plans the transfers for the next instance, which follows at once: u of the finest level and of
 * the second goes with the tasks. EVN_USAGE: the schedule lets units draw. */
evn_status split_before(struct split *split, const evn_loop *loop);

/* Whether a task is on a device. */
static inline int split_away(const struct split *split, int task) {
    return split->count && split->place[task] > 0;
}

/* The device that a task of a batch is on; NULL, with a message: another place. */
struct part *split_part(struct split *split, int unit, int device, int task);

/* Copies planes that others need to the host's grid; before halo_exchange(). */
evn_status split_send(struct split *split, int kind);
/* Copies planes that devices need; after it. */
evn_status split_take(struct split *split, int kind);

/* u of a task's planes of the finest level from its device to the host's grid. */
evn_status split_fetch(struct split *split, int task);
/* u of a task's planes of the finest level from the host's grid to its device. */
evn_status split_bring(struct split *split, int task);
