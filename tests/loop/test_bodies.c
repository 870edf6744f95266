/* Bodies of each kind on units of each kind: every task once, times and bursts as the manual says,
 * what a body may ask, and what it may not. Run: ctest -R bodies
 *
 * Devices are emulated ones in a virtual clock in which an item costs 1 us and nothing else costs
 * anything: times on devices are exact. On cores times are compared with what the body itself has
 * seen, which they cannot be less than. With EVENER_TEST_DEVICE=opencl one test runs there. */
#include "world.h"
#include "unit/share.h"
#include <evener/change.h>
#include <evener/kernel.h>
#include <math.h>
#include <stdatomic.h>

extern const evn_kernel_source bodies_kernels;

enum { TASKS = 11, TOGETHER = 3, VALUES = 40, BYTES = VALUES * sizeof(double) };
static const char *const DEVICES =
    "emulated:4,clock=virtual,item=1us,launch=0s,latency=0s,link=1000000GB/s";

/* how a body tells what it does, and how its loop is called */
enum kind { NEXT, DONE, ALL, NONE, KINDS };
enum way { RUN, VISIT, JOIN, WAYS };

struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    double opened[2]; /* before and after */
    double block[TASKS][VALUES], factor[VALUES];
    int region[2 * TASKS];
    double weight[TASKS];
    enum kind kind;
    int add;              /* seconds, times 1 + task; 0: none */
    int exact;            /* devices have the virtual clock */
    double seen[TASKS];   /* s, on cores */
    atomic_int on[TASKS]; /* unit that had the task last */
    atomic_int batches;
};

/* groups of 8 items that a task costs on a device; not in proportion to its weight */
static int cost(int t) { return 1 + t * 7 % 5; }

static void begin(struct fixture *f, const char *list, const char *devices, const char *schedule) {
    memset(f, 0, sizeof *f);
    f->exact = devices == DEVICES;
    f->units = open_units(list, devices);
    for (int t = 0; t < TASKS; t++) f->weight[t] = 1 + t % 4;
    f->opened[0] = evn_now();
    f->loop = open_loop(f->units, &f->schedule, schedule,
                        (evn_problem){.tasks = TASKS, .weight = f->weight});
    f->opened[1] = evn_now();
    ok(evn_place_open(&f->place, f->units, 1));
    int factor;
    for (int i = 0; i < VALUES; i++) f->factor[i] = 2;
    ok(evn_place_add(f->place, f->factor, BYTES, &factor));
    for (int t = 0; t < TASKS; t++) {
        ok(evn_place_add(f->place, f->block[t], BYTES, &f->region[2 * t]));
        f->region[2 * t + 1] = t % 2 ? factor : -1; /* shared by all odd ones */
    }
    ok(evn_loop_place(f->loop, f->place, 2, f->region, (evn_access[]){EVN_BOTH, EVN_READ}));
}

static void end(struct fixture *f) {
    evn_place_close(f->place);
    close_loop(f->loop, f->schedule);
    close_units(f->units);
}

static void wait_for(double seconds) {
    const double until = evn_now() + seconds;
    while (evn_now() < until) {
    }
}

/* ---- a body of each kind ------------------------------------------------------------------- */

static void on_host(struct fixture *f, const evn_batch *b, int t) {
    const double *factor = evn_batch_host(b, t, 1);
    double *value = evn_batch_host(b, t, 0);
    assert_ptr_equal(value, f->block[t]);
    assert_ptr_equal(factor, t % 2 ? f->factor : NULL);
    assert_int_equal(evn_batch_at(b, t, 0), 0);
    value[0] += factor ? *factor : 1;
    value[1] = t;
    wait_for(2e-6 * cost(t));
}

static evn_status on_device(evn_batch *b, int t) {
    const evn_long at = (evn_long)evn_batch_at(b, t, 0);
    const evn_long factor = t % 2 ? (evn_long)evn_batch_at(b, t, 1) : -1;
    const evn_argument argument[] = {{.buffer = evn_batch_buffer(b)},
                                     {.value = &at, .bytes = sizeof at},
                                     {.value = &factor, .bytes = sizeof factor},
                                     {.value = &t, .bytes = sizeof t}};
    assert_null(evn_batch_host(b, t, 0));
    return evn_batch_launch(b, &bodies_kernels, "visit_at", cost(t), argument, 4);
}

/* `rows` tasks of the batch from number `first` on, in one launch */
static evn_status together(evn_batch *b, int first, int rows) {
    const int width = 3;
    int count, groups = 0;
    const int *task = evn_batch_tasks(b, &count);
    for (int i = first; i < first + rows; i++) groups += cost(task[i]);
    const evn_argument argument[] = {{.buffer = evn_batch_buffer(b)},
                                     {.buffer = evn_batch_table(b)},
                                     {.value = &width, .bytes = sizeof width},
                                     {.value = &first, .bytes = sizeof first},
                                     {.value = &rows, .bytes = sizeof rows}};
    return evn_batch_launch(b, &bodies_kernels, "visit", groups, argument, 5);
}

static evn_status one_by_one(struct fixture *f, evn_batch *b) {
    int t;
    while ((t = evn_batch_next(b)) >= 0) {
        const double since = evn_now();
        if (evn_batch_device(b) >= 0)
            ok(on_device(b, t));
        else
            on_host(f, b, t);
        f->seen[t] = evn_now() - since;
    }
    assert_int_equal(evn_batch_next(b), -1); /* and stays so */
    return EVN_OK;
}

/* Some at a time; DONE tells. */
static evn_status some(struct fixture *f, evn_batch *b) {
    int count;
    const int *task = evn_batch_tasks(b, &count);
    const int step = f->kind == DONE ? TOGETHER : count;
    for (int i = 0; i < count; i += step) {
        const int n = count - i < step ? count - i : step;
        const double since = evn_now();
        if (evn_batch_device(b) >= 0) ok(together(b, i, n));
        for (int k = i; evn_batch_device(b) < 0 && k < i + n; k++) on_host(f, b, task[k]);
        double weights = 0;
        for (int k = i; k < i + n; k++) weights += f->weight[task[k]];
        for (int k = i; k < i + n; k++)
            f->seen[task[k]] = (evn_now() - since) * f->weight[task[k]] / weights * 0.999;
        /* the last ones are told by the end */
        if (f->kind == DONE && i + n < count) evn_batch_done(b, n);
    }
    return EVN_OK;
}

static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    struct fixture *f = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count), device = evn_batch_device(b);
    atomic_fetch_add(&f->batches, 1);
    for (int i = 0; i < count; i++) atomic_store(&f->on[task[i]], evn_unit_number(unit));
    assert_ptr_equal(evn_batch_queue(b), evn_unit_queue(unit, device));
    assert_int_equal(evn_batch_space(b),
                     device < 0 ? EVN_HOST : evn_place_space(f->place, unit, device));
    assert_ptr_equal(evn_batch_buffer(b),
                     device < 0 ? NULL : evn_place_buffer(f->place, evn_batch_space(b)));
    if (device < 0) assert_null(evn_batch_table(b));
    for (int i = 0; f->add && i < count; i++)
        evn_batch_add(b, task[i], (double)f->add * (1 + task[i]));
    if (f->kind == NONE) return EVN_OK;
    return f->kind == NEXT ? one_by_one(f, b) : some(f, b);
}

/* ---- what must come out -------------------------------------------------------------------- */

/* Each unit its own body and argument. */
static void join(evn_unit *unit, void *arg) {
    struct fixture *f = ((struct fixture **)arg)[evn_unit_number(unit)];
    ok(evn_loop_join(f->loop, unit, body, f));
}

static double call(struct fixture *f, enum way way) {
    struct fixture *each[16];
    for (int u = 0; u < 16; u++) each[u] = f;
    const double since = evn_now();
    if (way == RUN) ok(evn_loop_run(f->loop, body, f));
    if (way == VISIT) ok(evn_loop_visit(f->loop, body, f));
    if (way == JOIN) evn_units_run(f->units, join, each);
    return evn_now() - since;
}

/* What each task has counted: all home, and there again. */
static void check_counts(struct fixture *f, int times) {
    for (int t = 0; t < TASKS; t++) {
        const int *r = &f->region[2 * t];
        ok(evn_place_acquire(f->place, 1, r, EVN_HOST, EVN_READ));
        assert_true(f->block[t][0] == times * (t % 2 ? 2 : 1));
        assert_true(!times || f->block[t][1] == t);
        evn_place_release(f->place, 1, r, EVN_HOST);
    }
}

/* Seconds of what a device has done with tasks `first` to `last` of `task`. */
static double work(const int *task, int first, int last) {
    double sum = 0;
    for (int i = first; i <= last; i++) sum += 8e-6 * cost(task[i]);
    return sum;
}

/* What tasks that a device did in one batch must have been given, times `factor`. */
static void check_device(const struct fixture *f, const int *task, int count, double factor) {
    const int step = f->kind == NEXT ? 1 : f->kind == DONE ? TOGETHER : count;
    for (int i = 0; i < count; i += step) {
        const int last = (i + step < count ? i + step : count) - 1;
        double weights = 0;
        for (int k = i; k <= last; k++) weights += f->weight[task[k]];
        for (int k = i; k <= last; k++) {
            const int t = task[k];
            const double all = f->kind == NONE ? 0 : work(task, i, last);
            const double want = all * f->weight[t] / weights * factor + f->add * (1. + t);
            if (!(fabs(evn_loop_seconds(f->loop)[t] - want) <= 1e-12 + 1e-12 * want))
                fail_msg("%s, body %d: task %d took %.9f s instead of %.9f",
                         evn_units_text(f->units), f->kind, t, evn_loop_seconds(f->loop)[t], want);
        }
    }
}

/* Times of a GPU unit with fixed owners: batches of all its devices at once. */
static void check_gpu_times(struct fixture *f, int u) {
    const int devices = evn_unit_devices(evn_units_get(f->units, u));
    int task[4][TASKS], count[4] = {0}, device[TASKS];
    double longest = 0, sum = 0;
    evn_loop_devices(f->loop, 0, device);
    for (int t = 0; t < TASKS; t++)
        if (evn_loop_owner(f->loop)[t] == u) task[device[t]][count[device[t]]++] = t;
    for (int d = 0; d < devices; d++) {
        const double all = f->kind == NONE ? 0 : work(task[d], 0, count[d] - 1);
        longest = fmax(longest, all);
        sum += all;
    }
    for (int d = 0; d < devices; d++)
        check_device(f, task[d], count[d], sum > 0 ? longest / sum : 1);
}

static void check_times(struct fixture *f, double wall) {
    for (int t = 0; t < TASKS; t++) {
        const int u = evn_loop_owner(f->loop)[t];
        const double s = evn_loop_seconds(f->loop)[t], added = f->add * (1. + t);
        assert_int_equal(u, f->on[t]);
        if (evn_unit_is_gpu(evn_units_get(f->units, u))) continue;
        assert_true(s >= added + f->seen[t] * 0.999999 && s <= added + wall);
    }
    if (evn_schedule_about(f->schedule).chunk || !f->exact) return;
    for (int u = 0; u < evn_units_count(f->units); u++)
        if (evn_unit_is_gpu(evn_units_get(f->units, u))) check_gpu_times(f, u);
}

/* Bursts that a unit must have for `count` tasks that it had as one batch. */
static int bursts_of(const struct fixture *f, int u, int count) {
    if (!count) return 0;
    if (evn_unit_devices(evn_units_get(f->units, u)) > 1) return 1;
    return f->kind == NEXT ? count : f->kind == DONE ? (count + TOGETHER - 1) / TOGETHER : 1;
}

/* Within what began at `since` and took `wall`, one after another, each task once. */
static void check_bursts(struct fixture *f, enum way way, double since, double wall) {
    for (int u = 0; u < evn_units_count(f->units); u++) {
        double last = 0;
        int tasks = 0, mine = 0, bursts = 0;
        for (int t = 0; t < TASKS; t++) mine += evn_loop_owner(f->loop)[t] == u;
        for (int i = 0; i < evn_loop_bursts(f->loop, u); i++) {
            const evn_burst b = evn_loop_burst(f->loop, u, i);
            assert_true(b.begin >= last && b.end >= b.begin);
            assert_true(b.begin + f->opened[1] >= since);
            assert_true(b.end + f->opened[0] <= since + wall);
            last = b.end;
            if (b.kind == EVN_BURST_COPY) continue;
            assert_int_equal(b.kind, way == VISIT ? EVN_BURST_EXCHANGE : EVN_BURST_COMPUTE);
            tasks += b.count;
            bursts++;
        }
        assert_int_equal(tasks, mine);
        if (!evn_schedule_about(f->schedule).chunk) assert_int_equal(bursts, bursts_of(f, u, mine));
    }
}

static void check_instance(struct fixture *f, enum way way) {
    double before[TASKS];
    memcpy(before, evn_loop_seconds(f->loop), sizeof before);
    for (int t = 0; t < TASKS; t++) f->seen[t] = 0;
    ok(evn_loop_keep_bursts(f->loop, 256)); /* forgets those before */
    const int learnt = evn_schedule_about(f->schedule).instance;
    const double since = evn_now(), wall = call(f, way), all = evn_now() - since;
    if (way == VISIT)
        assert_memory_equal(before, evn_loop_seconds(f->loop), sizeof before);
    else
        check_times(f, wall);
    assert_int_equal(evn_schedule_about(f->schedule).instance, learnt + (way != VISIT));
    check_bursts(f, way, since, all);
}

static void check_bodies(const char *list, const char *devices, const char *schedule,
                         enum kind kind, int add) {
    ENDS(end) struct fixture f;
    begin(&f, list, devices, schedule);
    f.kind = kind;
    f.add = add;
    int times = 0;
    for (int round = 0; round < 2; round++)
        for (int way = 0; way < WAYS; way++) {
            check_instance(&f, way);
            times += kind != NONE;
        }
    check_counts(&f, times);
    check_instance(&f, RUN); /* now that all are home */
    check_counts(&f, times + (kind != NONE));
    long long tasks = 0;
    for (int u = 0; u < evn_units_count(f.units); u++) tasks += evn_loop_stats(f.loop, u).tasks;
    assert_int_equal(tasks, 5 * TASKS);
}

TEST(table) {
    static const char *const list[] = {
        "1:CPU:1",         "2:CPU:1",         "1:CPU:2",         "5:CPU:1",
        "1:GPU:1",         "2:GPU:1",         "1:GPU:2",         "1:CPU:1,1:GPU:1",
        "1:CPU:1,1:GPU:2", "2:CPU:1,2:GPU:2", "1:GPU:3,1:GPU:1",
    };
    static const char *const schedule[] = {"static", "dynamic:chunk=2,memorize=0"};
    for (size_t l = 0; l < sizeof list / sizeof *list; l++)
        for (int s = 0; s < 2; s++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int add = 0; add <= 1000; add += 1000)
                    check_bodies(list[l], DEVICES, schedule[s], kind, add);
}

/* In real time: the same but for what tasks cost on a device. */
TEST(real_clock) {
    const char *devices = getenv("EVENER_TEST_DEVICE");
    static const char *const schedule[] = {"static", "dynamic:chunk=2,memorize=0"};
    for (int s = 0; s < 2; s++)
        for (int kind = 0; kind < KINDS; kind++)
            check_bodies("1:CPU:1,1:GPU:1", devices ? devices : "emulated", schedule[s], kind, 0);
}

/* ---- more about times ---------------------------------------------------------------------- */

/* Bringing regions is neither computing nor learnt from. */
TEST(moving) {
    ENDS(end) struct fixture f;
    begin(&f, "1:GPU:1", "emulated:clock=virtual,item=1us,launch=0s,latency=1ms", "static");
    f.kind = NEXT;
    call(&f, RUN);
    check_gpu_times(&f, 0);
    int all[TASKS];
    for (int t = 0; t < TASKS; t++) all[t] = t;
    evn_unit_stats s = evn_loop_stats(f.loop, 0);
    assert_true(fabs(s.compute_s - work(all, 0, TASKS - 1)) < 1e-12);
    assert_true(s.copy_s > 0 && s.idle_s >= 0 && s.exchange_s == 0);
    evn_loop_reset_stats(f.loop);
    check_counts(&f, 1); /* home */
    ok(evn_loop_bring(f.loop));
    assert_true(evn_loop_stats(f.loop, 0).copy_s > 0);
    end(&f);
    /* on cores, with what a device has: some of the time is copying, none of it is the tasks' */
    begin(&f, "1:CPU:1,1:GPU:1", DEVICES, "static");
    f.kind = NEXT;
    call(&f, VISIT);
    for (int t = 0; t < TASKS; t++)
        if (evn_loop_owner(f.loop)[t] == 0)
            ok(evn_place_acquire(f.place, 1, &f.region[2 * t], 1, EVN_BOTH));
    for (int t = 0; t < TASKS; t++)
        if (evn_loop_owner(f.loop)[t] == 0) evn_place_release(f.place, 1, &f.region[2 * t], 1);
    evn_loop_reset_stats(f.loop);
    call(&f, RUN);
    s = evn_loop_stats(f.loop, 0);
    double sum = 0;
    for (int t = 0; t < TASKS; t++)
        if (evn_loop_owner(f.loop)[t] == 0) sum += evn_loop_seconds(f.loop)[t];
    assert_true(s.copy_s > 0 && s.compute_s >= sum && s.compute_s > 0);
    assert_true(s.compute_s + s.copy_s <= evn_loop_sum(f.loop).compute_s);
}

/* A device that has room for four tasks at a time gets them in parts, each with its own table. */
TEST(parts) {
    static const char small[] = "emulated:2,memory=6KiB,clock=virtual,item=1us,launch=0s";
    for (int kind = 0; kind < NONE; kind++) {
        ENDS(end) struct fixture f;
        begin(&f, "1:GPU:1", small, "static");
        evn_place_limit(f.place, 1, 5 * 512. / (6 * 1024));
        f.kind = kind;
        call(&f, RUN);
        assert_true(f.batches > 2);
        call(&f, RUN);
        check_counts(&f, 2);
        assert_int_equal(evn_loop_stats(f.loop, 0).tasks, 2 * TASKS);
    }
}

/* A slow unit waits after its tasks; the times that are learnt are those of a slow unit. */
TEST(slow) {
    for (int kind = 0; kind < NONE; kind++) {
        struct fixture f;
        begin(&f, "2:CPU:1", NULL, "static");
        f.kind = kind;
        evn_unit *unit = evn_units_get(f.units, 1);
        assert_true(unit_slowness(unit) == 1);
        evn_unit_slow(unit, 0.5);
        assert_says("0.5");
        evn_unit_slow(unit, 1001);
        evn_unit_slow(unit, NAN);
        assert_true(unit_slowness(unit) == 1);
        evn_unit_slow(unit, 50);
        assert_true(unit_slowness(unit) == 50);
        for (int way = 0; way < WAYS; way++) {
            check_instance(&f, way);
            if (way == VISIT) continue;
            for (int t = 0; t < TASKS; t++)
                if (f.on[t] == 1) assert_true(evn_loop_seconds(f.loop)[t] >= 50 * f.seen[t]);
        }
        f.add = 0;
        end(&f);
    }
}

/* ---- regions ------------------------------------------------------------------------------- */

/* What is only written does not come, what is only read stays valid at home. */
TEST(access) {
    ENDS(end) struct fixture f;
    begin(&f, "1:GPU:1", DEVICES, "static");
    int region[2 * TASKS];
    double other[TASKS][VALUES] = {{0}};
    for (int t = 0; t < TASKS; t++) {
        region[2 * t] = f.region[2 * t];
        ok(evn_place_add(f.place, other[t], BYTES, &region[2 * t + 1]));
    }
    ok(evn_loop_place(f.loop, f.place, 2, region, (evn_access[]){EVN_READ, EVN_WRITE}));
    /* without a body nothing is written */
    ok(evn_loop_bring(f.loop));
    for (int t = 0; t < TASKS; t++)
        assert_true(evn_place_valid(f.place, region[2 * t + 1], EVN_HOST));
    ok(evn_loop_run(f.loop, nothing, NULL));
    assert_int_equal(evn_place_moves(f.place, EVN_HOST, 1).copies, TASKS);
    for (int t = 0; t < TASKS; t++) {
        assert_true(evn_place_valid(f.place, region[2 * t], EVN_HOST));
        assert_false(evn_place_valid(f.place, region[2 * t + 1], EVN_HOST));
        /* and nothing is held any more */
        ok(evn_place_acquire(f.place, 2, &region[2 * t], EVN_HOST, EVN_WRITE));
        evn_place_release(f.place, 2, &region[2 * t], EVN_HOST);
    }
    assert_int_equal(evn_loop_place(f.loop, f.place, 0, region, (evn_access[]){EVN_READ}),
                     EVN_USAGE);
    assert_int_equal(evn_loop_place(f.loop, NULL, 1, region, (evn_access[]){EVN_READ}), EVN_USAGE);
    assert_int_equal(evn_loop_place(f.loop, f.place, 1, region, (evn_access[]){0}), EVN_USAGE);
    /* all or none: with one of them in use, none is acquired */
    ok(evn_place_acquire(f.place, 1, &region[2 * 5 + 1], EVN_HOST, EVN_WRITE));
    assert_int_equal(evn_loop_run(f.loop, nothing, NULL), EVN_BODY);
    evn_place_release(f.place, 1, &region[2 * 5 + 1], EVN_HOST);
    for (int i = 0; i < 2 * TASKS; i++) {
        ok(evn_place_acquire(f.place, 1, &region[i], EVN_HOST, EVN_WRITE));
        evn_place_release(f.place, 1, &region[i], EVN_HOST);
    }
    ok(evn_loop_run(f.loop, nothing, NULL));
}

/* The table is sent once, and again when something in it has changed. */
static evn_status ask_table(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit;
    (void)arg;
    assert_non_null(evn_batch_table(b));
    return EVN_OK;
}

TEST(table_is_kept) {
    ENDS(end) struct fixture f;
    begin(&f, "1:GPU:1", DEVICES, "static");
    ok(evn_loop_bring(f.loop));
    evn_device *device = evn_unit_device(evn_units_get(f.units, 0), 0);
    evn_counts before = evn_device_counts(device, NULL);
    for (int i = 0; i < 3; i++) ok(evn_loop_run(f.loop, ask_table, NULL));
    evn_counts now = evn_device_counts(device, &before);
    assert_int_equal(now.copies_in, 1);
    assert_int_equal(now.bytes_in, TASKS * 3 * 8);
    /* two regions change their places in the arena */
    ok(evn_place_acquire(f.place, 2, (int[]){f.region[0], f.region[2]}, EVN_HOST, EVN_BOTH));
    evn_place_release(f.place, 2, (int[]){f.region[0], f.region[2]}, EVN_HOST);
    ok(evn_place_acquire(f.place, 1, &f.region[2], 1, EVN_BOTH));
    evn_place_release(f.place, 1, &f.region[2], 1);
    ok(evn_loop_bring(f.loop));
    before = evn_device_counts(device, NULL);
    for (int i = 0; i < 3; i++) ok(evn_loop_run(f.loop, ask_table, NULL));
    assert_int_equal(evn_device_counts(device, &before).copies_in, 1);
}

/* Tables and subteams are those of the tasks of now, where there are more of them than before, and
 * where there are fewer. */
static void add_by_subteam(const evn_subteam *by, int t, void *batch) {
    double *value = evn_batch_host(batch, t, 0);
    if (by->core == 0) value[0]++, value[1] = t;
    evn_subteam_barrier(by);
}

static evn_status add_once(evn_unit *unit, evn_batch *b, void *arg) {
    int count;
    (void)unit, (void)arg;
    evn_batch_tasks(b, &count);
    return evn_batch_device(b) < 0 ? evn_batch_share(b, NULL, 0, add_by_subteam, b)
                                   : together(b, 0, count);
}

TEST(after_changes) {
    enum { MOST = 30 * TASKS };
    static const char *const list[] = {"1:GPU:1", "1:GPU:2", "1:CPU:3", "1:CPU:1,1:GPU:1"};
    static const int counts[] = {2, MOST, TASKS};
    for (int l = 0; l < 4; l++) {
        ENDS(end) struct fixture f;
        double block[MOST][2] = {{0}};
        int region[2 * MOST], one[MOST], first[MOST + 1] = {0}, times[MOST] = {0};
        begin(&f, list[l], DEVICES, "static");
        for (int t = 0; t < MOST; t++) {
            ok(evn_place_add(f.place, block[t], sizeof block[t], &one[t]));
            region[2 * t] = one[t];
            region[2 * t + 1] = -1;
        }
        ok(evn_loop_run(f.loop, add_once, NULL));
        for (int c = 0; c < 3; c++) {
            ok(evn_loop_change(f.loop, &(evn_change){.tasks = counts[c],
                                                     .first = first,
                                                     .from = first,
                                                     .links = -1,
                                                     .region = region}));
            ok(evn_loop_run(f.loop, add_once, NULL));
            ok(evn_place_acquire(f.place, MOST, one, EVN_HOST, EVN_READ));
            for (int t = 0; t < counts[c]; t++) {
                times[t]++;
                assert_true(block[t][0] == times[t] && block[t][1] == t);
            }
            ok(evn_place_release(f.place, MOST, one, EVN_HOST));
        }
    }
}

/* Where tasks will be is where they are then; without weights they are counted. */
TEST(on_devices) {
    ENDS(end) struct fixture f;
    begin(&f, "1:CPU:1,1:GPU:3", DEVICES, "static");
    int device[TASKS], last = 0;
    evn_loop_devices(f.loop, 0, device);
    ok(evn_loop_bring(f.loop));
    for (int t = 0; t < TASKS; t++) {
        const int owner = evn_loop_owner(f.loop)[t];
        evn_unit *unit = evn_units_get(f.units, owner);
        assert_true(owner ? device[t] >= last && device[t] < 3 : device[t] == -1);
        if (owner) last = device[t];
        assert_int_equal(evn_place_where(f.place, f.region[2 * t]),
                         owner ? evn_place_space(f.place, unit, device[t]) : EVN_HOST);
    }
    end(&f);
    begin(&f, "1:GPU:2", DEVICES, "dynamic");
    evn_loop_devices(f.loop, 0, device);
    for (int t = 0; t < TASKS; t++) assert_int_equal(device[t], -1);
    static const struct {
        double weight[6];
        int first; /* of the second device */
    } c[] = {{{0}, 3}, {{1, 1, 1, 1, 1, 1}, 3}, {{3, 2.1, 2.9}, 1}, {{3, 1.9, 3.1}, 2}};
    for (int i = 0; i < 4; i++) {
        evn_schedule *schedule;
        evn_loop *loop = open_loop(f.units, &schedule, "static",
                                   (evn_problem){.tasks = 6, .weight = c[i].weight});
        evn_loop_devices(loop, 0, device);
        for (int t = 0; t < 6; t++) assert_int_equal(device[t], t >= c[i].first);
        evn_loop_devices(loop, 1, device);
        for (int t = 0; t < 6; t++) assert_int_equal(device[t], t >= c[i].first);
        close_loop(loop, schedule);
    }
}

/* A failure without a message says so, instead of what was said before. */
static evn_status silent(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit;
    (void)b;
    return *(const evn_status *)arg;
}

static evn_status talks(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit;
    (void)b;
    (void)arg;
    evn_fail(EVN_USAGE, "an old message");
    return EVN_OK;
}

TEST(silence) {
    for (int gpu = 0; gpu < 2; gpu++) {
        ENDS(end) struct fixture f;
        begin(&f, gpu ? "1:GPU:1" : "1:CPU:1", DEVICES, "static");
        ok(evn_loop_run(f.loop, talks, NULL));
        for (int s = EVN_USAGE; s <= 99; s += 49) {
            evn_status status = (evn_status)s;
            assert_int_equal(evn_loop_run(f.loop, silent, &status), EVN_BODY);
            assert_null(strstr(evn_message(), "an old message"));
            assert_says("tasks 0 to 10");
            assert_says(evn_status_text(status));
        }
    }
}

/* ---- join ---------------------------------------------------------------------------------- */

struct joint {
    struct fixture *f;
    evn_status status[3];
    char message[3][256];
    double sum[3];
    int instances;
};

static evn_status add_up(evn_unit *unit, evn_batch *b, void *arg) {
    double *sum = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(b)) >= 0;) *sum += 1 + t;
    return EVN_OK;
}

static evn_status refuse(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit;
    (void)b;
    (void)arg;
    return evn_fail(EVN_SYSTEM, "no hay");
}

static void lead(evn_unit *unit, void *arg) {
    struct joint *j = arg;
    const int me = evn_unit_number(unit);
    evn_fail(EVN_USAGE, "unit %d", me);
    for (int i = 0; i < j->instances; i++) ok(evn_loop_join(j->f->loop, unit, add_up, &j->sum[me]));
    j->status[me] = evn_loop_join(j->f->loop, unit, me == 1 ? refuse : add_up, &j->sum[me]);
    snprintf(j->message[me], sizeof j->message[me], "%s", evn_message());
}

TEST(join) {
    static const char *const schedules[] = {"static", "dynamic:memorize=0", "guided:time"};
    for (int s = 0; s < 3; s++) {
        ENDS(end) struct fixture f;
        begin(&f, "3:CPU:1", NULL, schedules[s]);
        struct joint j = {.f = &f, .instances = 50};
        evn_units_run(f.units, lead, &j);
        assert_true(j.sum[0] + j.sum[1] + j.sum[2] >= 50. * TASKS * (TASKS + 1) / 2);
        /* where units draw, unit 1 may find nothing, and then its body is not called */
        const evn_status status = s == 1 ? j.status[0] : EVN_BODY;
        assert_int_equal(evn_schedule_about(f.schedule).instance, status ? 50 : 51);
        assert_int_equal(evn_loop_sum(f.loop).instances, status ? 50 : 51);
        for (int u = 0; u < 3; u++) {
            assert_int_equal(j.status[u], status);
            if (status) assert_string_equal(j.message[u], "unit 1: no hay");
        }
        ok(evn_loop_run(f.loop, nothing, NULL));
        /* not by the program itself */
        assert_fails(evn_loop_join(f.loop, evn_units_get(f.units, 0), nothing, NULL), EVN_USAGE,
                     "outside of evn_units_run()");
        assert_int_equal(evn_loop_join(f.loop, NULL, nothing, NULL), EVN_USAGE);
    }
}

/* A loop may be closed when its units are gone. */
TEST(closed_last) {
    struct fixture f;
    begin(&f, "1:CPU:1,1:GPU:2", DEVICES, "static");
    f.kind = DONE;
    call(&f, RUN);
    evn_place_close(f.place);
    evn_schedule_close(f.schedule);
    close_units(f.units);
    evn_loop_close(f.loop);
}

/* ---- short tasks, which are timed together ---- */

enum { MANY = 4000, HEAVY = 2001, HEAVY_US = 200 };

struct shorts {
    int ran[MANY], longest; /* longest: of the ranges */
};

static evn_status in_ranges(evn_unit *unit, evn_batch *b, void *arg) {
    struct shorts *s = arg;
    int end, behind = 0;
    (void)unit;
    for (int t; (t = evn_batch_range(b, &end)) >= 0; behind = end) {
        assert_true(t >= behind && end > t);
        if (end - t > s->longest) s->longest = end - t;
        for (; t < end; t++) {
            s->ran[t]++;
            if (t == HEAVY) wait_for(1e-6 * HEAVY_US);
        }
    }
    return EVN_OK;
}

/* A long one among them gets its own time, since the times of the instance before are known. */
TEST(short_tasks) {
    struct shorts s = {0};
    evn_schedule *schedule;
    evn_units *units = open_units("1:CPU:1", NULL);
    evn_loop *loop = open_loop(units, &schedule, "static", (evn_problem){.tasks = MANY});
    for (int i = 0; i < 4; i++) ok(evn_loop_run(loop, in_ranges, &s));
    double sum = 0;
    for (int t = 0; t < MANY; t++) {
        assert_int_equal(s.ran[t], 4);
        sum += evn_loop_seconds(loop)[t];
    }
    assert_true(s.longest > 1);
    assert_true(evn_loop_seconds(loop)[HEAVY] > 0.99e-6 * HEAVY_US);
    assert_true(sum <= evn_loop_stats(loop, 0).compute_s);
    close_loop(loop, schedule);
    close_units(units);
}

int main(void) {
    const char *devices = getenv("EVENER_TEST_DEVICE");
    char why[512];
    int count = 0;
    if (devices && (evn_devices_count(devices, &count, why, sizeof why) || !count)) {
        printf("there is no device of %s: %s\n", devices, why);
        return SKIPPED;
    }
    if (devices) cmocka_set_test_filter("test_real_clock");
    return run_all_tests(NULL, NULL);
}
