/* Comparison of means over some milliseconds with the least recent work. */
#include "loop/alone.h"
#include "unit/contention.h"
#include "unit/share.h"
#include <math.h>
#include <stdlib.h>

#define LOOK      4e-3  /* s of instances that are compared at a time */
#define WORTH     0.93  /* part of one core's time that units must do with */
#define PAUSE     8e-3  /* s that unit 0 works alone, the first time */
#define PAUSE_MAX 0.128 /* s that it works alone at most */
#define GROWS     0.5 /* most growth of the least work a second, relative: it is no bound for ever */

#define LONG 2e-4 /* s of work: more of it gains by all units between their interruptions */
#define SURE 0.06 /* s of a pause in which idle time shows, whose ticks are 10 ms */

enum { LEAST = 6, LONGER = 15 }; /* instances that are looked at; pauses in a row */

static void look_anew(struct alone *a) {
    a->wall = 0;
    a->instances = 0;
}

static void look_at_cores(struct alone *a, const evn_units *units) {
    a->known = 0;
    if (a->pause < SURE || !units) return;
    if (!a->idle) a->idle = malloc(sizeof *a->idle);
    a->known = a->idle && idle_read(a->idle, "");
}

/* Whether all cores of the units are known to have been wanted since look_at_cores(). */
static int all_are_wanted(const struct alone *a, const evn_units *units) {
    struct idle now;
    struct cpus cores;
    if (!a->known || !idle_read(&now, "")) return 0;
    units_cores(units, &cores);
    return !contention_has_idle(a->idle, &now, a->wall, &cores);
}

static void end_pause(struct alone *a, const evn_units *units) {
    if (a->longer < LONGER && all_are_wanted(a, units)) {
        a->longer++;
        look_at_cores(a, units);
    } else {
        a->now = a->longer = 0;
    }
    look_anew(a);
}

void alone_learn(struct alone *a, const evn_units *units, double wall, double busy) {
    const double work = a->now ? fmin(wall, busy) : busy;
    a->work = a->work > 0 ? fmin(a->work * (1 + fmin(GROWS * wall, 0.02)), work) : work;
    a->wall += wall;
    a->instances++;
    if (a->now) {
        if (a->wall >= a->pause) end_pause(a, units);
        return;
    }
    if (a->wall < LOOK || a->instances < LEAST) return;
    if (a->wall > WORTH * a->work * a->instances && a->work < LONG) {
        a->now = 1;
        a->pause = a->pause > 0 ? fmin(2 * a->pause, PAUSE_MAX) : PAUSE;
        look_at_cores(a, units);
    } else {
        a->pause = a->pause > PAUSE ? a->pause / 2 : 0;
    }
    look_anew(a);
}

void alone_close(struct alone *a) {
    free(a->idle);
    a->idle = NULL;
}
