/* Results of a loop, copied when it is closed. */
#include "record/record.h"
#include "base/by_value.h"
#include "loop/internal.h"
#include <evener/trace.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BURSTS_LEAST = 4096, /* of a unit */
    BURSTS_MAX = 1 << 16,
    INSTANCES_OF_TIME = 9, /* whose median a task's time is */
};

int record_bursts_max(int tasks) {
    const long enough = 4L * tasks + 64;
    return enough < BURSTS_LEAST ? BURSTS_LEAST : enough < BURSTS_MAX ? (int)enough : BURSTS_MAX;
}

static void take_bursts(struct recorded_loop *r, const evn_loop *loop, double opened) {
    const int max = record_bursts_max(r->tasks);
    if (r->ranks > 1) return;
    for (int u = 0; u < r->units; u++) {
        const int have = evn_loop_bursts(loop, u);
        for (int i = have > max ? have - max : 0; i < have; i++) {
            struct recorded_burst *b = &r->burst[r->bursts++];
            *b = (struct recorded_burst){evn_loop_burst(loop, u, i), u};
            b->burst.begin += opened;
            b->burst.end += opened;
        }
    }
}

/* Bursts that tell the time of one task first, by task, the latest instance first. */
static int tells(const evn_burst *b) { return b->kind == EVN_BURST_COMPUTE && b->count == 1; }
static int by_task(const void *a, const void *b) {
    const evn_burst *x = *(evn_burst *const *)a, *y = *(evn_burst *const *)b;
    if (tells(x) != tells(y)) return tells(y) - tells(x);
    if (x->task != y->task) return x->task < y->task ? -1 : 1;
    return (y->instance > x->instance) - (y->instance < x->instance);
}

/* Times of tasks of the last instance; if the bursts have them, the median of the last instances,
 * since a single one may have been disturbed. */
static void take_times(struct recorded_loop *r, const evn_loop *loop, evn_burst **sorted) {
    memcpy(r->task_s, evn_loop_seconds(loop), (size_t)r->tasks * sizeof *r->task_s);
    for (int i = 0; i < r->bursts; i++) sorted[i] = &r->burst[i].burst;
    qsort(sorted, (size_t)r->bursts, sizeof *sorted, by_task);
    for (int i = 0, next; i < r->bursts && tells(sorted[i]); i = next) {
        const int task = sorted[i]->task;
        double seconds[INSTANCES_OF_TIME];
        int n = 0;
        for (next = i; next < r->bursts && tells(sorted[next]) && sorted[next]->task == task;
             next++)
            if (n < INSTANCES_OF_TIME) seconds[n++] = sorted[next]->end - sorted[next]->begin;
        if (task < 0 || task >= r->tasks) continue;
        if (fabs(seconds[0] - r->task_s[task]) > 1e-9 + 1e-6 * seconds[0]) continue;
        qsort(seconds, (size_t)n, sizeof *seconds, by_value);
        r->task_s[task] = n % 2 ? seconds[n / 2] : 0.5 * (seconds[n / 2 - 1] + seconds[n / 2]);
    }
}

evn_status record_take(struct recorded_loop *r, const evn_loop *loop, double opened) {
    const evn_problem *problem = evn_schedule_problem(evn_loop_schedule(loop));
    const size_t tasks = (size_t)problem->tasks, units = (size_t)problem->units;
    size_t bursts = 1;
    const evn_loop_info about = evn_loop_about(loop);
    const evn_cluster *cluster = about.cluster;
    const int first = about.first_unit,
              own = cluster ? evn_units_count(about.units) : problem->units;
    for (int u = 0; u < own; u++) bursts += (size_t)evn_loop_bursts(loop, u);
    if (bursts > units * (size_t)record_bursts_max(problem->tasks))
        bursts = units * (size_t)record_bursts_max(problem->tasks);
    *r = (struct recorded_loop){.name = r->name,
                                .tasks = problem->tasks,
                                .units = problem->units,
                                .ranks = cluster ? evn_cluster_size(cluster) : 1};
    r->schedule = strdup(evn_schedule_text(evn_loop_schedule(loop)));
    r->owner = malloc(tasks * sizeof *r->owner);
    r->task_s = malloc(tasks * sizeof *r->task_s);
    r->weight = malloc(tasks * sizeof *r->weight);
    r->bytes = loop->bytes ? malloc(tasks * sizeof *r->bytes) : NULL;
    r->link = evn_loop_links(loop, &r->links);
    r->unit = calloc(units, sizeof *r->unit);
    r->burst = malloc(bursts * sizeof *r->burst);
    r->change = evn_trace_changes(loop, 0, &r->changes);
    evn_burst **sorted = malloc(bursts * sizeof *sorted);
    const int done = r->schedule && r->owner && r->task_s && r->weight && r->link &&
                     (r->bytes || !loop->bytes) && r->unit && r->burst && r->change && sorted;
    if (done) {
        memcpy(r->owner, evn_loop_owner(loop), tasks * sizeof *r->owner);
        memcpy(r->weight, problem->weight, tasks * sizeof *r->weight);
        if (r->bytes) memcpy(r->bytes, loop->bytes, tasks * sizeof *r->bytes);
        r->totals = evn_loop_sum(loop);
        r->median = evn_loop_median(loop);
        for (int u = 0; u < own; u++) r->unit[first + u].stats = evn_loop_stats(loop, u);
        for (int t = 0; t < r->tasks; t++) {
            r->unit[r->owner[t]].tasks++;
            r->unit[r->owner[t]].weight += problem->weight[t];
        }
        take_bursts(r, loop, opened);
        take_times(r, loop, sorted);
    }
    free(sorted);
    if (done) return EVN_OK;
    record_release(r);
    return evn_fail(EVN_MEMORY, "record: not enough memory for a loop of %d tasks", problem->tasks);
}
