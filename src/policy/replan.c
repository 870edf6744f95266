/* When a planner plans again, and whether its plan is taken. */
#include "policy/replan.h"
#include <evener/status.h>
#include <stdlib.h>
#include <string.h>

static struct replan *make_state(const evn_problem *p) {
    struct replan *state = malloc(sizeof *state + learn_bytes(p->tasks, p->units, LEARN_WINDOW));
    if (!state) evn_fail(EVN_MEMORY, "schedule: not enough memory for %d tasks", p->tasks);
    return state;
}

evn_status replan_open(evn_schedule *s, const struct planner *planner) {
    struct replan *state = make_state(&s->problem);
    if (!state) return EVN_MEMORY;
    *state = (struct replan){planner, learn_init(state + 1, &s->problem, LEARN_WINDOW), NULL};
    s->state = state;
    return EVN_OK;
}

void replan_close(evn_schedule *s) { evn_schedule_close(((struct replan *)s->state)->plan); }

/* Takes another plan if it pays, `certainly`: without doubt about times. 1: it did; *then is what
 * could be had, if there is a plan. */
static int renew(evn_schedule *s, int certainly, double *then) {
    struct replan *state = s->state;
    struct learn *l = state->learn;
    const size_t bytes = (size_t)s->problem.tasks * sizeof *s->owner;
    int *to = malloc(bytes), better = 0;
    evn_schedule *plan = NULL, *left;
    double now;
    if (to && !state->planner->plan(s, to, &plan, &now, then)) {
        const double price = learn_seconds_to_move(l, s->owner, to);
        better = (certainly ? learn_pays_certainly(l, now, *then, price)
                            : learn_pays(l, now, *then, price)) &&
                 learn_carries(l, now, *then, s->owner, to);
    }
    if (better) memcpy(s->owner, to, bytes);
    left = better ? state->plan : plan;
    if (better) state->plan = plan;
    evn_schedule_close(left);
    free(to);
    return better;
}

void replan_learn(evn_schedule *s, const int *owner, const double *seconds) {
    const struct replan *state = s->state;
    struct learn *l = state->learn;
    if (learn_feed(l, owner, seconds)) return;
    s->settled = learn_ready(l);
    if (!learn_ready(l)) return;
    const double now = learn_makespan(l, s->owner), could = state->planner->least(s);
    double then = now;
    if (!learn_asks(l, now, could)) return;
    if (renew(s, 0, &then)) {
        learn_moves(l, now, learn_makespan(l, s->owner));
        s->settled = 0;
    } else {
        learn_stays(l, now, could, then);
    }
}

void replan_weights(evn_schedule *s, const double *before) {
    double then;
    learn_weights(((struct replan *)s->state)->learn, before);
    renew(s, 1, &then);
}

/* From inherited owners to another plan if it pays; before the first instance as schedules by
 * weight do. */
evn_status replan_change(evn_schedule *s, const struct origins *o) {
    struct replan *was = s->state, *state = make_state(&s->problem);
    double then;
    if (!state) return EVN_MEMORY;
    *state = *was;
    state->learn = learn_change(state + 1, &s->problem, was->learn, o, s->owner);
    free(was);
    s->state = state;
    s->settled = 0;
    if (o->renumbers || s->problem.units == 1) return EVN_OK;
    if (!learn_instances(state->learn)) return policy_change_repair(s, o);
    policy_change_fit(s);
    renew(s, 1, &then);
    return EVN_OK;
}
