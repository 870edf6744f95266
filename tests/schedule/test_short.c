/* Short instances under auto, in a virtual clock: that learning takes less than a hundredth of
 * their time, that preempted threads and cores that are shared for a while move next to nothing,
 * that a unit which stays slow is relieved all the same, and that loops of long instances are
 * learnt from each. Run: ctest -R '^short$' */
#include "schedule/open.h"
#include "domain/lessons.h"
#include "schedule/version.h"
#include <math.h>

enum { TASKS = 64, UNITS = 2, MANY = 4096, MOST = 100000 };
#define STEP     1e-4 /* s of an instance on undisturbed units */
#define PREEMPT  3e-3 /* s of a time slice */
#define EPISODE  2e-2 /* s for which a core is shared */
#define LENGTH   5e-3 /* s of an instance of MANY tasks */
#define LEARNING 3e-7 /* s that learning takes a task */

/* What happens to units in the virtual clock. */
struct world {
    evn_schedule *s;
    unsigned long long seed;
    double now, last; /* s */
    double preempt;   /* times a second, each unit */
    double share;     /* times a second, one of them for an EPISODE */
    double slow_from; /* unit 1 takes twice as long from then on */
    int slow;         /* the unit that shares its core; -1 */
    double until;     /* then */
    int changes;      /* instances before which tasks moved */
    long migrations;
    int owner[TASKS];
    double seconds[TASKS];
};

static double weight[TASKS];

static struct world begin(const char *text, unsigned long long seed) {
    for (int t = 0; t < TASKS; t++) weight[t] = 1 + t % 5;
    const evn_problem p = {.tasks = TASKS, .weight = weight, .units = UNITS};
    struct world w = {.s = open_or_fail(text, &p), .seed = seed, .slow = -1, .slow_from = INFINITY};
    memcpy(w.owner, evn_schedule_owner(w.s), sizeof w.owner);
    return w;
}

static void disturb(struct world *w, double *preempted) {
    const double passed = w->now - w->last;
    w->last = w->now;
    for (int u = 0; u < UNITS; u++)
        preempted[u] = draw(&w->seed) < passed * w->preempt ? PREEMPT : 0;
    if (w->slow >= 0 && w->now > w->until) w->slow = -1;
    if (w->slow < 0 && draw(&w->seed) < passed * w->share) {
        w->slow = draw(&w->seed) < 0.5;
        w->until = w->now + EPISODE;
    }
    if (w->now >= w->slow_from) w->slow = 1;
}

/* One instance; returns how long it was. Units that draw take a chunk when they are free. */
static double step(struct world *w) {
    const int chunk = evn_schedule_about(w->s).chunk, *order = evn_schedule_about(w->s).order;
    const int *next = evn_schedule_owner(w->s);
    double preempted[UNITS], time[UNITS] = {0}, longest = 0;
    int unit = 0, moved = 0;
    disturb(w, preempted);
    for (int i = 0; i < TASKS; i++) {
        const int t = order ? order[i] : i;
        if (chunk && i % chunk == 0) unit = time[1] < time[0];
        if (!chunk) unit = next[t];
        moved += w->owner[t] != unit;
        w->owner[t] = unit;
        const double noise = 0.05 * (draw(&w->seed) + draw(&w->seed) - 1);
        w->seconds[t] =
            STEP * UNITS * weight[t] / (3 * TASKS) * (unit == w->slow ? 2 : 1) * (1 + noise);
        if (draw(&w->seed) < 4.0 / TASKS) { /* in one of the unit's first tasks */
            w->seconds[t] += preempted[unit];
            preempted[unit] = 0;
        }
        time[unit] += w->seconds[t];
        longest = fmax(longest, time[unit]);
    }
    w->now += longest;
    w->changes += moved > 0;
    w->migrations += moved;
    assert_ok(evn_schedule_learn(w->s, w->owner, w->seconds));
    return longest;
}

TEST(preempted) {
    for (int seed = 1; seed <= 4; seed++) {
        struct world w = begin("auto", (unsigned)seed);
        w.preempt = 30;
        while (w.now < 2) step(&w);
        if (w.changes > 1) fail_msg("%ld tasks moved in %d changes", w.migrations, w.changes);
        evn_schedule_close(w.s);
    }
}

/* Some 17 episodes a run. */
TEST(shared_for_a_while) {
    for (int seed = 1; seed <= 4; seed++) {
        struct world w = begin("auto", (unsigned)seed);
        w.share = 10;
        while (w.now < 2) step(&w);
        if (w.changes > 8) fail_msg("%ld tasks moved in %d changes", w.migrations, w.changes);
        evn_schedule_close(w.s);
    }
}

TEST(slow_for_good) {
    for (int seed = 1; seed <= 4; seed++) {
        struct world w = begin("auto", (unsigned)seed);
        w.slow_from = 0.5;
        while (w.now < 0.8) step(&w);
        double sum = 0;
        for (int i = 0; i < 100; i++) sum += step(&w);
        if (sum / 100 > 1.07 * STEP * 4 / 3) fail_msg("%g s an instance", sum / 100);
        evn_schedule_close(w.s);
    }
}

/* An instance of `tasks` equal tasks that take `length` seconds on two units. */
static evn_schedule *open_even(const char *text, int tasks, double length, int *owner,
                               double *seconds) {
    const evn_problem p = {.tasks = tasks, .units = UNITS};
    evn_schedule *s = open_or_fail(text, &p);
    memcpy(owner, evn_schedule_owner(s), (size_t)tasks * sizeof *owner);
    for (int t = 0; t < tasks; t++) seconds[t] = length * UNITS / tasks;
    return s;
}

static int owner[MOST];
static double seconds[MOST];

/* How often the policy learns in `instances`. */
static int lessons(int tasks, double length, int instances) {
    OWN(schedule) *s = open_even("auto", tasks, length, owner, seconds);
    const unsigned before = schedule_version(s);
    for (int i = 0; i < instances; i++) {
        seconds[0] = seconds[1] * (i % 2 ? 1.01 : 0.99);
        assert_ok(evn_schedule_learn(s, owner, seconds));
    }
    assert_int_equal(evn_schedule_about(s).instance, instances);
    const int count = (int)(schedule_version(s) - before);
    return count;
}

TEST(costs) {
    for (int i = 0; i < 2; i++) {
        const int tasks = i ? MANY : TASKS, instances = i ? 2000 : 20000;
        const double length = 2e-4, time = lessons(tasks, length, instances) * LEARNING * tasks;
        /* ten of them beside, some of which are on credit */
        const double most = 0.01 * length * instances + 11 * LEARNING * tasks;
        if (time > most) fail_msg("%d tasks: learning takes %g s, at most %g", tasks, time, most);
    }
    assert_int_equal(lessons(TASKS, 1.1e-3, 200), 200);
    assert_int_equal(lessons(MANY, 1, 20), 20);
    /* tasks so many and so short that one lesson would be felt */
    assert_int_equal(lessons(MOST, 1e-3, 20), 0);
    assert_int_equal(lessons(MOST, 1, 5), 5);
}

/* How many instances of two units, of which one is slower than told by a half, pass until tasks
 * move; 0: none do. */
static int moves_after(int tasks, double length, int instances) {
    const evn_problem p = {.tasks = tasks, .units = UNITS, .instances = instances};
    OWN(schedule) *s = open_or_fail("map", &p);
    int after = 0;
    memcpy(owner, evn_schedule_owner(s), (size_t)tasks * sizeof *owner);
    for (int i = 1; !after && i <= instances; i++) {
        for (int t = 0; t < tasks; t++) seconds[t] = length * UNITS / tasks * (owner[t] ? 1.5 : 1);
        assert_ok(evn_schedule_learn(s, owner, seconds));
        if (memcmp(owner, evn_schedule_owner(s), (size_t)tasks * sizeof *owner) != 0) after = i;
    }
    return after;
}

/* Other owners are looked for by moves that take some 2 ms here, a search would take 50 ms: at once
 * where all instances to come save much more than that, and not where they are few. */
TEST(search) {
    assert_in_range(moves_after(MANY, 2e-3, 2000), 3, 6);
    assert_int_equal(moves_after(MANY, 2e-5, 100), 0);
}

/* A version that stays is an assignment that stays. */
TEST(version) {
    static const char *const texts[] = {"auto", "map", "static", "dynamic", "guided:time"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct world w = begin(texts[i], 1);
        w.share = 100;
        for (int n = 0; n < 3000; n++) {
            int before[TASKS];
            const unsigned version = schedule_version(w.s);
            const int chunk = evn_schedule_about(w.s).chunk;
            memcpy(before, evn_schedule_owner(w.s), sizeof before);
            step(&w);
            if (schedule_version(w.s) != version) continue;
            assert_int_equal(evn_schedule_about(w.s).chunk, chunk);
            assert_memory_equal(before, evn_schedule_owner(w.s), sizeof before);
        }
        const unsigned version = schedule_version(w.s);
        char *text = evn_schedule_export(w.s);
        assert_ok(evn_schedule_import(w.s, text));
        assert_true(schedule_version(w.s) != version);
        free(text);
        evn_schedule_close(w.s);
    }
}

/* The schedule's own array of owners says the same as a copy of it. */
TEST(own_array) {
    static const char *const texts[] = {"auto", "map", "interval", "guided:size", "guided:time"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int shorter = 0; shorter < 2; shorter++) {
            OWN(schedule) *a = open_even(texts[i], TASKS, shorter ? STEP : 1, owner, seconds);
            OWN(schedule) *b = open_even(texts[i], TASKS, shorter ? STEP : 1, owner, seconds);
            for (int t = 0; t < TASKS; t++) seconds[t] *= 1 + t % 7;
            for (int n = 0; n < 200; n++) {
                memcpy(owner, evn_schedule_owner(b), TASKS * sizeof *owner);
                assert_ok(evn_schedule_learn(a, evn_schedule_owner(a), seconds));
                assert_ok(evn_schedule_learn(b, owner, seconds));
                assert_memory_equal(evn_schedule_owner(a), evn_schedule_owner(b),
                                    TASKS * sizeof *owner);
            }
        }
}

/* An instance of many tasks, of which some are disturbed. Sums of such times are exact. */
static void take_times(unsigned long long *seed, int slow, double length) {
    const int late = draw(seed) < 0.05 ? (int)(draw(seed) * MANY) : -1;
    for (int t = 0; t < MANY; t++) {
        const double noise = draw(seed),
                     base = length * UNITS / MANY * (owner[t] == slow ? 1.5 : 1);
        seconds[t] = base * (0.9 + 0.2 * noise) + (t == late ? 30 * length : 0);
        seconds[t] = ldexp(floor(ldexp(seconds[t], 44)), -44);
    }
}

/* Tells a schedule the units' times alone, and of tasks what it asks for (lessons.h); what was done
 * with them. */
static struct pool_turn teach_apart(evn_schedule *s) {
    static double sum[MANY], before[MANY];
    double unit_s[UNITS] = {0};
    for (int t = 0; t < MANY; t++) unit_s[owner[t]] += seconds[t];
    const struct pool_turn turn = lessons_note(s, unit_s);
    pool_turn(&turn, MANY, seconds, sum, before);
    if (turn.lesson == POOL_MEAN || turn.lesson == POOL_LAST)
        assert_int_equal(lessons_learn(s, owner, turn.lesson == POOL_MEAN ? sum : seconds), EVN_OK);
    if (memcmp(owner, evn_schedule_owner(s), MANY * sizeof *owner) != 0) lessons_forget(s);
    return turn;
}

/* The second, which is told the units' times, has decided as the first; 1: tasks move. */
static int decide_alike(evn_schedule *told, evn_schedule *other) {
    assert_int_equal(evn_schedule_about(other).instance, evn_schedule_about(told).instance);
    const int *next = evn_schedule_owner(told);
    assert_memory_equal(evn_schedule_owner(other), next, MANY * sizeof *owner);
    return memcmp(owner, next, MANY * sizeof *owner) != 0;
}

/* It decides as one that is told all times, in each instance, where these are so long that the
 * times of all tasks are added up. */
TEST(apart) {
    OWN(schedule) *told = open_even("map", MANY, 1, owner, seconds);
    OWN(schedule) *apart = open_even("map", MANY, 1, owner, seconds);
    unsigned long long seed = 1;
    int means = 0, agreed = 0, moves = 0;
    assert_int_equal(lessons_suffice(apart), 1);
    for (int i = 0; i < 6000; i++) {
        memcpy(owner, evn_schedule_owner(told), MANY * sizeof *owner);
        take_times(&seed, i / 2000, LENGTH);
        assert_int_equal(evn_schedule_learn(told, owner, seconds), EVN_OK);
        const struct pool_turn turn = teach_apart(apart);
        means += turn.lesson == POOL_MEAN;
        agreed += turn.lesson == POOL_MEAN && turn.agreed;
        moves += decide_alike(told, apart);
    }
    if (means < 10 || agreed < 2 || moves < 3)
        fail_msg("%d means, %d of them of several looks, %d moves", means, agreed, moves);
}

static evn_status teach_units(evn_schedule *s, int same) {
    double *unit_s = schedule_unit_times(s);
    memset(unit_s, 0, UNITS * sizeof *unit_s);
    for (int t = 0; t < MANY; t++) unit_s[owner[t]] += seconds[t] == seconds[t] ? seconds[t] : 0;
    return schedule_learn_units(s, owner, seconds, same);
}

/* So does one in the same process, which looks at tasks' times in few of the short instances, and
 * finds out then whether they are times. */
TEST(units_suffice) {
    OWN(schedule) *told = open_even("map", MANY, 1, owner, seconds);
    OWN(schedule) *units = open_even("map", MANY, 1, owner, seconds);
    unsigned long long seed = 1;
    int moves = 0, same = 0, refused = 0;
    for (int i = 0; i < 6000; i++) {
        memcpy(owner, evn_schedule_owner(told), MANY * sizeof *owner);
        take_times(&seed, i / 2000, STEP);
        assert_int_equal(evn_schedule_learn(told, owner, seconds), EVN_OK);
        assert_int_equal(teach_units(units, same), EVN_OK);
        same = !decide_alike(told, units);
        moves += !same;
    }
    seconds[MANY - 1] = NAN;
    for (int i = 0; i < 400; i++) refused += teach_units(units, 1) == EVN_USAGE;
    if (moves < 3 || refused < 2 || refused > 40)
        fail_msg("%d moves, wrong times refused in %d of 400 instances", moves, refused);
}

RUN_TESTS(NULL, NULL)
