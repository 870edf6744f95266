/* Remaps weighed against carrying tasks' states to other spaces, in a virtual clock: a unit that is
 * slow for long is relieved, one that comes and goes is not, and near the end nothing travels any
 * more. Run: ctest -R carry */
#include "schedule/open.h"
#include "schedule/version.h"
#include <math.h>

enum { TASKS = 40, UNITS_MAX = 4 };

static const char *const specs[] = {"interval", "interval:iterations=5", "guided:time", "map",
                                    "binpack:time"};
enum { SPECS = sizeof specs / sizeof *specs };

struct world {
    int units;
    int space[UNITS_MAX];
    int instances;
    int slow, from, every; /* a unit that takes three times as long, from an instance on; every: so
                              many so, and as many as ever, in turn; 0: for good */
    double bytes;          /* of a task's state; 0: nothing is said of states */
    double told;           /* s a byte that carrying is said to take before the first instance */
};

struct outcome {
    int carried, moved;   /* tasks to another space, and to another unit of theirs */
    int first;            /* instance after which the first was carried */
    double longest, even; /* of the last instance: its time, and that of even loads */
    int owner[TASKS];
};

static int is_slow(const struct world *w, int unit, int i) {
    return unit == w->slow && i >= w->from && !(w->every && (i - w->from) / w->every % 2);
}

static evn_schedule *open_it(const char *spec, const struct world *w) {
    double state[TASKS];
    for (int t = 0; t < TASKS; t++) state[t] = w->bytes;
    const evn_problem p = {.tasks = TASKS,
                           .units = w->units,
                           .instances = w->instances,
                           .space = w->bytes > 0 ? w->space : NULL,
                           .state = w->bytes > 0 ? state : NULL};
    evn_schedule *s;
    if (evn_schedule_open(&s, spec, &p)) fail_msg("%s: %s", spec, evn_message());
    if (w->told > 0) assert_ok(schedule_carried(s, 1, w->told));
    return s;
}

static struct outcome run(const char *spec, const struct world *w) {
    struct outcome o = {0};
    OWN(schedule) *s = open_it(spec, w);
    for (int i = 0; i < w->instances; i++) {
        double seconds[TASKS], time[UNITS_MAX] = {0}, speeds = 0;
        memcpy(o.owner, evn_schedule_owner(s), sizeof o.owner);
        for (int t = 0; t < TASKS; t++) {
            seconds[t] = is_slow(w, o.owner[t], i) ? 3 : 1;
            time[o.owner[t]] += seconds[t];
        }
        o.longest = 0;
        for (int u = 0; u < w->units; u++) {
            o.longest = fmax(o.longest, time[u]);
            speeds += is_slow(w, u, i) ? 1. / 3 : 1;
        }
        o.even = TASKS / speeds;
        assert_ok(evn_schedule_learn(s, o.owner, seconds));
        const int *next = evn_schedule_owner(s);
        for (int t = 0; i + 1 < w->instances && t < TASKS; t++) {
            if (next[t] == o.owner[t]) continue;
            if (w->space[next[t]] == w->space[o.owner[t]])
                o.moved++;
            else if (!o.carried++)
                o.first = i;
        }
    }
    return o;
}

/* Ten tasks ought to go: they save 30 s an instance. */
static const struct world two = {.units = 2, .space = {0, 1}, .instances = 400, .slow = 1};

TEST(long) {
    struct world w = two;
    w.from = 60;
    for (int k = 0; k < SPECS; k++) {
        const struct outcome free_ = run(specs[k], &w);
        w.bytes = 30e9; /* 300 s in all: it takes 10 instances to save them */
        const struct outcome o = run(specs[k], &w);
        w.bytes = 0;
        assert_true(free_.carried > 0 && free_.first < 60 + 6);
        if (o.longest > 1.07 * o.even || !o.carried || o.carried > 14)
            fail_msg("%s: %g s, even %g s, %d carried", specs[k], o.longest, o.even, o.carried);
        if (o.first < 60 + 8 || o.first > 60 + 40)
            fail_msg("%s: carried after %d", specs[k], o.first);
    }
}

/* From the start nothing says that it will not stay so. */
TEST(from_the_start) {
    struct world w = two;
    w.bytes = 30e9;
    for (int k = 0; k < SPECS; k++) {
        const struct outcome o = run(specs[k], &w);
        if (o.longest > 1.07 * o.even || o.first > 5)
            fail_msg("%s: %g s, even %g s, first after %d", specs[k], o.longest, o.even, o.first);
    }
}

TEST(flickers) {
    struct world w = two;
    w.from = 60;
    w.every = 8;
    for (int k = 0; k < SPECS; k++) {
        assert_true(run(specs[k], &w).carried > 60); /* they would, if it cost nothing */
        w.bytes = 30e9;
        const struct outcome o = run(specs[k], &w);
        w.bytes = 0;
        if (o.carried) fail_msg("%s: %d carried, first after %d", specs[k], o.carried, o.first);
    }
}

TEST(near_the_end) {
    struct world w = two;
    w.instances = 93; /* 8 are left when it is known, and 10 would have to be */
    w.from = 82;
    for (int k = 0; k < SPECS; k++) {
        assert_true(run(specs[k], &w).carried > 0);
        w.bytes = 30e9;
        assert_int_equal(run(specs[k], &w).carried, 0);
        w.bytes = 0;
    }
    w.from = 0; /* from the start: 5 instances, 150 s to be saved at most */
    w.instances = 5;
    w.bytes = 60e9;
    for (int k = 0; k < SPECS; k++) assert_int_equal(run(specs[k], &w).carried, 0);
}

/* What never pays between spaces goes on within them. */
TEST(within) {
    const struct world w = {
        .units = 4, .space = {0, 0, 1, 1}, .instances = 200, .slow = 1, .from = 60, .bytes = 1e15};
    for (int k = 0; k < 2; k++) {
        const struct outcome o = run(specs[k], &w);
        assert_int_equal(o.carried, 0);
        assert_true(o.moved > 0);
        assert_true(o.longest <= 15); /* 15 and 5 of 20 tasks */
    }
    assert_int_equal(run("guided:time", &w).carried, 0);
    assert_int_equal(run("map", &w).carried, 0);
}

/* What carrying has taken counts. */
TEST(told) {
    struct world w = two;
    w.from = 60;
    w.bytes = 30e9;
    w.told = 1e-6;
    for (int k = 0; k < SPECS; k++) assert_int_equal(run(specs[k], &w).carried, 0);
    w.told = 1e-12;
    for (int k = 0; k < SPECS; k++) assert_true(run(specs[k], &w).first < 60 + 6);

    OWN(schedule) *s = open_it("map", &two);
    assert_int_equal(evn_schedule_problem(s)->carry * 1e12, 1000);
    assert_ok(schedule_carried(s, 100, 1));
    assert_true(evn_schedule_problem(s)->carry == 0.01);
    assert_ok(schedule_carried(s, 50, 4)); /* 100 bytes, of which 50 of late */
    assert_true(evn_schedule_problem(s)->carry == 0.045);
    const double bad[][2] = {{0, 1},   {-1, 1},       {1, -1},      {NAN, 1},
                             {1, NAN}, {INFINITY, 1}, {1, INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(schedule_carried(s, bad[i][0], bad[i][1]), EVN_USAGE);
    assert_true(evn_schedule_problem(s)->carry == 0.045);
}

RUN_TESTS(NULL, NULL)
