/* Log of messages between ranks, for traces: send and receive times by each rank's clock. Without a
 * trace it costs one comparison. Both ends of a message log the same kind and number, by which they
 * are matched. */
#pragma once

#include <evener/cluster.h>

enum log_kind {
    LOG_FACES,  /* faces of an exchange */
    LOG_PARCEL, /* a parcel of evn_cluster_exchange() */
    LOG_TASK,   /* a task that moves to another rank */
    LOG_KINDS
};

/* One end of a message. */
struct log_entry {
    double begin, end; /* evn_now(): of sending, or of waiting until it had arrived */
    double bytes;      /* bytes, without headers */
    long long number;  /* identifies the message, with kind and ranks */
    int peer;
    short kind, out; /* out 1: sent to `peer`; 0: received from it */
};

/* Keeps the latest `max` entries of this rank from now on; 0: none. EVN_MEMORY: none. */
evn_status log_keep(evn_cluster *cluster, int max);

int log_is_kept(const evn_cluster *cluster);

/* Entries kept, oldest first; and the number of entries dropped. */
int log_count(const evn_cluster *cluster);
struct log_entry log_get(const evn_cluster *cluster, int i);
long long log_lost(const evn_cluster *cluster);

/* Bracket a call that sends or waits, on any thread. log_begin() returns the time, 0 without a log;
 * log_end() adds the message's entry, which ends now. */
double log_begin(const evn_cluster *cluster);
void log_end(evn_cluster *cluster, struct log_entry entry);

void log_close(evn_cluster *cluster);
