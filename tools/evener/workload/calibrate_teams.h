/* What a team costs, from times that were measured (evn_team_cost, evener/predict.h). */
#ifndef TOOL_CALIBRATE_TEAMS_H
#define TOOL_CALIBRATE_TEAMS_H

#include "workload/job.h"

enum { TEAMS_MAX = 16 };

/* What was measured: all tasks one after another by teams of so many cores, the first of them one
 * core. */
struct teams_times {
    int count, cores[TEAMS_MAX];
    double *task[TEAMS_MAX]; /* seconds of each task; to be freed */
};

/* What a doubling costs by these, at least 0: the slope through the origin, over the doublings, of
 * what teams need over whole pieces of an even share. */
double teams_doubling(const struct job *job, const struct teams_times *times);

/* What a team of `cores` takes for a batch of nothing over as many units of one core, each
 * doubling, in seconds, at least 0. 0, or an exit status after a message. */
int teams_meeting(const evn_machine *machine, int cores, double *seconds);

#endif
