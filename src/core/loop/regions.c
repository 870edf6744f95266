/* The regions that follow a loop's tasks, and their acquisition for a batch. */
#include "loop/birth.h"
#include "loop/collect.h"
#include "loop/internal.h"
#include "base/argument.h"
#include <evener/clock.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static evn_access mode_of(const evn_loop *loop, int i) {
    return loop->bearing ? EVN_WRITE : loop->on_host ? loop->host_access : loop->access[i];
}

/* Writes the list of regions of tasks from `task` in w->base on. */
static size_t place_of(const evn_loop *loop, const struct worker *w, const int *task) {
    size_t tasks = (size_t)(task - w->base);
    for (const int *t = w->base; loop->bearing && t < task; t++)
        tasks += (size_t)birth_origins(loop->bearing, birth_index(loop->bearing, *t));
    return tasks * (size_t)loop->regions;
}

/* The regions of a batch, each once. */
struct noted {
    int tasks, regions;
    int away, first; /* tasks that some have to come for, and the first of them; -1 */
    int coming;      /* regions that have to come */
    double bytes;    /* bytes of the regions that have to come */
};

/* Adds a region to the `n` that are noted at `at`; how many there are then. A region of several
 * tasks is acquired once, for all that they want. */
static int add(struct worker *w, size_t at, int n, int region, evn_access mode) {
    int *to = w->region + at;
    if (w->noted) {
        const int i = w->noted[region];
        if (i < n && to[i] == region) {
            if (w->mode) w->mode[at + (size_t)i] |= mode;
            return n;
        }
        w->noted[region] = n;
    }
    if (w->mode) w->mode[at + (size_t)n] = mode;
    to[n] = region;
    return n + 1;
}

/* The regions that a task acquires: its own, then its origins'. */
struct wanted {
    const int *region[2];
    int count[2];
};

static struct wanted find_wanted(const evn_loop *loop, int task) {
    const struct birth *b = loop->bearing;
    struct wanted want = {{loop->region + (size_t)task * (size_t)loop->regions, NULL},
                          {loop->regions, 0}};
    if (!b) return want;
    const int index = birth_index(b, task);
    want.region[1] = b->region + (size_t)b->first[index] * (size_t)b->regions;
    want.count[1] = birth_origins(b, index) * b->regions;
    return want;
}

/* Notes the regions of `count` tasks, or of the first ones that have `max` at most. */
static struct noted note(const evn_loop *loop, struct worker *w, const int *task, int count,
                         int space, int max) {
    const size_t at = place_of(loop, w, task);
    struct noted noted = {.first = -1};
    for (; noted.tasks < count; noted.tasks++) {
        const struct wanted want = find_wanted(loop, task[noted.tasks]);
        int n = noted.regions, comes = 0, coming = 0;
        double bytes = 0;
        for (int i = 0; i < want.count[0] + want.count[1]; i++) {
            const int own = i < want.count[0];
            const int region = own ? want.region[0][i] : want.region[1][i - want.count[0]];
            const evn_access mode = own ? mode_of(loop, i) : loop->bearing->origins;
            /* without a body nothing is written, and what was there stays */
            if (region < 0 || (mode == EVN_WRITE && !w->body)) continue;
            const int before = n;
            n = add(w, at, n, region, mode);
            if (!(mode & EVN_READ) || evn_place_valid(loop->place, region, space)) continue;
            comes = 1;
            if (n == before) continue; /* a region of several tasks comes once */
            coming++;
            bytes += (double)evn_place_bytes(loop->place, region);
        }
        if (n > max) break;
        noted.regions = n;
        noted.coming += coming;
        noted.bytes += bytes;
        if (comes && !noted.away++) noted.first = task[noted.tasks];
    }
    return noted;
}

evn_status regions_acquire(evn_loop *loop, struct worker *w, const int *task, int count, int space,
                           int *held) {
    const struct noted noted = note(loop, w, task, count, space, INT_MAX);
    const int n = noted.regions;
    *held = 0;
    if (!n) return EVN_OK;
    const size_t at = place_of(loop, w, task);
    const double begin = noted.away ? evn_now() : 0;
    evn_status status;
    if (!w->mode || loop->on_host)
        status = place_acquire(loop->place, n, w->region + at, space, mode_of(loop, 0));
    else
        status = place_acquire_each(loop->place, n, w->region + at, space, w->mode + at);
    if (status) return status;
    *held = n;
    w->brought += noted.coming;
    w->brought_bytes += noted.bytes;
    if (noted.away) burst_record(w, EVN_BURST_COPY, noted.first, noted.away, begin, evn_now());
    return EVN_OK;
}

void evn_batch_brought(evn_batch *b, long long regions, double bytes) {
    NEED_OR(, b, "a batch");
    b->worker->brought += regions;
    b->worker->brought_bytes += bytes;
}

void regions_release(evn_loop *loop, struct worker *w, const int *task, int held, int space) {
    if (!held) return;
    const int *region = w->region + place_of(loop, w, task);
    evn_status status = place_release(loop->place, held, region, space);
    if (!status) return;
    /* the body has released some; the others are released here */
    worker_fail(loop, w, status);
    for (int i = 0; i < held; i++) place_release(loop->place, 1, &region[i], space);
}

evn_status regions_fit(evn_loop *loop, struct worker *w, const int *task, int space, int *count) {
    const int n = note(loop, w, task, *count, space, INT_MAX).regions;
    int fit;
    evn_status status =
        evn_place_fits(loop->place, n, w->region + place_of(loop, w, task), space, &fit);
    if (status || fit >= n) return status;
    *count = note(loop, w, task, *count, space, fit).tasks;
    if (!*count) *count = 1; /* keep at least one task, so that the acquire reports the shortage */
    return EVN_OK;
}

/* ---- regions in place ---------------------------------------------------------------------- */

static int regions_may_stay(const evn_loop *loop) {
    return loop->place && !loop->cluster && evn_place_spaces(loop->place) == 1 &&
           !loop->worker[0].noted;
}

static void regions_begin(evn_loop *loop) {
    loop->in_place = 0;
    if (loop->bearing || !regions_may_stay(loop)) return;
    loop->use = (struct place_use){
        .count = (size_t)loop->problem->tasks * (size_t)loop->regions,
        .region = loop->region,
        .access = loop->on_host ? &loop->host_access : loop->access,
        .period = loop->on_host ? 1 : (size_t)loop->regions,
    };
    loop->in_place = loop->settled && place_use_begin(loop->place, &loop->use, loop->settled);
    if (!loop->in_place) loop->version = place_version(loop->place);
}

static evn_status regions_end(evn_loop *loop, evn_status status) {
    if (loop->in_place) {
        const evn_status ended = place_use_end(loop->place, &loop->use);
        loop->in_place = 0;
        return status ? status : ended;
    }
    /* all have been acquired, and nothing else has happened */
    loop->settled = 0;
    if (status || loop->bearing || !regions_may_stay(loop) ||
        place_version(loop->place) != loop->version)
        return status;
    loop->settled = loop->version;
    for (size_t i = 0; i < (size_t)loop->problem->tasks * (size_t)loop->regions; i++)
        loop->host[i] = loop->region[i] < 0 ? NULL : evn_place_host(loop->place, loop->region[i]);
    return EVN_OK;
}

const struct region_ops region_ops = {.acquire = regions_acquire,
                                      .release = regions_release,
                                      .may_stay = regions_may_stay,
                                      .begin = regions_begin,
                                      .end = regions_end,
                                      .at = evn_place_at,
                                      .host = evn_place_host};

evn_status regions_check_numbers(int tasks, int regions, const int *region) {
    for (size_t i = 0; i < (size_t)tasks * (size_t)regions; i++)
        if (region[i] < -1)
            return evn_fail(EVN_USAGE,
                            "loop: region %zu of task %zu is number %d, expected one that "
                            "evn_place_add() has given, or -1: none",
                            i % (size_t)regions, i / (size_t)regions, region[i]);
    return EVN_OK;
}

static evn_status check(const evn_loop *loop, const evn_place *place, int regions,
                        const int *region, const evn_access *access) {
    evn_status status = loop_may_begin(loop, "evn_loop_place()");
    if (status) return status;
    if (!place || !region || !access || regions < 1)
        return evn_fail(EVN_USAGE,
                        "loop: evn_loop_place() with %d regions a task%s; expected a "
                        "place, and 1 or more with their access",
                        regions, place ? "" : " and no place");
    for (int i = 0; i < regions; i++)
        if (access[i] < EVN_READ || access[i] > EVN_BOTH)
            return evn_fail(EVN_USAGE,
                            "loop: access %d of the tasks' region %d, expected EVN_READ, "
                            "EVN_WRITE or EVN_BOTH",
                            (int)access[i], i);
    return regions_check_numbers(loop->problem->tasks, regions, region);
}

/* Surveys the regions: the largest number; and whether some belong to several tasks, or to one task
 * several times. EVN_MEMORY. */
static evn_status look(const int *region, size_t count, int *max, int *shared) {
    *max = -1;
    *shared = 0;
    for (size_t i = 0; i < count; i++)
        if (region[i] > *max) *max = region[i];
    char *seen = calloc((size_t)*max + 2, 1);
    if (!seen) return EVN_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (region[i] >= 0) {
            *shared |= seen[region[i]];
            seen[region[i]] = 1;
        }
    free(seen);
    return EVN_OK;
}

/* Room of each unit for the regions of all tasks. */
static int make_unit_rooms(const evn_loop *loop, struct regions_room *room, size_t n, int differ) {
    int max, shared;
    room->unit = calloc((size_t)loop->count, sizeof *room->unit);
    int failed = !room->unit || look(room->region, n, &max, &shared);
    for (int u = 0; !failed && u < loop->count; u++) {
        struct unit_room *of = &room->unit[u];
        of->region = malloc((n + 1) * sizeof *of->region);
        if (differ) of->mode = malloc((n + 1) * sizeof *of->mode);
        if (shared) of->noted = calloc((size_t)max + 1, sizeof *of->noted);
        failed = !of->region || (differ && !of->mode) || (shared && !of->noted);
    }
    return failed;
}

evn_status regions_room_open_any(const evn_loop *loop, struct regions_room *room, size_t n,
                                 const int *region, int regions, const evn_access *access) {
    int differ = 0;
    for (int i = 1; i < regions; i++) differ |= access[i] != access[0];
    *room = (struct regions_room){.regions = regions,
                                  .region = malloc((n + 1) * sizeof *room->region),
                                  .access = malloc((size_t)regions * sizeof *room->access),
                                  .host = malloc((n + 1) * sizeof *room->host)};
    int failed = !room->region || !room->access || !room->host;
    if (!failed) {
        memcpy(room->region, region, n * sizeof *region);
        memcpy(room->access, access, (size_t)regions * sizeof *access);
        failed = make_unit_rooms(loop, room, n, differ);
    }
    if (!failed) return EVN_OK;
    regions_room_close(loop, room);
    return evn_fail(EVN_MEMORY, "loop: no memory for %zu regions of tasks", n);
}

evn_status regions_room_open(const evn_loop *loop, struct regions_room *room, int tasks,
                             int regions, const int *region, const evn_access *access) {
    return regions_room_open_any(loop, room, (size_t)tasks * (size_t)regions, region, regions,
                                 access);
}

void regions_room_take(evn_loop *loop, struct regions_room *room) {
    const struct regions_room last = {
        .region = loop->region, .access = loop->access, .host = loop->host, .unit = room->unit};
    for (int u = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        const struct unit_room of = {.region = w->region, .noted = w->noted, .mode = w->mode};
        w->region = room->unit[u].region;
        w->noted = room->unit[u].noted;
        w->mode = room->unit[u].mode;
        room->unit[u] = of;
    }
    loop->region = room->region;
    loop->access = room->access;
    loop->host = room->host;
    loop->regions = room->regions;
    *room = last;
}

void regions_room_close(const evn_loop *loop, struct regions_room *room) {
    for (int u = 0; room->unit && u < loop->count; u++) {
        free(room->unit[u].region);
        free(room->unit[u].noted);
        free(room->unit[u].mode);
    }
    free(room->unit);
    free(room->region);
    free(room->access);
    free(room->host);
    *room = (struct regions_room){0};
}

void loop_forget_place(evn_loop *loop) {
    loop->place = NULL;
    loop->settled = 0;
    loop->owner_ops = (struct owner_ops){0};
    regions_close(loop);
}

evn_status evn_loop_place(evn_loop *loop, evn_place *place, int regions, const int *region,
                          const evn_access *access) {
    NEED(loop, "a loop");
    evn_status status = check(loop, place, regions, region, access);
    if (status) return status;
    struct regions_room room;
    status = regions_room_open(loop, &room, loop->problem->tasks, regions, region, access);
    loop_forget_place(loop);
    if (status) return status;
    regions_room_take(loop, &room);
    regions_room_close(loop, &room);
    loop->place = place;
    loop_note_bytes(loop);
    status = loop_tell_memory(loop);
    if (status) loop_forget_place(loop);
    return status;
}

evn_status loop_collect(const evn_loop *loop) {
    const size_t all = (size_t)loop->problem->tasks * (size_t)loop->regions;
    int *own = malloc((all ? all : 1) * sizeof *own), count = 0;
    if (!own) return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu regions", all);
    for (size_t i = 0; i < all; i++)
        if (loop->region[i] >= 0 && evn_loop_has(loop, (int)(i / (size_t)loop->regions)))
            own[count++] = loop->region[i];
    evn_status status = evn_place_acquire(loop->place, count, own, EVN_HOST, EVN_READ);
    if (!status) status = evn_place_release(loop->place, count, own, EVN_HOST);
    free(own);
    return status;
}
