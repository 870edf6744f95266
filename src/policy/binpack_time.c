/* binpack by time: the packing of binpack.c, which goes by weights, is the first assignment; from
 * then on costs of tasks and speeds of units are those that times tell (learn.h). Moves that
 * shorten the longest unit, and a packing by the costs learnt, are weighed against each other, and
 * the better one is taken if that pays. The published algorithm packs once, before the run. */
#include "policy/binpack.h"
#include "schedule/capacity.h"
#include "policy/map/choice.h"
#include "policy/map/repair.h"
#include "policy/replan.h"
#include <evener/status.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR                                                                                       \
    0.005 /* part of an instance by which a packing, which moves most tasks, must be shorter */

/* The problem by what was learnt; exchange is free, as binpack has it. */
static evn_problem learnt(const evn_schedule *s) {
    const struct learn *l = ((const struct replan *)s->state)->learn;
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

/* The better of moves and a new packing. */
static int plan(const evn_schedule *s, int *to, evn_schedule **made, double *now, double *then) {
    struct learn *l = ((struct replan *)s->state)->learn;
    const size_t bytes = (size_t)s->problem.tasks * sizeof *to;
    const double left = learn_horizon(l);
    int *other = malloc(bytes);
    (void)made;
    if (!other) return 1;
    if (move(s, to)) memcpy(to, s->owner, bytes);
    *now = learn_makespan(l, s->owner);
    *then = learn_makespan(l, to);
    if (!pack(s, other)) {
        const double packed = learn_makespan(l, other);
        if (packed * (1 + NEAR) * left + learn_seconds_to_move(l, s->owner, other) <
            *then * left + learn_seconds_to_move(l, s->owner, to)) {
            memcpy(to, other, bytes);
            *then = packed;
        }
    }
    free(other);
    return 0;
}

static double least(const evn_schedule *s) {
    return learn_least(((const struct replan *)s->state)->learn);
}

static const struct planner planner = {least, plan};

static evn_status open_by_time(evn_schedule *s, const evn_spec *spec) {
    for (int i = 0; i < spec->options; i++)
        if (strcmp(spec->option[i].key, "time") != 0 || spec->option[i].value)
            return evn_fail(EVN_USAGE,
                            "schedule: binpack:time takes no other option, but \"%s\" was given",
                            spec->option[i].key);
    const evn_status status = replan_open(s, &planner);
    snprintf(s->text, sizeof s->text, "binpack:time");
    return status ? status : binpack_plan(&s->problem, s->owner);
}

const struct policy policy_binpack_time = {
    .name = "binpack",
    .open = open_by_time,
    .learn = replan_learn,
    .weights = replan_weights,
    .change = replan_change,
    .close = replan_close,
};
