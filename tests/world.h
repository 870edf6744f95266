/* What tests of loops begin with: units on a machine of their own, a loop over them with a schedule
 * of its own, random numbers that are the same each time, and a body that does nothing. */
#pragma once

#include "check.h"

static inline evn_units *open_units(const char *list, const char *devices) {
    evn_machine *machine;
    evn_units *units;
    ok(evn_machine_open(&machine));
    ok(evn_units_open(&units, machine, list, devices, EVN_OVERSUBSCRIBE));
    return units;
}
static inline void close_units(evn_units *units) {
    evn_machine *machine = (evn_machine *)evn_units_about(units).machine;
    evn_units_close(units);
    evn_machine_close(machine);
}

/* The problem's units are these. */
static inline evn_loop *open_loop(evn_units *units, evn_schedule **schedule, const char *name,
                                  evn_problem tasks) {
    evn_loop *loop;
    tasks.units = evn_units_count(units);
    ok(evn_schedule_open(schedule, name, &tasks));
    ok(evn_loop_open(&loop, units, *schedule));
    return loop;
}
static inline void close_loop(evn_loop *loop, evn_schedule *schedule) {
    evn_loop_close(loop);
    evn_schedule_close(schedule);
}

static unsigned seed = 1;
static inline int below(int n) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)n);
}

static inline evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}
