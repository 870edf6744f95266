/* A cluster from inside, for the files of this room. */
#ifndef WIRE_INSIDE_H
#define WIRE_INSIDE_H

#include "wire/tree.h"
#include "wire/cluster.h"
#include "wire/meet.h"
#include <pthread.h>
#include <signal.h>

struct evn_cluster {
    const evn_wire_kind *kind; /* NULL: alone */
    evn_wire *wire;
    evn_wire_host host;
    struct tree *tree;
    int rank, size;
    pthread_mutex_t lock;
    struct hello *hello; /* of all ranks */
    int next_tag[CLUSTER_USES];
    struct carriage *carriage; /* carry.c; NULL: alone */
    /* evn_cluster_units() */
    int *first; /* [size + 1] */
    double *speed;
    struct parcels *parcels; /* NULL: none has been sent yet */
    struct message_log *log; /* NULL: none is kept */
    /* meetings */
    evn_status failed; /* to be said at the next one */
    char failure[1024];
    char share[160];      /* of the host's cores, in words */
    int broken;           /* the last meeting has failed */
    int stopping;         /* some rank was asked to stop, when they met last */
    struct record said;   /* by this rank, at the one at hand; on rank 0 by all */
    struct record answer; /* of the last one */
};

/* Whether the ranks of this host have more threads, threads[rank] (NULL: one each), than cores. */
int cluster_is_crowded(const evn_cluster *cluster, const int *threads);

/* What evn_cluster_carry() needs; on all ranks alike. */
evn_status cluster_carry_open(evn_cluster *cluster);
void cluster_carry_close(evn_cluster *cluster);

/* What all ranks say, one behind the other, for all: the `decide` of a meeting, with a roll that
 * outlives it. */
struct roll {
    const evn_cluster *cluster;
    struct record all;
};
evn_status roll_all(void *roll, const struct cluster_record *of, const void **down, size_t *bytes);

/* The ways of evn_cluster_exchange(). */
void parcels_close(evn_cluster *cluster);

#define MEET_TO_CLOSE "evn_cluster_close()"

/* The last meeting, with what this rank's run ended with. */
void cluster_meet_to_close(evn_cluster *cluster, evn_status status);

#endif
