/* The model of a step against sums done by hand, and what schedules do in it with a unit that
 * becomes slower in mid-run. All in virtual time. Run: ctest -R model */
#include "schedule/open.h"
#include "npbmz/npbmz.h"
#include <math.h>

static void assert_near(double is, double expected) {
    if (!(fabs(is - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", is, expected);
}

/* Four tasks in a ring on a CPU (kind 0) and two devices (kind 1). */
static const double seconds[] = {4, 8, 4, 8, /* on a device */ 1, 2, 1, 2};
static const double state_[] = {100, 200, 300, 400};
static const evn_link ring[] = {{{0, 1}, 10}, {{1, 2}, 20}, {{2, 3}, 30}, {{3, 0}, 40}};
static const int kind[] = {0, 1, 1};
static const evn_route route[] = {
    {1, {0.5}, {0.01}},
    {1, {0.1}, {0.02}},
    {1, {0.1}, {0.02}},
    {2, {0.1, 0.2}, {0.02, 0.03}}, /* staged */
};
static const evn_route within[] = {{.hops = 1}, {1, {0.001}, {0.0001}}};
static const evn_model small = {.tasks = 4,
                                .seconds = seconds,
                                .state = state_,
                                .links = 4,
                                .link = ring,
                                .units = 3,
                                .kinds = 2,
                                .kind = kind,
                                .route = route,
                                .within = within};

/* A schedule that keeps `owner` for good. */
static evn_schedule *fixed(const int *owner, int units) {
    evn_problem p = {.tasks = 4, .units = units};
    char text[128];
    snprintf(text, sizeof text, "binpack 4 tasks %d units: 1*%d 1*%d 1*%d 1*%d", units, owner[0],
             owner[1], owner[2], owner[3]);
    evn_schedule *s = open_or_fail("binpack", &p);
    if (evn_schedule_import(s, text)) fail_msg("%s", evn_message());
    return s;
}

static evn_step step_of(const evn_model *m, const int *owner) {
    evn_step step;
    evn_schedule *s = fixed(owner, m->units);
    evn_simulation *clock = OPEN(simulation, m);
    assert_ok(evn_simulation_step(clock, s, &step));
    assert_memory_equal(evn_simulation_last(clock).owner, owner, 4 * sizeof *owner);
    evn_simulation_close(clock);
    evn_schedule_close(s);
    return step;
}

TEST(by_hand) {
    evn_model m = small;
    /* tasks 0, 1 on the CPU, 2 and 3 on one device each */
    evn_step s = step_of(&m, (int[]){0, 0, 1, 2});
    assert_near(s.compute_s, 12);
    assert_near(s.imbalance, 12);
    assert_near(s.bytes, 2 * (20 + 30 + 40));
    assert_int_equal(s.messages, 6);
    assert_int_equal(s.migrations, 0);
    /* round 1: 0 to 1 with 20 bytes from 0 to 0.5; 1 to 2 with 30, staged: out of 1 from 0 to 0.7,
     * into 2 to 0.7 + 0.2 + 0.9 = 1.8; 2 to 0 with 40 from 0 to 0.9.
     * round 2: 0 to 2 with 40 begins when 2 is free at 1.8, to 2.7; 1 to 0 with 20 at
     * max(0.7, 0.9) = 0.9, to 1.4; 2 to 1 with 30: out of 2 from 0.9 to 1.6, into 1 from
     * max(1.6, 0.5) to 2.7. */
    assert_near(s.exchange_s, 2.7);
    m.sequential = 1;
    s = step_of(&m, (int[]){0, 0, 1, 2});
    assert_near(s.exchange_s, 2 * (0.1 + 0.4) + 2 * (0.3 + 30 * 0.05) + 2 * (0.1 + 0.8));
    assert_int_equal(s.messages, 6);
    /* all on one device: one launch of copies in parallel, one a face in sequence */
    s = step_of(&m, (int[]){1, 1, 1, 1});
    assert_near(s.exchange_s, 8 * 0.001 + 200 * 0.0001);
    assert_near(s.compute_s, 6);
    assert_true(isinf(s.imbalance) && s.bytes == 0 && s.messages == 0);
    m.sequential = 0;
    s = step_of(&m, (int[]){1, 1, 1, 1});
    assert_near(s.exchange_s, 0.001 + 200 * 0.0001);
    m.within = NULL;
    assert_true(step_of(&m, (int[]){1, 1, 1, 1}).exchange_s == 0);
    m.route = NULL;
    assert_true(step_of(&m, (int[]){0, 1, 2, 0}).exchange_s == 0);
    const double slow[] = {1, 3, 1};
    m.slow = slow;
    assert_near(step_of(&m, (int[]){0, 1, 1, 2}).compute_s, 9);
}

/* Units that have waited for more than 1 s wake in 0.5 s, of which 0.25 s are the first one's. */
TEST(sleepers) {
    evn_model m = small;
    m.spin_s = 1;
    m.wake_s = 0.5;
    m.wake_call_s = 0.25;
    m.idle_s = 0.75;
    /* the first one falls asleep beside the 6 s of all tasks, and then wakes the third for faces of
     * 0.021 s, which are done before that one comes */
    const double faces = 0.25 - 0.021;
    assert_near(step_of(&m, (int[]){1, 1, 1, 1}).beside_s, 0.5 + faces);
    m.idle_s = 2;
    assert_near(step_of(&m, (int[]){1, 1, 1, 1}).beside_s, 0.5 + 0.5 + faces);
    /* two sleep beside the first one's 12 s, and again as messages of 2.7 s each begin: it has as
     * much of these done when they come that all end together */
    evn_step s = step_of(&m, (int[]){0, 0, 1, 2});
    assert_near(s.beside_s, 0.25 + (3 * 2.7 + 0.25 + 2 * 0.5) / 3 - 2.7);
    assert_near(s.step_s, 12 + 2.7 + s.beside_s);
    m.sequential = 1; /* nobody does others' messages */
    s = step_of(&m, (int[]){0, 0, 1, 2});
    assert_near(s.beside_s, 0.25 + 0.5);
    m.rank = (int[]){0, 1, 2};
    assert_true(step_of(&m, (int[]){0, 0, 1, 2}).beside_s == 0);
}

/* A CPU unit is rank 0, two devices are rank 1: messages between them are one a pair of ranks. */
TEST(ranks) {
    static const int rank[] = {0, 1, 1};
    static const evn_route far[] = {{.hops = 1}, {1, {1}, {0.1}}, {1, {2}, {0.2}}, {.hops = 1}};
    evn_model m = small;
    m.rank = rank;
    m.far = far;
    m.tree = 0.5;
    evn_step s = step_of(&m, (int[]){0, 0, 1, 2});
    /* 60 bytes there in 1 + 6, back in 2 + 12; 30 each way between the devices, as by hand above */
    assert_near(s.exchange_s, 14 + 1.8);
    assert_int_equal(s.messages, 4);
    assert_near(s.bytes, 180);
    assert_near(s.tree_s, 1);
    assert_near(s.step_s, 12 + 15.8 + 1);
    m.beside_s = 0.25;
    m.loops = 3;
    s = step_of(&m, (int[]){0, 0, 1, 2});
    assert_near(s.beside_s, 0.75);
    assert_near(s.step_s, 12 + 15.8 + 1 + 0.75);
    m.beside_s = m.loops = 0;
    /* all tasks need something from the other rank: nothing hides, but units are not in step */
    m.overlap = 1;
    assert_near(step_of(&m, (int[]){0, 0, 1, 2}).step_s, 12 + 14 + 1);
    /* task 1 does not: its 8 s hide as much of 2 + 14 */
    s = step_of(&m, (int[]){0, 0, 0, 1});
    assert_near(s.exchange_s, 16);
    assert_near(s.step_s, 16 + 16 - 8 + 1);
    /* without routes of their own they take those between kinds */
    m.overlap = 0;
    m.far = NULL;
    assert_near(step_of(&m, (int[]){0, 0, 1, 2}).exchange_s, (0.1 + 1.2) + 1.8);
    /* ranks that are none */
    evn_simulation *clock;
    m.rank = (int[]){0, 1, 3};
    assert_int_equal(evn_simulation_open(&clock, &m), EVN_USAGE);
    m.rank = rank;
    m.tree = -1;
    assert_int_equal(evn_simulation_open(&clock, &m), EVN_USAGE);
}

/* Units that draw: tasks 0, 1, 2 go to the units as they are all free; 3 to who is done first. Then
 * what moves, and what it costs. */
TEST(draws_and_migrations) {
    double slow[] = {1, 1, 1};
    evn_model m = small;
    m.slow = slow;
    evn_problem p = {.tasks = 4, .units = 3};
    OWN(schedule) *s = open_or_fail("dynamic:chunk=1,memorize=0", &p);
    evn_step step;
    OWN(simulation) *clock = OPEN(simulation, &m);
    assert_ok(evn_simulation_step(clock, s, &step));
    assert_memory_equal(evn_simulation_last(clock).owner, ((int[]){0, 1, 2, 2}), 4 * sizeof(int));
    assert_near(step.compute_s, 4);
    assert_int_equal(step.migrations, 0);
    const double exchanged = step.exchange_s;
    assert_ok(evn_simulation_step(clock, s, &step));
    assert_near(step.exchange_s, exchanged); /* nobody has moved */
    slow[2] = 10;
    assert_ok(evn_simulation_step(clock, s, &step));
    /* 2 is busy until 10, 1 until 2, 0 until 4: task 3 goes to 1, staged, with 400 bytes */
    assert_memory_equal(evn_simulation_last(clock).owner, ((int[]){0, 1, 2, 1}), 4 * sizeof(int));
    assert_int_equal(step.migrations, 1);
    assert_near(step.migrated_bytes, 400);
    assert_near(step.migration_s, 0.3 + 400 * 0.05);
    assert_near(step.compute_s, 2 + 2 + 0.3 + 400 * 0.05);
    assert_near(evn_simulation_last(clock).seconds[3], 2); /* schedules learn no migrations */
    assert_near(step.bytes, 2 * (10 + 20 + 30 + 40));
    assert_true(step.exchange_s != exchanged);
}

/* Whole tasks: the second task of each link that is cut, there and back, and both faces of every
 * link on the first one's unit. */
TEST(whole_tasks) {
    static const double copied[] = {10, 20, 30, 40};
    evn_model m = small;
    m.sequential = EVN_EXCHANGE_TASKS;
    m.copied = copied;
    const evn_step s = step_of(&m, (int[]){0, 0, 1, 2});
    double copies = 0, faces = 0;
    const int owner[] = {0, 0, 1, 2};
    for (int l = 0; l < m.links; l++) {
        const int a = owner[ring[l].task[0]], b = owner[ring[l].task[1]];
        const evn_route *in = &m.within[kind[a]];
        faces += 2 * (in->latency[0] + ring[l].bytes * in->per_byte[0]);
        for (int way = 0; a != b && way < 2; way++) {
            const evn_route *r = &route[kind[way ? a : b] * 2 + kind[way ? b : a]];
            for (int h = 0; h < r->hops; h++)
                copies += r->latency[h] + copied[ring[l].task[1]] * r->per_byte[h];
        }
    }
    assert_near(s.exchange_s, copies + faces);
    assert_near(s.bytes, 2 * (30 + 40 + 10));
    assert_int_equal(s.messages, 6);
    evn_route copy[4];
    for (int i = 0; i < 4; i++) copy[i] = (evn_route){1, {0.25}, {0.5}};
    m.copy = copy; /* a way of their own */
    assert_near(step_of(&m, (int[]){0, 0, 1, 2}).exchange_s, faces + 6 * 0.25 + 2 * 80 * 0.5);
    m.sequential = 3;
    evn_simulation *clock;
    assert_int_equal(evn_simulation_open(&clock, &m), EVN_USAGE);
}

/* Units that end leave the others of their kind faster. */
TEST(crowd) {
    static const double crowd[] = {1, 1.5, 2, 1, 1, 1};
    evn_model m = small;
    m.kind = NULL;
    m.crowd = crowd;
    /* work of 4, 8 and 12: three compute for 4 * 2, two for 4 * 1.5, one for 4 */
    evn_schedule *s = fixed((int[]){0, 1, 2, 2}, 3);
    evn_step step;
    evn_simulation *clock = OPEN(simulation, &m);
    assert_ok(evn_simulation_step(clock, s, &step));
    const double *compute = evn_simulation_last(clock).compute,
                 *seconds = evn_simulation_last(clock).seconds;
    assert_near(compute[0], 8);
    assert_near(compute[1], 14);
    assert_near(compute[2], 18);
    assert_near(seconds[2] + seconds[3], 18);
    assert_near(seconds[2], 6);
    evn_simulation_close(clock);
    evn_schedule_close(s);
    double speed[3];
    evn_model_speeds(&m, NULL, speed);
    assert_near(speed[0], 4.0 / (24 * 2)); /* all at work */
}

/* Two cores and a device, of which each kind is slower while the other one computes. */
static void check_beside(const double *crowd, const int *owner, const double *ends) {
    evn_model m = small;
    evn_step step;
    evn_schedule *s = fixed(owner, 3);
    m.kind = (int[]){0, 0, 1};
    m.beside = (double[]){1.5, 2};
    m.crowd = crowd;
    evn_simulation *clock = OPEN(simulation, &m);
    assert_ok(evn_simulation_step(clock, s, &step));
    double sum[3] = {0};
    for (int t = 0; t < 4; t++) sum[owner[t]] += evn_simulation_last(clock).seconds[t];
    for (int u = 0; u < 3; u++) assert_near(evn_simulation_last(clock).compute[u], ends[u]);
    for (int u = 0; u < 3; u++) assert_near(sum[u], ends[u]);
    evn_simulation_close(clock);
    evn_schedule_close(s);
}

TEST(beside) {
    /* cores' work of 4 and 8, the device's 3 ends at 3 * 2; then the longer core has 4 left */
    check_beside(NULL, (int[]){0, 1, 2, 2}, (double[]){6, 10, 6});
    /* a crowd of two cores: at 6 both have done 3.2, at 7 one ends, the other has 4 left */
    check_beside((double[]){1, 1.25, 9, 1, 9, 9}, (int[]){0, 1, 2, 2}, (double[]){7, 11, 6});
    /* a core's 4 end at 4 * 1.5, when the device has 2 of 5 left */
    check_beside(NULL, (int[]){0, 2, 2, 2}, (double[]){6, 0, 8});
    evn_model m = small;
    double speed[2][3];
    for (int with = 0; with < 2; with++) {
        m.beside = with ? (double[]){1.5, 2} : NULL;
        evn_model_speeds(&m, NULL, speed[with]);
    }
    for (int u = 0; u < 3; u++) assert_near(speed[0][u], (u ? 2 : 1.5) * speed[1][u]);
    m.kind = NULL; /* nobody is beside a kind that is alone */
    m.beside = (double[]){1.5, 2};
    assert_near(step_of(&m, (int[]){0, 1, 2, 2}).compute_s, 12);
    evn_simulation *clock;
    m.beside = (double[]){1, 0};
    assert_fails(evn_simulation_open(&clock, &m), EVN_USAGE, "the factor beside others of kind 1");
}

struct seen {
    double sum[4], end;
    int bursts;
};
static void see(void *arg, const evn_model_burst *b) {
    struct seen *seen = arg;
    seen->sum[b->kind] += b->end - b->begin;
    seen->end = fmax(seen->end, b->end);
    seen->bursts++;
}

/* Bursts add up to the step. */
TEST(watch) {
    evn_model m = small;
    m.sequential = EVN_EXCHANGE_TASKS;
    OWN(schedule) *s = fixed((int[]){0, 0, 1, 2}, 3);
    evn_step step;
    struct seen seen = {.bursts = 0};
    OWN(simulation) *clock = OPEN(simulation, &m);
    evn_simulation_watch(clock, see, &seen);
    assert_ok(evn_simulation_step(clock, s, &step));
    assert_near(seen.sum[EVN_MODEL_COMPUTE], 4 + 8 + 1 + 2);
    assert_near(seen.sum[EVN_MODEL_COPY] + seen.sum[EVN_MODEL_FACES], step.exchange_s);
    assert_near(seen.end, step.step_s);
    evn_simulation_watch(clock, NULL, NULL);
    const int before = seen.bursts;
    assert_ok(evn_simulation_step(clock, s, &step));
    assert_int_equal(seen.bursts, before);
}

TEST(speeds) {
    const double weight[] = {1, 2, 3, 6};
    double speed[3], slow[] = {1, 1, 2};
    evn_model m = small;
    m.slow = slow;
    const double bandwidth = evn_model_speeds(&m, weight, speed);
    assert_near(speed[0], 12.0 / 24);
    assert_near(speed[1], 12.0 / 6);
    assert_near(speed[2], 12.0 / 12);
    /* ordered pairs: CPU to device and back, four of 0.02 (the device's own 0.0001 off where it
     * receives), and device to device twice 0.05 */
    assert_near(bandwidth, 6 / (2 * (0.02 - 0.0001) + 2 * 0.02 + 2 * (0.05 - 0.0001)));
    m.sequential = 1; /* a face of 25 bytes in the mean */
    assert_near(evn_model_speeds(&m, weight, speed),
                6 / (2 * (0.02 - 0.0001 + (0.1 - 0.001) / 25) + 2 * (0.02 + 0.1 / 25) +
                     2 * (0.05 - 0.0001 + (0.3 - 0.001) / 25)));
    m.route = NULL;
    assert_true(evn_model_speeds(&m, NULL, speed) == 0);
    assert_near(speed[0], 4.0 / 24);
}

/* A step of several loops takes as long as one, where nothing moves; a task that moves in each pays
 * the latencies of its messages each time. */
TEST(loops) {
    enum { LOOPS = 3, PIECES = 4 };
    static const double seconds[] = {1, 1, 1}, bytes[] = {8, 8, 8};
    static const evn_route route = {1, {0.25, 0}, {0, 0}};
    evn_model m = {.tasks = 3, .seconds = seconds, .units = 2, .kinds = 1, .route = &route};
    m.state = bytes;
    evn_problem p = {.tasks = 3, .units = 2};
    evn_step step = {0};
    for (int pieces = 0; pieces <= PIECES; pieces += PIECES) {
        m.pieces = pieces;
        m.loops = LOOPS;
        m.noise = 0.5;
        OWN(schedule) *s = open_or_fail("dynamic:chunk=1,memorize=0", &p);
        OWN(simulation) *clock = OPEN(simulation, &m);
        assert_ok(evn_simulation_step(clock, s, &step));
        assert_int_equal(step.migrations, 0);
        int moved = 0;
        for (int i = 0; i < 20; i++) {
            assert_ok(evn_simulation_step(clock, s, &step));
            const double *compute = evn_simulation_last(clock).compute,
                         *took = evn_simulation_last(clock).seconds;
            assert_near(compute[0] + compute[1],
                        took[0] + took[1] + took[2] +
                            0.25 * step.migrations * (pieces ? pieces : 1));
            assert_true(step.compute_s >= fmax(compute[0], compute[1]) - 1e-12);
            assert_near(step.migrated_bytes, 8 * step.migrations);
            moved += step.migrations;
        }
        assert_true(moved > 20);
    }
    m = small;
    for (int loops = 0; loops <= LOOPS; loops += LOOPS) {
        m.loops = loops;
        OWN(schedule) *s = fixed((int[]){0, 1, 2, 0}, 3);
        OWN(simulation) *clock = OPEN(simulation, &m);
        const double before = step.step_s;
        assert_ok(evn_simulation_step(clock, s, &step));
        if (loops) assert_near(step.step_s, before);
    }
}

/* ---- a unit that becomes slower ---- */

enum { STEPS = 40, WHEN = 15 };

/* Runs `spec` on BT-MZ; unit 1 becomes two times slower before step WHEN. Returns how many steps it
 * takes until the step is, for good, within `enough` of what the units could do at best; *before:
 * the ratio just before. */
static int rebalance(const char *spec, char class_, double noise, double enough, double *before) {
    npbmz *b;
    assert_int_equal(npbmz_open(&b, NPBMZ_BT, class_), EVN_OK);
    evn_problem p = npbmz_tasks(b);
    double slow[] = {1e-6, 1e-6, 1e-6, 1e-6}, total = 0;
    p.units = 4;
    for (int t = 0; t < p.tasks; t++) total += p.weight[t];
    const evn_model m = {.tasks = p.tasks,
                         .seconds = p.weight,
                         .links = p.links,
                         .link = p.link,
                         .units = 4,
                         .kinds = 1,
                         .slow = slow,
                         .noise = noise};
    evn_schedule *s = open_or_fail(spec, &p);
    evn_simulation *clock = OPEN(simulation, &m);
    int last = 0; /* step that was too long */
    for (int i = 1; i <= STEPS; i++) {
        evn_step step;
        if (i == WHEN) slow[1] *= 2;
        assert_ok(evn_simulation_step(clock, s, &step));
        double total_speed = 0;
        for (int u = 0; u < 4; u++) total_speed += 1 / slow[u];
        const double ratio = step.compute_s / (total / total_speed);
        if (i == WHEN - 1) *before = ratio;
        if (i >= WHEN && ratio > enough) last = i - WHEN + 1;
    }
    evn_simulation_close(clock);
    evn_schedule_close(s);
    npbmz_close(b);
    return last;
}

TEST(slow_unit) {
    static const struct {
        const char *spec;
        int at_most; /* steps that are too long */
    } learns[] = {
        {"dynamic:memorize=0", 0},
        {"guided:time", 4},
        {"interval", 6},
        {"interval:iterations=8", 5}, /* it is already keeping the best one */
        {"map", 4},
        {"auto", 4},
    };
    double before;
    for (size_t i = 0; i < sizeof learns / sizeof *learns; i++)
        for (int noisy = 0; noisy < 2; noisy++)
            for (int c = 0; c < 2; c++) {
                const int took =
                    rebalance(learns[i].spec, "CD"[c], noisy ? 0.02 : 0, 1.15, &before);
                if (!(before < 1.08)) fail_msg("%s: %.3f before", learns[i].spec, before);
                if (took > learns[i].at_most)
                    fail_msg("%s, class %c: uneven for %d steps", learns[i].spec, "CD"[c], took);
            }
    /* those that do not learn stay uneven, or the test would say nothing */
    assert_int_equal(rebalance("binpack", 'C', 0, 1.15, &before), STEPS - WHEN + 1);
    assert_int_equal(rebalance("dynamic:memorize=3", 'C', 0, 1.15, &before), STEPS - WHEN + 1);
    assert_int_equal(rebalance("guided:size", 'C', 0, 1.15, &before), STEPS - WHEN + 1);
}

/* ---- what schedules say of themselves, and cores ---- */

RUN_TESTS(NULL, NULL)
