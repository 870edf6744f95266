/* Internals of a trace: local recordings, and those gathered from all ranks. */
#pragma once

#include "trace/clocks.h"
#include "cluster/log.h"
#include <evener/change.h>
#include <evener/trace.h>

/* A burst, and the number of its loop; 0 where the trace is of one. */
struct loop_burst {
    evn_burst is;
    int loop;
};

/* A unit of any rank, with its bursts. */
struct trace_unit {
    int rank, gpu, cores;
    int bursts, room;
    struct loop_burst *burst; /* NULL: in the loop */
};

/* Bursts of several loops of this rank, as each is closed. */
struct kept_loops {
    const evn_units *own;
    int units;
    double origin; /* origin of all times, evn_now() */
    struct trace_unit *unit;
    struct kept_loop {
        char *name;
        int tasks;   /* number of tasks at the end */
        int changes; /* changes of the tasks */
        evn_changed *change;
    } * loop;
    int loops;
};

struct evn_trace {
    evn_loop *loop;          /* NULL: several */
    struct kept_loops *kept; /* NULL: one */
    evn_cluster *cluster;    /* NULL: no ranks */
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
    long long lost; /* message ends without their other end, which was not kept */
};

/* A unit by its global number, gathered or local. */
struct trace_unit trace_unit(const evn_trace *trace, int unit);
struct loop_burst trace_burst(const evn_trace *trace, int unit, int i);

/* Number of units, ranks and loops that can be written. */
int trace_units(const evn_trace *trace);
int trace_ranks(const evn_trace *trace);
int trace_loops(const evn_trace *trace);

/* Changes of a loop's tasks: their number, and the i-th, whose `begin` is on the trace's axis of
 * time. The generation at a time; the number of tasks of a generation. When the first burst of the
 * loop that is kept began; INFINITY: there is none. */
int trace_changes(const evn_trace *trace, int loop);
evn_changed trace_change(const evn_trace *trace, int loop, int i);
int trace_generation(const evn_trace *trace, int loop, double when);
int trace_tasks(const evn_trace *trace, int loop, int generation);
double trace_loop_begin(const evn_trace *trace, int loop);

/* 1 if tasks of the loop came and went, and the trace has bursts of it. */
int trace_has_changes(const evn_trace *trace, int loop);

/* This rank's units. */
const evn_units *trace_own(const evn_trace *trace);

/* Bursts of several loops: opened with units and the begin of time, sorted by time, closed (NULL is
 * accepted). EVN_MEMORY. */
evn_status loops_open(struct kept_loops **out, const evn_units *units, double origin);
void loops_sort(struct kept_loops *all);
void loops_close(struct kept_loops *all);

/* One end of a message, with the rank that recorded it. */
struct message_end {
    struct log_entry is;
    int rank;
};

/* Matches the two ends of each message; sorts them. Returns the number of messages, at most half of
 * n, in the order of sending; unmatched ends are left out. */
int trace_match(int n, struct message_end *end, evn_rank_message *message);
