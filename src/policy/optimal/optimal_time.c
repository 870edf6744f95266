/* optimal by time: the plan of optimal.c, which goes by weights, is the first assignment. From then
 * on costs of tasks and speeds of units are those that times tell (learn.h): the same program is
 * solved for these once they are known, and again when they have changed so that another plan may
 * pay, under the same limit each time. */
#include "policy/optimal/optimal_time.h"
#include "schedule/capacity.h"
#include "policy/known.h"
#include "policy/map/choice.h"
#include "policy/replan.h"
#include <evener/status.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The specification without `time`. */
static evn_status by_weight(const evn_spec *spec, char *text, size_t size) {
    size_t at = (size_t)snprintf(text, size, "%s", spec->name), options = 0;
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        if (!strcmp(o->key, "time") && o->value)
            return evn_fail(EVN_USAGE, "schedule: optimal:time=%s, expected time without a value",
                            o->value);
        if (!strcmp(o->key, "time") || at >= size) continue;
        at += (size_t)snprintf(text + at, size - at, "%c%s%s%s", options++ ? ',' : ':', o->key,
                               o->value ? "=" : "", o->value ? o->value : "");
    }
    if (at < size) return EVN_OK;
    return evn_fail(EVN_USAGE, "schedule: the options of optimal:time are too long");
}

/* Moves from the plan, which is within its gap, as long as the longest unit gets shorter. */
static void polish(evn_schedule *plan, const struct map_model *m) {
    struct map_repair *r = map_repair_open(m);
    if (!r) return;
    map_repair_start(r, plan->owner, MAP_BUDGET / 4);
    map_balance(r, m->bound * (1 + MAP_NEAR));
    memcpy(plan->owner, map_repair_owner(r), (size_t)m->tasks * sizeof *plan->owner);
    map_repair_close(r);
    plan->policy->import(plan); /* its proof is of the present owners */
}

/* A plan by what was learnt, whose times are those of the model. */
static int plan(const evn_schedule *s, int *to, evn_schedule **made, double *now, double *then) {
    const struct replan *state = s->state;
    struct known known;
    struct map_model m;
    double *scratch = malloc((size_t)s->problem.units * sizeof *scratch);
    int failed = known_open(&known, &s->problem, state->learn) || !scratch;
    known.p.weight = learn_cost(state->learn);
    known.p.speed = learn_speed(state->learn);
    failed = failed || map_model_open(&m, &known.p, NULL, NULL);
    if (!failed && !evn_schedule_open(made, evn_schedule_text(state->plan), &known.p)) {
        polish(*made, &m);
        memcpy(to, evn_schedule_owner(*made), (size_t)s->problem.tasks * sizeof *to);
        *now = map_score(&m, s->owner, scratch).makespan * m.time_unit;
        *then = map_score(&m, to, scratch).makespan * m.time_unit;
        if (capacity_given(&known.p) &&
            capacity_over(&known.p, to, scratch) > capacity_over(&known.p, s->owner, scratch))
            *then = INFINITY;
    }
    if (!failed) map_model_close(&m);
    known_close(&known);
    free(scratch);
    return !*made;
}

static double least(const evn_schedule *s) {
    return learn_even(((const struct replan *)s->state)->learn);
}

static const struct planner planner = {least, plan};

static evn_status open_by_time(evn_schedule *s, const evn_spec *spec) {
    const evn_problem *p = &s->problem;
    char text[sizeof s->text];
    evn_schedule *first;
    evn_status status = by_weight(spec, text, sizeof text);
    if (!status) status = evn_schedule_open(&first, text, p);
    if (status) return status;
    memcpy(s->owner, evn_schedule_owner(first), (size_t)p->tasks * sizeof *s->owner);
    snprintf(s->text, sizeof s->text, "optimal:time,%s",
             evn_schedule_text(first) + sizeof "optimal:" - 1);
    status = replan_open(s, &planner);
    if (status)
        evn_schedule_close(first);
    else
        ((struct replan *)s->state)->plan = first;
    return status;
}

static void explain(const evn_schedule *s, FILE *out) {
    const struct replan *state = s->state;
    const evn_schedule *last = state->plan;
    if (last->problem.tasks != s->problem.tasks ||
        memcmp(last->owner, s->owner, (size_t)s->problem.tasks * sizeof *s->owner) != 0) {
        fputs("the assignment is not the plan's\n", out);
        return;
    }
    if (learn_instances(state->learn)) fputs("by the times learnt, s: ", out);
    last->policy->explain(last, out);
}

const struct policy policy_optimal_time = {
    .name = "optimal",
    .open = open_by_time,
    .learn = replan_learn,
    .weights = replan_weights,
    .change = replan_change,
    .close = replan_close,
    .explain = explain,
};
