/* Meetings: what all ranks of a cluster do together. Everybody's record goes up the control tree,
 * rank 0 decides, and its answer comes down: with the worst status of all, so that all go on or
 * none does.
 *
 * A rank that fails where others do not look (in an exchange) says so at the next meeting. A rank
 * that gives up and closes its cluster while others meet for something else makes their meeting
 * fail, and waits for them to close, too.
 */
#ifndef WIRE_MEET_H
#define WIRE_MEET_H

#include <evener/cluster.h>
#include <evener/status.h>
#include <stddef.h>

struct cluster_record {
    const void *data;
    size_t bytes;
};

struct meeting {
    const char *what; /* "evn_loop_run()": the same on all ranks */
    const void *up;   /* what this rank says */
    size_t up_bytes;
    /* Called on rank 0 where no rank has failed, with what each has said; may be NULL. Its answer
     * in *down, which is copied. */
    evn_status (*decide)(void *arg, const struct cluster_record *of, const void **down,
                         size_t *bytes);
    void *arg;
    const void *down; /* the answer, valid until the next meeting */
    size_t down_bytes;
};

/* Collective. The status is the same everywhere. */
evn_status cluster_meet(evn_cluster *cluster, evn_status mine, struct meeting *meeting);

/* Keeps a failure of this rank, with evn_message(), for the next meeting; and what is kept. */
void cluster_fail(evn_cluster *cluster, evn_status status);
evn_status cluster_failed(const evn_cluster *cluster);

#endif
