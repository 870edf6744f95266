/* Tasks distributed over ranks: opening, closing, questions. */
#include "domain/inside.h"
#include "unit/share.h"
#include "base/argument.h"
#include "schedule/problem.h"
#include <stdlib.h>
#include <string.h>

/* ---- states of the object ------------------------------------------------------------------ */

evn_status distributed_may(const evn_distributed *d, const char *what) {
    if (d->broken)
        return evn_fail(EVN_USAGE,
                        "distributed: %s after a call that failed in the middle (%s); the object "
                        "can only be closed",
                        what, evn_status_text(d->broken));
    if (units_running(d->units))
        return evn_fail(EVN_USAGE,
                        "distributed: %s while the units are at work, from within a body or a job",
                        what);
    return EVN_OK;
}

evn_status distributed_done(evn_distributed *d, const char *what, evn_status mine) {
    return d->broken = distributed_agree(d, what, mine);
}

void distributed_sum(const evn_distributed *d, const int *tasks, long long *sum) {
    sum[0] = 0;
    for (int r = 0; r < d->size; r++) sum[r + 1] = sum[r] + tasks[r];
}

void distributed_end_births(evn_distributed *d) {
    for (int i = 0; i < d->gones; i++)
        if (d->gone[i] >= 0) evn_place_remove(d->place, d->gone[i]);
    free(d->gone);
    d->gone = NULL;
    d->gones = d->bears = 0;
}

/* ---- the loop ------------------------------------------------------------------------------ */

evn_status distributed_open_loop(evn_distributed *d) {
    if (!d->tasks) return EVN_OK;
    const int units = evn_units_count(d->units);
    double *speed = malloc((size_t)units * sizeof *speed);
    if (!speed) return evn_fail(EVN_MEMORY, "distributed: no memory for %d units", units);
    for (int u = 0; u < units; u++) speed[u] = evn_unit_about(evn_units_get(d->units, u)).speed;
    const evn_problem problem = {.tasks = d->tasks,
                                 .weight = d->weight,
                                 .units = units,
                                 .speed = speed,
                                 .instances = distributed_instances(d)};
    evn_status status = evn_schedule_open(&d->schedule, d->text, &problem);
    free(speed);
    if (!status) status = evn_loop_open(&d->loop, d->units, d->schedule);
    if (!status) status = evn_loop_place(d->loop, d->place, d->regions, d->region, d->access);
    return status;
}

void distributed_close_loop(evn_distributed *d) {
    for (int i = 0; i < d->faces; i++) d->face[i].held = 0;
    evn_exchange_close(d->exchange);
    evn_loop_close(d->loop);
    evn_schedule_close(d->schedule);
    d->exchange = NULL;
    d->loop = NULL;
    d->schedule = NULL;
}

/* ---- opening ------------------------------------------------------------------------------- */

static evn_status check(const evn_distribution *own) {
    NEED_OR(EVN_USAGE, own->units, "units");
    NEED_OR(EVN_USAGE, own->place, "a place");
    if (own->tasks < 0)
        return evn_fail(EVN_USAGE, "distributed: %d tasks, expected 0 or more", own->tasks);
    if (own->regions < 1)
        return evn_fail(EVN_USAGE, "distributed: %d regions of each task, expected 1 or more",
                        own->regions);
    if (!own->access || (own->tasks && !own->bytes))
        return evn_fail(EVN_USAGE, "distributed: %s of regions %s not given (NULL)",
                        own->access ? "the bytes" : "access", own->access ? "are" : "is");
    if (own->instances < 0)
        return evn_fail(EVN_USAGE, "distributed: %d instances to come, expected 0 or more",
                        own->instances);
    if (!own->element)
        return evn_fail(EVN_USAGE, "distributed: values of 0 bytes, expected 1 or more");
    for (int i = 0; i < own->regions; i++)
        if (own->access[i] < EVN_READ || own->access[i] > EVN_BOTH)
            return evn_fail(EVN_USAGE,
                            "distributed: access %d to region %d, expected EVN_READ, EVN_WRITE or "
                            "EVN_BOTH",
                            (int)own->access[i], i);
    return problem_check_weights(own->weight, own->tasks);
}

/* Ranks say the same. */
struct same {
    long long regions, element, instances;
};
struct opening {
    struct same same;
    int tasks;
};

static evn_status compare(const evn_distributed *d, const struct opening *all) {
    for (int r = 1; r < d->size; r++) {
        const struct same *a = &all[0].same, *b = &all[r].same;
        if (a->regions != b->regions || a->element != b->element || a->instances != b->instances)
            return evn_fail(EVN_USAGE,
                            "distributed: %lld regions, values of %lld bytes and %lld instances on "
                            "rank %d, and %lld, %lld and %lld on rank 0; they are the same on all",
                            b->regions, b->element, b->instances, r, a->regions, a->element,
                            a->instances);
    }
    return EVN_OK;
}

static evn_status copy_own(evn_distributed *d, const evn_distribution *own) {
    const size_t n = (size_t)own->tasks + 1, k = (size_t)own->regions;
    const char *text = own->schedule ? own->schedule : "auto";
    d->text = strdup(text);
    d->access = malloc(k * sizeof *d->access);
    d->region = malloc(n * k * sizeof *d->region);
    d->bytes = malloc(n * k * sizeof *d->bytes);
    d->weight = malloc(n * sizeof *d->weight);
    d->seconds = calloc(n, sizeof *d->seconds);
    if (!d->text || !d->access || !d->region || !d->bytes || !d->weight || !d->seconds)
        return evn_fail(EVN_MEMORY, "distributed: no memory for %d tasks", own->tasks);
    memcpy(d->access, own->access, k * sizeof *d->access);
    if (own->tasks) memcpy(d->bytes, own->bytes, (n - 1) * k * sizeof *d->bytes);
    for (size_t t = 0; t + 1 < n; t++) d->weight[t] = own->weight ? own->weight[t] : 1;
    for (size_t i = 0; i < n * k; i++) d->region[i] = -1;
    d->tasks = own->tasks;
    d->regions = own->regions;
    d->element = own->element;
    d->instances = own->instances;
    d->counts = own->instances > 0;
    return EVN_OK;
}

static evn_status make_regions(evn_distributed *d) {
    evn_status status = EVN_OK;
    const size_t count = (size_t)d->tasks * (size_t)d->regions;
    for (size_t i = 0; !status && i < count; i++)
        if (d->bytes[i]) status = evn_place_make(d->place, d->bytes[i], &d->region[i]);
    return status;
}

static evn_status meet_first(evn_distributed *d, const evn_distribution *own, evn_status mine) {
    const size_t ranks = (size_t)d->size;
    struct opening me = {{own->regions, (long long)own->element, own->instances}, own->tasks};
    struct opening *all = malloc(ranks * sizeof *all);
    int *tasks = malloc(ranks * sizeof *tasks);
    d->sum = calloc(ranks + 1, sizeof *d->sum);
    d->parcel = calloc(2 * ranks, sizeof *d->parcel);
    if (!mine && (!all || !tasks || !d->sum || !d->parcel))
        mine = evn_fail(EVN_MEMORY, "distributed: no memory for %zu ranks", ranks);
    mine = distributed_allgather(d, "evn_distributed_open()", mine, &me, sizeof me, all);
    if (!mine) mine = compare(d, all);
    if (!mine) {
        for (size_t r = 0; r < ranks; r++) tasks[r] = all[r].tasks;
        distributed_sum(d, tasks, d->sum);
        if (!d->sum[ranks])
            mine = evn_fail(EVN_USAGE, "distributed: no rank has tasks, expected one at least");
    }
    free(all);
    free(tasks);
    return mine;
}

evn_status evn_distributed_open(evn_distributed **out, const evn_distribution *own) {
    NEED_OUT(out);
    NEED(own, "this rank's tasks");
    if (own->units && units_running(own->units))
        return evn_fail(EVN_USAGE, "distributed: evn_distributed_open() while the units are at "
                                   "work, from within a body or a job");
    evn_distributed *d = calloc(1, sizeof *d);
    if (!d) {
        evn_fail(EVN_MEMORY, "distributed: not enough memory");
        if (own->cluster && evn_cluster_size(own->cluster) > 1) cluster_abort(own->cluster);
        return EVN_MEMORY;
    }
    d->cluster = own->cluster;
    d->size = own->cluster ? evn_cluster_size(own->cluster) : 1;
    d->rank = own->cluster ? evn_cluster_rank(own->cluster) : 0;
    d->units = own->units;
    d->place = own->place;
    d->per_byte = 1e-9;
    evn_status status = check(own);
    if (!status) status = copy_own(d, own);
    status = meet_first(d, own, status);
    if (!status) {
        status = make_regions(d);
        if (!status) status = distributed_open_loop(d);
        status = distributed_agree(d, "evn_distributed_open()", status);
    }
    if (status) {
        evn_distributed_close(d);
        return status;
    }
    *out = d;
    return EVN_OK;
}

void evn_distributed_close(evn_distributed *d) {
    if (!d) return;
    rank_faces_close(d);
    distributed_close_loop(d);
    distributed_end_births(d);
    const size_t regions = (size_t)d->tasks * (size_t)d->regions;
    for (size_t i = 0; d->region && i < regions; i++)
        if (d->region[i] >= 0) evn_place_remove(d->place, d->region[i]);
    free(d->text);
    free(d->access);
    free(d->region);
    free(d->bytes);
    free(d->weight);
    free(d->seconds);
    free(d->sum);
    free(d->parcel);
    free(d->origin);
    free(d->now);
    free(d->sum_before);
    free(d);
}

/* ---- questions ----------------------------------------------------------------------------- */

evn_rank_part evn_distributed_part(const evn_distributed *d) {
    NEED_OR((evn_rank_part){0}, d, "distributed tasks");
    return (evn_rank_part){.tasks = d->tasks,
                           .sum = d->sum,
                           .loop = d->loop,
                           .region = d->region,
                           .origin = d->origin,
                           .within = d->faces - d->fars,
                           .from = d->fars,
                           .to = d->reads,
                           .carried = d->carried};
}
