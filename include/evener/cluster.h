/* The processes of a run: ranks, on one node or on many, whose units do one loop together.
 *
 *     evn_cluster *cluster;
 *     evn_cluster_open(&cluster, "auto");                       first of all
 *     .. machine, units, as in a program of one process ..
 *     evn_cluster_units(cluster, units, NULL);
 *     .. a schedule for evn_cluster_unit_count() units, evn_loop_open_on() ..
 *     evn_cluster_close(cluster, status);
 *
 * Open it first of all, before OpenMP regions, machine, units and devices: processes are forked
 * here, and threads of MPI inherit the caller's cores. A program without it has one process and is
 * not changed by it; no MPI is loaded unless a launcher has started the process.
 *
 * Functions that are collective are called by every rank, in the same order, from the thread that
 * opened the cluster; they return the same status everywhere, the worst of all, and rank 0's
 * evn_message() names the rank and its host.
 */
#ifndef EVENER_CLUSTER_H
#define EVENER_CLUSTER_H

#include <evener/status.h>
#include <evener/unit.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_cluster evn_cluster;

/* `how`:
 *     auto             MPI if a launcher (mpirun, srun) has started this process, else alone
 *     alone            one rank
 *     processes:N      N forked processes of this node; with options an emulated wire, as
 *                      "processes:4,latency=20us,bandwidth=1GB/s"; with restart=fewer or
 *                      restart=same a rank that is ended by a signal does not end the run: it
 *                      returns once more in ranks forked anew, one fewer or as many, which go on
 *                      from what the program has kept on disk; three times at most
 *     mpi, mpi:FILE    MPI by the plug-in that fits the launcher, or by that one
 * Returns in every rank. EVN_USAGE: the text; EVN_MISSING: a launcher has started us and no plug-in
 * fits, or that of another MPI, where each process is a rank of its own; EVN_SYSTEM, EVN_MEMORY. On
 * failure there is nothing to close. */
evn_status evn_cluster_open(evn_cluster **out, const char *how);

/* How often ranks of this run were forked anew before this one, because one was lost. */
int evn_cluster_restarts(const evn_cluster *cluster);

/* What a launcher's variables say before a cluster is open: this process's rank, -1: no launcher
 * has started it. For messages that only one of them is to print. */
int evn_cluster_launched(void);

/* Whether this process is to say that evn_cluster_open() has failed with EVN_MISSING: the first of
 * each host on which a launcher has started several, who all miss the same plug-in. The others
 * return 0 without a word, since launchers end all as soon as one returns something else. */
int evn_cluster_speaks(void);

/* Every rank calls it, when loops and exchanges on it are closed; returns when all have. `status`:
 * what evn_cluster_agree() said last. */
void evn_cluster_close(evn_cluster *cluster, evn_status status);

/* `flag` is not 0 once somebody wants this process to end, as a handler of SIGTERM says: who then
 * waits for another rank and hears nothing for two seconds gives up with EVN_STOPPED, after which
 * the ranks may not agree any more: close the cluster and leave. It must outlive the cluster. */
void evn_cluster_stop_on(evn_cluster *cluster, const volatile int *flag);

/* Whether some rank was asked to end, by its flag, when ranks did something together last: the same
 * on all, so that all can stop after the same step. */
int evn_cluster_stopping(const evn_cluster *cluster);

int evn_cluster_rank(const evn_cluster *cluster);
int evn_cluster_size(const evn_cluster *cluster);

/* The kind of wire, "processes" or "Open MPI 4.1.4"; "alone" with one rank and no wire. */
const char *evn_cluster_wire(const evn_cluster *cluster);

/* The name of the host a rank runs on. */
const char *evn_cluster_host(const evn_cluster *cluster, int rank);

/* The machine as this rank may use it. On a host with several ranks they share its cores: each
 * takes those that its launcher has bound it to, where these are its own, and else consecutive
 * ones, by rank; `wanted` says how many (0: an equal part of what is left). Where a launcher binds
 * to a core or two because it was not told otherwise (Open MPI does), and more are wanted, what the
 * system gives is taken. Open units on it. Collective. EVN_USAGE: ranks' cores overlap, or more are
 * wanted than there are and `oversubscribe` is 0; EVN_SYSTEM, EVN_MEMORY. */
evn_status evn_cluster_machine(evn_cluster *cluster, evn_machine **out, int wanted,
                               int oversubscribe);

/* How that was decided, in words, "3 of 8 cores, shared by ranks 0 to 2"; "" before. */
const char *evn_cluster_cores(const evn_cluster *cluster);

/* Tells all ranks of this one's units; from then on units have global numbers, rank after rank.
 * `speed`: of mine, NULL: evn_unit_speed(). Collective. EVN_USAGE, EVN_MEMORY. */
evn_status evn_cluster_units(evn_cluster *cluster, const evn_units *mine, const double *speed);
int evn_cluster_unit_count(const evn_cluster *cluster);
int evn_cluster_first_unit(const evn_cluster *cluster, int rank);
int evn_cluster_rank_of(const evn_cluster *cluster, int unit);
/* Of all units, by global number. */
const double *evn_cluster_speeds(const evn_cluster *cluster);

/* The worst status of all ranks, the same everywhere. Collective. */
evn_status evn_cluster_agree(evn_cluster *cluster, evn_status mine);

/* Whether what ranks did together last has failed: then all of them know. */
int evn_cluster_failed(const evn_cluster *cluster);

/* `bytes` from each rank to rank 0, which gets them in the order of ranks (`all`: size x bytes, may
 * be NULL elsewhere). Collective. */
evn_status evn_cluster_gather(evn_cluster *cluster, const void *mine, size_t bytes, void *all);

/* The same bytes from rank 0 to all. Collective. */
evn_status evn_cluster_tell(evn_cluster *cluster, void *data, size_t bytes);

/* `bytes` at `data` of rank `from` to `data` of rank `to`, which is another one. Both call it, with
 * the same numbers, and no others need to. What was not asked for yet waits with its sender, so
 * ranks that all walk the same list of such ways do not wait in circles. EVN_STOPPED as
 * evn_cluster_stop_on() says, EVN_SYSTEM: then the two do not agree any more. EVN_USAGE: this rank
 * is neither of the two. */
evn_status evn_cluster_carry(evn_cluster *cluster, int from, int to, void *data, size_t bytes);

/* What goes to a rank, or comes from it. */
typedef struct evn_parcel {
    void *data;
    size_t bytes;
} evn_parcel;

/* Everybody's data to everybody: out[r] goes to rank r, in[r] comes from it, `size` of each. Both
 * ends know the size; of 0 bytes there is no message, else there is one for an ordered pair of
 * ranks, of more than 16 MiB one for each such piece. What a rank has for itself is copied, unless
 * it is in its place already. Where nothing is said of it, memory is the caller's and is only read
 * or written during the call.
 *
 * Collective, but not an agreement: `mine` is what this rank has come to. Of a rank that comes with
 * a failure, which gets it back, nothing is sent but that, and nothing is written to what it has in
 * `in`; who expects data of it gets EVN_BODY, and what is in `in` is not to be used. All know at
 * the next evn_cluster_agree(). Sizes on which ranks do not agree end the run. EVN_STOPPED, as
 * everywhere; EVN_USAGE: this rank's own parcel. */
evn_status evn_cluster_exchange(evn_cluster *cluster, evn_status mine, const evn_parcel *out,
                                const evn_parcel *in);

/* What this rank has sent by it until now: messages, and bytes without their headers. */
void evn_cluster_exchanged(const evn_cluster *cluster, long long *messages, double *bytes);

#ifdef __cplusplus
}
#endif
#endif
