/* Subteams: how a team is cut, every task once by one subteam, who waits for whom, tasks that are
 * taken from one that is held up, times, mistakes. Run: ctest -R subteam */
#include "loop/subteam_split.h"
#include "machine_of_test.h"
#include <math.h>
#include <sched.h>
#include <stdatomic.h>

enum { TASKS = 40, CORES = 12 };

/* ---- the cut ------------------------------------------------------------------------------- */

/* Every core is in one subteam, the largest come first; every task has one, and none ends later
 * than said. *cut is to be closed. */
static double dealt(struct cut *cut, int cores, int tasks, const double *weight) {
    double sum = 0;
    int to[256];
    assert_int_equal(cut_open(cut, cores), 0);
    cut_choose(cut, tasks, weight);
    assert_in_range(cut->subteams, 1, cores);
    assert_in_range(cut->together, 0, tasks);
    if (cut->subteams == 1) assert_int_equal(cut->together, tasks);
    assert_int_equal(cut->first[0], 0);
    assert_int_equal(cut->first[cut->subteams], cores);
    for (int s = 0; s < cut->subteams; s++)
        assert_in_range(cut_size(cut, s), 1, s ? cut_size(cut, s - 1) : cores);
    memset(to, -1, sizeof to);
    const double end = cut_deal_near(cut, tasks, weight, to);
    double begin = 0, done[64] = {0};
    for (int t = 0; t < tasks; t++) {
        sum += weight[t];
        if (t < cut->together) {
            begin += weight[t] / cut_speed(cores);
            continue;
        }
        assert_in_range(to[t], 0, cut->subteams - 1);
        done[to[t]] += weight[t] / cut_speed(cut_size(cut, to[t]));
    }
    double last = begin;
    for (int s = 0; s < cut->subteams; s++)
        if (begin + done[s] > last) last = begin + done[s];
    assert_true(fabs(last - end) <= 1e-9 * end);
    assert_true(end >= sum / cores * (1 - 1e-9));
    return end;
}

static void cut_is(int cores, int tasks, const double *weight, int together, int subteams) {
    ENDS(cut_close) struct cut cut;
    dealt(&cut, cores, tasks, weight);
    assert_int_equal(cut.together, together);
    assert_int_equal(cut.subteams, subteams);
}

TEST(cut) {
    struct cut cut;
    double equal[256], falling[256];
    for (int t = 0; t < 256; t++) {
        equal[t] = 3;
        falling[t] = 20 * pow(0.8, t);
    }
    for (int cores = 1; cores <= 64; cores++)
        for (int tasks = 1; tasks <= 256; tasks += tasks < 20 ? 1 : 59) {
            dealt(&cut, cores, tasks, falling);
            cut_close(&cut);
            const double end = dealt(&cut, cores, tasks, equal);
            cut_close(&cut);
            /* never worse than all by all cores, nor than each by one core */
            assert_true(end * 0.98 <= 3 * tasks / cut_speed(cores) * (1 + 1e-9));
            assert_true(end * 0.98 <= 3 * ((tasks + cores - 1) / cores) * (1 + 1e-9));
        }
    /* what is even is not touched by two; what is left over is done by all */
    cut_is(4, 16, equal, 0, 4);
    cut_is(2, 5, equal, 1, 2);
    cut_is(8, 1, equal, 1, 1);
    cut_is(8, 2, equal, 0, 2);
    /* one that is as large as all others together */
    const double large[] = {8, 1, 1, 1, 1, 1, 1, 1, 1};
    cut_is(8, 9, large, 1, 8);
}

/* Few tasks that differ: cores by what there is to do. */
TEST(unequal) {
    ENDS(cut_close) struct cut cut;
    const double two[] = {3, 1}, three[] = {2, 1, 0.5};
    double zones[16], sum = 0;
    dealt(&cut, 4, 2, two);
    assert_int_equal(cut.subteams, 2);
    assert_int_equal(cut.together, 0);
    assert_int_equal(cut_size(&cut, 0), 3);
    cut_close(&cut);
    dealt(&cut, 4, 3, three);
    assert_int_equal(cut.subteams, 2);
    assert_int_equal(cut_size(&cut, 0), 3);
    cut_close(&cut);
    /* weights that differ 20 times, as those of BT-MZ's zones: with subteams of one size the best
     * is 1.76 of an even share on 64 cores, and 1.22 on 8 */
    for (int t = 0; t < 16; t++) sum += zones[t] = pow(20, (15 - t) / 15.0);
    assert_true(dealt(&cut, 64, 16, zones) < 1.7 * sum / 64);
    assert_true(cut_size(&cut, 0) >= 5 * cut_size(&cut, cut.subteams - 1));
    cut_close(&cut);
    assert_true(dealt(&cut, 8, 16, zones) < 1.17 * sum / 8);
}

/* ---- a batch ------------------------------------------------------------------------------- */

struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    atomic_int times[TASKS];   /* that a task was done */
    atomic_int cores[TASKS];   /* of the subteam that did it last */
    atomic_ullong came[TASKS]; /* of its cores, those that have come so far: a bit each */
    atomic_int wrong, done;
    int held;   /* a task that waits for the others; -1 */
    int before; /* how many of these */
    int after;  /* a task that waits until that one has begun; -1 */
    atomic_int begun;
    int ways;      /* in which the batch is done */
    double spent;  /* by the batch, of evn_now() */
    int other[64]; /* its tasks in another order */
};

static void open_fixture(struct fixture *f, const char *list, const double *weight) {
    memset(f, 0, sizeof *f);
    f->held = f->after = -1;
    f->before = TASKS - 1;
    assert_ok(evn_units_open(&f->units, machine, list, "emulated", EVN_OVERSUBSCRIBE));
    evn_problem p = {.tasks = TASKS, .units = evn_units_count(f->units), .weight = weight};
    assert_ok(evn_schedule_open(&f->schedule, "static", &p));
    assert_ok(evn_loop_open(&f->loop, f->units, f->schedule));
}

static void close_fixture(struct fixture *f) {
    evn_loop_close(f->loop);
    evn_schedule_close(f->schedule);
    evn_units_close(f->units);
}

static void task(const evn_subteam *by, int t, void *arg) {
    struct fixture *f = arg;
    const int all = evn_unit_cores(by->unit);
    if (by->core < 0 || by->core >= by->cores || by->first < 0 || by->first + by->cores > all)
        atomic_fetch_add(&f->wrong, 1);
    if (atomic_fetch_or(&f->came[t], 1ULL << by->core) >> by->core & 1)
        atomic_fetch_add(&f->wrong, 1);
    evn_subteam_barrier(by);
    if (atomic_load(&f->came[t]) != (1ULL << by->cores) - 1) atomic_fetch_add(&f->wrong, 1);
    evn_subteam_barrier(by);
    if (by->core) return;
    atomic_store(&f->came[t], 0);
    atomic_store(&f->cores[t], by->cores);
    atomic_fetch_add(&f->times[t], 1);
    for (const double begin = evn_now(); evn_now() <= begin;) continue; /* the coarsest clock */
    if (t == f->held) atomic_store(&f->begun, 1);
    while (t == f->after && !atomic_load(&f->begun)) sched_yield();
    while (t == f->held && atomic_load(&f->done) < f->before) sched_yield();
    atomic_fetch_add(&f->done, 1);
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    int count, even = 0, odd = 0;
    const int *all = evn_batch_tasks(batch, &count);
    const double begin = evn_now();
    evn_status status = EVN_OK;
    (void)unit;
    if (f->ways == 0) status = evn_batch_share(batch, NULL, 0, task, f);
    if (f->ways >= 1) {
        for (int i = 0; i < count; i++) f->other[all[i] % 2 ? count - ++odd : even++] = all[i];
        status = evn_batch_share(batch, f->other, even, task, f);
        if (!status) status = evn_batch_share(batch, f->other + even, odd, task, f);
    }
    if (!status && f->ways == 2) status = evn_batch_share(batch, NULL, 0, task, f);
    f->spent = evn_now() - begin;
    return status;
}

static void check(struct fixture *f, int times) {
    assert_int_equal(f->wrong, 0);
    for (int t = 0; t < TASKS; t++) {
        assert_int_equal(f->times[t], times);
        f->times[t] = 0;
    }
    f->done = 0;
}

static const double *weights(int kind) {
    static double weight[TASKS];
    for (int t = 0; t < TASKS; t++)
        weight[t] = kind == 0 ? 1 : kind == 1 ? pow(0.7, (t * 7) % TASKS) : t == 11 ? 1000 : 1;
    return weight;
}

TEST(every_task_once) {
    static const char *const lists[] = {"1:CPU:1", "1:CPU:2", "1:CPU:3", "1:CPU:12"};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (int kind = 0; kind < 3; kind++) {
            ENDS(close_fixture) struct fixture f;
            open_fixture(&f, lists[l], weights(kind));
            for (f.ways = 0; f.ways < 3; f.ways++) {
                assert_ok(evn_loop_run(f.loop, body, &f));
                check(&f, f.ways == 2 ? 2 : 1);
                double sum = 0;
                for (int t = 0; t < TASKS; t++) {
                    assert_true(evn_loop_seconds(f.loop)[t] > 0);
                    sum += evn_loop_seconds(f.loop)[t];
                }
                /* all of the batch's time is some task's, but for what is between the calls */
                assert_true(sum <= evn_loop_sum(f.loop).compute_s);
                assert_true(sum > 0.2 * f.spent);
            }
            f.ways = 0;
            assert_ok(evn_loop_visit(f.loop, body, &f));
            check(&f, 1);
        }
}

/* The core that is at the first task cannot have done the rest of its own. */
TEST(held_up) {
    static const char *const lists[] = {"1:CPU:2", "1:CPU:5"};
    for (size_t l = 0; l < 2; l++) {
        ENDS(close_fixture) struct fixture f;
        open_fixture(&f, lists[l], weights(0));
        for (f.held = 0; f.held < 3; f.held++) {
            assert_ok(evn_loop_run(f.loop, body, &f));
            check(&f, 1);
        }
    }
}

/* A large task is done by all, and small ones by a core each. */
TEST(sizes) {
    ENDS(close_fixture) struct fixture f;
    open_fixture(&f, "1:CPU:4", weights(2));
    assert_ok(evn_loop_run(f.loop, body, &f));
    for (int t = 0; t < TASKS; t++) assert_int_equal(f.cores[t], t == 11 ? 4 : 1);
    check(&f, 1);
    /* the burst begins with the lowest task, whichever is done first */
    const evn_burst all = evn_loop_burst(f.loop, 0, evn_loop_bursts(f.loop, 0) - 1);
    assert_int_equal(all.task, 0);
    assert_int_equal(all.count, TASKS);
}

/* The first three of a batch, of weights 2, 1, 0.5: by four cores two subteams do them, of three
 * cores the first and the third, of one the second; then all others. */
static evn_status three_first(evn_unit *unit, evn_batch *batch, void *arg) {
    int count;
    const int *all = evn_batch_tasks(batch, &count);
    (void)unit;
    evn_status status = evn_batch_share(batch, all, 3, task, arg);
    return status ? status : evn_batch_share(batch, all + 3, count - 3, task, arg);
}

/* The core that is done with the second task leaves the third, which three would do sooner. */
TEST(unequal_sizes) {
    ENDS(close_fixture) struct fixture f;
    double weight[TASKS];
    for (int t = 0; t < TASKS; t++) weight[t] = t ? 0.5 : 2;
    weight[1] = 1;
    open_fixture(&f, "1:CPU:4", weight);
    f.held = 0;
    f.before = f.after = 1;
    for (int times = 0; times < 20; times++) {
        f.begun = 0;
        assert_ok(evn_loop_run(f.loop, three_first, &f));
        assert_int_equal(f.cores[0], 3);
        assert_int_equal(f.cores[1], 1);
        assert_int_equal(f.cores[2], 3);
        check(&f, 1);
    }
}

/* ---- mistakes ------------------------------------------------------------------------------ */

static evn_status wrong_body(evn_unit *unit, evn_batch *batch, void *arg) {
    const int which = *(int *)arg, beyond[] = {TASKS};
    int count;
    const int *all = evn_batch_tasks(batch, &count);
    struct fixture none;
    memset(&none, 0, sizeof none);
    none.held = none.after = -1;
    (void)unit;
    switch (which) {
    case 0: return evn_batch_share(batch, NULL, 0, NULL, NULL);
    case 1: return evn_batch_share(batch, beyond, 1, task, &none);
    case 2: return evn_batch_share(batch, all, count - 1, task, &none);
    case 3: evn_batch_next(batch); return evn_batch_share(batch, NULL, 0, task, &none);
    case 4: evn_batch_done(batch, 2); return evn_batch_share(batch, NULL, 0, task, &none);
    case 5:
        evn_batch_share(batch, all, 3, task, &none);
        return evn_batch_share(batch, all, count, task, &none);
    case 6: return evn_batch_share(batch, all, -1, task, &none);
    case 7: return evn_batch_share(NULL, NULL, 0, task, &none);
    case 8: evn_subteam_barrier(NULL); return evn_batch_share(batch, NULL, 0, task, &none);
    default: return EVN_OK;
    }
}

TEST(mistakes) {
    static const char *const said[] = {"NULL",
                                       "task 40 is not of this batch",
                                       "39 of its 40 tasks were shared out",
                                       "after evn_batch_next()",
                                       "after evn_batch_next() or evn_batch_done()",
                                       "40 tasks to be shared out; 37 are left",
                                       "-1 tasks to be shared out",
                                       "NULL"};
    static const char *const lists[] = {"1:CPU:1", "1:CPU:3"};
    for (size_t l = 0; l < 2; l++) {
        ENDS(close_fixture) struct fixture f;
        open_fixture(&f, lists[l], NULL);
        for (int which = 0; which < 8; which++) {
            assert_true(evn_loop_run(f.loop, wrong_body, &which) != EVN_OK);
            assert_says(said[which]);
        }
        int which = 8;
        assert_ok(evn_loop_run(f.loop, wrong_body, &which));
    }
}

static evn_status on_device(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    return evn_batch_share(batch, NULL, 0, task, arg);
}

TEST(on_a_device) {
    ENDS(close_fixture) struct fixture f;
    open_fixture(&f, "1:GPU:1", NULL);
    assert_true(evn_loop_run(f.loop, on_device, &f) != EVN_OK);
    assert_says("on a device");
}

RUN_TESTS(set_up, tear_down)
