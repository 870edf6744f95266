/* Operations in virtual time: lanes do one thing at a time, an operation begins once those before
 * it have ended and its lane is free, and lanes take operations in the order in which they could
 * begin. No clock is read: the same operations take the same time everywhere.
 *
 * Threads are programs of operations, one after another; the time of each up to the end of the last
 * is shared out to what its operations are, waiting included. Operations of no thread, as copies of
 * a device and messages, lie beside them. */
#ifndef COMMON_TIMELINE_H
#define COMMON_TIMELINE_H

/* What a thread does or waits for. */
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
    int *last;     /* of each thread: its last operation; -1 */
    int *set;      /* of each lane: the lane whose context it shares, at first itself */
    int *context;  /* of each set: of whom it is now; -1 */
    double *held;  /* of each set: until when */
    double *free;  /* of each lane: when it is */
    double *busy;  /* of each lane: seconds */
    double *spent; /* threads x TIME_GROUPS */
    double end;
    int failed; /* there was no memory for an operation, or there are too many */
};

/* 0, or -1 without memory; to be closed in any case. */
int timeline_open(struct timeline *t, int lanes, int threads);
void timeline_close(struct timeline *t);

/* An operation of no thread, on a lane (-1: on none). `context`: of whom it is, -1 where that does
 * not matter; the lanes of a set work for one context at a time. Returns its number; what fails is
 * seen by timeline_run(). */
int timeline_add(struct timeline *t, int lane, int context, double seconds);

/* The next operation of a thread. */
int timeline_step(struct timeline *t, int thread, int lane, enum timeline_group group,
                  double seconds);

/* `op` begins no earlier than `lag` seconds after the end of `before`, which may be up to all of
 * the seconds of `before` less. before -1: nothing. */
void timeline_after(struct timeline *t, int op, int before, double lag);

/* Fills in all times. 0, or -1: there was no memory, or operations wait for each other. */
int timeline_run(struct timeline *t);

#endif
