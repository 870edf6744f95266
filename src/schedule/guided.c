/* guided: units own consecutive tasks, and once per instance each boundary between two units moves
 * towards an equal share of the work (Algorithm 3 of "Multi-GPU Parallelization of the NAS
 * Multi-Zone Parallel Benchmarks"). By size the work of a task is its weight and a unit's share
 * goes by its speed; by time it is what was measured.
 *
 * Two things are as published: a unit whose first task was moved by the unit before it still starts
 * from the work it had, so that a few instances are needed; and the boundaries move only as far as
 * each move brings the unit nearer to its share.
 */
#include <evener/status.h>
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    int by_time;
    int *first, *last; /* of each unit; first > last: it has nothing */
    double *done;      /* work of each unit in the last instance */
};

static evn_status no_basis(void) {
    return evn_fail(EVN_USAGE,
                    "schedule: guided needs to know by what, expected guided:size or guided:time");
}

/* Reads first and last out of the owners; 0 if the tasks of a unit are not consecutive in unit
 * order. */
static int bounds(const evn_schedule *s) {
    struct state *state = s->state;
    int t = 0, n = s->problem.tasks;
    for (int u = 0; u < s->problem.units; u++) {
        state->first[u] = t;
        while (t < n && s->owner[t] == u) t++;
        state->last[u] = t - 1;
    }
    return t == n;
}

static evn_status open_guided(evn_schedule *s, const evn_spec *spec) {
    if (spec->options != 1 || spec->option[0].value) return no_basis();
    int by_time = !strcmp(spec->option[0].key, "time");
    if (!by_time && strcmp(spec->option[0].key, "size") != 0) return no_basis();
    size_t units = (size_t)s->problem.units;
    struct state *state = malloc(sizeof *state + units * (sizeof(double) + 2 * sizeof(int)));
    if (!state) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %zu units", units);
    s->state = state;
    state->by_time = by_time;
    state->done = (double *)(state + 1);
    state->first = (int *)(state->done + units);
    state->last = state->first + units;
    bounds(s);
    snprintf(s->text, sizeof s->text, "guided:%s", by_time ? "time" : "size");
    return EVN_OK;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    const int n = p->tasks, units = p->units;
    const double *w = state->by_time ? seconds : p->weight;
    double *done = state->done;
    for (int u = 0; u < units; u++) done[u] = 0;
    for (int t = 0; t < n; t++) done[owner[t]] += w[t];
    double total = 0, strength = 0;
    for (int u = 0; u < units; u++) {
        total += done[u];
        strength += p->speed[u];
    }
    int moved = 0;
    for (int u = 0; u < units - 1; u++) {
        double share = state->by_time ? total / units : total * p->speed[u] / strength;
        double work = done[u];
        int l = state->last[u];
        int most =
            n - units + u; /* leaves a task for every unit behind; the paper leaves the last one */
        if (work < share) {
            while (work < share && l < most) {
                if (!(fabs(share - (work + w[l + 1])) < share - work)) break;
                work += w[++l];
            }
        } else if (work > share) {
            while (work > share && l > state->first[u]) {
                if (!(fabs(share - (work - w[l])) < fabs(share - work))) break;
                work -= w[l--];
            }
        }
        moved |= l != state->last[u];
        state->last[u] = l;
        state->first[u + 1] = l + 1;
        if (state->first[u + 1] > state->last[u + 1]) state->last[u + 1] = state->first[u + 1];
    }
    /* with few tasks the moves above can push units beyond the last task: those own nothing */
    int t = 0;
    for (int u = 0; u < units; u++) {
        int end = u == units - 1 || state->last[u] > n - 1 ? n - 1 : state->last[u];
        state->first[u] = t;
        while (t <= end) s->owner[t++] = u;
        state->last[u] = t - 1;
    }
    s->settled = !moved && !state->by_time;
}

static evn_status import(evn_schedule *s) {
    if (bounds(s)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "schedule: guided needs consecutive tasks in the order of the units, "
                    "and the imported assignment is none of that kind");
}

const struct policy policy_guided = {
    .name = "guided",
    .explanation = "size or time: boundaries between consecutive tasks move towards equal work",
    .open = open_guided,
    .learn = learn,
    .import = import,
};
