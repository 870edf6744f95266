/* The fields of FT: planes of layout Z, slabs of layout Y, and their transfer between ranks.
 *
 * Without ranks each task has a block of memory. Over ranks the fields are one-sided arrays
 * (<evener/shared.h>): each rank's part is its planes followed by its slabs, and ranks of one node
 * write directly into each other's fields. Rows for other ranks go through boxes: packed one after
 * another in the sender's outbox, put into the receiver's inbox, in the order in which a transpose
 * takes them there:
 *
 *     outbox  [to rank] [plane here] [row there] [x]        from layout Z to Y; from Y to Z
 *     inbox             [plane, rank after rank] [row] [x]  planes and rows are exchanged
 *
 * so that data from one rank to another are contiguous at both ends, for any number of consecutive
 * planes.
 *
 * Tasks on devices (ft/device/fields.h) appear here only in the boxes. A rank's inbox also has data
 * from the rank itself, each of its spaces for itself, [to space] [plane, space after space] [row
 * there] [x]: without ranks it exists if some tasks are in the host's memory and some on devices.
 * Spaces have planes and rows in the same proportion, so their parts of that lie at the same place
 * either way: on the way back of two transposes the host writes beside the part that it still
 * reads. */
#pragma once

#include "ft/ft.h"
#include "ft/owners.h"
#include "ft/host/transform.h"
#include <evener/shared.h>
#include <stdatomic.h>

struct fields {
    const struct transform *t;
    struct ft_way way;
    evn_cluster *cluster; /* NULL: one process */
    struct owners owners;
    double **plane;        /* memory of each z; NULL: it cannot be written to */
    double **slab;         /* memory of each y */
    double **kept;         /* with two transposes, V's plane of each z; else the slabs are V */
    double **block;        /* on one process, memory of each task */
    double **come;         /* part of V of each task that came from another rank */
    evn_shared *shared;    /* over ranks, the fields */
    evn_shared *boxes;     /* outboxes and inboxes; NULL: all ranks write to each other's fields */
    unsigned char *direct; /* by rank, 1: this rank writes to its fields */
    double *outbox;
    double *out;              /* where it is not shared */
    double *inbox;            /* NULL: nothing comes to this rank's host but by being written */
    double *own;              /* an inbox alone, between the host and devices */
    evn_shared_counts counts; /* counts of boxes that are closed */
    atomic_llong put_ns;      /* ns in fields_send(), of all threads */
    double barrier_s;         /* s in fields_barrier() and fields_sum() */
};

/* A transpose between layouts, as its sender sees it. */
enum turn { TURN_Z_TO_Y, TURN_Y_TO_Z };

/* No memory yet but for tables. EVN_MEMORY. */
evn_status fields_open(struct fields *fields, const struct transform *t, const struct ft_way *way,
                       evn_cluster *cluster, int tasks);
void fields_close(struct fields *fields);

/* Allocates memory for tasks in these places, with V kept where it existed; V of tasks in device
 * memory is left in come[task]. `space` as in owners_deal(). Over ranks collective, the same status
 * on all; without ranks fields_touch() allocates the tasks' memory. EVN_MEMORY, EVN_MISSING,
 * EVN_SYSTEM. */
evn_status fields_deal(struct fields *fields, const int *rank, const int *space);

/* Alone: a task's memory, zeros, first touched by the calling thread; over ranks: touches it.
 * Nothing for a task in a device's memory. -1: there is none. */
int fields_touch(struct fields *fields, int task);

/* Doubles that this rank's tasks take, with their boxes. */
double fields_doubles(const struct fields *fields);

/* A task's part of V, and its bytes. */
double *fields_kept(const struct fields *fields, int task, size_t *bytes);

/* Address to write row y of plane z, or to read it once it is there: packed, 2 nx doubles. */
double *fields_out(const struct fields *fields, enum turn turn, int z, int y);
const double *fields_in(const struct fields *fields, enum turn turn, int z, int y);

/* Rows for rank `to` of local line `from` and following ones; rows from a rank; and rows for one of
 * this rank's spaces. */
double *fields_outbox(const struct fields *fields, enum turn turn, int to, int from);
double *fields_inbox(const struct fields *fields, enum turn turn, int rank, int from);
double *fields_within(const struct fields *fields, enum turn turn, int space, int from);

/* Puts to all ranks that are not written to, beginning with the next one, what goes there of this
 * rank's planes (or rows) [begin, end), in its own numbers. */
evn_status fields_send(struct fields *fields, enum turn turn, int begin, int end);

/* All of them at once. Collective: an agreement. */
evn_status fields_send_all(struct fields *fields, enum turn turn);

/* Barrier: all puts and writes are complete. */
evn_status fields_barrier(struct fields *fields);

/* Sums of `count` numbers over all ranks, on all, and a barrier. */
evn_status fields_sum(struct fields *fields, double *value, int count);

/* FT_FUNNELED: what a rank of this node has, as its master sees it. */
struct member {
    int rank, planes, rows;
    double *plane, *slab; /* memory of its first line; the next lines follow */
    double *inbox, *outbox;
};

/* -1: this rank cannot write there. */
int fields_member(const struct fields *fields, int rank, struct member *member);

/* Address where local line `from` of a member leaves row `line`: for itself in its inbox, for
 * others in its outbox. And the address of line `line`'s row for its local line `here`. */
double *fields_member_out(const struct fields *fields, const struct member *member, enum turn turn,
                          int from, int line);
const double *fields_member_in(const struct fields *fields, const struct member *member,
                               enum turn turn, int line, int here);

/* Puts so far. */
evn_shared_counts fields_counts(const struct fields *fields);
