/* evener bench schedules --intervals: the greedy balancer of contiguous intervals against the exact
 * optimum, table 1 of the paper that `interval` comes from (see src/policy/interval.c). 6 workers,
 * 10,000 elements, 40 iterations; the cost of the elements and the time of the workers for a unit
 * of work each have one of five shapes; the number is by how many per cent the best iteration takes
 * longer than the best contiguous intervals there are. The schedule is told the times and nothing
 * else.
 *
 * The paper has four columns and does not say in the text which; here are all five. Nor does it say
 * how unequal the workers are: here up to 4 and up to 10 times. */
#include "bench/bench_schedules.h"
#include "common/cli/message.h"
#include <evener/schedule.h>
#include <math.h>
#include <stdio.h>

enum { WORKERS = 6, ELEMENTS = 10000, ITERATIONS = 40, SHAPES = 5 };

static const char *const names[SHAPES] = {"Up-Down", "Up-Up", "Up", "Random", "Stable"};

/* n numbers of a shape, from 1 to `max`. */
static void fill(double *x, int n, int shape, double max, unsigned long long seed) {
    for (int i = 0; i < n; i++) {
        const double at = i / (n - 1.0);
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        const double part = shape == 0   ? 1 - fabs(1 - 2 * at)
                            : shape == 1 ? (at < 0.5 ? 2 * at : 2 * at - 1)
                            : shape == 2 ? at
                            : shape == 3 ? (double)(seed >> 11) / 9007199254740992.0
                                         : 0;
        x[i] = 1 + (max - 1) * part;
    }
}

/* The shortest time in which the workers can do all elements in contiguous intervals in their
 * order: optimum[i] for the first i elements, worker by worker. In max(optimum of the workers
 * before for j elements, time of this one for j .. i - 1) the first grows with j and the second
 * falls, and where they meet does not move back as i grows. */
static double optimum(const double *cost, const double *factor) {
    static double sum[ELEMENTS + 1], best[2][ELEMENTS + 1];
    for (int i = 0; i < ELEMENTS; i++) sum[i + 1] = sum[i] + cost[i];
    for (int i = 0; i <= ELEMENTS; i++) best[0][i] = factor[0] * sum[i];
    for (int w = 1; w < WORKERS; w++) {
        const double *before = best[(w - 1) % 2];
        for (int i = 0, j = 0; i <= ELEMENTS; i++) {
#define TIME(j) fmax(before[j], factor[w] * (sum[i] - sum[j]))
            while (j < i && TIME(j + 1) <= TIME(j)) j++;
            best[w % 2][i] = TIME(j);
#undef TIME
        }
    }
    return best[(WORKERS - 1) % 2][ELEMENTS];
}

/* The longest worker's time under `owner`, and the time of each element. */
static double run(const double *cost, const double *factor, const int *owner, double *seconds) {
    double time[WORKERS] = {0}, longest = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        seconds[i] = cost[i] * factor[owner[i]];
        time[owner[i]] += seconds[i];
    }
    for (int w = 0; w < WORKERS; w++) longest = fmax(longest, time[w]);
    return longest;
}

/* Extra cost in per cent of what is kept after ITERATIONS; -1: it failed. */
static double extra(int elements, int workers, double max) {
    static double cost[ELEMENTS], seconds[ELEMENTS];
    double factor[WORKERS];
    fill(cost, ELEMENTS, elements, 10, 1);
    fill(factor, WORKERS, workers, max, 2);
    const evn_problem problem = {.tasks = ELEMENTS, .units = WORKERS};
    char spec[64];
    snprintf(spec, sizeof spec, "interval:iterations=%d", ITERATIONS);
    evn_schedule *s;
    if (evn_schedule_open(&s, spec, &problem)) return -1;
    for (int i = 0; i < ITERATIONS; i++) {
        const int *owner = evn_schedule_owner(s);
        run(cost, factor, owner, seconds);
        if (evn_schedule_learn(s, owner, seconds)) return -1;
    }
    const double kept = run(cost, factor, evn_schedule_owner(s), seconds);
    evn_schedule_close(s);
    return fmax(100 * (kept / optimum(cost, factor) - 1), 0); /* they add up in another order */
}

int bench_intervals(void) {
    double least = INFINITY, worst = 0;
    int cells = 0;
    for (int max = 4; max <= 10; max += 6) {
        printf("%% above the optimum, workers from 1 to %d times as slow\n%-10s", max, "elements");
        for (int w = 0; w < SHAPES; w++) printf("  %8s", names[w]);
        putchar('\n');
        for (int e = 0; e < SHAPES; e++) {
            printf("%-10s", names[e]);
            for (int w = 0; w < SHAPES; w++, cells++) {
                const double x = extra(e, w, max);
                if (x < 0) return give_up(EVN_MEMORY);
                printf("  %8.3f", x);
                least = fmin(least, x);
                worst = fmax(worst, x);
            }
            putchar('\n');
        }
    }
    printf("least %.3f, worst %.3f %% of %d, expected at most 0.2 %%\n", least, worst, cells);
    return worst > 0.2 ? EXIT_FAILED : EXIT_DONE;
}
