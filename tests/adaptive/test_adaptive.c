/* The adaptive mesh beside plain loops: trees stay covers of the square whose levels differ by one;
 * a run gives, to the last bit, the mesh and the values that a serial program gives which looks up
 * each ghost cell and each finer flux by its place in the square, on any units under any schedule;
 * what is conserved stays, and the error falls as that of a scheme of second order. Run:
 * ctest -R '^adaptive$' */
#include "check.h"
#include "adaptive/run.h"
#include <evener/change.h>
#include <math.h>

/* ---- trees --------------------------------------------------------------------------------- */

static unsigned draw(unsigned *state, unsigned below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* The leaf of each block of the finest level, in cover[side * side]. */
static void cover_with(const struct quadtree *tree, int *cover) {
    const int side = tree->roots << tree->levels;
    for (int i = 0; i < side * side; i++) cover[i] = -1;
    for (int t = 0; t < tree->leaves; t++) {
        const struct leaf *l = &tree->leaf[t];
        const int width = 1 << (tree->levels - l->level);
        for (int j = 0; j < width; j++)
            for (int i = 0; i < width; i++) {
                int *at = &cover[(l->y * width + j) * side + l->x * width + i];
                assert_int_equal(*at, -1); /* no two leaves overlap */
                *at = t;
            }
    }
    for (int i = 0; i < side * side; i++) assert_true(cover[i] >= 0);
}

static void check_balance(const struct quadtree *tree, const int *cover) {
    const int side = tree->roots << tree->levels;
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++) {
            const int here = cover[j * side + i];
            const int right = cover[j * side + (i + 1) % side];
            const int above = cover[(j + 1) % side * side + i];
            assert_true(abs(tree->leaf[here].level - tree->leaf[right].level) <= 1);
            assert_true(abs(tree->leaf[here].level - tree->leaf[above].level) <= 1);
        }
}

/* Origins lie where their leaf does; kept leaves are what they were. */
static void check_origins(const struct change *c, const struct quadtree *before, const int *old,
                          const int *cover) {
    const int side = before->roots << before->levels;
    int born = 0;
    for (int t = 0; t < c->next.leaves; t++) {
        const struct leaf *l = &c->next.leaf[t], *from = &before->leaf[c->from[c->first[t]]];
        const int origins = c->first[t + 1] - c->first[t];
        born += !c->kept[t];
        assert_int_equal(origins, l->level < from->level ? 4 : 1);
        assert_int_equal(c->kept[t], l->level == from->level);
        assert_true(abs(l->level - from->level) <= 1);
    }
    assert_int_equal(born, c->born);
    for (int i = 0; i < side * side; i++) {
        int found = 0;
        for (int o = c->first[cover[i]]; o < c->first[cover[i] + 1]; o++)
            found |= c->from[o] == old[i];
        assert_true(found);
    }
}

TEST(trees) {
    enum { ROOTS = 3, LEVELS = 3, SIDE = ROOTS << LEVELS };
    static int old[SIDE * SIDE], cover[SIDE * SIDE];
    unsigned seed = 3;
    ENDS(quadtree_close) struct quadtree tree;
    assert_int_equal(quadtree_open(&tree, ROOTS, LEVELS), 0);
    cover_with(&tree, old);
    for (int n = 0; n < 200; n++) {
        ENDS(quadtree_change_close) struct change c;
        signed char want[SIDE * SIDE];
        for (int t = 0; t < tree.leaves; t++)
            want[t] = (signed char)(draw(&seed, 8) == 0  ? 1
                                    : draw(&seed, 3) > 0 ? -(n % 7 > 2)
                                                         : 0);
        assert_int_equal(quadtree_change(&c, &tree, want), 0);
        cover_with(&c.next, cover);
        check_balance(&c.next, cover);
        check_origins(&c, &tree, old, cover);
        for (int t = 0; t < tree.leaves; t++) /* what is wanted finer is */
            if (want[t] > 0 && tree.leaf[t].level < LEVELS)
                for (int i = 0; i < SIDE * SIDE; i++)
                    if (old[i] == t)
                        assert_int_equal(c.next.leaf[cover[i]].level, tree.leaf[t].level + 1);
        memcpy(old, cover, sizeof old);
        quadtree_close(&tree);
        tree = c.next;
    }
}

/* ---- a plain program ----------------------------------------------------------------------- */

/* The leaf of a cell by its place at a level, one leaf after another. */
static int leaf_at(const struct mesh *m, int level, int x, int y) {
    const int side = (m->tree.roots << level) * CELLS;
    x = (x + side) % side;
    y = (y + side) % side;
    for (int t = 0; t < m->tree.leaves; t++) {
        const struct leaf *l = &m->tree.leaf[t];
        const int down = level - l->level;
        const int cx = down >= 0 ? x >> down : x << -down, cy = down >= 0 ? y >> down : y << -down;
        if (cx / CELLS == l->x && cy / CELLS == l->y) return t;
    }
    fail_msg("no leaf has cell %d %d of level %d", x, y, level);
    return -1;
}

/* Field k in a cell of a level, from the leaf that covers it, which may be one level off. */
static double value_at(const struct mesh *m, int k, int level, int x, int y) {
    const int side = (m->tree.roots << level) * CELLS;
    x = (x + side) % side;
    y = (y + side) % side;
    const int t = leaf_at(m, level, x, y), at = m->tree.leaf[t].level;
    const double(*u)[PITCH] = (const double(*)[PITCH])m->block[t]->u[k];
    if (at == level) return u[y % CELLS + GHOSTS][x % CELLS + GHOSTS];
    assert_int_equal(at, level - 1); /* means of finer ones: mean_at() */
    return u[y / 2 % CELLS + GHOSTS][x / 2 % CELLS + GHOSTS];
}

/* The mean of four finer cells, summed as a face of that side does: across the side first. */
static double mean_at(const struct mesh *m, int k, int level, int x, int y, int side) {
    double v[2][2], sum = 0;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) v[j][i] = value_at(m, k, level + 1, 2 * x + i, 2 * y + j);
    for (int out = 0; out < 2; out++)
        for (int along = 0; along < 2; along++) {
            const int across = side % 2 ? out : 1 - out;
            sum += side < 2 ? v[along][across] : v[across][along];
        }
    return sum / 4;
}

static void fill_ghosts(struct mesh *m, int t) {
    const struct leaf *l = &m->tree.leaf[t];
    for (int side = 0; side < SIDES; side++)
        for (int along = 0; along < CELLS; along++)
            for (int out = 0; out < GHOSTS; out++) {
                const int across = side % 2 ? CELLS + out : -1 - out;
                const int i = side < 2 ? across : along, j = side < 2 ? along : across;
                const int x = l->x * CELLS + i, y = l->y * CELLS + j;
                for (int k = 0; k < FIELDS; k++)
                    m->block[t]->u[k][j + GHOSTS][i + GHOSTS] =
                        m->beyond[t].finer[side] ? mean_at(m, k, l->level, x, y, side)
                                                 : value_at(m, k, l->level, x, y);
            }
}

/* Means of the two fluxes of finer cells that touch a cell's side. */
static void fill_finer(struct mesh *m, int t) {
    const struct leaf *l = &m->tree.leaf[t];
    for (int side = 0; side < SIDES; side++)
        for (int along = 0; along < CELLS && m->beyond[t].finer[side]; along++) {
            const int across = side % 2 ? CELLS : -1;
            const int x = 2 * (l->x * CELLS + (side < 2 ? across : along)) + (side == 0);
            const int y = 2 * (l->y * CELLS + (side < 2 ? along : across)) + (side == 2);
            const int n = leaf_at(m, l->level + 1, x, y);
            const int first = 2 * along % CELLS;
            for (int k = 0; k < FIELDS; k++) {
                const double *f = &m->block[n]->flux[side ^ 1][k][first];
                m->block[t]->finer[side][k][along] = (f[0] + f[1]) / 2;
            }
        }
}

/* What adaptive_run() decides, from the same steepness. */
static void plain_change(struct mesh *m) {
    signed char *want = malloc((size_t)m->tree.leaves);
    ENDS(quadtree_change_close) struct change c;
    struct mesh before;
    for (int t = 0; t < m->tree.leaves; t++) {
        const struct frame f = mesh_frame(m, t);
        const double steep = block_steepness(m->block[t]) / f.h;
        const double limit = 0.03 * ldexp(1, m->tree.leaf[t].level);
        want[t] = (signed char)(steep > limit ? 1 : steep < limit / 4 ? -1 : 0);
    }
    assert_int_equal(quadtree_change(&c, &m->tree, want), 0);
    if (c.born) {
        assert_int_equal(mesh_change(m, &c, 1, &before), 0);
        for (int t = 0; t < m->tree.leaves; t++)
            if (!c.kept[t]) mesh_bear(m, t, &c, &before);
        mesh_forget(&before, &c);
    }
    quadtree_close(&c.next);
    free(want);
}

static void plain_run(struct mesh *m, const struct problem *p, int steps) {
    const double dt = 0.8 * mesh_finest(m) / 5.8;
    for (int n = 1; n <= steps; n++) {
        for (int stage = 0; stage < 2; stage++) {
            for (int t = 0; t < m->tree.leaves; t++) fill_ghosts(m, t);
            for (int t = 0; t < m->tree.leaves; t++)
                block_stage(m->block[t], stage, dt, mesh_frame(m, t).h, m->beyond[t].coarser);
        }
        for (int t = 0; t < m->tree.leaves; t++) fill_finer(m, t);
        for (int t = 0; t < m->tree.leaves; t++)
            block_correct(m->block[t], dt, mesh_frame(m, t).h, m->beyond[t].finer);
        if (n % p->every == 0) plain_change(m);
    }
}

/* ---- runs ---------------------------------------------------------------------------------- */

static struct outcome run(struct mesh *m, const struct problem *p, const char *list,
                          const char *schedule, int steps) {
    OWN(schedule) *s;
    struct outcome o = {0};
    const struct run_options options = {.steps = steps};
    assert_int_equal(adaptive_begin(m, p), 0);
    OWN(machine) *machine = OPEN(machine);
    OWN(units) *units = OPEN(units, machine, list, NULL, EVN_OVERSUBSCRIBE);
    assert_ok(evn_schedule_open(
        &s, schedule, &(evn_problem){.tasks = m->tree.leaves, .units = evn_units_count(units)}));
    assert_ok(adaptive_run(m, p, units, s, &options, steps, &o));
    return o;
}

static void same(const struct mesh *a, const struct mesh *b, const char *what) {
    if (a->tree.leaves != b->tree.leaves)
        fail_msg("%s: %d blocks instead of %d", what, a->tree.leaves, b->tree.leaves);
    for (int t = 0; t < a->tree.leaves; t++) {
        assert_memory_equal(&a->tree.leaf[t], &b->tree.leaf[t], sizeof a->tree.leaf[t]);
        for (int k = 0; k < FIELDS; k++)
            for (int j = GHOSTS; j < CELLS + GHOSTS; j++)
                if (memcmp(&a->block[t]->u[k][j][GHOSTS], &b->block[t]->u[k][j][GHOSTS],
                           CELLS * sizeof(double)))
                    fail_msg("%s: row %d of field %d of block %d differs", what, j, k, t);
    }
}

TEST(as_a_plain_program) {
    static const char *const lists[] = {"1:CPU:1", "2:CPU:1", "3:CPU:1", "1:CPU:2"};
    static const char *const schedules[] = {"map",         "auto",     "static",
                                            "dynamic",     "binpack",  "binpack:time",
                                            "guided:time", "weighted", "interval"};
    const struct problem p = {.size = 32, .levels = 2, .every = 3};
    ENDS(adaptive_mesh_close) struct mesh plain;
    assert_int_equal(adaptive_begin(&plain, &p), 0);
    const int is_long = getenv("EVENER_TEST_LONG") != NULL, steps = is_long ? 240 : 160;
    plain_run(&plain, &p, steps);
    uint64_t hash = 0;
    for (int l = 0; l < 4; l++)
        for (int s = 0; s < (l == 1 ? 9 : 1 + is_long); s++) {
            ENDS(adaptive_mesh_close) struct mesh m;
            char what[64];
            snprintf(what, sizeof what, "%s %s", lists[l], schedules[s]);
            struct outcome o = run(&m, &p, lists[l], schedules[s], steps);
            same(&m, &plain, what);
            assert_true(!hash || o.run.hash == hash);
            hash = o.run.hash;
            assert_true(o.changes >= 3 && o.born > 8 && o.gone > 8);
            assert_int_equal(o.run.tasks, m.tree.leaves);
            outcome_free(&o);
        }
}

/* To the same time in twice as many steps of cells of half the side, the same number of levels. */
TEST(order) {
    double error[2][2];
    for (int levels = 0; levels < 2; levels++)
        for (int fine = 0; fine < 2; fine++) {
            ENDS(adaptive_mesh_close) struct mesh m;
            const struct problem p = {.size = 64 << fine, .levels = levels, .every = 4};
            struct outcome o = run(&m, &p, "2:CPU:1", "map", 40 << (fine + levels));
            assert_true(fabs(o.mass_drift) < 1e-13 && fabs(o.energy_drift) < 1e-13);
            assert_int_equal(o.run.verified, 1);
            error[levels][fine] = o.error;
            outcome_free(&o);
        }
    for (int levels = 0; levels < 2; levels++)
        if (!(error[levels][0] / error[levels][1] > 3.5))
            fail_msg("%d levels: errors %.3e and %.3e", levels, error[levels][0], error[levels][1]);
    /* a level more is as good as cells of half the side everywhere */
    assert_true(error[1][0] < 1.2 * error[0][1]);
}

RUN_TESTS(NULL, NULL)
