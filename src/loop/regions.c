/* The regions that follow a loop's tasks: which they are, and bringing those of a batch. */
#include "loop/internal.h"
#include <evener/clock.h>
#include <stdlib.h>
#include <string.h>

static evn_access mode_of(const evn_loop *loop, int i) {
    return loop->on_host ? loop->host_access : loop->access[i];
}

/* Where a worker notes the regions of tasks from `task` in w->mine on. */
static size_t place_of(const evn_loop *loop, const struct worker *w, const int *task) {
    return (size_t)(task - w->mine) * (size_t)loop->regions;
}

/* Notes the regions of `count` tasks; how many. Those that have to come are of *away tasks, of
 * which *first is the first one. */
static int note(const evn_loop *loop, struct worker *w, const int *task, int count, int space,
                int *first, int *away) {
    const size_t at = place_of(loop, w, task);
    int *to = w->region + at, n = 0;
    *first = -1;
    *away = 0;
    for (int t = 0; t < count; t++) {
        const int *region = loop->region + (size_t)task[t] * (size_t)loop->regions;
        int comes = 0;
        for (int i = 0; i < loop->regions; i++) {
            if (region[i] < 0) continue;
            const evn_access mode = mode_of(loop, i);
            if (w->mode) w->mode[at + (size_t)n] = mode;
            to[n++] = region[i];
            comes |= (mode & EVN_READ) && !evn_place_valid(loop->place, region[i], space);
        }
        if (comes && !(*away)++) *first = task[t];
    }
    return n;
}

/* Those of the regions that are acquired with `mode`. */
static int with_mode(int count, const int *region, const evn_access *mode, evn_access wanted,
                     int *to) {
    int n = 0;
    for (int i = 0; i < count; i++)
        if (mode[i] == wanted) to[n++] = region[i];
    return n;
}

/* Acquires all or none, each with its mode. To be replaced by evn_place_acquire_each(), as soon as
 * places have it; `work` goes with it. */
static evn_status acquire_each(evn_place *place, int count, const int *region, int space,
                               const evn_access *mode, int *work) {
    for (int m = EVN_READ; m <= EVN_BOTH; m++) {
        const int n = with_mode(count, region, mode, (evn_access)m, work);
        evn_status status = n ? evn_place_acquire(place, n, work, space, (evn_access)m) : EVN_OK;
        if (!status) continue;
        while (--m >= EVN_READ)
            evn_place_release(place, with_mode(count, region, mode, (evn_access)m, work), work,
                              space);
        return status;
    }
    return EVN_OK;
}

evn_status regions_acquire(evn_loop *loop, struct worker *w, const int *task, int count, int space,
                           int *held) {
    int first, away;
    *held = 0;
    const int n = note(loop, w, task, count, space, &first, &away);
    if (!n) return EVN_OK;
    const size_t at = place_of(loop, w, task);
    const size_t room = (size_t)loop->problem->tasks * (size_t)loop->regions;
    const double begin = away ? evn_now() : 0;
    evn_status status;
    if (!w->mode || loop->on_host)
        status = evn_place_acquire(loop->place, n, w->region + at, space, mode_of(loop, 0));
    else
        status = acquire_each(loop->place, n, w->region + at, space, w->mode + at,
                              w->region + room + at);
    if (status) return status;
    *held = n;
    if (away) burst_record(w, EVN_BURST_COPY, first, away, begin, evn_now());
    return EVN_OK;
}

void regions_release(evn_loop *loop, struct worker *w, const int *task, int held, int space) {
    if (held) evn_place_release(loop->place, held, w->region + place_of(loop, w, task), space);
}

evn_status regions_fit(evn_loop *loop, struct worker *w, const int *task, int space, int *count) {
    int first, away, fit;
    const int n = note(loop, w, task, *count, space, &first, &away);
    evn_status status =
        evn_place_fits(loop->place, n, w->region + place_of(loop, w, task), space, &fit);
    if (status || fit == n) return status;
    /* tasks all of whose regions are among them; one alone may say what it is short of */
    int tasks = 0;
    for (; tasks < *count; tasks++) {
        const int *region = loop->region + (size_t)task[tasks] * (size_t)loop->regions;
        for (int i = 0; i < loop->regions; i++) fit -= region[i] >= 0;
        if (fit < 0) break;
    }
    *count = tasks ? tasks : 1;
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
    return EVN_OK;
}

/* Room of each worker for the regions of all tasks. */
static int make_room(evn_loop *loop, int regions, int differ) {
    const size_t n = (size_t)loop->problem->tasks * (size_t)regions;
    for (int u = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        free(w->region);
        free(w->mode);
        w->region = malloc(2 * n * sizeof *w->region);
        w->mode = differ ? malloc(n * sizeof *w->mode) : NULL;
        if (!w->region || (differ && !w->mode)) return -1;
    }
    return 0;
}

evn_status evn_loop_place(evn_loop *loop, evn_place *place, int regions, const int *region,
                          const evn_access *access) {
    evn_status status = check(loop, place, regions, region, access);
    if (status) return status;
    const size_t n = (size_t)loop->problem->tasks * (size_t)regions;
    int *numbers = malloc(n * sizeof *numbers), differ = 0;
    evn_access *modes = malloc((size_t)regions * sizeof *modes);
    for (int i = 1; i < regions; i++) differ |= access[i] != access[0];
    loop->place = NULL;
    regions_close(loop);
    if (!numbers || !modes || make_room(loop, regions, differ)) {
        free(numbers);
        free(modes);
        return evn_fail(EVN_MEMORY, "loop: no memory for %d regions of each of %d tasks", regions,
                        loop->problem->tasks);
    }
    memcpy(numbers, region, n * sizeof *numbers);
    memcpy(modes, access, (size_t)regions * sizeof *modes);
    loop->region = numbers;
    loop->access = modes;
    loop->regions = regions;
    loop->place = place;
    return EVN_OK;
}

void regions_close(evn_loop *loop) {
    free(loop->region);
    free(loop->access);
    loop->region = NULL;
    loop->access = NULL;
    loop->regions = 0;
}
