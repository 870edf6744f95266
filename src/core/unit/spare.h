/* Spare threads: waits of OpenMP's teams that are short.
 *
 * A thread of libgomp looks for some milliseconds before it sleeps, behind each region and at each
 * barrier, which the thread that it waits for may spend waiting for its core. It looks for about a
 * microsecond where the process has more OpenMP threads than cores (libgomp's manual,
 * GOMP_SPINCOUNT), and that can be brought about at any time: by a team of threads that sleep.
 * LLVM's runtime is told how long to look.
 */
#pragma once

#include "unit/internal.h"

/* 1 if the user has not set how OpenMP's threads wait. */
int spare_may_choose(void);

/* Shortens the waits of the calling thread's teams from now on; each leader calls it for itself.
 * Without memory, or more threads, nothing changes. */
void spare_open(evn_units *all);

/* Ends the spare threads, after the leaders. */
void spare_close(evn_units *all);
