/* Opening a workload by the names a user gave. */
#include "workload.h"
#include "calibrate.h"
#include "command.h"
#include <math.h>
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
    if (!status)
        status = evn_units_open_on(&w->units, w->machine, names->units, names->devices,
                                   flags | (names->oversubscribe ? EVN_OVERSUBSCRIBE : 0));
    if (status) return give_up(status);
    w->shape = npbmz_describe(w->problem);
    w->tasks = npbmz_tasks(w->problem);
    w->tasks.units = evn_units_count(w->units);
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
