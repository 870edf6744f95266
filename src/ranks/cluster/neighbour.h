/* Messages between a rank and its neighbours, run by run: in each run one to each neighbour and one
 * from each, as far as there are values. A header says which run a message belongs to and whether
 * its sender has failed: a rank that fails still sends its messages, without values, so that no
 * neighbour waits for ever. What a message holds is the caller's.
 *
 *     open, note.., list; bytes of each neighbour; connect
 *     each run: next, begin; values into `out`; send; receive; values from `in`; release or settle
 */
#pragma once

#include <evener/cluster.h>
#include <evener/wire.h>
#include <pthread.h>
#include <stdatomic.h>

struct neighbour {
    int rank;
    size_t out_bytes, in_bytes; /* bytes of values in a message; 0: there is none */
    int readers;                /* parts of this rank that read the message of each run */
    char *out, *in;             /* values of the current run; NULL */
    /* of neighbour.c */
    evn_channel *out_channel, *in_channel;
    pthread_mutex_t lock; /* held while the message is received; other units wait */
    int expected, here;   /* in the current run, 1: a message is expected; 1: it has arrived */
    atomic_int reading;   /* readers that have not released it */
    evn_status status;    /* result of the receive, and its message */
    char text[512];
};

struct neighbours {
    evn_cluster *cluster;
    const char *room; /* begins messages of failures */
    int tag;          /* another one each time they are opened */
    long long run;    /* the same on all ranks */
    int *index;       /* of each rank that is a neighbour */
    struct neighbour *of;
    int count;
};

/* Opens with none, and a new tag; neighbours are then noted, any number of times each, and listed.
 * Bytes are set, then channels are opened. All ranks open and close at the same time. EVN_MEMORY,
 * and failures of the wire: closed all the same. */
evn_status neighbours_open(struct neighbours *n, evn_cluster *cluster, const char *room);
evn_status neighbours_list(struct neighbours *n);
evn_status neighbours_connect(struct neighbours *n);
void neighbours_close(struct neighbours *n); /* receives what is expected; the run's number stays */

static inline void neighbours_note(const struct neighbours *n, int rank) { n->index[rank] = 1; }
static inline struct neighbour *neighbours_find(const struct neighbours *n, int rank) {
    return &n->of[n->index[rank]];
}

/* The next run begins: messages are announced, and buffers for those to be sent are there. After a
 * failure send() and settle() follow all the same. A second begin() in a run changes nothing. */
void neighbours_next(struct neighbours *n);
evn_status neighbours_begin(struct neighbours *n);

/* Sends all messages; `failed`: without values. EVN_STOPPED; another failure ends the run. */
evn_status neighbours_send(struct neighbours *n, evn_status failed);

/* Waits for a neighbour's message, unless another unit has. EVN_STOPPED also if it has failed,
 * which it says itself when all meet. The last reader's release gives the buffer back. */
evn_status neighbour_receive(const struct neighbours *n, struct neighbour *from);
void neighbour_release(const struct neighbours *n, struct neighbour *from);

/* Receives and gives back what is left of the run. */
void neighbours_settle(struct neighbours *n);
