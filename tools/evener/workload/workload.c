/* Opening a workload by the names a user gave. */
#include "workload/workload.h"
#include "workload/calibrate.h"
#include "cli/command.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Speeds of the units: as given, or the number of cores. */
static int read_speeds(struct workload *w, const char *text) {
    int units = evn_units_count(w->units);
    w->speed = malloc(sizeof *w->speed * (size_t)units);
    if (!w->speed) {
        complain("not enough memory for %d units", units);
        return EXIT_USAGE;
    }
    const char *p = text;
    for (int u = 0; u < units; u++) {
        w->speed[u] = evn_unit_cores(evn_units_get(w->units, u));
        if (!text) continue;
        char *end;
        double speed = strtod(p, &end);
        if (end == p || !(speed > 0) || isinf(speed) || (*end != ',' && *end)) {
            complain("--speeds %s: the speed of unit %d is not a number above 0", text, u);
            return EXIT_USAGE;
        }
        if ((*end == 0) != (u == units - 1)) {
            complain("--speeds %s: expected %d numbers, one a unit", text, units);
            return EXIT_USAGE;
        }
        w->speed[u] = speed;
        p = end + 1;
    }
    return 0;
}

/* Thread reassignment of NPB-MZ (NAS-03-010, section 5), if the schedule asks for it: shares the
 * list's cores out to its units by what the schedule gives them to do. */
static int reassign_cores(struct workload *w, const struct workload_names *names) {
    evn_units *described = NULL;
    evn_schedule *schedule = NULL;
    evn_problem tasks = npbmz_tasks(w->problem);
    int *share = NULL, cores = 0;
    evn_status status = evn_units_open(&described, w->machine, names->units, EVN_DESCRIBE_ONLY);
    if (!status && evn_units_gpus(described))
        status = evn_fail(EVN_USAGE, "%s: cores move between CPU units only, and %s has devices",
                          names->schedule, names->units);
    if (!status) {
        tasks.units = evn_units_count(described);
        status = evn_schedule_open(&schedule, names->schedule, &tasks);
        share = calloc((size_t)tasks.units, sizeof *share);
        if (!share) status = evn_fail(EVN_MEMORY, "not enough memory for %d units", tasks.units);
    }
    const int reassigns = !status && evn_schedule_reassigns(schedule);
    for (int u = 0; reassigns && u < tasks.units; u++)
        cores += evn_unit_cores(evn_units_get(described, u));
    if (reassigns) status = evn_schedule_reassign(schedule, cores, share);
    size_t at = 0;
    for (int u = 0; reassigns && !status && u < tasks.units; u++) {
        at += (size_t)snprintf(w->units_text + at, sizeof w->units_text - at, "%s1:CPU:%d",
                               u ? "," : "", share[u]);
        if (at >= sizeof w->units_text)
            status = evn_fail(EVN_USAGE, "%s: %d units are too many to be reassigned",
                              names->schedule, tasks.units);
    }
    free(share);
    evn_schedule_close(schedule);
    evn_units_close(described);
    return status ? give_up(status) : 0;
}

int workload_open(struct workload *w, const struct workload_names *names, unsigned flags) {
    memset(w, 0, sizeof *w);
    if (!names->app) {
        complain("which workload? expected bt-mz, sp-mz or lu-mz");
        return EXIT_USAGE;
    }
    int benchmark = npbmz_find(names->app);
    if (benchmark < 0) {
        complain("there is no workload \"%s\", expected bt-mz, sp-mz or lu-mz", names->app);
        return EXIT_USAGE;
    }
    if (strlen(names->class_) != 1) {
        complain("%s: there is no class \"%s\", expected one of S W A B C D E F", names->app,
                 names->class_);
        return EXIT_USAGE;
    }
    evn_status status = npbmz_open(&w->problem, benchmark, names->class_[0]);
    if (!status) status = evn_machine_open(&w->machine);
    const char *list = names->units;
    if (!status && !strncmp(names->schedule, "binpack:", 8)) {
        int wrong = reassign_cores(w, names);
        if (wrong) return wrong;
        if (*w->units_text) list = w->units_text;
    }
    if (!status)
        status = evn_units_open_on(&w->units, w->machine, list, names->devices,
                                   flags | (names->oversubscribe ? EVN_OVERSUBSCRIBE : 0));
    if (status) return give_up(status);
    w->shape = npbmz_describe(w->problem);
    w->tasks = npbmz_tasks(w->problem);
    w->tasks.units = evn_units_count(w->units);
    w->tasks.instances = names->steps < 0 ? w->shape.steps : (int)names->steps;
    int wrong = read_speeds(w, names->speeds);
    if (!wrong && names->calibrated && !names->speeds)
        wrong = calibration_speeds(w->shape.name, w->shape.class_, w->units, w->speed,
                                   &w->tasks.bandwidth);
    if (wrong > 0) return wrong;
    w->tasks.speed = w->speed;
    status = evn_schedule_open(&w->schedule, names->schedule, &w->tasks);
    return status ? give_up(status) : 0;
}

void workload_close(struct workload *w) {
    evn_schedule_close(w->schedule);
    evn_units_close(w->units);
    evn_machine_close(w->machine);
    npbmz_close(w->problem);
    free(w->speed);
}

int workload_threads(const struct workload *w) {
    int threads = 0;
    for (int u = 0; u < evn_units_count(w->units); u++)
        threads += evn_unit_cores(evn_units_get(w->units, u));
    return threads;
}
