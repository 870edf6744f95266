/* map: its repair step by step against plain sums, and what it promises on BT-MZ.
 * Run: ctest -R map */
#include "schedule/open.h"
#include "npbmz/npbmz.h"
#include "policy/map/choice.h"
#include "policy/map/levels.h"
#include <math.h>
#include <unistd.h>

static double bound(const evn_problem *p) {
    double total = 0, max = 0, total_speed = 0, fastest = 0;
    for (int t = 0; t < p->tasks; t++) {
        total += p->weight[t];
        max = fmax(max, p->weight[t]);
    }
    for (int u = 0; u < p->units; u++) {
        total_speed += p->speed[u];
        fastest = fmax(fastest, p->speed[u]);
    }
    return fmax(total / total_speed, max / fastest);
}

/* The assignment that a schedule settles at. */
static int *settle(const char *text, const evn_problem *p) {
    OWN(schedule) *s = open_or_fail(text, p);
    int *owner = malloc(sizeof *owner * (size_t)p->tasks);
    HEAP double *seconds = malloc(sizeof *seconds * (size_t)p->tasks);
    for (int i = 0; i < 12; i++) {
        assert_ok(evn_schedule_simulate(s, owner, seconds));
        assert_ok(evn_schedule_learn(s, owner, seconds));
    }
    assert_ok(evn_schedule_simulate(s, owner, seconds));
    return owner;
}

static const double fast5[] = {1, 1, 1, 1, 5, 5}, fast50[] = {1, 1, 1, 1, 50, 50};

/* ---- Scotch's library, which a process opens once: this test is the first ---- */

/* The exit status of a child says whether all is as it is to be. */
static int without(const char *file, const char *says) {
    const evn_problem p = {
        .tasks = 6,
        .units = 2,
        .links = 5,
        .link = (evn_link[]){{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 1}, {{3, 4}, 1}, {{4, 5}, 1}}};
    const char *library;
    char text[256];
    evn_schedule *s;
    setenv("EVENER_SCOTCH", file, 1);
    if (evn_schedule_open(&s, "map", &p)) return 1;
    evn_schedule_close(s);
    if (evn_schedule_library("map", &library, text, sizeof text) != EVN_MISSING) return 2;
    return strcmp(library, "Scotch") || !strstr(evn_message(), says) ? 3 : 0;
}

TEST(library) {
    static const char *const of[][2] = {
        {"/nowhere/libscotch.so", "EVENER_SCOTCH=\"/nowhere/libscotch.so\" cannot be used"},
        {FAKES "fake_scotch_old.so", "is Scotch 6.0.4, and 7 is needed"},
        {FAKES "fake_scotch_wide.so", "has numbers of 64 bits, and 32 are needed"},
        {FAKES "fake_scotch_lacks.so", "has no SCOTCH_stratGraphMapBuild"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const pid_t child = fork();
        if (!child) _exit(without(of[i][0], of[i][1]));
        assert_ends_well(child);
    }
}

/* ---- plans ---- */

/* By its own model it is never worse than a simple one: not longer by more than a two hundred and
 * fiftieth, and if longer at all then with fewer bytes. With exchange that costs time, too. */
TEST(never_worse) {
    static const char *const others[] = {"static", "guided:size", "dynamic"};
    static const double bandwidth[] = {0, 100, 5};
    for (int class_ = 0; class_ < 4; class_++)
        for (int k = 0; k < 3; k++) {
            npbmz *b;
            assert_int_equal(npbmz_open(&b, NPBMZ_BT, "WBCD"[class_]), EVN_OK);
            evn_problem p = npbmz_tasks(b);
            p.units = 6;
            p.speed = fast50;
            p.bandwidth = bandwidth[k];
            int *map = settle("map", &p);
            double mine = makespan(&p, map), cut = evn_problem_cut(&p, map, NULL);
            for (int i = 0; i < 3; i++) {
                HEAP int *owner = settle(others[i], &p);
                double theirs = makespan(&p, owner);
                if (mine > theirs * 1.00401 ||
                    (mine > theirs * (1 + 1e-9) && cut > evn_problem_cut(&p, owner, NULL)))
                    fail_msg("class %c, bandwidth %g: map takes %.6g, %s %.6g", "WBCD"[class_],
                             p.bandwidth, mine, others[i], theirs);
            }
            free(map);
            npbmz_close(b);
        }
}

/* A random problem on a torus of 12 x 12 tasks. */
enum { SIDE = 12, TASKS = SIDE * SIDE };

static evn_problem torus(double *weight, evn_link *link, unsigned long long seed) {
    for (int t = 0; t < TASKS; t++) weight[t] = 1 + 9 * draw(&seed);
    for (int t = 0; t < TASKS; t++) {
        int x = t % SIDE, y = t / SIDE;
        link[2 * t] = (evn_link){{t, (x + 1) % SIDE + y * SIDE}, 10 + 10 * draw(&seed)};
        link[2 * t + 1] = (evn_link){{t, x + (y + 1) % SIDE * SIDE}, 10 + 10 * draw(&seed)};
    }
    return (evn_problem){.tasks = TASKS,
                         .weight = weight,
                         .links = 2 * TASKS,
                         .link = link,
                         .units = 6,
                         .speed = fast5};
}

/* The sums that the repair keeps are those of the assignment it has, those of third units, too,
 * whose links become longer or shorter on two nodes; and no unit is filled more. */
TEST(repair_near) {
    static const int node[] = {0, 0, 1, 1, 1, 0};
    static const evn_route near = {1, {0.001}, {0.0001}}, far = {2, {0.01, 0.01}, {0.001, 0.002}};
    double weight[TASKS], bytes[TASKS], capacity[6] = {0}, scratch[6];
    evn_link link[2 * TASKS];
    for (int round = 0; round < 24; round++) {
        evn_problem p = torus(weight, link, (unsigned)round);
        unsigned long long seed = 77 + (unsigned)round;
        int owner[TASKS];
        memset(capacity, 0, sizeof capacity);
        for (int t = 0; t < TASKS; t++) {
            owner[t] = (int)(draw(&seed) * 6);
            bytes[t] = 1 + (int)(100 * draw(&seed));
            capacity[owner[t]] += bytes[t];
        }
        for (int u = 0; u < 6; u++) capacity[u] += round % 2 ? 50 : -50;
        p.node = node;
        p.route = &near;
        p.far = &far;
        p.bytes = bytes;
        p.capacity = capacity;
        ENDS(map_model_close) struct map_model m;
        assert_int_equal(map_model_open(&m, &p, NULL, NULL), 0);
        struct map_repair *r = map_repair_open(&m);
        struct map_score score = map_score(&m, owner, scratch);
        assert_true(score.over == (round % 2 ? 0 : 300));
        map_repair_start(r, owner, 10000000);
        for (int part = 0; part < 2; part++) {
            const double before = map_repair_makespan(r), over = score.over;
            if (part)
                map_smooth(r, before, before * 1.05);
            else
                map_balance(r, m.bound);
            const struct map_score kept = map_repair_score(r);
            score = map_score(&m, map_repair_owner(r), scratch);
            assert_true(fabs(kept.makespan - score.makespan) < 1e-9 * score.makespan);
            assert_true(fabs(kept.cut - score.cut) < 1e-9 * score.cut);
            assert_true(kept.over == score.over);
            assert_true(part ? score.makespan <= before * (1 + 1e-9) : score.makespan < before);
            assert_true(score.over <= over);
        }
        map_repair_close(r);
    }
}

/* Two rows of tasks whose best borders are known: two units, four by two tasks,
 * straight cut. */
TEST(smooth_known) {
    double weight[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    evn_link link[10];
    int n = 0;
    for (int t = 0; t < 8; t++) {
        if (t % 4 < 3) link[n++] = (evn_link){{t, t + 1}, 1};
        if (t < 4) link[n++] = (evn_link){{t, t + 4}, 1};
    }
    evn_problem p = {.tasks = 8, .weight = weight, .links = n, .link = link, .units = 2};
    ENDS(map_model_close) struct map_model m;
    assert_int_equal(map_model_open(&m, &p, NULL, NULL), 0);
    struct map_repair *r = map_repair_open(&m);
    map_repair_start(r, (int[]){0, 1, 0, 1, 1, 0, 1, 0}, 1000000); /* a chessboard */
    map_smooth(r, m.bound, m.bound + 1);
    struct map_score s = map_repair_score(r);
    assert_true(s.makespan <= m.bound * (1 + 1e-9));
    assert_true(s.cut == 2);
    map_repair_close(r);
}

/* The optimum over consecutive tasks, against all ways of setting two borders.
 */
TEST(consecutive) {
    for (int round = 0; round < 50; round++) {
        unsigned long long seed = (unsigned)round;
        enum { N = 20 };
        double weight[N], speed[3], least = INFINITY, scratch[3];
        int owner[N], all[N];
        for (int t = 0; t < N; t++) weight[t] = draw(&seed);
        for (int u = 0; u < 3; u++) speed[u] = 1 + floor(3 * draw(&seed));
        evn_problem p = {.tasks = N, .weight = weight, .units = 3, .speed = speed};
        ENDS(map_model_close) struct map_model m;
        assert_int_equal(map_model_open(&m, &p, NULL, NULL), 0);
        for (int a = 1; a < N - 1; a++)
            for (int b = a + 1; b < N; b++) {
                for (int t = 0; t < N; t++) all[t] = (t >= a) + (t >= b);
                least = fmin(least, map_score(&m, all, scratch).makespan);
            }
        assert_int_equal(map_consecutive(&m, owner), 0);
        for (int t = 1; t < N; t++) assert_in_range(owner[t], owner[t - 1], 2);
        assert_true(map_score(&m, owner, scratch).makespan <= least * (1 + 1e-9));
    }
}

/* Longest first by hand: 5 4 3 3 3 on two units gives 5+3 and 4+3+3; with
 * speeds 1 and 2 it gives 4+3 and 5+3+3, the last task going to the one of two
 * equal units that has fewer. */
TEST(longest_first) {
    double weight[] = {3, 5, 3, 4, 3}, speed[] = {1, 2};
    evn_problem p = {.tasks = 5, .weight = weight, .units = 2};
    ENDS(map_model_close) struct map_model m;
    int owner[5];
    assert_int_equal(map_model_open(&m, &p, NULL, NULL), 0);
    assert_int_equal(map_longest_first(&m, owner), 0);
    static const int expected[] = {1, 0, 0, 1, 1};
    assert_memory_equal(owner, expected, sizeof owner);
    map_model_close(&m);
    p.speed = speed;
    assert_int_equal(map_model_open(&m, &p, NULL, NULL), 0);
    assert_int_equal(map_longest_first(&m, owner), 0);
    static const int uneven[] = {1, 1, 1, 0, 0};
    assert_memory_equal(owner, uneven, sizeof owner);
}

/* Everybody gets a task when there are enough, however slow. */
TEST(feeds) {
    double weight[] = {1, 9, 9, 9, 2, 9}, speed[] = {1000, 1, 1000, 0.001};
    evn_problem p = {.tasks = 6, .weight = weight, .units = 4, .speed = speed};
    int *owner = settle("map", &p), count[4] = {0};
    for (int t = 0; t < 6; t++) count[owner[t]]++;
    for (int u = 0; u < 4; u++) assert_true(count[u] > 0);
    assert_int_equal(owner[0], 3); /* the slowest has the lightest */
    free(owner);
}

TEST(better) {
    struct map_score shorter = {0, 1.00, 50}, fewer = {0, 1.01, 40}, longer = {0, 1.05, 10},
                     over = {1, 1.00, 10};
    assert_true(map_better(fewer, shorter, 1.02));
    assert_false(map_better(shorter, fewer, 1.02));
    assert_true(map_better(shorter, fewer, 1.00));
    assert_true(map_better(shorter, longer, 1.02));
    assert_true(map_better(fewer, longer, 0.5));
    assert_false(map_better(over, longer, 1.02)); /* memory comes first */
}

/* ---- the multilevel scheme ---- */

/* Tasks as a cube with links along its edges. */
struct cube {
    evn_problem p;
    double *weight, *speed;
    evn_link *link;
};

static void cube_open(struct cube *c, int side, int units) {
    const int n = side * side * side;
    unsigned long long seed = 9;
    c->weight = malloc(sizeof *c->weight * (size_t)n);
    c->speed = malloc(sizeof *c->speed * (size_t)units);
    c->link = malloc(sizeof *c->link * 3 * (size_t)n);
    c->p = (evn_problem){.tasks = n,
                         .weight = c->weight,
                         .link = c->link,
                         .units = units,
                         .speed = c->speed,
                         .instances = 100};
    for (int t = 0; t < n; t++) {
        const int x = t % side, y = t / side % side, z = t / side / side;
        c->weight[t] = 10 * exp(3 * draw(&seed));
        if (x + 1 < side) c->link[c->p.links++] = (evn_link){{t, t + 1}, 1};
        if (y + 1 < side) c->link[c->p.links++] = (evn_link){{t, t + side}, 1};
        if (z + 1 < side) c->link[c->p.links++] = (evn_link){{t, t + side * side}, 1};
    }
    for (int u = 0; u < units; u++) c->speed[u] = u % 4 == 3 ? 4 : u % 4 == 2 ? 2 : 1;
}

static void cube_close(struct cube *c) {
    free(c->weight);
    free(c->speed);
    free(c->link);
}

/* Many tasks: balanced, hardly more bytes cut than cubes of the same size would, the same plan each
 * time. An assignment that is shorter by less than 1 %, as heaviest first is, cuts four times as
 * many and is not preferred. */
TEST(many_tasks) {
    enum { SIDE_OF_CUBE = 30, UNITS = 64 };
    ENDS(cube_close) struct cube c;
    cube_open(&c, SIDE_OF_CUBE, UNITS);
    const double n = c.p.tasks, cubes = UNITS * 3 * pow(n / UNITS, 2. / 3);
    OWN(schedule) *s = open_or_fail("map", &c.p), *same = open_or_fail("map", &c.p);
    const int *owner = evn_schedule_owner(s);
    assert_memory_equal(owner, evn_schedule_owner(same), sizeof *owner * (size_t)c.p.tasks);
    const double ratio = makespan(&c.p, owner) / bound(&c.p);
    const double cut = evn_problem_cut(&c.p, owner, NULL) / 2;
    if (!(ratio <= 1.006)) fail_msg("makespan %.4f of the bound", ratio);
    if (!(cut <= 1.25 * cubes)) fail_msg("%.0f cut, %.0f by cubes", cut, cubes);
    /* where exchange takes time, it is balanced with the rest */
    evn_problem slow = c.p;
    slow.bandwidth = 0.5;
    OWN(schedule) *aware = open_or_fail("map", &slow);
    assert_true(makespan(&slow, evn_schedule_owner(aware)) < 0.98 * makespan(&slow, owner));
}

/* Ten tasks a unit: heaviest first is within 1 % of even and cuts twice as many bytes as a
 * partition does. That one is taken, once it is as near. */
TEST(ten_tasks_a_unit) {
    enum { SIDE_OF_CUBE = 22, UNITS = 1000 };
    ENDS(cube_close) struct cube c;
    cube_open(&c, SIDE_OF_CUBE, UNITS);
    const double n = c.p.tasks, cubes = UNITS * 3 * pow(n / UNITS, 2. / 3);
    OWN(schedule) *s = open_or_fail("map", &c.p);
    const int *owner = evn_schedule_owner(s);
    const double ratio = makespan(&c.p, owner) / bound(&c.p);
    const double cut = evn_problem_cut(&c.p, owner, NULL) / 2;
    if (!(ratio <= 1.02)) fail_msg("makespan %.4f of the bound", ratio);
    if (!(cut <= 1.25 * cubes)) fail_msg("%.0f cut, %.0f by cubes", cut, cubes);
}

/* Graphs that cannot be made coarser as a grid can: a star, a chain, pairs, a complete graph of
 * some with the others alone; weights of 0, and all tasks but one as light as nothing. Every unit
 * has a task, and the balance is that of the longest task first. */
TEST(awkward_graphs) {
    enum { N = 300, FEW = 40 };
    double weight[N], speed[16];
    evn_link link[FEW * FEW + N];
    for (int kind = 0; kind < 4; kind++)
        for (int weights = 0; weights < 4; weights++)
            for (int units = 2; units <= 16; units += 7) {
                int links = 0, owner[N], count[16] = {0};
                for (int t = 0; t < N; t++) {
                    weight[t] = weights == 0 ? 1 : weights == 1 ? t % 7 : t ? 1e-300 : 1e300;
                    if (weights == 3) weight[t] = 0;
                    if (kind == 0 && t) link[links++] = (evn_link){{0, t}, 1};
                    if (kind == 1 && t) link[links++] = (evn_link){{t - 1, t}, t % 3 ? 1e200 : 1};
                    if (kind == 2 && t % 2) link[links++] = (evn_link){{t - 1, t}, 1e-200};
                    for (int q = 0; kind == 3 && t < FEW && q < t; q++)
                        link[links++] = (evn_link){{q, t}, 1 + q % 5};
                }
                for (int u = 0; u < units; u++) speed[u] = u % 3 ? 1 : 1e-6;
                evn_problem p = {.tasks = N,
                                 .weight = weight,
                                 .links = links,
                                 .link = link,
                                 .units = units,
                                 .speed = speed,
                                 .bandwidth = kind == 1 ? 1 : 0};
                ENDS(map_model_close) struct map_model m;
                assert_int_equal(map_model_open(&m, &p, NULL, NULL), 0);
                assert_int_equal(map_multilevel(&m, 1, owner), 0);
                for (int t = 0; t < N; t++) {
                    assert_in_range(owner[t], 0, units - 1);
                    count[owner[t]]++;
                }
                for (int u = 0; u < units; u++) assert_true(count[u] > 0);
            }
}

/* Two halves of a cube of uneven weights: not much more cut than by a plane, in the mean. */
TEST(halves) {
    enum { SIDE_OF_CUBE = 24, SEEDS = 8 };
    struct cube c;
    struct map_model m;
    cube_open(&c, SIDE_OF_CUBE, 2);
    assert_int_equal(map_model_open(&m, &c.p, NULL, NULL), 0);
    const struct level g = {m.tasks, m.start, m.neighbour, m.bytes, m.weight, NULL};
    int *owner = malloc(sizeof *owner * (size_t)m.tasks);
    double cut = 0;
    for (int i = 0; i < SEEDS; i++) {
        assert_int_equal(level_bisect(&g, &m, (unsigned)i, owner), 0);
        cut += evn_problem_cut(&c.p, owner, NULL) / 2 / SEEDS;
    }
    const double plane = SIDE_OF_CUBE * SIDE_OF_CUBE;
    if (!(cut <= 1.35 * plane)) fail_msg("%.0f cut, %.0f by a plane", cut, plane);
    free(owner);
    map_model_close(&m);
    cube_close(&c);
}

/* A coarser level weighs what the finer one does, and any assignment of it cuts as much. */
TEST(coarser) {
    ENDS(cube_close) struct cube c;
    ENDS(map_model_close) struct map_model m;
    struct level level[2];
    unsigned long long seed = 3;
    cube_open(&c, 12, 4);
    assert_int_equal(map_model_open(&m, &c.p, NULL, NULL), 0);
    level[0] = (struct level){m.tasks, m.start, m.neighbour, m.bytes, m.weight, NULL};
    HEAP int *into = malloc(sizeof *into * (size_t)m.tasks);
    double all = level_weight(&level[0]);
    assert_int_equal(level_coarsen(&level[0], 3, &seed, &level[1], into), 0);
    assert_true(level[1].n < 0.7 * level[0].n);
    assert_float_equal(level_weight(&level[1]), all, 1e-9 * all);
    double cut[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        for (int v = 0; v < level[i].n; v++)
            for (int k = level[i].start[v]; k < level[i].start[v + 1]; k++) {
                const int a = i ? v : into[v], b = i ? level[i].to[k] : into[level[i].to[k]];
                if (a % 3 != b % 3) cut[i] += level[i].bytes[k];
            }
    assert_float_equal(cut[0], cut[1], 1e-9 * cut[0]);
    for (int v = 0; v < level[1].n; v++) assert_true(level[1].weight[v] <= 3);
    level_close(&level[1]);
}

/* ---- names of parts ---- */

enum { PARTS = 4, NAMED = 40 };

static double kept_weight(const evn_problem *p, const int *owner, const int *to) {
    double kept = 0;
    for (int t = 0; t < p->tasks; t++) kept += to[t] == owner[t] ? p->weight[t] : 0;
    return kept;
}

/* The most that any exchange of names among units of equal class keeps. */
static double most_kept(const evn_problem *p, const int *class, const int *owner, const int *to) {
    double most = 0;
    for (int code = 0; code < 256; code++) {
        int name[PARTS], taken = 0, right = 1, named[NAMED];
        for (int u = 0; u < PARTS; u++) {
            name[u] = code >> 2 * u & 3;
            right &= class[u] == class[name[u]] && !(taken >> name[u] & 1);
            taken |= 1 << name[u];
        }
        for (int t = 0; t < p->tasks; t++) named[t] = name[to[t]];
        if (right) most = fmax(most, kept_weight(p, owner, named));
    }
    return most;
}

/* Parts of a plan get other units only of those that are alike, each one, and keep at least half
 * of what the best names would; a plan that only has other names gets its own back. */
TEST(names) {
    static const int alike[] = {0, 0, 0, 0}, two[] = {0, 1, 0, 1}, none[] = {0, 1, 2, 3};
    static const int *const classes[] = {alike, two, two, two, two, two, none};
    unsigned long long seed = 5;
    for (int round = 0; round < 700; round++) {
        const int how = round % 7, *class = classes[how];
        double weight[NAMED], speed[PARTS], capacity[PARTS];
        int owner[NAMED], to[NAMED], before[NAMED], name[PARTS] = {-1, -1, -1, -1};
        for (int t = 0; t < NAMED; t++) {
            weight[t] = floor(4 * draw(&seed));
            owner[t] = (int)(PARTS * draw(&seed));
            to[t] = before[t] = round % 2 ? (int)(PARTS * draw(&seed)) : (owner[t] + 2) % PARTS;
        }
        for (int u = 0; u < PARTS; u++) speed[u] = how < 2 || how == 6 ? 1 + class[u] : 1;
        for (int u = 0; u < PARTS; u++) capacity[u] = 100 + class[u];
        const evn_problem p = {.tasks = NAMED,
                               .units = PARTS,
                               .weight = weight,
                               .kind = how == 2 ? class : NULL,
                               .node = how == 3 ? class : NULL,
                               .space = how == 4 ? class : NULL,
                               .capacity = how == 5 ? capacity : NULL};
        assert_int_equal(map_rename(&p, speed, owner, to), 0);
        for (int t = 0; t < NAMED; t++) {
            if (name[before[t]] < 0) name[before[t]] = to[t];
            assert_int_equal(name[before[t]], to[t]);
            assert_int_equal(class[before[t]], class[to[t]]);
        }
        for (int u = 0; u < PARTS; u++)
            for (int v = 0; v < u; v++) assert_true(name[u] < 0 || name[u] != name[v]);
        assert_true(2 * kept_weight(&p, owner, to) >= most_kept(&p, class, owner, before));
        if (round % 2 == 0 && how < 6)
            for (int t = 0; t < NAMED; t++) assert_true(to[t] == owner[t]);
    }
}

RUN_TESTS(NULL, NULL)
