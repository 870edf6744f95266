/* auto, the default schedule, in a virtual clock: that it draws while a unit comes and goes and no
 * longer, that nobody draws where units have memories of their own, that a unit that is of no use
 * is left out and comes back when it has recovered, and that tasks are drawn the heaviest first.
 * Whether it is near the best of all is what `evener bench schedules --default` asks.
 * Run: ctest -R '^auto$' */
#include "schedule/open.h"
#include "schedule/version.h"
#include <math.h>

enum { TASKS = 24, UNITS = 4 };

/* One instance on units of these speeds, each task 1 and a little; returns how long it was. */
static double step(evn_schedule *s, const double *speed) {
    const evn_problem *p = evn_schedule_problem(s);
    int owner[TASKS];
    double seconds[TASKS], time[UNITS] = {0}, longest = 0;
    const int chunk = evn_schedule_about(s).chunk;
    const int *order = evn_schedule_about(s).order;
    memcpy(owner, evn_schedule_owner(s), sizeof owner);
    for (int i = 0; i < TASKS; i++) {
        const int t = order ? order[i] : i;
        for (int u = 0; chunk && u < p->units; u++)
            if (!u || time[u] < time[owner[t]]) owner[t] = u;
        seconds[t] = 1e-3 * p->weight[t] / speed[owner[t]];
        time[owner[t]] += seconds[t];
        longest = fmax(longest, time[owner[t]]);
    }
    assert_ok(evn_schedule_learn(s, owner, seconds));
    return longest;
}

static double weight[TASKS];

static evn_problem problem(int units) {
    for (int t = 0; t < TASKS; t++) weight[t] = 1 + t % 5;
    return (evn_problem){.tasks = TASKS, .weight = weight, .units = units};
}

/* How many of `steps` instances are drawn while unit 1 is three times as slow in every other. */
static int flicker(evn_schedule *s, int steps) {
    int drawn = 0;
    for (int i = 0; i < steps; i++) {
        const double speed[UNITS] = {1, i % 2 ? 1 : 1 / 3.0};
        drawn += evn_schedule_about(s).chunk > 0;
        step(s, (double[UNITS]){speed[0], speed[1], 1, 1});
    }
    return drawn;
}

TEST(draws_and_returns) {
    static const double quiet[UNITS] = {1, 1, 1, 1};
    const evn_problem p = problem(UNITS);
    OWN(schedule) *s = open_or_fail("auto", &p);
    for (int i = 0; i < 100; i++) {
        step(s, quiet);
        assert_int_equal(evn_schedule_about(s).chunk, 0);
        assert_null(evn_schedule_about(s).order);
    }
    assert_true(schedule_settled(s));
    assert_true(flicker(s, 60) >= 40);
    assert_false(schedule_settled(s));
    const int *order = evn_schedule_about(s).order;
    int seen[TASKS] = {0};
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(seen[order[i]]++, 0);
        if (i) assert_true(weight[order[i]] <= weight[order[i - 1]]);
    }
    for (int i = 0; i < 400; i++) step(s, quiet);
    assert_int_equal(evn_schedule_about(s).chunk, 0);
    /* as long as weights say: 24 tasks of 1 to 5 that are 70 in all, 18 at best */
    assert_true(step(s, quiet) < 18.5e-3);
}

TEST(memories_of_their_own) {
    static const int space[UNITS] = {0, 0, 1, 2};
    evn_problem p = problem(UNITS);
    p.space = space;
    OWN(schedule) *s = open_or_fail("auto", &p);
    assert_int_equal(flicker(s, 100), 0);
}

/* Under units that come and go no unit gets more than its memory holds. */
TEST(memory_is_kept) {
    static const int space[UNITS] = {0, 0, 1, 2};
    const double capacity[UNITS] = {0, 0, 12, 12};
    evn_problem p = problem(UNITS);
    p.space = space;
    p.bytes = weight;
    p.capacity = capacity;
    OWN(schedule) *s = open_or_fail("auto", &p);
    int changes = 0, before[TASKS];
    for (int i = 0; i < 300; i++) {
        const int off = i / 25 % 3; /* which of the host's units, or none */
        memcpy(before, evn_schedule_owner(s), sizeof before);
        step(s, (double[UNITS]){off == 0 && i % 2 ? 0.2 : 1, off == 1 && i % 2 ? 0.2 : 1, 2, 2});
        changes += memcmp(before, evn_schedule_owner(s), sizeof before) != 0;
        double bytes[UNITS] = {0};
        for (int t = 0; t < TASKS; t++) bytes[evn_schedule_owner(s)[t]] += weight[t];
        assert_true(bytes[2] <= 12 && bytes[3] <= 12);
    }
    assert_true(changes > 5);
}

static int has(const evn_schedule *s, int unit) {
    int count = 0;
    for (int t = 0; t < TASKS; t++) count += evn_schedule_owner(s)[t] == unit;
    return count;
}

/* One task alone would take unit 1 longer than all others together take unit 0. */
TEST(of_no_use) {
    static const double useless[UNITS] = {1, 0.005}, quiet[UNITS] = {1, 1};
    static const int space[UNITS] = {0, 1};
    for (int apart = 0; apart < 2; apart++) {
        evn_problem p = problem(2);
        p.space = apart ? space : NULL;
        OWN(schedule) *s = open_or_fail("auto", &p);
        int probed = 0;
        for (int i = 0; i < 300; i++) {
            step(s, useless);
            if (i > 20) probed += has(s, 1) > 0;
        }
        if (probed > 10) fail_msg("unit 1 has had something %d times of 280", probed);
        for (int i = 0; i < 3000; i++) step(s, quiet);
        assert_true(step(s, quiet) < 1.1 * 35e-3); /* of 70 in all, by both */
    }
}

/* A plan that is written out while units draw is one to go on from. */
TEST(goes_on) {
    const evn_problem p = problem(UNITS);
    evn_schedule *s = open_or_fail("auto", &p), *copy = open_or_fail("auto", &p);
    flicker(s, 30);
    char *text = evn_schedule_export(s), *why = evn_schedule_explain(s);
    assert_non_null(strstr(why, "tasks are drawn"));
    assert_ok(evn_schedule_import(copy, text));
    assert_int_equal(evn_schedule_about(copy).chunk, 0);
    assert_memory_equal(evn_schedule_owner(copy), evn_schedule_owner(s), sizeof(int) * TASKS);
    flicker(copy, 30);
    free(why);
    free(text);
    evn_schedule_close(copy);
    evn_schedule_close(s);
    assert_int_equal(evn_schedule_open(&s, "auto:size", &p), EVN_USAGE);
}

RUN_TESTS(NULL, NULL)
