/* Tasks that are stolen, callers that are alone, jobs that are closed without those who have not
 * come. build/tests/test-stealing */
#include "check.h"
#include "base/fork_join.h"
#include "loop/alone.h"
#include "loop/internal.h"
#include "schedule/version.h"
#include <pthread.h>
#include <sched.h>

enum { TASKS = 24, INSTANCES = 5 };

static evn_machine *machine;
static evn_units *units;

static int set_up(void **state) {
    (void)state;
    return evn_machine_open(&machine) ||
           evn_units_open(&units, machine, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE);
}

static int tear_down(void **state) {
    (void)state;
    evn_units_close(units);
    evn_machine_close(machine);
    return 0;
}

/* ---- stealing ------------------------------------------------------------------------------ */

struct app {
    atomic_int done, runs[TASKS], stuck;
    int at_hand, places; /* the unit that does not go on; regions follow */
};

/* Unit `at_hand` does not go on with its first task until the others have done all else. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct app *a = arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        if (a->places) ++*(double *)evn_batch_host(batch, t, 0);
        if (evn_unit_number(unit) == a->at_hand && !atomic_exchange(&a->stuck, 1))
            while (atomic_load(&a->done) < TASKS - 1) sched_yield();
        atomic_fetch_add(&a->runs[t], 1);
        atomic_fetch_add(&a->done, 1);
    }
    return EVN_OK;
}

static void steal(int at_hand, int places) {
    static double memory[TASKS];
    evn_problem p = {.tasks = TASKS, .units = 2};
    evn_place *place = NULL;
    int region[TASKS], owner[TASKS];
    const evn_access both = EVN_BOTH;
    memset(memory, 0, sizeof memory);
    evn_schedule *schedule = OPEN(schedule, "auto", &p);
    assert_true(schedule_steals(schedule));
    evn_loop *loop = OPEN(loop, units, schedule);
    if (places) {
        assert_ok(evn_place_open(&place, units, 0.5));
        for (int t = 0; t < TASKS; t++)
            assert_ok(evn_place_add(place, &memory[t], sizeof *memory, &region[t]));
        assert_ok(evn_loop_place(loop, place, 1, region, &both));
    }
    for (int i = 0; i < INSTANCES; i++) {
        /* regions are seen in place in the first instance: until then nothing is stolen */
        struct app a = {.at_hand = places && !i ? -1 : at_hand, .places = places};
        memcpy(owner, evn_schedule_owner(schedule), sizeof owner);
        loop->alone = (struct alone){0};
        loop->task_seconds = 0; /* nothing is known: tasks are taken one by one */
        assert_ok(evn_loop_run(loop, body, &a));
        for (int t = 0; t < TASKS; t++) assert_int_equal(a.runs[t], 1);
        assert_memory_equal(evn_loop_owner(loop), owner, sizeof owner);
        assert_true(!places || !i || loop->settled);
    }
    for (int t = 0; places && t < TASKS; t++) assert_true(memory[t] == INSTANCES);
    /* whoever looks finds the regions free again */
    if (places) {
        assert_ok(evn_place_acquire(place, TASKS, region, EVN_HOST, EVN_BOTH));
        assert_int_equal(evn_loop_run(loop, body, &(struct app){.at_hand = -1}), EVN_BODY);
        assert_ok(evn_place_release(place, TASKS, region, EVN_HOST));
        assert_ok(evn_loop_run(loop, body, &(struct app){.at_hand = -1}));
    }
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    evn_place_close(place);
}

TEST(stealing) {
    for (int u = 0; u < 2; u++) steal(u, 0);
}

TEST(stealing_in_place) {
    for (int u = 0; u < 2; u++) steal(u, 1);
}

/* Ranges that the units are given of tasks that take next to nothing. */
static evn_status count_ranges(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    for (int end; evn_batch_range(batch, &end) >= 0;) atomic_fetch_add((atomic_int *)arg, 1);
    return EVN_OK;
}

/* Units take short tasks one by one only until they know them, in a loop that runs once, too. */
TEST(first_ranges) {
    const evn_problem p = {.tasks = 100000, .units = 2};
    atomic_int ranges = 0;
    OWN(schedule) *schedule = OPEN(schedule, "auto", &p);
    OWN(loop) *loop = OPEN(loop, units, schedule);
    assert_ok(evn_loop_run(loop, count_ranges, &ranges));
    assert_in_range(ranges, 1, p.tasks / 4);
}

/* A slow unit leaves tasks to a fast one, which may come after the slow one is through: they are
 * done nevertheless, as they are by a slow unit alone. */
TEST(slow_thief) {
    for (int alone = 0; alone < 2; alone++) {
        evn_problem p = {.tasks = 4, .units = 2};
        evn_unit_slow(evn_units_get(units, 0), 50);
        OWN(schedule) *schedule = OPEN(schedule, "auto", &p);
        OWN(loop) *loop = OPEN(loop, units, schedule);
        for (int i = 0; i < 1000; i++) {
            struct app a = {.at_hand = -1};
            loop->alone = (struct alone){.now = alone, .pause = 1e9};
            assert_ok((i % 2 ? evn_loop_visit : evn_loop_run)(loop, body, &a));
            for (int t = 0; t < 4; t++) assert_int_equal(a.runs[t], 1);
        }
        evn_unit_slow(evn_units_get(units, 0), 1);
    }
}

/* Batches by the unit that runs them, when one unit comes late to its own. */
struct seen {
    int batches[2], tasks[2],
        wrong; /* wrong: tasks run by another unit than evn_loop_next() says */
    const int *next;
};

static evn_status note(evn_unit *unit, evn_batch *batch, void *arg) {
    struct seen *s = arg;
    const int me = evn_unit_number(unit);
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    s->batches[me]++;
    s->tasks[me] += count;
    for (int i = 0; i < count; i++) s->wrong += s->next[task[i]] != me;
    return EVN_OK;
}

typedef evn_status instance(evn_loop *loop, evn_body body, void *arg);

/* The first instance of a loop, all of it by the caller where that may be, as where the other unit
 * does not come; number of tasks stolen. */
static long long first_instance(instance *way, int allowed, struct seen *s, int *draws) {
    evn_problem p = {.tasks = TASKS, .units = 2};
    OWN(schedule) *schedule = OPEN(schedule, "auto", &p);
    OWN(loop) *loop = OPEN(loop, units, schedule);
    if (!allowed) assert_ok(evn_loop_stealing(loop, 0));
    *s = (struct seen){.next = evn_loop_next(loop, draws)};
    loop->alone = (struct alone){.now = 1, .pause = 1e9};
    assert_int_equal(way(loop, note, s), EVN_OK);
    assert_int_equal(s->tasks[0] + s->tasks[1], TASKS);
    const long long stolen = evn_loop_sum(loop).stolen;
    return stolen;
}

/* evn_loop_next() tells whether owners hold, and evn_loop_stealing() makes them hold: a batch with
 * all of its tasks for each unit. */
TEST(owners_hold) {
    static instance *const ways[] = {evn_loop_run, evn_loop_visit};
    struct seen s;
    int draws;
    for (int w = 0; w < 2; w++) {
        const long long stolen = first_instance(ways[w], 1, &s, &draws);
        assert_int_equal(draws, 2);
        assert_int_equal(s.tasks[0], TASKS);
        assert_int_equal(s.wrong, TASKS / 2);
        assert_int_equal(stolen, w ? 0 : TASKS / 2);
        for (int i = 0; i < INSTANCES; i++) {
            assert_int_equal(first_instance(ways[w], 0, &s, &draws), 0);
            assert_int_equal(draws, 0);
            assert_int_equal(s.wrong, 0);
            assert_int_equal(s.batches[0], 1);
            assert_int_equal(s.batches[1], 1);
        }
    }
}

/* A body that holds regions taken at once: others are refused, and a release by it is told. */
struct holder {
    evn_place *place;
    int region;
    evn_status acquired;
    int releases;
};

static evn_status look(evn_unit *unit, evn_batch *batch, void *arg) {
    struct holder *h = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        if (t) continue;
        h->acquired = evn_place_acquire(h->place, 1, &h->region, EVN_HOST, EVN_READ);
        if (h->releases) evn_place_release(h->place, 1, &h->region, EVN_HOST);
    }
    return EVN_OK;
}

TEST(regions_in_use) {
    static double memory[TASKS];
    evn_problem p = {.tasks = TASKS, .units = 2};
    struct holder h = {0};
    int region[TASKS];
    const evn_access both = EVN_BOTH;
    evn_schedule *schedule = OPEN(schedule, "static", &p);
    evn_loop *loop = OPEN(loop, units, schedule);
    assert_ok(evn_place_open(&h.place, units, 0.5));
    for (int t = 0; t < TASKS; t++)
        assert_ok(evn_place_add(h.place, &memory[t], sizeof *memory, &region[t]));
    assert_ok(evn_loop_place(loop, h.place, 1, region, &both));
    h.region = region[0];
    assert_ok(evn_loop_bring(loop));
    assert_true(loop->settled);
    assert_ok(evn_loop_run(loop, look, &h));
    assert_int_equal(h.acquired, EVN_USAGE); /* written down: it is held for writing */
    assert_ok(evn_loop_bring(loop));
    assert_true(loop->settled);
    h.releases = 1;
    assert_int_not_equal(evn_loop_run(loop, look, &h), EVN_OK);
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    evn_place_close(h.place);
}

/* ---- alone --------------------------------------------------------------------------------- */

static double run_for(struct alone *a, double seconds, double wall, double busy, double by_one) {
    double alone = 0;
    for (double t = 0; t < seconds; t += a->now ? by_one : wall) {
        const int now = a->now;
        if (now) alone += by_one;
        alone_learn(a, NULL, now ? by_one : wall, now ? by_one : busy);
    }
    return alone / seconds;
}

TEST(alone) {
    struct alone a = {0};
    /* two units at 60 % of one core's time each: never alone */
    assert_true(run_for(&a, 1, 60e-6, 110e-6, 100e-6) == 0);
    /* each instance waits for a time slice: alone nearly always */
    assert_true(run_for(&a, 2, 3e-3, 3.1e-3, 100e-6) > 0.85);
    /* and together again soon after that is over */
    run_for(&a, 0.3, 60e-6, 110e-6, 100e-6);
    assert_true(run_for(&a, 1, 60e-6, 110e-6, 100e-6) == 0);
    /* one late instance of many is no reason */
    for (int i = 0; i < 20000; i++) alone_learn(&a, NULL, i % 200 ? 60e-6 : 1.5e-3, 110e-6);
    assert_int_equal(a.now, 0);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

enum { MEMBERS = 3, JOBS = 20000 };

static struct job {
    struct fork_join fork;
    atomic_int inside, open, wrong;
    int number, needed;
    atomic_int came[MEMBERS];
} job;

static void *come(void *p) {
    const int me = (int)(intptr_t)p;
    unsigned state = (unsigned)me + 1;
    unsigned seen = 0;
    while (fork_enter(&job.fork, me ? FORK_FREE : FORK_BOUND, &seen)) {
        atomic_fetch_add(&job.inside, 1);
        if (!atomic_load(&job.open)) atomic_store(&job.wrong, 1);
        if (atomic_exchange(&job.came[me], job.number) == job.number) atomic_store(&job.wrong, 2);
        if (state >> 28 == 1) sched_yield();
        atomic_fetch_sub(&job.inside, 1);
        fork_leave(&job.fork);
        if ((state = state * 1664525u + 1013904223u) >> 30 == 0) sched_yield();
    }
    return NULL;
}

/* Nobody is in a job that is closed, or twice in one; those that are needed have been there. */
TEST(jobs) {
    pthread_t thread[MEMBERS];
    fork_init(&job.fork, GATE_SPIN_FREE);
    for (intptr_t i = 0; i < MEMBERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, come, (void *)i), 0);
    for (int n = 1; n <= JOBS; n++) {
        job.number = n;
        job.needed = n % 3; /* nobody, the bound one, all */
        atomic_store(&job.open, 1);
        fork_open(&job.fork, job.needed == 2 ? MEMBERS : job.needed,
                  job.needed == 2 ? FORK_ALL : FORK_BOUND);
        if (n % 7 == 0) sched_yield();
        fork_close(&job.fork);
        assert_int_equal(atomic_load(&job.inside), 0);
        atomic_store(&job.open, 0);
        for (int i = 0; i < MEMBERS; i++)
            if (job.needed == 2 || (job.needed && !i))
                assert_int_equal(atomic_load(&job.came[i]), n);
    }
    fork_end(&job.fork);
    for (int i = 0; i < MEMBERS; i++) pthread_join(thread[i], NULL);
    assert_int_equal(job.wrong, 0);
}

/* Tasks of one unit of two cores, each with the number of its cores; by one core: all by the
 * calling thread, and the same values. */
struct shared {
    pthread_t caller;
    atomic_int others; /* tasks by other threads */
    int value[TASKS];
};

static void share_task(const evn_subteam *by, int t, void *arg) {
    struct shared *s = arg;
    if (by->cores > 1 || !pthread_equal(pthread_self(), s->caller)) atomic_fetch_add(&s->others, 1);
    if (!by->core) s->value[t] += t + 1;
}

static evn_status share_all(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    return evn_batch_share(batch, NULL, 0, share_task, arg);
}

TEST(team_alone) {
    evn_problem p = {.tasks = TASKS, .units = 1};
    OWN(units) *team = OPEN(units, machine, "1:CPU:2", NULL, EVN_OVERSUBSCRIBE);
    OWN(schedule) *schedule = OPEN(schedule, "static", &p);
    OWN(loop) *loop = OPEN(loop, team, schedule);
    struct shared s = {.caller = pthread_self()};
    for (int i = 0; i < INSTANCES; i++) {
        loop->alone = (struct alone){.now = i % 2, .pause = 1e9};
        atomic_store(&s.others, 0);
        assert_ok(evn_loop_run(loop, share_all, &s));
        if (i % 2) assert_int_equal(s.others, 0);
        for (int t = 0; t < TASKS; t++) assert_int_equal(s.value[t], (i + 1) * (t + 1));
    }
}

RUN_TESTS(set_up, tear_down)
