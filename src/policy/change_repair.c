/* Other tasks for policies that keep inherited owners as far as these are near even. */
#include "schedule/capacity.h"
#include "policy/map/choice.h"
#include "schedule/policy.h"
#include <stdlib.h>
#include <string.h>

void policy_change_fit(evn_schedule *s) {
    const evn_problem *p = &s->problem;
    double over = 0, *used = malloc((size_t)p->units * sizeof *used);
    int least;
    if (used && capacity_given(p) && capacity_over(p, s->owner, used) > 0)
        capacity_fit(p, s->owner, &over, &least);
    free(used);
}

/* Moves tasks while that makes the longest unit shorter; without memory for it owners stay. */
evn_status policy_change_repair(evn_schedule *s, const struct origins *o) {
    const evn_problem *p = &s->problem;
    struct map_model m;
    policy_change_fit(s);
    s->ratio = 0;
    if (p->units == 1 || o->renumbers || map_model_open(&m, p, NULL, NULL)) return EVN_OK;
    struct map_repair *r = map_repair_open(&m);
    int far = 0; /* 1: too uneven for a repair, as where one task has become a thousand */
    if (r) {
        map_repair_start(r, s->owner, MAP_BUDGET / 4);
        map_balance(r, m.bound);
        far = map_repair_left(r) <= 0;
        memcpy(s->owner, map_repair_owner(r), (size_t)p->tasks * sizeof *s->owner);
    }
    map_repair_close(r);
    map_model_close(&m);
    return far ? policy_change_anew(s, o) : EVN_OK;
}
