/* The shortest assignment of consecutive tasks: running sums of the costs, and the least limit of
 * the longest unit by bisection. */
#include "policy/consecutive.h"
#include <math.h>
#include <stdlib.h>

#define EXACT 1e-7 /* relative error of the limit */

enum { HALVINGS = 60 };

struct cut {
    int tasks, units, least; /* tasks that each unit must have */
    const double *speed;
    double *sum; /* costs of the first t tasks, tasks + 1 entries */
    int *first;  /* least end of each unit's tasks under a limit, so that the rest fits */
};

/* Number of first tasks whose costs are at most `most` in sum. */
static int reach(const struct cut *c, double most) {
    int low = 0, high = c->tasks;
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (c->sum[middle] <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Limits the end of unit u's tasks so that each unit keeps its least number. */
static int within(const struct cut *c, int u, int begin, int end) {
    const int most = c->tasks - c->least * (c->units - 1 - u);
    const int bounded = end < begin + c->least ? begin + c->least : end;
    return bounded < most ? bounded : most;
}

/* End of the most tasks that unit u may have under a limit, from `begin` on. */
static int fill(const struct cut *c, int u, int begin, double limit) {
    return within(c, u, begin, reach(c, c->sum[begin] + limit * c->speed[u]));
}

static int fits(const struct cut *c, double limit) {
    int t = 0;
    for (int u = 0; u < c->units; u++) t = fill(c, u, t, limit);
    return t == c->tasks;
}

/* The least limit under which all tasks fit. */
static double find_limit(const struct cut *c) {
    double speed = 0;
    for (int u = 0; u < c->units; u++) speed += c->speed[u];
    double low = c->sum[c->tasks] / speed, high = low;
    for (int i = 0; i < HALVINGS && !fits(c, high); i++) {
        low = high;
        high *= i < 8 ? 1 + 0.01 * (1 << i) : 4;
    }
    for (int i = 0; i < HALVINGS && high > low * (1 + EXACT); i++) {
        const double middle = 0.5 * (low + high);
        if (fits(c, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Finds the least ends, from the last unit to the first. */
static void find_first(struct cut *c, double limit) {
    int end = c->tasks;
    for (int u = c->units - 1; u >= 0; u--) {
        c->first[u] = end;
        const double least = c->sum[end] - limit * c->speed[u];
        int begin = least > 0 ? reach(c, least) : 0;
        while (begin < end && c->sum[begin] < least) begin++;
        end = begin;
    }
}

/* The end that is nearest to an even share of the first units. */
static int even_end(const struct cut *c, double share) {
    const int t = reach(c, share);
    return t < c->tasks && share - c->sum[t] > c->sum[t + 1] - share ? t + 1 : t;
}

static void write(struct cut *c, double limit, int *owner) {
    double speed = 0, first = 0;
    for (int u = 0; u < c->units; u++) speed += c->speed[u];
    find_first(c, limit);
    for (int u = 0, t = 0; u < c->units; u++) {
        first += c->speed[u];
        const int even = even_end(c, c->sum[c->tasks] * (first / speed));
        const int most = fill(c, u, t, limit), near = even > c->first[u] ? even : c->first[u];
        const int end = u == c->units - 1 ? c->tasks : within(c, u, t, near < most ? near : most);
        while (t < end) owner[t++] = u;
    }
}

int consecutive_shortest(int tasks, int units, const double *cost, const double *speed,
                         int *owner) {
    struct cut c = {.tasks = tasks, .units = units, .least = tasks >= units, .speed = speed};
    c.sum = malloc(((size_t)tasks + 1) * sizeof *c.sum);
    c.first = malloc((size_t)units * sizeof *c.first);
    const int failed = !c.sum || !c.first;
    if (!failed) {
        c.sum[0] = 0;
        for (int t = 0; t < tasks; t++) c.sum[t + 1] = c.sum[t] + fmin(cost[t], 1e300 / tasks);
        write(&c, find_limit(&c), owner);
    }
    free(c.sum);
    free(c.first);
    return failed;
}
