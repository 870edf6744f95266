/* Begins of pieces. */
#include "mg/slabs/pieces.h"
#include "common/run/huge_alloc.h"
#include "mg/grid.h"
#include "mg/slabs/sweep.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

evn_status pieces_open(struct pieces *p, int tasks) {
    *p = (struct pieces){.tasks = tasks};
    p->first = calloc((size_t)tasks, 1);
    p->aside = calloc((size_t)tasks, sizeof *p->aside);
    return p->first && p->aside ? EVN_OK : evn_fail(EVN_MEMORY, "mg: not enough memory");
}

void pieces_close(struct pieces *p) {
    free_all(p->first, p->aside, p->planes);
    memset(p, 0, sizeof *p);
}

/* The tasks of a unit from t on, that lie together. */
static int together(const int *owner, int t, int tasks) {
    int end = t + 1;
    while (end < tasks && owner[end] == owner[t]) end++;
    return end - t;
}

/* Cuts what a unit has together into parts as equal as can be, none larger than its tasks over its
 * cores. */
static void cut(struct pieces *p, int begin, int count, int share) {
    const int parts = (count + share - 1) / share;
    for (int i = 0; i < parts; i++) p->first[begin + (int)((long)count * i / parts)] = 1;
}

static int cores_of(const evn_loop *loop, int unit) {
    evn_unit *u = evn_units_get(evn_loop_about(loop).units, unit - evn_loop_about(loop).first_unit);
    return u ? evn_unit_cores(u) : 1;
}

static int tasks_of(const int *owner, int tasks, int unit) {
    int count = 0;
    for (int t = 0; t < tasks; t++) count += owner[t] == unit;
    return count;
}

static evn_status make_planes(struct pieces *p, size_t plane) {
    if (p->count <= p->room) return EVN_OK;
    free(p->planes);
    p->planes = room((size_t)p->count * SWEEP_ASIDE * plane * sizeof(double));
    p->room = p->planes ? p->count : 0;
    return p->planes
               ? EVN_OK
               : evn_fail(EVN_MEMORY, "mg: no memory for the ghost planes of %d pieces", p->count);
}

evn_status pieces_plan(struct pieces *p, const evn_loop *loop, size_t plane) {
    int draws;
    const int *owner = evn_loop_next(loop, &draws);
    memset(p->first, draws ? 1 : 0, (size_t)p->tasks);
    for (int t = 0; !draws && t < p->tasks;) {
        const int count = together(owner, t, p->tasks), cores = cores_of(loop, owner[t]);
        cut(p, t, count, (tasks_of(owner, p->tasks, owner[t]) + cores - 1) / cores);
        t += count;
    }
    p->count = 0;
    for (int t = 0; t < p->tasks; t++) {
        p->count += p->first[t];
        p->aside[t] = p->count - 1;
    }
    return make_planes(p, plane);
}

int pieces_of(const struct pieces *p, const int *task, int count, int *begin, int *end) {
    int pieces = 0;
    for (int i = 0; i < count; i++) {
        const int follows = i && task[i] == task[i - 1] + 1 && !p->first[task[i]];
        if (!follows) begin[pieces++] = task[i];
        end[pieces - 1] = task[i] + 1;
    }
    return pieces;
}
