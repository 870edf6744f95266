/* The simple candidates of `map`: longest task first, the best consecutive ones. */
#include "policy/map/repair.h"
#include "schedule/ranked.h"
#include "schedule/tournament.h"
#include <math.h>
#include <stdlib.h>

enum { SCANNED = 20000000 }; /* tasks x units up to which every unit is looked at for every task */

static struct ranked *rank(const double *value, int n) {
    struct ranked *r = malloc((size_t)n * sizeof *r);
    for (int i = 0; r && i < n; i++) r[i] = (struct ranked){value[i], i};
    if (r) rank_descending(r, n);
    return r;
}

int map_feed(const struct map_model *m, int *owner) {
    const int n = m->tasks, units = m->units;
    if (n < units) return 0;
    int *count = calloc((size_t)units, sizeof *count);
    if (!count) return 1;
    int hungry = 0;
    for (int t = 0; t < n; t++) count[owner[t]]++;
    for (int u = 0; u < units; u++) hungry += !count[u];
    struct ranked *task = hungry ? rank(m->weight, n) : NULL;
    struct ranked *unit = hungry ? rank(m->pace, units) : NULL;
    int failed = hungry && (!task || !unit);
    /* the slowest empty unit gets the lightest task */
    for (int i = 0, next = n - 1; !failed && i < units; i++) {
        int u = unit ? unit[i].index : i;
        if (count[u] || !task) continue;
        while (count[owner[task[next].index]] < 2) next--;
        int t = task[next--].index;
        count[owner[t]]--;
        owner[t] = u;
        count[u] = 1;
    }
    free(unit);
    free(task);
    free(count);
    return failed;
}

int map_longest_first(const struct map_model *m, int *owner) {
    const int n = m->tasks, units = m->units;
    struct ranked *task = rank(m->weight, n);
    double *busy = calloc((size_t)units, sizeof *busy);
    int *count = calloc((size_t)units, sizeof *count);
    struct tournament first = {0};
    /* with very many tasks the unit that is free first is taken instead of the one done first */
    int scan = (double)n * units <= SCANNED;
    int failed = !task || !busy || !count || tournament_open(&first, busy, units, 1);
    for (int i = 0; !failed && i < n; i++) {
        const int t = task[i].index;
        int best = scan ? 0 : tournament_winner(&first);
        for (int u = 1; scan && u < units; u++) {
            double a = busy[u] + m->weight[t] * m->pace[u],
                   b = busy[best] + m->weight[t] * m->pace[best];
            if (a < b || (a == b && count[u] < count[best])) best = u;
        }
        owner[t] = best;
        busy[best] += m->weight[t] * m->pace[best];
        count[best]++;
        if (!scan) tournament_changed(&first, best);
    }
    free(first.winner);
    free(count);
    free(busy);
    free(task);
    return failed || map_feed(m, owner);
}

/* Gives each unit as many of the next tasks as it can do by `limit`; whether
 * all were given out. */
static int fill(const struct map_model *m, const double *sum, double limit, int *owner) {
    const int n = m->tasks;
    int t = 0;
    for (int u = 0; u < m->units && t < n; u++) {
        double upto = sum[t] + limit / m->pace[u];
        int low = t, high = n; /* sum[low] <= upto */
        while (low < high) {
            int middle = low + (high - low + 1) / 2;
            if (sum[middle] <= upto)
                low = middle;
            else
                high = middle - 1;
        }
        for (int i = t; owner && i < low; i++) owner[i] = u;
        t = low;
    }
    return t == n;
}

int map_consecutive(const struct map_model *m, int *owner) {
    const int n = m->tasks;
    double *sum = malloc(((size_t)n + 1) * sizeof *sum);
    if (!sum) return 1;
    sum[0] = 0;
    for (int t = 0; t < n; t++) sum[t + 1] = sum[t] + m->weight[t];
    /* the least limit that all tasks fit into, by halving the interval between
     * one that may be too small and one that is not: the fastest unit alone */
    double low = 0, high = sum[n] * (1 + 1e-9);
    for (int i = 0; i < 64; i++) {
        double middle = low + (high - low) / 2;
        if (fill(m, sum, middle, NULL))
            high = middle;
        else
            low = middle;
    }
    fill(m, sum, high, owner);
    free(sum);
    return map_feed(m, owner);
}
