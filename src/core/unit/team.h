/* Teams: the mapping of threads to units and cores. */
#pragma once

#include "unit/internal.h"

/* Opens and closes a unit's tag. EVN_MEMORY. */
evn_status team_open(evn_unit *u);
void team_close(evn_unit *u);

/* Creates the calling leader's team of threads, or its first `threads`, and binds each to its core
 * unless it is; failures go to u->status and u->message. */
void team_bind(evn_unit *u, int threads);

/* Makes the calling thread a helper of the unit, bound to its core number `core`: 0, or an errno.
 */
int team_join(evn_unit *u, int core);

/* Runs the job; evn_units_here() is this unit in its threads. */
void team_run(evn_unit *u, void (*job)(evn_unit *, void *), void *arg);
/* Runs the job for a unit that is only described, by a thread that is no leader. */
void team_run_described(evn_unit *u, void (*job)(evn_unit *, void *), void *arg);

/* Makes the calling thread the leader of unit 0, and restores it: between opening and closing if it
 * stays bound, else around each job. */
void team_hold_caller(void);
void team_let_caller(void);
/* Affinity of the calling thread while it leads no unit; empty where it is not known. */
void team_mask(struct cpus *mask);

/* Bracket a job: the calling thread and, unless it works alone, its team are unit 0's. EVN_SYSTEM.
 */
evn_status team_begin(evn_units *all, int alone);
void team_end(evn_units *all);

/* Releases the binding of the threads that the runtime keeps of the calling thread's team. */
void team_disband(evn_unit *u);

/* 1 if the calling thread had a team before this process was forked. */
int team_is_lost(void);
