/* Tasks that come and go (schedule_change()), in a virtual clock: a mesh of blocks that refines
 * around a moving ring, whose costs and units' speeds the schedule is not told. All schedules stay
 * near the ideal; numbers alone change nothing; changes are all or nothing; wrong ones are refused.
 * Run: ctest -R schedule-change */
#include "schedule/open.h"
#include <evener/change.h>
#include <math.h>

enum { BASE = 8, LEVELS = 4, MOST = 4096, UNITS_MAX = 16, MESHES = 40, LAST = 10 };

/* ---- a mesh -------------------------------------------------------------------------------- */

/* A block of a quadtree over BASE x BASE cells: level 0 .. LEVELS - 1, position in its level. */
struct block {
    int level, x, y;
};

struct mesh {
    int blocks;
    struct block block[MOST];
};

/* Whether the ring of a mesh's number goes through a block. */
static int is_touched(struct block b, int number) {
    const double size = 1.0 / (BASE << b.level), angle = 0.15 * number;
    const double cx = 0.5 + 0.2 * cos(angle), cy = 0.5 + 0.2 * sin(angle);
    double near = 0, far = 0;
    for (int d = 0; d < 2; d++) {
        const double lo = (d ? b.y : b.x) * size - (d ? cy : cx), hi = lo + size;
        const double most = fmax(fabs(lo), fabs(hi)), least = lo > 0 ? lo : hi < 0 ? -hi : 0;
        near += least * least;
        far += most * most;
    }
    return near < 0.0625 && far > 0.0625;
}

/* Depth first, so that numbers follow a curve of Z's. */
static void add(struct mesh *m, struct block b, int number) {
    if (b.level == LEVELS - 1 || !is_touched(b, number)) {
        m->block[m->blocks++] = b;
        return;
    }
    for (int c = 0; c < 4; c++)
        add(m, (struct block){b.level + 1, 2 * b.x + c % 2, 2 * b.y + c / 2}, number);
}

static void make_mesh(struct mesh *m, int number) {
    m->blocks = 0;
    for (int i = 0; i < BASE * BASE; i++) {
        int x = 0, y = 0;
        for (int k = 0; k < 3; k++) {
            x |= (i >> (2 * k) & 1) << k;
            y |= (i >> (2 * k + 1) & 1) << k;
        }
        add(m, (struct block){0, x, y}, number);
    }
}

/* 1 if a lies within b. */
static int lies_in(struct block a, struct block b) {
    const int up = a.level - b.level;
    return up >= 0 && a.x >> up == b.x && a.y >> up == b.y;
}

static evn_link *make_links(const struct mesh *m, int *count) {
    evn_link *link = malloc(MOST * 8 * sizeof *link);
    *count = 0;
    for (int i = 0; i < m->blocks; i++)
        for (int j = 0; j < i; j++) {
            const struct block a = m->block[i], b = m->block[j];
            const int sa = 1 << (LEVELS - 1 - a.level), sb = 1 << (LEVELS - 1 - b.level);
            const int ax = a.x * sa, ay = a.y * sa, bx = b.x * sb, by = b.y * sb;
            const int ox = (ax + sa < bx + sb ? ax + sa : bx + sb) - (ax > bx ? ax : bx);
            const int oy = (ay + sa < by + sb ? ay + sa : by + sb) - (ay > by ? ay : by);
            if ((ox == 0 && oy > 0) || (oy == 0 && ox > 0))
                link[(*count)++] = (evn_link){{i, j}, 1024};
        }
    return link;
}

/* ---- a change between meshes --------------------------------------------------------------- */

struct change {
    evn_change of;
    int first[MOST + 1], from[4 * MOST];
    char kept[MOST];
};

static void make_change(struct change *c, const struct mesh *before, const struct mesh *now) {
    int at = 0;
    for (int t = 0; t < now->blocks; t++) {
        c->first[t] = at;
        c->kept[t] = 0;
        for (int f = 0; f < before->blocks; f++) {
            const struct block a = now->block[t], b = before->block[f];
            if (!lies_in(a, b) && !lies_in(b, a)) continue;
            c->from[at++] = f;
            c->kept[t] = a.level == b.level;
        }
    }
    c->first[now->blocks] = at;
    c->of = (evn_change){.tasks = now->blocks, .first = c->first, .from = c->from, .kept = c->kept};
}

/* ---- virtual time -------------------------------------------------------------------------- */

/* What a block costs, by where it is; the schedule sees equal weights. */
static double cost_of(struct block b) {
    const int x = b.x >> b.level, y = b.y >> b.level;
    return 1e-3 * (1 + (unsigned)(x * 7 + y * 13) % 4);
}

static double speed_of(int unit) { return 1 + unit * 0.618 - floor(unit * 0.618 / 2) * 2; }

/* One instance; *ideal: if all units were done at once. Its length. */
static double run(evn_schedule *s, const struct mesh *m, int units, double noise,
                  unsigned long long *seed, double *ideal) {
    static double seconds[MOST];
    static int owner[MOST];
    double busy[UNITS_MAX] = {0}, work = 0, speed = 0, longest = 0;
    const int chunk = evn_schedule_about(s).chunk, *order = evn_schedule_about(s).order;
    memcpy(owner, evn_schedule_owner(s), (size_t)m->blocks * sizeof *owner);
    for (int i = 0; i < m->blocks; i++) {
        const int t = chunk && order ? order[i] : i;
        if (chunk && i % chunk == 0) {
            int first = 0;
            for (int u = 1; u < units; u++)
                if (busy[u] < busy[first]) first = u;
            owner[t] = first;
        } else if (chunk) {
            owner[t] = owner[order ? order[i - 1] : i - 1];
        }
        const double off = 1 + noise * (draw(seed) - 0.5);
        seconds[t] = cost_of(m->block[t]) / speed_of(owner[t]) * off;
        busy[owner[t]] += seconds[t];
        work += cost_of(m->block[t]);
    }
    for (int u = 0; u < units; u++) speed += speed_of(u);
    for (int u = 0; u < units; u++) longest = fmax(longest, busy[u]);
    *ideal = work / speed;
    assert_ok(evn_schedule_learn(s, owner, seconds));
    return longest;
}

struct result {
    double over, moved, cut;
    int tasks;
};

/* The bytes cut over those of a plan from scratch that is told all costs and speeds. */
static double cut_beside_plan(const evn_schedule *s, const struct mesh *m, int units,
                              double bandwidth) {
    const evn_problem *of = evn_schedule_problem(s);
    double *weight = malloc((size_t)of->tasks * sizeof *weight), speed[UNITS_MAX];
    evn_problem known = *of;
    for (int t = 0; t < of->tasks; t++) weight[t] = cost_of(m->block[t]);
    for (int u = 0; u < units; u++) speed[u] = speed_of(u);
    known.weight = weight;
    known.speed = speed;
    known.bandwidth = bandwidth / 2.5e-3; /* the mean block's cost */
    OWN(schedule) *plan = open_or_fail("map", &known);
    const double cut = evn_problem_cut(of, evn_schedule_owner(s), NULL) /
                       evn_problem_cut(of, evn_schedule_owner(plan), NULL);
    free(weight);
    return cut;
}

/* All meshes, so many instances each; the cut where there is a bandwidth. `bandwidth`: bytes in the
 * time of a block of weight 1. */
static struct result adapt(const char *text, int units, int instances, double noise, double most,
                           double bandwidth) {
    static struct mesh mesh[2];
    static struct change change;
    static int inherited[MOST];
    static double bytes[MOST];
    unsigned long long seed = 5;
    struct result r = {0};
    double took = 0, ideal = 0, tasks = 0, cut = 0;
    int links;
    make_mesh(&mesh[0], 0);
    evn_link *link = make_links(&mesh[0], &links);
    for (int t = 0; t < MOST; t++) bytes[t] = 16 * 1024;
    evn_problem p = {.tasks = mesh[0].blocks,
                     .units = units,
                     .links = links,
                     .link = link,
                     .bandwidth = bandwidth,
                     .bytes = bytes};
    OWN(schedule) *s = open_or_fail(text, &p);
    free(link);
    for (int i = 0; i < MESHES; i++) {
        struct mesh *now = &mesh[i % 2], *before = &mesh[(i + 1) % 2];
        if (i) {
            const int *had = evn_schedule_owner(s);
            make_mesh(now, i);
            make_change(&change, before, now);
            change.of.link = link = make_links(now, &change.of.links);
            change.of.most = most;
            change.of.bytes = bytes;
            const double *weighed = evn_schedule_problem(s)->weight;
            for (int t = 0; t < now->blocks; t++) {
                int of = change.from[change.first[t]];
                for (int k = change.first[t]; k < change.first[t + 1]; k++)
                    if (weighed[change.from[k]] > weighed[of]) of = change.from[k];
                inherited[t] = had[of];
            }
            assert_ok(evn_schedule_change(s, &change.of));
            const double *weight = evn_schedule_problem(s)->weight;
            int moved = 0;
            double part = 0, all = 0;
            for (int t = 0; t < now->blocks; t++) {
                const int moves = evn_schedule_owner(s)[t] != inherited[t];
                moved += moves;
                part += moves ? weight[t] : 0;
                all += weight[t];
            }
            if (most > 0 && part > most * all * (1 + 1e-9))
                fail_msg("%s: %g of the weight moved", text, part / all);
            r.moved += moved;
            tasks += now->blocks;
            free(link);
        }
        if (bandwidth > 0 && i >= MESHES - LAST)
            cut += cut_beside_plan(s, now, units, bandwidth) / LAST;
        for (int k = 0; k < instances; k++) {
            double even;
            took += run(s, now, units, noise, &seed, &even);
            ideal += even;
        }
    }
    return (struct result){took / ideal, r.moved / tasks, cut, (int)(tasks / (MESHES - 1))};
}

TEST(virtual_time) {
    static const struct {
        const char *text;
        double over; /* at most */
    } of[] = {
        {"map", 1.07},      {"auto", 1.05},         {"guided:time", 1.15},
        {"interval", 1.15}, {"binpack:time", 1.15},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int many = 0; many < 2; many++)
            for (int instances = many ? 10 : 2; instances; instances = 0) {
                const struct result r = adapt(of[i].text, many ? 16 : 4, instances, 0, 0, 0);
                printf("%-12s %2d units, %2d instances a mesh: %.3f of the ideal, %.1f %% moved; "
                       "%d tasks\n",
                       of[i].text, many ? 16 : 4, instances, r.over, 100 * r.moved, r.tasks);
                assert_true(r.over <= of[i].over);
            }
}

/* Where exchange takes a tenth of a step: the cut of the last meshes, on average, stays near a
 * plan's, and few tasks move, however many instances a mesh lasts. */
TEST(cut) {
    static const struct {
        const char *text;
        int units, instances;
        double moved; /* at most */
    } of[] = {{"map", 4, 2, 0.1},   {"map", 16, 10, 0.17}, {"auto", 4, 30, 0.12},
              {"map", 4, 10, 0.1},  {"map", 4, 30, 0.1},   {"map", 16, 2, 0.17},
              {"map", 16, 30, 0.17}};
    const size_t cases = getenv("EVENER_TEST_LONG") ? sizeof of / sizeof *of : 3;
    for (size_t i = 0; i < cases; i++) {
        const struct result r = adapt(of[i].text, of[i].units, of[i].instances, 0, 0, 1e4);
        printf("%-5s %2d units, %2d instances a mesh: %.3f of the ideal without exchange, %.1f %% "
               "moved, cut %.2f of a plan's\n",
               of[i].text, of[i].units, of[i].instances, r.over, 100 * r.moved, r.cut);
        assert_true(r.cut <= 1.4 && r.moved <= of[i].moved);
        assert_true(r.over <= (of[i].units == 4 ? 1.06 : 1.18));
    }
}

/* ---- numbers alone, and all of before ------------------------------------------------------ */

static const char *const texts[] = {"auto",     "map",         "guided:time",   "guided:size",
                                    "interval", "static",      "weighted:size", "binpack",
                                    "dynamic",  "binpack:time"};
enum { TEXTS = sizeof texts / sizeof *texts };

/* Tasks that all stay leave owners and what is learnt of them: from then on the schedule decides as
 * one that was not changed, also where tasks have other numbers. */
TEST(numbers) {
    enum { TASKS = 60, UNITS = 4 };
    for (int i = 0; i < TEXTS; i++)
        for (int after = 0; after < 12; after++) {
            double weight[TASKS], seconds[TASKS];
            int first[TASKS + 1], from[TASKS];
            char kept[TASKS];
            unsigned long long seed = 3;
            for (int t = 0; t < TASKS; t++) {
                weight[t] = 1 + floor(4 * draw(&seed));
                first[t] = from[t] = t;
                kept[t] = 1;
            }
            first[TASKS] = TASKS;
            const evn_problem p = {.tasks = TASKS, .units = UNITS, .weight = weight};
            const evn_change same = {
                .tasks = TASKS, .first = first, .from = from, .kept = kept, .links = -1};
            evn_schedule *s[2] = {open_or_fail(texts[i], &p), open_or_fail(texts[i], &p)};
            for (int step = 0; step < 20; step++) {
                if (step == after) assert_ok(evn_schedule_change(s[1], &same));
                const size_t bytes = TASKS * sizeof(int);
                if (strcmp(texts[i], "dynamic") != 0)
                    assert_memory_equal(evn_schedule_owner(s[0]), evn_schedule_owner(s[1]), bytes);
                char *text[2] = {evn_schedule_export(s[0]), evn_schedule_export(s[1])};
                if (strcmp(texts[i], "dynamic") != 0) assert_string_equal(text[0], text[1]);
                free(text[0]);
                free(text[1]);
                for (int k = 0; k < 2; k++) {
                    const int *owner = evn_schedule_owner(s[k]);
                    for (int t = 0; t < TASKS; t++)
                        seconds[t] = 2e-3 * weight[t] * (1 + t % 3) / (1 + owner[t] % 3);
                    assert_ok(evn_schedule_learn(s[k], owner, seconds));
                }
            }
            evn_schedule_close(s[0]);
            evn_schedule_close(s[1]);
        }
}

/* Where owners need not be consecutive, other numbers change no owner, at once and later: a task is
 * with its unit under whichever number. (auto goes back to map's owners.) */
TEST(permuted) {
    enum { TASKS = 60, UNITS = 4 };
    static const char *const of[] = {"map", "binpack"};
    for (int i = 0; i < 2; i++)
        for (int after = 0; after < 8; after++) {
            double weight[TASKS], seconds[2][TASKS];
            int first[TASKS + 1], from[TASKS];
            char kept[TASKS];
            unsigned long long seed = 17;
            for (int t = 0; t < TASKS; t++) {
                weight[t] = 1 + draw(&seed);
                first[t] = from[t] = t;
                kept[t] = 1;
            }
            first[TASKS] = TASKS;
            for (int t = TASKS - 1; t > 0; t--) {
                const int j = (int)((t + 1) * draw(&seed)), last = from[t];
                from[t] = from[j];
                from[j] = last;
            }
            const evn_problem p = {.tasks = TASKS, .units = UNITS, .weight = weight};
            const evn_change c = {
                .tasks = TASKS, .first = first, .from = from, .kept = kept, .links = -1};
            evn_schedule *s[2] = {open_or_fail(of[i], &p), open_or_fail(of[i], &p)};
            for (int step = 0; step < 16; step++) {
                if (step == after) assert_ok(evn_schedule_change(s[1], &c));
                for (int t = 0; t < TASKS; t++) {
                    const int was = step < after ? t : from[t];
                    if (evn_schedule_owner(s[1])[t] != evn_schedule_owner(s[0])[was])
                        fail_msg("%s, changed before instance %d: task %d in instance %d", of[i],
                                 after, was, step);
                    seconds[0][t] = 2e-3 * weight[t] / (1 + evn_schedule_owner(s[0])[t] % 3);
                }
                for (int t = 0; t < TASKS; t++)
                    seconds[1][t] = 2e-3 * weight[step < after ? t : from[t]] /
                                    (1 + evn_schedule_owner(s[1])[t] % 3);
                for (int k = 0; k < 2; k++)
                    assert_ok(evn_schedule_learn(s[k], evn_schedule_owner(s[k]), seconds[k]));
            }
            evn_schedule_close(s[0]);
            evn_schedule_close(s[1]);
        }
}

/* Each task refined by 8 is eight tasks on its unit; made one again, they are where it was. */
TEST(there_and_back) {
    enum { TASKS = 64, UNITS = 4 };
    static const char *const of[] = {"map",      "auto",        "binpack",     "guided:time",
                                     "interval", "guided:size", "binpack:time"};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int steps = 0; steps <= 64; steps += steps < 5 ? 1 : 59) {
            int first[8 * TASKS + 1], from[8 * TASKS], were[TASKS];
            const evn_problem p = {.tasks = TASKS, .units = UNITS};
            OWN(schedule) *s = open_or_fail(of[i], &p);
            double seconds[TASKS];
            for (int t = 0; t < TASKS; t++) seconds[t] = 2e-3;
            for (int k = 0; k < steps; k++)
                assert_ok(evn_schedule_learn(s, evn_schedule_owner(s), seconds));
            memcpy(were, evn_schedule_owner(s), sizeof were);
            for (int t = 0; t <= 8 * TASKS; t++) first[t] = t;
            for (int t = 0; t < 8 * TASKS; t++) from[t] = t / 8;
            evn_change c = {.tasks = 8 * TASKS, .first = first, .from = from, .links = -1};
            assert_ok(evn_schedule_change(s, &c));
            for (int t = 0; t < 8 * TASKS; t++)
                assert_int_equal(evn_schedule_owner(s)[t], were[t / 8]);
            for (int t = 0; t <= TASKS; t++) first[t] = 8 * t;
            for (int t = 0; t < 8 * TASKS; t++) from[t] = t;
            c.tasks = TASKS;
            assert_ok(evn_schedule_change(s, &c));
            assert_memory_equal(evn_schedule_owner(s), were, sizeof were);
        }
}

/* ---- any change ---------------------------------------------------------------------------- */

/* Random changes, of 1 task to 1000 and back, weights of 0, units without tasks, spaces, states and
 * memories that are too small: the same inputs give the same answer. */
TEST(any) {
    enum { TASKS = 1000, UNITS = 7, CHANGES = 40 };
    static double weight[2][TASKS], seconds[TASKS];
    static int first[TASKS + 1], from[2 * TASKS];
    static char kept[TASKS];
    static const int space[UNITS] = {0, 0, 1, 1, 2, 2, 2};
    static const double capacity[UNITS] = {500, 500, 100, 100, 0, 50, 0};
    for (int i = 0; i < TEXTS; i++)
        for (int spaces = 0; spaces < 2; spaces++) {
            unsigned long long seed = 11 + (unsigned)i;
            int m = 1 + (int)(20 * draw(&seed));
            evn_problem p = {.tasks = m, .units = UNITS};
            if (spaces) p.space = space, p.capacity = capacity, p.bytes = p.state = weight[0];
            for (int t = 0; t < TASKS; t++) weight[0][t] = 1;
            evn_schedule *s[2] = {open_or_fail(texts[i], &p), open_or_fail(texts[i], &p)};
            for (int k = 0; k < CHANGES; k++) {
                int n = k % 5 == 4 ? 1 : 1 + (int)(draw(&seed) * (k % 5 == 2 ? TASKS : 60)), at = 0;
                int next = 0;
                for (int t = 0; t < n; t++) {
                    first[t] = at;
                    kept[t] = next < m && draw(&seed) < 0.6;
                    weight[1][t] = floor(3 * draw(&seed));
                    if (kept[t]) from[at++] = next++;
                    const int origins = kept[t] || at > TASKS ? 0 : (int)(3 * draw(&seed));
                    for (int o = 0; o < origins; o++) from[at++] = (int)(m * draw(&seed));
                    next += draw(&seed) < 0.2;
                }
                first[n] = at;
                const evn_change c = {.tasks = n,
                                      .first = first,
                                      .from = from,
                                      .kept = kept,
                                      .links = -1,
                                      .weight = k % 2 ? weight[1] : NULL};
                for (int j = 0; j < 2; j++) {
                    if (evn_schedule_change(s[j], &c)) fail_msg("%s: %s", texts[i], evn_message());
                    assert_int_equal(evn_schedule_problem(s[j])->tasks, n);
                }
                m = n;
                for (int step = 0; step < k % 4; step++) {
                    assert_memory_equal(evn_schedule_owner(s[0]), evn_schedule_owner(s[1]),
                                        (size_t)n * sizeof(int));
                    assert_int_equal(evn_schedule_about(s[0]).chunk,
                                     evn_schedule_about(s[1]).chunk);
                    for (int t = 0; t < n; t++) seconds[t] = 1e-3 * draw(&seed);
                    for (int j = 0; j < 2; j++)
                        assert_ok(evn_schedule_learn(s[j], evn_schedule_owner(s[j]), seconds));
                }
                HEAP char *text = evn_schedule_explain(s[0]);
                assert_non_null(text);
            }
            evn_schedule_close(s[0]);
            evn_schedule_close(s[1]);
        }
}

/* ---- as text ------------------------------------------------------------------------------- */

/* The text of a later generation says which, and a schedule opened with its tasks takes it; texts
 * of generation 0 are as ever; one of other tasks is refused. */
TEST(export) {
    static const int first[] = {0, 1, 2, 3, 4, 5, 6}, from[] = {0, 0, 1, 2, 3, 3},
                     same[] = {0, 1, 2, 3, 4, 5};
    static const char kept[] = {1, 1, 1, 1, 1, 1};
    const evn_problem four = {.tasks = 4, .units = 2}, six = {.tasks = 6, .units = 2};
    const evn_change c = {.tasks = 6, .first = first, .from = from, .links = -1};
    evn_change wrong = c;
    wrong.tasks = 0;
    for (int i = 0; i < TEXTS; i++) {
        OWN(schedule) *s = open_or_fail(texts[i], &four), *then = open_or_fail(texts[i], &six);
        char *text = evn_schedule_export(s), *again, want[160];
        assert_non_null(strstr(text, " 4 tasks 2 units: "));
        free(text);
        assert_int_equal(evn_schedule_change(s, &wrong), EVN_USAGE);
        for (int g = 1; g < 12; g++) {
            const evn_change next = {.tasks = 6, .first = first, .from = same, .links = -1};
            const evn_change none = {
                .tasks = 6, .first = first, .from = same, .kept = kept, .links = -1};
            assert_ok(evn_schedule_change(s, g == 1 ? &c : &next));
            assert_ok(evn_schedule_change(s, &none)); /* is none */
            text = evn_schedule_export(s);
            snprintf(want, sizeof want, "%s 6 tasks 2 units generation %d: ", evn_schedule_text(s),
                     g);
            if (strncmp(text, want, strlen(want)) != 0) fail_msg("%s; expected %s", text, want);
            if (evn_schedule_import(then, text)) fail_msg("%s: %s", text, evn_message());
            again = evn_schedule_export(then);
            assert_string_equal(again, text);
            free(again);
            free(text);
        }
        /* of before generations were written: the count stays */
        snprintf(want, sizeof want, "%s 6 tasks 2 units: 3*0 3*1", evn_schedule_text(s));
        assert_ok(evn_schedule_import(then, want));
        text = evn_schedule_export(then);
        assert_non_null(strstr(text, " generation 11: 3*0 3*1"));
        static const char *const bad[] = {"4 tasks 2 units generation 1: 2*0 2*1",
                                          "6 tasks 2 units generation: 3*0 3*1",
                                          "6 tasks 2 units generation -1: 3*0 3*1",
                                          "6 tasks 2 units generation 99999999999: 3*0 3*1",
                                          "6 tasks 2 units generation 1 3*0 3*1",
                                          "6 tasks 2 units 1: 3*0 3*1",
                                          "6 tasks 2 units generation 1: 3*0 2*1"};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            snprintf(want, sizeof want, "%s %s", evn_schedule_text(s), bad[k]);
            assert_fails(evn_schedule_import(then, want), EVN_USAGE, "6 tasks");
            again = evn_schedule_export(then);
            assert_string_equal(again, text);
            free(again);
        }
        free(text);
    }
}

/* Moves are bounded where that is asked for, and units are even all the same, by and by. */
TEST(bounded) {
    const struct result r = adapt("map", 4, 10, 0, 0.05, 0);
    assert_true(r.moved <= 0.05);
    if (r.over > 1.15) fail_msg("%.3f of the ideal", r.over);
}

RUN_TESTS(NULL, NULL)
