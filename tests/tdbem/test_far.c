/* The fast method: cells that have each pair of vertices once, and the far field against the plain
 * method's matrices, which are made another way.
 * Run: ctest -R tdbem_far */
#include "check.h"
#include "tdbem/fast/far.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 16, STEPS = 96 };

struct body {
    struct mesh *mesh;
    struct octree *cells;
    struct slices_options options;
    struct far *far;
};

static void open_body(struct body *b, const char *what, enum tdbem_problem problem, double leaf,
                      double accuracy) {
    if (mesh_open(&b->mesh, what)) fail_msg("%s", evn_message());
    int level = 0;
    while (ldexp(leaf * b->mesh->h_mean, level) < b->mesh->longest) level++;
    assert_int_equal(octree_open(&b->cells, b->mesh, ldexp(leaf * b->mesh->h_mean, level), level),
                     EVN_OK);
    b->options = (struct slices_options){.problem = problem,
                                         .eta = problem == TDBEM_RIGID ? 0.5 : 2,
                                         .delta = 0.5 * b->mesh->h_mean};
    const struct far_options o = {.slices = &b->options,
                                  .high = b->mesh->vertices,
                                  .group = GROUP,
                                  .accuracy = accuracy,
                                  .highest = 2 * M_PI / (8 * b->mesh->h_mean),
                                  .cores = 2};
    if (far_open(&b->far, b->cells, b->mesh, &o)) fail_msg("%s", evn_message());
}

static void close_body(struct body *b) {
    far_close(b->far);
    octree_close(b->cells);
    mesh_close(b->mesh);
}

/* A pulse that passes along (1,2,2)/3. */
static double pulse(const struct mesh *m, int n, double delta, int v) {
    const double at = (m->x[v][0] + 2 * m->x[v][1] + 2 * m->x[v][2]) / 3;
    const double t = (n * delta - at) / (4 * m->h_mean) - 3;
    return exp(-t * t / 2);
}

/* What the plain method has of step n in row i from vertices that are not in near leaves. */
static double plain_sum(const struct body *b, const struct slices *s, const double *a, int n,
                        int i) {
    double sum = 0;
    for (int j = 0; j < s->columns; j++) {
        int first, count;
        if (octree_near(b->cells, i, j)) continue;
        const double *value = slices_row(s, i, j, &first, &count);
        for (int k = first; k < first + count && k < n; k++)
            sum += value[k - first] * a[(n - k) * s->columns + j];
    }
    return sum;
}

static double *steps_of(const struct body *b) {
    double *a = calloc((size_t)((STEPS + 1) * b->mesh->vertices), sizeof *a);
    assert_non_null(a);
    for (int n = 1; n <= STEPS; n++)
        for (int v = 0; v < b->mesh->vertices; v++)
            a[n * b->mesh->vertices + v] = pulse(b->mesh, n, b->options.delta, v);
    return a;
}

/* The largest difference of the far field's sums to the plain ones, over the largest of these; a
 * row in ten is looked at. */
static double error_of(const char *what, enum tdbem_problem problem, double accuracy) {
    struct body b;
    struct slices *s;
    open_body(&b, what, problem, 3.3, accuracy);
    if (slices_generate(&s, b.mesh, &b.options, 2)) fail_msg("%s", evn_message());
    const int vertices = b.mesh->vertices;
    double *a = steps_of(&b), largest = 0, error = 0;
    far_state *past = calloc(b.far->doubles, sizeof *past);
    for (int n = 1; n <= STEPS; n++) {
        far_begin(b.far, past, n, NULL);
        for (int i = n % 10; i < vertices; i += 10) {
            const double plain = plain_sum(&b, s, a, n, i);
            largest = fmax(largest, fabs(plain));
            error = fmax(error, fabs(far_sum(b.far, past, n, i) - plain));
        }
        far_note(b.far, past, n, a + n * vertices, NULL);
    }
    free(a);
    free(past);
    slices_close(s);
    close_body(&b);
    return error / largest;
}

TEST(far_sums_are_the_plain_ones_within_the_accuracy) {
    for (int soft = 0; soft < 2; soft++) {
        const enum tdbem_problem problem = soft ? TDBEM_SOFT : TDBEM_RIGID;
        const double rough = error_of("box:3,1.5,1,0.25", problem, 1e-2);
        const double fine = error_of("box:3,1.5,1,0.25", problem, 1e-4);
        print_message("%s: %.2g, %.2g\n", soft ? "soft" : "rigid", rough, fine);
        assert_true(rough < 2e-2 && fine < 8e-4 && fine > 0);
    }
}

/* Each pair is in near leaves, or below one pair of far cells. */
TEST(each_pair_of_vertices_once) {
    struct body b;
    open_body(&b, "sphere:3", TDBEM_RIGID, 3.3, 1e-2);
    const struct octree *c = b.cells;
    const int n = b.mesh->vertices;
    char *times = calloc((size_t)(n * n), 1);
    for (int a = 0; a < c->first[c->level + 1]; a++)
        for (int f = 0; f < c->cell[a].fars; f++) {
            const struct cell *far = &c->cell[c->list[c->cell[a].far + f]];
            for (int i = c->cell[a].begin; i < c->cell[a].end; i++)
                for (int j = far->begin; j < far->end; j++) times[i * n + j]++;
        }
    int far = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            assert_int_equal(times[i * n + j], !octree_near(c, i, j));
            far += times[i * n + j];
        }
    assert_true(far > n * n / 2);
    free(times);
    close_body(&b);
}

/* Near and far sums together leave a constant at rest, for as long as it lasts. */
TEST(a_constant_stays) {
    struct body b;
    struct slices *near;
    open_body(&b, "box:3,1.5,1,0.25", TDBEM_RIGID, 3.3, 1e-2);
    struct slices_options so = b.options;
    so.near = b.cells;
    if (slices_generate(&near, b.mesh, &so, 2)) fail_msg("%s", evn_message());
    const int vertices = b.mesh->vertices, steps = near->kmax + 2 * GROUP;
    double *sum = calloc((size_t)vertices, sizeof *sum), *one = malloc((size_t)vertices * 8);
    const double *value = near->value;
    for (int v = 0; v < vertices; v++) one[v] = 1;
    for (int j = 0; j < vertices; j++)
        for (int i = 0; i < vertices; i++)
            for (int k = near->count[slices_at(near, j) + (size_t)i]; k > 0; k--)
                sum[i] += *value++;
    far_add_near(b.far, near);
    assert_int_equal(far_hold_constants(b.far, NULL), EVN_OK);
    far_state *past = calloc(b.far->doubles, sizeof *past);
    for (int n = 1; n <= 8 * steps; n++) {
        far_begin(b.far, past, n, NULL);
        for (int i = 0; n > steps && i < vertices; i++)
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
    open_body(&b, "sphere:3", TDBEM_RIGID, 3.3, 1e-2);
    const int vertices = b.mesh->vertices;
    const size_t bytes = b.far->doubles * sizeof(far_state);
    double *a = steps_of(&b);
    far_state *past = calloc(1, bytes), *kept = malloc(bytes);
    for (int until = GROUP; until < STEPS; until += GROUP) {
        memset(past, 0, bytes);
        double end = 0;
        for (int n = 1, from = 0; n <= STEPS; n++) {
            if (n == until + 1 && !from) memcpy(kept, past, bytes);
            far_begin(b.far, past, n, NULL);
            far_note(b.far, past, n, a + n * vertices, NULL);
            if (n == until + GROUP && !from) from = n = until; /* the group once more */
            if (n == STEPS) end = far_sum(b.far, past, n, vertices / 2);
        }
        for (int n = until + 1; n <= STEPS; n++) {
            far_begin(b.far, kept, n, NULL);
            far_note(b.far, kept, n, a + n * vertices, NULL);
        }
        assert_true(end != 0 && far_sum(b.far, kept, STEPS, vertices / 2) == end);
    }
    free(a);
    free(past);
    free(kept);
    close_body(&b);
}

RUN_TESTS(NULL, NULL)
