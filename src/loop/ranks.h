/* The loop over the ranks of a cluster: together.c lets rank 0 learn and tell, move.c sends tasks'
 * memory to where they go. Alone, none of it is called.
 */
#ifndef LOOP_RANKS_H
#define LOOP_RANKS_H

#include "loop/internal.h"

/* Room for what rank 0 decides. Local; then, on all ranks, its first assignment, with this rank's
 * status of having opened the loop. */
evn_status together_open(evn_loop *loop);
evn_status together_begin(evn_loop *loop, evn_status mine);
void together_close(evn_loop *loop);

/* All ranks: the worst of their statuses, the same everywhere. */
evn_status together_agree(evn_loop *loop, const char *what, evn_status mine);

/* The end of an instance on this rank, with its status: everybody's times go to rank 0, its
 * schedule learns, and all know the next owners. Tasks that go to another rank are sent there. */
evn_status together_learn(evn_loop *loop, evn_status mine);

/* Sends tasks from the ranks that owned them to those that will; all ranks. */
evn_status move_tasks(evn_loop *loop, const int *from, const int *to);

/* A task's memory where it lies now; `known`: where homes were not said. */
static inline char *move_memory(const evn_loop *loop, int task, char *known) {
    size_t bytes;
    return loop->home.memory ? loop->home.memory(loop->home_arg, task, 0, &bytes) : known;
}

#endif
