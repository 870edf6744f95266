/* A device that holds a third of the tasks' regions, beside two cores: schedules that keep to
 * capacities give it what fits, ahead, so that no region travels once all are in place. Data are
 * counted up on both sides, and checked.
 *
 * Run: ctest -R '^capacity$' */
#include "check.h"

enum { TASKS = 24, STEPS = 12, BLOCK = 1024, SHORT_STEPS = 3 };

static const char third[] = "emulated:1,memory=110KiB,clock=virtual";
static const double strong[] = {1, 1, 4}; /* the device would get two thirds of all */

struct app {
    evn_session *session;
    evn_loop *loop;
    evn_place *place;
    double weight[TASKS];
    int region[TASKS], *data[TASKS];
    size_t bytes[TASKS], all;
};

/* Adds 1 to each number of a task's region, wherever it is. */
static evn_status count_up(evn_unit *unit, evn_batch *b, void *arg) {
    struct app *app = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(b)) >= 0;) {
        const size_t count = app->bytes[t] / sizeof(int);
        int *x = evn_batch_host(b, t, 0), copy[TASKS * BLOCK / sizeof(int)];
        const int on_device = !x;
        evn_status status = EVN_OK;
        if (on_device) {
            x = copy;
            status = evn_copy_to_host(evn_batch_queue(b), x, evn_batch_buffer(b),
                                      evn_batch_at(b, t, 0), app->bytes[t]);
            if (!status) status = evn_queue_finish(evn_batch_queue(b));
        }
        for (size_t i = 0; !status && i < count; i++) x[i]++;
        if (!status && on_device)
            status = evn_copy_to_device(evn_batch_queue(b), evn_batch_buffer(b),
                                        evn_batch_at(b, t, 0), x, app->bytes[t]);
        if (!status && on_device) status = evn_queue_finish(evn_batch_queue(b));
        if (status) return status;
    }
    return EVN_OK;
}

static void open_app(struct app *app, const char *schedule, const char *devices) {
    *app = (struct app){0};
    assert_ok(evn_open(&app->session, "2:CPU:1,1:GPU:1", devices, EVN_OVERSUBSCRIBE));
    assert_ok(evn_place_open(&app->place, evn_session_units(app->session), 1));
    for (int t = 0; t < TASKS; t++) {
        app->bytes[t] = (size_t)(1 + t * 7 % TASKS) * BLOCK;
        app->weight[t] = (double)app->bytes[t];
        app->all += app->bytes[t];
        app->data[t] = calloc(1, app->bytes[t]);
        assert_ok(evn_place_add(app->place, app->data[t], app->bytes[t], &app->region[t]));
    }
    const evn_problem tasks = {.tasks = TASKS, .weight = app->weight, .speed = strong};
    assert_ok(evn_open_loop(&app->loop, app->session, schedule, &tasks));
    assert_ok(evn_session_place(app->session, app->loop, app->place, 1, app->region,
                                &(evn_access){EVN_BOTH}));
}

static void close_app(struct app *app, int steps) {
    assert_ok(evn_session_collect(app->session, app->loop));
    for (int t = 0; t < TASKS; t++)
        for (size_t i = 0; i < app->bytes[t] / sizeof(int); i++)
            assert_int_equal(app->data[t][i], steps);
    evn_place_close(app->place);
    assert_ok(evn_close(app->session));
    for (int t = 0; t < TASKS; t++) free(app->data[t]);
}

static double owned_by_device(const struct app *app, const int *owner) {
    double bytes = 0;
    for (int t = 0; t < TASKS; t++)
        if (owner[t] == 2) bytes += (double)app->bytes[t];
    return bytes;
}

/* Regions that have moved to the device and back. */
static long long moves(const struct app *app) {
    return evn_place_moves(app->place, EVN_HOST, 1).copies +
           evn_place_moves(app->place, 1, EVN_HOST).copies;
}

/* Plans that no measured time changes: what is in place stays. */
TEST(plans) {
    static const char *const fits[] = {"binpack", "optimal:limit=0"};
    for (int i = 0; i < 2; i++) {
        struct app app;
        open_app(&app, fits[i], third);
        const double own = owned_by_device(&app, evn_loop_owner(app.loop));
        assert_true(own > 0 && own <= 110 * 1024 && app.all > 2.5 * 110 * 1024);
        for (int s = 0; s < STEPS; s++) {
            assert_ok(evn_loop_run(app.loop, count_up, &app));
            assert_true(evn_place_moves(app.place, 1, EVN_HOST).copies == 0);
        }
        int count = 0;
        for (int t = 0; t < TASKS; t++) count += evn_loop_owner(app.loop)[t] == 2;
        assert_true(moves(&app) == count);
        close_app(&app, STEPS);
    }
}

/* Schedules that learn may move tasks at any time; never to a device without memory for them. */
TEST(learning) {
    static const char *const fits[] = {"map", "auto"};
    for (int i = 0; i < 2; i++) {
        struct app app;
        open_app(&app, fits[i], third);
        for (int s = 0; s < STEPS; s++) {
            assert_true(owned_by_device(&app, evn_loop_next(app.loop, NULL)) <= 110 * 1024);
            assert_ok(evn_loop_run(app.loop, count_up, &app));
        }
        close_app(&app, STEPS);
    }
}

/* What a program says of memory itself holds; an imported assignment, too. */
TEST(said) {
    struct app app;
    open_app(&app, "static", third);
    const double capacity[] = {0, 0, 20 * 1024};
    double bytes[TASKS];
    for (int t = 0; t < TASKS; t++) bytes[t] = (double)app.bytes[t];
    const evn_problem tasks = {.tasks = TASKS,
                               .weight = app.weight,
                               .speed = strong,
                               .bytes = bytes,
                               .capacity = capacity};
    evn_loop *loop;
    assert_ok(evn_open_loop(&loop, app.session, "binpack", &tasks));
    assert_ok(
        evn_session_place(app.session, loop, app.place, 1, app.region, &(evn_access){EVN_BOTH}));
    const double own = owned_by_device(&app, evn_loop_owner(loop));
    assert_true(own > 0 && own <= 20 * 1024);
    assert_ok(evn_close_loop(app.session, loop));

    const evn_problem plain = {.tasks = TASKS, .weight = app.weight, .units = 3};
    evn_schedule *schedule = OPEN(schedule, "map", &plain);
    assert_ok(evn_schedule_import(schedule, "map 24 tasks 3 units: 24*2"));
    assert_ok(evn_loop_open(&loop, evn_session_units(app.session), schedule));
    assert_ok(evn_loop_place(loop, app.place, 1, app.region, &(evn_access){EVN_BOTH}));
    assert_true(owned_by_device(&app, evn_loop_owner(loop)) == (double)app.all);
    for (int s = 0; s < SHORT_STEPS; s++) assert_ok(evn_loop_run(loop, count_up, &app));
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    close_app(&app, SHORT_STEPS);
}

int main(void) {
    unsetenv("EVENER_SCHEDULE");
    return run_all_tests(NULL, NULL);
}
