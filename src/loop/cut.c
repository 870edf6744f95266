/* How a team is cut into subteams. Weights that are all known beforehand, cores that are equal: by
 * descending weight each task goes where it is done first, for every number of subteams that is
 * worth a look, and with none, one .. of the largest done by all cores before. */
#include "loop/cut.h"
#include <math.h>
#include <stdlib.h>

/* What barriers and unequal shares take: measured on teams of 2 (0.65 to 0.85), assumed to grow
 * with each doubling. */
double cut_speed(int cores) { return cores / (1 + 0.2 * log2(cores)); }

static _Thread_local const double *weight_of; /* for by_weight() */

static int by_weight(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    const double wx = weight_of ? weight_of[x] : 1, wy = weight_of ? weight_of[y] : 1;
    return wx > wy ? -1 : wx < wy ? 1 : x < y ? -1 : x > y;
}

void cut_sort(int tasks, int *task, const double *weight, double *sorted) {
    weight_of = weight;
    qsort(task, (size_t)tasks, sizeof *task, by_weight);
    for (int t = 0; t < tasks; t++) sorted[t] = weight ? weight[task[t]] : 1;
}

/* How much better than another a cut must be: tasks that change hands leave their caches. */
static const double BETTER = 0.98, GOOD = 1.03;

/* Tasks of one weight, which are alike, from number `t` on: each subteam gets as many as it has,
 * but those that follow each other, which are likely neighbours. Returns the first behind them. */
static int keep_near(struct cut cut, int t, int tasks, const double *weight, int *to) {
    int end = t + 1, at = t;
    while (end < tasks && weight[end] == weight[t]) end++;
    for (int s = 0; s < cut.subteams; s++)
        for (int i = at; i < end; i++)
            if (to[i] == s) {
                to[i] = to[at];
                to[at++] = s;
            }
    return end;
}

double cut_deal(int cores, struct cut cut, int tasks, const double *weight, double *load, int *to) {
    double begin = 0, end;
    for (int t = 0; t < cut.together; t++) begin += weight[t];
    begin /= cut_speed(cores);
    end = begin;
    for (int s = 0; s < cut.subteams; s++) load[s] = begin;
    /* subteams of equal size but for one core: the first `more` have it */
    const int each = cores / cut.subteams, more = cores % cut.subteams;
    const double slow = cut_speed(each), fast = cut_speed(each + 1);
    for (int t = cut.together; t < tasks; t++) {
        int best = 0;
        double least = INFINITY;
        for (int s = 0; s < cut.subteams; s++) {
            const double done = load[s] + weight[t] / (s < more ? fast : slow);
            if (done < least) least = done, best = s;
        }
        load[best] = least;
        if (to) to[t] = best;
        if (least > end) end = least;
    }
    for (int t = cut.together; to && t < tasks;) t = keep_near(cut, t, tasks, weight, to);
    return end;
}

/* The best cut into so many subteams, if it is better than the one in *best, which needs *least. */
static void improve(int cores, int subteams, int tasks, const double *weight, double sum,
                    double *load, struct cut *best, double *least) {
    double large = 0; /* of the tasks that are done by all */
    for (int m = 0;; m++) {
        if (large / cut_speed(cores) + (sum - large) / cores >= *least * BETTER) return;
        /* one subteam is all cores */
        const struct cut cut = {subteams == 1 ? tasks : m, subteams};
        const double end = cut_deal(cores, cut, tasks, weight, load, NULL);
        if (end < *least * BETTER) *best = cut, *least = end;
        if (*least <= GOOD * sum / cores || subteams == 1 || m == tasks || m == cores) return;
        large += weight[m];
    }
}

struct cut cut_choose(int cores, int tasks, const double *weight, double *load) {
    double sum = 0, least = INFINITY;
    for (int t = 0; t < tasks; t++) sum += weight[t];
    struct cut best = {tasks, 1};
    /* of the numbers that make subteams as small, the largest */
    for (int g = tasks < cores ? tasks : cores; g > 0; g = cores / (cores / g + 1)) {
        improve(cores, g, tasks, weight, sum, load, &best, &least);
        if (least <= GOOD * sum / cores) break;
    }
    return best;
}
