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

/* As pool_add(), with the units' times alone. */
static struct pool_turn note(struct pool *p, const int *owner, const double *unit_s, int *passed) {
    struct pool_turn turn = {0};
    double total = 0;
    for (int u = 0; u < p->units; u++) total += unit_s[u];
    pool_set_apart(p, 1);
    if (!(total < INFINITY)) total = 0; /* the lesson finds out */
    if (pool_pass(p, total)) {
        turn.lesson = POOL_LAST;
        *passed = pool_end_alone(p);
        return turn;
    }
    if (!pool_count(p, total) || !p->filter) {
        turn.taken = p->summed ? POOL_ADDED : POOL_BEGINS;
        if (!p->summed++) {
            memcpy(p->owner, owner, (size_t)p->tasks * sizeof *owner);
            memset(p->unit_sum, 0, (size_t)p->units * sizeof *p->unit_sum);
        }
        for (int u = 0; u < p->units; u++) p->unit_sum[u] += unit_s[u];
    }
    *passed = pool_end_instance(p, &turn);
    return turn;
}

struct pool_turn lessons_note(evn_schedule *s, const double *unit_s) {
    s->instance++;
    return note(s->pool, s->owner, unit_s, &s->passed);
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
