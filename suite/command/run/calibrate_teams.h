/* Cost of a team from measured times (evn_team_cost, evener/predict.h). */
#pragma once

#include "run/job.h"

enum { TEAMS_MAX = 16 };

/* A measurement: all tasks one after another by teams of given sizes, the first of one core. */
struct teams_times {
    int count, cores[TEAMS_MAX];
    double *task[TEAMS_MAX]; /* seconds of each task; to be freed */
};

/* Cost of a doubling by these, at least 0: the slope through the origin, over doublings, of the
 * teams' time over whole pieces of an even share. */
double teams_doubling(const struct job *job, const struct teams_times *times);

/* Time of a team of `cores` for an empty batch beyond that of as many units of one core, a
 * doubling, s, at least 0. 0, or an exit status after a message. */
int teams_meeting(const evn_machine *machine, int cores, double *seconds);
