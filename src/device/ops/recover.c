/* Recovery: snapshots of the state on the host, and the removal of units whose devices have failed.
 */
#include "loop/internal.h"
#include "device/ops/kept.h"
#include "unit/share.h"
#include "base/argument.h"
#include <evener/recover.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A region of the kept state, once however many tasks it has. */
struct kept_region {
    int region; /* -1: no task needs it any more, and its copy is here */
    struct kept_copy copy;
};

/* The tasks of the kept state, where the program can go back to them. */
struct kept_tasks {
    int tasks, regions; /* number of tasks, and of regions of each */
    int *now;           /* number of each task; -1: gone */
    int *index;         /* [task * regions + i] in `kept`; -1: none */
    int count;
    struct kept_region *kept;
    char *needed; /* scratch: of each of `kept` */
};

struct evn_recovery {
    evn_loop *loop;
    int every;
    int kept;       /* the step of the state that is kept; -1 */
    int generation; /* generation whose state is kept, or was to be */
    int label;      /* that generation as it was when it was kept */
    struct kept_tasks of;
    evn_recovery_calls calls;
    struct loop_listener listener;
};

/* ---- tasks of the kept state --------------------------------------------------------------- */

static void drop_tasks(struct kept_tasks *k) {
    for (int e = 0; e < k->count; e++) free(k->kept[e].copy.memory);
    free(k->now);
    free(k->index);
    free(k->kept);
    free(k->needed);
    *k = (struct kept_tasks){0};
}

/* Gives each region of the loop's tasks that the place has an entry. */
static int list_regions(const evn_loop *loop, struct kept_tasks *k, size_t n) {
    const int numbers = n ? place_numbers(loop->place) : 0;
    int *entry = malloc(((size_t)numbers + 1) * sizeof *entry);
    if (!entry) return -1;
    for (int i = 0; i < numbers; i++) entry[i] = -1;
    for (size_t i = 0; i < n; i++) {
        const int region = loop->region[i] < numbers ? loop->region[i] : -1;
        if (region >= 0 && entry[region] < 0) {
            entry[region] = k->count;
            k->kept[k->count++] = (struct kept_region){.region = region};
        }
        k->index[i] = region < 0 ? -1 : entry[region];
    }
    free(entry);
    return 0;
}

/* The tasks that there are now, each under its own number. EVN_MEMORY. */
static evn_status list_tasks(const evn_loop *loop, struct kept_tasks *k) {
    const size_t tasks = (size_t)loop->problem->tasks, n = tasks * (size_t)loop->regions;
    *k = (struct kept_tasks){.tasks = (int)tasks,
                             .regions = loop->regions,
                             .now = malloc(tasks * sizeof *k->now),
                             .index = malloc((n + 1) * sizeof *k->index),
                             .kept = malloc((n + 1) * sizeof *k->kept),
                             .needed = malloc(n + 1)};
    if (!k->now || !k->index || !k->kept || !k->needed || list_regions(loop, k, n)) {
        drop_tasks(k);
        return evn_fail(EVN_MEMORY, "recovery: no memory for the regions of %zu tasks", tasks);
    }
    for (int t = 0; t < k->tasks; t++) k->now[t] = t;
    return EVN_OK;
}

/* After a change: copies of regions that none of the tasks has any more are taken over, before the
 * program removes the regions. */
static void follow(void *arg, const int *now, int tasks) {
    evn_recovery *r = arg;
    struct kept_tasks *k = &r->of;
    (void)tasks;
    if (!now || !k->tasks) return;
    memset(k->needed, 0, (size_t)k->count);
    for (int t = 0; t < k->tasks; t++) {
        if (k->now[t] >= 0) k->now[t] = now[k->now[t]];
        for (int i = 0; k->now[t] >= 0 && i < k->regions; i++) {
            const int e = k->index[t * k->regions + i];
            if (e >= 0) k->needed[e] = 1;
        }
    }
    for (int e = 0; e < k->count; e++) {
        struct kept_region *is = &k->kept[e];
        if (k->needed[e] || is->region < 0) continue;
        is->copy = place_take_kept(r->loop->place, is->region);
        is->region = -1;
    }
}

const int *evn_recovery_tasks(const evn_recovery *r, int *count) {
    NEED_OR(NULL, r, "a recovery");
    NEED_OR(NULL, count, "where to put how many tasks were kept");
    *count = r->of.tasks;
    return r->of.now;
}

/* ---- keeping ------------------------------------------------------------------------------- */

evn_status evn_recovery_open(evn_recovery **out, evn_loop *loop, int every,
                             const evn_recovery_calls *calls) {
    NEED_OUT(out);
    NEED(loop, "a loop");
    if (every < 0)
        return evn_fail(EVN_USAGE,
                        "recovery: the state kept every %d steps, expected 1 or more, or 0: in the "
                        "first step and after each change of the tasks",
                        every);
    if (loop->cluster)
        return evn_fail(EVN_USAGE, "recovery: over ranks a run does not go on without a device; "
                                   "keep checkpoints");
    evn_recovery *r = calloc(1, sizeof *r);
    if (!r) return evn_fail(EVN_MEMORY, "recovery: not enough memory");
    r->loop = loop;
    r->every = every;
    r->kept = -1;
    r->generation = loop->generation;
    if (calls) r->calls = *calls;
    r->listener = (struct loop_listener){.change = follow, .arg = r};
    loop_listen(loop, &r->listener);
    *out = r;
    return EVN_OK;
}

void evn_recovery_close(evn_recovery *r) {
    if (!r) return;
    loop_unlisten(r->loop, &r->listener);
    drop_tasks(&r->of);
    free(r);
}

/* Whether the state that is kept will do in this step. */
static int is_kept(const evn_recovery *r, int step) {
    if (r->kept < 0 || step < r->kept) return 0;
    const int same = r->generation == r->loop->generation;
    if (!r->every) return same;
    return (same || r->calls.rebuild) && step - r->kept < r->every;
}

evn_status evn_recovery_keep(evn_recovery *r, int step) {
    NEED(r, "a recovery");
    const evn_loop *loop = r->loop;
    if (step < 0)
        return evn_fail(EVN_USAGE, "recovery: step %d to be kept, expected 0 or more", step);
    if (!evn_units_about(loop->units).devices || is_kept(r, step)) return EVN_OK;
    if (!loop->place)
        return evn_fail(EVN_USAGE, "recovery: the loop's tasks have no regions that could be kept; "
                                   "evn_loop_place() lets them follow tasks");
    struct kept_tasks of = {0};
    evn_status status = r->calls.rebuild ? list_tasks(loop, &of) : EVN_OK;
    if (!status) status = place_keep(loop->place);
    if (status) {
        drop_tasks(&of);
        return status;
    }
    drop_tasks(&r->of);
    r->of = of;
    r->kept = step;
    r->generation = r->label = loop->generation;
    return EVN_OK;
}

/* ---- failed devices ---- */

/* Whether a device of the unit can do nothing more. */
static int is_lost(const evn_unit *unit) {
    for (int d = 0; d < evn_unit_devices(unit); d++)
        if (evn_queue_finish(evn_unit_queue(unit, d)) == EVN_DEVICE) return 1;
    return 0;
}

/* The unit that said so itself, where its device has failed without being lost: without memory; or
 * -1. */
static int blamed(const evn_loop *loop, evn_status failure) {
    const int u = loop->failed_unit;
    if (u < 0 || !evn_unit_devices(evn_units_get(loop->units, u))) return -1;
    if (failure == EVN_BODY) failure = loop->failed_status;
    return failure == EVN_DEVICE || failure == EVN_MEMORY ? u : -1;
}

/* Marks the units to go on without; how many. */
static int find_lost(const evn_loop *loop, evn_status failure, char *lost) {
    int count = 0;
    if (failure == EVN_STOPPED || failure == EVN_USAGE) return 0;
    for (int u = 0; u < loop->count; u++) {
        const int is = is_lost(evn_units_get(loop->units, u));
        lost[u] = (char)is;
        count += is;
    }
    const int one = count ? -1 : blamed(loop, failure);
    if (one < 0) return count;
    lost[one] = 1;
    return 1;
}

/* ---- going on ------------------------------------------------------------------------------ */

/* All units' numbers of a kind but that of one; NULL where there are none, or no memory. */
static void *without(const void *all, int units, size_t size, int lost) {
    char *left = all ? malloc((size_t)units * size) : NULL;
    if (!left) return NULL;
    memcpy(left, all, (size_t)lost * size);
    memcpy(left + (size_t)lost * size, (const char *)all + (size_t)(lost + 1) * size,
           (size_t)(units - 1 - lost) * size);
    return left;
}

/* The loop's schedule for all units but one. */
static evn_status reschedule(const evn_loop *loop, int lost, evn_schedule **out) {
    const evn_problem *all = loop->problem;
    evn_problem p = *all;
    double *speed = without(all->speed, all->units, sizeof *speed, lost);
    double *capacity = without(all->capacity, all->units, sizeof *capacity, lost);
    int *kind = without(all->kind, all->units, sizeof *kind, lost);
    int *node = without(all->node, all->units, sizeof *node, lost);
    int *space = without(all->space, all->units, sizeof *space, lost);
    p.units--;
    p.speed = speed;
    p.capacity = capacity;
    p.kind = kind;
    p.node = node;
    p.space = space;
    evn_status status;
    if (!speed != !all->speed || !capacity != !all->capacity || !kind != !all->kind ||
        !node != !all->node || !space != !all->space)
        status = evn_fail(EVN_MEMORY, "recovery: no memory for what is known of %d units", p.units);
    else
        status = evn_schedule_open(out, evn_schedule_text(loop->schedule), &p);
    free(speed);
    free(capacity);
    free(kind);
    free(node);
    free(space);
    return status;
}

static evn_status drop(evn_recovery *r, int lost) {
    evn_loop *loop = r->loop;
    evn_unit *unit = evn_units_get(loop->units, lost);
    evn_schedule *schedule = NULL;
    evn_status status = reschedule(loop, lost, &schedule);
    if (status) return status;
    if (r->calls.lost) r->calls.lost(unit, r->calls.arg);
    for (int d = 0; loop->place && d < evn_unit_devices(unit); d++)
        place_lose(loop->place, evn_place_space(loop->place, unit, d));
    status = units_remove(loop->units, lost);
    loop_drop_unit(loop, lost, schedule);
    return status;
}

/* Goes on without the units that are marked, from the last one on, since numbers move up. */
static evn_status go_on_without(evn_recovery *r, const char *lost, int units) {
    evn_status status = EVN_OK;
    for (int u = units - 1; !status && u >= 0; u--)
        if (lost[u]) status = drop(r, u);
    return status;
}

/* ---- back to other tasks ------------------------------------------------------------------- */

/* Gives a region of a task what it is to be restored to, unless it has it still. */
static evn_status give_copy(const evn_recovery *r, int task, int i) {
    const struct kept_tasks *k = &r->of;
    const int at = task * k->regions + i, region = r->loop->region[at];
    const struct kept_region *is = k->index[at] < 0 ? NULL : &k->kept[k->index[at]];
    if (!is && region < 0) return EVN_OK;
    if (!is || region < 0)
        return evn_fail(EVN_USAGE,
                        "recovery: task %d has %s region %d after rebuild(), and %s in step %d",
                        task, is ? "no" : "a", i, is ? "had one" : "had none", r->kept);
    if (is->region == region) return EVN_OK;
    if (is->region >= 0)
        return evn_fail(
            EVN_USAGE,
            "recovery: region %d of task %d is number %d after rebuild(), and was number "
            "%d in step %d, which other tasks have still",
            i, task, region, is->region, r->kept);
    evn_status status = place_give_kept(r->loop->place, region, &is->copy);
    return status ? evn_fail(status, "recovery: region %d of task %d: %s", i, task, evn_message())
                  : EVN_OK;
}

/* Lets the program go back to the tasks of the kept state, whose values then are to be restored. */
static evn_status rebuild(evn_recovery *r) {
    evn_loop *loop = r->loop;
    const int generation = loop->generation;
    struct kept_tasks of = {0};
    evn_status status = place_settle_lost(loop->place); /* so that any region can be removed */
    if (!status) status = r->calls.rebuild(r->calls.arg, r->label);
    if (status) return status;
    if (loop->generation == generation || loop->problem->tasks != r->of.tasks)
        return evn_fail(EVN_USAGE,
                        "recovery: rebuild() left %d tasks of change %d; expected "
                        "evn_loop_change() to the %d of generation %d",
                        loop->problem->tasks, loop->generation, r->of.tasks, r->label);
    for (int i = 0; !status && i < r->of.tasks * r->of.regions; i++)
        status = give_copy(r, i / r->of.regions, i % r->of.regions);
    if (!status) status = list_tasks(loop, &of);
    if (status) return status;
    drop_tasks(&r->of);
    r->of = of;
    r->generation = loop->generation;
    loop->borns = loop->bears = 0; /* all have values */
    return EVN_OK;
}

static evn_status restore(evn_recovery *r) {
    if (r->kept < 0) return r->loop->place ? place_settle_lost(r->loop->place) : EVN_OK;
    evn_status status = r->generation == r->loop->generation ? EVN_OK : rebuild(r);
    if (!status)
        status =
            r->calls.rebuild ? place_restore_kept(r->loop->place) : place_restore(r->loop->place);
    return status ? status : evn_loop_bring(r->loop);
}

static void tell(const evn_recovery *r, const char *why) {
    char text[1024];
    const char *units = evn_units_text(r->loop->units);
    if (!r->calls.told) return;
    if (r->kept < 0)
        snprintf(text, sizeof text, "%s; begins anew with units %s", why, units);
    else
        snprintf(text, sizeof text, "%s; goes on from step %d with units %s", why, r->kept, units);
    r->calls.told(text, r->calls.arg);
}

evn_status evn_recovery_go_on(evn_recovery *r, evn_status failure, int *step) {
    NEED(r, "a recovery");
    NEED(step, "where to put the step");
    evn_loop *loop = r->loop;
    char first[512], why[1024];
    snprintf(why, sizeof why, "%s", evn_message());
    snprintf(first, sizeof first, "%.500s", why);
    *step = -1;
    if (!failure || failure > EVN_DEVICE)
        return evn_fail(
            EVN_USAGE,
            "recovery: evn_recovery_go_on() without a failure, with status %d; expected "
            "the status of one",
            (int)failure);
    evn_status status = loop_may_begin(loop, "evn_recovery_go_on()");
    if (status) return status;
    /* another device may fail on the way; there are ever fewer of them */
    for (;;) {
        const int units = loop->count;
        char *lost = malloc((size_t)units);
        if (!lost) return evn_fail(EVN_MEMORY, "recovery: no memory for %d units", units);
        const int count = find_lost(loop, failure, lost);
        if (!count || count == units) {
            free(lost);
            return evn_fail(failure, "%s", why);
        }
        if (r->kept >= 0 && r->generation != loop->generation && !r->calls.rebuild) {
            free(lost);
            return evn_fail(EVN_USAGE,
                            "%s; it cannot go on: no state of the tasks since change %d is kept; "
                            "evn_recovery_keep() directly after evn_loop_change() keeps one, and "
                            "with evn_recovery_calls.rebuild an earlier one will do",
                            first, loop->generation);
        }
        status = go_on_without(r, lost, units);
        free(lost);
        if (status) return evn_fail(failure, "%s; it cannot go on: %s", first, evn_message());
        failure = restore(r);
        if (!failure) break;
        snprintf(why, sizeof why, "%s", evn_message());
    }
    *step = r->kept;
    tell(r, first);
    return EVN_OK;
}
