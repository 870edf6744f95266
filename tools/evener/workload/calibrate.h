/* Calibration: how long a task takes on each kind of units of this node, measured once and kept. */
#ifndef TOOL_CALIBRATE_H
#define TOOL_CALIBRATE_H

#include <evener.h>

/* Speeds of `units` for a workload, from what evener calibrate has kept of this machine: weight
 * done a second, one number a unit, and in *bandwidth (may be NULL) what goes with them into
 * evn_problem: bytes a second between units, 0 where all of them work in the host's memory and a
 * face costs the same whoever owns it. Figures of another class of the same workload do where there
 * are none of this one.
 *
 * 0: filled. -1: nothing is known of one of these kinds, nothing was said and nothing filled.
 * Otherwise an exit status after a message: the file is none of these, or of another machine or
 * version. */
int calibration_speeds(const char *app, char class_, const evn_units *units, double *speed,
                       double *bandwidth);

#endif
