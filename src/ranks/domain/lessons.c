/* Learning over ranks. */
#include "domain/lessons.h"
#include "schedule/policy.h"
#include "schedule/pool_state.h"
#include <math.h>
#include <string.h>

int lessons_suffice(const evn_schedule *s) { return s->policy->pools || s->policy->still; }

evn_status lessons_open(evn_schedule *s) {
    const evn_problem *p = &s->problem;
    if (!s->pool) s->pool = pool_open(p->tasks, p->units, p->instances);
    return s->pool ? EVN_OK : evn_fail(EVN_MEMORY, "schedule: no memory for %d tasks", p->tasks);
}

struct pool_turn lessons_note(evn_schedule *s, const double *unit_s) {
    struct pool *p = s->pool;
    s->instance++;
    pool_set_apart(p, 1);
    memcpy(p->unit_now, unit_s, (size_t)p->units * sizeof *unit_s);
    return pool_note(p, s->owner, 1, &s->passed);
}

evn_status lessons_learn(evn_schedule *s, const int *owner, const double *seconds) {
    double total;
    evn_status status = schedule_check_times(s, owner, seconds, &total);
    if (!status && !s->policy->still) schedule_give_lesson(s, owner, seconds);
    return status;
}

void lessons_forget(evn_schedule *s) {
    if (s->pool && s->pool->apart) pool_forget(s->pool);
}
