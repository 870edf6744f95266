/* guided: units own consecutive tasks, and once per instance each boundary between two units moves
 * towards an equal share of the work (Algorithm 3 of "Multi-GPU Parallelization of the NAS
 * Multi-Zone Parallel Benchmarks"). By size the work of a task is its weight and a unit's share
 * goes by its speed; by time it is what was measured.
 *
 * Two things are as published: a unit whose first task was moved by the unit before it still starts
 * from the work it had, so that a few instances are needed; and the boundaries move only as far as
 * each move brings the unit nearer to its share. By time more is ours: policy/guided_time.c. */
#include "schedule/guided.h"
#include "base/not_linked.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static evn_status no_basis(void) {
    return evn_fail(EVN_USAGE,
                    "schedule: guided needs to know by what, expected guided:size or guided:time");
}

int guided_bounds(const evn_schedule *s) {
    struct guided *state = s->state;
    int t = 0, n = s->problem.tasks;
    for (int u = 0; u < s->problem.units; u++) {
        state->first[u] = t;
        while (t < n && s->owner[t] == u) t++;
        state->last[u] = t - 1;
    }
    return t == n;
}

/* Allocates a state with its arrays and, if by time, memory of a learner, which is not
 * initialised. */
static struct guided *make_state(const evn_schedule *s, int by_time) {
    const size_t units = (size_t)s->problem.units, n = by_time ? (size_t)s->problem.tasks : 0;
    const size_t head = (sizeof(struct guided) + 15) / 16 * 16;
    const size_t learner = by_time ? guided_time.bytes(&s->problem) : 0;
    char *block = malloc(head + learner + units * (sizeof(double) + 2 * sizeof(int)) +
                         n * (sizeof(double) + sizeof(int)));
    if (!block) return NULL;
    struct guided *state = (struct guided *)block;
    *state = (struct guided){.by_time = by_time};
    if (by_time) state->learn = (struct learn *)(block + head);
    state->done = (double *)(block + head + learner);
    state->work = state->done + units;
    state->first = (int *)(state->work + n);
    state->last = state->first + units;
    state->present = state->last + units;
    return state;
}

static evn_status open_guided(evn_schedule *s, const evn_spec *spec) {
    if (spec->options != 1 || spec->option[0].value) return no_basis();
    int by_time = !strcmp(spec->option[0].key, "time");
    if (!by_time && strcmp(spec->option[0].key, "size") != 0) return no_basis();
    if (by_time && !&guided_time)
        return evn_fail(EVN_MISSING, "schedule: \"guided:time\" " NOT_LINKED);
    struct guided *state = make_state(s, by_time);
    if (!state)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d units", s->problem.units);
    s->state = state;
    if (by_time) state->learn = guided_time.begin(state->learn, &s->problem);
    guided_bounds(s);
    snprintf(s->text, sizeof s->text, "guided:%s", by_time ? "time" : "size");
    return EVN_OK;
}

int guided_move(evn_schedule *s, const int *owner, const double *w) {
    struct guided *state = s->state;
    const evn_problem *p = &s->problem;
    const int n = p->tasks, units = p->units;
    double *done = state->done;
    for (int u = 0; u < units; u++) done[u] = 0;
    for (int t = 0; t < n; t++) done[owner[t]] += w[t];
    double total = 0, total_speed = 0;
    for (int u = 0; u < units; u++) {
        total += done[u];
        total_speed += p->speed[u];
    }
    int moved = 0;
    for (int u = 0; u < units - 1; u++) {
        double share = state->by_time ? total / units : total * p->speed[u] / total_speed;
        double work = done[u];
        int l = state->last[u];
        int max =
            n - units + u; /* leaves a task for every unit behind; the paper leaves the last one */
        if (work < share) {
            while (work < share && l < max) {
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
    return moved;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    if (((struct guided *)s->state)->by_time)
        guided_time.learn(s, owner, seconds);
    else
        s->settled = !guided_move(s, owner, s->problem.weight);
}

/* By size the boundaries begin to move again. */
static void weights(evn_schedule *s, const double *before) {
    s->settled = 0;
    if (((struct guided *)s->state)->by_time) guided_time.weights(s, before);
}

/* Boundaries stay beside the same tasks. */
static evn_status change(evn_schedule *s, const struct origins *o) {
    struct guided *was = s->state, *state = make_state(s, was->by_time);
    if (!state)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", s->problem.tasks);
    if (was->by_time) state->learn = guided_time.go_on(s, state->learn, was->learn, o);
    state->keeping = was->keeping;
    free(was);
    s->state = state;
    s->settled = 0;
    policy_consecutive(s->owner, s->problem.tasks, s->problem.units, state->first, s->owner);
    guided_bounds(s);
    if (state->by_time) guided_time.changed(s, o);
    return EVN_OK;
}

/* By time, an imported assignment counts as the result of earlier first moves. */
static evn_status import(evn_schedule *s) {
    if (guided_bounds(s)) {
        struct guided *state = s->state;
        state->keeping = state->by_time;
        return EVN_OK;
    }
    return evn_fail(EVN_USAGE,
                    "schedule: guided needs consecutive tasks in the order of the units, "
                    "and the imported assignment is none of that kind");
}

const struct policy policy_guided = {
    .name = "guided",
    .explanation = "size or time: boundaries between consecutive tasks move towards equal work",
    .open = open_guided,
    .learn = learn,
    .weights = weights,
    .change = change,
    .import = import,
};
