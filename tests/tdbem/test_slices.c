/* The matrices: rows of points against an independent adaptive quadrature, all against what is
 * exact whatever the quadrature (constants are null fields, solid angles), the structure of the
 * slices, and keeping them on disk. Entries of vertices are the sphere's series' (test_march.c).
 * Run: ctest -R tdbem-slices */
#include "body.h"
#include "polar.h"
#include "tdbem/matrices/lanes.h"
#include "tdbem/mesh/mesh_make.h"
#include "tdbem/mesh/numbering.h"
#include "tdbem/matrices/quadrature.h"
#include "tdbem/matrices/slices_file.h"
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static struct slices_options rigid(const struct mesh *m, double ratio, double eta) {
    return (struct slices_options){.eta = eta, .delta = ratio * m->h_mean};
}

static struct slices *generate(const struct mesh *m, const struct slices_options *o, int cores) {
    struct slices *s;
    if (slices_generate(&s, m, o, cores)) fail_msg("%s", evn_message());
    return s;
}

static double largest(const struct slices *s) {
    double max = 0;
    for (int j = 0; j < s->columns; j++) {
        const double *v = s->value + s->begin[j];
        for (int i = 0; i < s->columns; i++)
            for (int l = 0; l < s->count[(size_t)j * (size_t)s->rows + (size_t)i]; l++)
                max = fmax(max, fabs(*v++));
    }
    return max;
}

/* dense[k][i][j] of a small mesh, by entries: before the skew lag */
static double *dense(const struct mesh *m, const struct slices_options *o, int kmax) {
    const int n = m->vertices;
    const size_t all = (size_t)(kmax + 1) * (size_t)n * (size_t)n;
    HEAP struct slices_entry *e = calloc(all, sizeof *e);
    double *d = malloc(all * sizeof *d);
    assert_true(e && d);
    for (size_t a = 0; a < all; a++)
        e[a] = (struct slices_entry){(int)(a / (size_t)(n * n)), (int)(a / (size_t)n) % n,
                                     (int)(a % (size_t)n), 0};
    if (slices_entries(e, (int)all, m, o)) fail_msg("%s", evn_message());
    for (size_t a = 0; a < all; a++) d[a] = e[a].value;
    return d;
}

static double draw(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* ---- elementary functions, rules ---- */

TEST(angles_and_logarithms) {
    unsigned long long seed = 1;
    for (int n = 0; n < 200000; n++) {
        double radius = exp(40 * draw(&seed) - 20), angle = 2 * M_PI * draw(&seed) - M_PI;
        double y = radius * sin(angle), x = radius * cos(angle);
        if (n % 7 == 0) y *= 1e-9;
        if (n % 11 == 0) x *= 1e-9;
        double is = vec_angle(vec_set(y), vec_set(x))[0], should = atan2(y, x);
        if (!(fabs(is - should) <= 4.5e-16 * fabs(should)))
            fail_msg("angle of (%.17g, %.17g) is %.17g, not %.17g", x, y, is, should);
        vec e, f = vec_log_parts(vec_set(radius), &e), u = f * f;
        double log_is = (e * 0.69314718055994531 + 2 * (f + f * u * atanh_tail(u)))[0];
        if (!(fabs(log_is - log(radius)) <= 4e-16 * (1 + fabs(log(radius)))))
            fail_msg("log %.17g is %.17g, not %.17g", radius, log_is, log(radius));
    }
    assert_true(vec_angle(vec_set(0), vec_set(0))[0] == 0);
    assert_true(fabs(vec_angle(vec_set(0), vec_set(-1))[0] - M_PI) < 1e-15);
    assert_true(vec_floor(vec_set(2.999999))[0] == 2 && vec_floor(vec_set(3))[0] == 3);
}

/* int of l0^p l1^q l2^r over a triangle of area 1: 2 p! q! r!/(p+q+r+2)! */
static double monomial(int p, int q, int r) {
    return 2 * tgamma(p + 1) * tgamma(q + 1) * tgamma(r + 1) / tgamma(p + q + r + 3);
}

TEST(rules_have_their_degree) {
    const int points[] = {3, 6, 7, 12, 16}, degree[] = {2, 4, 5, 6, 8};
    for (int n = 0; n < 5; n++)
        for (int quad = 0; quad <= 2; quad++) {
            ENDS(rule_close) struct rule rule;
            assert_int_equal(rule_open(&rule, points[n], quad), EVN_OK);
            assert_int_equal(rule.points, points[n] << 2 * quad);
            double beyond = 0;
            for (int p = 0; p <= degree[n] + 1; p++)
                for (int q = 0; p + q <= degree[n] + 1; q++)
                    for (int r = 0; p + q + r <= degree[n] + 1; r++) {
                        double sum = 0;
                        for (int i = 0; i < rule.points; i++)
                            sum += rule.weight[i] * pow(rule.at[i][0], p) * pow(rule.at[i][1], q) *
                                   pow(rule.at[i][2], r);
                        double off = fabs(sum - monomial(p, q, r));
                        if (p + q + r > degree[n])
                            beyond = fmax(beyond, off);
                        else if (off > 2e-14)
                            fail_msg("%d points: l0^%d l1^%d l2^%d off by %g", points[n], p, q, r,
                                     off);
                    }
            if (quad == 0) assert_true(beyond > 1e-7); /* and no more */
        }
    struct rule rule;
    assert_int_equal(rule_open(&rule, 5, 0), EVN_USAGE);
    assert_int_equal(rule_open(&rule, 3, 7), EVN_USAGE);
}

/* ---- against the independent quadrature ---- */

/* Rows of points: the inner integrals alone, which are in closed form, so to round-off. */
TEST(potentials_are_exact) {
    OWN(mesh) *m = body("box:1,0.7,0.4,0.35");
    unsigned long long seed = 7;
    for (int soft = 0; soft <= 1; soft++)
        for (int n = 0; n < 60; n++) {
            double x[3];
            for (int c = 0; c < 3; c++) x[c] = 3 * draw(&seed) - 1;
            if (n % 4 == 1) x[n % 3] = 0; /* in the plane of a side */
            if (n % 4 == 2)
                x[2] = 0.4 + pow(10, -1 - 7 * draw(&seed)), x[0] = x[1] = 0.3; /* close */
            if (n % 8 == 3) x[0] = 1, x[1] = 0.35; /* above a vertex or an edge */
            if (n % 8 == 7) x[0] = 0.5 * x[0], x[1] = 0.2 * x[1] + 0.3, x[2] = 0.2; /* inside */
            struct slices_options o = rigid(m, 0.3 + 0.5 * draw(&seed), 0.5);
            o.problem = soft ? TDBEM_SOFT : TDBEM_RIGID;
            o.points = 1;
            o.point = (const double(*)[3])x;
            int j = (int)(draw(&seed) * m->vertices);
            if (n % 4 == 2) { /* above the inside of one of column j's triangles, small shells */
                const int t = (int)(draw(&seed) * m->triangles);
                double normal[3], a = 0.2 + 0.4 * draw(&seed), b = 0.2 + 0.2 * draw(&seed);
                mesh_normal(m, t, normal);
                const double height = pow(10, -8 * draw(&seed)) * (n % 8 == 2 ? -0.2 : 0.2);
                j = m->corner[t][n % 3];
                for (int c = 0; c < 3; c++)
                    x[c] = a * m->x[m->corner[t][0]][c] + b * m->x[m->corner[t][1]][c] +
                           (1 - a - b) * m->x[m->corner[t][2]][c] + height * normal[c];
                o.delta = (0.08 + 0.4 * draw(&seed)) * m->h_mean;
            }
            double row[POLAR_K];
            struct slices_entry e[POLAR_K];
            polar_point(row, m, &o, x, j);
            for (int k = 0; k < POLAR_K; k++) e[k] = (struct slices_entry){k, m->vertices, j, 0};
            if (slices_entries(e, POLAR_K, m, &o)) fail_msg("%s", evn_message());
            for (int k = 0; k < POLAR_K; k++)
                if (!(fabs(e[k].value - row[k]) < 2e-8))
                    fail_msg("point %d (%.9g %.9g %.9g), column %d, k %d: %.12g, should be %.12g",
                             n, x[0], x[1], x[2], j, k, e[k].value, row[k]);
        }
}

/* ---- what is exact for any outer rule ---- */

static void constants_are_null_fields(const char *what, double ratio, int rule, int quad) {
    OWN(mesh) *m = body(what);
    const int n = m->vertices;
    HEAP double *one = malloc((size_t)n * sizeof *one), *mass = malloc((size_t)n * sizeof *mass);
    for (int i = 0; i < n; i++) one[i] = 1;
    slices_mass(m, one, mass);
    double area = 0;
    for (int i = 0; i < n; i++) area += mass[i];
    assert_true(fabs(area - m->area) < 1e-12 * m->area);
    double *by_eta[3];
    struct slices_options o = rigid(m, ratio, 0);
    o.quad = quad;
    o.rule = rule;
    const int kmax = 2 + (int)(m->longest / o.delta);
    const double size = m->h_mean; /* entries are lengths */
    for (int e = 0; e < 3; e++) {
        o.eta = 0.5 * e;
        by_eta[e] = dense(m, &o, kmax);
        for (int i = 0; i < n; i++) {
            double sum = 0, first = 0;
            for (int k = 0; k <= kmax; k++)
                for (int j = 0; j < n; j++) {
                    double v =
                        by_eta[e][((size_t)k * (size_t)n + (size_t)i) * (size_t)n + (size_t)j];
                    sum += v;
                    first += k * v;
                }
            if (!(fabs(sum) < 1e-13 * size) ||
                !(fabs(first + o.eta * mass[i] / o.delta) < 1e-12 * size))
                fail_msg(
                    "%s, rule %d, eta %g, row %d: sum M_k 1 = %g, sum k M_k 1 + eta G 1/delta = "
                    "%g",
                    what, rule, o.eta, i, sum, first + o.eta * mass[i] / o.delta);
        }
    }
    for (int i = 0; i < n * n; i++) { /* sum C_k = 0 as a matrix, C from two values of eta */
        double sum = 0, max = 0;
        for (int k = 0; k <= kmax; k++) {
            double c = by_eta[2][k * n * n + i] - by_eta[1][k * n * n + i];
            sum += c;
            max = fmax(max, fabs(c));
        }
        if (!(fabs(sum) < 1e-13 * size) || max == 0)
            fail_msg("%s, rule %d, entry %d: sum C_k = %g", what, rule, i, sum);
    }
    for (int e = 0; e < 3; e++) free(by_eta[e]);
}

TEST(identities) {
    const int rules[] = {3, 6, 7, 12, 16};
    for (int r = 0; r < 5; r++) {
        constants_are_null_fields("sphere:0", 0.31, rules[r], 0);
        constants_are_null_fields("box:1,1,0.5,0.5", 0.5, rules[r], 0); /* spheres touch sides */
    }
    constants_are_null_fields("box:1,0.6,0.5,0.5", 0.4, 3, 1);
    constants_are_null_fields("sphere:1", 0.5, 3, 0);
}

TEST(points_see_the_solid_angle) {
    OWN(mesh) *m = body("box:1,1,1,0.25");
    double x[24][3];
    unsigned long long seed = 5;
    for (int p = 0; p < 24; p++)
        for (int c = 0; c < 3; c++) x[p][c] = p < 12 ? 0.05 + 0.9 * draw(&seed) : draw(&seed);
    for (int p = 12; p < 24; p++) x[p][p % 3] += p % 2 ? 1.001 : -1.5;
    x[0][2] = 1 - 1e-9;                           /* hardly inside */
    x[13][0] = 0.25, x[13][1] = 1.0000001;        /* hardly outside, above an edge */
    x[14][0] = 0.5, x[14][1] = 0.5, x[14][2] = 3; /* above a vertex */
    struct slices_options o = rigid(m, 0.5, 0.5);
    o.points = 24;
    o.point = (const double(*)[3])x;
    OWN(slices) *s = generate(m, &o, 2);
    for (int p = 0; p < 24; p++) {
        double sum = 0, distance;
        int inside = mesh_inside(m, x[p], &distance), first, count, nearest = 1000;
        assert_int_equal(inside, p < 12);
        for (int j = 0; j < s->columns; j++) {
            const double *row = slices_row(s, s->columns + p, j, &first, &count);
            for (int l = 0; l < count; l++) sum += row[l];
            nearest = first < nearest ? first : nearest;
            assert_true(first + count - 1 <= s->kmax_points);
        }
        if (!(fabs(sum + inside) < 1e-12)) fail_msg("point %d: %.15g", p, sum);
        assert_int_equal(nearest, (int)floor(distance / o.delta));
    }
}

/* ---- structure ---- */

/* Values are those of single entries; beyond the range there is nothing. */
TEST(values_are_entries) {
    OWN(mesh) *m = body("sphere:1");
    const int n = m->vertices;
    for (int problem = 0; problem < 5; problem++) {
        struct slices_options o = rigid(m, 0.217, problem == 1 || problem == 2 ? 0 : 0.5);
        if (problem == 2 || problem == 3) o.problem = TDBEM_SOFT;
        o.thin = problem >= 3; /* only the rigid problem minds */
        const double further = problem == 4 ? 0.5 : 0;
        OWN(slices) *s = generate(m, &o, 2);
        double *d = dense(m, &o, s->kmax + 2), worst = 0, beyond = 0, lag = 0;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                int first, count;
                const double *row = slices_row(s, i, j, &first, &count);
                const double z = d[i * n + j] - d[j * n + i];
                for (int k = 0; k <= s->kmax + 2; k++) {
                    double should = d[(k * n + i) * n + j];
                    if (k == 0) should -= 0.5 * z;
                    if (k == 1) should += (0.5 + further) * z;
                    if (k == 2) should -= further * z;
                    if (k < first || k >= first + count)
                        beyond = fmax(beyond, fabs(should));
                    else
                        worst = fmax(worst, fabs(should - row[k - first]));
                }
                lag = fmax(lag, fabs(z));
            }
        if (!(worst < 1e-14 && beyond < 1e-14 && (o.eta > 0 ? lag > 1e-6 : lag < 1e-15)))
            fail_msg("problem %d: off by %g, beyond the ranges %g, lag %g", problem, worst, beyond,
                     lag);
        free(d);
    }
}

/* Whatever the intervals of columns, and on any number of threads: the bits of all columns at once.
 */
TEST(intervals_have_the_same_bits) {
    double x[9][3] = {{2, 0, 0},  {0, 2, 0},       {0, 0, 2}, {1.1, 1, 0}, {3, 1, 1},
                      {0, -2, 0}, {0.2, 0.1, 0.1}, {5, 5, 5}, {1, 1, 1}};
    const int cuts[][5] = {{81, 162}, {1, 161, 162}, {40, 41, 100, 130, 162}, {162}};
    for (int numbered = 0; numbered < 2; numbered++) {
        OWN(mesh) *m = body("sphere:2");
        if (numbered) assert_int_equal(mesh_renumber(m, NUMBERING_HILBERT), EVN_OK);
        for (int problem = 0; problem < 4; problem++) {
            struct slices_options o = rigid(m, 0.5, problem % 3 ? 0 : 0.5);
            if (problem >= 2) o.problem = TDBEM_SOFT;
            o.points = 9;
            o.point = (const double(*)[3])x;
            OWN(slices) *all = generate(m, &o, 2);
            struct slices_csr now;
            assert_int_equal(slices_matrix(&now, all, 0, 1), EVN_OK);
            for (int c = 0; c < 4; c++) {
                struct slices_maker *maker;
                if (slices_maker_open(&maker, m, &o, 1 + c)) fail_msg("%s", evn_message());
                const struct slices *s = slices_maker_slices(maker);
                struct slices_csr part;
                assert_int_equal(slices_matrix_open(&part, s, 0, 30, s->rows), EVN_OK);
                for (int i = 0, from = 0; from < s->columns; i++) {
                    const int to = cuts[c][i];
                    if (slices_maker_next(maker, to)) fail_msg("%s", evn_message());
                    assert_true(s->from == from && s->to == to);
                    for (int j = from; j < to; j++)
                        assert_memory_equal(slices_column(s, j), slices_column(all, j),
                                            (s->begin[j + 1] - s->begin[j]) * sizeof(double));
                    slices_matrix_add(&part, s);
                    from = to;
                }
                for (int i = 0; i <= part.rows; i++)
                    assert_true(part.start[i] == now.start[i + 30] - now.start[30]);
                const size_t count = part.start[part.rows];
                assert_true(count > 0);
                assert_memory_equal(part.value, now.value + now.start[30], count * sizeof(double));
                assert_memory_equal(part.column, now.column + now.start[30], count * sizeof(int));
                slices_csr_free(&part);
                slices_maker_close(maker);
            }
            slices_csr_free(&now);
        }
    }
}

/* Ranges that come by parts, and by others again: those of all at once. On the box distances are
 * multiples of delta everywhere, where rounding decides. */
TEST(ranges_by_parts) {
    double x[3][3] = {{2, 0, 0}, {0.2, 0.1, 0.1}, {5, 5, 5}};
    const char *const bodies[] = {"box:1,1,1,0.25", "sphere:2"};
    const int widths[] = {1, 13, 60, 1000};
    for (int c = 0; c < 16; c++) {
        OWN(mesh) *m = body(bodies[c & 1]);
        assert_ok(mesh_renumber(m, c & 2 ? NUMBERING_HILBERT : NUMBERING_NONE));
        struct slices_options o = rigid(m, 0.5, 0.5);
        if (!(c & 1)) o.delta = 0.125;
        o.points = 3;
        o.point = (const double(*)[3])x;
        OWN(slices) *all = generate(m, &o, 2);
        struct slices_maker *maker;
        assert_ok(slices_maker_prepare(&maker, m, &o, 2));
        assert_int_equal(slices_maker_next(maker, 1), EVN_USAGE); /* sizes are not known yet */
        assert_int_equal(slices_maker_ranges(maker, 1, 2), EVN_USAGE);
        const struct slices *s = slices_maker_slices(maker);
        const int width = widths[c / 4], n = s->columns;
        for (int pass = 0; pass < 2; pass++)
            for (int from = 0; from < n; from += width) {
                const int to = from + width < n ? from + width : n;
                assert_ok(slices_maker_ranges(maker, from, to));
                assert_true(s->low <= from && s->high >= to);
                const size_t at = slices_at(all, from), count = slices_at(all, to) - at;
                assert_memory_equal(s->first + slices_at(s, from), all->first + at,
                                    count * sizeof *s->first);
                assert_memory_equal(s->count + slices_at(s, from), all->count + at, count);
            }
        assert_memory_equal(s->begin, all->begin, ((size_t)n + 1) * sizeof *s->begin);
        assert_true(s->kmax == all->kmax && s->kmax_points == all->kmax_points);
        assert_true(s->nnz == all->nnz && s->longest == all->longest);
        assert_ok(slices_maker_ranges(maker, 0, 0)); /* none is kept */
        assert_int_equal(s->high, 0);
        for (int from = 0, to = 40; from < n; from = to, to = to + 40 < n ? to + 40 : n) {
            assert_ok(slices_maker_next(maker, to));
            for (int j = from; j < to; j++)
                assert_memory_equal(slices_column(s, j), slices_column(all, j),
                                    (s->begin[j + 1] - s->begin[j]) * sizeof(double));
        }
        slices_maker_close(maker);
    }
}

/* ---- numbering ---- */

TEST(curves) {
    const uint32_t at[3] = {1, 2, 3}; /* bits 01, 10, 11: 011 then 101 */
    assert_int_equal(numbering_morton(at), 035);
    enum { SIDE = 8 };
    static int x[SIDE * SIDE * SIDE][3];
    memset(x, -1, sizeof x);
    /* the curve through the first 8^3 points goes from neighbour to neighbour */
    for (uint32_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        const uint32_t p[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        uint64_t key = numbering_hilbert(p);
        assert_true(key < SIDE * SIDE * SIDE && x[key][0] < 0);
        for (int c = 0; c < 3; c++) x[key][c] = (int)p[c];
    }
    for (int k = 1; k < SIDE * SIDE * SIDE; k++) {
        int step = 0;
        for (int c = 0; c < 3; c++) step += abs(x[k][c] - x[k - 1][c]);
        assert_int_equal(step, 1);
    }
    enum numbering n;
    assert_int_equal(numbering_find(&n, "hilbert"), EVN_OK);
    assert_int_equal(n, NUMBERING_HILBERT);
    assert_int_equal(numbering_find(&n, "tsp"), EVN_OK);
    assert_int_equal(n, NUMBERING_TSP);
    assert_int_equal(numbering_find(&n, "peano"), EVN_USAGE);
}

static double way_length(const struct mesh *m) {
    double sum = 0;
    for (int v = 1; v < m->vertices; v++) {
        const double *a = m->x[v - 1], *b = m->x[v];
        sum += hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
    }
    return sum;
}

TEST(numbering_only_renumbers) {
    OWN(mesh) *plain = body("sphere:2"), *m = body("sphere:2");
    double score[4], length[3];
    for (int soft = 0; soft <= 1; soft++)
        for (int eta = 0; eta <= 1; eta++) {
            struct slices_options o = rigid(plain, 0.5, 0.5 * eta);
            o.problem = soft ? TDBEM_SOFT : TDBEM_RIGID;
            OWN(slices) *s = generate(plain, &o, 2);
            score[0] = slices_score(s, s->columns);
            const enum numbering orders[] = {NUMBERING_MORTON, NUMBERING_HILBERT, NUMBERING_TSP,
                                             NUMBERING_NONE};
            for (int order = 0; order < 4; order++) {
                assert_int_equal(mesh_renumber(m, orders[order]), EVN_OK);
                OWN(slices) *t = generate(m, &o, 2);
                if (order < 3) score[1 + order] = slices_score(t, t->columns);
                if (order < 3) length[order] = way_length(m);
                for (int j = 0; j < t->columns; j += 3)
                    for (int i = 0; i < t->columns; i++) {
                        int first[2], count[2];
                        const double *a =
                            slices_row(s, m->number[i], m->number[j], &first[0], &count[0]);
                        const double *b = slices_row(t, i, j, &first[1], &count[1]);
                        assert_true(first[0] == first[1] && count[0] == count[1]);
                        for (int l = 0; l < count[0]; l++)
                            if (!(fabs(a[l] - b[l]) < 1e-14))
                                fail_msg("order %d: (%d,%d): %g instead of %g", order, i, j, b[l],
                                         a[l]);
                    }
            }
            for (int v = 0; v < m->vertices; v++) assert_int_equal(m->number[v], v);
            assert_true(mesh_hash(m) == mesh_hash(plain));
            assert_true(score[1] > score[0] && score[2] > score[0] && score[3] > score[2]);
            /* no step can be shorter than the shortest edge; 2-opt is some 5 % above the best */
            assert_true(length[2] < 0.9 * length[1] && length[2] < 1.15 * 161 * m->h_mean);
        }
}

/* ---- on disk ---- */

static void refused(const struct mesh *m, const struct slices_options *o, const char *file,
                    const char *why) {
    struct slices *s;
    assert_int_equal(slices_load(&s, m, o, file), EVN_USAGE);
    assert_null(s);
    if (!strstr(evn_message(), why)) fail_msg("\"%s\" does not say \"%s\"", evn_message(), why);
}

static void change_byte(const char *file, long at) {
    OWN(file) *f = fopen(file, "r+b");
    assert_non_null(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    int c = fgetc(f);
    fseek(f, -1, SEEK_CUR);
    fputc(c ^ 0x10, f);
}

static void same_files(const char *one, const char *other) {
    OWN(file) *a = fopen(one, "rb"), *b = fopen(other, "rb");
    assert_true(a && b);
    for (int c = 0; c != EOF;) {
        c = fgetc(a);
        assert_int_equal(c, fgetc(b));
    }
}

/* Slices of a sphere with two points, kept in a file. */
struct kept {
    char folder[32], file[64];
    struct mesh *m;
    double x[2][3];
    struct slices_options o;
    struct slices *s;
};

static void keep(struct kept *k) {
    *k = (struct kept){.folder = "/tmp/evener-slices-XXXXXX", .x = {{2, 0, 0}, {0, 2, 0}}};
    assert_non_null(mkdtemp(k->folder));
    snprintf(k->file, sizeof k->file, "%s/m", k->folder);
    k->m = body("sphere:1");
    k->o = rigid(k->m, 0.5, 0.5);
    k->o.points = 2;
    k->o.point = (const double(*)[3])k->x;
    k->s = generate(k->m, &k->o, 2);
    assert_false(slices_file_exists(k->file));
    assert_ok(slices_save(k->s, k->m, &k->o, k->file));
    assert_true(slices_file_exists(k->file));
}

static void drop(struct kept *k) {
    struct slices *t;
    unlink(k->file);
    assert_int_equal(rmdir(k->folder), 0); /* nothing was left beside */
    assert_int_equal(slices_load(&t, k->m, &k->o, k->file), EVN_SYSTEM);
    slices_close(k->s);
    mesh_close(k->m);
}

TEST(files_are_kept) {
    ENDS(drop) struct kept k;
    OWN(slices) *t;
    keep(&k);
    const struct slices *s = k.s;
    assert_ok(slices_load(&t, k.m, &k.o, k.file));
    const size_t values = s->begin[s->columns], entries = (size_t)s->rows * (size_t)s->columns;
    assert_memory_equal(s->value, t->value, values * sizeof(double));
    assert_memory_equal(s->begin, t->begin, ((size_t)s->columns + 1) * sizeof(size_t));
    assert_memory_equal(s->first, t->first, entries * sizeof *s->first);
    assert_memory_equal(s->count, t->count, entries);
    assert_true(t->kmax == s->kmax && t->kmax_points == s->kmax_points && t->nnz == s->nnz &&
                t->longest == s->longest && t->eta == s->eta && t->delta == s->delta);
    slices_close(t);

    /* where nothing can be written an earlier file stays */
    char beneath[80];
    snprintf(beneath, sizeof beneath, "%s/m/m", k.folder);
    assert_int_equal(slices_save(s, k.m, &k.o, "/nowhere/at/all"), EVN_SYSTEM);
    assert_int_equal(slices_save(s, k.m, &k.o, beneath), EVN_SYSTEM);
    assert_int_equal(slices_save(s, k.m, &k.o, k.folder), EVN_SYSTEM); /* a folder has that name */
    assert_ok(slices_load(&t, k.m, &k.o, k.file));
}

/* The same file by intervals, and by intervals from it. */
TEST(files_by_intervals) {
    ENDS(drop) struct kept k;
    struct slices_maker *maker;
    struct slices_writer *writer;
    struct slices_reader *reader;
    char parts[80];
    keep(&k);
    snprintf(parts, sizeof parts, "%s/p", k.folder);
    assert_ok(slices_maker_open(&maker, k.m, &k.o, 2));
    const struct slices *made = slices_maker_slices(maker);
    for (int again = 0; again < 2; again++) { /* given up the first time */
        assert_ok(slices_writer_open(&writer, k.m, &k.o, parts, 0));
        assert_ok(slices_writer_ranges(writer, made, 0, 17));
        assert_ok(slices_writer_ranges(writer, made, 17, 42));
        for (int to = 7; again && to <= 42; to += 7) {
            assert_ok(slices_maker_next(maker, to));
            assert_ok(slices_writer_put(writer, made));
        }
        if (again) assert_ok(slices_writer_commit(writer, made));
        slices_writer_close(writer);
        assert_int_equal(slices_file_exists(parts), again);
    }
    slices_maker_close(maker);
    same_files(k.file, parts);
    for (int bad = 0; bad < 2; bad++) {
        if (bad) change_byte(parts, -9 - 42 * 8); /* in the last column */
        assert_ok(slices_reader_open(&reader, k.m, &k.o, parts));
        const struct slices *r = slices_reader_slices(reader);
        for (int to = 2; to <= 42; to += 8) {
            const int last = to == 42;
            assert_int_equal(slices_reader_next(reader, to), last && bad ? EVN_USAGE : EVN_OK);
            for (int j = r->from; j < to && !bad; j++)
                assert_memory_equal(slices_column(r, j), slices_column(k.s, j),
                                    (k.s->begin[j + 1] - k.s->begin[j]) * sizeof(double));
        }
        slices_reader_close(reader);
    }
    unlink(parts);
}

/* Matrices of another problem, and files that were changed. */
TEST(files_are_checked) {
    struct kept k;
    struct slices *t;
    keep(&k);
    struct mesh *m = k.m, *other = body("box:1,1,1,0.5");
    struct slices_options p;
    p = k.o, p.delta *= 1 + 1e-15;
    refused(m, &p, k.file, "delta");
    p = k.o, p.eta = 0.25;
    refused(m, &p, k.file, "eta");
    p = k.o, p.quad = 1;
    refused(m, &p, k.file, "--quad");
    p = k.o, p.rule = 7;
    refused(m, &p, k.file, "rule");
    p = k.o, p.points = 1;
    refused(m, &p, k.file, "points");
    p = k.o, p.problem = TDBEM_SOFT;
    refused(m, &p, k.file, "problem");
    k.x[1][2] = 1e-9;
    refused(m, &k.o, k.file, "points");
    k.x[1][2] = 0;
    refused(other, &k.o, k.file, "mesh");
    assert_ok(mesh_renumber(m, NUMBERING_HILBERT));
    refused(m, &k.o, k.file, "another order");
    assert_ok(mesh_renumber(m, NUMBERING_NONE));
    struct stat st;
    assert_int_equal(stat(k.file, &st), 0);
    const long places[] = {0, 8, 130, 200, 2000, st.st_size / 2, -1, -9};
    for (int c = 0; c < 8; c++) {
        change_byte(k.file, places[c]);
        assert_int_equal(slices_load(&t, m, &k.o, k.file), EVN_USAGE);
        change_byte(k.file, places[c]);
    }
    assert_int_equal(truncate(k.file, st.st_size - 1), 0);
    refused(m, &k.o, k.file, "damaged");
    assert_int_equal(truncate(k.file, 10), 0);
    refused(m, &k.o, k.file, "not a file of matrices");
    assert_ok(slices_save(k.s, m, &k.o, k.file)); /* over a damaged one */
    assert_ok(slices_load(&t, m, &k.o, k.file));
    slices_close(t);
    mesh_close(other);
    drop(&k);
}

/* Ranges that lead astray, in files whose checksum is right. */
TEST(files_are_not_believed) {
    ENDS(drop) struct kept k;
    keep(&k);
    struct slices *s = k.s;
    const size_t places[] = {0, (size_t)s->rows - 1, (size_t)s->rows * 17 + 20};
    for (int c = 0; c < 3; c++) {
        const uint16_t first = s->first[places[c]];
        const uint8_t count = s->count[places[c]];
        s->first[places[c]] = UINT16_MAX;
        assert_ok(slices_save(s, k.m, &k.o, k.file));
        refused(k.m, &k.o, k.file, "damaged");
        s->first[places[c]] = (uint16_t)(places[c] % 44 < 42 ? s->kmax : 60000);
        assert_ok(slices_save(s, k.m, &k.o, k.file));
        refused(k.m, &k.o, k.file, "damaged");
        s->first[places[c]] = first;
        s->count[places[c]]--; /* one value too many then */
        assert_ok(slices_save(s, k.m, &k.o, k.file));
        refused(k.m, &k.o, k.file, "damaged");
        s->count[places[c]] = count;
    }
    unlink(k.file);
    assert_int_equal(mkfifo(k.file, 0600), 0);
    OWN(file) *ends = fopen(k.file, "r+");
    assert_non_null(ends);
    refused(k.m, &k.o, k.file, "no regular file");
}

/* ---- blocks ---- */

/* Row i of the block, column j, against the slices; the skew lag moves values between k = 0 and 1
 * only. */
static void block_agrees(const struct slices *s, const struct slices_block *b, int i, int j,
                         int row, int column, double max) {
    const size_t at = (size_t)i * (size_t)b->columns + (size_t)j;
    int first, count;
    const double *want = slices_row(s, row, column, &first, &count);
    const double *is = b->value + b->begin[at];
    if (b->first[at] != first || b->count[at] != count)
        fail_msg("row %d, column %d: k from %d, %d of them, should be from %d, %d", row, column,
                 b->first[at], b->count[at], first, count);
    assert_int_equal(b->begin[at + 1] - b->begin[at], count);
    const int lagged = s->eta > 0 && !first && row < s->columns && row != column;
    for (int m = 0; m < count; m++) {
        double now = is[m], then = want[m];
        if (m < 2 && lagged) now = is[0] + is[1], then = want[0] + want[1];
        if (!(fabs(now - then) <= 2e-12 * max))
            fail_msg("row %d, column %d, k %d: %.17g, should be %.17g", row, column, first + m, now,
                     then);
    }
}

/* Two blocks of vertices and points anywhere, in the room of one. */
static void blocks_agree(const struct mesh *m, const struct slices_options *o) {
    OWN(slices) *s = generate(m, o, 2);
    struct slices_body *body;
    struct slices_block b = {0};
    unsigned long long seed = 3;
    assert_ok(slices_body_open(&body, m, o));
    const double max = largest(s);
    for (int n = 0; n < 2; n++) {
        int row[64], column[64], rows = 0, columns = 0;
        for (int i = 0; i < s->rows; i++)
            if (rows < 40 && draw(&seed) < (n ? 0.2 : 0.9)) row[rows++] = s->rows - 1 - i;
        for (int j = 0; j < s->columns; j++)
            if (columns < 50 && draw(&seed) < (n ? 0.9 : 0.3)) column[columns++] = j;
        assert_ok(slices_block(&b, body, row, rows, column, columns));
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) block_agrees(s, &b, i, j, row[i], column[j], max);
    }
    slices_block_close(&b);
    slices_body_close(body);
}

TEST(blocks_are_the_slices) {
    const double point[6][3] = {{2, 0, 0}, {0, 1.2, 0}, {0.5, 0.5, 0.5},
                                {0, 0, 3}, {2, 2, 2},   {1.1, 0.9, -2}};
    const char *const bodies[] = {"box:1,1,1,0.25", "sphere:2"};
    for (int w = 0; w < 2; w++)
        for (int kind = 0; kind < 4; kind++) {
            OWN(mesh) *m = body(bodies[w]);
            struct slices_options o = rigid(m, 0.5, kind & 1 ? 0.5 : 0);
            o.problem = kind & 2 ? TDBEM_SOFT : TDBEM_RIGID;
            o.points = 6;
            o.point = point;
            blocks_agree(m, &o);
        }
}

TEST(bad_blocks) {
    OWN(mesh) *m = body("sphere:1");
    struct slices_options o = rigid(m, 0.5, 0.5);
    struct slices_body *s;
    struct slices_block b = {0};
    const int bad[2] = {1, 42}, good[1] = {3};
    assert_ok(slices_body_open(&s, m, &o));
    assert_fails(slices_block(&b, s, bad, 2, good, 1), EVN_USAGE, "row 1 of a block is 42");
    assert_fails(slices_block(&b, s, good, 1, bad, 2), EVN_USAGE, "column 1 of a block is 42");
    assert_ok(slices_block(&b, s, good, 1, bad, 1));
    slices_block_close(&b);
    slices_body_close(s);
    o.delta = -1;
    assert_fails(slices_body_open(&s, m, &o), EVN_USAGE, "delta");
    assert_null(s);
}

/* ---- bad options ---- */

static int stop_early(double done, void *arg) {
    int *calls = arg;
    assert_true(done > 0 && done <= 1);
    return ++*calls >= 3;
}

TEST(bad_options) {
    OWN(mesh) *m = body("sphere:1");
    struct slices *s;
    const double wrong[] = {0, -1, NAN, INFINITY};
    for (int w = 0; w < 4; w++) {
        struct slices_options o = {.delta = wrong[w], .eta = 0.5};
        assert_fails(slices_generate(&s, m, &o, 1), EVN_USAGE, "delta");
        o = rigid(m, 0.5, wrong[w] == 0 ? -0.5 : wrong[w]);
        assert_fails(slices_generate(&s, m, &o, 1), EVN_USAGE, "eta");
    }
    struct slices_options o = rigid(m, 1e-9, 0.5); /* too many steps */
    assert_int_equal(slices_generate(&s, m, &o, 1), EVN_USAGE);
    o = rigid(m, 0.004, 0.5); /* row-vectors too long */
    assert_int_equal(slices_generate(&s, m, &o, 1), EVN_USAGE);
    o = rigid(m, 0.5, 0.5);
    o.quad = 9;
    assert_int_equal(slices_generate(&s, m, &o, 1), EVN_USAGE);
    double x[1][3] = {{0, NAN, 0}};
    o = rigid(m, 0.5, 0.5);
    o.points = 1;
    o.point = (const double(*)[3])x;
    assert_fails(slices_generate(&s, m, &o, 1), EVN_USAGE, "point 0: coordinate y");
    x[0][1] = 1e9;
    assert_int_equal(slices_generate(&s, m, &o, 1), EVN_USAGE);
    o.points = 0;
    struct slices_entry e = {0, 42, 0, 0};
    assert_int_equal(slices_entries(&e, 1, m, &o), EVN_USAGE);
    e = (struct slices_entry){-1, 0, 0, 0};
    assert_int_equal(slices_entries(&e, 1, m, &o), EVN_USAGE);
    int calls = 0;
    o.progress = stop_early;
    o.arg = &calls;
    assert_int_equal(slices_generate(&s, m, &o, 1), EVN_STOPPED);
    assert_null(s);
    assert_int_equal(calls, 3);
}

RUN_TESTS(NULL, NULL)
