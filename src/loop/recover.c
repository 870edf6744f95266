/* Recovery: snapshots of the state on the host, and the removal of units whose devices have failed.
 */
#include "loop/internal.h"
#include "base/argument.h"
#include <evener/recover.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct evn_recovery {
    evn_loop *loop;
    int every;
    int kept;       /* the step of the state that is kept; -1 */
    int generation; /* of the tasks whose state is kept, or was to be */
    evn_recovery_calls calls;
};

evn_status evn_recovery_open(evn_recovery **out, evn_loop *loop, int every,
                             const evn_recovery_calls *calls) {
    NEED_OUT(out);
    NEED(loop, "a loop");
    if (every < 1)
        return evn_fail(EVN_USAGE, "recovery: the state kept every %d steps, expected 1 or more",
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
    *out = r;
    return EVN_OK;
}

void evn_recovery_close(evn_recovery *r) { free(r); }

evn_status evn_recovery_keep(evn_recovery *r, int step) {
    NEED(r, "a recovery");
    const evn_loop *loop = r->loop;
    if (step < 0)
        return evn_fail(EVN_USAGE, "recovery: step %d to be kept, expected 0 or more", step);
    if (!evn_units_devices(loop->units)) return EVN_OK;
    const int same = r->generation == loop->generation;
    if (same && r->kept >= 0 && step >= r->kept && step - r->kept < r->every) return EVN_OK;
    if (!loop->place)
        return evn_fail(EVN_USAGE, "recovery: the loop's tasks have no regions that could be kept; "
                                   "evn_loop_place() lets them follow tasks");
    evn_status status = evn_place_keep(loop->place);
    if (status) return status;
    r->kept = step;
    r->generation = loop->generation;
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
    for (int u = 0; u < loop->count; u++)
        count += lost[u] = (char)is_lost(evn_units_get(loop->units, u));
    const int one = count ? -1 : blamed(loop, failure);
    if (one >= 0) count = lost[one] = 1;
    return count;
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
        evn_place_lose(loop->place, evn_place_space(loop->place, unit, d));
    status = evn_units_remove(loop->units, lost);
    loop_drop_unit(loop, lost, schedule);
    return status;
}

/* Regions are where a copy is left; those that were nowhere else are the host's again, for what the
 * program will write there. */
static evn_status give_back(const evn_loop *loop) {
    const size_t n = (size_t)loop->problem->tasks * (size_t)loop->regions;
    evn_status status = EVN_OK;
    for (size_t i = 0; loop->place && !status && i < n; i++) {
        const int *region = &loop->region[i], spaces = evn_place_spaces(loop->place);
        int s = 0;
        if (*region < 0) continue;
        while (s < spaces && !evn_place_valid(loop->place, *region, s)) s++;
        const int space = s < spaces ? s : EVN_HOST;
        status =
            evn_place_acquire(loop->place, 1, region, space, s < spaces ? EVN_READ : EVN_WRITE);
        if (!status) evn_place_release(loop->place, 1, region, space);
    }
    return status;
}

/* Goes on without the units that are marked, from the last one on, since numbers move up. */
static evn_status go_on_without(evn_recovery *r, const char *lost, int units) {
    evn_status status = EVN_OK;
    for (int u = units - 1; !status && u >= 0; u--)
        if (lost[u]) status = drop(r, u);
    return status;
}

static evn_status restore(const evn_recovery *r) {
    if (r->kept < 0) return give_back(r->loop);
    evn_status status = evn_place_restore(r->loop->place);
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
    if (!failure) return evn_fail(EVN_USAGE, "recovery: evn_recovery_go_on() without a failure");
    evn_status status = loop_may_begin(loop, "evn_recovery_go_on()");
    if (status) return status;
    if (r->generation != loop->generation)
        return evn_fail(failure,
                        "%s; it cannot go on: no state of the tasks since change %d is kept; "
                        "evn_recovery_keep() directly after evn_loop_change() keeps one",
                        first, loop->generation);
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
