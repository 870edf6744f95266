/* Calibrations: how long a task takes on each kind of units of this node, measured once and kept in
 * $XDG_CACHE_HOME/evener/calibration (or ~/.cache/evener/calibration).
 *
 * Each figure is a file of its own, named after the workload, the machine (processor, packages,
 * caches) and what was measured, and is replaced as a whole. So there is nothing to be merged, and
 * nothing to be locked where several calibrate at once, or on several nodes with one home; figures
 * of other machines lie beside ours and are not looked at; a file that is damaged is one figure
 * less. */
#ifndef TOOL_CALIBRATION_H
#define TOOL_CALIBRATION_H

#include "machine/choice.h"

/* Speeds of `units` for a problem of a workload, `key` as in its shape, from what evener calibrate
 * has kept of this machine: weight done a second, one number a unit, and in *bandwidth (may be
 * NULL) what goes with them into evn_problem: bytes a second between units, 0 where all of them
 * work in the host's memory and a face costs the same whoever owns it. Figures of another problem
 * of the same workload do where there are none of this one; of another class the nearest.
 *
 * 0: filled. -1: nothing is known of one of these kinds, and nothing filled. Files that are none of
 * these are passed over with a warning. */
int calibration_speeds(const struct workload *is, const char *key, const evn_units *units,
                       double *speed, double *bandwidth);

/* Stored calibration of a workload on `unit` ("CPU:1") for that problem, else for another one of
 * the nearest class: an entry to be deleted; NULL: none. Warns as above. */
cJSON *calibration_entry(const struct workload *is, const char *key, const char *unit,
                         const evn_machine *machine);

/* Stored cost of teams for that problem, or another as above: fills *cost, unchanged if nothing is
 * known. Warns about a damaged entry; calibration_speeds() warns about files. */
void calibration_teams(const struct workload *is, const char *key, const evn_machine *machine,
                       struct choice_cost *cost);

/* The folder that they are kept in, to be freed; NULL: neither XDG_CACHE_HOME nor HOME says where.
 */
char *calibration_folder(void);

/* Before anything is measured: whether the figures can be kept in the folder, which is made where
 * it is missing. 0, or an exit status after a message. */
int calibration_try_folder(const char *folder);

/* The same of a file: it is not there yet, or empty, or a calibration, or no file but a pipe or a
 * device. What is something else stays as it is. */
int calibration_try_file(const char *path);

/* An entry has "app", "class" (the problem's key), "unit", "device" (not of CPU units), "cores" (of
 * CPU units, where the machine has several kinds of cores: which), "tasks", "steps", "task_s",
 * "weight_per_s", "within_s_per_byte" and "between_s_per_byte". That of the unit "team" is the
 * model's (model/figures.h) and has more. That of CALIBRATION_TOGETHER, several cores at one task,
 * has what a core alone does, and "largest", the cores of the largest team, "doubling", what each
 * doubling of a team costs (evn_team_cost), and "meeting_s", its meeting in seconds. */
#define CALIBRATION_TOGETHER "together"

/* Keeps each of the entries in the folder, in the place of an older one of the same. 0, or an exit
 * status after a message. */
int calibration_keep(const char *folder, const evn_machine *machine, const cJSON *entries);

/* All that the folder has of this machine, a list to be deleted. */
cJSON *calibration_kept(const char *folder, const evn_machine *machine);

/* The entries as one file. 0, or an exit status after a message. */
int calibration_write(const char *path, const evn_machine *machine, const cJSON *entries);

/* Value of an entry's "cores" for a unit on this kind of cores, in `text`: "" if the machine has
 * one kind. */
const char *calibration_cores(const evn_machine *machine, int kind, char text[16]);

/* The name of a unit's device, "" for CPU units; NULL: it is described only, and any will do. */
const char *calibration_device(const evn_unit *unit);

#endif
