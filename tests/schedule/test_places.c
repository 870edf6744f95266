/* Near and far, and memory: what binpack, map and optimal make of routes and capacities, against
 * all assignments of small problems. Run: ctest -R places */
#include "schedule/open.h"
#include <math.h>

static const char *const heeds[] = {
    "binpack",
    "map",
    "optimal:gap=0,limit=60",
    "optimal:limit=0",
};
enum {
    HEEDS = sizeof heeds / sizeof *heeds,
    SOLVED = 2 /* the one with the solver */
};

static int solver; /* CBC is here */
static int lacks(int i) { return i == SOLVED && !solver; }

/* ---- all assignments ---- */

static double over(const evn_problem *p, const int *owner) {
    double used[8] = {0}, sum = 0;
    for (int t = 0; t < p->tasks; t++) used[owner[t]] += p->bytes ? p->bytes[t] : 0;
    for (int u = 0; u < p->units; u++)
        if (p->capacity && p->capacity[u] > 0) sum += fmax(used[u] - p->capacity[u], 0);
    return sum;
}

static double bytes_far(const evn_problem *p, const int *owner) {
    double bytes = 0;
    for (int l = 0; l < p->links; l++)
        if (p->node[owner[p->link[l].task[0]]] != p->node[owner[p->link[l].task[1]]])
            bytes += p->link[l].bytes;
    return bytes;
}

static int has_empty(const evn_problem *p, const int *owner) {
    int had = 0;
    for (int t = 0; t < p->tasks; t++) had |= 1 << owner[t];
    return had != (1 << p->units) - 1;
}

/* The next of all assignments; 0: there was none. */
static int next(const evn_problem *p, int *owner) {
    int t = 0;
    while (t < p->tasks && ++owner[t] == p->units) owner[t++] = 0;
    return t < p->tasks;
}

/* The least bytes over, and the shortest makespan of the assignments that have no more. `all`: of
 * those only that leave no unit empty. */
static void best_of_all(const evn_problem *p, int all, double *least, double *shortest) {
    int owner[8] = {0};
    *least = *shortest = INFINITY;
    do {
        if (all && has_empty(p, owner)) continue;
        const double now = over(p, owner);
        if (now <= *least) {
            const double time = makespan(p, owner);
            *shortest = now < *least ? time : fmin(time, *shortest);
            *least = now;
        }
    } while (next(p, owner));
}

/* ---- near and far ---- */

/* Two nodes of two units: free within a node (or cheap), dear between. */
static const int two_by_two[] = {0, 0, 1, 1};
static const evn_route dear = {1, {0.5}, {0.1}}, cheap = {1, {0.01}, {0.002}};

/* A random problem with routes by kind and node, near ones sometimes free, sometimes staged. */
struct random {
    double weight[8], bytes[8], speed[4], capacity[4];
    int kind[4], node[4];
    evn_link link[28];
    evn_route route[4], far[4];
};

static evn_problem make_random(struct random *x, int tasks, int units, unsigned long long seed) {
    evn_problem p = {.tasks = tasks,
                     .weight = x->weight,
                     .link = x->link,
                     .units = units,
                     .speed = x->speed,
                     .kinds = 2,
                     .kind = x->kind,
                     .node = x->node,
                     .route = x->route,
                     .far = x->far};
    draw(&seed);
    for (int t = 0; t < tasks; t++) x->weight[t] = 1 + floor(20 * draw(&seed));
    for (int u = 0; u < units; u++) {
        x->speed[u] = 1 + floor(3 * draw(&seed));
        x->kind[u] = draw(&seed) < 0.5;
        x->node[u] = (int)(2 * draw(&seed)) * 7;
    }
    for (int a = 0; a < tasks; a++)
        for (int b = a + 1; b < tasks; b++)
            if (draw(&seed) < 0.5)
                x->link[p.links++] = (evn_link){{a, b}, 1 + floor(30 * draw(&seed))};
    const int free_near = draw(&seed) < 0.3;
    for (int i = 0; i < 4; i++) {
        const double near = free_near ? 0 : 0.1;
        x->route[i] = (evn_route){1, {near * draw(&seed)}, {near * draw(&seed)}};
        x->far[i] = (evn_route){1 + (draw(&seed) < 0.5),
                                {2 * draw(&seed), draw(&seed)},
                                {0.5 * draw(&seed), 0.2 * draw(&seed)}};
    }
    return p;
}

/* optimal is the optimum; map is near it, and never worse than what it makes without routes. */
TEST(routes_against_all) {
    struct random x;
    double worst = 1, sum = 0, plain_sum = 0;
    enum { ROUNDS = 30 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        const evn_problem p = make_random(&x, 6 + (int)(round % 2), 3 + (int)(round % 2), round);
        double least, shortest;
        best_of_all(&p, 0, &least, &shortest);
        if (solver && (round % 10 < 2 || getenv("EVENER_TEST_LONG"))) { /* of both sizes */
            OWN(schedule) *o = open_or_fail("optimal:gap=0,limit=60", &p);
            const double exact = makespan(&p, evn_schedule_owner(o));
            if (exact > shortest * (1 + 1e-6))
                fail_msg("round %u: optimal takes %.9g, expected %.9g", round, exact, shortest);
        }
        best_of_all(&p, 1, &least, &shortest); /* map leaves none empty */
        OWN(schedule) *s = open_or_fail("map", &p);
        const double ratio = makespan(&p, evn_schedule_owner(s)) / shortest;
        worst = fmax(worst, ratio);
        sum += ratio / ROUNDS;
        evn_schedule_close(s);
        evn_problem plain = p;
        plain.route = plain.far = NULL;
        s = open_or_fail("map", &plain);
        plain_sum += makespan(&p, evn_schedule_owner(s)) / shortest / ROUNDS;
    }
    if (worst > 1.35 || sum > 1.05 || plain_sum < 1.3)
        fail_msg("map: %.3f of the optimum at worst, %.3f in the mean, %.3f without routes", worst,
                 sum, plain_sum);
}

/* binpack puts neighbours near: with routes by nodes it sends less far than without. */
TEST(binpack_near) {
    double weight[36], far[2] = {0, 0}, longest[2] = {0, 0};
    evn_link link[72];
    for (unsigned round = 0; round < 20; round++) {
        unsigned long long seed = round;
        evn_problem p = {.tasks = 36,
                         .weight = weight,
                         .link = link,
                         .units = 4,
                         .node = two_by_two,
                         .route = &cheap,
                         .far = &dear};
        for (int t = 0; t < 36; t++) {
            weight[t] = round % 2 ? 10 : 100 + floor(30 * draw(&seed));
            if (t % 6 < 5) link[p.links++] = (evn_link){{t, t + 1}, 10};
            if (t < 30) link[p.links++] = (evn_link){{t, t + 6}, 10};
        }
        for (int plain = 0; plain < 2; plain++) {
            evn_problem q = p;
            if (plain) q.far = q.route = NULL;
            OWN(schedule) *s = open_or_fail("binpack", &q);
            far[plain] += bytes_far(&p, evn_schedule_owner(s));
            q.far = q.route = NULL; /* the compute time alone */
            longest[plain] += makespan(&q, evn_schedule_owner(s));
        }
    }
    if (far[0] > 0.8 * far[1] || longest[0] > 1.02 * longest[1])
        fail_msg("%g bytes far and %g long, without routes %g and %g", far[0], longest[0], far[1],
                 longest[1]);
}

/* Routes that are all alike are a bandwidth. */
TEST(alike) {
    double weight[64];
    evn_link link[112];
    unsigned long long seed = 5;
    evn_problem p = {.tasks = 64, .weight = weight, .link = link, .units = 5, .bandwidth = 8};
    for (int t = 0; t < 64; t++) {
        weight[t] = 10 + floor(90 * draw(&seed));
        if (t % 8 < 7) link[p.links++] = (evn_link){{t, t + 1}, 40};
        if (t < 56) link[p.links++] = (evn_link){{t, t + 8}, 48};
    }
    evn_problem q = p;
    const evn_route eighth = {1, {0}, {0.125}}, staged = {2, {0}, {0.0625, 0.0625}};
    static const int node[] = {3, 3, 4, 4, 4};
    q.bandwidth = 0;
    q.node = node;
    q.route = &eighth;
    q.far = &staged;
    q.bytes = weight;
    q.capacity = (double[]){0, 1e9, INFINITY, 0, 1e9};
    for (int i = 0; i < HEEDS; i++) {
        if (i == SOLVED) continue; /* it would take that long */
        OWN(schedule) *a = open_or_fail(heeds[i], &p), *b = open_or_fail(heeds[i], &q);
        assert_memory_equal(evn_schedule_owner(a), evn_schedule_owner(b), 64 * sizeof(int));
    }
}

/* A hundred times as many tasks: map sends fewer bytes far than it does if it does not know. */
TEST(nodes) {
    enum { SIDE = 24, N = SIDE * SIDE, U = 16 };
    static double weight[N];
    static evn_link link[2 * N];
    static int node[U];
    unsigned long long seed = 9;
    const evn_route none = {.hops = 1}, slow = {1, {0.001}, {0.01}};
    evn_problem p = {
        .tasks = N, .weight = weight, .link = link, .units = U, .node = node, .far = &slow};
    for (int t = 0; t < N; t++) {
        weight[t] = 10 + floor(10 * draw(&seed));
        link[p.links++] = (evn_link){{t, t % SIDE < SIDE - 1 ? t + 1 : t + 1 - SIDE}, 8};
        link[p.links++] = (evn_link){{t, (t + SIDE) % N}, 8};
    }
    for (int u = 0; u < U; u++) node[u] = u % 4; /* not in order */
    p.route = &none;
    evn_problem plain = p;
    plain.far = NULL;
    OWN(schedule) *s = open_or_fail("map", &p), *as = open_or_fail("map", &plain);
    const double far = bytes_far(&p, evn_schedule_owner(s)),
                 blind = bytes_far(&p, evn_schedule_owner(as));
    /* four squares of 12 x 12 tasks have 4 x 24 links between them */
    if (far > 1.3 * 4 * 24 * 8 || far > 0.8 * blind)
        fail_msg("%g bytes go far, %g where it is not known", far, blind);
    assert_true(evn_problem_imbalance(&p, evn_schedule_owner(s), NULL) < 1.15);
}

/* ---- memory ---- */

/* What is over is what must be, and explained. */
static void check_memory(const evn_problem *p, const char *spec, double least, unsigned round) {
    OWN(schedule) *s = open_or_fail(spec, p);
    const double is = over(p, evn_schedule_owner(s));
    if (is > least * (1 + 1e-9))
        fail_msg("round %u: %s has %g bytes over, expected %g", round, spec, is, least);
    HEAP char *why = evn_schedule_explain(s);
    assert_non_null(why);
    if ((least > 0) != !!strstr(why, "no assignment fits") ||
        (least > 0) != !!strstr(why, "is over its capacity by"))
        fail_msg("round %u: %s has %g bytes over and says %s", round, spec, is, why);
}

/* Room for hardly more than there is, or a little less: all that heed it find what there is. */
TEST(memory_against_all) {
    struct random x;
    int fit = 0, full = 0;
    for (unsigned round = 0; round < 100; round++) {
        unsigned long long seed = 1000 + round;
        evn_problem p = make_random(&x, 5 + (int)(round % 4), 2 + (int)(round % 2), round);
        if (round % 3) p.route = p.far = NULL;
        p.bandwidth = round % 3 == 1 ? 10 : 0;
        p.bytes = x.bytes;
        p.capacity = x.capacity;
        double bytes = 0, least, shortest;
        draw(&seed);
        for (int t = 0; t < p.tasks; t++) bytes += x.bytes[t] = 1 + floor(100 * draw(&seed));
        for (int u = 0; u < p.units; u++)
            x.capacity[u] = floor(bytes / p.units * (0.8 + 0.5 * draw(&seed)));
        if (round % 5 == 0) x.capacity[0] = round % 10 ? 0 : INFINITY;
        best_of_all(&p, 0, &least, &shortest);
        fit += least == 0;
        full += least > 0;
        for (int i = 0; i < HEEDS; i++)
            if (!lacks(i) && (i != SOLVED || round % 4 == 0))
                check_memory(&p, heeds[i], least, round);
        if (!solver || round % 4) continue; /* it takes a while */
        OWN(schedule) *s = open_or_fail("optimal:gap=0,limit=60", &p);
        const double time = makespan(&p, evn_schedule_owner(s));
        if (time > shortest * (1 + 1e-6))
            fail_msg("round %u: optimal takes %.9g, expected %.9g", round, time, shortest);
    }
    assert_true(fit > 15 && full > 15);
}

/* With enough memory nothing changes, and with a little too little not much. */
TEST(memory_of_many) {
    enum { N = 400, U = 8 };
    static double weight[N], bytes[N], capacity[U];
    static evn_link link[2 * N];
    unsigned long long seed = 21;
    evn_problem p = {.tasks = N, .weight = weight, .link = link, .units = U, .bandwidth = 100};
    double total = 0, sum = 0, used[U] = {0}, load[U];
    for (int t = 0; t < N; t++) {
        weight[t] = 10 + floor(90 * draw(&seed));
        bytes[t] = 10 + floor(90 * draw(&seed));
        sum += bytes[t];
        if (t % 20 < 19) link[p.links++] = (evn_link){{t, t + 1}, 40};
        if (t < N - 20) link[p.links++] = (evn_link){{t, t + 20}, 48};
    }
    for (int i = 0; i < 2; i++) {
        evn_schedule *s = open_or_fail(heeds[i], &p);
        memset(used, 0, sizeof used);
        for (int t = 0; t < N; t++) used[evn_schedule_owner(s)[t]] += bytes[t];
        p.bytes = bytes;
        p.capacity = capacity;
        memcpy(capacity, used, sizeof used); /* just enough */
        evn_schedule *same = open_or_fail(heeds[i], &p);
        assert_memory_equal(evn_schedule_owner(s), evn_schedule_owner(same), N * sizeof(int));
        evn_schedule_close(same);
        for (int u = 0; u < U; u++) capacity[u] = ceil(sum / U * 1.01);
        same = open_or_fail(heeds[i], &p);
        assert_true(over(&p, evn_schedule_owner(same)) == 0);
        total = evn_problem_imbalance(&p, evn_schedule_owner(same), load);
        if (total > 1.1) fail_msg("%s: imbalance %g", heeds[i], total);
        evn_schedule_close(same);
        evn_schedule_close(s);
        p.bytes = p.capacity = NULL;
    }
}

/* The others do as they do, and say what is over; an import, too. */
TEST(others_tell) {
    double bytes[] = {60, 60, 10, 10}, capacity[] = {100, 100};
    evn_problem p = {.tasks = 4, .units = 2, .bytes = bytes, .capacity = capacity};
    static const char *const others[] = {"static", "dynamic", "guided:size", "weighted",
                                         "interval"};
    for (int i = 0; i < 5; i++) {
        OWN(schedule) *s = open_or_fail(others[i], &p);
        assert_memory_equal(evn_schedule_owner(s), ((int[]){0, 0, 1, 1}), 4 * sizeof(int));
        HEAP char *why = evn_schedule_explain(s);
        if (!strstr(why, "unit 0 is over its capacity by 20 bytes, 120 of 100\n") ||
            !strstr(why, "there is an assignment that fits\n"))
            fail_msg("%s says %s", others[i], why);
    }
    for (int i = 0; i < HEEDS; i++)
        if (!lacks(i)) check_memory(&p, heeds[i], 0, 0);
    capacity[0] = 70;
    capacity[1] = 65;
    for (int i = 0; i < HEEDS; i++)
        if (!lacks(i)) check_memory(&p, heeds[i], 5, 0);
}

int main(void) {
    solver = has_library("optimal");
    return run_all_tests(NULL, NULL);
}
