/* The timed part that all workloads share: steps and who is called when, stopping, going back to a
 * kept state, and what the result says.
 *
 * Run: ctest -R '^run$' */
#include "common/run/run.h"
#include "common/run/median.h"
#include "check.h"

enum { TASKS = 3, STEPS = 10 };

/* A program that counts, and keeps a state every third step. */
struct program {
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    struct run_options options;
    struct run_result result;
    struct timed timed;
    int done_by_body, group, fail_at, kept, recovered, refuses; /* what it does */
    int advanced, after, stopping, finished, progressed, inspected, stop_at,
        give_up_at; /* what was called */
    volatile sig_atomic_t stop;
};

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct program *p = arg;
    (void)unit;
    while (evn_batch_next(batch) >= 0) p->done_by_body++;
    return EVN_OK;
}

static evn_status advance(int *done, void *arg) {
    struct program *p = arg;
    if (p->fail_at && *done == p->fail_at) {
        p->fail_at = 0;
        return evn_fail(EVN_DEVICE, "a device is lost");
    }
    if (p->give_up_at && *done == p->give_up_at) return evn_fail(EVN_STOPPED, "given up");
    evn_status status = evn_loop_run(p->loop, body, p);
    *done += *done + p->group > STEPS ? STEPS - *done : p->group;
    p->advanced++;
    if (p->stop_at && *done >= p->stop_at) p->stop = 1;
    return status;
}

static evn_status after(int done, int stopping, void *arg) {
    struct program *p = arg;
    p->after++;
    p->stopping += stopping;
    if (done % 3 == 0) p->kept = done;
    return EVN_OK;
}

static evn_status finish(void *arg) {
    struct program *p = arg;
    p->finished++;
    return EVN_OK;
}

static evn_status recover(evn_status failure, int *done, void *arg) {
    struct program *p = arg;
    if (p->refuses) return failure;
    p->recovered++;
    *done = p->kept;
    return EVN_OK;
}

static void on_progress(int step, int steps, double seconds, void *arg) {
    struct program *p = arg;
    assert_int_equal(steps, STEPS);
    assert_true(step >= 1 && step <= STEPS && seconds >= 0);
    p->progressed++;
}

static evn_status on_end(const evn_loop *loop, void *arg) {
    struct program *p = arg;
    assert_ptr_equal(loop, p->loop);
    p->inspected++;
    return EVN_OK;
}

static void begin(struct program *p) {
    static const double weight[TASKS] = {1, 2, 4};
    const evn_problem tasks = {.tasks = TASKS, .units = 2, .weight = weight};
    ok(evn_machine_open(&p->machine));
    ok(evn_units_open(&p->units, p->machine, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    ok(evn_schedule_open(&p->schedule, "static", &tasks));
    ok(evn_loop_open(&p->loop, p->units, p->schedule));
    ok(evn_loop_run(p->loop, body, p)); /* a warm-up, which does not count */
    if (!p->group) p->group = 1;
    p->options.progress = on_progress;
    p->options.inspect = on_end;
    p->options.arg = p;
    p->options.stop = &p->stop;
    p->timed = (struct timed){.options = &p->options,
                              .result = &p->result,
                              .loop = p->loop,
                              .advance = advance,
                              .after = after,
                              .finish = finish,
                              .recover = recover,
                              .arg = p};
    ok(timed_begin(&p->timed));
}

static void end(struct program *p) {
    timed_close(&p->timed);
    run_result_free(&p->result);
    evn_loop_close(p->loop);
    evn_schedule_close(p->schedule);
    evn_units_close(p->units);
    evn_machine_close(p->machine);
}

TEST(steps) {
    ENDS(end) struct program p = {0};
    begin(&p);
    ok(timed_steps(&p.timed, 0, STEPS));
    ok(timed_end(&p.timed));
    const struct run_result *r = &p.result;
    assert_int_equal(p.advanced, STEPS);
    assert_int_equal(p.after, STEPS);
    assert_int_equal(p.progressed, STEPS);
    assert_int_equal(p.finished, 1);
    assert_int_equal(p.inspected, 1);
    assert_int_equal(r->steps, STEPS);
    assert_int_equal(r->units, 2);
    assert_int_equal(r->tasks, TASKS);
    assert_int_equal(r->totals.instances, STEPS); /* without the warm-up */
    assert_int_equal(r->unit[0].stats.tasks + r->unit[1].stats.tasks, STEPS * TASKS);
    assert_true(r->seconds > 0 && r->seconds >= r->totals.compute_s);
    for (int t = 0; t < TASKS; t++) assert_true(r->task_s[t] > 0);
    double weight;
    assert_int_equal(run_share(r, evn_schedule_problem(p.schedule), 0, &weight), 2);
    assert_true(weight == 3);
    assert_true(run_imbalance(r) >= 1);
}

/* An instance of the loop for four steps, the last one for what is left; from step 2 on. */
TEST(groups) {
    ENDS(end) struct program p = {.group = 4};
    begin(&p);
    ok(timed_steps(&p.timed, 2, STEPS));
    ok(timed_end(&p.timed));
    assert_int_equal(p.advanced, 2);
    assert_int_equal(p.result.totals.instances, 2);
}

TEST(stop) {
    ENDS(end) struct program p = {.stop_at = 4};
    begin(&p);
    assert_fails(timed_steps(&p.timed, 0, STEPS), EVN_STOPPED, "after step 4 of 10");
    assert_int_equal(p.advanced, 4);
    assert_int_equal(p.stopping, 1);
    assert_int_equal(p.finished + p.inspected + p.recovered, 0);
}

/* A step that was given up does not count, and the state before it is kept. */
TEST(given_up) {
    ENDS(end) struct program p = {.give_up_at = 6};
    begin(&p);
    assert_fails(timed_steps(&p.timed, 0, STEPS), EVN_STOPPED, "after step 6 of 10");
    assert_int_equal(p.stopping, 1);
    assert_int_equal(p.after, 7);
    assert_int_equal(p.kept, 6);
    assert_int_equal(p.finished + p.inspected + p.recovered, 0);
}

/* Who asks at the last step has a whole run. */
TEST(stop_at_the_end) {
    ENDS(end) struct program p = {.stop_at = STEPS};
    begin(&p);
    ok(timed_steps(&p.timed, 0, STEPS));
    assert_int_equal(p.stopping, 0);
    assert_int_equal(p.inspected, 1);
}

TEST(recover) {
    struct program p = {.fail_at = 8};
    begin(&p);
    ok(timed_steps(&p.timed, 0, STEPS));
    assert_int_equal(p.recovered, 1);
    assert_int_equal(p.advanced, STEPS + 2); /* steps 7 and 8 again */
    end(&p);
    ENDS(end) struct program q = {.fail_at = 8, .refuses = 1};
    begin(&q);
    assert_int_equal(timed_steps(&q.timed, 0, STEPS), EVN_DEVICE);
    assert_int_equal(q.advanced, 8);
    assert_int_equal(q.finished + q.inspected, 0);
}

TEST(no_steps) {
    ENDS(end) struct program p = {0};
    begin(&p);
    ok(timed_steps(&p.timed, 0, 0));
    ok(timed_end(&p.timed));
    assert_int_equal(p.advanced, 0);
    assert_int_equal(p.finished, 1);
    for (int t = 0; t < TASKS; t++) assert_true(p.result.task_s[t] == 0);
}

TEST(median) {
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
    assert_true(median(odd, 3) == 3);
    assert_true(median(even, 4) == 2);
    assert_true(median(one, 1) == 7);
}

RUN_TESTS(NULL, NULL)
