/* The timed part of a run, and its result. */
#include "common/run/run.h"
#include "common/run/median.h"
#include "common/run/ranks.h"
#include "common/run/free_all.h"
#include <evener/trace.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 15 };

void run_result_free(struct run_result *r) {
    free_all(r->unit, r->rank, r->core, r->owner, r->task_s, r->weight, r->link, r->change,
             r->device);
    for (int d = 0; r->phases && d < r->devices; d++) free(r->phases[d].phase);
    free(r->phases);
    memset(r, 0, sizeof *r);
}

double run_imbalance(const struct run_result *r) {
    double *seconds = malloc((size_t)r->units * sizeof *seconds);
    for (int u = 0; seconds && u < r->units; u++) seconds[u] = r->unit[u].stats.compute_s;
    const double imbalance = seconds ? evn_imbalance(r->units, seconds) : NAN;
    free(seconds);
    return imbalance;
}

struct imbalance_text imbalance_text(double imbalance) {
    struct imbalance_text t = {"-"};
    if (isfinite(imbalance)) snprintf(t.text, sizeof t.text, "%.3f", imbalance);
    return t;
}

int run_share(const struct run_result *r, const evn_problem *tasks, int u, double *weight) {
    int count = 0;
    *weight = 0;
    for (int t = 0; t < r->tasks; t++) {
        if (r->owner[t] != u) continue;
        count++;
        *weight += tasks->weight ? tasks->weight[t] : 1;
    }
    return count;
}

/* ---- counters ---- */

/* Device `number` of all units; NULL: it was lost. */
static evn_device *device_of(const struct timed *t, int number) {
    const evn_units *units = evn_loop_about(t->loop).units;
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        const int i = number - evn_unit_about(unit).device;
        if (i >= 0 && i < evn_unit_devices(unit)) return evn_unit_device(unit, i);
    }
    return NULL;
}

/* One more than the largest number of a device: some may have been lost before. */
static int device_numbers(const evn_units *units) {
    int numbers = 0;
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        const int end = evn_unit_about(unit).device + evn_unit_devices(unit);
        if (end > numbers) numbers = end;
    }
    return numbers;
}

/* Adds the regions moved so far, or with `sign` -1 takes them off. */
static void count_moves(struct timed *t, int sign) {
    const int spaces = t->place ? evn_place_spaces(t->place) : 0;
    for (int a = 0; a < spaces; a++)
        for (int b = 0; b < spaces; b++) {
            const evn_moves m = evn_place_moves(t->place, a, b);
            t->result->moved.copies += sign * m.copies;
            t->result->moved.bytes += sign * m.bytes;
        }
}

static evn_status start_phases(struct timed *t) {
    struct run_result *r = t->result;
    r->phases = calloc((size_t)r->devices, sizeof *r->phases);
    if (!r->phases) return evn_fail(EVN_MEMORY, "no memory for phases of %d devices", r->devices);
    evn_status status = EVN_OK;
    for (int d = 0; !status && d < r->devices; d++) {
        evn_device *device = device_of(t, d);
        if (device) status = evn_device_phases(device, 1);
    }
    return status;
}

/* Of a device that has been lost there are none. EVN_MEMORY. */
static evn_status read_phases(struct run_phases *p, evn_device *device) {
    if (!device || evn_device_phases(device, 0)) return EVN_OK;
    int count = 0;
    while (evn_device_phase_at(device, count).launches) count++;
    p->phase = malloc((size_t)count * sizeof *p->phase + 1);
    if (!p->phase) return evn_fail(EVN_MEMORY, "no memory for %d phases of a device", count);
    for (p->count = 0; p->count < count; p->count++)
        p->phase[p->count] = evn_device_phase_at(device, p->count);
    return EVN_OK;
}

static evn_status start_counters(struct timed *t) {
    struct run_result *r = t->result;
    r->devices = device_numbers(evn_loop_about(t->loop).units);
    if (!r->devices) return EVN_OK;
    r->device = calloc((size_t)r->devices, sizeof *r->device);
    if (!r->device) return evn_fail(EVN_MEMORY, "no memory for %d devices", r->devices);
    for (int d = 0; d < r->devices; d++) {
        evn_device *device = device_of(t, d); /* NULL: lost before the first step */
        if (device) r->device[d] = evn_device_counts(device, NULL);
    }
    count_moves(t, -1);
    return t->options->phases ? start_phases(t) : EVN_OK;
}

static evn_status read_counters(struct timed *t) {
    struct run_result *r = t->result;
    evn_status status = EVN_OK;
    for (int d = 0; d < r->devices; d++) {
        evn_device *device = device_of(t, d);
        if (r->phases && !status) status = read_phases(&r->phases[d], device);
        r->device[d] = device ? evn_device_counts(device, &r->device[d]) : (evn_counts){0};
    }
    count_moves(t, 1);
    return status;
}

/* ---- times of tasks ---- */

static int tasks_of(const struct timed *t) {
    return evn_schedule_problem(evn_loop_schedule(t->loop))->tasks;
}

/* Begins anew with the tasks that there are now. EVN_MEMORY. */
static evn_status begin_times(struct timed *t) {
    const int tasks = tasks_of(t);
    double *sample = realloc(t->sample, (size_t)tasks * SAMPLES * sizeof *sample);
    if (!sample) return evn_fail(EVN_MEMORY, "no memory for the times of %d tasks", tasks);
    t->sample = sample;
    t->samples = 0;
    t->tasks = tasks;
    t->generation = evn_loop_about(t->loop).generation;
    return EVN_OK;
}

/* Times of other tasks than before are those of the instances to come. */
static evn_status note_times(struct timed *t) {
    if (t->generation != evn_loop_about(t->loop).generation) return begin_times(t);
    const size_t tasks = (size_t)t->tasks;
    memcpy(t->sample + (size_t)(t->samples++ % SAMPLES) * tasks, evn_loop_seconds(t->loop),
           tasks * sizeof *t->sample);
    return EVN_OK;
}

static double median_time(const struct timed *t, int task) {
    double sample[SAMPLES];
    const int tasks = tasks_of(t), n = t->samples < SAMPLES ? t->samples : SAMPLES;
    for (int i = 0; i < n; i++) sample[i] = t->sample[(size_t)i * (size_t)tasks + (size_t)task];
    return n ? median(sample, n) : 0;
}

/* ---- the timed part ---- */

/* Calls the caller's begin(); over ranks all begin, or none. */
static evn_status begin_with(const struct run_options *o, evn_loop *loop, evn_status mine) {
    if (!o->begin) return mine;
    if (o->cluster) mine = evn_cluster_agree(o->cluster, mine);
    return mine ? mine : o->begin(loop, o->arg);
}

evn_status timed_begin(struct timed *t) {
    evn_status status = begin_times(t);
    if (!status) status = start_counters(t);
    evn_loop_reset_stats(t->loop);
    const evn_units *units = evn_loop_about(t->loop).units;
    for (int u = 0; u < evn_units_count(units); u++) evn_unit_taken(evn_units_get(units, u), 1);
    if (!status && t->options->bursts) status = evn_loop_keep_bursts(t->loop, t->options->bursts);
    return begin_with(t->options, t->loop, status);
}

/* Makes a unit slow from its step on. */
static void slow_down(struct timed *t, int done) {
    const struct run_slow *slow = &t->options->slow;
    if (t->slowed || slow->factor <= 1 || done < slow->step) return;
    const evn_loop_info about = evn_loop_about(t->loop);
    evn_unit *unit = evn_units_get(about.units, slow->unit - about.first_unit);
    if (unit) evn_unit_slow(unit, slow->factor);
    t->slowed = 1;
}

/* Restores the units' speeds. */
static void end_slow(struct timed *t) {
    const evn_units *units = evn_loop_about(t->loop).units;
    for (int u = 0; t->slowed && u < evn_units_count(units); u++)
        evn_unit_slow(evn_units_get(units, u), 1);
    t->slowed = 0;
}

/* Where ranks do not agree any more `why` is all that is known. */
static evn_status stopped(const struct run_options *o, int done, int steps, const char *why) {
    const int alone = o->cluster && evn_cluster_about(o->cluster).failed && *why;
    return evn_fail(EVN_STOPPED, "%s%sstopped after step %d of %d", alone ? why : "",
                    alone ? "; " : "", done, steps);
}

static evn_status all_steps(struct timed *t, int *done, int steps, double since) {
    const struct run_options *o = t->options;
    while (*done < steps) {
        slow_down(t, *done);
        evn_status status = t->advance(done, t->arg);
        const int half = status == EVN_STOPPED; /* a step was given up */
        char why[256] = "";
        if (half) snprintf(why, sizeof why, "%s", evn_message());
        if (status && !half) return status;
        if (!half && (status = note_times(t))) return status;
        const int asked = o->cluster ? evn_cluster_about(o->cluster).stopping : o->stop && *o->stop;
        const int stopping = half || (asked && *done < steps);
        if (t->after) status = t->after(*done, stopping, t->arg);
        if (status) return status;
        if (o->progress) o->progress(*done, steps, evn_now() - since, o->arg);
        if (stopping) return stopped(o, *done, steps, why);
    }
    return t->finish ? t->finish(t->arg) : EVN_OK;
}

evn_status timed_steps(struct timed *t, int done, int steps) {
    const double since = evn_now();
    evn_status status = all_steps(t, &done, steps, since);
    while (status && status != EVN_STOPPED && t->recover) {
        status = t->recover(status, &done, t->arg);
        if (status) break;
        status = all_steps(t, &done, steps, since);
    }
    end_slow(t);
    if (status) return status;
    t->result->seconds = evn_now() - since;
    t->result->steps = steps;
    return t->options->inspect ? t->options->inspect(t->loop, t->options->arg) : EVN_OK;
}

/* ---- what came of it ---- */

/* Our units, as the result tells of them, and the numbers of their cores. EVN_MEMORY. */
static evn_status describe_units(const struct timed *t, struct run_unit **unit, int **core,
                                 int *cores) {
    const evn_units *units = evn_loop_about(t->loop).units;
    const int count = evn_units_count(units);
    *cores = 0;
    for (int u = 0; u < count; u++) *cores += evn_unit_cores(evn_units_get(units, u));
    *unit = calloc(count > 0 ? (size_t)count : 1, sizeof **unit);
    *core = malloc(sizeof **core * (size_t)*cores);
    if (!*unit || !*core) return evn_fail(EVN_MEMORY, "no memory for what %d units did", count);
    for (int u = 0, c = 0; u < count; u++) {
        const evn_unit *is = evn_units_get(units, u);
        struct run_unit *r = &(*unit)[u];
        r->rank = t->options->cluster ? evn_cluster_rank(t->options->cluster) : 0;
        r->number = u;
        r->gpu = evn_unit_is_gpu(is);
        r->cores = evn_unit_cores(is);
        r->stats = evn_loop_stats(t->loop, u);
        r->stats.compute_s += t->visited ? t->visited[u] : 0;
        r->stats.exchange_s -= t->visited ? t->visited[u] : 0;
        if (r->gpu)
            snprintf(r->device, sizeof r->device, "%.95s",
                     evn_device_traits(evn_unit_device(is, 0))->name);
        snprintf(r->binding, sizeof r->binding, "%s", evn_unit_about(is).binding);
        r->taken = evn_unit_taken(is, 0);
        for (int i = 0; i < r->cores; i++) (*core)[c++] = evn_unit_core_number(is, i);
    }
    return EVN_OK;
}

static evn_status share_totals(struct timed *t) {
    evn_loop_totals mine = evn_loop_sum(t->loop);
    const double visited =
        t->visited ? t->visited[evn_units_count(evn_loop_about(t->loop).units)] : 0;
    mine.compute_s += visited;
    mine.exchange_s -= visited;
    evn_loop_totals *total = &t->result->totals, *all = NULL;
    *total = mine;
    if (!t->options->cluster) return EVN_OK;
    int count;
    evn_status status =
        ranks_share(t->options->cluster, &mine, 1, sizeof mine, (void **)&all, &count);
    if (!status) *total = (evn_loop_totals){0};
    for (int r = 0; !status && r < count; r++) evn_loop_add_totals(total, &all[r]);
    free(all);
    return status;
}

/* Of several ranks the longest one's. */
static evn_status share_medians(struct timed *t) {
    evn_loop_medians mine = evn_loop_median(t->loop), *is = &t->result->median, *all = NULL;
    double task_s = 0;
    int count;
    evn_status status =
        ranks_share(t->options->cluster, &mine, 1, sizeof mine, (void **)&all, &count);
    *is = mine;
    for (int r = 0; !status && r < count; r++) {
        if (all[r].step_s > is->step_s) *is = all[r];
        task_s += all[r].task_s;
    }
    is->task_s = task_s;
    free(all);
    return status;
}

static evn_status share_units(struct timed *t) {
    struct run_result *r = t->result;
    struct run_unit *unit = NULL;
    int *core = NULL, cores = 0;
    evn_status status = describe_units(t, &unit, &core, &cores);
    const int count = evn_units_count(evn_loop_about(t->loop).units);
    evn_cluster *cluster = t->options->cluster;
    if (cluster) status = evn_cluster_agree(cluster, status);
    if (!status)
        status = ranks_share(cluster, unit, count, sizeof *unit, (void **)&r->unit, &r->units);
    if (!status)
        status = ranks_share(cluster, core, cores, sizeof *core, (void **)&r->core, &r->cores);
    for (int u = 0, c = 0; !status && u < r->units; c += r->unit[u++].cores)
        r->unit[u].first_core = c;
    free_all(unit, core);
    return status;
}

static evn_status share_ranks(struct timed *t) {
    const evn_units *units = evn_loop_about(t->loop).units;
    const evn_machine *m = evn_units_about(units).machine;
    evn_cluster *cluster = t->options->cluster;
    const evn_loop_totals total = evn_loop_sum(t->loop);
    struct run_rank mine = {.memory = (double)evn_machine_about(m).memory,
                            .messages = total.rank_messages,
                            .bytes = total.rank_bytes,
                            .moved = total.moved,
                            .moved_bytes = total.moved_bytes};
    if (cluster)
        snprintf(mine.host, sizeof mine.host, "%s",
                 evn_cluster_host(cluster, evn_cluster_rank(cluster)));
    snprintf(mine.processor, sizeof mine.processor, "%s", evn_machine_about(m).processor);
    for (int u = 0; u < evn_units_count(units); u++) {
        mine.cores += evn_unit_cores(evn_units_get(units, u));
        mine.wait_s += evn_loop_stats(t->loop, u).idle_s;
    }
    return ranks_share(cluster, &mine, 1, sizeof mine, (void **)&t->result->rank,
                       &t->result->ranks);
}

evn_status timed_end(struct timed *t) {
    struct run_result *r = t->result;
    const size_t tasks = (size_t)tasks_of(t);
    r->tasks = (int)tasks;
    r->owner = malloc(sizeof *r->owner * tasks);
    r->task_s = malloc(sizeof *r->task_s * tasks);
    evn_status status = EVN_OK;
    r->change = evn_trace_changes(t->loop, 0, &r->changes);
    r->weight = malloc(sizeof *r->weight * tasks);
    r->link = evn_loop_links(t->loop, &r->links);
    if (!r->owner || !r->task_s || !r->change || !r->weight || !r->link)
        status = evn_fail(EVN_MEMORY, "no memory for the result of %zu tasks", tasks);
    if (t->options->cluster) status = evn_cluster_agree(t->options->cluster, status);
    if (!status) status = share_totals(t);
    if (!status) status = share_medians(t);
    if (!status) status = share_units(t);
    if (!status) status = share_ranks(t);
    if (status) return status;
    r->communication_s = r->totals.exchange_s;
    memcpy(r->owner, evn_loop_owner(t->loop), sizeof *r->owner * tasks);
    memcpy(r->weight, evn_schedule_problem(evn_loop_schedule(t->loop))->weight,
           sizeof *r->weight * tasks);
    for (int i = 0; i < r->tasks; i++) r->task_s[i] = median_time(t, i);
    return read_counters(t);
}

void timed_close(struct timed *t) {
    free(t->sample);
    t->sample = NULL;
}
