/* For tools: traces, a timeline of every unit, as a file for Perfetto and chrome://tracing.
 *
 * - One track a unit, and one below it for its copy queue, if that has bursts.
 * - A slice a task (or a batch that a body did as a whole), named after the task, in the burst's
 *   category (compute, exchange, ..); its argument is the instance of the loop.
 * - A flow from a task's previous unit to its present one, wherever it migrated.
 * - Where tasks come and go (<evener/change.h>): an instant event for each change, with the numbers
 *   of evn_changed, and a counter of tasks. Numbers of tasks are those of their generation, and
 *   flows end with it.
 * - Counters: units at work, and bytes between units during an exchange, from the schedule's links
 *   and the owners in the bursts. Where bursts do not tell owners, as for batches of scattered
 *   tasks, there is no value.
 *
 * Over ranks:
 *
 * - A process a rank, named with its host, with a track for each of its units.
 * - Two more tracks a rank: messages sent; messages waited for and received.
 * - A flow a message, from send to receive: faces of exchanges (evn_exchange_run()), parcels
 *   (evn_cluster_exchange()), and tasks that move to another rank with all their blocks. Its
 *   arguments are bytes and ranks. Collective agreements are not shown.
 * - All times are by rank 0's clock. Ranks of one host share a clock; with each other rank, rank 0
 *   exchanges 32 short messages at the begin and at the end and interpolates the difference of the
 *   clocks linearly. evn_trace_about() bounds the error.
 *
 * The format is Chrome's Trace Event Format, as a JSON object. */
#ifndef EVENER_TRACE_H
#define EVENER_TRACE_H

#include <evener/program.h>
#include <evener/change.h>
#include <evener/loop.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The trace of a loop on all ranks:
 *
 *     evn_trace_open(&trace, loop, 1 << 16, 1 << 16);     on all ranks, between two instances
 *     .. run ..
 *     evn_trace_gather(trace);                            on all ranks, between two instances
 *     if (!rank) evn_trace_put(trace, "zone", file);
 *     evn_trace_close(trace);                             before loop and cluster are closed
 *
 * Without ranks the trace has one rank. All functions are called by the thread that runs the loop.
 */
typedef struct evn_trace evn_trace;

/* Begins a trace: keeps the latest `bursts` of each unit (as evn_loop_keep_bursts()) and the latest
 * `messages` that this rank sends or receives in its cluster, 40 bytes each, and forgets earlier
 * ones. 0 messages: none. Collective over ranks, with the same numbers; one trace of a cluster at a
 * time. EVN_USAGE: no bursts, negative messages, or another trace is open; EVN_MEMORY; EVN_STOPPED
 * as of evn_cluster_stop_on(). */
evn_status evn_trace_open(evn_trace **out, evn_loop *loop, int bursts, int messages);

/* Gathers the trace of all ranks on rank 0, which needs memory for all of it: 40 bytes a burst and
 * some 140 a message; other ranks need as much as they send. Once; later events are not included.
 * Collective. EVN_MEMORY: some rank has not enough, and nothing is gathered; EVN_USAGE: a second
 * time; EVN_STOPPED. Without ranks it does nothing. */
evn_status evn_trace_gather(evn_trace *trace);

/* Closes the trace. Not collective; NULL is accepted. */
void evn_trace_close(evn_trace *trace);

/* Writes the gathered trace, on rank 0; `noun` names a task, as "zone". EVN_USAGE: on another rank,
 * or not gathered; EVN_SYSTEM, EVN_MEMORY. */
evn_status evn_trace_put(const evn_trace *trace, const char *noun, FILE *out);

/* Writes the gathered trace, on rank 0, as the three files of Paraver, FILE.prv, FILE.pcf and
 * FILE.row: ranks are its tasks and units their threads, a device's copy queue is a thread beside
 * its unit's; bursts are states (1 computing, 2 exchanging, 3 moving regions, and 0 between them),
 * with events at their ends: 90000001 the first task, 90000002 the instance, both counted from 1,
 * 90000003 the number of tasks, 0 at the end; where tasks come and go, on the first thread,
 * 90000005 how many there are from a change on, and how many it bore (90000006), let go (90000007)
 * and moved (90000008), in a program of several loops 10 * l more for the l-th; messages are
 * communications whose tag is their kind. Times are ns since the first burst or message. Errors as
 * of evn_trace_put(). */
evn_status evn_trace_put_paraver(const evn_trace *trace, const char *noun, FILE *prv, FILE *pcf,
                                 FILE *row);

/* Writes the gathered trace, on rank 0, as an archive of OTF2: `file`, which ends in .otf2, and
 * beside it the file and the folder of its name without that end (.def; events of each location,
 * whose files replace those of an earlier trace). Ranks are groups of locations, units are
 * locations, and so are a device's copy queue and a rank's messages; bursts are regions, with the
 * attributes "first task", "instance" and "tasks"; where tasks come and go, a location "changes"
 * has the metrics "tasks", "born", "gone" and "moved" of each change; messages are sends and
 * receives whose tag is their kind. Times are ns since the first burst or message. Each file is
 * whole or not there, `file` is the last. The library of OTF2 is looked for here. EVN_MISSING: as
 * of evn_trace_otf2(); EVN_USAGE: another name, or as of evn_trace_put(); EVN_SYSTEM, EVN_MEMORY.
 */
evn_status evn_trace_put_otf2(const evn_trace *trace, const char *noun, const char *file);

/* EVN_OK if evn_trace_put_otf2() has what it needs; EVN_MISSING: OTF2's library is not there, or
 * its headers were not when Evener was built. */
evn_status evn_trace_otf2(void);

/* A message from one rank to another. Times are s since rank 0 opened the loop. */
typedef enum evn_message_kind {
    EVN_MESSAGE_FACES,
    EVN_MESSAGE_PARCEL,
    EVN_MESSAGE_TASK
} evn_message_kind;
typedef struct evn_rank_message {
    evn_message_kind kind;
    int from, to;
    int task;                          /* the task that moves; -1: none */
    double bytes;                      /* bytes, without headers */
    double send_begin, send_end;       /* duration of the send call */
    double receive_begin, receive_end; /* waiting for it, until it has arrived */
} evn_rank_message;

/* The gathered trace, on rank 0; empty on other ranks and before. */
typedef struct evn_trace_info {
    int units; /* of all ranks, by global numbers */
    int messages;
    const evn_rank_message *message; /* in the order of sending; valid until the trace is closed */
    double uncertainty; /* bound of the clock error of other ranks against rank 0, s: half of the
                           shortest of 32 round trips, at the begin or at the end, whichever is
                           more, the largest over ranks. 0 if all are on one host */
} evn_trace_info;
evn_trace_info evn_trace_about(const evn_trace *trace);

/* Bursts of a unit, oldest first, in the times of evn_rank_message. A wrong number gives 0 or an
 * empty one, with a message. */
int evn_trace_bursts(const evn_trace *trace, int unit);
evn_burst evn_trace_burst(const evn_trace *trace, int unit, int i);

/* A copy of a loop's changes of tasks (evn_loop_changed()) that outlives the loop: *changes of
 * them, each `shift` s later. malloc'ed, free() it; NULL without memory. */
evn_changed *evn_trace_changes(const evn_loop *loop, double shift, int *changes);

#ifdef __cplusplus
}
#endif
#endif
