/* Ranks that are threads of one process, over the same arena: for a race detector, which sees no
 * race between processes and would see these. */
#ifndef WIRE_THREADS_H
#define WIRE_THREADS_H

#include <evener/wire.h>

/* open() in such a thread is its rank's; elsewhere it fails. */
extern const evn_wire_kind wire_threads;

/* Calls rank_main(rank, arg) in `ranks` new threads and returns when all have returned. In each of
 * them a wire of kind wire_threads, or a cluster as "threads", can be opened and closed, once.
 * EVN_USAGE, EVN_MEMORY, EVN_SYSTEM. */
evn_status threads_run(int ranks, void (*rank_main)(int rank, void *arg), void *arg);

#endif
