/* The loop over ranks: loop_ranks.c collects times on rank 0, whose schedule learns, and broadcasts
 * its decisions; task_migration.c sends the memory of migrating tasks. Not called without ranks. */
#ifndef LOOP_LOOP_RANKS_H
#define LOOP_LOOP_RANKS_H

#include "loop/internal.h"

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

/* Sends tasks from the ranks that owned them to their new ranks. Collective. */
evn_status move_tasks(evn_loop *loop, const int *from, const int *to);

/* A task's present memory; `known`: if no homes were registered. */
static inline char *move_memory(const evn_loop *loop, int task, char *known) {
    size_t bytes;
    return loop->home.memory ? loop->home.memory(loop->home_arg, task, 0, &bytes) : known;
}

#endif
