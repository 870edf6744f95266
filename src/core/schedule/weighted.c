/* weighted: consecutive tasks in shares proportional to the speeds of the units, once and for all.
 * This is STATIC-opt of González and Morancho, "Compute units in OpenMP: extensions for
 * heterogeneous parallel programming" (2023), where speeds are performance conversion factors: one
 * over the average time of a task on a unit of each kind.
 *
 * As in the paper, a share is a number of tasks. It is rounded down or up, so that it is within one
 * task of its ideal; what rounding down leaves goes first to units that would have nothing, then to
 * those that lost most. So units starve only where there are more of them with a share of less than
 * a task than what rounding leaves: where one unit is far faster than many others.
 *
 * weighted:size shares out the weights instead: each boundary between two units is where the sum of
 * the weights comes nearest to its ideal, so that a unit's load is within the largest weight of its
 * share, except that every unit has a task if there are enough. */
#include <evener/status.h>
#include "base/number.h"
#include "schedule/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct remainder {
    int unit;
    int nothing; /* 1: its share rounds down to no task */
    double lost; /* part of a task lost by rounding down */
};

static int by_need(const void *a, const void *b) {
    const struct remainder *x = a, *y = b;
    if (x->nothing != y->nothing) return y->nothing - x->nothing;
    if (x->lost != y->lost) return x->lost < y->lost ? 1 : -1;
    return x->unit - y->unit;
}

static double sum(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}

static evn_status share_tasks(int tasks, int units, const double *speed, int *owner) {
    struct remainder *order = malloc((size_t)units * (sizeof *order + sizeof(int)));
    if (!order) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d units", units);
    int *share = (int *)(order + units);
    const double total_speed = sum(speed, units);
    int left = tasks;
    for (int u = 0; u < units; u++) {
        double ideal = tasks * (speed[u] / total_speed);
        /* speeds like 1 and 1/3 would else round 3 down for being 2.9999999 */
        double whole = floor(ideal * (1 + 1e-12));
        share[u] = whole < left ? (int)whole : left;
        left -= share[u];
        order[u] = (struct remainder){.unit = u, .nothing = !share[u], .lost = ideal - whole};
    }
    qsort(order, (size_t)units, sizeof *order, by_need);
    for (int i = 0; left; i = (i + 1) % units, left--) share[order[i].unit]++;
    for (int u = 0, t = 0; u < units; u++)
        while (share[u]--) owner[t++] = u;
    free(order);
    return EVN_OK;
}

static void share_size(int tasks, int units, const double *speed, const double *weight,
                       int *owner) {
    const double total = sum(weight, tasks), total_speed = sum(speed, units);
    double passed = 0, given = 0; /* weight of the tasks up to t, speed of the units up to u */
    int t = 0;
    for (int u = 0; u < units; u++) {
        given += speed[u] / total_speed;
        const double ideal = total * given;
        /* leaves a task for each unit behind */
        const int least = tasks >= units ? t + 1 : t,
                  max = tasks - (tasks >= units ? units - 1 - u : 0);
        while (t < max &&
               (t < least || u == units - 1 || ideal - passed >= passed + weight[t] - ideal)) {
            passed += weight[t];
            owner[t++] = u;
        }
    }
}

/* "1+1+5", where 4*1 is 1+1+1+1. */
static evn_status read_speeds(const char *text, int units, double *speed) {
    const char *p = text;
    int u = 0;
    while (p) {
        long count;
        const char *q = p;
        if (evn_text_number(&q, units, &count) && *q == '*')
            p = q + 1;
        else
            count = 1;
        double value;
        if (number_read(&p, &value) || !(value > 0) || (*p && *p != '+') || count > units - u)
            break;
        while (count--) speed[u++] = value;
        p = *p ? p + 1 : NULL;
    }
    if (!p && u == units) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "schedule: weighted:speed=%s: expected the speeds of %d units, numbers above 0 "
                    "with a + between them, as 1+1+5 or 2*1+5",
                    text, units);
}

static evn_status open_weighted(evn_schedule *s, const evn_spec *spec) {
    const evn_problem *p = &s->problem;
    const char *given = NULL;
    int by_size = 0;
    for (int i = 0; i < spec->options; i++) {
        const evn_option *o = &spec->option[i];
        if (!strcmp(o->key, "size") && !o->value) {
            by_size = 1;
        } else if (!strcmp(o->key, "speed") && o->value) {
            given = o->value;
        } else {
            return evn_fail(EVN_USAGE,
                            "schedule: weighted has no option \"%s\", expected size or speed=S+S+S",
                            o->key);
        }
    }
    size_t length =
        (size_t)snprintf(s->text, sizeof s->text, "weighted%s%s%s", by_size ? ":size" : "",
                         given ? (by_size ? ",speed=" : ":speed=") : "", given ? given : "");
    if (length >= sizeof s->text)
        return evn_fail(EVN_USAGE,
                        "schedule: weighted:speed=%.20s..: longer than %zu characters; write equal "
                        "speeds as COUNT*SPEED",
                        given, sizeof s->text - 1);
    double *speed = malloc(sizeof *speed * (size_t)p->units);
    if (!speed) return evn_fail(EVN_MEMORY, "schedule: not enough memory for %d units", p->units);
    memcpy(speed, p->speed, sizeof *speed * (size_t)p->units);
    evn_status status = given ? read_speeds(given, p->units, speed) : EVN_OK;
    if (!status && by_size && sum(p->weight, p->tasks) > 0)
        share_size(p->tasks, p->units, speed, p->weight, s->owner);
    else if (!status)
        status = share_tasks(p->tasks, p->units, speed, s->owner);
    free(speed);
    s->settled = 1;
    return status;
}

const struct policy policy_weighted = {
    .name = "weighted",
    .still = 1,
    .weights = policy_weights_plan,
    .explanation = "size,speed=S+S+S: consecutive tasks in shares by the units' speeds; by number "
                   "of tasks, or size",
    .open = open_weighted,
};
