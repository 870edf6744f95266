/* Calibrations: how long a task takes on each kind of units of this node, measured once and kept in
 * $XDG_CACHE_HOME/evener/calibration (or ~/.cache/evener/calibration).
 *
 * Each figure is a file of its own, named after the workload, the machine (processor, packages,
 * caches) and what was measured, and is replaced as a whole. So there is nothing to be merged, and
 * nothing to be locked where several calibrate at once, or on several nodes with one home; figures
 * of other machines lie beside ours and are not looked at; a file that is damaged is one figure
 * less. */
#pragma once

#include "machine/choice.h"

/* Speeds of `units` for a problem of a workload, `key` as in its shape, from what evener calibrate
 * has kept of this machine: weight done a second, one number a unit, and in `per_byte` (as many,
 * may be NULL) the seconds of a byte of a face between the unit's memory and the host's: 0 for CPU
 * units, which work in the host's. Figures of another problem of the same workload do where there
 * are none of this one; of another class the nearest.
 *
 * 0: filled. -1: nothing is known of one of these kinds, and nothing filled. Files that are none of
 * these are passed over with a warning. */
int calibration_speeds(const struct workload *is, const char *key, const evn_units *units,
                       double *speed, double *per_byte);

/* The routes between units of one node, for evn_problem: CPU units are one kind, and so are devices
 * of equal cost; between devices data go over the host. kinds 0: all routes are free. */
struct calibration_routes {
    int kinds, *kind;
    evn_route *route;
    double bandwidth; /* of the slowest route, bytes a second; 0: all are free */
};

/* Makes the routes of `units` units from calibration_speeds()'s per_byte. 0, or -1 without memory;
 * close them in any case. */
int calibration_routes_open(struct calibration_routes *routes, const double *per_byte, int units);
void calibration_routes_close(struct calibration_routes *routes);

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

/* Whether figures may be kept in this file: it is not there yet, or empty, or a calibration, or a
 * pipe or device. A file that is something else stays as it is. 0, or an exit status after a
 * message. */
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
