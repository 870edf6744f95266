/* binpack by time: the packing of binpack.c, which goes by weights, is the first assignment; from
 * then on costs of tasks and speeds of units are those that times tell (learn.h). Moves that
 * shorten the longest unit, and a packing by the costs learnt, are weighed against each other, and
 * the better one is taken if that pays. The published algorithm packs once, before the run. */
#include "schedule/binpack.h"
#include "schedule/capacity.h"
#include "schedule/learn.h"
#include "schedule/map/repair.h"
#include "schedule/map/choice.h"
#include <evener/status.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    struct learn *learn;
};

static struct state *make_state(const evn_problem *p) {
    return malloc(sizeof(struct state) + learn_bytes(p->tasks, p->units, LEARN_WINDOW));
}

static evn_status no_memory(const evn_problem *p) {
    return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
}

static evn_status open_by_time(evn_schedule *s, const evn_spec *spec) {
    for (int i = 0; i < spec->options; i++)
        if (strcmp(spec->option[i].key, "time") != 0 || spec->option[i].value)
            return evn_fail(EVN_USAGE,
                            "schedule: binpack:time takes no other option, but \"%s\" was given",
                            spec->option[i].key);
    struct state *state = make_state(&s->problem);
    if (!state) return no_memory(&s->problem);
    s->state = state;
    state->learn = learn_init(state + 1, &s->problem, LEARN_WINDOW);
    snprintf(s->text, sizeof s->text, "binpack:time");
    return binpack_plan(&s->problem, s->owner);
}

/* The problem by what was learnt; exchange is free, as binpack has it. */
static evn_problem learnt(const evn_schedule *s) {
    const struct learn *l = ((const struct state *)s->state)->learn;
    evn_problem p = s->problem;
    p.weight = learn_cost(l);
    p.speed = learn_speed(l);
    p.bandwidth = 0;
    return p;
}

/* The present owners, and moves from there while the longest unit gets shorter. 1: not enough
 * memory. */
static int move(const evn_schedule *s, int *to) {
    evn_problem p = learnt(s);
    struct map_model m;
    p.route = p.far = NULL;
    if (map_model_open(&m, &p, NULL, NULL)) return 1;
    struct map_repair *r = map_repair_open(&m);
    if (r) {
        map_repair_start(r, s->owner, MAP_BUDGET / 4);
        map_balance(r, m.bound * (1 + MAP_NEAR));
        memcpy(to, map_repair_owner(r), (size_t)p.tasks * sizeof *to);
    }
    map_repair_close(r);
    map_model_close(&m);
    return !r;
}

/* A packing by the costs learnt, if no memory is filled more by it. 1: there is none. */
static int pack(const evn_schedule *s, int *to) {
    const evn_problem p = learnt(s);
    double *used = malloc((size_t)p.units * sizeof *used);
    int failed = !used || binpack_plan(&p, to);
    if (!failed && capacity_given(&p))
        failed = capacity_over(&p, to, used) > capacity_over(&p, s->owner, used);
    free(used);
    return failed;
}

/* Writes the better of moves and a new packing to *to; returns its time. Without memory, the
 * present owners. */
static double improve(evn_schedule *s, int *to, int *other) {
    struct learn *l = ((struct state *)s->state)->learn;
    const size_t bytes = (size_t)s->problem.tasks * sizeof *to;
    const double left = learn_horizon(l);
    if (move(s, to)) memcpy(to, s->owner, bytes);
    const double moved = learn_makespan(l, to);
    if (pack(s, other)) return moved;
    const double packed = learn_makespan(l, other);
    if (packed * left + learn_seconds_to_move(l, s->owner, other) >=
        moved * left + learn_seconds_to_move(l, s->owner, to))
        return moved;
    memcpy(to, other, bytes);
    return packed;
}

/* Takes what is better if it pays, `certainly`: without doubt about times. 1: it did; else *then is
 * what could be had. */
static int renew(evn_schedule *s, int certainly, double now, double *then) {
    struct learn *l = ((struct state *)s->state)->learn;
    const size_t n = (size_t)s->problem.tasks;
    int *to = malloc(2 * n * sizeof *to), better = 0;
    *then = now;
    if (to) {
        *then = improve(s, to, to + n);
        const double price = learn_seconds_to_move(l, s->owner, to);
        better = (certainly ? learn_pays_certainly(l, now, *then, price)
                            : learn_pays(l, now, *then, price)) &&
                 learn_carries(l, now, *then, s->owner, to);
    }
    if (better) memcpy(s->owner, to, n * sizeof *to);
    free(to);
    return better;
}

/* The shortest that any assignment could be. */
static double least(const evn_schedule *s) {
    const struct learn *l = ((const struct state *)s->state)->learn;
    const double *cost = learn_cost(l), *speed = learn_speed(l);
    double heaviest = 0, fastest = 0;
    for (int t = 0; t < s->problem.tasks; t++) heaviest = fmax(heaviest, cost[t]);
    for (int u = 0; u < s->problem.units; u++) fastest = fmax(fastest, speed[u]);
    return fmax(learn_even(l), heaviest / fastest);
}

static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    struct learn *l = ((struct state *)s->state)->learn;
    learn_feed(l, owner, seconds);
    s->settled = learn_ready(l);
    if (!learn_ready(l)) return;
    const double now = learn_makespan(l, s->owner), could = least(s);
    double then;
    if (!learn_asks(l, now, could)) return;
    if (renew(s, 0, now, &then)) {
        learn_moves(l, now, then);
        s->settled = 0;
    } else {
        learn_stays(l, now, could, then);
    }
}

static void weights(evn_schedule *s, const double *before) {
    struct learn *l = ((struct state *)s->state)->learn;
    double then;
    learn_weights(l, before);
    renew(s, 1, learn_makespan(l, s->owner), &then);
}

static evn_status change(evn_schedule *s, const struct origins *o) {
    struct state *was = s->state, *state = make_state(&s->problem);
    double then;
    if (!state) return no_memory(&s->problem);
    state->learn = learn_change(state + 1, &s->problem, was->learn, o, s->owner);
    free(was);
    s->state = state;
    s->settled = 0;
    if (o->renumbers || s->problem.units == 1) return EVN_OK;
    if (!learn_instances(state->learn)) return policy_change_repair(s, o);
    policy_change_fit(s);
    renew(s, 1, learn_makespan(state->learn, s->owner), &then);
    return EVN_OK;
}

static evn_status import(evn_schedule *s) {
    (void)s; /* any assignment can be gone on from */
    return EVN_OK;
}

const struct policy policy_binpack_time = {
    .name = "binpack",
    .open = open_by_time,
    .learn = learn,
    .weights = weights,
    .change = change,
    .import = import,
};
