/* Problems: checks, copies, loads of an assignment. */
#include "schedule/problem.h"
#include "base/argument.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_amount(double x) { return x >= 0 && !isinf(x); }

/* Checks an array of `n` amounts, which may be NULL. */
static evn_status check_amounts(const double *x, int n, const char *what) {
    for (int i = 0; x && i < n; i++)
        if (!is_amount(x[i]))
            return evn_fail(EVN_USAGE, "schedule: %s %d is %g, expected a finite number from 0",
                            what, i, x[i]);
    return EVN_OK;
}

static evn_status check_links(const evn_problem *p) {
    if (p->links < 0 || (p->links && !p->link))
        return evn_fail(EVN_USAGE, "schedule: %d links%s, expected 0 or more and an array of them",
                        p->links, p->link ? "" : " and no array of them");
    for (int l = 0; l < p->links; l++) {
        for (int e = 0; e < 2; e++)
            if (p->link[l].task[e] < 0 || p->link[l].task[e] >= p->tasks)
                return evn_fail(EVN_USAGE, "schedule: link %d names task %d, expected 0 to %d", l,
                                p->link[l].task[e], p->tasks - 1);
        if (!is_amount(p->link[l].bytes))
            return evn_fail(EVN_USAGE,
                            "schedule: link %d has %g bytes, expected a finite number from 0", l,
                            p->link[l].bytes);
    }
    return EVN_OK;
}

static evn_status check_routes(const evn_problem *p, const evn_route *route, const char *what) {
    const int kinds = p->kinds ? p->kinds : 1;
    for (int i = 0; route && i < kinds * kinds; i++)
        for (int h = 0; h < 2; h++)
            if (!is_amount(route[i].latency[h]) || !is_amount(route[i].per_byte[h]))
                return evn_fail(EVN_USAGE,
                                "schedule: the %s from kind %d to %d takes %g and %g a byte, "
                                "expected finite times from 0",
                                what, i / kinds, i % kinds, route[i].latency[h],
                                route[i].per_byte[h]);
    return EVN_OK;
}

static evn_status check_places(const evn_problem *p) {
    if (p->kinds < 0 || p->kinds > 32767)
        return evn_fail(EVN_USAGE, "schedule: %d kinds of units, expected 0 to 32767", p->kinds);
    const int kinds = p->kinds ? p->kinds : 1;
    for (int u = 0; u < p->units; u++) {
        if (p->kind && (p->kind[u] < 0 || p->kind[u] >= kinds))
            return evn_fail(EVN_USAGE, "schedule: the kind of unit %d is %d, expected 0 to %d", u,
                            p->kind[u], kinds - 1);
        if (p->node && p->node[u] < 0)
            return evn_fail(EVN_USAGE, "schedule: the node of unit %d is %d, expected one from 0",
                            u, p->node[u]);
        if (p->space && p->space[u] < 0)
            return evn_fail(EVN_USAGE, "schedule: the space of unit %d is %d, expected one from 0",
                            u, p->space[u]);
        if (p->capacity && !(p->capacity[u] >= 0))
            return evn_fail(EVN_USAGE,
                            "schedule: the capacity of unit %d is %g, expected bytes from 0", u,
                            p->capacity[u]);
    }
    evn_status status = check_routes(p, p->route, "route");
    return status ? status : check_routes(p, p->far, "far route");
}

evn_status problem_check_weights(const double *weight, int tasks) {
    int amounts = 1;
    for (int t = 0; weight && t < tasks; t++) amounts &= (weight[t] >= 0) & (weight[t] <= DBL_MAX);
    if (amounts) return EVN_OK;
    return check_amounts(weight, tasks, "the weight of task");
}

evn_status problem_check(const evn_problem *p) {
    if (p->tasks < 1 || p->units < 1)
        return evn_fail(EVN_USAGE, "schedule: %d tasks on %d units, expected at least one of each",
                        p->tasks, p->units);
    if (p->instances < 0)
        return evn_fail(EVN_USAGE, "schedule: %d instances to come, expected 0 (many) or more",
                        p->instances);
    for (int u = 0; p->speed && u < p->units; u++)
        if (!(p->speed[u] > 0) || isinf(p->speed[u]))
            return evn_fail(
                EVN_USAGE, "schedule: the speed of unit %d is %g, expected a finite number above 0",
                u, p->speed[u]);
    if (!is_amount(p->bandwidth))
        return evn_fail(EVN_USAGE, "schedule: the bandwidth is %g, expected a finite number from 0",
                        p->bandwidth);
    evn_status status = problem_check_weights(p->weight, p->tasks);
    if (!status) status = check_amounts(p->bytes, p->tasks, "the memory of task");
    if (!status) status = check_amounts(p->state, p->tasks, "the state of task");
    if (!status && !is_amount(p->carry))
        status =
            evn_fail(EVN_USAGE,
                     "schedule: a byte of state is carried in %g s, expected a finite time from "
                     "0",
                     p->carry);
    if (!status) status = check_links(p);
    return status ? status : check_places(p);
}

/* Copies n elements; NULL of NULL; *failed without memory. */
static void *copy(const void *from, size_t n, size_t size, int *failed) {
    if (!from) return NULL;
    void *to = malloc(n * size + 1);
    if (to)
        memcpy(to, from, n * size);
    else
        *failed = 1;
    return to;
}

static double *copy_or_ones(const double *from, int n, int *failed) {
    double *to = malloc(sizeof *to * (size_t)n);
    *failed |= !to;
    for (int i = 0; to && i < n; i++) to[i] = from ? from[i] : 1;
    return to;
}

int problem_copy(evn_problem *to, const evn_problem *from) {
    const size_t n = (size_t)from->tasks, units = (size_t)from->units;
    const size_t kinds = from->kinds ? (size_t)from->kinds : 1;
    const evn_link none = {{0}, 0};
    int failed = 0;
    *to = *from;
    to->weight = copy_or_ones(from->weight, from->tasks, &failed);
    to->speed = copy_or_ones(from->speed, from->units, &failed);
    to->link =
        copy(from->links ? from->link : &none, (size_t)from->links, sizeof *to->link, &failed);
    to->kind = copy(from->kind, units, sizeof *to->kind, &failed);
    to->node = copy(from->node, units, sizeof *to->node, &failed);
    to->route = copy(from->route, kinds * kinds, sizeof *to->route, &failed);
    to->far = copy(from->far, kinds * kinds, sizeof *to->far, &failed);
    to->bytes = copy(from->bytes, n, sizeof *to->bytes, &failed);
    to->capacity = copy(from->capacity, units, sizeof *to->capacity, &failed);
    to->space = copy(from->space, units, sizeof *to->space, &failed);
    to->state = copy(from->state, n, sizeof *to->state, &failed);
    if (!to->carry) to->carry = 1e-9;
    return failed;
}

void problem_drop(evn_problem *p) {
    free((void *)p->weight);
    free((void *)p->speed);
    free((void *)p->link);
    free((void *)p->kind);
    free((void *)p->node);
    free((void *)p->route);
    free((void *)p->far);
    free((void *)p->bytes);
    free((void *)p->capacity);
    free((void *)p->space);
    free((void *)p->state);
}

double evn_imbalance(int units, const double *seconds) {
    NEED_OR(NAN, seconds, "the units' times");
    if (units < 1) {
        evn_fail(EVN_USAGE, "schedule: the imbalance of %d units, expected at least 1", units);
        return NAN;
    }
    double longest = 0, shortest = INFINITY;
    for (int u = 0; u < units; u++) {
        longest = fmax(longest, seconds[u]);
        shortest = fmin(shortest, seconds[u]);
    }
    return shortest > 0 ? longest / shortest : longest > 0 ? INFINITY : 1;
}

/* Checks that each task has a unit of the problem. */
static evn_status check_owner(const evn_problem *p, const int *owner) {
    NEED(p, "a problem");
    NEED(owner, "the tasks' owners");
    if (p->tasks < 1 || p->units < 1)
        return evn_fail(EVN_USAGE, "schedule: %d tasks on %d units, expected at least one of each",
                        p->tasks, p->units);
    for (int t = 0; t < p->tasks; t++)
        if (owner[t] < 0 || owner[t] >= p->units)
            return evn_fail(EVN_USAGE, "schedule: task %d is on unit %d, expected 0 to %d", t,
                            owner[t], p->units - 1);
    return EVN_OK;
}

double evn_problem_imbalance(const evn_problem *p, const int *owner, double *load) {
    if (check_owner(p, owner)) return NAN;
    double *time = malloc(2 * sizeof *time * (size_t)p->units);
    if (!load) load = time ? time + p->units : NULL;
    if (!load) return NAN;
    for (int u = 0; u < p->units; u++) load[u] = 0;
    for (int t = 0; t < p->tasks; t++) load[owner[t]] += p->weight ? p->weight[t] : 1;
    for (int u = 0; time && u < p->units; u++) time[u] = load[u] / (p->speed ? p->speed[u] : 1);
    const double imbalance = time ? evn_imbalance(p->units, time) : NAN;
    free(time);
    return imbalance;
}

double evn_problem_cut(const evn_problem *p, const int *owner, int *pairs) {
    if (pairs) *pairs = 0;
    if (check_owner(p, owner) || check_links(p)) return NAN;
    double bytes = 0;
    size_t units = (size_t)p->units;
    char *neighbours = pairs ? calloc(units, units) : NULL;
    for (int l = 0; l < p->links; l++) {
        int a = owner[p->link[l].task[0]], b = owner[p->link[l].task[1]];
        if (a == b) continue;
        bytes += 2 * p->link[l].bytes;
        if (!neighbours || neighbours[(size_t)a * units + (size_t)b]) continue;
        neighbours[(size_t)a * units + (size_t)b] = neighbours[(size_t)b * units + (size_t)a] = 1;
        *pairs += 2;
    }
    free(neighbours);
    return bytes;
}
