/* An instance of the loop in virtual time, for evn_schedule_simulate() and the model. Drawing units
 * are in a heap by the time when they become free, then by number. */
#include "policy/simulate.h"
#include "base/argument.h"
#include "schedule/policy.h"
#include "schedule/soonest.h"
#include <evener/status.h>
#include <stdlib.h>

void schedule_draw(const evn_schedule *s, const double *busy, int *heap, draw_take *take,
                   void *arg) {
    const int n = s->problem.tasks, units = s->problem.units, chunk = s->chunk;
    for (int t = 0; t < n && !chunk; t++) take(arg, t, s->owner[t]);
    for (int u = 0; u < units; u++) heap[u] = u; /* all are free: in order */
    for (int t = 0; t < n && chunk;) {
        for (int end = t < n - chunk ? t + chunk : n; t < end; t++)
            take(arg, s->order ? s->order[t] : t, heap[0]);
        soonest_sink(heap, units, 0, busy);
    }
}

struct plain {
    const evn_problem *p;
    int *owner;
    double *seconds, *busy;
};

static void take(void *arg, int t, int unit) {
    const struct plain *x = arg;
    x->owner[t] = unit;
    x->seconds[t] = x->p->weight[t] / x->p->speed[unit];
    x->busy[unit] += x->seconds[t];
}

evn_status evn_schedule_simulate(const evn_schedule *s, int *owner, double *seconds) {
    NEED(s, "a schedule");
    NEED(owner && seconds, "where to put the tasks' owners and times");
    const size_t units = (size_t)s->problem.units;
    struct plain x = {&s->problem, owner, seconds, calloc(units, sizeof *x.busy)};
    int *heap = malloc(units * sizeof *heap);
    const int failed = !x.busy || !heap;
    if (!failed) schedule_draw(s, x.busy, heap, take, &x);
    free(x.busy);
    free(heap);
    return failed ? evn_fail(EVN_MEMORY, "schedule: not enough memory for %zu units", units)
                  : EVN_OK;
}
