/* Schedules, each as a pure policy: no thread is started here. One set of checks for all of them,
 * then what each promises. Run: ctest -R schedule */
#include "schedule/open.h"
#include "schedule/version.h"
#include "npbmz/npbmz.h"
#include <math.h>

/* Of schedules with options; others of the table come behind them. */
static const char *specs[32] = {
    "static",
    "static:chunk=1",
    "dynamic",
    "dynamic:chunk=2,memorize=0",
    "dynamic:chunk=5,memorize=1",
    "auto",
    "guided:size",
    "guided:time",
    "weighted",
    "weighted:size",
    "binpack",
    "binpack:time",
    "interval",
    "interval:iterations=3",
    "map",
    "optimal:limit=0",
    "optimal:nodes=20", /* the last: without the solver it goes */
};

/* Whether a specification is of that schedule. */
static int is_of(const char *spec, const char *name) {
    const size_t length = strlen(name);
    return !strncmp(spec, name, length) && (!spec[length] || spec[length] == ':');
}

/* Adds the schedules of the table that no specification has. */
static int add_others(void **state) {
    (void)state;
    const char *name;
    int count = 0;
    while (specs[count]) count++;
    if (!has_library("optimal")) specs[--count] = NULL;
    for (int n = 0; (name = evn_schedule_name(n, NULL)); n++) {
        int i = 0;
        while (i < count && !is_of(specs[i], name)) i++;
        if (i < count) continue;
        assert_in_range(count, 0, sizeof specs / sizeof *specs - 2);
        specs[count++] = name;
    }
    return 0;
}

/* Weights of every awkward kind. The sum of the last is beyond what a number holds. */
enum { KINDS = 9 };
static void fill(double *w, int n, int kind) {
    unsigned long long seed = 7;
    for (int t = 0; t < n; t++)
        w[t] = kind == 0   ? 1
               : kind == 1 ? 0
               : kind == 2 ? (t == n / 2 ? 1e300 : 1)
               : kind == 3 ? t + 1
               : kind == 4 ? draw(&seed)
               : kind == 5 ? (t % 3 ? 0 : 1e-300)
               : kind == 6 ? 1e308
                           : t % 4;
}

/* What it says of itself, and that it goes on from where it was when it is written out and read. */
static void goes_on(evn_schedule *s, const char *spec, const evn_problem *p) {
    char *why = evn_schedule_explain(s);
    assert_non_null(why);
    if (!*why || why[strlen(why) - 1] != '\n' || strstr(why, "nan"))
        fail_msg("%s: explained as \"%s\"", spec, why);
    free(why);
    HEAP char *text = evn_schedule_export(s);
    assert_non_null(text);
    OWN(schedule) *copy = open_or_fail(spec, p);
    if (evn_schedule_import(copy, text)) fail_msg("%s: %s", text, evn_message());
    assert_memory_equal(evn_schedule_owner(copy), evn_schedule_owner(s),
                        sizeof(int) * (size_t)p->tasks);
    HEAP char *again = evn_schedule_export(copy);
    assert_string_equal(text, again);
}

/* Six instances: every task once on a unit that exists, none starved when tasks suffice, and the
 * same again from the same input. */
static void conforms(const char *spec, int tasks, int units, int kind) {
    const size_t n = (size_t)tasks;
    HEAP double *w = malloc(sizeof *w * n), *seconds = malloc(sizeof *seconds * n);
    double speed[8] = {1, 2, 1, 1, 3, 1, 1, 1};
    HEAP int *owner = malloc(sizeof *owner * n), *first = malloc(sizeof *first * n * 6);
    HEAP evn_link *link = malloc(sizeof *link * 2 * n);
    fill(w, tasks, kind);
    evn_problem p = {.tasks = tasks,
                     .weight = w,
                     .units = units,
                     .speed = kind == 3 ? speed : NULL,
                     /* where exchange costs as much as computing, CBC takes minutes */
                     .bandwidth = kind == 4 && strncmp(spec, "optimal", 7) != 0 ? 10 : 0,
                     .link = link};
    /* near and far, with routes of every awkward kind, and memory that may be full */
    static const int unit_kind[8] = {0, 1, 0, 1, 1, 1, 0, 0}, node[8] = {5, 5, 0, 0, 9, 5, 0, 9};
    static const evn_route routes[4] = {
        {1, {0}, {0}}, {1, {1e300}, {1e300}}, {2, {0, 1}, {1e-300, 1e-3}}, {1, {1e-9}, {1e-9}}};
    if (kind >= 7) {
        p.kinds = 2;
        p.kind = unit_kind;
        p.node = node;
        p.route = kind == 7 ? NULL : routes;
        p.far = routes;
        p.bytes = kind == 8 ? w : NULL;
        p.capacity = kind == 8 ? speed : NULL;
    }
    /* a grid of rows of 8, once of links that say nothing and once of links that say too much */
    for (int t = 0; t < tasks && kind >= 2; t++) {
        const double bytes = kind == 5 ? 0 : kind == 6 || kind == 7 ? 1e300 : 1 + t % 5;
        if (t + 1 < tasks && t % 8 < 7) link[p.links++] = (evn_link){{t, t + 1}, bytes};
        if (t + 8 < tasks) link[p.links++] = (evn_link){{t, t + 8}, bytes};
    }
    for (int again = 0; again < 2; again++) {
        OWN(schedule) *s = open_or_fail(spec, &p);
        for (int i = 0; i < 6; i++) {
            assert_ok(evn_schedule_simulate(s, owner, seconds));
            int *had = calloc((size_t)units, sizeof *had);
            for (int t = 0; t < tasks; t++) {
                assert_in_range(owner[t], 0, units - 1);
                had[owner[t]]++;
                if (again) assert_int_equal(owner[t], first[i * tasks + t]);
            }
            memcpy(first + i * tasks, owner, sizeof *owner * n);
            /* a queue gives a unit nothing when others are free sooner, auto when all are done
             * sooner without it, and memory may decide; otherwise owners that are fixed starve
             * nobody */
            const int may = !strncmp(spec, "dynamic", 7) || !strcmp(spec, "auto");
            for (int u = 0; u < units && tasks >= units && kind < 8 && !may; u++)
                if (!had[u])
                    fail_msg("%s: unit %d of %d starves with %d tasks, weights %d", spec, u, units,
                             tasks, kind);
            free(had);
            assert_ok(evn_schedule_learn(s, owner, seconds));
            assert_int_equal(evn_schedule_about(s).instance, i + 1);
        }
        if (!again) goes_on(s, spec, &p);
    }
}

TEST(conformance) {
    static const int tasks[] = {1, 2, 3, 7, 16, 64, 257}, units[] = {1, 2, 3, 5, 8};
    const int is_long = getenv("EVENER_TEST_LONG") != NULL; /* else every second problem */
    for (int i = 0; specs[i]; i++)
        for (int n = 0; n < 7; n++)
            for (int u = 0; u < 5; u++)
                for (int kind = 0; kind < KINDS; kind++)
                    if ((is_long || (n + u + kind) % 2 == 0) &&
                        (kind < 7 || tasks[n] < 7 || strncmp(specs[i], "optimal", 7) != 0))
                        conforms(specs[i], tasks[n], units[u], kind);
}

TEST(static) {
    evn_problem p = {.tasks = 10, .units = 4};
    static const int expected[] = {0, 0, 0, 1, 1, 1, 2, 2, 3, 3};
    OWN(schedule) *s = open_or_fail("static", &p);
    assert_memory_equal(evn_schedule_owner(s), expected, sizeof expected);
    assert_int_equal(evn_schedule_about(s).chunk, 0);
    assert_true(schedule_settled(s));
    evn_schedule_close(s);
    /* chunks in turn, as OpenMP has them */
    static const int chunks[] = {0, 0, 1, 1, 2, 2, 3, 3, 0, 0};
    s = open_or_fail("static:chunk=2", &p);
    assert_string_equal(evn_schedule_text(s), "static:chunk=2");
    assert_memory_equal(evn_schedule_owner(s), chunks, sizeof chunks);
    assert_int_equal(evn_schedule_about(s).chunk, 0);
    assert_true(schedule_settled(s));
    evn_schedule_close(s);
    s = open_or_fail("static:chunk=1000000000", &p); /* all to the first */
    for (int t = 0; t < 10; t++) assert_int_equal(evn_schedule_owner(s)[t], 0);
}

TEST(imbalance) {
    assert_true(evn_imbalance(3, (double[]){2, 1, 4}) == 4);
    assert_true(evn_imbalance(1, (double[]){7}) == 1);
    assert_true(evn_imbalance(2, (double[]){0, 0}) == 1);
    assert_true(isinf(evn_imbalance(2, (double[]){3, 0})));
    evn_problem p = {
        .tasks = 3, .weight = (double[]){4, 2, 2}, .units = 2, .speed = (double[]){2, 1}};
    double load[2];
    assert_true(evn_problem_imbalance(&p, (int[]){0, 0, 1}, load) == 1.5);
    assert_true(load[0] == 6 && load[1] == 2);
    assert_true(evn_problem_imbalance(&p, (int[]){0, 0, 0}, NULL) == INFINITY);
}

TEST(dynamic_memory) {
    evn_problem p = {.tasks = 4, .units = 2};
    OWN(schedule) *s = open_or_fail("dynamic:chunk=1,memorize=2", &p);
    static const int a[] = {0, 1, 0, 1}, b[] = {1, 1, 0, 1}, c[] = {0, 0, 0, 1};
    static const double t[] = {1, 1, 1, 1};
    assert_int_equal(evn_schedule_about(s).chunk, 1);
    evn_schedule_learn(s, a, t);
    assert_int_equal(evn_schedule_about(s).chunk, 1);
    assert_false(schedule_settled(s));
    evn_schedule_learn(s, b, t);
    assert_int_equal(evn_schedule_about(s).chunk, 0);
    assert_true(schedule_settled(s));
    assert_memory_equal(evn_schedule_owner(s), b, sizeof b);
    evn_schedule_learn(s, c, t); /* it is kept for good */
    assert_memory_equal(evn_schedule_owner(s), b, sizeof b);
    evn_schedule_close(s);
    s = open_or_fail("dynamic:memorize=0", &p);
    for (int i = 0; i < 50; i++) evn_schedule_learn(s, a, t);
    assert_int_equal(evn_schedule_about(s).chunk, 1);
}

/* Texts of plans that are none; those that are: goes_on(). */
TEST(import) {
    double w[12];
    fill(w, 12, 4);
    evn_problem p = {.tasks = 12, .weight = w, .units = 3};
    OWN(schedule) *s = open_or_fail("static", &p);
    static const char *const bad[] = {
        "",
        "static",
        "static 12 tasks 3 units:",
        "static 12 tasks 3 units: 11*0",
        "static 12 tasks 3 units: 13*0",
        "static 12 tasks 3 units: 12*3",
        "static 12 tasks 3 units: 12*",
        "static 12 tasks 3 units: 12*0 x",
        "static 11 tasks 3 units: 11*0",
        "guided:size 12 tasks 3 units: 12*0",
    };
    static const int before[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(evn_schedule_import(s, bad[i]), EVN_USAGE);
        assert_memory_equal(evn_schedule_owner(s), before, sizeof before);
    }
}

TEST(bad_input) {
    static const char *const bad[] = {
        "",
        "statik",
        "static:x",
        "static:chunk",
        "static:chunk=0",
        "static:chunk=2,size",
        "dynamic:chunk=0",
        "dynamic:chunk=",
        "dynamic:chunk=-1",
        "dynamic:chunk=1x",
        "dynamic:size=3",
        "dynamic:,",
        "dynamic:memorize=1e3",
        "guided",
        "guided:",
        "guided:weight",
        "guided:size=1",
        "guided:size,time",
        "dynamic:chunk=99999999999999999999",
    };
    evn_problem p = {.tasks = 4, .units = 2};
    evn_schedule *s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int status = evn_schedule_open(&s, bad[i], &p);
        if (status != EVN_USAGE) fail_msg("\"%s\" was taken for a schedule", bad[i]);
        assert_null(s);
        assert_true(strlen(evn_message()) > 10);
    }
    evn_problem wrong[] = {
        {.tasks = 0, .units = 1},
        {.tasks = 1, .units = 0},
        {.tasks = 2, .units = 2, .kind = (int[]){0, 1}},
        {.tasks = 2, .units = 2, .route = &(evn_route){1, {0}, {-1}}},
        {.tasks = 2, .units = 2, .far = &(evn_route){2, {0}, {0, INFINITY}}},
        {.tasks = 2, .units = 2, .bytes = (double[]){1, INFINITY}},
        {.tasks = 2, .units = 2, .capacity = (double[]){-1, 0}},
        {.tasks = 2, .units = 2, .space = (int[]){0, -1}},
        {.tasks = 2, .units = 2, .state = (double[]){1, NAN}},
        {.tasks = 2, .units = 2, .carry = -1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(evn_schedule_open(&s, "static", &wrong[i]), EVN_USAGE, "expected");
}

TEST(cut) {
    evn_link link[] = {{{0, 1}, 10}, {{1, 2}, 20}, {{2, 3}, 40}, {{3, 0}, 80}};
    evn_problem p = {.tasks = 4, .units = 3, .links = 4, .link = link};
    int pairs;
    assert_true(evn_problem_cut(&p, (int[]){0, 0, 0, 0}, &pairs) == 0);
    assert_int_equal(pairs, 0);
    assert_true(evn_problem_cut(&p, (int[]){0, 0, 1, 1}, &pairs) == 2 * (20 + 80));
    assert_int_equal(pairs, 2);
    assert_true(evn_problem_cut(&p, (int[]){0, 1, 2, 2}, &pairs) == 2 * (10 + 20 + 80));
    assert_int_equal(pairs, 6);
}

TEST(uses_speeds) {
    static const char *const with[] = {"guided:size",    "guided:time", "weighted",
                                       "binpack:cap=4",  "interval",    "map",
                                       "optimal:limit=1"},
                             *const without[] = {
                                 "static", "static:chunk=2", "dynamic", "dynamic:chunk=2",
                                 "none",   "stat",           "statics", ""};
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        assert_int_equal(evn_schedule_uses_speeds(with[i]), 1);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        assert_int_equal(evn_schedule_uses_speeds(without[i]), 0);
    assert_int_equal(evn_schedule_uses_speeds(NULL), 0);
}

RUN_TESTS(add_others, NULL)
