/* Internals of a cluster. */
#pragma once

#include "cluster/tree.h"
#include "cluster/cluster.h"
#include "cluster/collective_record.h"
#include <pthread.h>
#include <signal.h>

struct evn_cluster {
    const evn_wire_kind *kind; /* NULL: no ranks */
    evn_wire *wire;
    evn_wire_host host;
    struct tree *tree;
    int rank, size;
    pthread_mutex_t lock;
    struct hello *hello; /* introductions of all ranks */
    int next_tag[CLUSTER_USES];
    struct carriage *carriage; /* point-to-point channels; NULL: no ranks */
    /* evn_cluster_units() */
    int *first; /* [size + 1]; 0 before */
    double *speed;
    struct parcels *parcels; /* NULL: no all-to-all yet */
    struct message_log *log; /* NULL: not logged */
    /* collective records */
    evn_status failed; /* failure to report at the next one */
    char failure[1024];
    char share[160];      /* share of the host's cores, in words */
    int broken;           /* 1: the last collective call has failed */
    int stopping;         /* 1: in the last collective call some rank's stop flag was set */
    struct record said;   /* this rank's record; on rank 0 all ranks' */
    struct record answer; /* answer of the last collective call */
    /* on rank 0: each rank's record; one rank's failure, and all ranks' */
    struct cluster_record *of;
    struct record one, failures;
};

/* 1 if the ranks of this host have more threads, threads[rank] (NULL: one each), than cores. */
int cluster_is_crowded(const evn_cluster *cluster, const int *threads);

/* Opens and closes the channels of evn_cluster_carry(); on all ranks. */
evn_status cluster_carry_open(evn_cluster *cluster);
void cluster_carry_close(evn_cluster *cluster);

/* Closes the channels of evn_cluster_exchange(). */
void parcels_close(evn_cluster *cluster);
/* Messages and bytes that it has sent. */
void parcels_sent(const evn_cluster *cluster, long long *messages, double *bytes);

#define MEET_TO_CLOSE "evn_cluster_close()"

/* The last collective record, with the status of this rank's run. */
void cluster_meet_to_close(evn_cluster *cluster, evn_status status);
