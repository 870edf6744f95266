/* Processes by threads against the published figures of BT class A (those of class C and of figure
 * 3 are command-model's), and the finer model by hand. Run: ctest -R predict */
#include "check.h"
#include "npbmz/npbmz.h"
#include <evener/predict.h>
#include <math.h>

static const double alpha = 0.030; /* Origin 3000 */

static double speedup(enum npbmz_benchmark b, char class_, int processes, int threads, int cap) {
    npbmz *problem;
    assert_int_equal(npbmz_open(&problem, b, class_), EVN_OK);
    const evn_problem tasks = npbmz_tasks(problem);
    const evn_processes p = {.processes = processes, .threads = threads, .cap = cap};
    int owner[1024], own[1024];
    assert_ok(evn_predict_group(&tasks, "binpack", &p, owner, own));
    const double s = evn_predict_speedup(&tasks, &p, owner, own, alpha, npbmz_loop(problem));
    npbmz_close(problem);
    return s;
}

/* The best of all processes x threads that give `cores`, with at most `threads_max` a process (0:
 * as many as there are). */
static double best(enum npbmz_benchmark b, char class_, int zones, int cores, int threads_max,
                   int *processes) {
    double max = 0;
    *processes = 0;
    for (int n = 1; n <= zones && n <= cores; n *= 2) {
        if (threads_max && cores / n > threads_max) continue;
        const double s = speedup(b, class_, n, cores / n, threads_max);
        if (s <= max) continue;
        max = s;
        *processes = n;
    }
    return max;
}

static void assert_shown(double is, int digits, const char *shown) {
    char text[32];
    snprintf(text, sizeof text, "%.*f", digits, is);
    assert_string_equal(text, shown);
}

TEST(class_a) {
    int n;
    assert_shown(best(NPBMZ_BT, 'A', 16, 8, 0, &n), 2, "7.59");
    assert_int_equal(n, 4);
    assert_shown(best(NPBMZ_BT, 'A', 16, 16, 0, &n), 2, "14.35");
    assert_int_equal(n, 4);
    assert_shown(best(NPBMZ_BT, 'A', 16, 32, 0, &n), 2, "25.96");
    assert_int_equal(n, 8);
    assert_shown(best(NPBMZ_BT, 'A', 16, 64, 0, &n), 1, "51.1");
    assert_int_equal(n, 8);
    /* with four threads a process at most nothing is won beyond 16 */
    assert_shown(best(NPBMZ_BT, 'A', 16, 32, 4, &n), 2, "18.91");
    assert_shown(best(NPBMZ_BT, 'A', 16, 64, 4, &n), 2, "17.87");
}

/* f(1, 2, 4, 8, 16) for L = 52. */
TEST(teams) {
    const evn_phase loop = {1, 52};
    static const char *const origin[] = {"1.000", "1.030", "1.090", "1.303", "1.785"},
                             *const power3[] = {"1.000", "1.021", "1.063", "1.235", "1.618"};
    for (int i = 0; i < 5; i++) {
        assert_shown(evn_predict_team(0.030, 1, &loop, 1 << i), 3, origin[i]);
        assert_shown(evn_predict_team(0.021, 1, &loop, 1 << i), 3, power3[i]);
    }
    const evn_phase two[] = {{0.25, 3}, {0.75, 4}};
    assert_true(fabs(evn_predict_team(0, 2, two, 2) - (0.25 * 4 / 3 + 0.75)) < 1e-15);
    assert_true(evn_predict_team(0.5, 0, NULL, 3) == 2);
    assert_true(isnan(evn_predict_team(-1, 0, NULL, 1)));
    assert_true(isnan(evn_predict_team(0, 1, &(evn_phase){1, -1}, 1)));
    assert_true(isnan(evn_predict_team(0, 1, &(evn_phase){1, 1}, 0)));
}

/* What a zone of NPB-MZ is made of: all of its time, in pieces. */
TEST(zones) {
    for (int b = NPBMZ_BT; b <= NPBMZ_LU; b++) {
        npbmz *problem;
        assert_int_equal(npbmz_open(&problem, b, 'A'), EVN_OK);
        for (int z = 0; z < npbmz_tasks(problem).tasks; z++) {
            evn_phase phase[16];
            const int n = npbmz_phases(problem, z, phase, 16);
            double sum = 0;
            assert_int_equal(n, b == NPBMZ_LU ? 3 : 4);
            for (int i = 0; i < n; i++) {
                int points[3];
                npbmz_zone(problem, z, points);
                sum += phase[i].share;
                assert_in_range(phase[i].length, 1, points[0] * points[1] * points[2]);
            }
            assert_true(fabs(sum - 1) < 1e-12);
            assert_int_equal(npbmz_phases(problem, z, phase, 2), 2);
        }
        npbmz_close(problem);
    }
}

TEST(slope) {
    const double x[] = {0, 1, 3}, y[] = {5, 1, 4};
    double rest;
    assert_true(fabs(evn_predict_slope(3, x, y, &rest) - 1.3) < 1e-15);
    assert_true(fabs(rest - sqrt((25 + 0.09 + 0.01) / 3)) < 1e-15);
    assert_true(evn_predict_slope(1, x, y, NULL) == 0);
}

static int phases(const void *arg, int task, evn_phase *phase, int room) {
    (void)arg;
    (void)room;
    *phase = (evn_phase){1, task ? 3 : 4};
    return 1;
}

/* Four tasks in a ring on three processes, two of them on a node. */
TEST(by_hand) {
    const evn_link ring[] = {{{0, 1}, 10}, {{1, 2}, 20}, {{2, 3}, 30}, {{3, 0}, 40}};
    const double seconds[] = {4, 6, 8, 2};
    const evn_problem tasks = {.tasks = 4, .weight = seconds, .links = 4, .link = ring};
    evn_prediction_input in = {.tasks = &tasks,
                               .seconds = seconds,
                               .alpha = 0.5,
                               .phases = phases,
                               .copy_per_byte = 0.001,
                               .near = {0.1, 0.01},
                               .far = {1, 0.02}};
    const evn_processes p = {.processes = 3, .threads = 2, .node = 4};
    const int owner[] = {0, 0, 1, 2}, threads[] = {3, 1, 2};
    evn_prediction out;
    assert_ok(evn_predict_step(&in, &p, owner, threads, &out));
    /* process 0: f(3) = 2 x 6/4 and 2 x 1; copies of 10 twice, 20 and 40; to 1 on its node, to 2
     * on another. 1: 8 and copies of 50, messages of 20 and 30 */
    const double c0 = 4 * 3. / 3 + 6 * 2. / 3, e0 = 0.08 + (0.1 + 0.2) + (1 + 0.8);
    const double c1 = 8, e1 = 0.05 + (0.1 + 0.2) + (1 + 0.6);
    assert_true(c0 + e0 > c1 + e1);
    assert_true(fabs(out.compute_s - c0) < 1e-12 && fabs(out.exchange_s - e0) < 1e-12);
    assert_true(fabs(out.tree_s - 4) < 1e-12);
    assert_true(fabs(out.step_s - (c0 + e0 + 4)) < 1e-12);
    const evn_processes together = {.processes = 3, .threads = 2};
    assert_ok(evn_predict_step(&in, &together, owner, threads, &out));
    assert_true(fabs(out.exchange_s - (0.08 + 0.3 + 0.5)) < 1e-12);
    assert_true(fabs(out.tree_s - 0.4) < 1e-12);
    /* what is no number */
    const double none[] = {4, NAN, 8, 2};
    in.seconds = none;
    assert_int_equal(evn_predict_step(&in, &p, owner, threads, &out), EVN_USAGE);
    const int nobody[] = {0, 0, 3, 2};
    assert_true(isnan(evn_predict_speedup(&tasks, &p, nobody, threads, 0, 0)));
    const evn_processes wrong[] = {
        {0, 1, 0, 0}, {1, 0, 0, 0}, {1, 4, 2, 0}, {1, 1, -1, 0}, {1, 2, 0, 1}};
    int own[4], group[4];
    for (int i = 0; i < 5; i++)
        assert_int_equal(evn_predict_group(&tasks, "binpack", &wrong[i], group, own), EVN_USAGE);
    assert_int_equal(evn_predict_group(&tasks, "none", &p, group, own), EVN_USAGE);
}

/* Units whose cores take whole tasks: of each how long it is at work. */
static void expect_busy(const char *schedule, evn_problem p, const int *cores, double doubling,
                        int (*of)(const void *, int, evn_phase *, int), const double *expected) {
    const evn_team_cost cost = {.doubling = doubling, .phases = of};
    double busy[4];
    assert_ok(evn_predict_units(&p, schedule, cores, &cost, busy));
    for (int u = 0; u < p.units; u++)
        if (fabs(busy[u] - expected[u]) > 1e-12)
            fail_msg("%s: unit %d takes %g, expected %g", schedule, u, busy[u], expected[u]);
}

static int three_pieces(const void *arg, int task, evn_phase *phase, int room) {
    (void)arg;
    (void)task;
    (void)room;
    *phase = (evn_phase){1, 3};
    return 1;
}

TEST(units) {
    const double two[] = {2}, four[] = {4}, ones[] = {1, 1};
    const double descending[] = {1, 2, 3, 2}, large[] = {1, 9, 1};
    const evn_problem one = {.tasks = 1, .units = 1, .speed = two};
    /* a core each; a task by both, and in 3 pieces: 4 / 3 of the time */
    expect_busy("static", (evn_problem){.tasks = 4, .units = 1, .speed = four}, (int[]){4}, 9, NULL,
                (double[]){1});
    expect_busy("static", one, (int[]){2}, 0.2, NULL, (double[]){0.6});
    expect_busy("static", one, (int[]){2}, 0.2, three_pieces, (double[]){0.8});
    /* by half the cores each: two of them with 1 + 3 and 2 + 2 */
    expect_busy("static", (evn_problem){.tasks = 4, .weight = descending, .units = 1, .speed = two},
                (int[]){2}, 9, NULL, (double[]){4});
    /* the large one by both, then one each; with cores of half the speed */
    expect_busy("static", (evn_problem){.tasks = 3, .weight = large, .units = 1, .speed = two},
                (int[]){2}, 0.2, NULL, (double[]){9 * 0.6 + 1});
    expect_busy("static", (evn_problem){.tasks = 3, .weight = large, .units = 1, .speed = ones},
                (int[]){2}, 0.2, NULL, (double[]){2 * (9 * 0.6 + 1)});
    /* three cores for the first, one for the other */
    const double few[] = {3, 1};
    expect_busy("static", (evn_problem){.tasks = 2, .weight = few, .units = 1, .speed = four},
                (int[]){4}, 0.2, NULL, (double[]){1 + 0.2 * log2(3)});
    /* units have their own; where they draw, each task is all that a unit has */
    const evn_problem pair = {.tasks = 3, .units = 2, .speed = ones};
    expect_busy("static", pair, (int[]){1, 1}, 0.2, NULL, (double[]){2, 1});
    expect_busy("dynamic:chunk=1,memorize=0", (evn_problem){.tasks = 2, .units = 1, .speed = two},
                (int[]){2}, 0.2, NULL, (double[]){1.2});
    /* instances go on until the schedule is done */
    const double rising[] = {1, 1, 1, 1, 4, 4};
    expect_busy("guided:size",
                (evn_problem){.tasks = 6, .weight = rising, .units = 2, .speed = ones},
                (int[]){1, 1}, 0.2, NULL, (double[]){4, 8});
}

/* A batch costs a team of four two meetings, and one core none. */
TEST(meetings) {
    const double speed[] = {8, 2};
    const evn_problem p = {.tasks = 8, .units = 2, .speed = speed};
    const evn_team_cost cost = {.doubling = 0.2, .meeting = 0.3};
    double busy[2];
    assert_ok(evn_predict_units(&p, "static", (int[]){4, 1}, &cost, busy));
    assert_true(fabs(busy[0] - (1 + 2 * 0.3) / 2) < 1e-12);
    assert_true(fabs(busy[1] - 4 / 2.0) < 1e-12);
}

/* The unit of most work first; all, where none is longer or a schedule would go on. */
TEST(enough) {
    const double weight[] = {1, 3, 2}, speed[] = {1, 1, 1};
    const evn_problem p = {.tasks = 3, .weight = weight, .units = 3, .speed = speed};
    const struct {
        const char *schedule;
        double enough, busy[3];
    } cases[] = {{"static", 2, {0, 3, 0}},
                 {"static", 3, {1, 3, 2}},
                 {"static", 0, {1, 3, 2}},
                 {"guided:size", 2, {1, 3, 2}}};
    for (int i = 0; i < 4; i++) {
        const evn_team_cost cost = {.doubling = 0.2, .enough = cases[i].enough};
        double busy[3];
        assert_ok(evn_predict_units(&p, cases[i].schedule, (int[]){1, 1, 1}, &cost, busy));
        assert_memory_equal(busy, cases[i].busy, sizeof busy);
    }
}

TEST(units_mistakes) {
    const double zero[] = {0};
    const evn_team_cost cost = {.doubling = 0.2}, less = {.doubling = -1}, none = {.doubling = NAN},
                        backwards = {.meeting = -1}, unclear = {.enough = NAN};
    const evn_problem p = {.tasks = 1, .units = 1};
    double busy[1];
    const struct {
        evn_problem p;
        const char *schedule;
        int cores;
        const evn_team_cost *cost;
        const char *says;
    } wrong[] = {
        {p, "static", 0, &cost, "unit 0 has 0 cores"},
        {p, "static", 1 << 30, &cost, "cores, expected 1 to"},
        {p, "static", 1, &less, "a team's cost is -1"},
        {p, "static", 1, &none, "a team's cost is nan"},
        {p, "static", 1, &backwards, "a team's meeting is -1"},
        {p, "static", 1, &unclear, "up to nan are enough"},
        {p, "none", 1, &cost, "none"},
        {{.tasks = 0, .units = 1}, "static", 1, &cost, "0 tasks on 1 units"},
        {{.tasks = 1, .units = 0}, "static", 1, &cost, "1 tasks on 0 units"},
        {{.tasks = 1, .units = 1, .weight = (double[]){NAN}}, "static", 1, &cost, "weight"},
        {{.tasks = 1, .units = 1, .speed = zero}, "static", 1, &cost, "speed"},
        {p, NULL, 1, &cost, "a schedule"},
        {p, "static", 1, NULL, "what a team costs"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(
            evn_predict_units(&wrong[i].p, wrong[i].schedule, &wrong[i].cores, wrong[i].cost, busy),
            EVN_USAGE);
        if (!strstr(evn_message(), wrong[i].says)) fail_msg("%zu: %s", i, evn_message());
    }
    assert_int_equal(evn_predict_units(NULL, "static", (int[]){1}, &cost, busy), EVN_USAGE);
    assert_int_equal(evn_predict_units(&p, "static", NULL, &cost, busy), EVN_USAGE);
    assert_int_equal(evn_predict_units(&p, "static", (int[]){1}, &cost, NULL), EVN_USAGE);
}

RUN_TESTS(NULL, NULL)
