/* Other weights for a schedule that has learnt: schedule_weights(). The seconds that a weight
 * takes are kept; each policy says itself what becomes of its assignment. */
#include <evener/status.h>
#include "base/argument.h"
#include "schedule/policy.h"
#include "schedule/pool.h"
#include "schedule/problem.h"
#include "schedule/weigh.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORSE 1.02 /* ratio by which an assignment must get worse before another one is made */

static int is_new(const evn_schedule *s, const double *weight) {
    int changed = 0;
    if (weight)
        return memcmp(s->problem.weight, weight, (size_t)s->problem.tasks * sizeof *weight) != 0;
    for (int t = 0; t < s->problem.tasks; t++) changed |= s->problem.weight[t] != 1;
    return changed;
}

evn_status schedule_weigh_open(double **before, const evn_schedule *s, const double *weight) {
    const size_t n = (size_t)s->problem.tasks;
    *before = NULL;
    evn_status status = problem_check_weights(weight, s->problem.tasks);
    if (status || !is_new(s, weight)) return status;
    *before = malloc(n * sizeof **before);
    if (!*before) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %zu weights", n);
    memcpy(*before, s->problem.weight, n * sizeof **before);
    return EVN_OK;
}

void schedule_weigh(evn_schedule *s, const double *weight, const double *before) {
    if (!before) return;
    /* written in place, since others point to the problem's array */
    double *held = (double *)s->problem.weight;
    for (int t = 0; t < s->problem.tasks; t++) held[t] = weight ? weight[t] : 1;
    if (s->pool) pool_weights(s->pool, before, held);
    if (!s->policy->weights || s->problem.units == 1) return;
    s->version++;
    s->policy->weights(s, before);
}

evn_status schedule_weights(evn_schedule *s, const double *weight) {
    double *before;
    evn_status status = schedule_weigh_open(&before, s, weight);
    if (!status) schedule_weigh(s, weight, before);
    free(before);
    return status;
}

/* The longest unit by weight, over the larger of an even share and the heaviest task alone. */
static double ratio_of(const evn_problem *p, const int *owner, double *load) {
    double all = 0, speeds = 0, fastest = 0, heaviest = 0, longest = 0;
    memset(load, 0, (size_t)p->units * sizeof *load);
    for (int t = 0; t < p->tasks; t++) {
        load[owner[t]] += p->weight[t];
        all += p->weight[t];
        heaviest = fmax(heaviest, p->weight[t]);
    }
    for (int u = 0; u < p->units; u++) {
        longest = fmax(longest, load[u] / p->speed[u]);
        speeds += p->speed[u];
        fastest = fmax(fastest, p->speed[u]);
    }
    const double least = fmax(all / speeds, heaviest / fastest);
    return least > 0 && least < INFINITY ? longest / least : 1;
}

/* Plans again; without memory the assignment stays. */
int policy_plan_anew(evn_schedule *s) {
    evn_schedule *fresh = NULL;
    double *load = malloc((size_t)s->problem.units * sizeof *load);
    const double now = load ? ratio_of(&s->problem, s->owner, load) : 0;
    int better = 0;
    if (now > WORSE * fmax(s->ratio, 1) && !evn_schedule_open(&fresh, s->text, &s->problem)) {
        const double then = ratio_of(&s->problem, fresh->owner, load);
        better = then * WORSE < now;
        s->ratio = better ? then : now; /* no other search until it is worse than this */
    }
    if (now > 0 && now < s->ratio) s->ratio = now;
    if (better) {
        int *owner = s->owner;
        void *state = s->state;
        s->owner = fresh->owner;
        s->state = fresh->state;
        fresh->owner = owner;
        fresh->state = state;
    }
    evn_schedule_close(fresh);
    free(load);
    return better;
}

void policy_weights_plan(evn_schedule *s, const double *before) {
    (void)before;
    policy_plan_anew(s);
}
