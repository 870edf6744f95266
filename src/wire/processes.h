/* Ranks that are processes of this node, forked here, over an arena. */
#ifndef WIRE_PROCESSES_H
#define WIRE_PROCESSES_H

#include <evener/wire.h>

/* open() forks so many ranks, and returns in each of them; the process that called only looks after
 * them from then on, and ends with the run (supervisor.h). With the option restart=fewer or
 * restart=same it forks others when one is lost, and open() returns in each of these, three times
 * at most: what ends ranks more often than that is no accident. */
extern const evn_wire_kind wire_processes;

/* How often that was before this rank was forked. */
int wire_processes_restarts(void);

#endif
