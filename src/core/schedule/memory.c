/* Memory that is told to an open schedule: the schedule is opened again for the problem with its
 * bytes and capacities, and takes the place of the present one. */
#include "schedule/memory.h"
#include "schedule/capacity.h"
#include "schedule/policy.h"
#include <string.h>

/* evn_schedule.told: capacities, beside bytes of the problem, or both. */
enum { TOLD_CAPACITY = 1, TOLD_BOTH };

/* 1 if some unit has no memory for all tasks. */
static int is_short(const evn_problem *p) {
    double all = 0;
    for (int t = 0; t < p->tasks; t++) all += p->bytes[t];
    for (int u = 0; u < p->units; u++)
        if (capacity_excess(capacity_of(p, u), all) > 0) return 1;
    return 0;
}

/* Exchanges two schedules; their users' pointers stay. */
static void exchange(evn_schedule *a, evn_schedule *b) {
    const evn_schedule former = *a;
    *a = *b;
    *b = former;
}

static int is_same(const evn_problem *a, const evn_problem *b) {
    return !memcmp(a->bytes, b->bytes, (size_t)a->tasks * sizeof *a->bytes) &&
           !memcmp(a->capacity, b->capacity, (size_t)a->units * sizeof *a->capacity);
}

static evn_status keep_imported(evn_schedule *s, const evn_schedule *former) {
    if (!former->imported) return EVN_OK;
    memcpy(s->owner, former->owner, (size_t)s->problem.tasks * sizeof *s->owner);
    s->imported = 1;
    return s->policy->import ? s->policy->import(s) : EVN_OK;
}

evn_status schedule_memory(evn_schedule *s, const double *bytes, const double *capacity) {
    evn_problem p = s->problem;
    evn_schedule *fresh;
    if (s->instance || (p.capacity && !s->told)) return EVN_OK;
    if (!p.bytes || s->told == TOLD_BOTH) p.bytes = bytes;
    p.capacity = capacity;
    if (!is_short(&p) || (s->told && is_same(&s->problem, &p))) return EVN_OK;
    evn_status status = evn_schedule_open(&fresh, s->text, &p);
    if (!status && (status = keep_imported(fresh, s))) evn_schedule_close(fresh);
    if (status) return status;
    fresh->told = p.bytes == bytes ? TOLD_BOTH : TOLD_CAPACITY;
    fresh->stealing = s->stealing;
    fresh->version = s->version + 1;
    exchange(s, fresh);
    evn_schedule_close(fresh);
    return EVN_OK;
}
