/* Internals of a trace: local recordings, and those gathered from all ranks. */
#ifndef TRACE_GATHERED_H
#define TRACE_GATHERED_H

#include "trace/clocks.h"
#include "cluster/log.h"
#include <evener/trace.h>

/* A unit, of any rank. */
struct trace_unit {
    int rank, gpu, cores;
    int bursts;
    evn_burst *burst; /* NULL: in the loop */
};

struct evn_trace {
    evn_loop *loop;
    evn_cluster *cluster; /* NULL: no ranks */
    int ranks;
    int keeps; /* messages */
    /* over ranks, on rank 0 */
    struct clock_line *clock; /* clock of each rank */
    char **told;              /* each rank's recordings; the bursts are in them */
    int gathered;             /* 1 after the gathering, on all ranks */
    int units;
    struct trace_unit *unit;
    int messages;
    evn_rank_message *message;
    long long lost;
};

/* A unit by its global number, gathered or local. */
struct trace_unit trace_unit(const evn_trace *trace, int unit);
evn_burst trace_burst(const evn_trace *trace, int unit, int i);

/* One end of a message, with the rank that recorded it. */
struct message_end {
    struct log_entry is;
    int rank;
};

/* Matches the two ends of each message; sorts them. Returns the number of messages, at most half of
 * n, in the order of sending; unmatched ends are left out. */
int trace_match(int n, struct message_end *end, evn_rank_message *message);

#endif
