/* Units draw several tasks at a time in an order of the schedule's: a batch's tasks ascend all the
 * same, bodies may ask for each of them, and each is done once. The schedule is auto, which is told
 * times until it lets units draw. Run: ctest -R '^drawn$' */
#include "machine_of_test.h"
#include <stdatomic.h>

enum { TASKS = 1024, UNITS = 2 };

static double weight[TASKS];

/* An instance in which unit 1 is three times as slow as the other, or not. */
static void tell(evn_schedule *s, int is_slow) {
    int owner[TASKS];
    double seconds[TASKS];
    memcpy(owner, evn_schedule_owner(s), sizeof owner);
    for (int t = 0; t < TASKS; t++)
        seconds[t] = 1e-5 * weight[t] * (is_slow && owner[t] == 1 ? 3 : 1);
    assert_ok(evn_schedule_learn(s, owner, seconds));
}

static int ascends(const int *order, int count) {
    for (int i = 1; i < count; i++)
        if (order[i] < order[i - 1]) return 0;
    return 1;
}

/* Until some tasks that are drawn together have an order of their own. */
static void let_draw(evn_schedule *s) {
    for (int i = 0; i < 200; i++) {
        const int chunk = evn_schedule_about(s).chunk;
        const int *order = evn_schedule_about(s).order;
        for (int t = 0; chunk && t + chunk <= TASKS; t += chunk)
            if (!ascends(order + t, chunk)) return;
        tell(s, i % 2);
    }
    fail_msg("nothing is drawn out of order");
}

struct seen {
    atomic_int times[TASKS], wrong, batches;
    int shares;
};

static void one(const evn_subteam *by, int task, void *arg) {
    if (!by->core) atomic_fetch_add(&((struct seen *)arg)->times[task], 1);
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct seen *seen = arg;
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    (void)unit;
    atomic_fetch_add(&seen->batches, 1);
    atomic_fetch_add(&seen->wrong, !ascends(task, count));
    if (seen->shares) return evn_batch_share(batch, NULL, 0, one, seen);
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        atomic_fetch_add(&seen->times[t], 1);
        evn_batch_add(batch, t, 1e-6);
        for (int i = 0; i < count; i++) evn_batch_add(batch, task[i], 0);
    }
    return EVN_OK;
}

TEST(drawn) {
    for (int t = 0; t < TASKS; t++) weight[t] = 1 + t * 7 % 5;
    const evn_problem p = {.tasks = TASKS, .weight = weight, .units = UNITS};
    for (int shares = 0; shares < 2; shares++) {
        struct seen seen = {.shares = shares};
        OWN(units) *units = OPEN(units, machine, "1:CPU:1,1:CPU:2", NULL, EVN_OVERSUBSCRIBE);
        OWN(schedule) *schedule = OPEN(schedule, "auto", &p);
        let_draw(schedule);
        OWN(loop) *loop = OPEN(loop, units, schedule);
        assert_ok(evn_loop_run(loop, body, &seen));
        assert_int_equal(seen.wrong, 0);
        assert_true(seen.batches < TASKS);
        for (int t = 0; t < TASKS; t++) assert_int_equal(seen.times[t], 1);
    }
}

RUN_TESTS(set_up, tear_down)
