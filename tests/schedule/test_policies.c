/* What weighted, binpack and interval promise, each against numbers that were published or against
 * a plain way to find them, and what the learning they share does with slow units and spikes.
 * Run: ctest -R policies (and interval-table for the table of the paper interval is from) */
#include "schedule/open.h"
#include "schedule/version.h"
#include "npbmz/npbmz.h"
#include "schedule/core_reassignment.h"
#include "policy/learn.h"
#include <math.h>

static void count(const int *owner, int tasks, int units, int *share) {
    memset(share, 0, sizeof *share * (size_t)units);
    for (int t = 0; t < tasks; t++) share[owner[t]]++;
}

/* ---- weighted ---- */

static void shares_are(const char *spec, const evn_problem *p, const int *expected) {
    OWN(schedule) *s = open_or_fail(spec, p);
    int share[64];
    count(evn_schedule_owner(s), p->tasks, p->units, share);
    for (int u = 0; u < p->units; u++)
        if (share[u] != expected[u])
            fail_msg("%s: unit %d has %d tasks, expected %d", spec, u, share[u], expected[u]);
    assert_true(schedule_settled(s));
    assert_string_equal(evn_schedule_text(s), spec);
}

TEST(weighted) {
    double speed[] = {1, 1, 5}, weight[14] = {70, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 58};
    evn_problem p = {.tasks = 14, .units = 3, .weight = weight};
    shares_are("weighted", &p, (int[]){5, 5, 4});
    shares_are("weighted:speed=1+1+5", &p, (int[]){2, 2, 10});
    shares_are("weighted:speed=2*1+5", &p, (int[]){2, 2, 10});
    p.speed = speed;
    shares_are("weighted", &p, (int[]){2, 2, 10});
    shares_are("weighted:speed=5+1+1", &p, (int[]){10, 2, 2});
    shares_are("weighted:size,speed=7+0.6+6.4", &p, (int[]){1, 6, 7});
    /* LU-MZ, class D, of the paper: one GPU takes 38.44 ms a zone, 16 cores take 258.94 */
    evn_problem lu = {.tasks = 16, .units = 2};
    shares_are("weighted:speed=258.94+38.44", &lu, (int[]){14, 2});
    /* BT-MZ: 2.96 on the GPU and 64.75 on one core, of which there are 16 */
    evn_problem bt = {.tasks = 1024, .units = 17};
    int share[17] = {592};
    for (int u = 1; u < 17; u++) share[u] = 27;
    shares_are("weighted:speed=64.75+16*2.96", &bt, share);
}

/* ---- binpack ---- */

/* NPB-MZ's grouping as its documentation tells it, walk by walk, with the faces' whole lengths. */
static void group_plainly(const npbmz *b, int groups, int *owner) {
    const npbmz_shape shape = npbmz_describe(b);
    const evn_problem p = npbmz_tasks(b);
    const int n = p.tasks, xz = shape.zones[0], yz = shape.zones[1];
    HEAP int *order = malloc(sizeof *order * (size_t)n);
    double load[64] = {0};
    for (int t = 0; t < n; t++) {
        order[t] = t;
        owner[t] = -1;
    }
    for (int i = 0; i < n; i++) {
        int largest = i;
        for (int k = i + 1; k < n; k++)
            if (p.weight[order[k]] > p.weight[order[largest]]) largest = k;
        int keep = order[i];
        order[i] = order[largest];
        order[largest] = keep;
    }
    for (int placed = 0; placed < n; placed++) {
        int g = 0, best = -1, longest = -1, first = -1;
        for (int k = 1; k < groups; k++)
            if (load[k] < load[g]) g = k;
        for (int i = 0; i < n; i++) {
            int z = order[i], size[3], x = z % xz, y = z / xz, length = 0;
            if (owner[z] >= 0) continue;
            if (first < 0) first = z;
            if ((p.weight[first] - p.weight[z]) / p.weight[first] > 0.05) break;
            npbmz_zone(b, z, size);
            length += size[1] * (owner[(x + xz - 1) % xz + y * xz] == g);
            length += size[1] * (owner[(x + 1) % xz + y * xz] == g);
            length += size[0] * (owner[x + (y + yz - 1) % yz * xz] == g);
            length += size[0] * (owner[x + (y + 1) % yz * xz] == g);
            if (length > longest) {
                longest = length;
                best = z;
            }
        }
        owner[best] = g;
        load[g] += p.weight[best];
    }
}

TEST(binpack_is_the_references) {
    for (int benchmark = 0; benchmark < 3; benchmark++)
        for (const char *class_ = "SWABCD"; *class_; class_++) {
            npbmz *b;
            assert_int_equal(npbmz_open(&b, (enum npbmz_benchmark)benchmark, *class_), EVN_OK);
            evn_problem p = npbmz_tasks(b);
            int *expected = malloc(sizeof *expected * (size_t)p.tasks);
            for (p.units = 1; p.units <= 16 && p.units <= p.tasks; p.units += 1 + (p.tasks > 999)) {
                OWN(schedule) *s = open_or_fail("binpack", &p);
                group_plainly(b, p.units, expected);
                if (memcmp(evn_schedule_owner(s), expected, sizeof *expected * (size_t)p.tasks))
                    fail_msg("%s class %c on %d units: not the grouping of the reference",
                             npbmz_describe(b).name, *class_, p.units);
            }
            free(expected);
            npbmz_close(b);
        }
}

TEST(reassign) {
    npbmz *b;
    assert_int_equal(npbmz_open(&b, NPBMZ_BT, 'S'), EVN_OK);
    evn_problem p = npbmz_tasks(b);
    p.units = 3;
    evn_schedule *s = open_or_fail("binpack", &p);
    double load[3], longest = 0, total = 0;
    evn_problem_imbalance(&p, evn_schedule_owner(s), load);
    int cores[8];
    assert_int_equal(policy_reassign(load, 3, 12, 0, cores), EVN_OK);
    assert_memory_equal(cores, ((int[]){7, 3, 2}), 3 * sizeof *cores);
    for (int g = 0; g < 3; g++) {
        total += load[g];
        longest = fmax(longest, load[g] / cores[g]);
    }
    assert_true(fabs(total / longest - 10.67) < 0.005);
    evn_schedule_close(s);
    npbmz_close(b);

    assert_int_equal(policy_reassign(load, 3, 12, 5, cores), EVN_OK);
    assert_memory_equal(cores, ((int[]){5, 4, 3}), 3 * sizeof *cores);
    assert_int_equal(policy_reassign((double[]){0, 0, 0}, 3, 7, 0, cores), EVN_OK);
    assert_memory_equal(cores, ((int[]){3, 2, 2}), 3 * sizeof *cores);
    assert_int_equal(policy_reassign((double[]){1e300, 1, 0, 0}, 4, 8, 0, cores), EVN_OK);
    assert_memory_equal(cores, ((int[]){5, 1, 1, 1}), 4 * sizeof *cores);
    assert_int_equal(policy_reassign(load, 3, 2, 0, cores), EVN_USAGE);
    assert_int_equal(policy_reassign(load, 3, 10, 3, cores), EVN_USAGE);
    assert_int_equal(policy_reassign(load, 0, 10, 0, cores), EVN_USAGE);

    unsigned long long seed = 11;
    for (int trial = 0; trial < 5000; trial++) {
        int groups = 1 + (int)(8 * draw(&seed)), threads = groups + (int)(40 * draw(&seed));
        int cap = draw(&seed) < 0.5 ? 0 : (threads + groups - 1) / groups + (int)(5 * draw(&seed));
        double x[8];
        for (int g = 0; g < groups; g++) x[g] = draw(&seed) < 0.2 ? 0 : draw(&seed);
        assert_int_equal(policy_reassign(x, groups, threads, cap, cores), EVN_OK);
        int sum = 0;
        for (int g = 0; g < groups; g++) {
            assert_in_range(cores[g], 1, cap ? cap : threads);
            sum += cores[g];
        }
        assert_int_equal(sum, threads);
    }
}

/* Slow units beside a fast one: the longest is near what is possible, and all have something. */
TEST(binpack_uneven) {
    npbmz *b;
    assert_int_equal(npbmz_open(&b, NPBMZ_BT, 'C'), EVN_OK);
    evn_problem p = npbmz_tasks(b);
    double speed[] = {1, 1, 1, 1, 5, 5}, load[6], total = 0, longest = 0;
    p.units = 6;
    p.speed = speed;
    OWN(schedule) *s = open_or_fail("binpack", &p);
    evn_problem_imbalance(&p, evn_schedule_owner(s), load);
    for (int u = 0; u < 6; u++) {
        total += load[u];
        longest = fmax(longest, load[u] / speed[u]);
    }
    if (longest > 1.01 * total / 14)
        fail_msg("longest over the bound: %.4f", longest / (total / 14));
    evn_schedule_close(s);
    npbmz_close(b);
    /* all would be done sooner on the fast one, and one is kept for the other */
    evn_problem two = {.tasks = 3, .units = 2, .speed = (double[]){1, 100}};
    s = open_or_fail("binpack", &two);
    assert_memory_equal(evn_schedule_owner(s), ((int[]){1, 1, 0}), 3 * sizeof(int));
}

/* ---- learning ---- */

enum { N = 40, U = 4 };

static struct learn *learner(const evn_problem *p) {
    char *block = malloc(learn_bytes(p->tasks, p->units, LEARN_WINDOW));
    assert_non_null(block);
    return learn_init(block, p, LEARN_WINDOW);
}

static void feed(struct learn *l, const int *owner, const double *cost, const double *speed,
                 int spiked_unit, int spiked_task) {
    double seconds[N];
    for (int t = 0; t < N; t++) {
        seconds[t] = cost[t] / speed[owner[t]];
        if (owner[t] == spiked_unit || t == spiked_task) seconds[t] *= 100;
    }
    learn_feed(l, owner, seconds);
}

/* Whether cost / speed is as it is on every unit, to 1 in 10^9. */
static int knows(const struct learn *l, const double *cost, const double *speed) {
    for (int t = 0; t < N; t++)
        for (int u = 0; u < U; u++) {
            double x = learn_cost(l)[t] / learn_speed(l)[u], is = cost[t] / speed[u];
            if (fabs(x - is) > 1e-9 * is) return 0;
        }
    return 1;
}

TEST(learn) {
    unsigned long long seed = 17;
    double cost[N], weight[N], speed[U] = {3, 1, 0.5, 2};
    int owner[N];
    for (int t = 0; t < N; t++) {
        weight[t] = 1 + draw(&seed);
        cost[t] = 1e-3 * weight[t];
        owner[t] = t % (U - 1); /* the last unit has nothing */
    }
    evn_problem p = {.tasks = N, .units = U, .weight = weight};
    HEAP struct learn *l = learner(&p);
    assert_true(learn_time_unit(l) == 1);
    assert_int_equal(learn_ready(l), 0);
    feed(l, owner, cost, speed, -1, -1);
    /* the unit with nothing is taken for an average one, all else is known at once */
    speed[3] = 1.5;
    assert_true(knows(l, cost, speed));
    double sum = 0;
    for (int u = 0; u < U; u++) sum += learn_speed(l)[u];
    assert_true(fabs(sum - U) < 1e-12);
    assert_true(fabs(learn_time_unit(l) - 1e-3 * 4 / 6) < 1e-12);
    speed[3] = 2;
    for (int t = 0; t < N; t++) owner[t] = t % U;
    for (int i = 0; i < 2; i++) feed(l, owner, cost, speed, -1, -1);
    assert_true(learn_ready(l));
    assert_true(knows(l, cost, speed));
    /* a spike of a task or a unit is none */
    feed(l, owner, cost, speed, -1, 7);
    assert_true(knows(l, cost, speed));
    feed(l, owner, cost, speed, 2, -1);
    assert_true(knows(l, cost, speed));
    for (int i = 0; i < 5; i++) feed(l, owner, cost, speed, -1, -1);
    /* a lasting change is known after three instances, and not before */
    speed[1] /= 2;
    cost[2] *= 3; /* on unit 2 */
    for (int i = 0; i < 3; i++) {
        assert_false(knows(l, cost, speed));
        feed(l, owner, cost, speed, -1, -1);
    }
    assert_true(knows(l, cost, speed));
    assert_int_equal(learn_instances(l), 13);
    /* what a task took on one unit tells what it takes on another */
    for (int t = 0; t < N; t++) owner[t] = (t + 1) % U;
    double makespan = learn_makespan(l, owner), is[U] = {0};
    for (int t = 0; t < N; t++) is[owner[t]] += cost[t] / speed[owner[t]];
    assert_true(fabs(makespan - fmax(fmax(is[0], is[1]), fmax(is[2], is[3]))) < 1e-9);
    feed(l, owner, cost, speed, -1, -1);
    assert_true(knows(l, cost, speed));
    learn_forget(l);
    assert_true(knows(l, cost, speed) && !learn_ready(l));
}

/* Weights that say nothing, and times that are 0 or enormous. */
TEST(learn_odd) {
    static const double odd[] = {0, 1e300, 1e-300, 1};
    double weight[N], cost[N], speed[U] = {1, 1e-200, 1, 1e200};
    int owner[N];
    for (int kind = 0; kind < 16; kind++) {
        for (int t = 0; t < N; t++) {
            weight[t] = odd[(t + kind) % 4] * (kind / 4 != 1);
            cost[t] = odd[(t / 4 + kind) % 4];
            owner[t] = t % (U - 1);
        }
        evn_problem p = {.tasks = N, .units = U, .weight = weight};
        HEAP struct learn *l = learner(&p);
        for (int i = 0; i < 7; i++) {
            double seconds[N];
            for (int t = 0; t < N; t++) seconds[t] = fmin(cost[t] / speed[owner[t]], 1e300);
            learn_feed(l, owner, seconds);
            for (int t = 0; t < N; t++)
                assert_true(learn_cost(l)[t] >= 0 && isfinite(learn_cost(l)[t]));
            for (int u = 0; u < U; u++)
                assert_true(learn_speed(l)[u] > 0 && isfinite(learn_speed(l)[u]));
            owner[i] = U - 1;
        }
    }
}

TEST(learn_pays) {
    double seconds[N] = {0};
    int owner[N] = {0};
    evn_problem p = {.tasks = N, .units = U, .instances = 10};
    HEAP struct learn *l = learner(&p);
    for (int i = 0; i < 8; i++) learn_feed(l, owner, seconds);
    assert_true(learn_left(l) == 2);
    assert_true(learn_pays(l, 1, 0.5, 0.9));
    assert_false(learn_pays(l, 1, 0.5, 1.1)); /* two times half a second */
    assert_true(learn_pays(l, 1, 0.99, 0));   /* while first instances are learnt from */
    assert_false(learn_pays(l, 1, 0.996, 0)); /* noise */
    for (int i = 0; i < 5; i++) learn_feed(l, owner, seconds);
    assert_true(learn_left(l) == 0);
    assert_false(learn_pays(l, 1, 0.5, 0));
    free(l);
    p.instances = 0;
    l = learner(&p);
    assert_true(isinf(learn_left(l)) && learn_pays(l, 1, 0.9, 1e9));
    for (int i = 0; i < 16; i++) learn_feed(l, owner, seconds);
    assert_true(learn_pays(l, 1, 0.97, 0));
    assert_false(learn_pays(l, 1, 0.99, 0)); /* a plan is kept that is a fiftieth from the best */
}

/* Scatter makes predictions uncertain, less so with time; what a gain must be goes by it. */
TEST(learn_uncertainty) {
    unsigned long long seed = 41;
    double seconds[N];
    int owner[N];
    for (int t = 0; t < N; t++) owner[t] = t % U;
    evn_problem p = {.tasks = N, .units = U};
    HEAP struct learn *l = learner(&p);
    double early = 0;
    for (int i = 0; i < 200; i++) {
        for (int t = 0; t < N; t++) seconds[t] = 0.5 + draw(&seed);
        learn_feed(l, owner, seconds);
        if (i == 7) early = learn_uncertainty(l);
    }
    /* a unit's ten tasks scatter by 29 % each, so it by 9 %; 64 instances: 1.1 % of it */
    const double error = learn_uncertainty(l);
    if (!(error > 0.008 && error < 0.04 && early > 1.5 * error))
        fail_msg("error %.4f, early %.4f", error, early);
    assert_true(learn_noise(l) >= 2 * error);
    assert_true(learn_pays(l, 1, 0.975 - learn_noise(l), 0));
    assert_false(learn_pays(l, 1, 0.985 - learn_noise(l), 0));
    /* a unit that becomes slower is uncertain at first */
    for (int i = 0; i < 4; i++) {
        for (int t = 0; t < N; t++) seconds[t] = (0.5 + draw(&seed)) * (owner[t] == 1 ? 2 : 1);
        learn_feed(l, owner, seconds);
    }
    assert_true(learn_uncertainty(l) > 1.5 * error);
    assert_true(learn_makespan(l, owner) > 1.5 * learn_even(l));
}

/* Whoever looked in vain asks again later and later, but at once when things are much worse, or
 * what was found has come to pay. */
TEST(learn_patience) {
    double cost[N], speed[U] = {1, 1, 1, 1};
    int owner[N];
    for (int t = 0; t < N; t++) {
        cost[t] = 1e-3;
        owner[t] = t % U;
    }
    evn_problem p = {.tasks = N, .units = U};
    HEAP struct learn *l = learner(&p);
    for (int i = 0; i < 5; i++) feed(l, owner, cost, speed, -1, -1);
    const double now = 1.2 * learn_even(l), even = learn_even(l);
    assert_false(learn_asks(l, now, 0.996 * now));
    int asked = 0, last = 5, wait = 0;
    for (int i = 6; i <= 300; i++) {
        feed(l, owner, cost, speed, -1, -1);
        if (!learn_asks(l, now, even)) continue;
        assert_true(i - last >= wait);
        wait = i - last;
        last = i;
        asked++;
        learn_stays(l, now, even, now);
    }
    assert_in_range(asked, 5, 8);
    assert_false(learn_asks(l, now, even));
    feed(l, owner, cost, speed, -1, -1);
    feed(l, owner, cost, speed, -1, -1);
    feed(l, owner, cost, speed, -1, -1);
    assert_true(learn_asks(l, 1.5 * even, even));
    learn_stays(l, 1.5 * even, even, 1.1 * even); /* it was found, and too uncertain */
    assert_false(learn_asks(l, 1.5 * even, even));
    for (int i = 0; i < 3; i++) feed(l, owner, cost, speed, -1, -1);
    assert_true(learn_asks(l, 1.5 * even, even));
    learn_moves(l, 1.5 * even, even);
    assert_false(learn_asks(l, 1.5 * even, even)); /* not before it was measured */
}

/* ---- interval ---- */

/* One step by hand: t = 20, 5, 5 for 10 tasks each, so t_a = 10; the first gives up 10 / 2 = 5, the
 * others would like 5 / 0.5 = 10 each and get 2.5. */
TEST(interval_step) {
    evn_problem p = {.tasks = 30, .units = 3};
    OWN(schedule) *s = open_or_fail("interval", &p);
    assert_string_equal(evn_schedule_text(s), "interval:iterations=40");
    int owner[30], share[3];
    double seconds[30];
    for (int t = 0; t < 30; t++) {
        owner[t] = t / 10;
        seconds[t] = t < 10 ? 2 : 0.5;
    }
    assert_memory_equal(evn_schedule_owner(s), owner, sizeof owner);
    evn_schedule_learn(s, owner, seconds);
    count(evn_schedule_owner(s), 30, 3, share);
    assert_memory_equal(share, ((int[]){5, 13, 12}), sizeof share);
}

/* A loop in a virtual clock, with speeds and spikes that the schedule is not told. */
struct world {
    evn_schedule *s;
    int tasks, units;
    const double *cost, *speed;
};

/* One instance; unit or task `spiked` takes 100 times as long. Returns how much longer than
 * perfectly even it takes without the spike. */
static double go(struct world *w, int spiked_unit, int spiked_task) {
    double *seconds = malloc(sizeof *seconds * (size_t)w->tasks), time[8] = {0};
    HEAP int *owner = malloc(sizeof *owner * (size_t)w->tasks);
    memcpy(owner, evn_schedule_owner(w->s), sizeof *owner * (size_t)w->tasks);
    double work = 0, total_speed = 0, longest = 0;
    for (int t = 0; t < w->tasks; t++) {
        assert_true(!t || owner[t] >= owner[t - 1]);
        seconds[t] = w->cost[t] / w->speed[owner[t]];
        time[owner[t]] += seconds[t];
        work += w->cost[t];
        if (owner[t] == spiked_unit || t == spiked_task) seconds[t] *= 100;
    }
    for (int u = 0; u < w->units; u++) {
        total_speed += w->speed[u];
        longest = fmax(longest, time[u]);
    }
    assert_ok(evn_schedule_learn(w->s, owner, seconds));
    free(seconds);
    return longest / (work / total_speed);
}

enum { TASKS = 2000 };

static void costs(double *cost) {
    unsigned long long seed = 23;
    for (int t = 0; t < TASKS; t++) cost[t] = 1e-4 * (1 + t * 3.0 / TASKS + draw(&seed));
}

TEST(interval_keeps_the_best) {
    static double cost[TASKS];
    costs(cost);
    double speed[] = {1, 3, 0.5, 2}, best = INFINITY;
    evn_problem p = {.tasks = TASKS, .units = 4};
    for (int iterations = 1; iterations <= 12; iterations++) {
        char spec[64];
        snprintf(spec, sizeof spec, "interval:iterations=%d", iterations);
        struct world w = {open_or_fail(spec, &p), TASKS, 4, cost, speed};
        best = INFINITY;
        for (int i = 0; i < iterations; i++) {
            assert_false(schedule_settled(w.s));
            best = fmin(best, go(&w, -1, -1));
        }
        for (int i = 0; i < 5; i++) {
            assert_true(schedule_settled(w.s));
            double now = go(&w, -1, -1);
            /* beyond the published steps what is kept may be shorter */
            if (now - best > 1e-9 || (iterations <= 4 && best - now > 1e-9))
                fail_msg("%s: %.4f is kept, but the best was %.4f", spec, now, best);
        }
        evn_schedule_close(w.s);
    }
    assert_true(best < 1.01);
}

TEST(interval_spike) {
    static double cost[TASKS];
    costs(cost);
    const double speed[] = {1, 3, 1, 2};
    evn_problem p = {.tasks = TASKS, .units = 4};
    for (int task = 0; task < 2; task++)
        for (int at = 4; at <= 60; at += 1 + at / 10) {
            struct world w = {open_or_fail("interval:iterations=20", &p), TASKS, 4, cost, speed};
            double before = 0;
            for (int i = 0; i < at; i++) before = go(&w, -1, -1);
            for (int i = 0; i < 30; i++) {
                double now = go(&w, i || task ? -1 : 2, i || !task ? -1 : 1100);
                if (now > before + 0.05)
                    fail_msg("a spike in instance %d: %.3f, before it was %.3f", at, now, before);
            }
            evn_schedule_close(w.s);
        }
    /* as soon as the first, when there is nothing to compare with: it recovers */
    struct world w = {open_or_fail("interval", &p), TASKS, 4, cost, speed};
    go(&w, 2, -1);
    for (int i = 0; i < 10; i++) go(&w, -1, -1);
    assert_true(go(&w, -1, -1) < 1.1);
    evn_schedule_close(w.s);
}

TEST(bad_options) {
    static const char *const bad[] = {
        "weighted:",
        "weighted:sizes",
        "weighted:size=1",
        "weighted:speed",
        "weighted:speed=",
        "weighted:speed=1",
        "weighted:speed=1+1+1",
        "weighted:speed=1+0",
        "weighted:speed=1+-1",
        "weighted:speed=1+",
        "weighted:speed=3*1",
        "weighted:speed=2*",
        "weighted:speed=1+inf",
        "weighted:speed=1+nan",
        "weighted:speed=1e400+1",
        "weighted:speed=1x+1",
        "weighted:speed=1+1."
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000",
        "binpack:x",
        "binpack:time,reassign",
        "binpack:time=1",
        "binpack:",
        "binpack:reassign=1",
        "binpack:cap=4",
        "binpack:reassign,cap=0",
        "interval:",
        "interval:iterations",
        "interval:iterations=0",
        "interval:steps=3",
    };
    evn_problem p = {.tasks = 4, .units = 2};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        evn_schedule *s;
        if (evn_schedule_open(&s, bad[i], &p) != EVN_USAGE)
            fail_msg("\"%s\" was taken for a schedule", bad[i]);
        assert_null(s);
        assert_true(strlen(evn_message()) > 20);
    }
    OWN(schedule) *s = open_or_fail("interval:iterations=5", &p);
    assert_int_equal(evn_schedule_import(s, "interval:iterations=5 4 tasks 2 units: 1*1 2*0 1*1"),
                     EVN_USAGE);
    assert_ok(evn_schedule_import(s, "interval:iterations=5 4 tasks 2 units: 1*0 3*1"));
}

RUN_TESTS(NULL, NULL)
