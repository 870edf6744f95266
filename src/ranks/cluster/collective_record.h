/* Collective records (gather and broadcast): every rank's record goes up the control tree, rank 0
 * decides, and its answer goes down, with the worst status of all, so that all ranks continue or
 * none.
 *
 * A failure outside of collective calls (in an exchange) is reported at the next one. A rank that
 * gives up and closes its cluster, while others are in another collective call, makes that call
 * fail, and waits for the others to close. */
#pragma once

#include <evener/cluster.h>
#include <evener/status.h>
#include <stddef.h>

struct cluster_record {
    const void *data;
    size_t bytes;
};

struct meeting {
    const char *what; /* name of the call, "evn_loop_run()", the same on all ranks */
    const void *up;   /* this rank's record */
    size_t up_bytes;
    /* Called on rank 0, if no rank has failed, with all records; may be NULL. *down: its answer,
     * which is copied. */
    evn_status (*decide)(void *arg, const struct cluster_record *of, const void **down,
                         size_t *bytes);
    void *arg;
    const void *down; /* the answer, valid until the next call */
    size_t down_bytes;
};

/* Reserves memory for collective calls in which each rank sends up to `up` bytes, and rank 0
 * answers up to `down`; without it a later call might find none and end the run. Local.
 * EVN_MEMORY. */
evn_status cluster_reserve(evn_cluster *cluster, size_t up, size_t down);

/* The collective call. The status is the same on all ranks. */
evn_status cluster_meet(evn_cluster *cluster, evn_status mine, struct meeting *meeting);

/* A meeting for its status alone. Collective. */
evn_status cluster_agree(evn_cluster *cluster, const char *what, evn_status mine);

/* MPI_Allgatherv(): the answer is all ranks' records, one behind the other. MPI_Allgather(): each
 * rank gives `bytes`, which come into `all` unless it fails. Collective. */
evn_status cluster_allgatherv(evn_cluster *cluster, evn_status mine, struct meeting *meeting);
evn_status cluster_allgather(evn_cluster *cluster, const char *what, evn_status mine,
                             const void *own, size_t bytes, void *all);

/* EVN_OK: rank r's record is like rank 0's; or a failure that names the rank and the difference. */
typedef evn_status cluster_differ(const void *arg, int r, const void *theirs, const void *first);

/* `decide` of a collective call that compares all ranks' records, structs of `bytes` up to
 * CLUSTER_COMPARED, with rank 0's. The first that differs fails. */
enum { CLUSTER_COMPARED = 256 };
evn_status cluster_compare(const evn_cluster *cluster, const struct cluster_record *of,
                           size_t bytes, cluster_differ *differ, const void *arg);

/* A collective call that only compares records. */
evn_status cluster_meet_alike(evn_cluster *cluster, const char *what, evn_status mine,
                              const void *own, size_t bytes, cluster_differ *differ,
                              const void *arg);

/* Stores a failure of this rank, with evn_message(), for the next collective call; and returns it.
 */
void cluster_fail(evn_cluster *cluster, evn_status status);
evn_status cluster_failed(const evn_cluster *cluster);
