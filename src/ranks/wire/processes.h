/* Ranks as forked processes of this node, over an arena. */
#pragma once

#include <evener/wire.h>

/* open() forks the ranks, and returns in each of them; the calling process becomes their supervisor
 * (supervisor.h) and ends with the run. With restart=fewer or restart=same it forks new ranks when
 * one is lost, and open() returns in each of these, three times at most: more frequent losses are
 * no accident. */
extern const evn_wire_kind wire_processes;

/* Number of restarts before this rank was forked. */
int wire_processes_restarts(void);
