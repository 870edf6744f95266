/* Cost of a team. A doubling: by tasks that teams of 2, 4, .. cores did one after another, with
 * each phase's own loop in the pieces (docs/model.md). A meeting: by empty batches. */
#include "run/calibrate_teams.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include <evener/clock.h>
#include <evener/program.h>
#include <math.h>
#include <stdio.h>

enum { PHASES = 16, ROUNDS = 9, BATCHES = 100 };

/* Time of `cores` for all tasks over an even share of one core's time, apart from the grain of
 * whole pieces. */
static double over_pieces(const struct job *job, const double *one, const double *many, int cores) {
    const struct workload_teams *teams = job->is->teams;
    double sum = 0, even = 0;
    for (int t = 0; t < job->tasks.tasks; t++) {
        evn_phase phase[PHASES];
        const int n = teams->phases ? teams->phases(job->state, t, phase, PHASES) : 0;
        even += one[t] * evn_predict_team(0, n, phase, cores) / cores;
        sum += many[t];
    }
    return even > 0 ? sum / even : 1;
}

double teams_doubling(const struct job *job, const struct teams_times *times) {
    double x[TEAMS_MAX], y[TEAMS_MAX];
    int n = 0;
    for (int i = 1; i < times->count; i++) {
        x[n] = log2(times->cores[i]);
        y[n++] = over_pieces(job, times->task[0], times->task[i], times->cores[i]) - 1;
    }
    return fmax(0, evn_predict_slope(n, x, y, NULL));
}

static void nothing(const evn_subteam *by, int task, void *arg) {
    (void)by;
    (void)task;
    (void)arg;
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    return evn_batch_share(batch, NULL, 0, nothing, arg);
}

static evn_status empty_batches(evn_loop *loop, double *seconds) {
    double sample[ROUNDS];
    evn_status status = EVN_OK;
    for (int r = -1; !status && r < ROUNDS; r++) { /* the first round is not counted */
        const double begin = evn_now();
        for (int i = 0; !status && i < BATCHES; i++) status = evn_loop_run(loop, body, NULL);
        if (r >= 0) sample[r] = (evn_now() - begin) / BATCHES;
    }
    if (!status) *seconds = median(sample, ROUNDS);
    return status;
}

/* Seconds of an instance of nothing on these units; a task for each core. */
static evn_status empty_instance(const evn_machine *machine, const char *list, int tasks,
                                 double *seconds) {
    evn_units *units = NULL;
    evn_schedule *schedule = NULL;
    evn_loop *loop = NULL;
    evn_status status = evn_units_open(&units, machine, list, NULL, EVN_STAY_BOUND);
    const evn_problem p = {.tasks = tasks, .units = status ? 1 : evn_units_count(units)};
    if (!status) status = evn_schedule_open(&schedule, "static", &p);
    if (!status) status = evn_loop_open(&loop, units, schedule);
    if (!status) status = empty_batches(loop, seconds);
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    evn_units_close(units);
    return status;
}

int teams_meeting(const evn_machine *machine, int cores, double *seconds) {
    char team[32], units[32];
    double together = 0, apart = 0;
    snprintf(team, sizeof team, "1:CPU:%d", cores);
    snprintf(units, sizeof units, "%d:CPU:1", cores);
    evn_status status = empty_instance(machine, team, cores, &together);
    if (!status) status = empty_instance(machine, units, cores, &apart);
    *seconds = fmax(0, together - apart) / log2(cores);
    return status ? give_up(status) : 0;
}
