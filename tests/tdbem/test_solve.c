/* Solving with M_0: conjugate gradients on several cores and on a device have the bits of one core
 * (a device where nothing is fused; else to rounding), converge on matrices of spheres and boxes,
 * and say no to what they cannot solve. EVENER_TEST_DEVICE is the device, emulated if it is not
 * set; where there is none the test is skipped (exit status 77). Run: ctest -R tdbem_solve */
#include "body.h"
#include "tdbem/solve/solve.h"
#include "tdbem/solve/solve_cg.h"
#include "tdbem/solve/solve_gpu.h"
#include <evener.h>

#include <math.h>
#include <time.h>

static evn_machine *machine;
extern const evn_kernel_source solve_kernels; /* whether products are fused */

static int open_machine(void **state) {
    (void)state;
    assert_ok(evn_machine_open(&machine));
    return 0;
}

static int close_machine(void **state) {
    (void)state;
    evn_machine_close(machine);
    return 0;
}

/* A matrix of `side` times `side` rows, neighbours within a distance of 2; positive definite as
 * long as `least` is above 0.5 or so, with rows of 8 to 13 entries. */
static struct slices_csr grid(int side, double least) {
    const int n = side * side;
    struct slices_csr m = {.rows = n,
                           .start = malloc(sizeof *m.start * (size_t)(n + 1)),
                           .column = malloc(sizeof *m.column * (size_t)n * 13),
                           .value = malloc(sizeof *m.value * (size_t)n * 13)};
    size_t e = 0;
    for (int i = 0; i < n; i++) {
        m.start[i] = e;
        for (int j = 0; j < n; j++) {
            const int x = abs(j % side - i % side), y = abs(j / side - i / side);
            if (x + y > 2) continue;
            m.column[e] = j;
            m.value[e++] = x + y ? 0.05 * (x + y) * (1 + 0.3 * cos(i + j)) : least + (i % 7) * 0.05;
        }
    }
    m.start[n] = e;
    return m;
}

static struct slices_csr matrix_of(const char *name) {
    OWN(slices) *s;
    struct slices_csr m;
    OWN(mesh) *mesh = body(name);
    const struct slices_options o = {
        .problem = TDBEM_RIGID, .eta = 0.5, .delta = 0.5 * mesh->h_mean};
    assert_ok(slices_generate(&s, mesh, &o, 2));
    assert_ok(slices_matrix(&m, s, 0, 0));
    return m;
}

static double *vector(int n, double phase) {
    double *v = malloc(sizeof *v * (size_t)n);
    for (int i = 0; i < n; i++) v[i] = sin(phase + 0.7 * i) + 0.3 * (i % 5);
    return v;
}

/* sqrt(r.D^-1 r / b.D^-1 b), r = b - M a */
static double residual(const struct slices_csr *m, const double *b, const double *a) {
    double rr = 0, bb = 0;
    for (int i = 0; i < m->rows; i++) {
        double r = b[i], d = 0;
        for (size_t e = m->start[i]; e < m->start[i + 1]; e++) {
            r -= m->value[e] * a[m->column[e]];
            if (m->column[e] == i) d = m->value[e];
        }
        rr += r * r / d;
        bb += b[i] * b[i] / d;
    }
    return sqrt(rr / bb);
}

/* ---- cores ---- */

TEST(any_number_of_cores) {
    static const char *const units[] = {"1:CPU:1", "2:CPU:1", "1:CPU:2", "3:CPU:1",
                                        "1:CPU:1,1:CPU:2"};
    static const int cores[] = {1, 2, 2, 3, 3};
    struct slices_csr m = grid(59, 2); /* 3481 rows, the last chunk has 25 */
    const int n = m.rows;
    double *b = vector(n, 1), *first = vector(n, 2), *a = malloc(sizeof *a * (size_t)n);
    struct solve_cg *cg;
    int iterations, count;
    assert_ok(solve_cg_open(&cg, &m, 1e-13));
    assert_ok(solve_cg(cg, NULL, NULL, b, first, &iterations));
    assert_in_range(iterations, 5, 60);
    assert_true(residual(&m, b, first) < 1e-12);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        OWN(units) *all = OPEN(units, machine, units[u], NULL, EVN_OVERSUBSCRIBE);
        OWN(crew) *crew = OPEN(crew, all, 3);
        assert_int_equal(evn_crew_cores(crew, 9, 1), cores[u]);
        for (int again = 0; again < 20; again++) {
            double *guess = vector(n, 2);
            memcpy(a, guess, sizeof *a * (size_t)n);
            free(guess);
            assert_ok(solve_cg(cg, NULL, crew, b, a, &count));
            assert_int_equal(count, iterations);
            assert_memory_equal(a, first, sizeof *a * (size_t)n);
        }
    }
    solve_cg_close(cg);
    free(a);
    free(b);
    free(first);
    slices_csr_free(&m);
}

/* Everybody comes, and sees what others have written before they met. */
struct barrier {
    int seen[64], wrong;
};
static void wait_for_all(evn_crew *crew, int me, int cores, void *arg) {
    struct barrier *all = arg;
    for (int i = 1; i <= 1000; i++) {
        all->seen[me * 16] = i;
        evn_crew_barrier(crew);
        for (int c = 0; c < cores; c++)
            if (all->seen[c * 16] != i) all->wrong = 1;
        evn_crew_barrier(crew);
    }
    if (me == cores - 1 && !all->wrong) all->wrong = -cores;
}

TEST(crews_have_barriers) {
    static const struct {
        const char *units;
        unsigned flags;
        int cores;
    } c[] = {{"1:CPU:1", 0, 1},
             {"1:CPU:2", EVN_OVERSUBSCRIBE, 2},
             {"2:CPU:1", EVN_OVERSUBSCRIBE, 2},
             {"1:CPU:2,2:CPU:1", EVN_OVERSUBSCRIBE, 4}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        OWN(units) *all = OPEN(units, machine, c[i].units, NULL, c[i].flags);
        OWN(crew) *crew = OPEN(crew, all, 4);
        const int max = evn_crew_cores(crew, 1e9, 1);
        assert_int_equal(max, c[i].cores);
        assert_int_equal(evn_crew_cores(crew, 1.9, 1), 1);
        for (int cores = 1; cores <= max; cores++) {
            struct barrier m = {{0}, 0};
            evn_crew_run(crew, NULL, cores, wait_for_all, &m);
            assert_int_equal(m.wrong, -cores);
        }
    }
}

/* A job that is slow on `slow` cores. */
struct habit {
    int slow, cores;
};
static void be_slow(evn_crew *crew, int me, int cores, void *arg) {
    struct habit *h = arg;
    const struct timespec nap = {0, cores == h->slow ? 200000000 : 0};
    (void)crew;
    if (!me) nanosleep(&nap, NULL);
    if (!me) h->cores = cores;
}

TEST(crews_learn) {
    OWN(units) *all = OPEN(units, machine, "1:CPU:2", NULL, EVN_OVERSUBSCRIBE);
    OWN(crew) *crew = OPEN(crew, all, 2);
    for (int slow = 1; slow <= 2; slow++) {
        evn_crew_pace pace = {0};
        struct habit h = {.slow = slow};
        int tried[3] = {0};
        for (int i = 0; i < 2 * EVN_CREW_TRIES; i++) {
            evn_crew_run(crew, &pace, 2, be_slow, &h);
            tried[h.cores]++;
        }
        assert_true(tried[1] == EVN_CREW_TRIES && tried[2] == EVN_CREW_TRIES);
        for (int i = 0; i < 20; i++) {
            evn_crew_run(crew, &pace, 2, be_slow, &h);
            assert_int_equal(h.cores, 3 - slow);
        }
        evn_crew_run(crew, &pace, 1, be_slow, &h); /* never more than asked for */
        assert_int_equal(h.cores, 1);
    }
}

/* ---- matrices of bodies ---- */

TEST(bodies) {
    static const char *const body[] = {"sphere:1", "sphere:2", "box:1,1,1,0.25", "box:3,1,0.5,0.3"};
    for (size_t k = 0; k < sizeof body / sizeof *body; k++)
        for (int single = 0; single < 2; single++) {
            struct slices_csr m = matrix_of(body[k]);
            struct solve_cg *cg;
            const double tolerance = single ? 1e-9 : 1e-13;
            double *b = vector(m.rows, 1), *a = calloc((size_t)m.rows, sizeof *a);
            int iterations;
            assert_ok(solve_cg_open(&cg, &m, tolerance));
            assert_ok(solve_cg(cg, NULL, NULL, b, a, &iterations));
            const double r = residual(&m, b, a);
            if (!(r < 3 * tolerance) || iterations > (single ? 22 : 32) || iterations < 8)
                fail_msg("%s: residual %g after %d iterations", body[k], r, iterations);
            solve_cg_close(cg);
            free(a);
            free(b);
            slices_csr_free(&m);
        }
}

/* ---- what is not symmetric ---- */

/* GMRES has the same bits on any number of cores, within a basis and with restarts. */
TEST(unsymmetric) {
    static const char *const units[] = {"1:CPU:1", "2:CPU:1", "3:CPU:1"};
    static const double skew[] = {0.2, 3};
    for (int s = 0; s < 2; s++) {
        struct slices_csr m = grid(59, 2);
        const int n = m.rows;
        for (int i = 0; i < n; i++)
            for (size_t e = m.start[i]; e < m.start[i + 1]; e++)
                if (m.column[e] != i) m.value[e] += m.column[e] > i ? skew[s] : -skew[s];
        double *b = vector(n, 1), *first = vector(n, 2), *a = malloc(sizeof *a * (size_t)n);
        struct solver *solver;
        char reason[160];
        assert_fails(solver_open(&solver, &m, SOLVER_CG_DEVICE, 1e-13), EVN_USAGE, "symmetric");
        assert_ok(solver_open(&solver, &m, SOLVER_AUTO, 1e-13));
        for (int u = 0; u < 3; u++) {
            OWN(units) *all = OPEN(units, machine, units[u], NULL, EVN_OVERSUBSCRIBE);
            OWN(crew) *crew = OPEN(crew, all, 3);
            solver_settle(solver, all, 1, 1, reason, sizeof reason);
            assert_string_equal(solver_name(solver_settled(solver)), "gmres");
            const long long before = solver_iterations(solver);
            double *x = vector(n, 3);
            for (int again = 0; again < 5; again++) {
                memcpy(a, x, sizeof *a * (size_t)n);
                assert_ok(solver_solve(solver, crew, b, a));
                if (!u && !again) memcpy(first, a, sizeof *a * (size_t)n);
                assert_memory_equal(a, first, sizeof *a * (size_t)n);
            }
            free(x);
            const long long each = (solver_iterations(solver) - before) / 5;
            if (s)
                assert_in_range(each, 41, 900);
            else
                assert_in_range(each, 5, 39);
        }
        assert_true(residual(&m, b, first) < 1e-12);
        memset(b, 0, sizeof *b * (size_t)n);
        assert_ok(solver_solve(solver, NULL, b, a));
        for (int i = 0; i < n; i++) assert_true(a[i] == 0);
        solver_close(solver);
        free(a);
        free(b);
        free(first);
        slices_csr_free(&m);
    }
}

/* ---- what has no solution ---- */

TEST(refused) {
    struct slices_csr m = grid(10, 2);
    struct solve_cg *cg;
    int iterations;
    HEAP double *b = vector(100, 1), *a = calloc(100, sizeof *a);
    for (size_t e = m.start[7]; e < m.start[8]; e++)
        if (m.column[e] == 7) m.value[e] = 0;
    assert_fails(solve_cg_open(&cg, &m, 1e-13), EVN_USAGE, "vertex 7");
    assert_null(cg);
    slices_csr_free(&m);
    /* a good diagonal, and yet not definite */
    m = grid(10, 0.1);
    assert_ok(solve_cg_open(&cg, &m, 1e-13));
    assert_fails(solve_cg(cg, NULL, NULL, b, a, &iterations), EVN_BODY, "not positive definite");
    solve_cg_close(cg);
    slices_csr_free(&m);
}

/* ---- devices ---- */

struct side {
    struct slices_csr m;
    struct solve_cg *cg;
    struct solve_gpu *gpu;
    evn_device *device;
};

static void open_side(struct side *s, struct slices_csr m, double tolerance) {
    s->m = m;
    assert_ok(solve_cg_open(&s->cg, &s->m, tolerance));
    assert_ok(evn_device_open(&s->device, test_device(), 0));
    assert_ok(solve_gpu_open(&s->gpu, s->cg, s->device, 1, 0));
}

static void close_side(struct side *s) {
    solve_gpu_close(s->gpu);
    solve_cg_close(s->cg);
    evn_device_close(s->device);
    slices_csr_free(&s->m);
}

/* Both solve; iterations. */
static int same(struct side *s, const double *b, double *a) {
    const size_t n = (size_t)s->m.rows;
    HEAP double *want = malloc(sizeof *want * n);
    int expected, got;
    memcpy(want, a, sizeof *want * n);
    assert_ok(solve_cg(s->cg, NULL, NULL, b, want, &expected));
    assert_ok(solve_gpu(s->gpu, b, a, &got));
    double worst = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i])) fail_msg("row %zu: %g", i, a[i]);
        worst = fmax(worst, fabs(a[i] - want[i]));
        largest = fmax(largest, fabs(want[i]));
    }
    if (!solve_kernels.contract) {
        assert_int_equal(got, expected);
        assert_memory_equal(a, want, sizeof *want * n);
    }
    assert_true(abs(got - expected) <= 1);
    if (worst > 1e-11 * largest) fail_msg("%zu rows: off by %g of %g", n, worst, largest);
    return got;
}

/* From no guess at all, a good one, and the solution; b is zero; b is none, and the next one is. */
TEST(device_as_the_host) {
    for (int k = 0; k < 5; k++) {
        ENDS(close_side) struct side s;
        open_side(&s,
                  k == 0   ? grid(1, 2)
                  : k == 1 ? grid(8, 2)
                  : k == 2 ? grid(59, 2)
                           : matrix_of(k == 3 ? "sphere:2" : "box:3,1,0.5,0.3"),
                  1e-13);
        const int n = s.m.rows;
        HEAP double *b = vector(n, 1), *a = calloc((size_t)n, sizeof *a);
        const int first = same(&s, b, a);
        assert_true(n == 1 ? first <= 1 : first >= 8);
        assert_true(residual(&s.m, b, a) < 1e-12);
        assert_true(same(&s, b, a) <= 1);
        for (int i = 0; i < n; i++) b[i] *= 1 + 1e-5 * cos(i);
        same(&s, b, a);
        const evn_counts before = evn_device_counts(s.device, NULL);
        assert_true(same(&s, b, a) <= 1);
        const evn_counts after = evn_device_counts(s.device, NULL);
        assert_int_equal(after.copies_in - before.copies_in, 1);
        assert_int_equal(after.copies_out - before.copies_out, 1);
        memset(b, 0, sizeof *b * (size_t)n);
        same(&s, b, a);
        for (int i = 0; i < n; i++) assert_true(a[i] == 0);
        int iterations;
        b[0] = NAN;
        assert_int_equal(solve_gpu(s.gpu, b, a, &iterations), EVN_BODY);
        memset(a, 0, sizeof *a * (size_t)n);
        b[0] = 1;
        same(&s, b, a);
    }
}

/* Puts an equation where a device's right-hand side would put it. */
static void put_equation(struct side *s, const double *b, const double *a) {
    const struct solve_matrix *m = solve_cg_matrix(s->cg);
    const struct solve_device d = solve_gpu_device(s->gpu);
    HEAP double *to = calloc(2 * (size_t)d.rows, sizeof *to);
    for (int i = 0; i < m->n; i++) {
        to[i] = m->scale[i] * b[i];
        to[d.rows + i] = m->root[i] * a[i];
    }
    assert_ok(evn_copy_to_device(d.queue, d.vector, 0, to, 2 * (size_t)d.rows * sizeof *to));
    assert_ok(evn_queue_finish(d.queue));
}

static void as_alone(struct side *s, int q, const double *b, double *want) {
    const int n = s->m.rows;
    int iterations, got, more;
    memset(want, 0, sizeof *want * (size_t)n);
    assert_ok(solve_cg(s->cg, NULL, NULL, b, want, &iterations));
    assert_ok(solve_gpu_look(s->gpu, q, &more, &got));
    assert_false(more);
    assert_true(abs(got - iterations) <= !!solve_kernels.contract);
    for (int i = 0; i < n; i++)
        assert_true(fabs(solve_gpu_solution(s->gpu, q)[i] - want[i]) <=
                    (solve_kernels.contract ? 1e-11 : 0));
}

/* Steps of a group one behind the other. Where one was given too few iterations, what follows on it
 * leaves it alone, and it goes on with more; and what follows on one that has no solution waits for
 * ever. */
TEST(device_waits_for_steps) {
    ENDS(close_side) struct side s = {.m = grid(20, 2)};
    assert_ok(solve_cg_open(&s.cg, &s.m, 1e-13));
    assert_ok(evn_device_open(&s.device, test_device(), 0));
    assert_ok(solve_gpu_open(&s.gpu, s.cg, s.device, 3, 0));
    const int n = s.m.rows;
    HEAP double *b = vector(n, 1), *a = calloc((size_t)n, sizeof *a), *want = vector(n, 1);
    int more, iterations, rounds = 0;
    put_equation(&s, b, a);
    solve_gpu_expect(s.gpu, 60);
    assert_ok(solve_gpu_give(s.gpu, 0));
    assert_ok(solve_gpu_home(s.gpu, 1));
    as_alone(&s, 0, b, want);
    b[0] += 1;
    put_equation(&s, b, a);
    solve_gpu_expect(s.gpu, 1);
    assert_ok(solve_gpu_give(s.gpu, 1));
    for (more = 1; more; rounds++) {
        assert_ok(solve_gpu_give(s.gpu, 2));
        assert_ok(solve_gpu_home(s.gpu, 3));
        assert_ok(solve_gpu_look(s.gpu, 1, &more, &iterations));
        if (rounds > 20) fail_msg("step 1 is never solved");
        if (more) {
            int other;
            assert_int_equal(solve_gpu_look(s.gpu, 2, &other, &iterations), EVN_BODY);
            assert_ok(solve_gpu_more(s.gpu, 1));
        }
    }
    assert_true(rounds > 2);
    as_alone(&s, 1, b, want);
    b[0] = NAN;
    put_equation(&s, b, a);
    assert_ok(solve_gpu_give(s.gpu, 1));
    b[0] = 1;
    put_equation(&s, b, a);
    assert_ok(solve_gpu_give(s.gpu, 2));
    assert_ok(solve_gpu_home(s.gpu, 3));
    assert_fails(solve_gpu_look(s.gpu, 1, &more, &iterations), EVN_BODY, "do not converge");
    assert_int_equal(solve_gpu_look(s.gpu, 2, &more, &iterations), EVN_BODY);
}

TEST(device_refuses) {
    ENDS(close_side) struct side s;
    int iterations;
    open_side(&s, grid(10, 0.1), 1e-13);
    HEAP double *b = vector(100, 1), *a = calloc(100, sizeof *a);
    char host[256];
    assert_int_equal(solve_cg(s.cg, NULL, NULL, b, a, &iterations), EVN_BODY);
    snprintf(host, sizeof host, "%s", evn_message());
    memset(a, 0, 100 * sizeof *a);
    assert_fails(solve_gpu(s.gpu, b, a, &iterations), EVN_BODY, "not positive definite");
    if (!solve_kernels.contract) assert_string_equal(evn_message(), host);
}

/* Any operation may fail: one line, and everything can be closed. */
TEST(device_fails) {
    if (strncmp(test_device(), "emulated", 8)) skip();
    struct slices_csr m = grid(20, 2);
    struct solve_cg *cg;
    HEAP double *b = vector(400, 1), *a = calloc(400, sizeof *a);
    assert_ok(solve_cg_open(&cg, &m, 1e-13));
    static const char *const what[] = {"alloc@1",  "alloc@7", "copy@1",   "copy@3",
                                       "copy@4",   "copy@5",  "kernel@1", "kernel@2",
                                       "kernel@9", "lost@3",  "lost@20"};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        char text[64];
        struct solve_gpu *gpu;
        int iterations;
        snprintf(text, sizeof text, "emulated:1,fail=%s", what[i]);
        OWN(device) *device = OPEN(device, text, 0);
        evn_status status = solve_gpu_open(&gpu, cg, device, 1, 0);
        if (status)
            assert_null(gpu);
        else
            status = solve_gpu(gpu, b, a, &iterations);
        if (status != (i < 2 ? EVN_MEMORY : EVN_DEVICE))
            fail_msg("%s: %s: %s", what[i], evn_status_text(status), evn_message());
        assert_says("on purpose");
        assert_null(strchr(evn_message(), '\n'));
        solve_gpu_close(gpu);
    }
    solve_cg_close(cg);
    slices_csr_free(&m);
}

/* The choice: by name, and whether units have what it needs. */
TEST(choice) {
    enum solver_kind kind;
    for (int k = 0; k < 2; k++) {
        assert_ok(solver_find(&kind, k ? "cg:device" : "cg"));
        assert_int_equal(kind, k ? SOLVER_CG_DEVICE : SOLVER_CG);
        assert_string_equal(solver_name(kind), k ? "cg:device" : "cg");
    }
    assert_int_equal(solver_find(&kind, "cg:gpu"), EVN_USAGE);
    OWN(units) *units = OPEN(units, machine, "1:CPU:1", NULL, 0);
    assert_fails(solver_check_units(SOLVER_CG_DEVICE, units), EVN_USAGE, "1:CPU:1 have none");
    assert_ok(solver_check_units(SOLVER_CG, units));
}

int main(void) {
    const int missing = test_devices(&solve_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(open_machine, close_machine);
}
