/* Schedules that learn, where measured times scatter: BT-MZ's zones on units whose speeds they are
 * not told, in a virtual clock with noise on every task and, in one of a hundred, a time ten times
 * as long. Data must stay where they are, the step must be about as short as without noise, and a
 * unit that becomes twice as slow must still be noticed. Run: ctest -R noise */
#include "schedule/open.h"
#include "npbmz/npbmz.h"
#include <evener.h>
#include <math.h>

enum { U = 4, TASKS = 64, DRIFT = 400, STEPS = 500, SEEDS = 6 };

static const struct schedule {
    const char *spec;
    int settled; /* step after which no task should move any more */
    int apart;   /* units have memories of their own */
    int once;    /* migrations more: a change of its way */
} specs[] = {
    {"map", 20, 0, 0},
    {"auto", 20, 1, 40}, /* else it draws while there are spikes, which is shorter */
    {"guided:time", 20, 0, 0},
    {"binpack:time", 20, 0, 0},
    {"interval", 41, 0, 0},               /* its iterations */
    {"interval:iterations=10", 41, 0, 0}, /* once more when times are known better */
};
enum { SPECS = sizeof specs / sizeof *specs };

/* Numbers that are normally distributed. */
static double normal(unsigned long long *seed) {
    const double a = draw(seed), b = draw(seed);
    return sqrt(-2 * log(1 - a)) * cos(6.283185307179586 * b);
}

struct outcome {
    int migrations; /* after it should have settled, until unit 1 becomes slower, at DRIFT */
    double even;    /* mean of the last 100 steps before that: makespan over that of even loads, by
                       what tasks take without noise */
    int uneven;     /* steps after that until it is below 1.25 for good */
    int owner[TASKS]; /* in the end */
};

static struct outcome run(const struct schedule *which, double noise, double spikes,
                          unsigned long long seed) {
    npbmz *b;
    assert_int_equal(npbmz_open(&b, NPBMZ_BT, 'B'), EVN_OK);
    evn_problem p = npbmz_tasks(b);
    assert_int_equal(p.tasks, TASKS);
    p.units = U;
    p.space = which->apart ? (const int[U]){0, 1, 2, 3} : NULL;
    evn_schedule *s;
    if (evn_schedule_open(&s, which->spec, &p)) fail_msg("%s: %s", which->spec, evn_message());
    double speed[U] = {1, 1, 0.5, 2}, seconds[TASKS];
    int before[TASKS];
    struct outcome o = {0};
    seed *= 7919;
    for (int i = 1; i <= STEPS; i++) {
        if (i == DRIFT + 1) speed[1] /= 2;
        assert_ok(evn_schedule_simulate(s, o.owner, seconds));
        double time[U] = {0}, total = 0, total_speed = 0, longest = 0;
        for (int t = 0; t < TASKS; t++) {
            const int u = o.owner[t];
            seconds[t] *= 1e-6 / speed[u];
            time[u] += seconds[t];
            total += 1e-6 * p.weight[t];
            if (noise > 0) seconds[t] *= fmax(0.1, 1 + noise * normal(&seed));
            if (draw(&seed) < spikes) seconds[t] *= 10;
            o.migrations += i > which->settled && i <= DRIFT && o.owner[t] != before[t];
        }
        for (int u = 0; u < U; u++) {
            total_speed += speed[u];
            longest = fmax(longest, time[u]);
        }
        const double even = longest / (total / total_speed);
        if (i > DRIFT - 100 && i <= DRIFT) o.even += even / 100;
        if (i > DRIFT && even > 1.25) o.uneven = i - DRIFT;
        memcpy(before, o.owner, sizeof before);
        assert_ok(evn_schedule_learn(s, o.owner, seconds));
    }
    evn_schedule_close(s);
    npbmz_close(b);
    return o;
}

static void holds_under(double noise, int migrations, double longer, int uneven) {
    for (int k = 0; k < SPECS; k++) {
        const struct outcome quiet = run(&specs[k], 0, 0, 1);
        if (quiet.even > 1.1) fail_msg("%s: %.3f without noise", specs[k].spec, quiet.even);
        for (int seed = 1; seed <= SEEDS; seed++) {
            const struct outcome o = run(&specs[k], noise, 0.01, (unsigned)seed);
            if (o.migrations > migrations + specs[k].once)
                fail_msg("%s, noise %g, seed %d: %d migrations, expected at most %d", specs[k].spec,
                         noise, seed, o.migrations, migrations + specs[k].once);
            if (o.even > longer * quiet.even)
                fail_msg("%s, noise %g, seed %d: %.3f of even, %.3f without noise", specs[k].spec,
                         noise, seed, o.even, quiet.even);
            if (o.uneven > uneven)
                fail_msg("%s, noise %g, seed %d: a slow unit is noticed after %d steps",
                         specs[k].spec, noise, seed, o.uneven);
        }
    }
}

TEST(2_percent) { holds_under(0.02, 0, 1.02, 4); }
TEST(10_percent) { holds_under(0.1, 15, 1.05, 6); }
TEST(30_percent) {
    /* so a unit's first median may be off by a third, and two moves are needed to relieve it */
    holds_under(0.3, 30, 1.15, 12);
}

/* The same times, the same answer. */
TEST(repeats) {
    for (int k = 0; k < SPECS; k++) {
        const struct outcome a = run(&specs[k], 0.3, 0.01, 3), b = run(&specs[k], 0.3, 0.01, 3);
        assert_memory_equal(a.owner, b.owner, sizeof a.owner);
        assert_int_equal(a.migrations, b.migrations);
    }
}

RUN_TESTS(NULL, NULL)
