/* SP-MZ's step against plain.c: each phase by itself and the whole step, on zones of odd shapes
 * with random gases; and that the bits depend neither on the size of the team nor on what lies in
 * padding and scratch. Run: ctest -R '^sp$'. */
#include "check.h"
#include "npbmz/sp/sp.h"
#include "pair.h"

#include <math.h>

static const int shapes[][3] = {
    {6, 6, 6},   {13, 8, 28}, {29, 6, 8},  {57, 38, 28}, {38, 26, 17},
    {12, 12, 6}, {9, 7, 5},   {17, 10, 6}, /* nx - 1 = 8, 16: the last block is all boundary */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* the step's length */
static const double DT = 0.0003;

/* Right-hand sides to and from the blocks between the phases. On the way there 1/rho and the speed
 * of sound are written too, as the residual's phase does. */
static double *block(const struct workspace *w, int i, int j, int k) {
    return w->b + k * w->bk + j * w->bj + i / LANES * SP_BLOCK + i % LANES;
}

#define EACH_INTERIOR(b, i, j, k)                                                                  \
    for (int k = 1; k < (b)->z.nz - 1; k++)                                                        \
        for (int j = 1; j < (b)->z.ny - 1; j++)                                                    \
            for (int i = 1; i < (b)->z.nx - 1; i++)

static void blocks_put(const struct pair *b, const struct workspace *w, const plain_point *a) {
    EACH_INTERIOR(b, i, j, k) {
        double *at = block(w, i, j, k);
        const double *r = a[plain_at(&b->q, i, j, k)], *u = b->q.u[plain_at(&b->q, i, j, k)];
        double q = (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]);
        for (int c = 0; c < NC; c++) at[c * LANES] = r[c];
        at[SP_RHO_INV * LANES] = 1 / u[0];
        at[SP_SOUND * LANES] = sqrt(C1 * C2 * (u[4] - q) / u[0]);
    }
}

static plain_point *blocks_get(const struct pair *b, const struct workspace *w) {
    plain_point *a = plain_field(&b->q);
    EACH_INTERIOR(b, i, j, k)
    for (int c = 0; c < NC; c++) a[plain_at(&b->q, i, j, k)][c] = block(w, i, j, k)[c * LANES];
    return a;
}

static void assert_same(const struct pair *b, plain_point *got, plain_point *want,
                        const char *what) {
    pair_assert_close(b, got, want, what);
    free(got);
    free(want);
}

static void times(const struct pair *b, plain_point *a, double factor) {
    for (size_t n = 0; n < plain_points(&b->q); n++)
        for (int c = 0; c < NC; c++) a[n][c] *= factor;
}

/* ---- the phases ---------------------------------------------------------------------------- */

TEST(residual_phase) {
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, NPBMZ_SP, DT, shapes[n], 1);
        struct workspace w = sp_work(&b.p, &b.z, &b.s, &pair_alone);
        sp_rhs(&b.p, &b.z, &w, &pair_alone);
        plain_point *want = plain_field(&b.q), *got = blocks_get(&b, &w);
        plain_residual(&b.q, b.q.u, b.q.f, want);
        times(&b, want, 1 / EPS4); /* right-hand sides are divided by dt eps4 */
        plain_sp_transform(&b.q, 0, want);
        assert_same(&b, got, want, "residual and first transform");

        /* what goes with it */
        EACH_INTERIOR(&b, i, j, k) {
            const double *u = b.q.u[plain_at(&b.q, i, j, k)], *at = block(&w, i, j, k);
            double q = (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / (2 * u[0]);
            double a = sqrt(C1 * C2 * (u[4] - q) / u[0]);
            assert_true(fabs(at[SP_RHO_INV * LANES] * u[0] - 1) < 1e-14);
            assert_true(fabs(at[SP_SOUND * LANES] - a) < 1e-14 * a);
        }
        pair_close(&b);
    }
}

typedef void plane_phase(const struct problem *p, const struct zone *z, const struct workspace *w,
                         const struct team *t, int k0, int k1);

/* lines along x or y, with the transform that follows; the planes in two parts */
static void lines_in_planes(int d, plane_phase *phase) {
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, NPBMZ_SP, DT, shapes[n], 1);
        struct workspace w = sp_work(&b.p, &b.z, &b.s, &pair_alone);
        plain_point *want = plain_field(&b.q);
        plain_noise(&b.q, want, 19, 1);
        blocks_put(&b, &w, want);
        phase(&b.p, &b.z, &w, &pair_alone, 1, 3);
        phase(&b.p, &b.z, &w, &pair_alone, 3, b.z.nz - 1);
        plain_sp_lines(&b.q, d, want);
        plain_sp_transform(&b.q, d + 1, want);
        assert_same(&b, blocks_get(&b, &w), want, d ? "lines along y" : "lines along x");
        pair_close(&b);
    }
}

TEST(lines_along_x) { lines_in_planes(0, sp_x); }

TEST(lines_along_y) { lines_in_planes(1, sp_y); }

TEST(lines_along_z) {
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, NPBMZ_SP, DT, shapes[n], 1);
        struct workspace w = sp_work(&b.p, &b.z, &b.s, &pair_alone);
        plain_point *want = plain_field(&b.q), *got = plain_field(&b.q);
        plain_noise(&b.q, want, 20, 1);
        /* large, so that adding them to u loses nothing that the comparison could see */
        times(&b, want, 1e6);
        blocks_put(&b, &w, want);
        sp_z(&b.p, &b.z, &w, &pair_alone);
        plain_get(&b.z, b.z.u, got);
        plain_sp_lines(&b.q, 2, want);
        plain_sp_transform(&b.q, 3, want);
        times(&b, want, b.p.dt * EPS4);
        for (size_t m = 0; m < plain_points(&b.q); m++)
            for (int c = 0; c < NC; c++) want[m][c] += b.q.u[m][c];
        assert_same(&b, got, want, "lines along z");
        pair_close(&b);
    }
}

/* ---- the step ------------------------------------------------------------------------------ */

TEST(whole_step) { pair_steps_agree(NPBMZ_SP, DT, shapes, SHAPES); }

/* and the increments alone, which are small */
TEST(increments) {
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, NPBMZ_SP, DT, shapes[n], 1);
        pair_step(&b, 1);
        plain_point *before = plain_field(&b.q), *got = plain_field(&b.q);
        memcpy(before, b.q.u, plain_points(&b.q) * sizeof *before);
        plain_step(&b.q);
        plain_get(&b.z, b.z.u, got);
        for (size_t m = 0; m < plain_points(&b.q); m++)
            for (int c = 0; c < NC; c++) got[m][c] -= before[m][c], b.q.u[m][c] -= before[m][c];
        double d = plain_difference(&b.q, got, b.q.u);
        if (!(d <= 1e-10)) fail_msg("step: increments differ by %g", d);
        free(before);
        free(got);
        pair_close(&b);
    }
}

/* ---- what must not change ------------------------------------------------------------------ */

TEST(only_interior_points_change) { pair_others_stay(NPBMZ_SP, DT, shapes, SHAPES); }

TEST(bits_do_not_depend_on_the_team) {
    /* zones of classes A and D too: the first's planes are done at once, the second's in parts */
    static const int larger[][3] = {{32, 32, 16}, {51, 38, 34}};
    pair_team_has_no_say(NPBMZ_SP, DT, shapes, SHAPES, 3);
    pair_team_has_no_say(NPBMZ_SP, DT, larger, 2, 3);
}

TEST(bits_do_not_depend_on_padding) { pair_padding_has_no_say(NPBMZ_SP, DT, shapes, SHAPES); }

/* A line's answer must not depend on the lane and block that it falls into: the same row of points
 * everywhere gives the same bits everywhere. */
TEST(bits_do_not_depend_on_the_lane) {
    struct pair b;
    const int n[3] = {21, 21, 21};
    pair_open(&b, NPBMZ_SP, DT, n, 1);
    struct workspace w = sp_work(&b.p, &b.z, &b.s, &pair_alone);
    for (int d = 0; d < 2; d++) {
        plain_point *line = plain_field(&b.q), *u = plain_field(&b.q);
        plain_noise(&b.q, line, 21, 1);
        EACH_INTERIOR(&b, i, j, k) { /* values of the middle line of direction d everywhere */
            size_t from = d ? plain_at(&b.q, 10, j, 10) : plain_at(&b.q, i, 10, 10);
            memcpy(u[plain_at(&b.q, i, j, k)], b.q.u[from], sizeof *u);
            memcpy(line[plain_at(&b.q, i, j, k)], line[from], sizeof *line);
        }
        memcpy(b.q.u, u, plain_points(&b.q) * sizeof *u);
        plain_put(&b.z, b.z.u, u);
        blocks_put(&b, &w, line);
        (d ? sp_y : sp_x)(&b.p, &b.z, &w, &pair_alone, 1, b.z.nz - 1);
        plain_point *got = blocks_get(&b, &w);
        EACH_INTERIOR(&b, i, j, k) {
            size_t from = d ? plain_at(&b.q, 10, j, 10) : plain_at(&b.q, i, 10, 10);
            if (memcmp(&got[plain_at(&b.q, i, j, k)], &got[from], sizeof *got))
                fail_msg("direction %d: the line at (%d,%d,%d) has bits of its own", d, i, j, k);
        }
        plain_gas(&b.q, b.q.u, 5);
        free(line);
        free(u);
        free(got);
    }
    pair_close(&b);
}

RUN_TESTS(NULL, NULL)
