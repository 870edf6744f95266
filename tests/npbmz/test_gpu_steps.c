/* The kernels of BT-MZ, SP-MZ and LU-MZ against the host's solvers, another implementation:
 * zones of unequal shapes in one batch with random gases, the bits where nothing is fused; how many
 * launches a step takes, and what it reads and leaves alone. Official runs are command-hash's. The
 * device is check.h's. Run: ctest -R '^gpu_steps$' */
#define NPBMZ_ITEM
#include "npbmz/lu/wave.h"

#include "both.h"
#include "check.h"
#include "npbmz/bt/bt_gpu.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/sp/sp_zone.h"
#include "padding.h"

#include <math.h>

extern const evn_kernel_source bt_kernels, sp_kernels, lu_kernels;

/* BT: from the least there is, 3 interior points, to several segments on each side; odd and even;
 * 16 and 17 lines, a group and one more. */
static const int of_bt[][3] = {
    {5, 5, 5},   {6, 6, 6},    {13, 8, 28}, {29, 6, 8},   {18, 5, 7},   {16, 11, 17},
    {5, 7, 9},   {9, 7, 5},    {37, 10, 6}, {19, 24, 12}, {6, 35, 23},  {10, 18, 19},
    {22, 23, 9}, {11, 12, 30}, {8, 13, 14}, {7, 33, 10},  {57, 38, 28}, {300, 12, 6},
};
/* SP: groups that are full, that are not, and one line more; in each direction lines of two
 * windows, of just one, and of three. */
static const int of_sp[][3] = {
    {5, 5, 5},  {6, 6, 6},  {7, 5, 6},  {6, 10, 18}, {18, 18, 5},  {19, 7, 18},  {13, 8, 28},
    {9, 11, 5}, {34, 6, 7}, {35, 5, 8}, {67, 6, 7},  {8, 34, 6},   {7, 35, 9},   {6, 70, 6},
    {9, 6, 34}, {5, 8, 35}, {6, 7, 75}, {131, 5, 6}, {32, 32, 16}, {38, 26, 17}, {64, 35, 6},
};
/* LU: one bundle and many; bundles that are full and that stick out by all but one line; lines
 * shorter than a bundle is wide, and longer than all of a wave's launches. */
static const int of_lu[][3] = {
    {6, 6, 6},  {5, 5, 5},   {16, 16, 8},  {29, 6, 8},  {57, 38, 28}, {13, 11, 17}, {17, 26, 5},
    {9, 43, 7}, {76, 10, 6}, {12, 18, 10}, {7, 34, 18}, {21, 19, 11}, {5, 35, 27},  {140, 8, 12},
};
#define ALL(shape) shape, sizeof shape / sizeof *shape

static const struct subject {
    enum npbmz_benchmark benchmark;
    const struct gpu_solver *solver;
    const evn_kernel_source *kernels;
    double few;   /* length of a step; after a few the gas is one still */
    int launches; /* of a step; 0: as many as the largest zone asks for */
    const int (*shape)[3];
    int shapes;
} subjects[] = {{NPBMZ_BT, &gpu_bt, &bt_kernels, 0.01, 4, ALL(of_bt)},
                {NPBMZ_SP, &gpu_sp, &sp_kernels, 0.0003, 4, ALL(of_sp)},
                {NPBMZ_LU, &gpu_lu, &lu_kernels, 0.01, 0, ALL(of_lu)}};
enum { SUBJECTS = 3, MOST = 32 };
#define EACH(s) for (const struct subject *s = subjects; s < subjects + SUBJECTS; s++)

/* `zones` shapes from number `first` on. */
static void open_zones(struct both *b, const struct subject *s, double dt, int first, int zones) {
    both_zones(b, s->benchmark, dt, s->shape + first, zones);
    both_device(b, s->solver, 0);
}

/* ---- numbers ------------------------------------------------------------------------------- */

TEST(same_as_host) {
    EACH(s) {
        ENDS(both_close) struct both b;
        open_zones(&b, s, s->few, 0, s->shapes);
        both_host_steps(&b, 3);
        both_device_steps(&b, 3);
        both_assert_alike(&b, s->kernels);
    }
}

/* Each shape by itself, where the number of steps of one of LU's launches is its own; and from the
 * same zone as in a batch. */
TEST(one_zone) {
    EACH(s)
    for (int n = 0; n < s->shapes; n++) {
        ENDS(both_close) struct both b;
        open_zones(&b, s, s->few, n, 1);
        both_host_steps(&b, 2);
        both_device_steps(&b, 2);
        both_assert_alike(&b, s->kernels);
    }
}

TEST(prepare_makes_the_residual) {
    ENDS(both_close) struct both b;
    const struct subject *lu = &subjects[2];
    open_zones(&b, lu, lu->few, 0, lu->shapes);
    for (int n = 0; n < b.p.zones; n++) b.p.solver->prepare(&b.p, &b.p.zone[n], &b.s, &both_alone);
    assert_ok(gpu_prepare(b.gpu));
    both_assert_alike(&b, &lu_kernels);
}

/* ---- what it reads ------------------------------------------------------------------------- */

static double other(ptrdiff_t n) { return n % 3 ? 1e3 * (double)(n % 17 - 8) : 0; }

/* Padding is finite and else has no say: the host steps with one, the device with another. */
TEST(padding) {
    EACH(s) {
        ENDS(both_close) struct both b;
        open_zones(&b, s, s->few, 0, s->shapes);
        for (int n = 0; n < s->shapes; n++) {
            padding_fill(&b.p.zone[n], b.p.zone[n].u, other);
            padding_fill(&b.p.zone[n], b.p.zone[n].f, other);
        }
        both_host_steps(&b, 1);
        both_device_steps(&b, 1);
        for (int n = 0; n < s->shapes; n++) {
            struct zone z = both_get(&b, n);
            both_assert_field(&z, n, s->kernels, "u", z.u, b.p.zone[n].u);
            zone_free(&z);
        }
    }
}

/* Puts NaN where the sweeps have no business: into all of u and r that is no interior point. */
static void poison(struct zone *z) {
    for (int m = 0; m < NC; m++)
        for (ptrdiff_t at = m ? 0 : -ZONE_SLACK; at < z->sc; at++) {
            const int k = (int)(at / z->sk), j = (int)(at % z->sk / z->sj);
            const int i = (int)(at % z->sk % z->sj);
            if (at < 0 || !both_interior(z, i, j, k))
                z->u[m * z->sc + at] = z->r[m * z->sc + at] = NAN;
        }
}

/* The ghosts come in after the sweeps: nothing there is used before the residual. */
TEST(sweeps_need_no_ghosts) {
    ENDS(both_close) struct both b;
    const struct subject *s = &subjects[2];
    const int zones = s->shapes;
    open_zones(&b, s, s->few, 0, zones);
    struct zone saved[MOST];
    for (int n = 0; n < zones; n++) {
        saved[n] = both_get(&b, n);
        poison(&b.p.zone[n]);
    }
    both_put(&b);
    assert_ok(gpu_step(b.gpu));
    for (int n = 0; n < zones; n++) {
        struct zone z = both_get(&b, n);
        for (int m = 0; m < NC; m++)
            for (int k = 0; k < z.nz; k++)
                for (int j = 0; j < z.ny; j++)
                    for (int i = 0; i < z.nx; i++) {
                        const ptrdiff_t at = m * z.sc + zone_at(&z, i, j, k);
                        if (both_interior(&z, i, j, k))
                            assert_true(isfinite(z.u[at]));
                        else
                            assert_true(isnan(z.u[at])); /* left alone */
                    }
        /* the interior as the sweeps have made it, and all else as it was */
        both_copy_interior(&z, saved[n].u, z.u);
        zone_free(&z);
        zone_free(&b.p.zone[n]);
        b.p.zone[n] = saved[n];
    }
    both_put(&b);
    assert_ok(gpu_finish(b.gpu));
    /* the host, from the start */
    ENDS(both_close) struct both c;
    both_zones(&c, NPBMZ_LU, s->few, s->shape, zones);
    both_host_steps(&c, 1);
    for (int n = 0; n < zones; n++) {
        struct zone z = both_get(&b, n);
        both_assert_field(&z, n, &lu_kernels, "u", z.u, c.p.zone[n].u);
        both_assert_field(&z, n, &lu_kernels, "r", z.r, c.p.zone[n].r);
        zone_free(&z);
    }
}

/* ---- what it costs ------------------------------------------------------------------------- */

/* Launches and nothing else, as many for all zones as for one. */
TEST(launches) {
    for (int n = 0; n < 2; n++)
        for (int zones = 1; zones <= subjects[n].shapes; zones += subjects[n].shapes - 1) {
            ENDS(both_close) struct both b;
            open_zones(&b, &subjects[n], subjects[n].few, 0, zones);
            assert_int_equal(both_launches(&b, 3), 3 * subjects[n].launches);
        }
}

/* LU's go with the extents of the largest zone. */
TEST(launches_of_lu) {
    static const int sizes[][4] = {/* extents, launches a step at most */
                                   {6, 6, 6, 3},
                                   {16, 16, 8, 3},
                                   {32, 32, 16, 15},
                                   {76, 52, 17, 27}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int shape[16][3];
        for (int n = 0; n < 16; n++) memcpy(shape[n], sizes[s], sizeof shape[n]);
        long long one = 0;
        for (int zones = 1; zones <= 16; zones += 15) {
            ENDS(both_close) struct both b;
            both_zones(&b, NPBMZ_LU, 0.01, (const int(*)[3])shape, zones);
            both_device(&b, &gpu_lu, 0);
            long long n = both_launches(&b, 2);
            assert_int_equal(n % 2, 0);
            if (zones == 1) one = n;
            assert_int_equal(n, one);
            assert_true(n <= 2 * sizes[s][3]);
        }
    }
}

/* A batch in parts takes more launches and gives the same. */
TEST(in_parts) {
    EACH(s) {
        ENDS(both_close) struct both b;
        open_zones(&b, s, s->few, 0, s->shapes);
        const size_t max_work = both_largest_work(&b, s->solver);
        const long long whole = both_launches(&b, 1);
        both_close(&b);
        both_zones(&b, s->benchmark, s->few, s->shape, s->shapes);
        both_device(&b, s->solver, max_work);
        both_host_steps(&b, 1);
        assert_true(both_launches(&b, 1) > whole);
        both_assert_alike(&b, s->kernels);
    }
}

/* So many pieces of a size cover the things, and none of them is empty. */
static void assert_covers(int pieces, int size, long things) {
    assert_true((long)pieces * size >= things && (long)(pieces - 1) * size < things);
}

TEST(pieces_of_bt) {
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_BT, 'A'), 0);
    assert_int_equal(gpu_bt.cuts, 4);
    for (int n = 0; n < subjects[0].shapes; n++) {
        struct zone z = {.nx = of_bt[n][0], .ny = of_bt[n][1], .nz = of_bt[n][2]};
        const int x = z.nx - 2, y = z.ny - 2, w = z.nz - 2;
        const int blocks = (w + BT_PLANES - 1) / BT_PLANES;
        const int things[4] = {x * y, y * w, x * w, x * y};
        zone_strides(&z);
        assert_int_equal(gpu_bt.pieces(&p, &z, 0) % blocks, 0);
        for (int c = 0; c < 4; c++)
            assert_covers(gpu_bt.pieces(&p, &z, c) / (c ? 1 : blocks), c ? BT_LINES : BT_POINTS,
                          things[c]);
    }
}

/* Bundles, every interior line once; and groups of the residual. */
TEST(pieces_of_lu) {
    assert_int_equal(gpu_lu.cuts, 2);
    for (int n = 0; n < subjects[2].shapes; n++) {
        struct zone z = {.nx = of_lu[n][0], .ny = of_lu[n][1], .nz = of_lu[n][2]};
        const int y = (z.ny - 2 + LU_LINES_Y - 1) / LU_LINES_Y;
        const int x = (z.nz - 2 + LU_LINES_Z - 1) / LU_LINES_Z;
        const int blocks = (z.nz - 2 + LU_PLANES - 1) / LU_PLANES;
        zone_strides(&z);
        assert_int_equal(gpu_lu.pieces(NULL, &z, 0), y * x);
        const int groups = gpu_lu.pieces(NULL, &z, 1);
        assert_int_equal(groups % blocks, 0);
        assert_covers(groups / blocks, LU_RESIDUAL_ITEMS, z.sj * (z.ny - 2));
    }
}

/* 7 doubles a point of rows of multiples of 4; a window of rows more for each pair of full ones. */
TEST(work_space_of_sp) {
    static const int rows[][2] = {{30, 7 * 28 * 18 * 26},
                                  {31, 7 * 32 * 18 * 26},
                                  {34, 7 * 32 * 18 * 26},
                                  {35, 7 * 36 * 18 * 26 + 16 * 11 * 32 * ((18 * 26 + 15) / 16)}};
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_SP, 'C'), 0);
    for (int n = 0; n < 4; n++)
        assert_int_equal(gpu_sp.work(&p, &(struct zone){.nx = rows[n][0], .ny = 20, .nz = 28}),
                         rows[n][1]);
}

int main(int argc, char **argv) {
    const int missing = test_devices(&lu_kernels, NULL);
    if (missing) return missing;
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return run_all_tests(NULL, NULL);
}
