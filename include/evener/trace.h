/* Traces: what each unit did when, as a file that Perfetto and chrome://tracing open.
 *
 * - One track a unit, and one below it for its copy queue, if that has bursts.
 * - A slice a task (or a batch that a body took as a whole), named after the task, of the burst's
 *   category (compute, exchange, ..); its argument is the instance of the loop.
 * - A flow from the unit that had a task to the one that has it now, wherever it migrated.
 * - Counters: units at work, and the bytes that cross between units while an exchange lasts, by the
 *   schedule's links and the owners that the bursts tell. Where they do not tell, as for batches of
 *   scattered tasks, there is no number.
 *
 * Over ranks:
 *
 * - A process a rank, named with its host, and in it a track for each of its units.
 * - Two tracks more a rank: what it sent, and what it waited for and received.
 * - A flow a message from where it was sent to where it was received: faces of exchanges
 *   (evn_exchange_run()), parcels (evn_cluster_exchange()), and tasks that go to another rank, with
 *   all their blocks. Its arguments are bytes and ranks. What ranks agree about is not shown.
 * - All times are by rank 0's clock. Ranks of one host share theirs; with each other rank rank 0
 *   exchanges 32 short messages at the begin and at the end, and between the two the difference of
 *   the clocks goes along a line. evn_trace_uncertainty() is what that may be wrong by.
 *
 * The format is Chrome's Trace Event Format, as a JSON object.
 */
#ifndef EVENER_TRACE_H
#define EVENER_TRACE_H

#include <evener/loop.h>
#include <evener/status.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the bursts that the loop has kept (evn_loop_keep_bursts() says how many) to `out`; tasks
 * are called `noun`, as "zone". Of a loop over ranks those of this rank alone. EVN_SYSTEM: it could
 * not be written; EVN_MEMORY. */
evn_status evn_trace_write(const evn_loop *loop, const char *noun, FILE *out);

/* The trace of a loop on all ranks:
 *
 *     evn_trace_open(&trace, loop, 1 << 16, 1 << 16);     on all ranks, between two instances
 *     .. run ..
 *     evn_trace_gather(trace);                            on all ranks, between two instances
 *     if (!rank) evn_trace_put(trace, "zone", file);
 *     evn_trace_close(trace);                             before the loop and the cluster are
 * closed
 *
 * A loop that is alone has such a trace, too, of one rank. All functions are called by the thread
 * that runs the loop. */
typedef struct evn_trace evn_trace;

/* From now on keeps the latest `bursts` of each unit (as evn_loop_keep_bursts()) and the latest
 * `messages` of this rank, sent or received, of all that its cluster does, and forgets those there
 * are: 40 bytes each. With 0 messages none are kept. Collective over ranks, the same numbers
 * everywhere; one trace of a cluster at a time. EVN_USAGE: no bursts, fewer than 0 messages, or
 * another trace is open; EVN_MEMORY; EVN_STOPPED as evn_cluster_stop_on() says. */
evn_status evn_trace_open(evn_trace **out, evn_loop *loop, int bursts, int messages);

/* Collects what is kept of all ranks on rank 0, which needs memory for all of it: 40 bytes a burst
 * and some 140 a message; other ranks need as much as they send. Once; it is a state of then, and
 * what is kept later is not in it. Collective. EVN_MEMORY: some rank has not enough, and nothing is
 * collected; EVN_USAGE: a second time; EVN_STOPPED. Alone nothing happens. */
evn_status evn_trace_gather(evn_trace *trace);

/* Local; NULL is accepted. */
void evn_trace_close(evn_trace *trace);

/* Writes it. On rank 0, once gathered; EVN_USAGE elsewhere and earlier. EVN_SYSTEM, EVN_MEMORY. */
evn_status evn_trace_put(const evn_trace *trace, const char *noun, FILE *out);

/* A message from one rank to another. Times are s since rank 0 has opened the loop. */
typedef enum evn_message_kind {
    EVN_MESSAGE_FACES,
    EVN_MESSAGE_PARCEL,
    EVN_MESSAGE_TASK
} evn_message_kind;
typedef struct evn_rank_message {
    evn_message_kind kind;
    int from, to;
    int task;                          /* that changes its rank; -1 */
    double bytes;                      /* without headers */
    double send_begin, send_end;       /* handing it to the wire */
    double receive_begin, receive_end; /* waiting for it, until it was there */
} evn_rank_message;

/* What was gathered, on rank 0; elsewhere and earlier there is nothing. Units of all ranks, by
 * their global numbers, the bursts of each, oldest first, by the times of evn_rank_message; and
 * messages in the order in which they were sent. 0 and empty ones, with a message, for what there
 * is not. */
int evn_trace_units(const evn_trace *trace);
int evn_trace_bursts(const evn_trace *trace, int unit);
evn_burst evn_trace_burst(const evn_trace *trace, int unit, int i);
int evn_trace_messages(const evn_trace *trace);
evn_rank_message evn_trace_message(const evn_trace *trace, int i);

/* Ends of messages that are not among these, since either end was not kept: there were more than
 * evn_trace_open() was told, or it was on its way. */
long long evn_trace_lost(const evn_trace *trace);

/* What the time of another rank may be wrong by, compared with rank 0's, s: half of the shortest
 * round trip of 32, at the begin or at the end, whichever is more, and of all ranks the most. 0
 * where all are on one host. */
double evn_trace_uncertainty(const evn_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
