/* One-sided arrays: memory of all ranks, into which any of them writes without the owner's help, as
 * partitioned global address spaces have it (González, "UPC + CUDA", and NPB FT and MG on it). What
 * runs over <evener/cluster.h>'s wires runs over it: one process by itself, forked processes, MPI.
 *
 *     evn_shared *s;                                   each rank's number to the next one
 *     evn_shared_open(&s, cluster, &(evn_shared_shape){.bytes = 2 * sizeof(double), .signals = 1});
 *     double *mine = evn_shared_memory(s);
 *     evn_shared_put_signal(s, next, sizeof(double), &mine[0], sizeof(double), 0);
 *     evn_shared_wait(s, previous, 0, 1);              mine[1] is there
 *     evn_shared_barrier(s);                           all have it
 *     evn_shared_close(s);
 *
 * A put writes to another rank's part and does not wait. It is there
 *
 *     for who waits for a signal       that the same rank raised after it (and the same thread)
 *     for all ranks                    after a barrier or reduction
 *     for who has put it               after evn_shared_flush(): then it may be told otherwise
 *
 * and until then what is read there may be old, new or some of both. Its source may be written
 * again once the putting rank has flushed, raised a signal of the same rank, or been through a
 * barrier. Two puts to the same bytes without one of these between them may come in any order.
 *
 * A signal is a number that each rank has for each other rank and itself: how often that one has
 * raised it, from 0. It never goes down, so who waits in round n of something waits for n.
 *
 * Where memory is of the same node (evn_shared_pointer() gives it), a put is a copy by the
 * processor, and a rank may as well read and write there itself; a signal then says that it has. To
 * other nodes puts go over the wire. Where the network cannot write to memory by itself (TCP, and
 * MPICH even within a node) they come when their target calls the library next: every wait, barrier
 * and reduction lets them come on, and evn_shared_poll() does between computations. A target that
 * computes makes a flush, and a signal to it, wait; nothing hangs.
 *
 * Unless a function says otherwise any thread of a rank may call it at any time. Waits end with
 * EVN_STOPPED as evn_cluster_stop_on() says, and when a rank dies so does the run; MPI itself
 * cannot be left, though, while it flushes.
 */
#ifndef EVENER_SHARED_H
#define EVENER_SHARED_H

#include <evener/cluster.h>
#include <evener/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_shared evn_shared;

#define EVN_SHARED_SIGNALS_MAX 4096

typedef struct evn_shared_shape {
    size_t bytes; /* of this rank; ranks may have different ones, and 0 */
    int signals;  /* their number, 0 to EVN_SHARED_SIGNALS_MAX; the same on all ranks */
    /* For studies and tests: as if each node had so many ranks, consecutive ones; puts between
     * nodes go over the wire. 0: as it is. The same on all ranks. */
    int per_node;
} evn_shared_shape;

/* Makes the memory of all ranks, zeros, each part page-aligned. It is written to before this
 * returns where it comes from a file system that may be full (/dev/shm, with MPI). Collective, and
 * the same status on all: EVN_USAGE; EVN_MEMORY: there is not as much; EVN_MISSING: the wire has no
 * one-sided memory; EVN_SYSTEM. */
evn_status evn_shared_open(evn_shared **out, evn_cluster *cluster, const evn_shared_shape *shape);

/* Collective; nobody may use it any more, nor the pointers into it. Before evn_cluster_close(). */
void evn_shared_close(evn_shared *shared);

/* This rank's own part; NULL if it has no bytes. */
void *evn_shared_memory(const evn_shared *shared);

/* The part of `rank` if that is on this node, its own too; else NULL. */
void *evn_shared_pointer(const evn_shared *shared, int rank);

/* The bytes that `rank` has. */
size_t evn_shared_bytes(const evn_shared *shared, int rank);

/* Writes `bytes` at `from` to `at` of rank `to`'s part. Does not wait. EVN_USAGE: there is no such
 * rank, or it has no such bytes; EVN_SYSTEM. */
evn_status evn_shared_put(evn_shared *shared, int to, size_t at, const void *from, size_t bytes);

/* The same for `rows` pieces of `bytes`, `step` bytes from one's beginning to the next one's at the
 * target and `from_step` at the source. As many puts as rows, but a single one where both ends have
 * no gaps: where rows are short and go to another node, pack them. */
evn_status evn_shared_put_rows(evn_shared *shared, int to, size_t at, size_t step, const void *from,
                               size_t from_step, size_t bytes, size_t rows);

/* evn_shared_put() and evn_shared_raise(). */
evn_status evn_shared_put_signal(evn_shared *shared, int to, size_t at, const void *from,
                                 size_t bytes, int signal);

/* Adds 1 to what rank `to` has of this rank's `signal`, after all that the calling thread has put
 * or written there before. To another node it waits until that is there. */
evn_status evn_shared_raise(evn_shared *shared, int to, int signal);

/* Returns when all that this rank has put to rank `to` (-1: to all) is there. */
evn_status evn_shared_flush(evn_shared *shared, int to);

/* Returns when rank `from` has raised its `signal` here at least `value` times. */
evn_status evn_shared_wait(evn_shared *shared, int from, int signal, unsigned long long value);

/* What can be waited for. */
typedef struct evn_shared_signal {
    int from; /* -1: leave it out */
    int signal;
    unsigned long long value;
} evn_shared_signal;

/* Returns when one of `count` of them has come: *which, the first one of the list that has. For who
 * serves others in the order in which they become ready. EVN_USAGE: all are left out. */
evn_status evn_shared_wait_any(evn_shared *shared, const evn_shared_signal *of, int count,
                               int *which);

/* How often rank `from` has raised its `signal` here; does not wait. What was written before is
 * seen. */
evn_status evn_shared_raised(evn_shared *shared, int from, int signal, unsigned long long *value);

/* Lets what is on its way come on: some tenths of a microsecond, nothing within a node over an
 * arena. */
void evn_shared_poll(evn_shared *shared);

/* Returns when all ranks have come, and all that they have put is where it belongs: ceil(log2 R)
 * hops (Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988). Of one
 * thread of each rank, in the same order as reductions. It is no agreement: who has failed says so
 * at the next evn_cluster_agree(). */
evn_status evn_shared_barrier(evn_shared *shared);

typedef enum evn_reduction { EVN_SUM, EVN_MAX } evn_reduction;

/* Makes value[i], i < `count`, the sum or the largest of all ranks', on all: rank 0's, and then the
 * others' one after another, so it has the same bits on all, over every wire. Of what is no number
 * the largest is no number. A barrier, too. The same `count` on all. EVN_USAGE. */
evn_status evn_shared_reduce(evn_shared *shared, evn_reduction what, double *value, int count);

/* What this rank has put to others until now; to itself is a copy and does not count, nor do
 * signals, barriers and reductions. */
typedef struct evn_shared_counts {
    long long puts, near_puts, far_puts; /* all; to this node; to others */
    double bytes, near_bytes, far_bytes;
    long long signals;
} evn_shared_counts;

void evn_shared_count(const evn_shared *shared, evn_shared_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
