/* The log of messages between ranks, for traces: when each was sent and when it was received, by
 * each rank's own clock. None is kept unless somebody has asked for it; then nothing but a
 * comparison happens here.
 *
 * Both ends of a message note it with the same kind and number, so that they are found again. */
#ifndef WIRE_LOG_H
#define WIRE_LOG_H

#include <evener/cluster.h>

enum log_kind {
    LOG_FACES,  /* of an exchange between tasks */
    LOG_PARCEL, /* of evn_cluster_exchange() */
    LOG_TASK,   /* a task that changes its rank */
    LOG_KINDS
};

/* One end of a message. */
struct log_entry {
    double begin, end; /* evn_now()'s: of sending, or of waiting until it was there */
    double bytes;      /* without headers */
    long long number;  /* with kind and ranks this tells messages apart */
    int peer;
    short kind, out; /* out: sent to `peer`; else it came from there */
};

/* Keeps the latest `max` entries of this rank from now on; 0: none. EVN_MEMORY: none is kept. */
evn_status log_keep(evn_cluster *cluster, int max);

int log_is_kept(const evn_cluster *cluster);

/* Those that are kept, oldest first; how many there were that are not any more. */
int log_count(const evn_cluster *cluster);
struct log_entry log_get(const evn_cluster *cluster, int i);
long long log_lost(const evn_cluster *cluster);

/* Around a call that sends or waits, from any thread: the time, 0 where nothing is kept; and the
 * entry, whose end is now. */
double log_begin(const evn_cluster *cluster);
void log_end(evn_cluster *cluster, struct log_entry entry);

void log_close(evn_cluster *cluster);

#endif
