/* FT against a plain implementation that shares nothing with it: whole runs, with lines of all
 * lengths along each axis; and who has which lines. Run: ctest -R '^ft$'. */
#include "check.h"
#include "ft/classes.h"
#include "ft/ft.h"
#include "ft/owners.h"
#include "ft/plain.h"

#include <math.h>

/* ---- who has what ------------------------------------------------------------------------ */

/* Ranks that have tasks here and there, and one that has none. */
TEST(owners) {
    ENDS(owners_close) struct owners o;
    const int n[3] = {8, 8, 4}, rank[4] = {3, 0, 3, 1};
    assert_int_equal(owners_open(&o, n, 4, 4, 0), 0);
    owners_deal(&o, rank, NULL);
    const int count[4] = {1, 1, 0, 2}, base[4] = {0, 1, 2, 2}, at[4] = {0, 0, 1, 0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(o.z.count[i], count[i]);
        assert_int_equal(o.y.count[i], 2 * count[i]);
        assert_int_equal(o.z.base[i], base[i]);
        assert_int_equal(o.y.base[i], 2 * base[i]);
        assert_int_equal(o.z.rank[i], rank[i]);
        assert_int_equal(o.z.at[i], at[i]);
        for (int j = 0; j < 2; j++) {
            assert_int_equal(o.y.rank[2 * i + j], rank[i]);
            assert_int_equal(o.y.at[2 * i + j], 2 * at[i] + j);
        }
    }
}

/* A rank with three spaces, whose lines lie space after space; another rank has two. */
TEST(spaces) {
    ENDS(owners_close) struct owners o;
    const int n[3] = {8, 12, 6}, rank[6] = {1, 0, 1, 1, 0, 1}, space[6] = {2, 1, 0, 2, 0, 0};
    assert_int_equal(owners_open(&o, n, 6, 2, 1), 0);
    assert_true(owners_on_hosts(&o));
    assert_int_equal(owners_spaces(&o, 3), 0);
    owners_deal(&o, rank, space);
    assert_false(owners_on_hosts(&o));
    const int at[6] = {2, 1, 0, 3, 0, 1}, begin[4] = {0, 2, 2, 4}, host[2] = {1, 2};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(o.z.at[i], at[i]);
        assert_int_equal(o.z.space[i], space[i]);
        assert_int_equal(o.y.at[2 * i + 1], 2 * at[i] + 1);
        assert_int_equal(o.y.space[2 * i + 1], space[i]);
    }
    for (int s = 0; s < 4; s++) {
        assert_int_equal(o.z.begin[s], begin[s]);
        assert_int_equal(o.y.begin[s], 2 * begin[s]);
    }
    for (int r = 0; r < 2; r++) assert_int_equal(o.z.host[r], host[r]);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* Checksums of a run on two units. */
static ft_result run(ft *problem, int transposes) {
    ft_result result;
    evn_problem tasks = ft_tasks(problem);
    OWN(machine) *machine = OPEN(machine);
    OWN(units) *units = OPEN(units, machine, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE);
    tasks.units = 2;
    OWN(schedule) *schedule = OPEN(schedule, "static", &tasks);
    assert_ok(ft_run(problem, &(struct ft_way){.transposes = transposes}, units, schedule,
                     &(struct run_options){.steps = -1}, &result));
    return result;
}

static void compare(ft *problem, const double complex *sum, double within) {
    for (int transposes = 1; transposes <= 2; transposes++) {
        ft_result r = run(problem, transposes);
        for (int i = 0; i < r.run.steps; i++) {
            const double complex is = r.checksum[i][0] + I * r.checksum[i][1];
            assert_true(cabs(is - sum[i]) <= within * cabs(sum[i]));
        }
        ft_result_free(&r);
    }
}

TEST(as_plain) {
    static const int size[][3] = {{8, 2, 2},    {8, 4, 32},   {64, 8, 16},  {128, 16, 4},
                                  {16, 64, 2},  {256, 2, 2},  {512, 2, 4},  {1024, 4, 2},
                                  {16, 128, 2}, {8, 256, 4},  {16, 512, 2}, {8, 1024, 2},
                                  {16, 2, 8},   {8, 2, 64},   {16, 4, 128}, {8, 2, 256},
                                  {8, 4, 512},  {8, 2, 1024}, {32, 2, 2}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        ft *problem;
        double complex sum[6];
        free(plain_ft(size[i], 6, sum));
        assert_ok(ft_open_size(&problem, (long[]){size[i][0], size[i][1], size[i][2]}));
        compare(problem, sum, 4e-14); /* the longest lines round the most */
        ft_close(problem);
    }
}

TEST(official) {
    for (const char *c = getenv("EVENER_TEST_LONG") ? "SW" : "S"; *c; c++) {
        ft *problem;
        double complex sum[6];
        assert_ok(ft_open_class(&problem, *c));
        const ft_shape shape = ft_describe(problem);
        free(plain_ft(shape.n, shape.steps, sum));
        for (int i = 0; i < shape.steps; i++) {
            const double *right = ft_official(problem, i + 1);
            assert_true(cabs(sum[i] - (right[0] + I * right[1])) <= 1e-12 * cabs(sum[i]));
        }
        compare(problem, sum, 2e-14);
        ft_close(problem);
    }
}

TEST(problems) {
    ft *problem;
    for (const char *c = "SWABCDEF"; *c; c++) {
        assert_ok(ft_open_class(&problem, *c));
        const ft_shape shape = ft_describe(problem);
        const evn_problem tasks = ft_tasks(problem);
        assert_int_equal(tasks.tasks, shape.n[1] < shape.n[2] ? shape.n[1] : shape.n[2]);
        assert_non_null(ft_official(problem, 1));
        assert_non_null(ft_official(problem, shape.steps));
        assert_null(ft_official(problem, 0));
        assert_null(ft_official(problem, shape.steps + 1));
        ft_close(problem);
    }
    const long bad[][3] = {{4, 8, 8}, {8, 1, 8}, {8, 8, 1}, {24, 8, 8}, {8, 8, 32768}, {-8, 8, 8}};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(ft_open_size(&problem, bad[i]), EVN_USAGE);
        assert_null(problem);
    }
    assert_int_equal(ft_open_class(&problem, 'X'), EVN_USAGE);
}

RUN_TESTS(NULL, NULL)
