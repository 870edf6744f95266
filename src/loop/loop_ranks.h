/* The loop over ranks: loop_ranks.c collects times on rank 0, whose schedule learns, and broadcasts
 * its decisions; task_migration.c sends the memory of migrating tasks; change_ranks.c changes the
 * set of tasks on all ranks. Not called without ranks. */
#ifndef LOOP_LOOP_RANKS_H
#define LOOP_LOOP_RANKS_H

#include "loop/internal.h"
#include "schedule/origins.h"
#include <stdint.h>

/* together_open(): allocates rank 0's decisions, local. together_begin(): on all ranks, the first
 * assignment, with this rank's status of opening the loop. */
evn_status together_open(evn_loop *loop);
evn_status together_begin(evn_loop *loop, evn_status mine);
void together_close(evn_loop *loop);

/* The worst status of all ranks, on all ranks. Collective. */
evn_status together_agree(evn_loop *loop, const char *what, evn_status mine);

/* Ends an instance on this rank, with its status: times go to rank 0, its schedule learns, all
 * ranks get the next owners, and tasks that change their rank are sent. Collective. */
evn_status together_learn(evn_loop *loop, evn_status mine);

/* Tasks have other weights: broadcasts the decision of rank 0's schedule; `mine`: this rank's
 * status so far. */
evn_status together_weigh(evn_loop *loop, evn_status mine);

/* Compares on rank 0 that all ranks have given the same to a call: a count of `noun`, and a
 * checksum. EVN_USAGE on all ranks names the first that differs; a rank's own status comes first.
 * Collective. */
evn_status together_same(evn_loop *loop, const char *what, const char *noun, int count,
                         uint64_t sum, evn_status mine);

/* A change of tasks (change_ranks.c). Memory for decisions about other tasks, and where the origins
 * of born tasks go first. */
struct together_room {
    int *next;
    struct done *done;
    struct decision *decision;
    int *gathered; /* owner of each task of before */
    int chunk, instance;
    struct schedule_follow follow; /* not on rank 0 */
};
/* Local. EVN_USAGE: origins of one born task are tied to several ranks. EVN_MEMORY. Closed in any
 * case. */
evn_status together_room_open(const evn_loop *loop, struct together_room *room,
                              const struct origins *o);
void together_room_close(struct together_room *room);

/* Compares the change on all ranks, with this rank's status so far; then origins go to the ranks
 * where their tasks are born. After a failure of the first the loop is as before. Collective. */
evn_status together_gather(evn_loop *loop, const struct together_room *room, const evn_change *c,
                           evn_status mine);

/* Rank 0's schedule changes, if no rank has failed, and its decision comes into the room, and into
 * this rank's schedule. Collective. */
evn_status together_decide(evn_loop *loop, struct together_room *room, const struct origins *o,
                           evn_status mine);

/* The loop takes the room, and leaves its own: its tasks are those of now. */
void together_take(evn_loop *loop, struct together_room *room);

/* Tasks go to the ranks where a change has put them. Collective; nothing without a change. */
evn_status together_settle(evn_loop *loop);

/* Whether the units' ranks differ. */
static inline int loop_crosses(const evn_loop *loop, int from, int to) {
    return from != to &&
           evn_cluster_rank_of(loop->cluster, from) != evn_cluster_rank_of(loop->cluster, to);
}

/* Sends tasks from the ranks that owned them to their new ranks; `made`: where they go they have
 * memory, by move_make_room(). Collective. */
evn_status move_tasks(evn_loop *loop, const int *from, const int *to, int made);

/* Memory for the tasks that will come to this rank: all of them, or none after a failure of the
 * program's home.make(). Local. */
evn_status move_make_room(const evn_loop *loop, const int *from, const int *to);
/* Drops it again, of the first `tasks` tasks. */
void move_drop_room(const evn_loop *loop, const int *from, const int *to, int tasks);

/* A task's present memory; `known`: if no homes were registered. */
static inline char *move_memory(const evn_loop *loop, int task, char *known) {
    size_t bytes;
    return loop->home.memory ? loop->home.memory(loop->home_arg, task, 0, &bytes) : known;
}

/* A rank's report of a task. */
struct done {
    int task, owner;
    double seconds;
};

/* Rank 0's decision about the next instance; owners follow if they have changed. */
struct decision {
    int chunk, instance, changed;
};

struct together {
    int *next; /* owners in the next instance */
    int chunk, instance;
    int draws;                 /* 1: units drew in the first instance, and may after a change */
    struct done *done;         /* of this rank's tasks */
    struct decision *decision; /* with room for owners */
};

/* Where units draw: `to` gets consecutive tasks for each rank, by the speed of its units, and the
 * loop this rank's range. */
void together_deal(evn_loop *loop, int *to);

/* Tasks go from the ranks of the units `from` to those of `to`, which are the owners of the next
 * instance from then on; loop->owner follows where ranks differ. The cost is told to the schedule.
 * Collective if any task goes; `what`: the call; `made` as of move_tasks(). */
evn_status together_carry(evn_loop *loop, const int *from, const int *to, const char *what,
                          int made);

#endif
