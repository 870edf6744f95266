/* Births of tasks: evn_loop_bear(), and what its bodies ask.
 *
 * Regions of born tasks are acquired for writing, so that nothing is copied, in the space of the
 * heaviest origin; those of origins beside them for reading, a region of several tasks once. */
#include "loop/birth.h"
#include "loop/rank_ops.h"
#include "unit/device_ops.h"
#include "base/argument.h"
#include <evener/change.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is kept of a change -------------------------------------------------------------- */

void birth_close(struct birth *b) {
    if (!b) return;
    free(b->task);
    free(b->first);
    free(b->from);
    free(b->heaviest);
    free(b->region);
    free(b);
}

static int count_origins(const struct origins *o, const int *task, int tasks) {
    int count = 0;
    for (int i = 0; o->change->first && i < tasks; i++)
        count += o->change->first[task[i] + 1] - o->change->first[task[i]];
    return count;
}

static void fill(struct birth *b, const struct origins *o, const int *region) {
    const evn_change *c = o->change;
    const size_t k = (size_t)b->regions;
    int at = 0;
    for (int i = 0; i < b->tasks; i++) {
        const int t = b->task[i], begin = c->first ? c->first[t] : 0;
        const int count = c->first ? c->first[t + 1] - begin : 0;
        b->first[i] = at;
        b->heaviest[i] = -1;
        for (int j = 0; j < count; j++, at++) {
            const int from = b->from[at] = c->from[begin + j];
            if (from == o->heaviest[t] && b->heaviest[i] < 0) b->heaviest[i] = j;
            if (k)
                memcpy(b->region + (size_t)at * k, region + (size_t)from * k, k * sizeof *region);
        }
    }
    b->first[b->tasks] = at;
}

evn_status birth_open(struct birth **out, const struct origins *o, const int *task, int tasks,
                      int regions, const int *region) {
    const size_t n = (size_t)tasks + 1, origins = (size_t)count_origins(o, task, tasks) + 1;
    struct birth *b = *out = calloc(1, sizeof *b);
    if (b) {
        *b = (struct birth){.tasks = tasks,
                            .regions = regions,
                            .task = malloc(n * sizeof *b->task),
                            .first = malloc(n * sizeof *b->first),
                            .from = malloc(origins * sizeof *b->from),
                            .heaviest = malloc(n * sizeof *b->heaviest),
                            .region = malloc((origins * (size_t)regions + 1) * sizeof *b->region)};
    }
    if (!b || !b->task || !b->first || !b->from || !b->heaviest || !b->region) {
        birth_close(b);
        *out = NULL;
        return evn_fail(EVN_MEMORY, "loop: not enough memory for the origins of %d tasks", tasks);
    }
    memcpy(b->task, task, (size_t)tasks * sizeof *task);
    fill(b, o, region);
    return EVN_OK;
}

/* ---- the visit ----------------------------------------------------------------------------- */

/* An origin's region must be where it was: not removed, nor its number given to a born task. */
static evn_status check_origins(const evn_loop *loop, const struct birth *b) {
    for (int i = 0; loop->place && i < b->tasks; i++)
        for (int j = b->first[i]; j < b->first[i + 1]; j++)
            for (int k = 0; k < b->regions; k++) {
                const int region = b->region[j * b->regions + k];
                if (region < 0 || evn_place_where(loop->place, region) >= 0) continue;
                return evn_fail(
                    EVN_USAGE,
                    "loop: region %d of task %d of before, which task %d comes from, is "
                    "nowhere: it was removed before evn_loop_bear(), lost or never "
                    "written",
                    k, b->from[j], b->task[i]);
            }
    return EVN_OK;
}

/* Room of each unit for the regions of born tasks and their origins. */
static evn_status open_room(const evn_loop *loop, const struct birth *b,
                            struct regions_room *room) {
    const size_t k = (size_t)b->regions;
    const size_t n = ((size_t)b->tasks + (size_t)b->first[b->tasks]) * k;
    int *region = malloc((n + 1) * sizeof *region);
    const evn_access differ[2] = {EVN_READ, EVN_WRITE};
    if (!region)
        return evn_fail(EVN_MEMORY, "loop: no memory for the births of %d tasks", b->tasks);
    memcpy(region, b->region, (size_t)b->first[b->tasks] * k * sizeof *region);
    for (size_t i = 0; i < (size_t)b->tasks; i++)
        memcpy(region + ((size_t)b->first[b->tasks] + i) * k, loop->region + (size_t)b->task[i] * k,
               k * sizeof *region);
    /* as tasks of one region each: of two modes, and with one region of several tasks */
    evn_status status = regions_room_open_any(loop, room, n, region, 2, differ);
    free(region);
    return status;
}

static void swap_units(evn_loop *loop, struct regions_room *room) {
    for (int u = 0; room->unit && u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        const struct unit_room of = {.region = w->region, .noted = w->noted, .mode = w->mode};
        w->region = room->unit[u].region;
        w->noted = room->unit[u].noted;
        w->mode = room->unit[u].mode;
        room->unit[u] = of;
    }
}

/* Tables are for the births alone, and so are the lists. */
static void forget(evn_loop *loop) {
    loop->lists = loop->even = 0;
    for (int u = 0; u < loop->count; u++)
        for (int d = 0; d < loop->worker[u].devices; d++)
            device_ops.forget(&loop->worker[u].in_flight[d]);
}

static evn_status bear(evn_loop *loop, struct birth *b, evn_body body, void *arg) {
    struct regions_room room = {0};
    evn_status status = check_origins(loop, b);
    if (!status && loop->place) status = open_room(loop, b, &room);
    if (status) {
        regions_room_close(loop, &room);
        return loop->replicated ? loop->ranks->agree(loop, "evn_loop_visit()", status) : status;
    }
    swap_units(loop, &room);
    forget(loop);
    loop->bearing = b;
    status = loop_visit(loop, body, arg);
    loop->bearing = NULL;
    forget(loop);
    swap_units(loop, &room);
    regions_room_close(loop, &room);
    return status;
}

static evn_status check_call(const char *function, evn_body body, evn_access origins) {
    if (!body) return argument_missing(function, "a body");
    if (origins == EVN_READ || origins == EVN_BOTH) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "loop: evn_loop_bear() with access %d to origins, expected EVN_READ or "
                    "EVN_BOTH",
                    (int)origins);
}

evn_status evn_loop_bear(evn_loop *loop, evn_body body, void *arg, evn_access origins) {
    NEED(loop, "a loop");
    const evn_status given = check_call(__func__, body, origins);
    if (given && !loop->replicated) return given;
    evn_status status = loop_may_begin(loop, "evn_loop_bear()");
    if (status) return status;
    if (!loop->bears) return given;
    if (given) return loop->ranks->agree(loop, "evn_loop_visit()", given); /* the others wait */
    loop->birth->origins = origins;
    if (loop->borns || loop->replicated) status = bear(loop, loop->birth, body, arg);
    if (!status) loop_ended(loop);
    return status;
}

/* ---- in a body ----------------------------------------------------------------------------- */

int evn_batch_origins(const evn_batch *b, int task) {
    NEED_OR(-1, b, "a batch");
    int index;
    if (batch_find_birth(b, task, &index)) return -1;
    return birth_origins(b->loop->bearing, index);
}

/* The region i of a born task's k-th origin; -1, where it has none or the question is wrong. */
static int origin_region(const evn_batch *b, int task, int k, int i) {
    int index;
    if (batch_find_birth(b, task, &index)) return -1;
    const struct birth *of = b->loop->bearing;
    const int count = birth_origins(of, index);
    if (k < 0 || k >= count || i < 0 || i >= of->regions) {
        batch_mistake(
            b, "region %d of origin %d of task %d; it has %d origins with %d regions, from 0", i, k,
            task, count, of->regions);
        return -1;
    }
    return of->region[(of->first[index] + k) * of->regions + i];
}

void *evn_batch_origin_host(const evn_batch *b, int task, int k, int i) {
    NEED_OR(NULL, b, "a batch");
    const int region = origin_region(b, task, k, i);
    return region < 0 || b->in_flight ? NULL : evn_place_host(b->loop->place, region);
}

size_t evn_batch_origin_at(const evn_batch *b, int task, int k, int i) {
    NEED_OR(0, b, "a batch");
    const int region = origin_region(b, task, k, i);
    return region < 0 || !b->in_flight ? 0 : evn_place_at(b->loop->place, region, b->space);
}
