/* Spare threads: waits of OpenMP's teams that are short.
 *
 * A thread of libgomp looks for some milliseconds before it sleeps, behind each region and at each
 * barrier, which the thread that it waits for may spend waiting for its core. It looks for about a
 * microsecond where the process has more OpenMP threads than cores (libgomp's manual,
 * GOMP_SPINCOUNT), and that can be brought about at any time: by a team of threads that sleep.
 * LLVM's runtime is told how long to look.
 */
#ifndef UNIT_SPARE_H
#define UNIT_SPARE_H

#include "unit/internal.h"

/* Whether the user has left it to the library how long threads of OpenMP wait. */
int spare_may_choose(void);

/* From now on teams of the calling thread wait for a moment only: by leaders, each for itself.
 * Where there is no memory, or there may be no more threads, all stays as it was. */
void spare_open(evn_units *all);

/* When the leaders have ended. */
void spare_close(evn_units *all);

#endif
