/* For programs: one-sided arrays, memory of all ranks which any rank writes and reads without the
 * owner's help, as in partitioned global address spaces (Wang, Huang, Narayana and El-Ghazawi,
 * "UPC + CUDA", 2011, with NPB FT and MG). They work over every wire of <evener/cluster.h>: one
 * process, forked processes, MPI. In MPI's words: windows, MPI_Put, MPI_Get, MPI_Win_flush,
 * MPI_Fetch_and_op; a signal is a counter at the target.
 *
 *     evn_shared *s;                                   each rank's number to the next one
 *     evn_shared_open(&s, cluster, &(evn_shared_shape){.bytes = 2 * sizeof(double), .signals = 1});
 *     double *mine = evn_shared_memory(s);
 *     evn_shared_put_signal(s, next, sizeof(double), &mine[0], sizeof(double), 0);
 *     evn_shared_wait(s, previous, 0, 1);              mine[1] is there
 *     evn_shared_barrier(s);                           all have it
 *     evn_shared_close(s);
 *
 * A put writes to another rank's part and does not wait. It is complete
 *
 *     for a thread that waits for a signal   when the same rank (and thread) raised it after the
 *                                            put
 *     for all ranks                          after a barrier or reduction
 *     for the rank that put                  after evn_shared_flush(), and then for any rank it
 *                                            tells
 *
 * and before that a read may see old values, new ones, or both. The source may be overwritten once
 * the putting rank has flushed, raised a signal of the same rank, or passed a barrier. Two puts to
 * the same bytes without one of these between them may arrive in any order.
 *
 * A get reads from another rank's part and does not wait either: the bytes are there after
 * evn_shared_flush() of that rank, a barrier or a reduction.
 *
 * A signal is a counter that each rank has for each rank, itself included: the number of times that
 * rank has raised it, from 0. It never decreases, so round n of an algorithm waits for n.
 *
 * On one node (where evn_shared_pointer() gives the memory) a put is a copy by the processor, and a
 * rank may read and write there directly; a signal then announces it. To other nodes puts go over
 * the wire. Networks that cannot write to memory by themselves (TCP; MPICH even within a node)
 * carry out puts, gets and atomic updates when the target calls the library: every wait, barrier
 * and reduction does, and evn_shared_poll() between computations. A target that computes delays a
 * flush, a signal, an atomic update and a lock; nothing deadlocks.
 *
 * Unless a function says otherwise any thread of a rank may call it at any time. Waits return
 * EVN_STOPPED as of evn_cluster_stop_on(); the death of a rank ends the run. A flush inside MPI
 * cannot be interrupted. */
#ifndef EVENER_SHARED_H
#define EVENER_SHARED_H

#include <evener/program.h>
#include <evener/atomic.h>
#include <evener/cluster.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evn_shared evn_shared;

#define EVN_SHARED_SIGNALS_MAX 4096

/* An array in blocks: `count` elements of `bytes` each, of which each `block` in a row are on one
 * rank, block after block on rank after rank in turn (UPC's shared [block] T a[count]). `block` 0:
 * a block a rank. */
typedef struct evn_shared_array {
    long long count, block;
    size_t bytes;
} evn_shared_array;

typedef struct evn_shared_shape {
    size_t bytes; /* bytes of this rank; they may differ between ranks, and be 0 */
    int signals;  /* number of signals, 0 to EVN_SHARED_SIGNALS_MAX; the same on all ranks */
    /* For studies and tests: assume this many consecutive ranks a node, so that puts between such
     * nodes go over the wire. 0: the real nodes. The same on all ranks. */
    int per_node;
    int locks; /* number of locks, 0 to EVN_SHARED_SIGNALS_MAX; the same on all ranks */
    /* In place of `bytes`, which is 0 then: each rank's part is its blocks. The same on all. */
    evn_shared_array array;
} evn_shared_shape;

/* Allocates the memory of all ranks, zeroed, each part page-aligned. Memory from a file system that
 * may be full (/dev/shm, with MPI) is written to before this returns. Collective, the same status
 * on all: EVN_USAGE; EVN_MEMORY: not enough; EVN_MISSING: the wire has no one-sided memory;
 * EVN_SYSTEM. */
evn_status evn_shared_open(evn_shared **out, evn_cluster *cluster, const evn_shared_shape *shape);

/* Frees the memory; no rank may use it or pointers into it any more. Collective, before
 * evn_cluster_close(). */
void evn_shared_close(evn_shared *shared);

/* This rank's own part; NULL if it has no bytes. */
void *evn_shared_memory(const evn_shared *shared);

/* Pointer to the part of `rank` if that rank is on this node (this rank included); else NULL. */
void *evn_shared_pointer(const evn_shared *shared, int rank);

/* Bytes of the part of `rank`. */
size_t evn_shared_bytes(const evn_shared *shared, int rank);

/* Copies `bytes` from `from` to byte `at` of rank `to`'s part. Does not wait. EVN_USAGE: no such
 * rank, or beyond its part; EVN_SYSTEM. */
evn_status evn_shared_put(evn_shared *shared, int to, size_t at, const void *from, size_t bytes);

/* Copies `bytes` from byte `at` of rank `from`'s part to `to`. Does not wait: see above, and leave
 * `to` alone until then (upc_memget_nb(), MPI_Get). Their values include what this rank has put
 * there, and what others have put and completed before; of puts under way they are old, new, or
 * both. Reading from another node costs a round trip, of several gets together where one flush is
 * behind them all; a put by the owner costs half. EVN_USAGE: no such rank, or beyond its part;
 * EVN_SYSTEM. */
evn_status evn_shared_get(evn_shared *shared, int from, size_t at, void *to, size_t bytes);

/* Blocks of a strided put: `count` (0 or more) of `bytes` each, which begin `here` bytes apart at
 * the source and `there` apart at the target, where they do not overlap. */
typedef struct evn_shared_blocks {
    size_t bytes;
    int count;
    size_t here, there;
} evn_shared_blocks;

/* Puts several blocks, the first from `from` to byte `at` (UPC's and GASNet's strided put), a put
 * each. EVN_USAGE: as evn_shared_put(), or blocks that overlap; then nothing is put. EVN_SYSTEM. */
evn_status evn_shared_put_blocks(evn_shared *shared, int to, size_t at, const void *from,
                                 const evn_shared_blocks *blocks);

/* A put from `bytes` at byte `from` of a device's buffer, and a get to byte `to` of one: behind the
 * queue's earlier work, by a copy of the device into the part of a rank of this node, and through
 * the host's memory to and from other nodes. Return when the buffer's bytes may be overwritten or
 * used; the put is complete when others are. By one thread a queue. EVN_USAGE: as of
 * evn_shared_put() and of copies of devices; EVN_MEMORY, EVN_SYSTEM, EVN_DEVICE. */
evn_status evn_shared_put_device(evn_shared *shared, int to, size_t at, evn_queue *queue,
                                 evn_buffer *buffer, size_t from, size_t bytes);
evn_status evn_shared_get_device(evn_shared *shared, int from, size_t at, evn_queue *queue,
                                 evn_buffer *buffer, size_t to, size_t bytes);

/* evn_shared_put() followed by evn_shared_raise(). */
evn_status evn_shared_put_signal(evn_shared *shared, int to, size_t at, const void *from,
                                 size_t bytes, int signal);

/* Adds 1 to rank `to`'s counter of this rank's `signal`, after all that the calling thread has put
 * or written there. To another node it waits until those puts are complete. */
evn_status evn_shared_raise(evn_shared *shared, int to, int signal);

/* Returns when all puts and gets of this rank to and from rank `to` (-1: all) are complete. */
evn_status evn_shared_flush(evn_shared *shared, int to);

/* Returns when rank `from` has raised its `signal` here at least `value` times. */
evn_status evn_shared_wait(evn_shared *shared, int from, int signal, unsigned long long value);

/* A signal to wait for. */
typedef struct evn_shared_signal {
    int from; /* -1: ignore this entry */
    int signal;
    unsigned long long value;
} evn_shared_signal;

/* Returns when one of `count` signals has come; *which: the first such in the list. For a thread
 * that serves several sources in the order in which they become ready. EVN_USAGE: all entries are
 * ignored. */
evn_status evn_shared_wait_any(evn_shared *shared, const evn_shared_signal *of, int count,
                               int *which);

/* Number of times that rank `from` has raised its `signal` here; does not wait. Earlier writes of
 * that rank are visible. */
evn_status evn_shared_raised(evn_shared *shared, int from, int signal, unsigned long long *value);

/* Makes progress of puts under way: some tenths of a microsecond; nothing within a node over an
 * arena. */
void evn_shared_poll(evn_shared *shared);

/* ---- arrays in blocks ---- */

/* The rank that has element i (upc_threadof()), *at (may be NULL) the byte of its part where the
 * element begins; and whether that is this rank. -1, and evn_message(): there is no such element,
 * or no array. */
int evn_shared_owner(const evn_shared *shared, long long i, size_t *at);
int evn_shared_is_here(const evn_shared *shared, long long i);

/* The number of this rank's element k, from 0 on, which begins at byte k * bytes of its part. So a
 * loop over the array that goes where its elements are (upc_forall (..; &a[i])) has a task for each
 * of this rank's, evn_shared_bytes() / bytes of them, or is a directive with affinity(a, i)
 * (evener-cc). -1, and evn_message(): it has not so many. */
long long evn_shared_element(const evn_shared *shared, long long k);

/* ---- atomic updates, and locks ---- */

/* Changes the word at byte `at`, a multiple of 8, of rank `to`'s part in one piece, and returns
 * when it is done (UPC's atomics, MPI_Fetch_and_op, MPI_Compare_and_swap). `value`: an int64_t or,
 * for EVN_ADD_DOUBLE, a double; for EVN_COMPARE_SWAP_INT64 two int64_t. value[0] becomes the word
 * as it was before. Atomic with other such calls only: not with puts, gets or uses of a pointer.
 * EVN_USAGE: no such rank, beyond its part, not a multiple; EVN_SYSTEM. */
evn_status evn_shared_atomic(evn_shared *shared, int to, size_t at, evn_atomic what, void *value);

/* Waits, as evn_shared_wait() does, until of all ranks' threads the calling one alone has lock
 * `lock`, from 0 (upc_lock()). Ranks get it in the order in which they come, threads of a rank in
 * any. EVN_USAGE: no such lock, or the thread has it already; EVN_STOPPED, EVN_SYSTEM. After these
 * two, of evn_shared_unlock() as well, this rank gets no lock any more (EVN_SYSTEM), and others may
 * wait until the run ends. */
evn_status evn_shared_lock(evn_shared *shared, int lock);
/* Gives the lock to the next one, for which all is there that this thread has put or written
 * before. EVN_USAGE: no such lock, or this thread does not have it; EVN_STOPPED, EVN_SYSTEM. */
evn_status evn_shared_unlock(evn_shared *shared, int lock);

/* ---- all ranks together ---- */

/* Barrier: returns when all ranks have entered it and all puts are complete: ceil(log2 R) hops
 * (Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988). By one thread
 * of each rank, in the same order as reductions. Failures are not exchanged: see
 * evn_cluster_agree(). */
evn_status evn_shared_barrier(evn_shared *shared);

typedef enum evn_reduction { EVN_SUM, EVN_MAX } evn_reduction;

/* Reduces value[i], i < `count`, to the sum or the maximum over all ranks, on all ranks
 * (MPI_Allreduce). Values are combined in the order of ranks, so all ranks have the same bits, over
 * every wire. The maximum with a NaN is NaN. Also a barrier. The same `count` on all ranks.
 * EVN_USAGE. */
evn_status evn_shared_reduce(evn_shared *shared, evn_reduction what, double *value, int count);

/* Puts of this rank to other ranks so far, its signals, and its gets from other ranks. Puts to
 * itself, barriers and reductions do not count. */
typedef struct evn_shared_counts {
    long long puts, near_puts, far_puts; /* all; within this node; to other nodes */
    double bytes, near_bytes, far_bytes;
    long long signals;
    long long gets;
    double got_bytes;
} evn_shared_counts;

void evn_shared_count(const evn_shared *shared, evn_shared_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
