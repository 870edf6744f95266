/* FT against a plain implementation that shares nothing with it: lines of all lengths along each
 * axis, both signs, the transposes, the field at the start, whole runs. Run: ctest -R '^ft$'. */
#include "check.h"
#include "ft/classes.h"
#include "ft/ft.h"
#include "ft/owners.h"
#include "ft/plain.h"
#include "ft/host/start.h"

#include <math.h>

/* ---- fields in packs ------------------------------------------------------------------------ */

struct box {
    struct transform t;
    double *planes, *slabs, *work;
    double **plane, **slab;
};

static double *memory(size_t doubles) {
    double *at = aligned_alloc(64, (doubles * sizeof *at + 63) / 64 * 64);
    assert_non_null(at);
    memset(at, 0xff, doubles * sizeof *at); /* not a number */
    return at;
}

static struct box box_open(int nx, int ny, int nz) {
    struct box b;
    assert_int_equal(transform_open(&b.t, nx, ny, nz), 0);
    b.planes = memory(transform_plane(&b.t) * (size_t)nz);
    b.slabs = memory(transform_slab(&b.t) * (size_t)ny);
    b.work = memory(transform_workspace(&b.t));
    b.plane = malloc((size_t)nz * sizeof *b.plane);
    b.slab = malloc((size_t)ny * sizeof *b.slab);
    for (int z = 0; z < nz; z++) b.plane[z] = b.planes + transform_plane(&b.t) * (size_t)z;
    for (int y = 0; y < ny; y++) b.slab[y] = b.slabs + transform_slab(&b.t) * (size_t)y;
    return b;
}

static void box_close(struct box *b) {
    free(b->planes);
    free(b->slabs);
    free(b->work);
    free(b->plane);
    free(b->slab);
    transform_close(&b->t);
}

/* Where the real part of a point is in layout Z and in layout Y; the imaginary part is 8 on. */
static double *in_plane(const struct box *b, int x, int y, int z) {
    return b->plane[z] + y * b->t.row + x / 8 * 16 + x % 8;
}
static double *in_slab(const struct box *b, int x, int y, int z) {
    return b->slab[y] + ((ptrdiff_t)(x / 8) * b->t.nz + z) * 16 + x % 8;
}

typedef double *where(const struct box *b, int x, int y, int z);

static double complex get(const double *at) { return at[0] + I * at[8]; }

/* As good as random, between -1 and 1. */
static double complex value(int x, int y, int z) {
    const uint64_t n = ((uint64_t)z * 4096 + (uint64_t)y) * 4096 + (uint64_t)x + 1;
    const uint64_t m = n * UINT64_C(0x9e3779b97f4a7c15),
                   q = (m ^ m >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (int32_t)(q >> 32) * 0x1p-31 + I * ((int32_t)(q & 0xffffffff) * 0x1p-31);
}

static void fill(struct box *b, where *at) {
    for (int z = 0; z < b->t.nz; z++)
        for (int y = 0; y < b->t.ny; y++)
            for (int x = 0; x < b->t.nx; x++) {
                at(b, x, y, z)[0] = creal(value(x, y, z));
                at(b, x, y, z)[8] = cimag(value(x, y, z));
            }
}

/* Point i of the line along `axis` through (x, y, z). */
static void on_line(int axis, int i, int at[3]) { at[axis] = i; }

static double factor_of(const struct decay *e, const int at[3]) {
    return e ? e->x[at[0]] * e->y[at[1]] * e->z[at[2]] : 1;
}

/* The largest error of the lines along `axis` in what is at `at`, of values that `decay` (NULL:
 * nothing) has been multiplied to, over what rounding is expected to leave: epsilon times the
 * passes and the values' norm. */
static double error(const struct box *b, where *at, int axis, int sign, const struct decay *e) {
    const int n[3] = {b->t.nx, b->t.ny, b->t.nz}, length = n[axis];
    double complex *in = malloc((size_t)length * sizeof *in),
                   *out = malloc((size_t)length * sizeof *out);
    double most = 0;
    /* of long lines some */
    for (int u = 0, p[3]; u < n[(axis + 1) % 3]; u++)
        for (int v = 0; v < n[(axis + 2) % 3]; v++) {
            if (length > 64 && (u * n[(axis + 2) % 3] + v) % 5) continue;
            p[(axis + 1) % 3] = u;
            p[(axis + 2) % 3] = v;
            for (int i = 0; i < length; i++) {
                on_line(axis, i, p);
                in[i] = value(p[0], p[1], p[2]) * factor_of(e, p);
            }
            plain_line(length, sign, in, out);
            for (int i = 0; i < length; i++) {
                on_line(axis, i, p);
                const double off = cabs(get(at(b, p[0], p[1], p[2])) - out[i]);
                if (!(off <= most)) most = off;
            }
        }
    free(in);
    free(out);
    return most / (2.2e-16 * (2 + log2(length)) * sqrt(length));
}

static const enum line_sign signs[] = {LINE_MINUS, LINE_PLUS};
static const int sign_of[] = {-1, 1};

/* ---- lines ---------------------------------------------------------------------------------- */

TEST(along_x) {
    for (int n = 8; n <= 1024; n *= 2)
        for (int s = 0; s < 2; s++) {
            struct box b = box_open(n, 4, 2);
            fill(&b, in_plane);
            for (int z = 0; z < 2; z++) {
                transform_x(&b.t, b.plane[z], 3, 4, signs[s], b.work);
                transform_x(&b.t, b.plane[z], 0, 3, signs[s], b.work);
            }
            assert_true(error(&b, in_plane, 0, sign_of[s], NULL) < 1);
            box_close(&b);
        }
}

TEST(along_y) {
    for (int n = 2; n <= 1024; n *= 2)
        for (int s = 0; s < 2; s++) {
            struct box b = box_open(16, n, 2);
            fill(&b, in_plane);
            for (int z = 0; z < 2; z++)
                for (int p = 0; p < 2; p++)
                    transform_y_to_slabs(&b.t, b.plane[z], z, b.slab, p, p + 1, signs[s], b.work);
            assert_true(error(&b, in_slab, 1, sign_of[s], NULL) < 1);
            for (int z = 0; z < 2; z++) transform_y(&b.t, b.plane[z], 0, 2, signs[s], b.work);
            assert_true(error(&b, in_plane, 1, sign_of[s], NULL) < 1);
            box_close(&b);
        }
}

TEST(along_z) {
    for (int n = 2; n <= 1024; n *= 2)
        for (int s = 0; s < 2; s++) {
            struct box b = box_open(16, 2, n);
            double *axes = malloc(((size_t)n + 18) * sizeof *axes);
            const struct decay decay = {axes, axes + 16, axes + 18};
            for (int i = 0; i < n + 18; i++) axes[i] = exp(-0.01 * i);
            fill(&b, in_slab);
            const struct decay *const with[] = {NULL, &decay};
            for (int d = 0; d < 4; d++) {
                b.t.past = d / 2; /* as of a field that is larger */
                for (int y = 0; y < 2; y++)
                    transform_z_to_planes(&b.t, b.slab[y], y, with[d % 2], b.plane, y * b.t.row, 0,
                                          2, y ? NULL : b.slab[1], signs[s], b.work);
                assert_true(error(&b, in_plane, 2, sign_of[s], with[d % 2]) < 1);
            }
            for (int y = 0; y < 2; y++) transform_z(&b.t, b.slab[y], 0, 2, signs[s], b.work);
            assert_true(error(&b, in_slab, 2, sign_of[s], NULL) < 1);
            free(axes);
            box_close(&b);
        }
}

/* ---- the start, and who has what ------------------------------------------------------------- */

TEST(start) {
    struct box b = box_open(16, 4, 2);
    for (int z = 1; z >= 0; z--) {
        start_rows(&b.t, b.plane[z], z, 2, 4);
        start_rows(&b.t, b.plane[z], z, 0, 2);
    }
    uint64_t x = 314159265;
    for (int i = 0; i < 16 * 4 * 2; i++) {
        const double *at = in_plane(&b, i % 16, i / 16 % 4, i / 64);
        x = x * 1220703125 % ((uint64_t)1 << 46);
        assert_true(at[0] == (double)x / 0x1p46);
        x = x * 1220703125 % ((uint64_t)1 << 46);
        assert_true(at[8] == (double)x / 0x1p46);
    }
    assert_true(*in_plane(&b, 0, 0, 0) == 0.7945219111887383);
    box_close(&b);
}

/* Ranks that have tasks here and there, and one that has none. */
TEST(owners) {
    struct owners o;
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
    owners_close(&o);
}

/* A rank with three spaces, whose lines lie space after space; another rank has two. */
TEST(spaces) {
    struct owners o;
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
    owners_close(&o);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* Checksums of a run on two units. */
static ft_result run(ft *problem, int transposes) {
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    ft_result result;
    evn_problem tasks = ft_tasks(problem);
    assert_ok(evn_machine_open(&machine));
    assert_ok(evn_units_open(&units, machine, "2:CPU:1", EVN_OVERSUBSCRIBE));
    tasks.units = 2;
    assert_ok(evn_schedule_open(&schedule, "static", &tasks));
    assert_ok(ft_run(problem, &(struct ft_way){.transposes = transposes}, units, schedule,
                     &(struct run_options){.steps = -1}, &result));
    evn_schedule_close(schedule);
    evn_units_close(units);
    evn_machine_close(machine);
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
    static const int size[][3] = {{8, 2, 2}, {8, 4, 32}, {64, 8, 16}, {128, 16, 4}, {16, 64, 2}};
    for (int i = 0; i < 5; i++) {
        ft *problem;
        double complex sum[6];
        free(plain_ft(size[i], 6, sum));
        assert_ok(ft_open_size(&problem, (long[]){size[i][0], size[i][1], size[i][2]}));
        compare(problem, sum, 2e-14);
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
