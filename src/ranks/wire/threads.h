/* Ranks as threads of one process, over the same arena: race detectors see no races between
 * processes, and see these. */
#pragma once

#include <evener/wire.h>

/* open() works in a thread of threads_run(); elsewhere it fails. */
extern const evn_wire_kind wire_threads;

/* Calls rank_main(rank, arg) in `ranks` new threads and returns when all have returned. Each may
 * open and close, once, a wire of kind wire_threads or a cluster "threads". EVN_USAGE, EVN_MEMORY,
 * EVN_SYSTEM. */
evn_status threads_run(int ranks, void (*rank_main)(int rank, void *arg), void *arg);
