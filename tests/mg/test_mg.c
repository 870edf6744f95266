/* MG against a plain implementation that shares nothing with it: charges, fields and norms,
 * whatever the ranges in which the grid is swept. Run: ctest -R '^mg$'. Official norms are
 * command-mg's. */
#include "check.h"
#include "common/run/npb_random.h"
#include "mg/blocks/blocks.h"
#include "common/run/huge_alloc.h"
#include "mg/mg.h"
#include "mg/plain.h"
#include "mg/slabs/sweep.h"

#include <math.h>

/* ---- the generator, and what comes of it ---------------------------------------------------- */

TEST(numbers) {
    uint64_t x = NPB_RANDOM_SEED;
    const uint64_t first[] = {55909509111989, 61155031930969, 45573031421645, 55279057169489};
    for (int i = 0; i < 4; i++) {
        x = npb_random_next(x);
        assert_int_equal(x, first[i]);
        assert_int_equal(npb_random_at((uint64_t)i + 1), first[i]);
    }
    assert_int_equal(npb_random_at(1000), 39923673819009);
    assert_int_equal(npb_random_at(1000000), 50447193586593);
    assert_int_equal(npb_random_at((uint64_t)1 << 30), 62616642367649);
    assert_int_equal(npb_random_at((uint64_t)1 << 38), 56075407175841);
    assert_true(npb_random_value(first[0]) == 0.7945219111887383);
}

/* The charges of n points a side, looked for in parts of `planes` planes. */
static struct charges charges_of(int n, int planes, double wanted) {
    static struct candidate found[4096];
    struct charges charges;
    int count = 0;
    for (int k = 0; k < n; k += planes)
        count += charges_look(n, k, k + planes, wanted, found + count, 4096 - count);
    assert_int_equal(charges_choose(&charges, n, found, count), 0);
    return charges;
}

TEST(same_charges) {
    for (int n = 16; n <= 64; n *= 2)
        for (int planes = 1; planes <= n; planes *= 4) {
            int plain[20][4], same = 0;
            plain_charges(n, plain);
            const struct charges c = charges_of(n, planes, 64);
            for (int i = 0; i < 20; i++)
                for (int j = 0; j < 20; j++)
                    same += c.at[i].x == plain[j][0] && c.at[i].y == plain[j][1] &&
                            c.at[i].z == plain[j][2] && c.at[i].value == plain[j][3];
            assert_int_equal(same, 20);
        }
}

/* As published for class S. */
TEST(published_charges) {
    static const int some[][4] = {{7, 1, 20, 1},  {19, 29, 31, 1},  {17, 26, 17, 1},
                                  {0, 11, 2, -1}, {26, 15, 31, -1}, {7, 14, 26, -1}};
    const struct charges c = charges_of(32, 4, 64);
    for (int i = 0; i < 6; i++) {
        int found = 0;
        for (int q = 0; q < CHARGES; q++)
            found += c.at[q].x == some[i][0] && c.at[q].y == some[i][1] &&
                     c.at[q].z == some[i][2] && c.at[q].value == some[i][3];
        assert_int_equal(found, 1);
    }
}

TEST(too_few_charges) {
    struct candidate found[64];
    struct charges charges;
    const int count = charges_look(32, 0, 32, 5, found, 64);
    assert_true(count < 20);
    assert_int_equal(charges_choose(&charges, 32, found, count), -1);
    assert_int_equal(charges_look(32, 0, 32, 64, found, 1) > 20, 1); /* counted, not written */
}

/* ---- fields --------------------------------------------------------------------------------- */

/* What the library computes, swept in `cuts` ranges, and in strips where there are several. */
struct computed {
    struct problem p;
    double norm;
};

static void cycles(struct problem *p, struct work *work, double *aside, int steps, int cuts) {
    const int top = p->grid.finest, n = p->grid.level[top].n, planes = n / cuts;
    const ptrdiff_t room = SWEEP_ASIDE * p->grid.level[top].plane;
    for (int q = 0; q < cuts; q++)
        sweep_residual(p, work, q * planes, (q + 1) * planes, SWEEP_RESTRICT | SWEEP_SQUARES);
    for (int s = 1; s <= steps; s++) {
        const int what = s < steps ? SWEEP_RESTRICT : SWEEP_SQUARES;
        sweep_below(p, work, top - 1);
        for (int q = 0; q < cuts; q++)
            sweep_aside(p, q * planes, (q + 1) * planes, aside + q * room);
        for (int q = cuts - 1; q >= 0; q--) /* in whatever order */
            sweep_up(p, work, top, q * planes, (q + 1) * planes, aside + q * room, what);
        for (int q = 0; q < cuts; q++) sweep_edges(p, work, q * planes, (q + 1) * planes, what);
    }
}

static struct computed compute(int n, int steps, int b, int cuts) {
    struct computed c = {.p.smoother = b ? (struct smoother){-3.0 / 17, 1.0 / 33, -1.0 / 61}
                                         : (struct smoother){-3.0 / 8, 1.0 / 32, -1.0 / 64},
                         .p.charges = charges_of(n, n, 64),
                         .p.square = calloc(8 * (size_t)n, sizeof(double))};
    ENDS(work_close) struct work work;
    assert_ok(grid_open(&c.p.grid, n));
    assert_int_equal(work_open(&work, n), 0);
    if (cuts > 1) work.strip = 1; /* the narrowest */
    /* whatever is not u of the finest level is computed before it is read */
    const struct level *level = &c.p.grid.level[c.p.grid.finest];
    memset(c.p.grid.memory, 0xff, c.p.grid.bytes);
    memset(work.memory, 0xff, (size_t)work_doubles(n) * sizeof(double));
    memset(level->u, 0, (size_t)(level->plane * n) * sizeof(double));
    HEAP double *aside = room((size_t)(cuts * SWEEP_ASIDE * level->plane) * sizeof(double));
    assert_non_null(aside);
    cycles(&c.p, &work, aside, steps, cuts);
    double sum = 0;
    for (int i = 0; i < 8 * n; i++) sum += c.p.square[i];
    c.norm = sqrt(sum / n / n / n);
    return c;
}

static void give_back(struct computed *c) {
    free(c->p.square);
    grid_close(&c->p.grid);
}

static const double *row_of(const struct computed *c, int j, int k) {
    const struct level *level = &c->p.grid.level[c->p.grid.finest];
    return level->u + j * level->row + k * level->plane;
}

TEST(as_plain) {
    for (int n = 16; n <= 64; n *= 2)
        for (int b = 0; b < 2; b++)
            for (int steps = 0; steps <= 3; steps++) {
                double norm, most = 0;
                double *plain = plain_mg(n, steps, b, &norm);
                struct computed c = compute(n, steps, b, 1);
                for (int k = 0; k < n; k++)
                    for (int j = 0; j < n; j++)
                        for (int i = 0; i < n; i++)
                            most =
                                fmax(most, fabs(row_of(&c, j, k)[i] - plain[i + n * (j + n * k)]));
                assert_true(most < 2e-15);
                assert_true(fabs(c.norm - norm) < 1e-13 * norm);
                free(plain);
                give_back(&c);
            }
}

/* Largest distance of a block of all of the cube from the plain fields. */
static double distance(const struct blocks *b, const double *plain) {
    const struct block_field *u = &b->level[b->finest].u;
    const int n = u->l[0];
    double most = 0;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                most = fmax(most, fabs(u->at[i + 1 + (n + 2) * (j + 1 + (n + 2) * (k + 1))] -
                                       plain[i + n * (j + n * k)]));
    return most;
}

/* Operator after operator, in one block; faces first or not; both smoothers. */
TEST(blocks_as_plain) {
    for (int n = 16; n <= 32; n *= 2)
        for (int how = 0; how < 4; how++) {
            const struct charges charges = charges_of(n, n, 64);
            double norm;
            HEAP double *plain = plain_mg(n, 3, how & 1, &norm);
            ENDS(blocks_close) struct blocks b;
            assert_ok(blocks_open(&b, NULL, n, how & 1 ? 'b' : 'a', 1 + how / 2, 0, 0));
            b.overlap = how / 2;
            blocks_start(&b, &charges);
            assert_ok(blocks_residual(&b));
            for (int i = 0; i < 3; i++) assert_ok(blocks_cycle(&b));
            assert_true(distance(&b, plain) < 2e-15);
            assert_true(fabs(sqrt(blocks_squares(&b) / pow(n, 3)) - norm) < 1e-13 * norm);
        }
}

/* The reference's grids of ranks, and where there are points for all of them. */
TEST(grids) {
    static const int of[][4] = {{1, 1, 1, 1},  {2, 1, 1, 2},  {4, 1, 2, 2}, {8, 2, 2, 2},
                                {16, 2, 2, 4}, {32, 2, 4, 4}, {64, 4, 4, 4}};
    for (int i = 0; i < 7; i++) {
        int grid[3];
        faces_grid(of[i][0], grid);
        assert_memory_equal(grid, &of[i][1], sizeof grid);
    }
    assert_int_equal(blocks_whole(32, 8), 0);
    assert_int_equal(blocks_whole(32, 16), 2);
    assert_int_equal(blocks_whole(16, 512), 3);
    assert_int_equal(blocks_whole(16, 1024), -1);
}

/* Ranges of four planes, of eight, .., of all: the same bits, of the norm, too. */
TEST(the_same_bits) {
    for (int n = 16; n <= 64; n *= 2) {
        struct computed whole = compute(n, 3, 0, 1);
        for (int cuts = 2; cuts <= n / 2; cuts *= 2) {
            struct computed c = compute(n, 3, 0, cuts);
            for (int k = 0; k < n; k++)
                for (int j = 0; j < n; j++)
                    assert_memory_equal(row_of(&c, j, k), row_of(&whole, j, k),
                                        (size_t)n * sizeof(double));
            assert_memory_equal(c.p.square, whole.p.square, 8 * (size_t)n * sizeof(double));
            give_back(&c);
        }
        give_back(&whole);
    }
}

TEST(problems) {
    mg *problem;
    for (const char *c = "SWABCDEF"; *c; c++) {
        assert_ok(mg_open_class(&problem, *c));
        const mg_shape shape = mg_describe(problem);
        assert_true(mg_official(problem) > 0);
        const evn_problem tasks = mg_tasks(problem);
        assert_int_equal(tasks.tasks, shape.n / MG_PLANES);
        assert_int_equal(tasks.links, tasks.tasks);
        mg_close(problem);
    }
    const long bad[] = {-1, 0, 1, 8, 15, 17, 48, 8192};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(mg_open_size(&problem, bad[i], 'a'), EVN_USAGE);
        assert_null(problem);
    }
    assert_int_equal(mg_open_size(&problem, 32, 'c'), EVN_USAGE);
    assert_int_equal(mg_open_class(&problem, 'X'), EVN_USAGE);
    assert_ok(mg_open_size(&problem, 32, 'b'));
    assert_true(mg_official(problem) == 0);
    assert_int_equal(mg_choose(problem, (mg_way){.variant = MG_BULK}, 3), EVN_USAGE);
    assert_int_equal(mg_choose(problem, (mg_way){.variant = MG_BULK}, 1 << 20), EVN_USAGE);
    assert_ok(mg_choose(problem, (mg_way){.variant = MG_BULK}, 16));
    assert_int_equal(mg_tasks(problem).tasks, 16);
    mg_close(problem);
}

RUN_TESTS(NULL, NULL)
