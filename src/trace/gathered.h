/* A trace from inside: what is kept, and what was gathered of all ranks. */
#ifndef TRACE_GATHERED_H
#define TRACE_GATHERED_H

#include "trace/clocks.h"
#include "wire/log.h"
#include <evener/trace.h>

/* A unit, on whichever rank. */
struct trace_unit {
    int rank, gpu, cores;
    int bursts;
    evn_burst *burst; /* NULL: the loop has them */
};

struct evn_trace {
    evn_loop *loop;
    evn_cluster *cluster; /* NULL: this process alone */
    int ranks;
    int keeps; /* messages */
    /* over ranks, on rank 0 */
    struct clock_line *clock; /* of each rank */
    char **told;              /* what each has told; the bursts are in it */
    int gathered;             /* on all ranks */
    int units;
    struct trace_unit *unit;
    int messages;
    evn_rank_message *message;
    long long lost;
};

/* A unit, by its global number, gathered or this process's own. */
struct trace_unit trace_unit(const evn_trace *trace, int unit);
evn_burst trace_burst(const evn_trace *trace, int unit, int i);

/* An end of a message, with the rank that has noted it. */
struct message_end {
    struct log_entry is;
    int rank;
};

/* Finds the two ends of each message, which are sorted for it; at most half of n. How many there
 * are, in the order in which they were sent; ends whose other one is missing are left out. */
int trace_match(int n, struct message_end *end, evn_rank_message *message);

#endif
