/* Schedules that learn, in a virtual clock, where tasks cost 1 to 16 and no weight tells so, on
 * units of given speeds 1, 1, 2, 4: from exact times they are near the best that is possible after
 * six instances, from times with noise of a tenth after fifteen; then nothing moves any more, and
 * no instance was longer than the first. suite/bench/settle.c has the same for all sizes. Run:
 * ctest -R
 * '^settle$' */
#include "schedule/open.h"
#include <malloc.h>
#include <math.h>

enum { TASKS = 4000, UNITS = 200, INSTANCES = 60, EXACT = 6, NOISY = 15 };

static double cost[TASKS], speed[UNITS];

/* Numbers that are normally distributed. */
static double normal(unsigned long long *seed) {
    const double a = draw(seed), b = draw(seed);
    return sqrt(-2 * log(1 - a)) * cos(6.283185307179586 * b);
}

/* Seconds of an instance in which all units are done at once. */
static double make(int tasks, int units) {
    unsigned long long seed = 99;
    double work = 0, speeds = 0;
    for (int t = 0; t < tasks; t++) work += cost[t] = 1e-4 * (1 + 15 * draw(&seed));
    for (int u = 0; u < units; u++) speeds += speed[u] = (const double[]){1, 1, 2, 4}[u % 4];
    return work / speeds;
}

/* The neighbours in a square of tasks. */
static int grid(int tasks, evn_link *link) {
    const int across = (int)ceil(sqrt(tasks));
    int links = 0;
    for (int t = 0; t < tasks; t++) {
        if ((t + 1) % across && t + 1 < tasks) link[links++] = (evn_link){{t, t + 1}, 8};
        if (t + across < tasks) link[links++] = (evn_link){{t, t + across}, 8};
    }
    return links;
}

/* The longest unit of the next instance, in true seconds; those that are measured in `seconds`. */
static double run(const evn_schedule *s, int tasks, double noise, unsigned long long *seed,
                  double *seconds) {
    const int *owner = evn_schedule_owner(s);
    double busy[UNITS] = {0}, longest = 0;
    for (int t = 0; t < tasks; t++) {
        seconds[t] = cost[t] / speed[owner[t]];
        busy[owner[t]] += seconds[t];
        longest = fmax(longest, busy[owner[t]]);
        if (noise > 0) seconds[t] *= fmax(0.1, 1 + noise * normal(seed));
    }
    return longest;
}

static void settles(const char *spec, int tasks, int units, int links, double noise, double most) {
    static int before[TASKS];
    static double seconds[TASKS];
    static evn_link link[2 * TASKS];
    const double even = make(tasks, units);
    const evn_problem p = {.tasks = tasks,
                           .units = units,
                           .speed = speed,
                           .links = links ? grid(tasks, link) : 0,
                           .link = links ? link : NULL,
                           .instances = 1000};
    const int until = noise > 0 ? NOISY : EXACT;
    unsigned long long seed = 5;
    OWN(schedule) *s = open_or_fail(spec, &p);
    double first = 0;
    for (int i = 0; i < INSTANCES; i++) {
        const double ratio = run(s, tasks, noise, &seed, seconds) / even;
        const int *owner = evn_schedule_owner(s);
        if (!i) first = ratio;
        if (ratio > first + 1e-9)
            fail_msg("%s, %d x %d: %.4f in instance %d, %.4f in the first", spec, tasks, units,
                     ratio, i, first);
        if (i >= until && ratio > most)
            fail_msg("%s, %d x %d, noise %g: %.4f after %d instances, expected at most %.3f", spec,
                     tasks, units, noise, ratio, i, most);
        if (i > until + 1 && memcmp(before, owner, (size_t)tasks * sizeof *owner) != 0)
            fail_msg("%s, %d x %d, noise %g: tasks move after %d instances", spec, tasks, units,
                     noise, i);
        memcpy(before, owner, (size_t)tasks * sizeof *owner);
        assert_ok(evn_schedule_learn(s, before, seconds));
    }
}

/* Any task to any unit. */
TEST(any) {
    static const char *const specs[] = {"map", "binpack:time"};
    for (int k = 0; k < 2; k++)
        for (int links = 0; links < 2; links++) {
            settles(specs[k], 100, 4, links, 0, 1.01);
            settles(specs[k], 1000, 16, links, 0, 1.01);
            settles(specs[k], 1000, 64, links, 0, 1.02);
            settles(specs[k], 4000, 200, links, 0, 1.02);
            settles(specs[k], 1000, 16, links, 0.1, 1.04);
            settles(specs[k], 4000, 64, links, 0.1, 1.04);
            settles(specs[k], 4000, 200, links, 0.1, 1.04);
        }
}

/* Bytes a task that a schedule keeps. A sanitizer's allocator counts none. */
TEST(memory) {
    static const char *const specs[] = {"auto", "map", "guided:time", "binpack:time", "interval"};
    static double seconds[TASKS];
    const double even = make(TASKS, 4);
    const evn_problem p = {.tasks = TASKS, .units = 4, .speed = speed, .instances = 1000};
    for (int k = 0; k < 5; k++) {
        unsigned long long seed = 1;
        const struct mallinfo2 before = mallinfo2();
        OWN(schedule) *s = open_or_fail(specs[k], &p);
        for (int i = 0; i < NOISY; i++) {
            assert_true(run(s, TASKS, 0.1, &seed, seconds) >= even);
            assert_ok(evn_schedule_learn(s, evn_schedule_owner(s), seconds));
        }
        const struct mallinfo2 now = mallinfo2();
        const double bytes =
            (double)(now.uordblks + now.hblkhd) - (double)(before.uordblks + before.hblkhd);
        if (bytes > 122 * TASKS) fail_msg("%s keeps %.1f bytes a task", specs[k], bytes / TASKS);
    }
}

/* Consecutive ones; the best of these are 0.6 to 5 % above even. */
TEST(consecutive) {
    static const char *const specs[] = {"guided:time", "interval"};
    for (int k = 0; k < 2; k++) {
        settles(specs[k], 1000, 16, 0, 0, 1.012);
        settles(specs[k], 1000, 64, 0, 0, 1.05);
        settles(specs[k], 4000, 200, 0, 0, 1.05);
        settles(specs[k], 1000, 16, 0, 0.1, 1.05);
        settles(specs[k], 4000, 64, 0, 0.1, 1.04);
    }
}

RUN_TESTS(NULL, NULL)
