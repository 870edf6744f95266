/* Other tasks for a loop: evn_loop_change(). First all is checked and all memory made, by the loop
 * and by its exchanges; the schedule's change is the last that can fail; then arrays are swapped.
 */
#include "loop/birth.h"
#include "loop/collect.h"
#include "loop/lists.h"
#include "loop/rank_ops.h"
#include "loop/subteams.h"
#include "schedule/origins.h"
#include "unit/device_ops.h"
#include "base/argument.h"
#include <evener/change.h>
#include <evener/clock.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Memory for the tasks of now. */
struct renewal {
    struct origins of;
    int *owner;      /* twice: of each task, and in the instance before */
    double *seconds; /* three times */
    int *list;       /* twice */
    int *born, borns;
    int **mine; /* of each unit */
    double *load;
    struct regions_room room;
    struct birth *birth;
    struct replicated_room replicated;
};

static void drop(const evn_loop *loop, struct renewal *r) {
    for (int u = 0; r->mine && u < loop->count; u++) free(r->mine[u]);
    free(r->mine);
    free(r->load);
    free(r->owner);
    free(r->seconds);
    free(r->list);
    free(r->born);
    birth_close(r->birth);
    regions_room_close(loop, &r->room);
    if (loop->ranks) loop->ranks->room_close(&r->replicated);
    origins_close(&r->of);
}

static evn_status make_arrays(evn_loop *loop, struct renewal *r, int tasks) {
    const size_t n = (size_t)tasks;
    r->owner = malloc(2 * n * sizeof *r->owner);
    r->seconds = calloc(3 * n, sizeof *r->seconds);
    r->list = malloc(2 * n * sizeof *r->list);
    r->born = malloc(n * sizeof *r->born);
    evn_changed *changes = realloc(loop->changes, ((size_t)loop->generation + 1) * sizeof *changes);
    if (changes) loop->changes = changes;
    r->mine = calloc((size_t)loop->count, sizeof *r->mine);
    r->load = calloc((size_t)loop->problem->units, sizeof *r->load);
    int failed =
        !r->load || !r->owner || !r->seconds || !r->list || !r->born || !r->mine || !changes;
    for (int u = 0; !failed && u < loop->count; u++)
        failed = !(r->mine[u] = malloc(n * sizeof *r->mine[u]));
    return failed ? evn_fail(EVN_MEMORY, "loop: not enough memory for %d tasks", tasks) : EVN_OK;
}

/* Gives tasks of the new generation their owners and times, and lists the born ones. Over ranks
 * they inherit from where origins will have come together. */
static void inherit(const evn_loop *loop, struct renewal *r) {
    const struct origins *o = &r->of;
    const int n = o->change->tasks,
              *owner = loop->replicated ? r->replicated.gathered : loop->owner;
    for (int t = 0, last = owner[0]; t < n; t++) {
        const int from = o->heaviest[t];
        if (from >= 0) last = owner[from];
        r->owner[t] = last;
        if (origins_kept(o, t))
            r->seconds[t] = loop->seconds[from];
        else if (loop_own(loop, last) >= 0)
            r->born[r->borns++] = t;
    }
    memcpy(r->owner + n, r->owner, (size_t)n * sizeof *r->owner);
}

/* Regions of kept tasks stay; those of born ones are told. */
static evn_status find_regions(const evn_loop *loop, struct renewal *r) {
    if (!loop->place) return EVN_OK;
    const evn_change *c = r->of.change;
    const size_t k = (size_t)loop->regions, n = (size_t)c->tasks;
    int *region = malloc(n * k * sizeof *region);
    if (!region)
        return evn_fail(EVN_MEMORY, "loop: no memory for %d regions of each of %d tasks",
                        loop->regions, c->tasks);
    for (size_t t = 0; t < n; t++)
        for (size_t i = 0; i < k; i++)
            region[t * k + i] = origins_kept(&r->of, (int)t)
                                    ? loop->region[(size_t)r->of.heaviest[t] * k + i]
                                : c->region ? c->region[t * k + i]
                                            : -1;
    evn_status status = regions_check_numbers(c->tasks, loop->regions, region);
    if (!status)
        status = regions_room_open(loop, &r->room, c->tasks, loop->regions, region, loop->access);
    free(region);
    return status;
}

/* Checks and memory. */
static evn_status prepare(evn_loop *loop, struct renewal *r) {
    const evn_change *c = r->of.change;
    evn_status status = make_arrays(loop, r, c->tasks);
    if (!status) status = find_regions(loop, r);
    if (!status && loop->owner_ops.may_change)
        status =
            loop->owner_ops.may_change(loop->owner_ops.arg, r->of.now, c->tasks, r->room.region);
    for (struct loop_listener *l = loop->listener; !status && l; l = l->next)
        if (l->may_change) status = l->may_change(l->arg, r->of.now, c->tasks);
    if (!status && loop->replicated) status = loop->ranks->room_open(loop, &r->replicated, &r->of);
    if (status) return status;
    inherit(loop, r);
    return birth_open(&r->birth, &r->of, r->born, r->borns, loop->place ? loop->regions : 0,
                      loop->region);
}

static void tell(const evn_loop *loop, const int *now, int tasks) {
    if (loop->owner_ops.change) loop->owner_ops.change(loop->owner_ops.arg, now);
    for (struct loop_listener *l = loop->listener; l; l = l->next)
        if (l->change) l->change(l->arg, now, tasks);
}

static void swap_arrays(evn_loop *loop, struct renewal *r, int tasks) {
    int *owner = loop->owner, *list = loop->list, *born = loop->born;
    double *seconds = loop->seconds;
    loop->owner = r->owner;
    loop->before = r->owner + tasks;
    loop->seconds = r->seconds;
    loop->added = r->seconds + 2 * (size_t)tasks;
    loop->list = r->list;
    loop->listed = r->list + tasks;
    struct birth *birth = loop->birth;
    loop->birth = r->birth;
    r->birth = birth;
    loop->born = r->born;
    loop->borns = r->borns;
    r->owner = owner;
    r->seconds = seconds;
    r->list = list;
    r->born = born;
}

/* Of a unit: room by the number of tasks, subteams of equal lists of other tasks, tables of them.
 */
static void swap_worker(struct worker *w, int **mine) {
    int *last = w->mine;
    w->mine = *mine;
    *mine = last;
    for (int d = 0; d < w->devices; d++) device_ops.forget(&w->in_flight[d]);
    for (int i = 0; i < 2; i++) {
        if (w->subteams[i]) subteams_close(w->subteams[i]);
        w->subteams[i] = NULL;
    }
}

/* ---- for records ---- */

static double bytes_of(const evn_loop *loop, int t) {
    const evn_problem *p = loop->problem;
    double bytes = loop->place ? 0 : p->bytes ? p->bytes[t] : p->state ? p->state[t] : 0;
    for (int i = 0; loop->place && i < loop->regions; i++) {
        const int region = loop->region[(size_t)t * (size_t)loop->regions + (size_t)i];
        if (region >= 0) bytes += (double)evn_place_bytes(loop->place, region);
    }
    return bytes;
}

/* Of the units in the last run before the change, whose owners and times `r` has now. */
static double imbalance_before(const evn_loop *loop, const struct renewal *r) {
    const int last = loop->generation > 1 ? loop->changes[loop->generation - 2].instance : 0;
    if (loop_instance(loop) == last) return NAN; /* none since the change before */
    for (int t = 0; t < r->of.before->tasks; t++) r->load[r->owner[t]] += r->seconds[t];
    return evn_imbalance(loop->problem->units, r->load);
}

static void note_change(evn_loop *loop, const struct renewal *r, double begin) {
    const struct origins *o = &r->of;
    const int *next = loop_next(loop);
    evn_changed *c = &loop->changes[loop->generation - 1];
    c->instance = loop_instance(loop);
    c->tasks = o->change->tasks;
    for (int t = 0; t < o->change->tasks; t++) {
        c->kept += origins_kept(o, t);
        if (loop_chunk(loop) || next[t] == loop->owner[t]) continue;
        c->moved++;
        c->moved_bytes += bytes_of(loop, t);
    }
    c->born = c->tasks - c->kept;
    c->gone = o->before->tasks - c->kept;
    c->imbalance = imbalance_before(loop, r);
    c->begin = begin - loop->origin;
    c->seconds = evn_now() - begin;
}

void loop_note_faces(evn_loop *loop, int added, int gone, double seconds) {
    if (!loop->generation) return;
    evn_changed *c = &loop->changes[loop->generation - 1];
    c->faces_added += added;
    c->faces_gone += gone;
    c->seconds += seconds;
}

evn_changed evn_loop_changed(const evn_loop *loop, int i) {
    NEED_OR((evn_changed){0}, loop, "a loop");
    if (i >= 0 && i < loop->generation) return loop->changes[i];
    evn_fail(EVN_USAGE, "loop: change %d of a loop that was changed %d times", i, loop->generation);
    return (evn_changed){0};
}

/* ---- the change ---- */

static void change(evn_loop *loop, struct renewal *r) {
    const int tasks = r->of.change->tasks;
    loop->problem = evn_schedule_problem(loop->schedule);
    loop->hi = tasks;
    loop->changes[loop->generation++] = (evn_changed){0};
    loop->assignment++;
    loop->changed = 1;
    loop->lists = loop->even = 0;
    loop->settled = 0;
    loop->bears = 1;
    swap_arrays(loop, r, tasks);
    if (loop->replicated) loop->ranks->take(loop, &r->replicated);
    for (int u = 0; u < loop->count; u++) swap_worker(&loop->worker[u], &r->mine[u]);
    if (loop->place) regions_room_take(loop, &r->room);
    loop->closed.count = 0;
    loop_note_bytes(loop);
    tell(loop, r->of.now, tasks);
}

evn_status evn_loop_change(evn_loop *loop, const evn_change *c) {
    NEED(loop, "a loop");
    evn_status status = loop_may_begin(loop, "evn_loop_change()");
    if (status) return status;
    const double begin = evn_now();
    struct renewal r = {0};
    const evn_problem before = *loop->problem;
    /* over ranks the others wait, and hear of it */
    status = c ? origins_open(&r.of, &before, c, "loop") : argument_missing(__func__, "a change");
    if (!status) status = prepare(loop, &r);
    if (loop->replicated)
        status = loop->ranks->change(loop, &r.replicated, &r.of, c, status);
    else if (!status)
        status = schedule_change(loop->schedule, &r.of);
    if (status) {
        tell(loop, NULL, 0);
    } else {
        change(loop, &r);
        note_change(loop, &r, begin);
    }
    drop(loop, &r);
    return status;
}

void loop_set_owner_ops(evn_loop *loop, const struct owner_ops *ops) { loop->owner_ops = *ops; }
