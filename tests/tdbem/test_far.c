/* The fast method: cells that have each pair of vertices once, and the far field against the plain
 * method's matrices, which are made another way; and on a device against the host's.
 * Run: ctest -R tdbem_far */
#include "check.h"
#include "tdbem/fast/far_gpu.h"
#include "tdbem/fast/vectors.h"
#include "tdbem/mesh/mesh_mirror.h"
#include <complex.h>
#include <math.h>

enum { GROUP = 16, STEPS = 96 };

extern const evn_kernel_source far_short_kernels; /* whether products are fused */

/* Wave number of eight edges. */
static double highest(const struct mesh *m) { return 2 * M_PI / (8 * m->h_mean); }

/* Rigid, with an admittance of each triangle's own, and a filter on one half of them. */
enum { FILTERED = TDBEM_SOFT + 1 };

struct body {
    struct mesh *mesh;
    double *beta;
    int *filter;
    struct octree *cells;
    struct slices_options options;
    struct far *far;
};

static void open_far(struct body *b, double accuracy) {
    const struct far_options o = {.slices = &b->options,
                                  .high = slices_rows(b->mesh, &b->options),
                                  .group = GROUP,
                                  .accuracy = accuracy,
                                  .highest = highest(b->mesh),
                                  .cores = 2};
    if (far_open(&b->far, b->cells, b->mesh, &o)) fail_msg("%s", evn_message());
}

/* With leaves of 3.3 edges; planes: NULL or as mirror_read() has them. */
static void open_body(struct body *b, const char *what, int kind, double step, const char *planes) {
    const double leaf = 3.3;
    struct mirror mirror;
    *b = (struct body){0};
    if (mirror_read(&mirror, planes) || mirror_open(&b->mesh, what, 1, &mirror))
        fail_msg("%s", evn_message());
    const struct mesh *m = b->mesh;
    b->beta = kind == FILTERED ? malloc((size_t)m->triangles * sizeof *b->beta) : NULL;
    b->filter = kind == FILTERED ? malloc((size_t)m->triangles * sizeof *b->filter) : NULL;
    for (int t = 0; b->beta && t < m->triangles; t++) b->beta[t] = t % 3 * 0.5;
    for (int t = 0; b->filter && t < m->triangles; t++)
        b->filter[t] = m->x[m->corner[t][0]][0] > 0 ? 0 : -1;
    int level = 0;
    while (ldexp(leaf * m->h_mean, level) < m->longest) level++;
    assert_int_equal(octree_open(&b->cells, b->mesh, ldexp(leaf * b->mesh->h_mean, level), level),
                     EVN_OK);
    b->options = (struct slices_options){.problem = kind == TDBEM_SOFT ? TDBEM_SOFT : TDBEM_RIGID,
                                         .eta = kind == TDBEM_SOFT ? 2 : 0.5,
                                         .delta = step * b->mesh->h_mean,
                                         .beta = b->beta,
                                         .filter = b->filter,
                                         .filters = b->filter != NULL};
}

static void close_body(struct body *b) {
    far_close(b->far);
    octree_close(b->cells);
    mesh_close(b->mesh);
    free(b->beta);
    free(b->filter);
}

/* A pulse that passes along (1,2,2)/3. */
static double pulse(const struct mesh *m, int n, double delta, int v) {
    const double at = (m->x[v][0] + 2 * m->x[v][1] + 2 * m->x[v][2]) / 3;
    const double t = (n * delta - at) / (4 * m->h_mean) - 3;
    return exp(-t * t / 2);
}

static double *steps_of(const struct body *b) {
    double *a = calloc((size_t)((STEPS + 1) * b->mesh->vertices), sizeof *a);
    assert_non_null(a);
    for (int n = 1; n <= STEPS; n++)
        for (int v = 0; v < b->mesh->vertices; v++)
            a[n * b->mesh->vertices + v] = pulse(b->mesh, n, b->options.delta, v);
    return a;
}

/* The far field's sums of all steps, in all rows. */
static double *sums_of(const struct body *b, const double *a) {
    const int vertices = b->mesh->vertices, rows = slices_rows(b->mesh, &b->options);
    double *sum = calloc((size_t)((STEPS + 1) * rows), sizeof *sum);
    far_state *past = calloc(b->far->doubles, sizeof *past);
    assert_true(sum && past);
    for (int n = 1; n <= STEPS; n++) {
        far_begin(b->far, past, n, NULL);
        for (int i = 0; i < rows; i++) sum[n * rows + i] = far_sum(b->far, past, n, i);
        far_note(b->far, past, n, a + n * vertices, NULL);
    }
    free(past);
    return sum;
}

/* Adds `sign` times what a row has of all columns to the sums of all steps. */
static void add_row(double *sum, const struct slices *s, int row, const double *a, double sign) {
    for (int j = 0; j < s->columns; j++) {
        int first, count;
        const double *value = slices_row(s, row, j, &first, &count);
        for (int n = 1; n <= STEPS; n++)
            for (int k = first; k < first + count && k < n; k++)
                sum[n] += sign * value[k - first] * a[(n - k) * s->columns + j];
    }
}

/* The means that far row-vectors see of a vertex's steps until n. */
static double mean_at(const struct vectors *v, const double *a, int n, int j) {
    const int mean = v->taps.mean, vertices = v->mesh->vertices;
    double sum = 0;
    for (int k = 0; k <= mean && k <= n; k++)
        sum += (k == 0 || k == mean ? 0.5 : 1) * a[(n - k) * vertices + j];
    return mean ? sum / mean : a[n * vertices + j];
}

/* Likewise of the far field's row-vectors between the vertices themselves, of which no cell's
 * skeleton makes any. */
static void add_own(double *sum, const struct body *b, const struct vectors *v, int row,
                    const double *a) {
    const int vertices = b->mesh->vertices, i = row % vertices;
    struct vectors_block own = {0};
    const struct vectors_side rows = {&i, 1, {0, -1}};
    for (int j = 0; j < vertices; j++)
        for (int image = 0; image <= b->cells->images; image++) {
            const struct vectors_side column = {&j, 1, {image, row / vertices - 1}};
            if (octree_near(b->cells, i, j, image)) continue;
            assert_int_equal(vectors_make(&own, v, &rows, &column), EVN_OK);
            for (int n = 1; n <= STEPS; n++)
                for (int l = 0, k = own.first[0]; l < v->taps.count && k < n;
                     l++, k += v->taps.apart)
                    sum[n] += own.value[l] * mean_at(v, a, n - k, j);
        }
    vectors_block_close(&own);
}

/* The largest differences of the far field's sums to the plain and to the whole ones, over the
 * largest of the plain ones of its field; a row in eighty is looked at. The plain ones are what all
 * have, less the near ones. */
static void find_errors(double error[2], struct body *b, const struct slices *s,
                        const struct slices *near, double accuracy) {
    struct vectors v;
    open_far(b, accuracy);
    assert_int_equal(vectors_open(&v, b->mesh, &b->options, highest(b->mesh), accuracy), EVN_OK);
    double *a = steps_of(b), *is = sums_of(b, a), largest[2] = {0}, most[2][2] = {{0}};
    for (int i = 20; i < s->rows; i += 80) {
        const int field = i / b->mesh->vertices;
        double plain[STEPS + 1] = {0}, own[STEPS + 1] = {0};
        add_row(plain, s, i, a, 1);
        add_row(plain, near, i, a, -1);
        add_own(own, b, &v, i, a);
        for (int n = 1; n <= STEPS; n++) {
            const double far = is[n * s->rows + i];
            largest[field] = fmax(largest[field], fabs(plain[n]));
            most[0][field] = fmax(most[0][field], fabs(far - plain[n]));
            most[1][field] = fmax(most[1][field], fabs(far - own[n]));
        }
    }
    for (int e = 0; e < 2; e++) {
        error[e] = most[e][0] / largest[0];
        if (largest[1] > 0) error[e] = fmax(error[e], most[e][1] / largest[1]);
    }
    assert_true((largest[1] > 0) == (b->filter != NULL));
    free(a);
    free(is);
    vectors_close(&v);
    far_close(b->far);
    b->far = NULL;
}

/* Beside the plain ones there are its aliases: between walls that face each other they make a
 * hundredth at the pulse's frequencies. */
TEST(far_sums_are_the_plain_ones_within_the_accuracy) {
    static const struct {
        const char *name, *planes;
        int kind;
        double step, error; /* to the whole ones */
    } cases[] = {{"filtered", NULL, FILTERED, 0.5, 8e-4},
                 {"in a corner", "x=-1.5,z=-0.5", FILTERED, 0.5, 2e-3},
                 {"soft, above a plane, short steps", "z=-0.8", TDBEM_SOFT, 0.3, 8e-4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct body b;
        struct slices *s, *near;
        double rough[2], fine[2];
        open_body(&b, "box:3,1.5,1,0.3", cases[c].kind, cases[c].step, cases[c].planes);
        struct slices_options so = b.options;
        if (slices_generate(&s, b.mesh, &so, 2)) fail_msg("%s", evn_message());
        so.near = b.cells;
        if (slices_generate(&near, b.mesh, &so, 2)) fail_msg("%s", evn_message());
        find_errors(rough, &b, s, near, 1e-2);
        find_errors(fine, &b, s, near, 1e-4);
        print_message("%s: %.2g, %.2g; whole %.2g, %.2g\n", cases[c].name, rough[0], fine[0],
                      rough[1], fine[1]);
        assert_true(rough[0] < 3e-2 && fine[0] < 3e-2);
        assert_true(rough[1] < 3e-2 && fine[1] < cases[c].error && fine[1] > 0);
        slices_close(s);
        slices_close(near);
        close_body(&b);
    }
}

/* Each pair of a vertex and an image of another is in near leaves, or below one pair of far cells.
 */
TEST(each_pair_of_vertices_once) {
    static const char *const planes[] = {NULL, "z=-1.01", "x=-1.2,y=-4,z=1.3"};
    for (int p = 0; p < 3; p++) {
        struct body b;
        open_body(&b, "sphere:3", TDBEM_RIGID, 0.5, planes[p]);
        const struct octree *c = b.cells;
        const int n = b.mesh->vertices, all = octree_cells(c), pairs = (c->images + 1) * n * n;
        char *times = calloc((size_t)pairs, 1);
        for (int a = 0; a < all; a++)
            for (int f = 0; f < c->cell[a].fars; f++) {
                const int entry = c->list[c->cell[a].far + f];
                const struct cell *far = &c->cell[entry % all];
                for (int i = c->cell[a].begin; i < c->cell[a].end; i++)
                    for (int j = far->begin; j < far->end; j++)
                        times[(entry / all * n + i) * n + j]++;
            }
        int far = 0;
        for (int i = 0; i < pairs; i++) {
            assert_int_equal(times[i], !octree_near(c, i / n % n, i % n, i / n / n));
            far += times[i];
        }
        assert_true(far > pairs / 2 && far < pairs);
        free(times);
        close_body(&b);
    }
}

/* Near and far sums together leave a constant at rest, for as long as it lasts, and so do a
 * filter's rows. */
TEST(a_constant_stays) {
    struct body b;
    struct slices *near;
    open_body(&b, "box:3,1.5,1,0.25", FILTERED, 0.5, "x=-1.5,z=-0.8");
    open_far(&b, 1e-2);
    struct slices_options so = b.options;
    so.near = b.cells;
    if (slices_generate(&near, b.mesh, &so, 2)) fail_msg("%s", evn_message());
    const int vertices = b.mesh->vertices, rows = near->rows, steps = near->kmax + 2 * GROUP;
    double *sum = calloc((size_t)rows, sizeof *sum), *one = malloc((size_t)vertices * 8);
    const double *value = near->value;
    for (int v = 0; v < vertices; v++) one[v] = 1;
    for (int j = 0; j < vertices; j++)
        for (struct slices_walk w = slices_walk(near, j); w.row < rows; slices_step(&w))
            for (int k = near->count[w.at]; k > 0; k--) sum[w.row] += *value++;
    far_add_near(b.far, near);
    assert_int_equal(far_hold_constants(b.far, NULL), EVN_OK);
    far_state *past = calloc(b.far->doubles, sizeof *past);
    for (int n = 1; n <= 8 * steps; n++) {
        far_begin(b.far, past, n, NULL);
        for (int i = 0; n > steps && i < rows; i++)
            if (fabs(sum[i] + far_sum(b.far, past, n, i)) > 1e-12)
                fail_msg("step %d, row %d: %g", n, i, sum[i] + far_sum(b.far, past, n, i));
        far_note(b.far, past, n, one, NULL);
    }
    free(sum);
    free(one);
    free(past);
    slices_close(near);
    close_body(&b);
}

/* A state that was kept goes on with the same bits, also where a group after it was begun. */
TEST(a_state_goes_on) {
    struct body b;
    open_body(&b, "sphere:3", TDBEM_RIGID, 0.3, NULL);
    open_far(&b, 1e-2);
    assert_int_equal(far_hold_constants(b.far, NULL), EVN_OK);
    const int vertices = b.mesh->vertices;
    const size_t bytes = b.far->doubles * sizeof(far_state);
    double *a = steps_of(&b);
    far_state *past = calloc(1, bytes), *kept = malloc(bytes);
    for (int until = GROUP; until < STEPS; until += GROUP) {
        memset(past, 0, bytes);
        double after = 0, again = 0; /* sums after `until` */
        for (int n = 1, from = 0; n <= STEPS; n++) {
            if (n == until + 1) after = 0;
            if (n == until + 1 && !from) memcpy(kept, past, bytes);
            far_begin(b.far, past, n, NULL);
            after += far_sum(b.far, past, n, vertices / 2);
            far_note(b.far, past, n, a + n * vertices, NULL);
            if (n == until + GROUP && !from) from = n = until; /* the group once more */
        }
        for (int n = until + 1; n <= STEPS; n++) {
            far_begin(b.far, kept, n, NULL);
            again += far_sum(b.far, kept, n, vertices / 2);
            far_note(b.far, kept, n, a + n * vertices, NULL);
        }
        assert_true(after != 0 && again == after);
    }
    free(a);
    free(past);
    free(kept);
    close_body(&b);
}

/* Largest difference of a device's sums to the host's, over the largest one; the device's state
 * goes on after it came home in the middle of a period, to another device. */
static double device_error(const struct body *b) {
    const int vertices = b->mesh->vertices, rows = slices_rows(b->mesh, &b->options);
    double *a = steps_of(b), *want = sums_of(b, a), most = 0, largest = 0;
    far_state *past[2] = {calloc(b->far->doubles, sizeof **past), malloc(sizeof **past)};
    const int turn = 4 * b->far->period + b->far->period / 2;
    evn_device *device;
    struct far_gpu *gpu;
    assert_non_null(past[0]);
    assert_int_equal(evn_device_open(&device, test_device(), 0), EVN_OK);
    assert_int_equal(far_gpu_open(&gpu, b->far, device, 2), EVN_OK);
    assert_true((double)evn_device_counts(device, NULL).used <= far_gpu_bytes(b->far, 2) + 4096);
    assert_int_equal(far_gpu_take(gpu, 0, past[0]), EVN_OK);
    for (int n = 1, now = 0; n <= STEPS; n++) {
        if (n == turn) {
            assert_int_equal(far_gpu_home(gpu, 0), EVN_OK);
            past[1] = realloc(past[1], b->far->doubles * sizeof **past);
            memcpy(past[now = 1], past[0], b->far->doubles * sizeof **past);
            assert_int_equal(far_gpu_take(gpu, 1, past[1]), EVN_OK);
        }
        assert_int_equal(far_gpu_begin(gpu, now, n), EVN_OK);
        for (int i = 0; i < rows; i++) {
            const double is = far_sum(b->far, past[now], n, i), was = want[n * rows + i];
            if (!isfinite(is)) fail_msg("step %d, row %d: %g for %g", n, i, is, was);
            most = fmax(most, fabs(is - was));
            largest = fmax(largest, fabs(was));
        }
        assert_int_equal(far_gpu_note(gpu, now, n, a + n * vertices), EVN_OK);
    }
    far_gpu_close(gpu);
    evn_device_close(device);
    free(past[0]);
    free(past[1]);
    free(a);
    free(want);
    assert_true(largest > 0);
    return most / largest;
}

/* To the bit where nothing is fused. */
TEST(a_device_has_the_hosts_sums) {
    static const struct {
        const char *planes;
        int kind;
        double step, accuracy;
    } cases[] = {{"x=-1.5,z=-0.5", FILTERED, 0.5, 1e-2},
                 {NULL, TDBEM_SOFT, 0.2, 1e-3},
                 {NULL, TDBEM_RIGID, 0.3, 2e-5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct body b;
        open_body(&b, "box:3,1.5,1,0.3", cases[c].kind, cases[c].step, cases[c].planes);
        open_far(&b, cases[c].accuracy);
        if (cases[c].kind != TDBEM_SOFT) assert_int_equal(far_hold_constants(b.far, NULL), EVN_OK);
        const double error = device_error(&b);
        print_message("period %d, mean %d, taps %d: %g\n", b.far->period, b.far->mean, b.far->taps,
                      error);
        assert_true(error <= (far_short_kernels.contract ? 1e-14 : 0));
        close_body(&b);
    }
}

/* sum over k of values times exp(-i theta k). */
static double complex symbol(const double *value, int first, int apart, int count, double theta) {
    double complex sum = 0;
    for (int k = 0; k < count; k++) sum += value[k] * cexp(-I * theta * (first + apart * k));
    return sum;
}

enum { THETAS = 6, SOME = 8 };

/* Adds the square of an entry's difference to the plain one, at frequencies of the band, to sum[0];
 * that of the plain one to sum[1]. */
static void compare_entry(const struct slices_options *o, const struct slices_block *plain,
                          const struct vectors *v, const struct vectors_block *fast,
                          double sum[2]) {
    for (int t = 1; t <= THETAS; t++) {
        const double theta = highest(v->mesh) * o->delta * t / THETAS;
        const double complex was = symbol(plain->value, plain->first[0], 1, plain->count[0], theta);
        const double complex is =
            symbol(fast->value, fast->first[0], v->taps.apart, v->taps.count, theta) *
            taps_mean(&v->taps, theta) * cexp(-I * theta * 0.5 * v->taps.mean);
        sum[0] += pow(cabs(is - was), 2);
        sum[1] += pow(cabs(was), 2);
    }
}

/* Far vertices one of which sees the other at a slant, so that aliases of the steps, which far
 * entries do not have, cancel in the plain ones. */
static int is_slanted(const struct vectors *v, int i, int j) {
    const double *x = v->mesh->x[i], *y = v->mesh->x[j];
    const double *n = v->spots.spot[v->spots.start[i]].normal,
                 *m = v->spots.spot[v->spots.start[j]].normal;
    double r2 = 0, at_x = 0, at_y = 0;
    for (int c = 0; c < 3; c++) {
        r2 += (x[c] - y[c]) * (x[c] - y[c]);
        at_x += (x[c] - y[c]) * n[c];
        at_y += (x[c] - y[c]) * m[c];
    }
    const double r = sqrt(r2);
    return r > 6.7 * v->mesh->h_mean && fmin(fabs(at_x), fabs(at_y)) < 0.6 * r;
}

/* The root of the mean square of the differences of such entries, over that of the entries. */
static double entry_error(const char *what, enum tdbem_problem problem, double step,
                          double accuracy) {
    struct mesh *m;
    struct vectors v;
    struct vectors_block fast = {0};
    struct slices_block plain = {0};
    struct slices_body *body;
    double sum[2] = {0};
    if (mesh_open(&m, what)) fail_msg("%s", evn_message());
    const struct slices_options o = {.problem = problem,
                                     .eta = problem == TDBEM_RIGID ? 0.5 : 2,
                                     .delta = step * m->h_mean,
                                     .quad = 1};
    assert_int_equal(vectors_open(&v, m, &o, highest(m), accuracy), EVN_OK);
    assert_int_equal(slices_body_open(&body, m, &o), EVN_OK);
    for (int n = 0; n < SOME * SOME; n++) {
        const int i = n / SOME * (m->vertices - 1) / SOME, j = (i + 1 + 97 * n) % m->vertices;
        if (!is_slanted(&v, i, j)) continue;
        assert_int_equal(slices_block(&plain, body, &i, 1, &j, 1), EVN_OK);
        const struct vectors_side row = {&i, 1, {0, -1}}, column = {&j, 1, {0, -1}};
        assert_int_equal(vectors_make(&fast, &v, &row, &column), EVN_OK);
        compare_entry(&o, &plain, &v, &fast, sum);
    }
    slices_block_close(&plain);
    vectors_block_close(&fast);
    slices_body_close(body);
    vectors_close(&v);
    mesh_close(m);
    assert_true(sum[1] > 0);
    return sqrt(sum[0] / sum[1]);
}

TEST(entries_are_the_plain_ones_in_the_band) {
    static const struct {
        const char *body;
        double step, accuracy, error;
    } cases[] = {{"sphere:3", 0.5, 1e-3, 3e-3},
                 {"sphere:3", 0.2, 1e-4, 1e-3},
                 {"sphere:3", 0.5, 1e-7, 1e-3},
                 {"sphere:3", 0.8, 1e-3, 5e-3},
                 {"box:3,1.5,1,0.25", 0.5, 1e-3, 2e-2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int soft = 0; soft < 2; soft++) {
            const double error = entry_error(cases[c].body, soft ? TDBEM_SOFT : TDBEM_RIGID,
                                             cases[c].step, cases[c].accuracy);
            print_message("%s, step %g, %s: %.2g\n", cases[c].body, cases[c].step,
                          soft ? "soft" : "rigid", error);
            assert_true(error < cases[c].error);
        }
}

/* What the far field makes of steps of 1 and -1 in turn, over what it makes of steps of 1. */
static double of_sawtooth(double step) {
    struct body b;
    double sum[2] = {0};
    open_body(&b, "sphere:3", TDBEM_SOFT, step, NULL);
    open_far(&b, 1e-2);
    const int vertices = b.mesh->vertices, end = 2 * STEPS;
    double *a = malloc((size_t)vertices * sizeof *a);
    for (int sign = 0; sign < 2; sign++) {
        far_state *past = calloc(b.far->doubles, sizeof *past);
        for (int n = 1; n <= end; n++) {
            for (int v = 0; v < vertices; v++) a[v] = sign && n % 2 ? -1 : 1;
            far_begin(b.far, past, n, NULL);
            for (int i = 0; n > end - GROUP && i < vertices; i++)
                sum[sign] = fmax(sum[sign], fabs(far_sum(b.far, past, n, i)));
            far_note(b.far, past, n, a, NULL);
        }
        free(past);
    }
    free(a);
    close_body(&b);
    return sum[1] / sum[0];
}

/* With what taps of short steps made of them the field of a soft tube grew. */
TEST(steps_that_alternate_make_nothing) { assert_true(of_sawtooth(0.2) < 1e-12); }

RUN_TESTS(NULL, NULL)
