/* For programs: the ranks of a run, on one node or many, whose units do one loop together.
 *
 *    evn_cluster *cluster;
 *    evn_cluster_open(&cluster, "auto");                       first of all
 *    .. machine, units, as in a program of one process ..
 *    evn_cluster_units(cluster, units, NULL);
 *    .. a schedule for evn_cluster_about().units units, evn_loop_open_on() ..
 *    evn_cluster_close(cluster, status);
 *
 * Call evn_cluster_open() before OpenMP regions, machine, units and devices: it may fork, and MPI's
 * threads inherit the caller's cores. A program that does not call it has one process. MPI is
 * loaded only where a launcher (mpirun, srun) has started the process.
 *
 * Every rank calls the collective functions, in the same order, from the thread that opened the
 * cluster. They return the same status on all ranks, the worst of all; rank 0's evn_message() names
 * the rank that failed and its host.
 *
 * In MPI's words:
 *
 *    evn_cluster_agree()     MPI_Allreduce of the worst status
 *    evn_cluster_tell()      MPI_Bcast from rank 0
 *    evn_cluster_gather()    MPI_Gather to rank 0
 *    evn_cluster_carry()     MPI_Send on one rank, MPI_Recv on the other
 *    evn_cluster_exchange()  MPI_Alltoallv
 */
#ifndef EVENER_CLUSTER_H
#define EVENER_CLUSTER_H

#include <evener/program.h>
#include <evener/unit.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `how` names the wire:
 *
 *    auto             MPI if a launcher (mpirun, srun) has started this process, else alone
 *    alone            one rank
 *    processes:N      N forked processes of this node. Options: latency=20us,bandwidth=1GB/s
 *                     emulate a slower wire. restart=fewer or restart=same keeps the run
 *                     alive when a signal ends a rank: evn_cluster_open() returns again in
 *                     newly forked ranks, one fewer or as many, which continue from the
 *                     program's checkpoint; three times at most
 *    mpi, mpi:FILE    MPI by the plug-in that fits the launcher, or by the plug-in FILE
 *    mpi:comm=HANDLE  the ranks of a communicator of the program's own
 *
 * HANDLE is the communicator's Fortran handle, MPI_Comm_c2f() in C, `MPI_COMM_WORLD` or the like
 * itself in Fortran's module mpi, so that no header of MPI is needed here. Collective over its
 * ranks, which may be some of the world's, of one node or of several; a process may be in several
 * clusters at a time. MPI has been initialised by the program, with MPI_THREAD_SERIALIZED at least,
 * and is finalised by it, after evn_cluster_close(). All messages of the library go over a
 * duplicate of the communicator, which evn_cluster_close() frees: the program's own are not
 * touched. Where cores are shared out (evn_cluster_machine()), only the cluster's ranks count.
 * EVN_USAGE: MPI is not initialised, or the handle is of no communicator or of an
 * inter-communicator; EVN_SYSTEM: MPI's thread level is too low; EVN_MISSING: the process's MPI is
 * not the one that the plug-in is made for, or no shared library.
 *
 * Returns in every rank. EVN_USAGE: `how` is not understood. EVN_MISSING: a launcher has started
 * this process, and no plug-in fits its MPI. EVN_SYSTEM, EVN_MEMORY. After a failure there is
 * nothing to close. */
evn_status evn_cluster_open(evn_cluster **out, const char *how);

/* This process's rank by the launcher's environment variables; -1: no launcher has started it.
 * Works before a cluster is open, so that one process only prints a message. *speaks (may be NULL):
 * 1 if this process should report that evn_cluster_open() failed with EVN_MISSING: the first
 * process of each host on which a launcher has started several, which all miss the same plug-in.
 * The others exit with 0 silently, since a launcher kills all processes as soon as one exits with
 * another status. */
int evn_cluster_launched(int *speaks);

/* Closes the cluster; returns when all ranks have called it. Collective. Close loops and exchanges
 * before. `status`: the result of the last evn_cluster_agree(). */
void evn_cluster_close(evn_cluster *cluster, evn_status status);

/* Sets the stop flag: the program sets *flag to a value other than 0, as in a handler of SIGTERM,
 * to end this process. A wait for another rank then returns EVN_STOPPED when nothing has arrived
 * for two seconds. After that the ranks may disagree: close the cluster and exit. `flag` must
 * outlive the cluster. */
void evn_cluster_stop_on(evn_cluster *cluster, const volatile int *flag);

int evn_cluster_rank(const evn_cluster *cluster);
int evn_cluster_size(const evn_cluster *cluster);

/* The state of a cluster; pointers are valid until evn_cluster_units() or evn_cluster_machine() is
 * called again. */
typedef struct evn_cluster_info {
    const char *wire;     /* name, "processes" or "Open MPI 4.1.4"; "alone": one rank, no wire */
    const char *cores;    /* what evn_cluster_machine() decided, "3 of 8 cores, shared by ranks 0 to
                             2"; "" before */
    int restarts;         /* times that the ranks were forked again because one was lost */
    int failed;           /* 1: the last collective call has failed; the same on all ranks */
    int stopping;         /* 1: some rank's stop flag was set at the last collective call; the same
                             on all ranks, so that all can stop after the same step */
    int units;            /* of all ranks (evn_cluster_units()); 0 before */
    const int *first;     /* global number of each rank's first unit; first[size] is `units` */
    const double *speed;  /* of all units, by global number; NULL before */
    long long messages;   /* sent by this rank in evn_cluster_exchange() */
    double message_bytes; /* of these messages, without headers */
    /* For studies and tests: the kind of the wire (<evener/wire.h>), and this rank's end of it;
     * NULL: one rank alone. Tags from 32000 on are reserved for them. No other part of the cluster
     * may be used meanwhile. */
    const struct evn_wire_kind *kind;
    struct evn_wire *ends;
} evn_cluster_info;
evn_cluster_info evn_cluster_about(const evn_cluster *cluster);

/* The name of the host a rank runs on. */
const char *evn_cluster_host(const evn_cluster *cluster, int rank);

/* Opens the part of the machine that this rank may use; open units on it. Ranks of one host share
 * its cores. A rank takes the cores that its launcher has bound it to, if no other rank is bound
 * there; else consecutive cores, in the order of ranks. `wanted`: their number; 0: an equal part of
 * the remaining cores. A launcher's default binding to one or two cores (as of Open MPI) is ignored
 * where `wanted` is more. Collective. EVN_USAGE: cores of two ranks overlap, or `wanted` exceeds
 * the cores and `oversubscribe` is 0; EVN_SYSTEM, EVN_MEMORY. */
evn_status evn_cluster_machine(evn_cluster *cluster, evn_machine **out, int wanted,
                               int oversubscribe);

/* Registers this rank's units with all ranks; units then have global numbers, rank after rank.
 * `speed`: of this rank's units; NULL: evn_unit_about().speed. Collective. EVN_USAGE, EVN_MEMORY.
 */
evn_status evn_cluster_units(evn_cluster *cluster, const evn_units *mine, const double *speed);
/* The rank that has the unit of this global number. */
int evn_cluster_rank_of(const evn_cluster *cluster, int unit);

/* Returns the worst status of all ranks, the same on all (MPI_Allreduce with the maximum).
 * Collective. */
evn_status evn_cluster_agree(evn_cluster *cluster, evn_status mine);

/* Gathers `bytes` from each rank at rank 0, in the order of ranks (MPI_Gather). `all`: size x
 * bytes, may be NULL on other ranks. Collective. */
evn_status evn_cluster_gather(evn_cluster *cluster, const void *mine, size_t bytes, void *all);

/* Broadcasts `bytes` from rank 0 to all ranks (MPI_Bcast). Collective. */
evn_status evn_cluster_tell(evn_cluster *cluster, void *data, size_t bytes);

/* Sends `bytes` at `data` of rank `from` to `data` of rank `to`, another one (MPI_Send and
 * MPI_Recv). Exactly these two ranks call it, with the same numbers. A message that its receiver
 * has not asked for stays with the sender; so ranks that walk the same list of pairs in the same
 * order cannot deadlock. EVN_STOPPED: see evn_cluster_stop_on(). EVN_SYSTEM: the two ranks are out
 * of step; close the cluster. EVN_USAGE: this rank is neither `from` nor `to`. */
evn_status evn_cluster_carry(evn_cluster *cluster, int from, int to, void *data, size_t bytes);

/* One rank's block of an all-to-all: sent to that rank, or received from it. */
typedef struct evn_parcel {
    void *data;
    size_t bytes;
} evn_parcel;

/* All-to-all with variable sizes (MPI_Alltoallv): out[r] goes to rank r, in[r] comes from rank r,
 * `size` parcels each. Both ends know the size. An ordered pair of ranks exchanges one message for
 * each 16 MiB, and none for 0 bytes. A rank's parcel for itself is copied, unless source and target
 * are the same memory. The memory is the caller's, and is accessed during the call only.
 *
 * Collective, but not an agreement. `mine`: this rank's status so far. A rank that calls it with a
 * failure gets that status back, sends only the failure, and its `in` is not written. A rank that
 * expects data of it gets EVN_BODY, and the contents of its `in` are undefined. All ranks learn of
 * the failure at the next evn_cluster_agree(). Sizes that differ between the two ends end the run.
 * EVN_STOPPED: see evn_cluster_stop_on(); EVN_USAGE: this rank's own parcel. */
evn_status evn_cluster_exchange(evn_cluster *cluster, evn_status mine, const evn_parcel *out,
                                const evn_parcel *in);

#ifdef __cplusplus
}
#endif
#endif
