/* The loop: every task once, times where they belong, failures, weights and medians.
 * Run: ctest -R loop */
#include "machine_of_test.h"
#include "loop/recent.h"
#include <stdatomic.h>
#include <time.h>

enum { TASKS = 37 };

static const char *const specs[] = {
    "static",      "dynamic",    "dynamic:chunk=4,memorize=0", "dynamic:chunk=1000,memorize=1",
    "guided:size", "guided:time"};
enum { SPECS = sizeof specs / sizeof *specs };

struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    atomic_int ran[TASKS];
    atomic_int unit_of[TASKS];
    int ask;            /* for tasks one by one */
    int fail_at;        /* task whose body fails; -1 */
    double wait[TASKS]; /* seconds each task lasts */
};

static void open_fixture(struct fixture *f, const char *list, const char *spec) {
    memset(f, 0, sizeof *f);
    f->ask = 1;
    f->fail_at = -1;
    evn_link link[TASKS];
    for (int t = 0; t < TASKS; t++) link[t] = (evn_link){{t, (t + 1) % TASKS}, 100};
    assert_ok(evn_units_open(&f->units, machine, list, NULL, EVN_OVERSUBSCRIBE));
    evn_problem p = {
        .tasks = TASKS, .units = evn_units_count(f->units), .links = TASKS, .link = link};
    assert_ok(evn_schedule_open(&f->schedule, spec, &p));
    assert_ok(evn_loop_open(&f->loop, f->units, f->schedule));
}

static void close_fixture(struct fixture *f) {
    evn_loop_close(f->loop);
    evn_schedule_close(f->schedule);
    evn_units_close(f->units);
}

static void wait_for(double seconds) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    do clock_gettime(CLOCK_MONOTONIC, &b);
    while ((double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec) < seconds);
}

static evn_status work(struct fixture *f, int unit, int t) {
    atomic_fetch_add(&f->ran[t], 1);
    atomic_store(&f->unit_of[t], unit);
    if (f->wait[t] > 0) wait_for(f->wait[t]);
    return t == f->fail_at ? evn_fail(EVN_SYSTEM, "task %d has no hay", t) : EVN_OK;
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    int me = evn_unit_number(unit), count;
    const int *task = evn_batch_tasks(batch, &count);
    assert_true(count >= 1);
    for (int i = 1; i < count; i++) assert_true(task[i] > task[i - 1]);
    evn_status status = EVN_OK;
    if (f->ask == 2) { /* three together; the rest at the end */
        for (int i = 0; i < count && !status; i++) {
            status = work(f, me, task[i]);
            if (i % 3 == 2) evn_batch_done(batch, 3);
        }
    } else if (f->ask) {
        for (int t, i = 0; (t = evn_batch_next(batch)) >= 0; i++) {
            assert_int_equal(t, task[i]);
            if ((status = work(f, me, t))) return status;
        }
        assert_int_equal(evn_batch_next(batch), -1); /* and stays so */
    } else {
        for (int i = 0; i < count && !status; i++) status = work(f, me, task[i]);
    }
    return status;
}

TEST(every_task_once) {
    static const char *const lists[] = {"1:CPU:1", "2:CPU:1", "1:CPU:2",
                                        "3:CPU:1", "5:CPU:1", "60:CPU:1"};
    for (int l = 0; l < 6; l++)
        for (int s = 0; s < SPECS; s++)
            for (int ask = 0; ask < 3; ask++) {
                ENDS(close_fixture) struct fixture f;
                open_fixture(&f, lists[l], specs[s]);
                f.ask = ask;
                for (int i = 1; i <= 6; i++) {
                    assert_ok(evn_loop_run(f.loop, body, &f));
                    for (int t = 0; t < TASKS; t++) {
                        assert_int_equal(f.ran[t], i);
                        assert_int_equal(evn_loop_owner(f.loop)[t], f.unit_of[t]);
                        assert_true(evn_loop_seconds(f.loop)[t] >= 0);
                    }
                }
                int owner[TASKS];
                memcpy(owner, evn_loop_owner(f.loop), sizeof owner);
                assert_ok(evn_loop_visit(f.loop, body, &f)); /* by the same owners */
                for (int t = 0; t < TASKS; t++) {
                    assert_int_equal(f.ran[t], 7);
                    assert_int_equal(f.unit_of[t], owner[t]);
                }
                assert_int_equal(evn_schedule_about(f.schedule).instance, 6);
            }
}

TEST(failure) {
    for (int s = 0; s < SPECS; s++) {
        ENDS(close_fixture) struct fixture f;
        open_fixture(&f, "3:CPU:1", specs[s]);
        f.fail_at = 20;
        assert_fails(evn_loop_run(f.loop, body, &f), EVN_BODY, "task 20 has no hay");
        assert_int_equal(evn_schedule_about(f.schedule).instance,
                         0); /* nothing is learnt from it */
        f.fail_at = -1;
        assert_ok(evn_loop_run(f.loop, body, &f)); /* and the loop can go on */
    }
}

/* Migrations are counted from the owners; without an exchange nothing crosses between units. */
TEST(counters) {
    ENDS(close_fixture) struct fixture f;
    open_fixture(&f, "2:CPU:1", "static");
    for (int i = 0; i < 3; i++) {
        assert_ok(evn_loop_visit(f.loop, body, &f));
        assert_ok(evn_loop_run(f.loop, body, &f));
    }
    evn_loop_totals totals = evn_loop_sum(f.loop);
    assert_true(totals.instances == 3 && totals.migrations == 0);
    assert_true(totals.bytes == 0 && totals.messages == 0);
    evn_loop_reset_stats(f.loop);
    assert_true(evn_loop_sum(f.loop).instances == 0);
    close_fixture(&f);
    open_fixture(&f, "2:CPU:1", "guided:size");
    int moved = 0, before[TASKS];
    memcpy(before, evn_loop_owner(f.loop), sizeof before);
    for (int i = 0; i < 3; i++) {
        evn_loop_run(f.loop, body, &f);
        for (int t = 0; t < TASKS; t++) moved += before[t] != evn_loop_owner(f.loop)[t];
        memcpy(before, evn_loop_owner(f.loop), sizeof before);
    }
    assert_true(evn_loop_sum(f.loop).migrations == moved);
}

/* Of two ranks: times of the longest, what all did together once, and the rest added up. */
TEST(totals_of_ranks) {
    const evn_loop_totals rank[] = {{.compute_s = 2,
                                     .exchange_s = 3,
                                     .instances = 5,
                                     .migrations = 7,
                                     .bytes = 11,
                                     .messages = 13,
                                     .copies = 17,
                                     .rank_messages = 19,
                                     .rank_bytes = 23,
                                     .moved = 29,
                                     .moved_bytes = 31},
                                    {.compute_s = 1,
                                     .exchange_s = 4,
                                     .instances = 5,
                                     .migrations = 7,
                                     .bytes = 100,
                                     .messages = 200,
                                     .copies = 300,
                                     .rank_messages = 400,
                                     .rank_bytes = 500,
                                     .moved = 600,
                                     .moved_bytes = 700}};
    for (int first = 0; first < 2; first++) {
        evn_loop_totals all = {0};
        evn_loop_add_totals(&all, &rank[first]);
        evn_loop_add_totals(&all, &rank[1 - first]);
        assert_true(all.compute_s == 2 && all.exchange_s == 4);
        assert_true(all.instances == 5 && all.migrations == 7);
        assert_true(all.bytes == 111 && all.copies == 317);
        assert_true(all.messages == 213 + 419 && all.rank_messages == 419);
        assert_true(all.rank_bytes == 523 && all.moved == 629 && all.moved_bytes == 731);
    }
}

/* A body that passes all tasks and then comes back to each. */
static evn_status returning(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    (void)unit;
    while (evn_batch_next(batch) >= 0) continue;
    for (int i = 0; i < count; i++) {
        const double begin = evn_now();
        wait_for(f->wait[task[i]]);
        evn_batch_spent(batch, task[i], begin);
    }
    return EVN_OK;
}

/* Two bursts a task: of passing it, and of coming back, which its time is. */
TEST(coming_back) {
    ENDS(close_fixture) struct fixture f;
    open_fixture(&f, "2:CPU:1", "static");
    for (int t = 0; t < TASKS; t++) f.wait[t] = 1e-4 * (1 + t % 3);
    evn_unit_slow(evn_units_get(f.units, 1), 3);
    assert_ok(evn_loop_run(f.loop, returning, &f));
    for (int u = 0; u < 2; u++) {
        const int mine = u ? TASKS / 2 : TASKS / 2 + 1, first = u ? TASKS / 2 + 1 : 0;
        double end = 0;
        assert_int_equal(evn_loop_bursts(f.loop, u), 2 * mine);
        for (int i = 0; i < 2 * mine; i++) {
            const evn_burst b = evn_loop_burst(f.loop, u, i);
            const int t = first + i % mine;
            assert_true(b.begin >= end && b.end >= b.begin);
            assert_true(b.kind == EVN_BURST_COMPUTE && b.task == t && b.count == 1);
            if (i >= mine) assert_true(b.end - b.begin > (u ? 2.9 : 0.9) * f.wait[t]);
            if (i >= mine) assert_true(evn_loop_seconds(f.loop)[t] >= b.end - b.begin - 1e-9);
            end = b.end;
        }
    }
}

struct joined {
    evn_loop *loop;
    struct fixture *f;
    const double *weight;
};

/* The first leader tells other weights while the others wait. */
static void weigh_and_join(evn_unit *unit, void *arg) {
    struct joined *j = arg;
    if (!evn_unit_number(unit))
        assert_ok(evn_loop_weights(j->loop, j->weight));
    else
        assert_int_equal(evn_loop_weights(j->loop, NULL), EVN_USAGE);
    evn_unit_synchronize(unit);
    assert_ok(evn_loop_join(j->loop, unit, body, j->f));
}

/* The heaviest task has a unit for itself, whichever it is; totals and the loop stay. */
TEST(weights) {
    ENDS(close_fixture) struct fixture f;
    open_fixture(&f, "2:CPU:1", "binpack");
    for (int heavy = 0; heavy < TASKS; heavy += 6) {
        double weight[TASKS];
        for (int t = 0; t < TASKS; t++) weight[t] = t == heavy ? TASKS : 1;
        struct joined j = {f.loop, &f, weight};
        if (heavy % 4 == 0) {
            assert_ok(evn_loop_weights(f.loop, weight));
            assert_ok(evn_loop_run(f.loop, body, &f));
        } else {
            assert_ok(evn_units_run(f.units, weigh_and_join, &j));
        }
        for (int t = 0; t < TASKS; t++)
            if (t != heavy) assert_int_not_equal(f.unit_of[t], f.unit_of[heavy]);
    }
    assert_int_equal(evn_loop_sum(f.loop).instances, 7);
}

static void assert_medians(const struct recent *r, double compute, double exchange, double step) {
    const evn_loop_medians m = recent_median(r);
    assert_true(m.compute_s == compute);
    assert_true(m.exchange_s == exchange);
    assert_true(m.step_s == step);
}

/* Of few instances all count, of many the latest. */
TEST(medians) {
    static struct recent r;
    const double compute[] = {4, 1, 100, 2, 3}, exchanged[] = {10, 10, 10, 10, 11};
    assert_medians(&r, 0, 0, 0);
    for (int i = 0; i < 5; i++) recent_add(&r, compute[i], exchanged[i]);
    assert_medians(&r, 3, 0, 4);
    recent_add(&r, 5, 15);
    assert_medians(&r, 3.5, 0.5, 6.5);
    assert_true(recent_median(&r).beside_s == 0 && recent_median(&r).idle_s == 0);
    for (int i = 1; i <= RECENT; i++) {
        r.idle += 6;
        r.task = i;
        recent_beside(&r, 1, 2); /* a virtual clock is ahead */
        recent_beside(&r, 2, 0.5);
        recent_beside(&r, 7, 4);
        recent_add(&r, 7, 15 + 2 * i);
    }
    assert_medians(&r, 7, 2, 9);
    assert_true(recent_median(&r).beside_s == 4.5 && recent_median(&r).idle_s == 6);
    assert_true(recent_median(&r).task_s == 0.5 * (RECENT + 1));
}

/* They are of the loop's own runs, and begin anew with its statistics. */
TEST(medians_of_runs) {
    ENDS(close_fixture) struct fixture f;
    open_fixture(&f, "2:CPU:1", "static");
    assert_ok(evn_loop_run(f.loop, body, &f));
    const evn_loop_medians m = evn_loop_median(f.loop);
    assert_true(m.compute_s > 0 && m.compute_s == evn_loop_sum(f.loop).compute_s);
    assert_true(m.step_s == m.compute_s && m.exchange_s == 0);
    assert_true(m.beside_s > 0 && m.beside_s < m.step_s && m.idle_s == 0);
    assert_true(m.task_s > 0 && m.task_s <= 2 * m.compute_s);
    assert_ok(evn_loop_run(f.loop, body, &f));
    assert_true(evn_loop_median(f.loop).idle_s > 0);
    evn_loop_reset_stats(f.loop);
    assert_true(evn_loop_median(f.loop).step_s == 0);
}

RUN_TESTS(set_up, tear_down)
