/* Time that other threads have taken of a unit's cores, by the kernel's count of the time that the
 * unit's threads were ready to run and had no core. */
#pragma once

#include "unit/internal.h"

/* Number of places for a unit's threads: those of its team by number, and behind them its helpers,
 * by core. */
static inline int unit_threads(const evn_unit *u) { return 2 * u->cores; }

/* Allocates a unit's places, and frees them. EVN_MEMORY. */
evn_status taken_open(evn_unit *u);
void taken_close(evn_unit *u);

/* Notes the calling thread as the unit's number `place`. */
void taken_note(evn_unit *u, int place);

/* Seconds that a thread of this process (0: the calling one) has run, and was ready to run without
 * a core; 0: the kernel does not say. */
int taken_read(pid_t thread, double *run, double *delay);
