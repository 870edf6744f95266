/* Origins of tasks: checks of a change, and its summary. */
#include "schedule/origins.h"
#include "base/argument.h"
#include <math.h>
#include <stdlib.h>

/* Checks the whole of `first` before `from`, whose length a valid `first` tells. */
static evn_status check_first(const evn_change *c, const char *room) {
    if (!c->first) return EVN_OK;
    if (c->first[0] < 0)
        return evn_fail(EVN_USAGE, "%s: the origins of task 0 begin at %d, expected 0 or more",
                        room, c->first[0]);
    for (int t = 0; t < c->tasks; t++) {
        const long long count = (long long)c->first[t + 1] - c->first[t];
        if (count < 0)
            return evn_fail(EVN_USAGE, "%s: task %d has %lld origins, expected 0 or more", room, t,
                            count);
        if (c->kept && c->kept[t] && count != 1)
            return evn_fail(EVN_USAGE, "%s: task %d is kept and has %lld origins, expected 1", room,
                            t, count);
    }
    return EVN_OK;
}

static evn_status check_task(const struct origins *o, int t, const char *room) {
    const evn_change *c = o->change;
    const int count = c->first ? c->first[t + 1] - c->first[t] : 0, m = o->before->tasks;
    for (int i = 0; i < count; i++) {
        const int from = c->from ? c->from[c->first[t] + i] : -1;
        if (from < 0 || from >= m)
            return evn_fail(EVN_USAGE, "%s: task %d comes from task %d; there were tasks 0 to %d",
                            room, t, from, m - 1);
    }
    if (!origins_kept(o, t)) return EVN_OK;
    int *now = &o->now[c->from[c->first[t]]];
    if (*now >= 0)
        return evn_fail(EVN_USAGE, "%s: tasks %d and %d are both task %d of before", room, *now, t,
                        c->from[c->first[t]]);
    *now = t;
    return EVN_OK;
}

static int heaviest(const struct origins *o, int t) {
    const evn_change *c = o->change;
    const double *weight = o->before->weight;
    int best = -1;
    for (int i = c->first ? c->first[t] : 0; c->first && i < c->first[t + 1]; i++)
        if (best < 0 || weight[c->from[i]] > weight[best]) best = c->from[i];
    return best;
}

static evn_status check(const evn_change *c, const char *room) {
    if (c->tasks < 1)
        return evn_fail(EVN_USAGE, "%s: a change to %d tasks, expected at least one", room,
                        c->tasks);
    if (c->kept && (!c->first || !c->from))
        return evn_fail(EVN_USAGE, "%s: tasks are kept, and no origins are given", room);
    if (c->links < -1 || (c->links > 0 && !c->link))
        return evn_fail(EVN_USAGE,
                        "%s: a change with %d links%s, expected 0 or more and an array of them, or "
                        "-1: those that tasks have",
                        room, c->links, c->links > 0 ? " and no array of them" : "");
    if (!(c->most >= 0 && c->most <= 1))
        return evn_fail(EVN_USAGE, "%s: %g of all weight may move, expected a part from 0 to 1",
                        room, c->most);
    if (c->instances < 0)
        return evn_fail(EVN_USAGE, "%s: %d instances to come, expected 0 (many) or more", room,
                        c->instances);
    return EVN_OK;
}

static int renumbers(const struct origins *o) {
    const evn_change *c = o->change;
    int same = c->tasks == o->before->tasks;
    for (int t = 0; same && t < c->tasks; t++)
        same =
            origins_kept(o, t) && (!c->weight || c->weight[t] == o->before->weight[o->heaviest[t]]);
    return same;
}

evn_status origins_open(struct origins *o, const evn_problem *before, const evn_change *c,
                        const char *room) {
    evn_status status = check(c, room);
    if (!status) status = check_first(c, room);
    if (status) return status;
    *o = (struct origins){.change = c, .before = before};
    o->heaviest = malloc((size_t)c->tasks * sizeof *o->heaviest);
    o->now = malloc((size_t)before->tasks * sizeof *o->now);
    if (!o->heaviest || !o->now)
        status = evn_fail(EVN_MEMORY, "%s: not enough memory for %d tasks", room, c->tasks);
    for (int t = 0; !status && t < before->tasks; t++) o->now[t] = -1;
    for (int t = 0; !status && t < c->tasks; t++) {
        status = check_task(o, t, room);
        if (!status) o->heaviest[t] = heaviest(o, t);
    }
    if (!status) o->renumbers = renumbers(o);
    if (status) origins_close(o);
    return status;
}

void origins_close(struct origins *o) {
    free(o->heaviest);
    free(o->now);
    *o = (struct origins){0};
}

void origins_mean(const struct origins *o, const double *x, double *to) {
    const evn_change *c = o->change;
    const int m = o->before->tasks;
    double all = 0;
    for (int t = 0; t < m; t++) all += x[t] / m;
    for (int t = 0; t < c->tasks; t++) {
        const int count = c->first ? c->first[t + 1] - c->first[t] : 0;
        double sum = 0;
        for (int i = 0; i < count; i++) sum += x[c->from[c->first[t] + i]] / count;
        to[t] = count ? sum : all;
    }
}
