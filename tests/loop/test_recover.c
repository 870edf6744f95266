/* Recovery: devices that fail in the first kernel, the tenth copy, while the state is kept, one
 * after another or all at once; the program ends with the values of one that has never failed. Run:
 * ctest -R recover */
#include "world.h"
#include "loop/internal.h"
#include <evener/recover.h>

extern const evn_kernel_source bodies_kernels;

enum { TASKS = 9, VALUES = 24, STEPS = 11, EVERY = 3 };

struct program {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    evn_recovery *recovery;
    double block[TASKS][VALUES];
    int region[TASKS];
    int step;
    /* what it was told */
    int lost, told, listened, anew;
    int lost_unit;
    char text[1024];
    struct loop_listener listener;
    /* a failure of its own */
    evn_status fails;
    int fails_on; /* unit */
};

static void lost(evn_unit *unit, void *arg) {
    struct program *p = arg;
    p->lost++;
    p->lost_unit = evn_unit_number(unit);
    assert_true(evn_unit_devices(unit) > 0); /* still there */
}

static void told(const char *text, void *arg) {
    struct program *p = arg;
    p->told++;
    snprintf(p->text, sizeof p->text, "%s", text);
    assert_null(strchr(text, '\n'));
}

static void listen(void *arg) {
    struct program *p = arg;
    p->listened++;
    assert_int_equal(evn_units_count(p->units), p->loop->count);
}

static void initialise(struct program *p) {
    for (int t = 0; t < TASKS; t++)
        for (int i = 0; i < VALUES; i++) p->block[t][i] = 100 * t + i;
}

static void begin(struct program *p, const char *list, const char *devices, const char *schedule) {
    static const double speed[] = {1, 2, 3, 4};
    memset(p, 0, sizeof *p);
    p->lost_unit = p->fails_on = -1;
    p->units = open_units(list, devices);
    p->loop =
        open_loop(p->units, &p->schedule, schedule, (evn_problem){.tasks = TASKS, .speed = speed});
    ok(evn_place_open(&p->place, p->units, 0.5));
    initialise(p);
    for (int t = 0; t < TASKS; t++)
        ok(evn_place_add(p->place, p->block[t], sizeof p->block[t], &p->region[t]));
    ok(evn_loop_place(p->loop, p->place, 1, p->region, &(evn_access){EVN_BOTH}));
    p->listener = (struct loop_listener){.units_changed = listen, .arg = p};
    loop_listen(p->loop, &p->listener);
    ok(evn_recovery_open(&p->recovery, p->loop, EVERY,
                         &(evn_recovery_calls){.lost = lost, .told = told, .arg = p}));
}

static void end(struct program *p) {
    evn_recovery_close(p->recovery);
    loop_unlisten(p->loop, &p->listener);
    assert_null(p->loop->listener);
    close_loop(p->loop, p->schedule);
    evn_place_close(p->place);
    close_units(p->units);
}

static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    struct program *p = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count), width = 2, values = VALUES;
    if (evn_unit_number(unit) == p->fails_on && p->step == 4)
        return evn_fail(p->fails, "the barn is empty");
    if (evn_batch_device(b) < 0) {
        for (int k = 0; k < count; k++) {
            double *x = evn_batch_host(b, task[k], 0);
            for (int i = 0; i < VALUES; i++) x[i] = 0.5 * x[i] + i + p->step;
        }
        return EVN_OK;
    }
    const evn_argument argument[] = {{.buffer = evn_batch_buffer(b)},
                                     {.buffer = evn_batch_table(b)},
                                     {.value = &width, .bytes = sizeof width},
                                     {.value = &values, .bytes = sizeof values},
                                     {.value = &p->step, .bytes = sizeof p->step}};
    if (!argument[1].buffer) return evn_fail(EVN_DEVICE, "no table: %s", evn_message());
    return evn_batch_launch(b, &bodies_kernels, "grow", count, argument, 5);
}

/* Each region is where its new owner will compute it. */
static void check_places(const struct program *p) {
    for (int t = 0; t < TASKS; t++) {
        evn_unit *unit = evn_units_get(p->units, evn_loop_owner(p->loop)[t]);
        assert_non_null(unit);
        if (evn_unit_devices(unit) == 1)
            assert_true(
                evn_place_valid(p->place, p->region[t], evn_place_space(p->place, unit, 0)));
    }
    assert_int_equal(evn_loop_sum(p->loop).instances, 0);
}

/* All steps; EVN_OK, or the failure that cannot be helped. `bring`: before the first one. */
static evn_status march(struct program *p, int bring) {
    p->step = 0;
    while (p->step <= STEPS) {
        evn_status status = bring ? evn_loop_bring(p->loop) : EVN_OK;
        bring = 0;
        if (!status) status = evn_recovery_keep(p->recovery, p->step);
        if (!status && p->step < STEPS) status = evn_loop_run(p->loop, body, p);
        /* a device may fail at bringing the results home, too */
        else if (!status)
            status = evn_loop_visit_host(p->loop, NULL, NULL, EVN_READ);
        if (!status) {
            p->step++;
            continue;
        }
        const int at = p->step;
        status = evn_recovery_go_on(p->recovery, status, &p->step);
        if (status) return status;
        assert_true(p->step <= at);
        if (p->step < 0) {
            p->anew++;
            p->step = 0;
            assert_non_null(strstr(p->text, "begins anew"));
            for (int t = 0; t < TASKS; t++)
                ok(evn_place_acquire(p->place, 1, &p->region[t], EVN_HOST, EVN_BOTH));
            initialise(p);
            evn_place_release(p->place, TASKS, p->region, EVN_HOST);
        } else {
            char from[64];
            snprintf(from, sizeof from, "goes on from step %d", p->step);
            assert_non_null(strstr(p->text, from));
            assert_int_equal(p->step % EVERY, 0);
            check_places(p);
        }
        assert_non_null(strstr(p->text, evn_units_text(p->units)));
        assert_int_equal(p->listened, p->lost);
    }
    return EVN_OK;
}

static void check_values(struct program *p) {
    for (int t = 0; t < TASKS; t++) {
        ok(evn_place_acquire(p->place, 1, &p->region[t], EVN_HOST, EVN_READ));
        for (int i = 0; i < VALUES; i++) {
            double x = 100 * t + i;
            for (int s = 0; s < STEPS; s++) x = 0.5 * x + i + s;
            if (p->block[t][i] != x)
                fail_msg("task %d value %d is %.17g instead of %.17g", t, i, p->block[t][i], x);
        }
        evn_place_release(p->place, 1, &p->region[t], EVN_HOST);
    }
}

static const char *const schedules[] = {"static", "guided:time", "dynamic:chunk=2,memorize=0"};

/* One device of three fails, in every way and at every moment. */
TEST(one) {
    static const char *const what[] = {"kernel", "copy", "lost", "alloc"};
    int failed[4] = {0}, anew = 0;
    for (int w = 0; w < 4; w++)
        for (int when = 1; when <= 40; when += when < 24 ? 1 : 5)
            for (int s = 0; s < 3; s++) {
                char devices[64];
                struct program p;
                snprintf(devices, sizeof devices, "emulated:3,fail=%s@%d,bad=1", what[w], when);
                begin(&p, "1:CPU:1,3:GPU:1", devices, schedules[s]);
                ok(march(&p, when % 2));
                check_values(&p);
                failed[w] += p.lost;
                anew += p.anew;
                assert_in_range(p.lost, 0, 1);
                assert_int_equal(p.told, p.lost);
                const evn_schedule *schedule = evn_loop_schedule(p.loop);
                assert_string_equal(evn_schedule_text(schedule), evn_schedule_text(p.schedule));
                assert_int_equal(evn_units_count(p.units), 4 - p.lost);
                if (p.lost) {
                    assert_int_equal(p.lost_unit, 2);
                    assert_non_null(strstr(p.text, "emulated device 1"));
                    const evn_problem *problem = evn_schedule_problem(schedule);
                    assert_int_equal(problem->units, 3);
                    assert_true(problem->speed[0] == 1 && problem->speed[1] == 2 &&
                                problem->speed[2] == 4);
                    assert_true(evn_loop_sum(p.loop).instances <= STEPS);
                }
                end(&p);
            }
    for (int w = 0; w < 4; w++) assert_true(failed[w] > 0);
    assert_true(anew > 0);
}

/* One after another, and several in one step. */
TEST(several) {
    static const struct {
        const char *list, *devices;
        int lost, told;
    } c[] = {
        {"1:CPU:1,3:GPU:1", "emulated:1,fail=kernel@3+emulated:1,fail=kernel@7+emulated:1", 2, 2},
        {"1:CPU:1,3:GPU:1", "emulated:1,fail=kernel@5+emulated:1+emulated:1,fail=kernel@5", 2, 1},
        {"1:CPU:1,2:GPU:1", "emulated:1,fail=kernel@2+emulated:1,fail=kernel@2", 2, 1},
        {"3:GPU:1", "emulated:1,fail=kernel@9+emulated:1,fail=lost@9+emulated:1", 2, 2},
        {"1:CPU:1,1:GPU:2,1:GPU:1", "emulated:2,fail=kernel@4+emulated:1", 1, 1},
        /* the second one when the kept state comes to it */
        {"1:CPU:1,2:GPU:1", "emulated:1,fail=kernel@2+emulated:1,fail=copy@7", 2, 0},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct program p;
        begin(&p, c[i].list, c[i].devices, "static");
        ok(march(&p, 0));
        check_values(&p);
        assert_int_equal(p.lost, c[i].lost);
        if (c[i].told) assert_int_equal(p.told, c[i].told);
        end(&p);
    }
}

/* What cannot be helped comes back as it was, with nothing changed. */
static void check_refused(const char *list, const char *devices, evn_status fails, int on,
                          evn_status status, const char *message) {
    struct program p;
    begin(&p, list, devices, "static");
    p.fails = fails;
    p.fails_on = on;
    const int units = evn_units_count(p.units);
    assert_int_equal(march(&p, 0), status);
    if (!strstr(evn_message(), message)) fail_msg("%s", evn_message());
    assert_int_equal(p.step, -1);
    assert_int_equal(p.lost + p.told + p.listened, 0);
    assert_int_equal(evn_units_count(p.units), units);
    assert_ptr_equal(evn_loop_schedule(p.loop), p.schedule);
    end(&p);
}

TEST(refused) {
    check_refused("1:GPU:1", "emulated:1,fail=kernel@4", EVN_OK, -1, EVN_DEVICE, "fail=kernel@4");
    check_refused("2:GPU:1", "emulated:1,fail=kernel@4+emulated:1,fail=kernel@4", EVN_OK, -1,
                  EVN_DEVICE, "fail=kernel@4");
    check_refused("1:CPU:1,1:GPU:1", "emulated:1", EVN_SYSTEM, 0, EVN_BODY, "barn is empty");
    check_refused("1:CPU:1,1:GPU:1", "emulated:1", EVN_MEMORY, 0, EVN_BODY, "barn is empty");
    check_refused("1:CPU:1,1:GPU:1", "emulated:1", EVN_USAGE, 1, EVN_BODY, "barn is empty");
    /* for want of memory on a device, it can */
    struct program p;
    begin(&p, "1:CPU:1,1:GPU:1", "emulated:1", "static");
    p.fails = EVN_MEMORY;
    p.fails_on = 1;
    ok(march(&p, 0));
    check_values(&p);
    assert_int_equal(p.lost, 1);
    end(&p);
}

/* A state of other tasks is no state to go on from; that after a change is kept at once. */
TEST(changed) {
    struct program p;
    int first[TASKS + 1], from[TASKS], step;
    char kept[TASKS];
    for (int t = 0; t <= TASKS; t++) first[t] = t;
    for (int t = 0; t < TASKS; t++) from[t] = TASKS - 1 - t, kept[t] = 1;
    const evn_change change = {.tasks = TASKS, .first = first, .from = from, .kept = kept};
    begin(&p, "1:CPU:1,2:GPU:1", "emulated:2", "static");
    p.fails = EVN_MEMORY;
    ok(evn_recovery_keep(p.recovery, 0));
    ok(evn_loop_run(p.loop, body, &p));
    ok(evn_loop_change(p.loop, &change));
    p.step = 4;
    p.fails_on = 1;
    const evn_status failure = evn_loop_run(p.loop, body, &p);
    assert_int_equal(failure, EVN_BODY);
    assert_fails(evn_recovery_go_on(p.recovery, failure, &step), EVN_USAGE,
                 "no state of the tasks since change 1 is kept");
    assert_says("unit 1: ");
    assert_int_equal(evn_units_count(p.units), 3);
    ok(evn_recovery_keep(p.recovery, 1)); /* EVERY steps have not passed */
    assert_int_equal(evn_loop_run(p.loop, body, &p), EVN_BODY);
    ok(evn_recovery_go_on(p.recovery, EVN_BODY, &step));
    assert_int_equal(step, 1);
    assert_int_equal(evn_units_count(p.units), 2);
    end(&p);
}

TEST(mistakes) {
    struct program p;
    evn_recovery *r;
    begin(&p, "1:CPU:1,1:GPU:1", "emulated:1", "static");
    evn_loop *bare;
    ok(evn_loop_open(&bare, p.units, p.schedule));
    ok(evn_recovery_open(&r, bare, 1, NULL));
    assert_int_equal(evn_recovery_keep(r, 0), EVN_USAGE);
    evn_recovery_close(r);
    evn_loop_close(bare);
    end(&p);
    /* a loop that did not learn that a unit is gone */
    begin(&p, "1:CPU:1,1:GPU:1", "emulated:1,fail=kernel@1", "static");
    ok(evn_loop_open(&bare, p.units, p.schedule));
    ok(march(&p, 0));
    assert_int_equal(p.lost, 1);
    assert_fails(evn_loop_run(bare, body, &p), EVN_USAGE, "1 units, and the loop was made for 2");
    evn_loop_close(bare);
    end(&p);
    /* nothing to be kept for where nothing can fail */
    begin(&p, "2:CPU:1", NULL, "static");
    ok(march(&p, 0));
    check_values(&p);
    assert_int_equal(evn_place_restore(p.place), EVN_USAGE);
    end(&p);
}

/* How often the state is kept: by the copies that are made. */
TEST(every) {
    struct program p;
    begin(&p, "1:GPU:1", "emulated", "static");
    ok(march(&p, 0));
    assert_int_equal(evn_place_moves(p.place, 1, EVN_HOST).copies,
                     ((STEPS - 1) / EVERY + 1) * TASKS); /* and home at the end */
    end(&p);
    /* an interval of 0: once */
    begin(&p, "1:GPU:1", "emulated", "static");
    evn_recovery_close(p.recovery);
    ok(evn_recovery_open(&p.recovery, p.loop, 0, NULL));
    ok(march(&p, 0));
    assert_int_equal(evn_place_moves(p.place, 1, EVN_HOST).copies, TASKS);
    end(&p);
}

RUN_TESTS(NULL, NULL)
