/* All interleavings of small programs of gates, barriers, jobs that members enter and leave, and
 * ranks that wait in the arena: nobody sleeps for ever, nobody works for a job that is over, and no
 * job is over before those that it needs have been there. build/tests/test-gates
 *
 * test_planted.py compiles this again with faults in the sources, each of which must be found. */
#include "explore_atomics.h"

/* No time goes by, and a gate that is looked at for a moment is looked at once: looks between which
 * no other thread does anything are one look. */
#define BASE_TICKS_H
#define BASE_PAUSE_H
#define ticks_now()  ((uint64_t)0)
#define ticks_open() 1.0 /* and a time to spin is none */
#define pause_core() ((void)(i = LOOKS - 1))
static int i; /* where nothing is counted */

#include "base/gate.c"
#include "base/fork_join.c"
#define LOOKS ARENA_LOOKS
#define moves arena_moves
#include "wire/arena_wait.c"
#undef LOOKS
#undef moves
#include "check.h"

enum { MEMBERS = 3, CALLER = 0 };

/* A program, but for its threads. */
struct plan {
    const char *name;
    int threads, rounds; /* opened gates, barriers, or jobs */
    int needed;          /* members of a job that must come */
    unsigned classes;    /* of which classes these are */
    unsigned class[MEMBERS + 1];
    int whims;
};

static struct {
    struct gate gate;
    struct barrier barrier;
    struct fork_join fork;
    struct wire_arena_counter counter;
    atomic_int value; /* that others read behind a gate */
    /* what is known of the threads, which they do not see */
    int round[MEMBERS + 1]; /* that each has begun */
    int at_hand; /* the job of the caller, from before it opens it until it has closed it */
    unsigned inside, came; /* members in it, and that have been in it: bits */
} world;
static struct plan plan;

static void begin(void) {
    memset(&world, 0, sizeof world);
    gate_init(&world.gate, 0);
    barrier_init(&world.barrier, 0);
    fork_init(&world.fork, 0);
}

static int find_value(void) { return atomic_load_explicit(&world.value, memory_order_relaxed); }

static void set_value(int value) {
    atomic_store_explicit(&world.value, value, memory_order_relaxed);
}

/* ---- a gate: thread 0 opens it, the others wait for each time ------------------------------- */

static void pass_gate(int me) {
    for (int round = 1; round <= plan.rounds; round++) {
        if (me == CALLER) {
            set_value(round);
            gate_open(&world.gate);
        } else {
            gate_wait(&world.gate, (unsigned)round - 1);
            explore_check(find_value() >= round, "the gate is passed before it is open");
        }
    }
}

/* ---- the arena: the same with its counter; no time limit wakes anybody ----------------------- */

double evn_now(void) { return 0; }

static void pass_counter(int me) {
    static const volatile int never;
    static struct wire_arena arena;
    static const evn_wire_host host = {.stop = &never};
    static struct evn_wire wire = {.arena = &arena, .host = &host};
    for (int round = 1; round <= plan.rounds; round++) {
        if (me == CALLER) {
            set_value(round);
            wire_arena_count(&world.counter);
        } else {
            wire_arena_await(&wire, &world.counter, (unsigned)round - 1, 0);
            explore_check(find_value() >= round, "a rank goes on before another one has counted");
        }
    }
}

/* ---- a barrier ----------------------------------------------------------------------------- */

static void pass_barrier(int me) {
    for (int round = 1; round <= plan.rounds; round++) {
        world.round[me] = round;
        barrier_wait(&world.barrier, plan.threads);
        for (int t = 0; t < plan.threads; t++)
            explore_check(world.round[t] >= round, "the barrier is passed before all are there");
    }
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static int needed_that_came(void) {
    int count = 0;
    for (int m = 1; m < plan.threads; m++)
        count += (world.came >> m & 1) && (plan.class[m] & plan.classes);
    return count;
}

static void open_jobs(void) {
    for (int job = 1; job <= plan.rounds; job++) {
        world.at_hand = job;
        world.came = 0;
        set_value(job);
        fork_open(&world.fork, plan.needed, plan.classes);
        explore_check(find_value() == job, "the caller's own value is another one");
        fork_close(&world.fork);
        explore_check(!world.inside, "the job is closed, and a member is in it");
        explore_check(needed_that_came() >= plan.needed, "the job is closed without a member");
        world.at_hand = 0;
    }
    fork_end(&world.fork);
}

static void work(int me, int job) {
    explore_check(world.at_hand == job && job, "a member works for another job, or for none");
    explore_check(!(world.came >> me & 1), "a member is in a job for the second time");
    world.came |= 1u << me;
    world.inside |= 1u << me;
    explore_check(find_value() == job, "a member is in a job while another one is made");
    explore_check(world.at_hand == job, "the job is over, and a member is in it");
    world.inside &= ~(1u << me);
}

static void join_jobs(int me) {
    unsigned seen = 0;
    while (fork_enter(&world.fork, plan.class[me], &seen)) {
        work(me, find_value());
        fork_leave(&world.fork);
    }
}

static void fork_and_join(int me) {
    if (me == CALLER)
        open_jobs();
    else
        join_jobs(me);
}

/* ---- the tests ----------------------------------------------------------------------------- */

static void look_at(struct plan p, void (*thread)(int)) {
    const struct explore_program program = {.threads = p.threads,
                                            .memory = &world,
                                            .bytes = sizeof world,
                                            .begin = begin,
                                            .thread = thread,
                                            .whims = p.whims};
    plan = p;
    const struct explore_result r = explore(&program, 1);
    printf("%s: %ld states, %ld steps\n", p.name, r.states, r.steps);
    if (r.fault) fail_msg("%s: %s", p.name, r.fault);
    assert_true(r.states > 50);
}

TEST(gate) {
    look_at((struct plan){"a gate, a waiter, 3 rounds", 2, 3, .whims = 1}, pass_gate);
    look_at((struct plan){"a gate, 2 waiters, 2 rounds", 3, 2, .whims = 1}, pass_gate);
}

TEST(arena) {
    look_at((struct plan){"the arena, a rank waits, 3 rounds", 2, 3, .whims = 1}, pass_counter);
    look_at((struct plan){"the arena, 2 ranks wait, 2 rounds", 3, 2, .whims = 0}, pass_counter);
}

TEST(barrier) {
    look_at((struct plan){"a barrier of 2, 4 rounds", 2, 4, .whims = 1}, pass_barrier);
    look_at((struct plan){"a barrier of 3, 3 rounds", 3, 3, .whims = 0}, pass_barrier);
}

TEST(jobs) {
    const unsigned free = FORK_FREE, bound = FORK_BOUND, all = FORK_ALL;
    look_at((struct plan){"3 jobs, a member that is let off", 2, 3, 0, 0, {0, free}, 1},
            fork_and_join);
    look_at((struct plan){"3 jobs, a member that is needed", 2, 3, 1, all, {0, free}, 1},
            fork_and_join);
    look_at((struct plan){"2 jobs, 2 members that are let off", 3, 2, 0, 0, {0, free, free}, 0},
            fork_and_join);
    look_at((struct plan){"2 jobs, 2 members that are needed", 3, 2, 2, all, {0, free, free}, 0},
            fork_and_join);
    look_at((struct plan){"2 jobs, one of 2 is needed", 3, 2, 1, bound, {0, free, bound}, 0},
            fork_and_join);
}

RUN_TESTS(NULL, NULL)
