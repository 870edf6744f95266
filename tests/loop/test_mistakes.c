/* The mistakes a user makes: each is a status and a message that says what was wrong and where, and
 * afterwards all goes on. Run: ctest -R mistakes
 *
 * Wrong arguments of every function, each alone, are in misuse/. Here is what programs do in
 * earnest.
 *
 * A row of the tables below is a mistake. */
#include "check.h"

enum { TASKS = 6, VALUES = 8, BYTES = VALUES * sizeof(double) };

struct fixture {
    evn_session *session;
    evn_units *units;
    evn_loop *loop, *another;
    evn_place *place;
    evn_exchange *exchange;
    double block[TASKS][VALUES];
    int region[TASKS];
    int on; /* the unit whose body makes the mistake */
    evn_status (*mistake)(struct fixture *f, evn_unit *unit, evn_batch *batch);
};

static evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

static void follow(struct fixture *f) {
    assert_ok(evn_loop_place(f->loop, f->place, 1, f->region, (evn_access[]){EVN_BOTH}));
}

/* Each task's last value is the first of the next one's. */
static void open_exchange(struct fixture *f) {
    evn_face face[TASKS - 1];
    for (int t = 0; t + 1 < TASKS; t++)
        face[t] = (evn_face){.from = t, .to = t + 1, .from_at = VALUES - 1, .n = {1, 1, 1}};
    assert_ok(evn_exchange_open(&f->exchange, f->loop, 8, TASKS - 1, face, NULL));
}

static void begin(struct fixture *f, const char *units) {
    *f = (struct fixture){0};
    assert_ok(evn_open(&f->session, units, "emulated", EVN_OVERSUBSCRIBE));
    f->units = evn_session_units(f->session);
    assert_ok(evn_open_loop(&f->loop, f->session, "static", &(evn_problem){.tasks = TASKS}));
    assert_ok(evn_open_loop(&f->another, f->session, "static", &(evn_problem){.tasks = TASKS}));
    assert_ok(evn_place_open(&f->place, f->units, 0.5));
    for (int t = 0; t < TASKS; t++)
        assert_ok(evn_place_add(f->place, f->block[t], BYTES, &f->region[t]));
    follow(f);
    open_exchange(f);
}

static void end(struct fixture *f) {
    evn_exchange_close(f->exchange);
    evn_place_close(f->place);
    assert_ok(evn_close(f->session));
}

/* ---- made by the program ------------------------------------------------------------------- */

static evn_status removed_then_run(struct fixture *f) {
    assert_ok(evn_place_remove(f->place, f->region[4]));
    return evn_loop_run(f->loop, nothing, NULL);
}

static evn_status removed_then_brought(struct fixture *f) {
    assert_ok(evn_place_remove(f->place, f->region[4]));
    return evn_loop_bring(f->loop);
}

static evn_status removed_then_exchanged(struct fixture *f) {
    assert_ok(evn_place_remove(f->place, f->region[4]));
    return evn_exchange_run(f->exchange);
}

static evn_status removed_then_opened(struct fixture *f) {
    assert_ok(evn_place_remove(f->place, f->region[4]));
    const evn_face face = {.from = 3, .to = 4, .n = {1, 1, 1}};
    evn_exchange *exchange;
    const evn_status status = evn_exchange_open(&exchange, f->loop, 8, 1, &face, NULL);
    assert_null(exchange);
    return status;
}

/* The number is a smaller region's now. */
static evn_status replaced_then_exchanged(struct fixture *f) {
    assert_ok(evn_place_remove(f->place, f->region[4]));
    int region;
    assert_ok(evn_place_add(f->place, f->block[4], BYTES / 2, &region));
    assert_int_equal(region, f->region[4]);
    return evn_exchange_run(f->exchange);
}

static evn_status left_then_run(struct fixture *f) {
    assert_ok(evn_place_leave(f->place, f->region[4]));
    return evn_loop_run(f->loop, nothing, NULL);
}

/* Somebody else holds what the loop wants. */
static evn_status held_then_run(struct fixture *f) {
    assert_ok(evn_place_acquire(f->place, 1, &f->region[4], EVN_HOST, EVN_READ));
    const evn_status status = evn_loop_run(f->loop, nothing, NULL);
    /* and holds it still, and nobody else anything */
    assert_ok(evn_place_release(f->place, 1, &f->region[4], EVN_HOST));
    assert_ok(evn_place_acquire(f->place, TASKS, f->region, EVN_HOST, EVN_WRITE));
    assert_ok(evn_place_release(f->place, TASKS, f->region, EVN_HOST));
    return status;
}

static evn_status made_then_read(struct fixture *f) {
    int region[TASKS] = {-1, -1, -1, -1, -1, -1};
    assert_ok(evn_place_make(f->place, BYTES, &region[4]));
    assert_ok(evn_loop_place(f->loop, f->place, 1, region, (evn_access[]){EVN_BOTH}));
    return evn_loop_run(f->loop, nothing, NULL);
}

static evn_status fewer_regions_then_exchanged(struct fixture *f) {
    int region[2 * TASKS];
    for (int i = 0; i < 2 * TASKS; i++) region[i] = i % 2 ? -1 : f->region[i / 2];
    assert_ok(evn_loop_place(f->loop, f->place, 2, region, (evn_access[]){EVN_BOTH, EVN_READ}));
    return evn_exchange_start(f->exchange, &(int){0});
}

static const struct made {
    evn_status (*make)(struct fixture *f);
    evn_status status;
    const char *says[2];
} made[] = {
    {removed_then_run, EVN_BODY, {"unit 1: ", "there is no region 4"}},
    {removed_then_brought, EVN_BODY, {"unit 1: ", "there is no region 4"}},
    {removed_then_exchanged, EVN_USAGE, {"exchange: region 0 of task 4", "is nowhere"}},
    {removed_then_opened, EVN_USAGE, {"face 0 writes", "region 0 of task 4, which has 0"}},
    {replaced_then_exchanged, EVN_USAGE, {"region 0 of task 4 has 32 bytes now", "reach to 64"}},
    {left_then_run, EVN_BODY, {"unit 1: ", "region 4 is absent"}},
    {held_then_run, EVN_BODY, {"region 4 cannot be acquired in space", "held in space 0 for rea"}},
    {made_then_read, EVN_BODY, {"region 6 is to be read", "acquire it with EVN_WRITE first"}},
    {fewer_regions_then_exchanged, EVN_USAGE, {"other regions since", "after evn_loop_place()"}},
};

/* All is as it was: the regions, and what follows them. */
static void mend(struct fixture *f) {
    evn_exchange_close(f->exchange);
    evn_place_close(f->place);
    assert_ok(evn_place_open(&f->place, f->units, 0.5));
    for (int t = 0; t < TASKS; t++)
        assert_ok(evn_place_add(f->place, f->block[t], BYTES, &f->region[t]));
    follow(f);
    open_exchange(f);
}

static void goes_on(struct fixture *f) {
    const int before = evn_schedule_about(evn_loop_schedule(f->loop)).instance;
    assert_ok(evn_loop_run(f->loop, nothing, NULL));
    assert_ok(evn_exchange_run(f->exchange));
    assert_int_equal(evn_schedule_about(evn_loop_schedule(f->loop)).instance, before + 1);
}

TEST(by_the_program) {
    ENDS(end) struct fixture f;
    begin(&f, "1:CPU:1,1:GPU:1");
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        evn_fail(EVN_SYSTEM, "an old message");
        const evn_status status = made[i].make(&f);
        if (status != made[i].status) fail_msg("row %zu: %s", i, evn_message());
        for (int k = 0; k < 2; k++)
            if (!strstr(evn_message(), made[i].says[k])) fail_msg("row %zu: %s", i, evn_message());
        mend(&f);
        goes_on(&f);
    }
}

/* ---- made by a body ------------------------------------------------------------------------ */

static evn_status runs_another_loop(struct fixture *f, evn_unit *unit, evn_batch *batch) {
    (void)unit, (void)batch;
    return evn_loop_run(f->another, nothing, NULL);
}
static evn_status releases_its_region(struct fixture *f, evn_unit *unit, evn_batch *batch) {
    (void)unit;
    const int t = evn_batch_tasks(batch, &(int){0})[0];
    assert_ok(evn_place_release(f->place, 1, &f->region[t], evn_batch_space(batch)));
    return EVN_OK; /* the loop finds it out */
}
static evn_status closes_a_loop_of_the_session(struct fixture *f, evn_unit *unit,
                                               evn_batch *batch) {
    (void)unit, (void)batch;
    return evn_close_loop(f->session, f->loop);
}
static evn_status closes_the_session(struct fixture *f, evn_unit *unit, evn_batch *batch) {
    (void)unit, (void)batch;
    return evn_close(f->session);
}

static const struct by_body {
    evn_status (*mistake)(struct fixture *f, evn_unit *unit, evn_batch *batch);
    const char *says;
} by_body[] = {
    {runs_another_loop, "evn_loop_run() while its units are at work"},
    {releases_its_region, "is released in space"},
    {closes_a_loop_of_the_session, "evn_close_loop() while its units are at work"},
    {closes_the_session, "evn_close() while its units are at work"},
};

static evn_status err(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    return evn_unit_number(unit) == f->on ? f->mistake(f, unit, batch) : EVN_OK;
}

/* By the first unit's leader, which is the program's own thread, and by another. */
TEST(by_a_body) {
    ENDS(end) struct fixture f;
    begin(&f, "1:CPU:1,1:GPU:1");
    for (size_t i = 0; i < sizeof by_body / sizeof *by_body; i++)
        for (f.on = 0; f.on < 2; f.on++) {
            char unit[32];
            snprintf(unit, sizeof unit, "unit %d: ", f.on);
            f.mistake = by_body[i].mistake;
            assert_int_equal(evn_loop_run(f.loop, err, &f), EVN_BODY);
            if (strncmp(evn_message(), unit, strlen(unit)) != 0 ||
                !strstr(evn_message(), by_body[i].says))
                fail_msg("row %zu: %s", i, evn_message());
            goes_on(&f);
        }
}

/* ---- no mistakes --------------------------------------------------------------------------- */

RUN_TESTS(NULL, NULL)
