/* Operations in virtual time: a lane does one thing at a time; an operation begins once its
 * predecessors have ended and its lane is free; lanes take operations in the order in which they
 * become ready. No clock is read: the same operations take the same time everywhere.
 *
 * A thread is a program of operations, one after another; its time until the end of the last is
 * divided among kinds of operations, waiting included. Operations without a thread, such as copies
 * of a device and messages, run beside them. */
#pragma once

/* Kinds of a thread's operations and waits. */
enum timeline_group { TIME_COMPUTE, TIME_COPIES, TIME_PUTS, TIME_BARRIERS, TIME_GROUPS };

enum { TIMELINE_MOST = 1 << 24 }; /* operations, and edges */

struct timeline_op {
    double seconds, ready, end;
    int lane, context, thread, group, previous; /* -1: none */
    int waiting, first;                         /* operations before it; edges from it */
};

struct timeline_edge {
    double lag;
    int to, next;
};

struct timeline {
    double switch_s; /* what a set takes to go from one context to another */
    int lanes, threads, ops, edges, ops_room, edges_room;
    struct timeline_op *op;
    struct timeline_edge *edge;
    int *last;     /* last operation of each thread; -1 */
    int *set;      /* lane whose context each lane shares, at first itself */
    int *context;  /* present context of each set; -1 */
    double *held;  /* until when each set is held */
    double *free;  /* when each lane is free */
    double *spent; /* threads x TIME_GROUPS */
    double end;
    int failed; /* there was no memory for an operation, or there are too many */
};

/* 0, or -1 without memory; to be closed in any case. */
int timeline_open(struct timeline *t, int lanes, int threads);
void timeline_close(struct timeline *t);

/* An operation without a thread, on a lane (-1: none). `context`: its owner, -1 for any; the lanes
 * of a set work for one context at a time. Returns its number; failures are reported by
 * timeline_run(). */
int timeline_add(struct timeline *t, int lane, int context, double seconds);

/* The next operation of a thread. */
int timeline_step(struct timeline *t, int thread, int lane, enum timeline_group group,
                  double seconds);

/* `op` begins no earlier than `lag` seconds after the end of `before`; a lag below 0 lets it begin
 * while `before` goes on, down to the begin of that. before -1: it waits for nothing. */
void timeline_after(struct timeline *t, int op, int before, double lag);

/* Fills in all times. 0, or -1: there was no memory, or operations wait for each other. */
int timeline_run(struct timeline *t);
