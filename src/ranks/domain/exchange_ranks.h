/* Messages of an exchange between ranks. */
#pragma once

#include "cluster/neighbour.h"
#include "exchange/remote_ops.h"
#include <stdatomic.h>

/* A stretch of a message that is contiguous in a device's box. */
struct stretch {
    struct neighbour *neighbour;
    int end;
    size_t room, box, bytes;
};
struct stretches {
    struct stretch *stretch;
    int count, room;
};

struct remote {
    struct neighbours neighbours;
    int *face;  /* faces that cross to or from this rank, in the order of messages */
    size_t *at; /* offset of each in its message */
    int faces;
    struct stretches out, in; /* stretches of ends on devices */
    /* in the current run */
    atomic_int packing; /* units that have not packed yet */
    atomic_int failed;  /* status of a unit that could not pack */
};

extern const struct remote_ops remote_ops; /* a loop over ranks has them (loop/rank_ops.h) */
