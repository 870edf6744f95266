/* Lists of units as stretches of one array; the remaining range is one word, changed by its unit
 * and by thieves with compare-and-swap. */
#include "loop/lists.h"
#include "loop/birth.h"
#include "loop/ends.h"
#include "base/pause.h"
#include <evener/clock.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSES = 32 }; /* between two looks at others' lists */

/* s of work of an instance in which each unit takes all of its own at once */
#define SHORT 50e-6

/* s of work that is left with its owner, or of waiting for that: data of a task that changes its
 * core come out of the other one's caches, which takes longer than a short task */
#define LATE 20e-6

evn_status lists_open(evn_loop *loop) {
    const size_t n = (size_t)loop->problem->tasks;
    loop->list = malloc(2 * n * sizeof *loop->list);
    if (!loop->list) return evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks", n);
    loop->listed = loop->list + n;
    return EVN_OK;
}

void lists_close(evn_loop *loop) {
    free(loop->list);
    loop->list = loop->listed = NULL;
}

/* Our unit that has a task in the instance at hand; -1: none. */
static int unit_of(const evn_loop *loop, int t) {
    if (loop->bearing && birth_index(loop->bearing, t) < 0) return -1;
    return loop_own(loop, loop->owner[t]);
}

static void make(evn_loop *loop) {
    const int n = loop->problem->tasks;
    for (int u = 0; u < loop->count; u++) loop->worker[u].listed = 0;
    for (int t = 0; t < n; t++) {
        const int u = unit_of(loop, t);
        if (u >= 0) loop->worker[u].listed++;
    }
    for (int u = 0, at = 0; u < loop->count; u++) {
        struct worker *w = &loop->worker[u];
        w->own = loop->list + at;
        at += w->listed;
        w->listed = 0;
    }
    for (int t = 0; t < n; t++) {
        const int u = unit_of(loop, t);
        if (u >= 0) loop->worker[u].own[loop->worker[u].listed++] = t;
    }
    memcpy(loop->listed, loop->owner, (size_t)n * sizeof *loop->owner);
    const double *weight = loop->problem->weight;
    loop->even = n < 2 || memcmp(weight, weight + 1, (size_t)(n - 1) * sizeof *weight) == 0;
    loop->lists = 1;
}

void lists_fill(evn_loop *loop) {
    const size_t bytes = (size_t)loop->problem->tasks * sizeof *loop->owner;
    if (!loop->lists || (!loop->steady && memcmp(loop->listed, loop->owner, bytes) != 0))
        make(loop);
    const double each = loop->task_seconds; /* 0: nothing is known yet */
    loop->grain = !(each > 0) || each >= GRAIN ? 1
                  : each * GRAIN_MAX < GRAIN   ? GRAIN_MAX
                                               : (int)(GRAIN / each);
    if (each > 0 && each * loop->problem->tasks < SHORT) loop->grain = loop->problem->tasks;
    for (int u = 0; u < loop->count; u++) ends_fill(&loop->worker[u].ends, loop->worker[u].listed);
}

/* Tasks taken at a time: before times are known, as many as the unit times together by now. */
static int at_a_time(const evn_loop *loop, const struct worker *w) {
    return loop->task_seconds > 0 || w->together < loop->grain ? loop->grain : w->together;
}

const int *lists_own(const evn_loop *loop, struct worker *w, int *count) {
    int first = 0;
    const int most = loop->steals && !loop->alone.now ? at_a_time(loop, w) : INT_MAX;
    *count = ends_take(&w->ends, most, 0, &first);
    return w->own + first;
}

int lists_left(const evn_loop *loop) {
    for (int u = 0; u < loop->count; u++)
        if (ends_left(&loop->worker[u].ends)) return 1;
    return 0;
}

const int *lists_rest(struct worker *w, int *count) {
    int first = 0;
    *count = ends_take(&w->ends, INT_MAX, 0, &first);
    return w->own + first;
}

/* Whether the thief is done with a task before its owner would be, which has one at hand; alone it
 * does what no owner will come for. */
static int is_worth(const evn_loop *loop, const struct worker *w, const struct worker *owner,
                    int left) {
    return loop->alone.now || (left + 1) * w->speed >= owner->speed;
}

/* Whether its unit cannot be expected to do them soon: it has not begun, or has much to do. */
static int is_late(double each, const struct worker *owner, int left) {
    return left == owner->listed || left * each > LATE;
}

/* The unit whose tasks are to be taken; NULL: none. *left: tasks that are left with any unit. */
static struct worker *find_late(evn_loop *loop, const struct worker *w, int all, int *left) {
    const double s = loop->task_seconds, each = s > 0 || !w->tasks ? s : w->busy / w->tasks;
    struct worker *from = NULL;
    int most = 0;
    *left = 0;
    for (int u = 0; u < loop->count; u++) {
        struct worker *other = &loop->worker[u];
        if (other->devices || other == w) continue;
        const int here = ends_left(&other->ends);
        if (!here || !is_worth(loop, w, other, here)) continue;
        *left += here;
        if (here > most && (all || is_late(each, other, here))) most = here, from = other;
    }
    return from;
}

/* Looks until all are begun, or a unit is late, which may be one that has been interrupted. */
static struct worker *wait_for_late(evn_loop *loop, const struct worker *w) {
    int left;
    struct worker *from = find_late(loop, w, 0, &left);
    if (from || !left) return from;
    const double until = evn_now() + LATE;
    while (!from && left && !atomic_load_explicit(&loop->failed, memory_order_relaxed)) {
        for (int i = 0; i < PAUSES; i++) pause_core();
        from = find_late(loop, w, evn_now() > until, &left);
    }
    return from;
}

const int *lists_steal(evn_loop *loop, struct worker *w, int *count) {
    struct worker *from;
    while ((from = wait_for_late(loop, w))) {
        const int left = ends_left(&from->ends);
        /* take a part of the list, so that others find some */
        const int most = at_a_time(loop, w), part = left / 4 < most ? left / 4 : most;
        int first = 0;
        *count = ends_take(&from->ends, loop->alone.now ? left : part ? part : 1, 1, &first);
        if (*count) return from->own + first;
    }
    return NULL;
}
