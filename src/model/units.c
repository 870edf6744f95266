/* Predicted step on units whose cores take whole tasks. A unit is divided into subteams as by a
 * loop (loop/subteam_split.h); their time follows from the team's cost and from uneven phases,
 * which the division ignores. */
#include <evener/predict.h>
#include "base/argument.h"
#include "loop/subteam_split.h"
#include "schedule/ranked.h"
#include "schedule/version.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = 16, CORES_MAX = 1 << 16, INSTANCES = 8 };

struct model {
    const evn_problem *p;
    const evn_team_cost *cost;
    const int *cores;
    int *owner, *before; /* unit of each task in this instance, and in the one before */
    int *order;          /* a unit's tasks, by descending weight */
    int *to;             /* scratch: subteam of each task of the unit */
    int *listed, *end;   /* tasks unit by unit, and where those of each end */
    struct ranked *most; /* units by how long their cores have work, the longest first */
    double *weight;      /* weight of each task of the unit */
    double *seconds;     /* seconds of each task */
    struct cut cut;      /* division of a unit */
};

/* Speed of one core of a unit. */
static double core_speed(const struct model *m, int u) {
    return (m->p->speed ? m->p->speed[u] : 1) / m->cores[u];
}

/* Time of a task on `n` cores over that on one. */
static double by_team(const struct model *m, int task, int n) {
    evn_phase phase[PHASES];
    if (n == 1) return 1;
    const int phases = m->cost->phases ? m->cost->phases(m->cost->arg, task, phase, PHASES) : 0;
    return (1 + m->cost->doubling * log2(n)) * evn_predict_team(0, phases, phase, n) / n;
}

/* Seconds of number `i` of m->order on `cores` cores, for one core of speed 1. */
static double takes(const void *arg, int i, int cores) {
    const struct model *m = arg;
    return m->weight[i] * by_team(m, m->order[i], cores);
}

/* A batch of m->order on unit `u`: how long it takes; the times of tasks are made to fit. */
static double batch(struct model *m, int u, int count) {
    const int cores = m->cores[u];
    const struct cut_cost cost = {takes, m};
    double sum = 0;
    if (!count) return 0;
    cut_sort(count, m->order, m->p->weight, m->weight);
    m->cut.cores = cores;
    cut_choose(&m->cut, count, m->weight);
    const double meeting = m->cost->meeting * log2(cores);
    const double end = (cut_deal(&m->cut, count, &cost, m->to) + meeting) / core_speed(m, u);
    for (int i = 0; i < count; i++) {
        const int by = i < m->cut.together ? cores : cut_size(&m->cut, m->to[i]);
        sum += m->seconds[m->order[i]] = takes(m, i, by) * by;
    }
    for (int i = 0; i < count; i++) m->seconds[m->order[i]] *= sum > 0 ? end / sum : 0;
    return end;
}

/* Fills m->listed and m->most, by the owners. */
static void list_units(struct model *m) {
    const evn_problem *p = m->p;
    int *end = m->end;
    memset(end, 0, ((size_t)p->units + 1) * sizeof *end);
    for (int u = 0; u < p->units; u++) m->most[u] = (struct ranked){0, u};
    for (int t = 0; t < p->tasks; t++) {
        const int u = m->owner[t];
        m->most[u].value += (p->weight ? p->weight[t] : 1) / (core_speed(m, u) * m->cores[u]);
        end[u + 1]++;
    }
    for (int u = 0; u < p->units; u++) end[u + 1] += end[u];
    for (int t = 0; t < p->tasks; t++) m->listed[end[m->owner[t]]++] = t;
    rank_descending(m->most, p->units);
}

/* One instance: of each unit until when it is busy, up to the first that is so beyond `enough`.
 * Where units draw, a chunk is a batch. */
static void instance(struct model *m, int chunk, double enough, double *busy) {
    const evn_problem *p = m->p;
    for (int u = 0; u < p->units; u++) busy[u] = 0;
    if (chunk) {
        for (int t = 0; t < p->tasks;) {
            const int u = m->owner[t], end = t + chunk < p->tasks ? t + chunk : p->tasks;
            int n = 0;
            while (t < end) m->order[n++] = t++;
            busy[u] += batch(m, u, n);
        }
        return;
    }
    list_units(m);
    for (int i = 0; i < p->units; i++) {
        const int u = m->most[i].index, from = u ? m->end[u - 1] : 0, n = m->end[u] - from;
        memcpy(m->order, m->listed + from, (size_t)n * sizeof *m->order);
        busy[u] = batch(m, u, n);
        if (busy[u] > enough) return;
    }
}

/* Instances until the schedule leaves tasks where they are, or long enough. */
static evn_status run(struct model *m, const char *text, double *busy) {
    const size_t bytes = (size_t)m->p->tasks * sizeof *m->owner;
    evn_schedule *schedule;
    evn_status status = evn_schedule_open(&schedule, text, m->p);
    if (status) return status;
    /* a schedule that never changes has one instance to tell of */
    const int still = schedule_settled(schedule), most = still ? 1 : INSTANCES + m->p->units;
    const double enough = still && m->cost->enough > 0 ? m->cost->enough : INFINITY;
    for (int i = 0, same = 0, last = 0; !status && i < most && same < 2; i++) {
        memcpy(m->before, m->owner, bytes);
        const int chunk = schedule_chunk(schedule);
        status = evn_schedule_simulate(schedule, m->owner, m->weight);
        same = i && !memcmp(m->owner, m->before, bytes) ? same + 1 : 0;
        /* the same tasks on the same units take as long as before */
        if (!status && !(same && chunk == last)) instance(m, chunk, enough, busy);
        last = chunk;
        if (!status) status = evn_schedule_learn(schedule, m->owner, m->seconds);
    }
    evn_schedule_close(schedule);
    return status;
}

static evn_status check(const evn_problem *p, const int *cores, const evn_team_cost *cost) {
    if (p->tasks < 1 || p->units < 1)
        return evn_fail(EVN_USAGE, "predict: %d tasks on %d units, expected 1 or more", p->tasks,
                        p->units);
    for (int u = 0; u < p->units; u++)
        if (cores[u] < 1 || cores[u] > CORES_MAX)
            return evn_fail(EVN_USAGE, "predict: unit %d has %d cores, expected 1 to %d", u,
                            cores[u], CORES_MAX);
    if (!(cost->doubling >= 0 && isfinite(cost->doubling)))
        return evn_fail(EVN_USAGE, "predict: a team's cost is %g, expected a number from 0",
                        cost->doubling);
    if (isnan(cost->enough))
        return evn_fail(EVN_USAGE, "predict: times up to %g are enough, expected a number",
                        cost->enough);
    if (!(cost->meeting >= 0 && isfinite(cost->meeting)))
        return evn_fail(EVN_USAGE, "predict: a team's meeting is %g, expected a number from 0",
                        cost->meeting);
    return EVN_OK;
}

evn_status evn_predict_units(const evn_problem *tasks, const char *text, const int *cores,
                             const evn_team_cost *cost, double *busy) {
    NEED(tasks, "tasks and units");
    NEED(text, "a schedule");
    NEED(cores, "the units' cores");
    NEED(cost, "what a team costs");
    NEED(busy, "where to put the units' times");
    evn_status status = check(tasks, cores, cost);
    if (status) return status;
    const size_t n = (size_t)tasks->tasks, units = (size_t)tasks->units;
    int most = 0;
    for (int u = 0; u < tasks->units; u++) most = cores[u] > most ? cores[u] : most;
    struct model m = {.p = tasks, .cost = cost, .cores = cores};
    m.owner = calloc(5 * n + units + 1, sizeof *m.owner);
    m.weight = calloc(2 * n, sizeof *m.weight);
    m.most = malloc(units * sizeof *m.most);
    if (!cut_open(&m.cut, most) && m.owner && m.weight && m.most) {
        m.before = m.owner + n;
        m.order = m.before + n;
        m.to = m.order + n;
        m.listed = m.to + n;
        m.end = m.listed + n;
        m.seconds = m.weight + n;
        status = run(&m, text, busy);
    } else {
        status = evn_fail(EVN_MEMORY, "predict: no memory for %d tasks", tasks->tasks);
    }
    cut_close(&m.cut);
    free(m.most);
    free(m.owner);
    free(m.weight);
    return status;
}
