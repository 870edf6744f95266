/* Ranks that are processes of this node, forked here, over an arena. */
#ifndef WIRE_PROCESSES_H
#define WIRE_PROCESSES_H

#include <evener/wire.h>

/* open() forks so many ranks, and returns in each of them; the process that called only looks after
 * them from then on, and ends with the run (supervisor.h). */
extern const evn_wire_kind wire_processes;

#endif
