/* Calibrations: how long a task takes on each kind of units of this node, measured once and kept in
 * $XDG_CACHE_HOME/evener/calibration.json (or ~/.cache/evener), with the machine it is of. */
#ifndef TOOL_CALIBRATION_H
#define TOOL_CALIBRATION_H

#include "common/workload.h"

/* Speeds of `units` for a problem of a workload, `key` as in its shape, from what evener calibrate
 * has kept of this machine: weight done a second, one number a unit, and in *bandwidth (may be
 * NULL) what goes with them into evn_problem: bytes a second between units, 0 where all of them
 * work in the host's memory and a face costs the same whoever owns it. Figures of another problem
 * of the same workload do where there are none of this one; of another class the nearest.
 *
 * 0: filled. -1: nothing is known of one of these kinds, nothing was said and nothing filled.
 * Otherwise an exit status after a message: the file is none of these, or of another machine or
 * version. */
int calibration_speeds(const struct workload *is, const char *key, const evn_units *units,
                       double *speed, double *bandwidth);

/* Where it is kept unless the user says otherwise, to be freed; NULL after a message: there is no
 * such place. */
char *calibration_path(void);

/* The entries of the file that may stay: none if it is not there, or not of this machine and
 * version. */
cJSON *calibration_read(const char *path, const evn_machine *machine);

/* Puts an entry in the place of an older one of the same. An entry has "app", "class" (the
 * problem's key), "unit", "device" (not of CPU units), "tasks", "steps", "task_s", "weight_per_s",
 * "within_s_per_byte" and "between_s_per_byte". */
void calibration_keep(cJSON *entries, cJSON *fresh);

/* Makes the folders on the way to a file, as far as they are missing. What fails shows when the
 * file is written. */
void calibration_folders(const char *path);

/* Writes the entries, which it takes. 0, or an exit status after a message. */
int calibration_save(const char *path, const evn_machine *machine, cJSON *entries);

/* The name of a unit's device, "" for CPU units; NULL: it is described only, and any will do. */
const char *calibration_device(const evn_unit *unit);

#endif
