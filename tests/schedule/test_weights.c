/* Weights that change (schedule_weights()), in a virtual clock: that schedules which go by
 * weights follow them to near what a fresh plan has, that seconds for a weight stay learnt, that
 * weights which stay change nothing, that few tasks move, and that wrong ones are refused.
 * Run: ctest -R '^weights$' */
#include "schedule/open.h"
#include "schedule/version.h"
#include "schedule/weigh.h"
#include <math.h>

enum { TASKS = 400, UNITS = 4, STEPS = 200 };

/* Atoms in cells: a wave that goes through them, over noise of each cell. */
static void atoms(double *weight, int step) {
    unsigned long long seed = 7;
    for (int t = 0; t < TASKS; t++) {
        const double own = draw(&seed);
        weight[t] = floor(20 + 10 * own + 60 * exp(-pow((t - 2.0 * step) / 60, 2)));
    }
}

/* What the schedule is not told: units' speeds, and what an atom takes in a cell. */
static const double speed[UNITS] = {1, 1, 0.5, 2};
static double each(int task) { return 1e-5 * (1 + task % 3); }

/* One instance; returns its time over that if all were done at once. */
static double run(evn_schedule *s, const double *weight, int *owner) {
    double seconds[TASKS], time[UNITS] = {0}, work = 0, longest = 0;
    memcpy(owner, evn_schedule_owner(s), TASKS * sizeof *owner);
    for (int t = 0; t < TASKS; t++) {
        seconds[t] = weight[t] * each(t) / speed[owner[t]];
        work += weight[t] * each(t);
        time[owner[t]] += seconds[t];
        longest = fmax(longest, time[owner[t]]);
    }
    assert_ok(evn_schedule_learn(s, owner, seconds));
    return longest / (work / 4.5);
}

/* Schedules that learn, which know neither speeds nor costs before: as even as `most`. */
TEST(learnt) {
    static const struct {
        const char *text;
        double most;
    } of[] = {{"auto", 1.03},
              {"map", 1.03},
              {"guided:time", 1.05},
              {"interval", 1.12},
              {"binpack:time", 1.05}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double weight[TASKS], sum = 0;
        int owner[TASKS], before[TASKS];
        long moved = 0;
        atoms(weight, 0);
        const evn_problem p = {.tasks = TASKS, .weight = weight, .units = UNITS};
        OWN(schedule) *s = open_or_fail(of[i].text, &p);
        for (int step = 0; step < STEPS; step++) {
            memcpy(before, evn_schedule_owner(s), sizeof before);
            atoms(weight, step);
            assert_ok(schedule_weights(s, weight));
            assert_memory_equal(evn_schedule_problem(s)->weight, weight, sizeof weight);
            const double took = run(s, weight, owner);
            if (step >= 60) sum += took;
            for (int t = 0; t < TASKS; t++) moved += step >= 60 && owner[t] != before[t];
        }
        sum /= STEPS - 60;
        if (sum > of[i].most) fail_msg("%s: %.3f of even", of[i].text, sum);
        if (moved > TASKS * 5) fail_msg("%s: %ld tasks moved", of[i].text, moved);
    }
}

/* Those that go by weights alone are as even as a fresh plan. */
TEST(planned) {
    static const char *const of[] = {"binpack", "weighted:size", "optimal:limit=0.1,gap=0.01"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double weight[TASKS];
        atoms(weight, 0);
        const evn_problem p = {.tasks = TASKS, .weight = weight, .units = UNITS, .speed = speed};
        evn_schedule *s, *fresh;
        if (evn_schedule_open(&s, of[i], &p) == EVN_MISSING) continue; /* without CBC */
        for (int step = 1; step < 30; step++) {
            atoms(weight, 7 * step);
            assert_ok(schedule_weights(s, weight));
            fresh = open_or_fail(of[i], &p);
            double load[UNITS], time[2] = {0};
            for (int f = 0; f < 2; f++) {
                evn_problem_imbalance(&p, evn_schedule_owner(f ? fresh : s), load);
                for (int u = 0; u < UNITS; u++) time[f] = fmax(time[f], load[u] / speed[u]);
            }
            if (time[0] > 1.05 * time[1])
                fail_msg("%s: %g, and a fresh plan %g", of[i], time[0], time[1]);
            HEAP char *why = evn_schedule_explain(s);
            assert_non_null(why);
            evn_schedule_close(fresh);
        }
        evn_schedule_close(s);
    }
}

/* Another factor for all weights is another length of the instance, and no reason to move. */
TEST(scale) {
    static const char *const of[] = {"auto", "map", "interval", "guided:time", "binpack:time"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double weight[TASKS];
        int owner[TASKS], kept[TASKS];
        atoms(weight, 50);
        const evn_problem p = {.tasks = TASKS, .weight = weight, .units = UNITS};
        OWN(schedule) *s = open_or_fail(of[i], &p);
        for (int step = 0; step < 100; step++) run(s, weight, owner);
        memcpy(kept, evn_schedule_owner(s), sizeof kept);
        for (int step = 0; step < 40; step++) {
            for (int t = 0; t < TASKS; t++) weight[t] *= step % 2 ? 4 : 0.25;
            assert_ok(schedule_weights(s, weight));
            run(s, weight, owner);
            assert_memory_equal(owner, kept, sizeof kept);
        }
    }
}

TEST(same_and_none) {
    static const char *const of[] = {"auto",    "map",           "static",   "dynamic",
                                     "binpack", "weighted:size", "interval", "guided:size"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double weight[TASKS];
        int owner[TASKS];
        atoms(weight, 20);
        const evn_problem p = {.tasks = TASKS, .weight = weight, .units = UNITS};
        OWN(schedule) *s = open_or_fail(of[i], &p);
        for (int step = 0; step < 10; step++) run(s, weight, owner);
        const unsigned version = schedule_version(s);
        assert_ok(schedule_weights(s, weight));
        assert_int_equal(schedule_version(s), version);
        /* nothing weighs anything; then all the same, and one far more than all others */
        for (int turn = 0; turn < 4; turn++) {
            for (int t = 0; t < TASKS; t++) weight[t] = turn == 2 && !t ? 1e300 : turn == 3;
            assert_ok(schedule_weights(s, turn == 1 ? NULL : weight));
            for (int t = 0; t < TASKS; t++) assert_in_range(evn_schedule_owner(s)[t], 0, UNITS - 1);
            for (int t = 0; t < TASKS; t++) weight[t] = fmin(weight[t], 1e3);
            run(s, weight, owner);
        }
        const double kept = evn_schedule_problem(s)->weight[5];
        weight[5] = -1;
        assert_int_equal(schedule_weights(s, weight), EVN_USAGE);
        weight[5] = NAN;
        assert_int_equal(schedule_weights(s, weight), EVN_USAGE);
        assert_true(evn_schedule_problem(s)->weight[5] == kept);
    }
}

RUN_TESTS(NULL, NULL)
