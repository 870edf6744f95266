/* The process that a run's ranks come from: it waits for them, passes signals on, and ends with the
 * run's status. It is no rank, since one that computes cannot notice another's death in time, and
 * its own must be noticed too. */
#ifndef WIRE_SUPERVISOR_H
#define WIRE_SUPERVISOR_H

#include "wire/arena.h"
#include <signal.h>
#include <sys/types.h>

/* What signals were in the process before it became the supervisor, for the ranks. */
struct supervisor_signals {
    sigset_t mask, mine; /* blocked before; those that the supervisor takes */
    struct sigaction child;
};

/* Before the ranks are forked: from here on signals wait until they are asked for. */
void supervisor_take_signals(struct supervisor_signals *signals);
/* In a rank, and where forking has failed. */
void supervisor_give_signals(const struct supervisor_signals *signals);

/* Ends these `count` processes and waits for them. */
void supervisor_end(const pid_t *pid, int count);

/* Waits until all ranks have ended. What the run returns:
 *   0 or rank 0's status, else the first other one that is not 0;
 *   3, with a message, if a rank was ended by a signal or left the run before it was over: the
 *     others are ended then;
 *   130 if SIGINT, SIGTERM or SIGHUP came and rank 0 was ended by it, or ten seconds passed.
 * `next`, not 0: a rank that is ended by a signal does not end the run, which goes on with so many
 * processes; the message says so, the others are ended, and SUPERVISOR_GO_ON is returned. */
enum { SUPERVISOR_GO_ON = -1 };
int supervisor_run(struct wire_arena *arena, const pid_t *pid, int count, int next,
                   const struct supervisor_signals *signals);

#endif
