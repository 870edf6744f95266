/* What all three benchmarks of NPB-MZ share - mesh, memory layout, initial state, exchange, hash,
 * verification - against the published tables and plain loops. Forcing, initial state and norms are
 * those of official runs (command-hash) and of devices (gpu_start, gpu_norms).
 *
 * Official runs of SP and LU start all zones alike, so nothing here relies on them for the
 * topology: the exchange is tested with every zone different. */
#include "check.h"
#include "npbmz/host/exact.h"
#include "copy_faces.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/host/norms.h"
#include "npbmz/host/verify.h"

#include <math.h>

static const char letters[] = "SWABCDEF";
static const enum npbmz_benchmark benchmarks[] = {NPBMZ_BT, NPBMZ_SP, NPBMZ_LU};

/* for all benchmarks b and the classes c of a text */
#define EACH(b, c, text)                                                                           \
    for (int b = 0; b < 3; b++)                                                                    \
        for (const char *c = (text); *c; c++)

static void assert_close(double a, double b, double relative) {
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%.17g is not within %g of %.17g (differs by %g)", a, relative, b,
                 fabs(a - b) / fabs(b));
}

static struct problem problem_of(enum npbmz_benchmark b, char class_) {
    struct problem p;
    assert_int_equal(problem_class(&p, b, class_), 0);
    assert_int_equal(problem_zones(&p), 0);
    return p;
}

/* with fields */
static struct problem allocated(enum npbmz_benchmark b, char class_) {
    struct problem p = problem_of(b, class_);
    for (int n = 0; n < p.zones; n++) assert_int_equal(zone_alloc(&p, &p.zone[n]), 0);
    return p;
}

/* ---- classes, cut, neighbours ------------------------------------------------------------------
 */

/* NAS-03-010, section 4: class by class what BT, SP and LU have in this order. */
static const struct {
    int g[3], parts, steps[3];
    double dt[3];
    int sp[3], lu[3], bt_small[3], bt_large[3]; /* zones */
    /* clang-format off */
} row[] = {
    {{24, 24, 6}, 2, {60, 100, 50}, {1e-2, 1.5e-2, 0.5}, {12, 12, 6}, {6, 6, 6}, {6, 6, 6}, {18, 18, 6}},
    {{64, 64, 8}, 4, {200, 400, 300}, {8e-4, 1.5e-3, 1.5e-3}, {16, 16, 8}, {16, 16, 8}, {6, 6, 8}, {29, 29, 8}},
    {{128, 128, 16}, 4, {200, 400, 250}, {8e-4, 1.5e-3, 2}, {32, 32, 16}, {32, 32, 16}, {13, 13, 16}, {58, 58, 16}},
    {{304, 208, 17}, 8, {200, 400, 250}, {3e-4, 1e-3, 2}, {38, 26, 17}, {76, 52, 17}, {16, 11, 17}, {72, 49, 17}},
    {{480, 320, 28}, 16, {200, 400, 250}, {1e-4, 6.7e-4, 2}, {30, 20, 28}, {120, 80, 28}, {13, 8, 28}, {57, 38, 28}},
    {{1632, 1216, 34}, 32, {250, 500, 300}, {2e-5, 3e-4, 1}, {51, 38, 34}, {408, 304, 34}, {22, 16, 34}, {98, 73, 34}},
    {{4224, 3456, 92}, 64, {250, 500, 300}, {4e-6, 2e-4, 0.5}, {66, 54, 92}, {1056, 864, 92}, {28, 23, 92}, {127, 104, 92}},
    {{12032, 8960, 250}, 128, {250, 500, 300}, {1e-6, 1e-4, 0.2}, {94, 70, 250}, {3008, 2240, 250}, {40, 30, 250},
     {182, 135, 250}},
};
/* clang-format on */

TEST(classes) {
    EACH(b, c, letters) {
        ENDS(problem_close) struct problem p = problem_of(benchmarks[b], *c);
        int r = (int)(c - letters), parts = b == 2 ? 4 : row[r].parts;
        assert_int_equal(p.gx, row[r].g[0]);
        assert_int_equal(p.gy, row[r].g[1]);
        assert_int_equal(p.gz, row[r].g[2]);
        assert_int_equal(p.xzones, parts);
        assert_int_equal(p.yzones, parts);
        assert_int_equal(p.zones, parts * parts);
        assert_int_equal(p.steps, row[r].steps[b]);
        assert_true(p.dt == row[r].dt[b]);
        assert_int_equal(p.class_, *c);
        assert_int_equal(p.benchmark, benchmarks[b]);
        assert_ptr_equal(p.solver, b == 0 ? &solver_bt : b == 1 ? &solver_sp : &solver_lu);

        int smallest[3] = {1 << 30, 1 << 30, 1 << 30}, largest[3] = {0};
        double points = 0;
        for (int n = 0; n < p.zones; n++) {
            int size[3] = {p.zone[n].nx, p.zone[n].ny, p.zone[n].nz};
            points += zone_weight(&p.zone[n]);
            for (int d = 0; d < 3; d++) {
                if (size[d] < smallest[d]) smallest[d] = size[d];
                if (size[d] > largest[d]) largest[d] = size[d];
            }
        }
        assert_true(points == problem_points(&p));
        for (int d = 0; d < 3; d++) {
            assert_int_equal(smallest[d], b == 0   ? row[r].bt_small[d]
                                          : b == 1 ? row[r].sp[d]
                                                   : row[r].lu[d]);
            assert_int_equal(largest[d], b == 0   ? row[r].bt_large[d]
                                         : b == 1 ? row[r].sp[d]
                                                  : row[r].lu[d]);
        }
        assert_int_equal(p.max_nx, largest[0]);
        assert_int_equal(p.max_ny, largest[1]);
        assert_int_equal(p.max_nz, largest[2]);
    }
    struct problem p;
    for (const char *no = "XGsw 0"; *no; no++)
        assert_int_equal(problem_class(&p, NPBMZ_BT, *no), -1);
    assert_int_equal(problem_class(&p, NPBMZ_BT, '\0'), -1);
}

TEST(cut) {
    static const int bx[8] = {16, 20, 24, 30, 38, 47, 57, 72},
                     by[8] = {11, 13, 17, 21, 26, 31, 40, 49};
    struct problem p = problem_of(NPBMZ_BT, 'B');
    for (int n = 0; n < p.zones; n++) {
        assert_int_equal(p.zone[n].nx, bx[n % 8]);
        assert_int_equal(p.zone[n].ny, by[n / 8]);
        assert_int_equal(p.zone[n].nz, 17);
    }
    problem_close(&p);
    /* class C has two widths that would be 39 and 42 if sums were rounded at one half */
    static const int cx[16] = {13, 14, 15, 18, 19, 21, 23, 26, 28, 31, 35, 38, 43, 47, 52, 57};
    p = problem_of(NPBMZ_BT, 'C');
    for (int n = 0; n < p.zones; n++) assert_int_equal(p.zone[n].nx, cx[n % 16]);
    problem_close(&p);
    /* widths of class F do not all grow */
    int w[128], sum = 0, seen = 0;
    mesh_cut(12032, 128, 4.5, w);
    for (int i = 0; i < 128; i++) {
        sum += w[i];
        seen |= i >= 3 && w[i - 3] == 42 && w[i - 2] == 43 && w[i - 1] == 42 && w[i] == 44;
    }
    assert_int_equal(sum, 12032);
    assert_true(seen);
    /* equal parts where the division leaves a remainder: ends at floor(10 i / 4) */
    mesh_cut(10, 4, 1.0, w);
    assert_int_equal(w[0], 2);
    assert_int_equal(w[1], 3);
    assert_int_equal(w[2], 2);
    assert_int_equal(w[3], 3);
    mesh_cut(7, 1, 4.5, w);
    assert_int_equal(w[0], 7);
}

TEST(neighbours) {
    struct problem p = problem_of(NPBMZ_BT, 'B');
    static const int some[][5] = {/* zone, west, east, south, north */
                                  {0, 7, 1, 56, 8},
                                  {7, 6, 0, 63, 15},
                                  {56, 63, 57, 48, 0},
                                  {27, 26, 28, 19, 35}};
    for (int s = 0; s < 4; s++) {
        const struct zone *z = &p.zone[some[s][0]];
        assert_int_equal(z->west, some[s][1]);
        assert_int_equal(z->east, some[s][2]);
        assert_int_equal(z->south, some[s][3]);
        assert_int_equal(z->north, some[s][4]);
    }
    problem_close(&p);
    EACH(b, c, letters) {
        p = problem_of(benchmarks[b], *c);
        for (int n = 0; n < p.zones; n++) {
            const struct zone *z = &p.zone[n];
            assert_int_equal(p.zone[z->west].east, n);
            assert_int_equal(p.zone[z->east].west, n);
            assert_int_equal(p.zone[z->south].north, n);
            assert_int_equal(p.zone[z->north].south, n);
            assert_int_equal(p.zone[z->west].ny, z->ny);
            assert_int_equal(p.zone[z->north].nx, z->nx);
        }
        problem_close(&p);
    }
}

TEST(links) {
    EACH(b, c, letters) {
        struct problem p = problem_of(benchmarks[b], *c);
        struct zone_link *link = malloc(4 * (size_t)p.zones * sizeof *link);
        int n = problem_links(&p, link), two = p.xzones == 2;
        assert_int_equal(n, (two ? 2 : 4) * p.zones);
        double bytes = 0, exchanged = 0;
        for (int l = 0; l < n; l++) {
            bytes += link[l].bytes;
            assert_true(link[l].from != link[l].to);
            if (p.zones > 64) continue;
            int once = 0, back = 0;
            for (int o = 0; o < n; o++) {
                once += link[o].from == link[l].from && link[o].to == link[l].to;
                back += link[o].from == link[l].to && link[o].to == link[l].from &&
                        link[o].bytes == link[l].bytes;
            }
            assert_int_equal(once, 1);
            assert_int_equal(back, 1);
        }
        for (int z = 0; z < p.zones; z++) exchanged += faces_bytes(&p, z);
        assert_true(bytes == exchanged);
        free(link);
        problem_close(&p);
    }
    /* class S: 6 and 18 points wide both ways, 6 high; zones 0 and 1 meet at two sides */
    ENDS(problem_close) struct problem p = problem_of(NPBMZ_BT, 'S');
    struct zone_link link[16];
    int n = problem_links(&p, link), found = 0;
    for (int l = 0; l < n; l++) {
        double expect = 0;
        if (link[l].from == 0 && link[l].to == 1) expect = 2 * (4 * 4 * 40);  /* y 6, z 6 */
        if (link[l].from == 2 && link[l].to == 3) expect = 2 * (16 * 4 * 40); /* y 18 */
        if (link[l].from == 1 && link[l].to == 3) expect = 2 * (16 * 4 * 40); /* x 18 */
        if (expect == 0) continue;
        found++;
        assert_true(link[l].bytes == expect);
    }
    assert_int_equal(found, 3);
}

/* ---- layout ------------------------------------------------------------------------------------
 */

/* A row, its two neighbours on either side and in two planes on either side, of all components: the
 * most lines of them that fall into one of 64 cache sets. */
static int crowd(const struct zone *z) {
    int lines[64] = {0}, max = 0;
    for (int m = 0; m < NC; m++)
        for (int s = -2; s <= 2; s++)
            for (int d = 0; d < (s ? 2 : 1); d++) {
                ptrdiff_t at = m * z->sc + s * (d ? z->sk : z->sj);
                int set = (int)((at / 8 % 64 + 64) % 64);
                if (++lines[set] > max) max = lines[set];
            }
    return max;
}

TEST(strides) {
    EACH(b, c, letters) {
        ENDS(problem_close) struct problem p = problem_of(benchmarks[b], *c);
        ptrdiff_t sj = 0, sk = 0, sc = 0;
        for (int n = 0; n < p.zones; n++) {
            const struct zone *z = &p.zone[n];
            assert_true(z->sj % 8 == 0 && z->sk % 8 == 0 && z->sc % 8 == 0);
            assert_true(z->sj >= z->nx && z->sj <= z->nx + 15);
            assert_true(z->sk >= z->ny * z->sj && z->sk <= z->ny * z->sj + 8);
            assert_true(z->sc >= z->nz * z->sk + 8 && z->sc <= z->nz * z->sk + 64 * 8);
            assert_true(z->sk / 8 % 2 == 1);
            assert_true(crowd(z) <= 2);
            if (z->sj > sj) sj = z->sj;
            if (z->sk > sk) sk = z->sk;
            if (z->sc > sc) sc = z->sc;
        }
        assert_true(sj == p.max_sj && sk == p.max_sk && sc == p.max_sc);
    }
    struct zone cube = {.nx = 32, .ny = 32, .nz = 32};
    zone_strides(&cube); /* 25 in one set without padding */
    assert_true(crowd(&cube) <= 2);
    struct zone wide = {.nx = 512, .ny = 64, .nz = 16};
    zone_strides(&wide); /* all 45 without */
    assert_true(crowd(&wide) <= 2);
}

TEST(memory) {
    static const double rest[NC] = {1, 0, 0, 0, 1};
    EACH(b, c, "SW") {
        struct problem p = allocated(benchmarks[b], *c);
        for (int n = 0; n < p.zones; n++) {
            const struct zone *z = &p.zone[n];
            size_t bytes;
            const double *block = zone_block(&p, z, &bytes), *end = block + bytes / 8;
            double *field[3] = {z->u, z->f, z->r};
            int fields = b == 2 ? 3 : 2;
            assert_true((uintptr_t)block % 64 == 0);
            assert_true((double)bytes == zone_bytes(&p, z));
            assert_true((z->r != NULL) == (b == 2));
            for (int f = 0; f < fields; f++) {
                assert_true((uintptr_t)field[f] % 64 == 0);
                assert_true(field[f] - ZONE_SLACK >= block);
                assert_true(field[f] + NC * z->sc + ZONE_SLACK <= end);
                if (f) assert_true(field[f - 1] + NC * z->sc + 2 * ZONE_SLACK <= field[f]);
            }
            for (ptrdiff_t l = 0; l < NC * z->sc; l++) {
                int m = (int)(l / z->sc), i = (int)(l % z->sc % z->sk % z->sj);
                int j = (int)(l % z->sc % z->sk / z->sj), k = (int)(l % z->sc / z->sk);
                int real = i < z->nx && j < z->ny && k < z->nz;
                assert_true(z->u[l] == (real ? 0 : rest[m]));
                assert_true(z->f[l] == 0);
                if (z->r) assert_true(z->r[l] == 0);
            }
            for (int s = 1; s <= ZONE_SLACK; s++) {
                assert_true(z->u[-s] == 1 && z->u[NC * z->sc + s - 1] == 1);
                for (int f = 1; f < fields; f++)
                    assert_true(field[f][-s] == 0 && field[f][NC * z->sc + s - 1] == 0);
            }
        }
        problem_close(&p);
        assert_null(p.zone);
    }
    struct zone none = {0};
    zone_free(&none);
}

TEST(bytes) {
    EACH(b, c, letters) {
        ENDS(problem_close) struct problem p;
        problem_class(&p, benchmarks[b], *c);
        double all = problem_bytes(&p), sum = 0, least = 0;
        assert_int_equal(problem_zones(&p), 0);
        for (int n = 0; n < p.zones; n++) {
            sum += zone_bytes(&p, &p.zone[n]);
            least += (b == 2 ? 3.0 : 2.0) * NC * 8.0 * (double)p.zone[n].sc;
        }
        double bare = (b == 2 ? 120 : 80) * problem_points(&p);
        assert_true(all == sum);
        assert_true(all == floor(all));
        assert_true(all > least && all < least + (b == 2 ? 3 : 2) * 8192.0 * p.zones);
        assert_true(all > bare && all < bare * (*c == 'S' ? 3 : *c == 'W' ? 1.5 : 1.2));
    }
}

/* ---- exchange ----------------------------------------------------------------------------------
 */

/* A value of its own for each component and point of each zone. */
static double value_of(int zone, int m, int i, int j, int k) {
    return (((zone * 5.0 + m) * 512 + k) * 512 + j) * 512 + i;
}

/* Whose value a place has after the exchange: ghosts at the four sides have that of the second
 * layer of the zone next to it, but at edges in z and corners; all else has its own. */
static double exchanged(const struct problem *p, int n, int m, int i, int j, int k) {
    const struct zone *z = &p->zone[n];
    if (k == 0 || k == z->nz - 1) return value_of(n, m, i, j, k);
    if (j > 0 && j < z->ny - 1) {
        if (i == 0) return value_of(z->west, m, p->zone[z->west].nx - 2, j, k);
        if (i == z->nx - 1) return value_of(z->east, m, 1, j, k);
    } else if (i > 0 && i < z->nx - 1) {
        if (j == 0) return value_of(z->south, m, i, p->zone[z->south].ny - 2, k);
        return value_of(z->north, m, i, 1, k);
    }
    return value_of(n, m, i, j, k);
}

/* Every place of a zone, padding too, by its number. */
#define EACH_PLACE(z, m, i, j, k)                                                                  \
    for (int m = 0; m < NC; m++)                                                                   \
        for (int k = 0; k < (z)->nz; k++)                                                          \
            for (int j = 0; j < (z)->ny; j++)                                                      \
                for (int i = 0; i < (z)->sj; i++)

TEST(exchange) {
    EACH(b, c, "SW") {
        ENDS(problem_close) struct problem p = allocated(benchmarks[b], *c);
        for (int n = 0; n < p.zones; n++) {
            struct zone *z = &p.zone[n];
            EACH_PLACE(z, m, i, j, k)
            if (i < z->nx) z->u[m * z->sc + zone_at(z, i, j, k)] = value_of(n, m, i, j, k);
        }
        /* backwards, since the order must not matter */
        for (int n = p.zones - 1; n >= 0; n--) copy_faces(&p, n);
        for (int n = 0; n < p.zones; n++) {
            const struct zone *z = &p.zone[n];
            EACH_PLACE(z, m, i, j, k)
            assert_true(z->u[m * z->sc + zone_at(z, i, j, k)] ==
                        (i < z->nx ? exchanged(&p, n, m, i, j, k) : m % 4 == 0));
        }
    }
}

/* (5 + 3) mod 17 = 8 and (20 + 6) mod 17 = 9 hundredths more in the first two zones, inside alone.
 */
TEST(perturbed) {
    ENDS(problem_close) struct problem p = allocated(NPBMZ_BT, 'W');
    for (int n = 0; n < 2; n++) {
        struct zone *z = &p.zone[n];
        zone_initialise(&p, z);
        HEAP double *before = malloc((size_t)(NC * z->sc) * sizeof *before);
        assert_non_null(before);
        memcpy(before, z->u, (size_t)(NC * z->sc) * sizeof *before);
        zone_perturb(z, n);
        EACH_PLACE(z, m, i, j, k) {
            const ptrdiff_t at = m * z->sc + zone_at(z, i, j, k);
            const int inside =
                i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
            assert_close(z->u[at], before[at] * (inside ? 1.08 + 0.01 * n : 1), 1e-15);
        }
    }
}

/* ---- hash -------------------------------------------------------------------------------------
 */

static uint64_t mixed(uint64_t x) { /* the formula of norms.h */
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 29)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 32);
}

TEST(hash) {
    ENDS(problem_close) struct problem p = allocated(NPBMZ_BT, 'S');
    struct zone *z = &p.zone[1]; /* 18 x 6 x 6 */
    zone_initialise(&p, z);
    uint64_t before = zone_hash(z), n = 0, sum = 0;
    for (int m = 0; m < NC; m++)
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++)
                for (int i = 0; i < z->nx; i++) {
                    double *u = &z->u[m * z->sc + zone_at(z, i, j, k)], old = *u;
                    uint64_t bits;
                    memcpy(&bits, u, 8);
                    sum += mixed(bits + (++n) * 0x9e3779b97f4a7c15u);
                    bits ^= (uint64_t)1 << (n * 7 % 64); /* one bit of one value */
                    memcpy(u, &bits, 8);
                    assert_true(zone_hash(z) != before);
                    *u = old;
                }
    assert_true(sum == before);
    assert_true(zone_hash(z) == before);
    z->u[z->nx] += 1; /* padding does not count */
    z->u[-1] += 1;
    assert_true(zone_hash(z) == before);
    double *a = &z->u[zone_at(z, 2, 2, 2)], *b = &z->u[zone_at(z, 3, 2, 2)], t = *a;
    *a = *b, *b = t; /* the same values at other places */
    assert_true(zone_hash(z) != before);

    uint64_t zones[3] = {1, 2, 3}, swapped[3] = {2, 1, 3};
    uint64_t g = 0x9e3779b97f4a7c15u;
    assert_true(problem_hash(zones, 3) == mixed(mixed(mixed(1 + g) + 2 + g) + 3 + g));
    assert_true(problem_hash(zones, 3) != problem_hash(swapped, 3));
}

/* ---- verification ------------------------------------------------------------------------------
 */

TEST(nominal_operations) {
    static const double million[8][3] = {
        {6.363892, 1.629006, 0.929391},
        {71.759876, 18.225781, 38.829351},
        {731.056000, 184.425384, 410.528739},
        {3006.004499, 758.383481, 1795.686033},
        {12134.909321, 3061.872930, 7682.048550},
        {205987.597346, 51981.925951, 125391.276366},
        {4328198.833220, 1093293.693196, 2602455.932081},
        {89235027.863144, 22557655.138304, 53024728.906892},
    };
    EACH(b, c, letters) {
        ENDS(problem_close) struct problem p = problem_of(benchmarks[b], *c);
        double expect = million[c - letters][b];
        assert_true(fabs(problem_mop(&p) - expect) <= 5.1e-7 + 1e-14 * expect);
    }
}

TEST(verdicts) {
    EACH(b, c, letters) {
        struct problem p;
        problem_class(&p, benchmarks[b], *c);
        struct verification v;
        struct norms n = {{0}, {0}, 0};
        assert_int_equal(verify(&p, p.steps, 0, &n, &v), 0);
        struct norms good = {.surface = v.reference[10]};
        memcpy(good.residual, v.reference, sizeof good.residual);
        memcpy(good.error, v.reference + NC, sizeof good.error);
        assert_int_equal(verify(&p, p.steps, 0, &good, &v), 1);
        assert_int_equal(verify_run(&p, p.steps, &good), 1);
        assert_int_equal(v.figures, b == 2 ? 11 : 10);
        for (int f = 0; f < FIGURES; f++) {
            double *figure = f < NC ? &n.residual[f] : f < 2 * NC ? &n.error[f - NC] : &n.surface;
            if (f < v.figures) assert_true(v.reference[f] > 0.1 && v.reference[f] < 1e11);
            n = good;
            *figure *= 1 + 2e-8;
            assert_int_equal(verify(&p, p.steps, 0, &n, &v), f == 10 && b != 2);
            if (f < v.figures) {
                assert_false(v.within[f]);
                assert_close(v.difference[f], 2e-8, 1e-6);
            }
            n = good;
            *figure *= 1 - 0.5e-8;
            assert_int_equal(verify(&p, p.steps, 0, &n, &v), 1);
            *figure = NAN;
            assert_int_equal(verify(&p, p.steps, 0, &n, &v), f == 10 && b != 2);
            *figure = INFINITY;
            assert_int_equal(verify(&p, p.steps, 0, &n, &v), f == 10 && b != 2);
        }
        assert_int_equal(verify(&p, p.steps, 1, &good, &v), -1); /* perturbed */
        assert_int_equal(v.compared, 0);
        assert_int_equal(verify(&p, p.steps + 1, 0, &good, &v), -1);
        assert_int_equal(v.steps_reference, p.steps);
        p.dt *= 2;
        assert_int_equal(verify(&p, p.steps, 0, &good, &v), -1);
    }
    /* class F has a short official run too, with its own values */
    static const int steps[3] = {25, 50, 30};
    static const double first[3] = {0.3565049484400e+11, 0.3198801286787e+09, 0.3814950058736e+08};
    static const double full[3] = {0.6524078317845e+10, 0.3974469160412e+08, 0.7116424271317e+07};
    for (int b = 0; b < 3; b++) {
        struct problem p;
        struct verification v;
        struct norms n = {{0}, {0}, 0};
        problem_class(&p, benchmarks[b], 'F');
        assert_int_equal(verify(&p, steps[b], 0, &n, &v), 0);
        assert_true(v.steps_match && v.reference[0] == first[b]);
        assert_int_equal(verify(&p, steps[b] + 1, 0, &n, &v), -1);
        assert_true(!v.steps_match && v.reference[0] == full[b] && v.steps_reference == p.steps);
    }
}

/* What a printing function prints, to be freed. */
#define PRINTED(call, out, text)                                                                   \
    do {                                                                                           \
        size_t size;                                                                               \
        FILE *out = open_memstream(&text, &size);                                                  \
        call;                                                                                      \
        fclose(out);                                                                               \
    } while (0)

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in\n%s", part, text);
}

TEST(printed_verdicts) {
    ENDS(problem_close) struct problem p = problem_of(NPBMZ_SP, 'S');
    struct verification v;
    struct norms n = {0};
    verify(&p, 100, 0, &n, &v);
    memcpy(n.residual, v.reference, sizeof n.residual);
    memcpy(n.error, v.reference + NC, sizeof n.error);
    n.residual[1] = 1.5;
    n.error[4] = NAN;
    HEAP char *text = NULL;
    PRINTED((verify(&p, 100, 0, &n, &v), verification_print(&p, &v, out)), out, text);
    assert_string_equal(text,
                        " Verification being performed for class S\n"
                        " accuracy setting for epsilon =  0.1000000000000E-07\n"
                        " Comparison of RMS-norms of residual\n"
                        "           1 0.7698876173566E+01 0.7698876173566E+01 0.0000000000000E+00\n"
                        " FAILURE:  2 0.1500000000000E+01 0.1517766790280E+01 0.1170587628731E-01\n"
                        "           3 0.2686805141546E+01 0.2686805141546E+01 0.0000000000000E+00\n"
                        "           4 0.1893688083690E+01 0.1893688083690E+01 0.0000000000000E+00\n"
                        "           5 0.1369739859738E+02 0.1369739859738E+02 0.0000000000000E+00\n"
                        " Comparison of RMS-norms of solution error\n"
                        "           1 0.9566808043467E+01 0.9566808043467E+01 0.0000000000000E+00\n"
                        "           2 0.3894109553741E+01 0.3894109553741E+01 0.0000000000000E+00\n"
                        "           3 0.4516022447464E+01 0.4516022447464E+01 0.0000000000000E+00\n"
                        "           4 0.4099103995615E+01 0.4099103995615E+01 0.0000000000000E+00\n"
                        " FAILURE:  5                 NaN 0.7776038881521E+01                 NaN\n"
                        " Verification failed\n");
    free(text);
    PRINTED((verify(&p, 10, 0, &n, &v), verification_print(&p, &v, out)), out, text);
    assert_has(text, "\n NITER does not match the reference value of   100\n");
    assert_has(text, " Verification failed\n");
    free(text);
    PRINTED((verify(&p, 100, 1, &n, &v), verification_print(&p, &v, out)), out, text);
    assert_has(text, "           1 0.7698876173566E+01\n");
    assert_has(text, " No verification performed\n");
    free(text);
    p.dt = 0.02;
    PRINTED((verify(&p, 100, 0, &n, &v), verification_print(&p, &v, out)), out, text);
    assert_has(text, "\n DT does not match the reference value of  0.15000000E-01\n");
}

RUN_TESTS(NULL, NULL)
