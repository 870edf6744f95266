/* The parent of a run's ranks: a separate process, so that any rank's death, rank 0's included, is
 * noticed at once. It waits for the ranks, passes signals on, and ends with the run's status. */
#pragma once

#include "wire/arena.h"
#include <signal.h>
#include <sys/types.h>

/* Signal state before the supervisor, to be restored in ranks. */
struct supervisor_signals {
    sigset_t mask, mine; /* mask before; signals that the supervisor takes */
    struct sigaction child;
};

/* Blocks signals, before the ranks are forked; the supervisor then waits for them. */
void supervisor_take_signals(struct supervisor_signals *signals);
/* Restores the signal state, in a rank, and after a failed fork. */
void supervisor_give_signals(const struct supervisor_signals *signals);

/* Kills these `count` processes and waits for them. */
void supervisor_end(const pid_t *pid, int count);

/* Waits until all ranks have ended. Returns the run's status:
 *
 *     0 or rank 0's status, else the first other one that is not 0;
 *     3, with a message, if a signal ended a rank or a rank left the run early: the others are
 *       ended then;
 *     130 if SIGINT, SIGTERM or SIGHUP ended rank 0, or ten seconds after it.
 *
 * `next` not 0: the run continues with so many processes after a signal has ended a rank; a message
 * says so, the other ranks are ended, and SUPERVISOR_GO_ON is returned. */
enum { SUPERVISOR_GO_ON = -1 };
int supervisor_run(struct wire_arena *arena, const pid_t *pid, int count, int next,
                   const struct supervisor_signals *signals);
