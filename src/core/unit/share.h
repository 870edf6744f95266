/* Shared jobs: done by the units that arrive while there is work, without waiting for a unit whose
 * core another program has. */
#pragma once

#include <evener/unit.h>
#include "base/cpus.h"

/* As evn_units_run(), but CPU units whose leaders have not begun when the caller's job returns are
 * left out: the job must be complete without them. Leaders of GPU units are always waited for. */
evn_status units_share(evn_units *all, void (*job)(evn_unit *unit, void *arg), void *arg);

/* Runs the job on unit 0 alone, by the caller; no other leader is woken. */
evn_status units_alone(evn_units *all, void (*job)(evn_unit *unit, void *arg), void *arg);

/* Runs work(core, arg) on the cores of a unit: core 0 is the leader, the others are bound threads
 * of the unit; returns when all that have begun are done. `each`: every core must take part; else a
 * core that has not begun when core 0 is done is left out. By the unit's leader, in a job.
 * EVN_SYSTEM, and nothing was done: a thread could not be created or bound. */
evn_status helpers_share(evn_unit *unit, int each, void (*work)(int core, void *arg), void *arg);

/* Makes the unit's further threads now, if they are not there. As helpers_share(). */
evn_status helpers_make(evn_unit *unit);

/* A job of all units has ended: now; and s that have passed since then, 0 before the first. */
double units_rest(evn_units *all);
double units_idle(const evn_units *all, double now);

/* Notes that units are interrupted within their tasks. From the next job on OpenMP's threads of the
 * program wait for a moment only, since they may be what interrupts them (unit/spare.h). */
void units_interrupted(evn_units *all);

/* Cores on which the units' threads may run, by the system's numbers. */
void units_cores(const evn_units *all, struct cpus *cores);

/* s for which threads of the unit spin at a gate before they sleep: next to nothing where they are
 * not bound, and so may keep another thread from its core. */
double unit_spin(const evn_unit *unit);

/* Removes unit `number`, whose device has failed, and closes its devices; units behind it move up
 * by one. Loops on these units can then only be closed, and places must have lost the device's
 * space before (place_lose()); <evener/recover.h> does all of this. By the
 * thread that opened the units. EVN_USAGE: another thread, the last unit, or the units are at
 * work. */
evn_status units_remove(evn_units *units, int number);

/* Times as long as a unit without evn_unit_slow() takes. */
double unit_slowness(const evn_unit *unit);
double unit_speed(const evn_unit *unit);

/* 1 while a job is at work on the units. */
int units_running(const evn_units *all);
