/* guided: units own consecutive tasks, and once per instance each boundary between two units moves
 * towards an equal share of the work (Algorithm 3 of "Multi-GPU Parallelization of the NAS
 * Multi-Zone Parallel Benchmarks"). By size the work of a task is its weight and a unit's share
 * goes by its speed; by time it is what was measured.
 *
 * Two things are as published: a unit whose first task was moved by the unit before it still starts
 * from the work it had, so that a few instances are needed; and the boundaries move only as far as
 * each move brings the unit nearer to its share.
 *
 * By time, three things are ours, as measured times are never the same twice and the published
 * algorithm would move data to and fro for ever. The times are those that were learnt (learn.h), so
 * that a spike moves nothing. The boundaries move once per instance until they stand still, or for
 * as many instances as they could need; then they are kept. And when the units or the tasks have
 * changed so much that moving again pays for certain, all moves are made at once, on the times
 * learnt. */
#include <evener/status.h>
#include "schedule/learn.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_MOVES = 5, /* first moves: so many instances, and one for each unit */
    ROUNDS = 24,     /* rounds of moves that are made at once */
};

struct state {
    int by_time;
    int keeping;         /* by time: 1 once the first moves are over */
    int *first, *last;   /* first and last task of each unit; first > last: it has none */
    double *done;        /* work of each unit in the last instance */
    double *work;        /* by time: work of each task */
    int *present, *best; /* owners now, and of the best assignment */
    struct learn *learn; /* by time: its learner */
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

/* A state with its arrays, and a learner if by time, of which only the memory is there. */
static struct state *make_state(const evn_schedule *s, int by_time) {
    const size_t units = (size_t)s->problem.units, n = by_time ? (size_t)s->problem.tasks : 0;
    const size_t head = (sizeof(struct state) + 15) / 16 * 16;
    const size_t learner =
        by_time ? learn_bytes(s->problem.tasks, s->problem.units, LEARN_WINDOW) : 0;
    char *block = malloc(head + learner + (units + n) * (sizeof(double) + 2 * sizeof(int)));
    if (!block) return NULL;
    struct state *state = (struct state *)block;
    *state = (struct state){.by_time = by_time};
    if (by_time) state->learn = (struct learn *)(block + head);
    state->done = (double *)(block + head + learner);
    state->work = state->done + units;
    state->first = (int *)(state->work + n);
    state->last = state->first + units;
    state->present = state->last + units;
    state->best = state->present + n;
    return state;
}

static evn_status open_guided(evn_schedule *s, const evn_spec *spec) {
    if (spec->options != 1 || spec->option[0].value) return no_basis();
    int by_time = !strcmp(spec->option[0].key, "time");
    if (!by_time && strcmp(spec->option[0].key, "size") != 0) return no_basis();
    struct state *state = make_state(s, by_time);
    if (!state)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d units", s->problem.units);
    s->state = state;
    if (by_time) state->learn = learn_init(state->learn, &s->problem, LEARN_WINDOW);
    bounds(s);
    snprintf(s->text, sizeof s->text, "guided:%s", by_time ? "time" : "size");
    return EVN_OK;
}

/* The algorithm once, from the work w of the tasks and what `owner` had of it, to s->owner. Returns
 * whether a boundary moved. */
static int move(evn_schedule *s, const int *owner, const double *w) {
    struct state *state = s->state;
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

/* Time of each task on its `owner`. */
static const double *times(struct state *state, const evn_problem *p, const int *owner) {
    const double *cost = learn_cost(state->learn), *speed = learn_speed(state->learn);
    for (int t = 0; t < p->tasks; t++)
        state->work[t] = fmin(cost[t] / speed[owner[t]], 1e300 / p->tasks);
    return state->work;
}

/* Boundaries where the running sum of the costs passes each unit's share of it. */
static void cut_evenly(evn_schedule *s) {
    const struct state *state = s->state;
    const evn_problem *p = &s->problem;
    const double *cost = learn_cost(state->learn), *speed = learn_speed(state->learn);
    const double even = learn_even(state->learn);
    double sum = 0, share = even * speed[0];
    for (int t = 0, u = 0; t < p->tasks; t++) {
        /* a task is on the side where most of it is; every unit gets one, if there are as many */
        const int least = t - (p->tasks - p->units);
        if (t && u < p->units - 1 && (sum + cost[t] / 2 > share || u < least))
            share += even * speed[++u];
        s->owner[t] = u;
        sum += cost[t];
    }
}

/* All the moves at once on the times learnt, from s->owner and from even shares, as the algorithm
 * can stand still far from those; s->owner is left at the best that they came by. Returns its time.
 */
static double move_on(evn_schedule *s) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    const size_t bytes = (size_t)p->tasks * sizeof *state->best;
    double least = INFINITY;
    for (int from_even = 0; from_even < 2; from_even++) {
        if (from_even) cut_evenly(s);
        bounds(s);
        for (int i = 0; i < ROUNDS; i++) {
            const double time = learn_makespan(state->learn, s->owner);
            if (time < least) {
                least = time;
                memcpy(state->best, s->owner, bytes);
            }
            if (!move(s, s->owner, times(state, p, s->owner))) break;
        }
    }
    memcpy(s->owner, state->best, bytes);
    bounds(s);
    return least;
}

/* Once the first moves are over: moves only if that pays. */
static void keep(evn_schedule *s) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    const size_t bytes = (size_t)p->tasks * sizeof *state->present;
    struct learn *l = state->learn;
    s->settled = 1;
    const double now = learn_makespan(l, s->owner), even = learn_even(l);
    if (!learn_ready(l) || !learn_asks(l, now, even)) return;
    memcpy(state->present, s->owner, bytes);
    const double then = move_on(s);
    if (learn_pays(l, now, then, learn_seconds_to_move(l, state->present, s->owner)) &&
        learn_carries(l, now, then, state->present, s->owner)) {
        learn_moves(l, now, then);
        s->settled = 0;
    } else {
        memcpy(s->owner, state->present, bytes);
        bounds(s);
        learn_stays(l, now, even, then);
    }
}

/* Back to `owner` if a first move would carry states to other spaces and that does not pay. */
static int stays(evn_schedule *s, const int *owner) {
    struct learn *l = ((struct state *)s->state)->learn;
    if (!(learn_seconds_to_carry(l, owner, s->owner) > 0) ||
        learn_carries(l, learn_makespan(l, owner), learn_makespan(l, s->owner), owner, s->owner))
        return 0;
    memcpy(s->owner, owner, (size_t)s->problem.tasks * sizeof *owner);
    bounds(s);
    return 1;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    struct state *state = s->state;
    const evn_problem *p = &s->problem;
    if (!state->by_time) {
        s->settled = !move(s, owner, p->weight);
        return;
    }
    learn_feed(state->learn, owner, seconds);
    if (!state->keeping) {
        const int moved = move(s, owner, times(state, p, owner)) && !stays(s, owner);
        state->keeping = !moved || learn_instances(state->learn) >= FIRST_MOVES + p->units;
        if (moved) return;
    }
    keep(s);
}

/* By size the boundaries begin to move again. By time the first moves go on; after them other
 * boundaries must pay. */
static void weights(evn_schedule *s, const double *before) {
    struct state *state = s->state;
    s->settled = 0;
    if (!state->by_time) return;
    learn_weights(state->learn, before);
    if (state->keeping) keep(s);
}

/* Boundaries stay beside the same tasks. By time all moves are made at once on the times learnt, as
 * that the tasks are others is certain. */
static evn_status change(evn_schedule *s, const struct origins *o) {
    struct state *was = s->state, *state = make_state(s, was->by_time);
    if (!state)
        return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", s->problem.tasks);
    const size_t bytes = (size_t)s->problem.tasks * sizeof *s->owner;
    if (was->by_time)
        state->learn = learn_change(state->learn, &s->problem, was->learn, o, s->owner);
    state->keeping = was->keeping;
    free(was);
    s->state = state;
    s->settled = 0;
    policy_consecutive(s->owner, s->problem.tasks, s->problem.units, state->first, s->owner);
    bounds(s);
    if (!state->by_time || !learn_instances(state->learn) || o->renumbers) return EVN_OK;
    memcpy(state->present, s->owner, bytes);
    const double now = learn_makespan(state->learn, s->owner), then = move_on(s);
    if (learn_pays_certainly(state->learn, now, then,
                             learn_seconds_to_move(state->learn, state->present, s->owner)))
        return EVN_OK;
    memcpy(s->owner, state->present, bytes);
    bounds(s);
    return EVN_OK;
}

/* By time, an imported assignment counts as the result of earlier first moves. */
static evn_status import(evn_schedule *s) {
    if (bounds(s)) {
        struct state *state = s->state;
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
