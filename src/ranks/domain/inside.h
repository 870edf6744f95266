/* Internals of tasks distributed over ranks. A face is kept by the rank of the task that it writes;
 * the rank of the task that it reads has a list made from these, in the same order, so that both
 * ends of a message know where each face lies in it. Each change of tasks or faces makes that list
 * anew. */
#pragma once

#include "cluster/cluster.h"
#include "cluster/neighbour.h"
#include <evener/distributed.h>

/* A face that writes a task of this rank. */
struct writing {
    evn_rank_task from;
    int to;
    evn_face block;
    evn_rank_task giver; /* rank that gave it, and its number in that call */
    int held;            /* 1: the exchange of the loop has it */
    int comes;           /* 1: a message brings it */
    size_t at;           /* byte in the message */
};

/* A face that another rank reads here; block.from is the task. Ascending by rank. */
struct reading {
    int rank;
    evn_face block;
    evn_rank_task giver;
    int fresh; /* 1: it is being added */
    size_t at;
};

struct evn_distributed {
    evn_cluster *cluster; /* NULL: one rank */
    int rank, size;
    evn_units *units;
    evn_place *place;
    char *text; /* text of the schedule */
    int regions, instances;
    int counts; /* 1: `instances` is a number of runs to come, down to 0; 0: many */
    evn_access *access;
    size_t element;
    evn_parcel *parcel; /* twice `size`, empty between uses */
    /* this rank's tasks */
    int tasks;
    int *region;   /* [task * regions + i] */
    size_t *bytes; /* bytes of these regions */
    double *weight, *seconds;
    int learnt;     /* 1: `seconds` are measured */
    long long *sum; /* size + 1 */
    evn_schedule *schedule;
    evn_loop *loop;         /* NULL: no tasks */
    evn_exchange *exchange; /* NULL: no faces within the rank */
    struct writing *face;
    int faces;
    int *far, fars, far_room; /* indices of those that read other ranks' tasks, ascending */
    struct reading *read;
    int reads;
    struct neighbours neighbours;
    int *packed, packs;     /* regions that are read for other ranks, each once */
    int *unpacked, unpacks; /* regions that others' values come to */
    /* the last change or balance */
    int *gone, gones; /* regions to be removed when births have ended */
    int bears;        /* 1: births may come */
    evn_rank_task *origin;
    evn_rank_task *now; /* rank and number now, of each task of before */
    int before;
    long long *sum_before;
    double per_byte, carried;
    evn_status broken; /* a failure in mid-change, on all ranks */
};

/* ---- route.c: what ranks tell each other ---- */

/* The worst status of all ranks, on all. Collective. */
evn_status distributed_agree(const evn_distributed *d, const char *what, evn_status mine);

/* Gathers `bytes` of each rank in `all`, on all ranks, with the worst status. Collective. */
evn_status distributed_allgather(const evn_distributed *d, const char *what, evn_status mine,
                                 const void *up, size_t bytes, void *all);

/* Packets between ranks: this, and `bytes` behind it, rounded up to 8. */
struct packet {
    int from, to;
    size_t bytes;
};
evn_status packets_add(struct record *packets, int from, int to, const void *data, size_t bytes);

/* Brings packets to their ranks, in as many rounds as ranks can be halved; afterwards `packets` are
 * those to this rank, ascending by sender, those of one in the order of packets_add(). A rank that
 * has failed brings nothing. Collective, no agreement. */
evn_status packets_route(const evn_distributed *d, struct record *packets, evn_status mine);

/* A neighbour's failure, which it tells itself when all meet: EVN_STOPPED yields to that. */
evn_status packets_yield(evn_status status);

/* The packet at *at, which goes on to the next; NULL: there is none. */
const struct packet *packets_next(const struct record *packets, size_t *at);

/* ---- distributed.c ---- */

/* EVN_USAGE: the object is broken, or its units are at work. */
evn_status distributed_may(const evn_distributed *d, const char *what);

/* The status of all ranks after something that cannot be undone. Collective. */
evn_status distributed_done(evn_distributed *d, const char *what, evn_status mine);

/* Runs to come, as schedules have it: 0 is many. */
static inline int distributed_instances(const evn_distributed *d) {
    return d->counts && !d->instances ? 1 : d->instances;
}

/* Opens the loop over the present tasks; closes it with its exchange. */
evn_status distributed_open_loop(evn_distributed *d);
void distributed_close_loop(evn_distributed *d);

/* Removes regions that births needed. */
void distributed_end_births(evn_distributed *d);

/* Exclusive sums of ranks' numbers of tasks. */
void distributed_sum(const evn_distributed *d, const int *tasks, long long *sum);

/* ---- faces.c ---- */

/* Faces follow tasks to now[t], for each of this rank's tasks of before: those of gone tasks go,
 * others get new numbers, and those to tasks that are on another rank go there. Collective, no
 * agreement. */
evn_status rank_faces_follow(evn_distributed *d, const evn_rank_task *now, evn_status mine);

/* Gives faces within the rank from index `before` on, which it may have got already, to the loop's
 * exchange, and opens messages for the others. Collective, no agreement. */
evn_status rank_faces_connect(evn_distributed *d, int before, evn_status mine);

void rank_faces_close(evn_distributed *d);

/* ---- run.c ---- */

/* Messages for the present faces. Collective, no agreement. */
evn_status rank_messages_open(evn_distributed *d, evn_status mine);
void rank_messages_close(evn_distributed *d);

/* ---- change.c ---- */

/* Tasks of now, until they take the place of those of before. */
struct next {
    int tasks;
    int *region;
    size_t *bytes;
    double *weight, *seconds;
    evn_rank_task *origin, *now;
    long long *sum;
    int *gone, gones;
};
evn_status next_open(const evn_distributed *d, struct next *next, int tasks);
void next_close(struct next *next);

/* The loop and this rank's arrays go on with the next tasks, `change` says how; then faces follow.
 * Collective, with an agreement; it cannot be undone. */
evn_status next_take(evn_distributed *d, struct next *next, const evn_change *change,
                     const char *what, evn_status mine);
