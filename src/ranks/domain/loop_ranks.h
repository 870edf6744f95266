/* The loop over ranks: loop_ranks.c collects times on rank 0, whose schedule learns, and broadcasts
 * its decisions; task_migration.c sends the memory of migrating tasks; change_ranks.c changes the
 * set of tasks on all ranks. Not called without ranks. */
#pragma once

#include "loop/rank_ops.h"
#include "domain/lessons.h"
#include "schedule/origins.h"
#include <stdint.h>

/* Frees rank 0's decisions. */
void replicated_close(evn_loop *loop);

/* The worst status of all ranks, on all ranks. Collective. */
evn_status replicated_agree(evn_loop *loop, const char *what, evn_status mine);

/* Ends an instance on this rank, with its status: times go to rank 0, its schedule learns, all
 * ranks get the next owners, and tasks that change their rank are sent. Collective. */
evn_status replicated_learn(evn_loop *loop, evn_status mine);

/* Tasks have other weights: all ranks' schedules take the same, or none; rank 0's decides. NULL:
 * all 1. Collective. */
evn_status replicated_weigh(evn_loop *loop, const double *weight);

/* Compares on rank 0 that all ranks have given the same to a call: a count of `noun`, and a
 * checksum. EVN_USAGE on all ranks names the first that differs; a rank's own status comes first.
 * Collective. */
evn_status replicated_same(evn_loop *loop, const char *what, const char *noun, int count,
                           uint64_t sum, evn_status mine);

/* Values of moves.done. */
enum { MOVE_MADE = 1, MOVE_SENT };

/* Memory for the tasks that will come to this rank. Local; after a failure move_undo(). */
evn_status move_make_room(const evn_loop *loop, struct moves *moves);
/* Tasks are where they go, and where they were. Collective; after a failure on any rank move_undo()
 * on all. */
evn_status move_copy(evn_loop *loop, struct moves *moves);
/* Tasks are where they go only; or where they were. Local. */
void move_end(evn_loop *loop, const struct moves *moves);
void move_undo(const evn_loop *loop, const struct moves *moves);

/* Local. EVN_USAGE: origins of one born task are tied to several ranks. EVN_MEMORY. Closed in any
 * case. */
evn_status replicated_room_open(const evn_loop *loop, struct replicated_room *room,
                                const struct origins *o);
void replicated_room_close(struct replicated_room *room);

/* With this rank's status so far: compares the change on all ranks; origins go to the ranks where
 * their tasks are born; rank 0's schedule changes, and its decision comes into the room and into
 * this rank's schedule. After a failure all is as before. Collective. */
evn_status replicated_change(evn_loop *loop, struct replicated_room *room, const struct origins *o,
                             const evn_change *c, evn_status mine);

/* The loop takes the room, and leaves its own: its tasks are those of now. */
void replicated_take(evn_loop *loop, struct replicated_room *room);

/* Tasks go to the ranks where a change has put them. Collective; nothing without a change. */
evn_status replicated_settle(evn_loop *loop);

/* Whether the units' ranks differ. */
static inline int loop_crosses(const evn_loop *loop, int from, int to) {
    return from != to &&
           evn_cluster_rank_of(loop->cluster, from) != evn_cluster_rank_of(loop->cluster, to);
}

/* Sends tasks from the ranks that owned them to their new ranks. Collective. */
evn_status move_tasks(evn_loop *loop, const int *from, const int *to);

/* A rank's report of a task. */
struct done {
    int task, owner;
    double seconds;
};

/* Rank 0's decision about the next instance; owners follow if they have changed. */
struct decision {
    int chunk, instance, changed;
    struct pool_turn turn; /* after an instance of which it was told the units' times */
};

/* Where units draw: `to` gets consecutive tasks for each rank, by the speed of its units, and the
 * loop this rank's range. */
void replicated_deal(evn_loop *loop, int *to);

/* Tasks go from the ranks of the units `from` to those of `to`, which are the owners of the next
 * instance from then on; loop->owner follows where ranks differ. The cost is told to the schedule.
 * Collective if any task goes; `what`: the call. */
evn_status replicated_carry(evn_loop *loop, const int *from, const int *to, const char *what);

/* Bytes of the states of tasks that change their unit's space, as the schedule weighs them. */
double replicated_state(const evn_loop *loop, const int *from, const int *to);
