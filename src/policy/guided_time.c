/* guided:time: boundaries move by measured times. Four things differ from the published algorithm,
 * since measured times are never the same twice and it would move data to and fro for ever. The
 * times are those that were learnt (learn.h), so that a spike moves nothing. The boundaries move
 * once per instance until they stand still, or for a few instances; then they are kept. When moving
 * again pays, as when units or tasks have changed, the boundaries are those of the shortest
 * assignment of consecutive tasks by the times learnt. And they are so from the first instance on
 * with more units than a few: each published move corrects what its own unit has too much and
 * leaves that to the next unit, so that errors go from unit to unit, one in each instance, and add
 * up where speeds are unequal. */
#include "schedule/guided.h"
#include "policy/consecutive.h"
#include "policy/learn.h"
#include <math.h>
#include <string.h>

enum {
    FIRST_MOVES = 4, /* instances after which the boundaries move as published */
    FEW_UNITS = 8,   /* most units with which they do */
};

static size_t learner_bytes(const evn_problem *p) {
    return learn_bytes(p->tasks, p->units, LEARN_WINDOW);
}

static struct learn *begin(void *block, const evn_problem *p) {
    return learn_init(block, p, LEARN_WINDOW);
}

/* Time of each task on its `owner`. */
static const double *times(struct guided *state, const evn_problem *p, const int *owner) {
    const double *cost = learn_cost(state->learn), *speed = learn_speed(state->learn);
    for (int t = 0; t < p->tasks; t++)
        state->work[t] = fmin(cost[t] / speed[owner[t]], 1e300 / p->tasks);
    return state->work;
}

/* Certainty of another assignment's gain. */
enum sure { NOTHING, TIMES, TASKS /* the tasks have changed, and states travel in any case */ };

/* Takes the shortest of all boundaries by learnt times if that pays. 1: taken. *then: their time;
 * without memory, that of the present ones. */
static int cut(evn_schedule *s, enum sure of, double now, double *then) {
    struct guided *state = s->state;
    struct learn *l = state->learn;
    const evn_problem *p = &s->problem;
    const size_t bytes = (size_t)p->tasks * sizeof *state->present;
    memcpy(state->present, s->owner, bytes);
    consecutive_shortest(p->tasks, p->units, learn_cost(l), learn_speed(l), s->owner);
    *then = learn_makespan(l, s->owner);
    const double price = learn_seconds_to_move(l, state->present, s->owner);
    const int pays =
        (of ? learn_pays_certainly(l, now, *then, price) : learn_pays(l, now, *then, price)) &&
        (of == TASKS || learn_carries(l, now, *then, state->present, s->owner));
    if (!pays) memcpy(s->owner, state->present, bytes);
    guided_bounds(s);
    return pays;
}

/* After the first moves: moves boundaries only if that pays. */
static void keep(evn_schedule *s) {
    struct learn *l = ((struct guided *)s->state)->learn;
    s->settled = 1;
    const double now = learn_makespan(l, s->owner), even = learn_even(l);
    double then;
    if (!learn_ready(l) || !learn_asks(l, now, even)) return;
    if (cut(s, NOTHING, now, &then)) {
        learn_moves(l, now, then);
        s->settled = 0;
    } else {
        learn_stays(l, now, even, then);
    }
}

/* Returns to `owner` if a first move would carry states to other spaces and that does not pay. */
static int stays(evn_schedule *s, const int *owner) {
    struct learn *l = ((struct guided *)s->state)->learn;
    if (!(learn_seconds_to_carry(l, owner, s->owner) > 0) ||
        learn_carries(l, learn_makespan(l, owner), learn_makespan(l, s->owner), owner, s->owner))
        return 0;
    memcpy(s->owner, owner, (size_t)s->problem.tasks * sizeof *owner);
    guided_bounds(s);
    return 1;
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    struct guided *state = s->state;
    const evn_problem *p = &s->problem;
    struct learn *l = state->learn;
    if (learn_feed(l, owner, seconds)) return;
    if (!state->keeping && p->units > FEW_UNITS) {
        double then;
        /* after one instance only its own times are known; later ones show scatter */
        cut(s, learn_instances(l) == 1 ? TIMES : NOTHING, learn_makespan(l, s->owner), &then);
        state->keeping = learn_ready(l);
        return;
    }
    if (!state->keeping) {
        const int moved = guided_move(s, owner, times(state, p, owner)) && !stays(s, owner);
        state->keeping = !moved || learn_instances(l) >= FIRST_MOVES;
        if (moved) return;
    }
    keep(s);
}

/* The first moves go on; after them other boundaries must pay. */
static void weights(evn_schedule *s, const double *before) {
    struct guided *state = s->state;
    learn_weights(state->learn, before);
    if (state->keeping) keep(s);
}

static struct learn *go_on(evn_schedule *s, struct learn *block, struct learn *was,
                           const struct origins *o) {
    return learn_change(block, &s->problem, was, o, s->owner);
}

/* Takes the shortest boundaries if they pay, without doubt, since the tasks have changed. */
static void changed(evn_schedule *s, const struct origins *o) {
    struct guided *state = s->state;
    double then;
    if (!learn_instances(state->learn) || o->renumbers) return;
    cut(s, TASKS, learn_makespan(state->learn, s->owner), &then);
}

const struct guided_time guided_time = {learner_bytes, begin, learn, weights, go_on, changed};
