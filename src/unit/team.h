/* Teams: which thread belongs to which unit and core. */
#ifndef UNIT_TEAM_H
#define UNIT_TEAM_H

#include "unit/internal.h"

/* Gives the unit a tag, and takes it back. EVN_MEMORY. */
evn_status team_open(evn_unit *u);
void team_close(evn_unit *u);

/* Makes the calling leader's team of threads, or the first `threads` of it, and binds each to its
 * core, if that is not so already; u->status and u->message say what failed. */
void team_bind(evn_unit *u, int threads);

/* Calls the job; meanwhile evn_units_here() is this unit in its threads. */
void team_run(evn_unit *u, void (*job)(evn_unit *, void *), void *arg);
/* The same by a thread that is no leader, for units that are only described. */
void team_run_described(evn_unit *u, void (*job)(evn_unit *, void *), void *arg);

/* The calling thread becomes the leader of unit 0, and is again what it was. Between opening and
 * closing if it stays bound, else around each job. */
void team_hold_caller(void);
void team_let_caller(void);

/* Before and after a job: the calling thread and, unless it works alone, its team are unit 0's.
 * EVN_SYSTEM. */
evn_status team_begin(evn_units *all, int alone);
void team_end(evn_units *all);

/* The threads that the runtime keeps of the calling thread's team may run wherever the caller may.
 */
void team_disband(evn_unit *u);

/* Whether the calling thread had a team before this process was forked. */
int team_is_lost(void);

#endif
