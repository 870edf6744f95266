/* LU-MZ's sweeps and step against the plainly written ones, and their promises: bits that do not
 * depend on the team, nothing read that means something outside of the zone, nothing else written.
 *
 * Run: test_lu (all tests), on any machine; it makes teams larger than the number of processors.
 * It takes in the source of the sweeps, because the lower sweep leaves its result in an order of
 * its own.
 */
#define solver_lu solver_lu_tested
#include "npbmz/lu/lu.c"
#undef solver_lu

#include "npbmz/mesh/mesh.h"
#include "plain.h"

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* below LANES rows and points, several blocks, blocks that stick out, more planes than blocks, rows
 * that end with a vector and one point behind it */
static const int shapes[][3] = {{6, 6, 6},    {16, 16, 8}, {29, 6, 8}, {57, 38, 28},
                                {13, 11, 17}, {17, 26, 5}, {9, 43, 7}, {76, 10, 6}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
static const int teams[] = {1, 2, 3, 5, 4, 7, 12};
enum { TEAMS = sizeof teams / sizeof teams[0] };

struct bench {
    struct problem p;
    struct zone z;
    struct plain_zone plain; /* the same state */
};

/* a zone of gas that differs from point to point, with unequal spacings */
static void bench_open(struct bench *b, const int n[3], unsigned seed) {
    memset(b, 0, sizeof *b);
    struct problem *p = &b->p;
    p->benchmark = NPBMZ_LU;
    p->solver = &solver_lu_tested;
    p->dt = 0.7;
    for (int d = 0; d < 3; d++) p->h[d] = (1.0 + 0.3 * d) / (n[d] - 1);
    p->zones = 1;
    p->zone = &b->z;
    b->z.nx = p->max_nx = n[0];
    b->z.ny = p->max_ny = n[1];
    b->z.nz = p->max_nz = n[2];
    zone_strides(&b->z);
    p->max_sj = b->z.sj, p->max_sk = b->z.sk, p->max_sc = b->z.sc;
    assert_int_equal(zone_alloc(p, &b->z), 0);
    plain_zone_open(&b->plain, NPBMZ_LU, n[0], n[1], n[2], p->h, p->dt);
    plain_gas(&b->plain, b->plain.u, seed);
    plain_noise(&b->plain, b->plain.f, seed + 1, 1);
    plain_noise(&b->plain, b->plain.r, seed + 2, 1);
    plain_put(&b->z, b->z.u, b->plain.u);
    plain_put(&b->z, b->z.f, b->plain.f);
    plain_put(&b->z, b->z.r, b->plain.r);
}

static void bench_close(struct bench *b) {
    plain_zone_close(&b->plain);
    zone_free(&b->z);
}

static void scratch_open(struct scratch *s, const struct problem *p, int cores) {
    memset(s, 0, sizeof *s);
    s->doubles = solver_lu_tested.scratch(p, cores);
    s->memory = aligned_alloc(64, (s->doubles * sizeof(double) + 63) / 64 * 64);
    assert_non_null(s->memory);
    memset(s->memory, 0, s->doubles * sizeof(double));
}

typedef void phase_function(const struct problem *p, struct zone *z, struct scratch *s,
                            const struct team *t);

static void with_team(struct bench *b, struct scratch *s, int cores, phase_function *f) {
#pragma omp parallel num_threads(cores)
    {
        struct team t = {omp_get_thread_num(), cores};
        if (omp_get_num_threads() == cores) f(&b->p, &b->z, s, &t);
    }
}

static void run(struct bench *b, int cores, phase_function *f) {
    struct scratch s;
    scratch_open(&s, &b->p, cores);
    with_team(b, &s, cores, f);
    free(s.memory);
}

/* What the lower sweep left, as increments of U: goes through the visits as it does. */
static void lower_result(struct bench *b, struct scratch *s, int cores, plain_point *v) {
    const struct zone *z = &b->z;
    double K = 1;
    for (int d = 0; d < 3; d++) K += 2 * b->p.dt / (b->p.h[d] * b->p.h[d]) * DELTA(d);
    for (int core = 0; core < cores; core++) {
        const struct team t = {core, cores};
        struct lu_sweep w;
        struct lu_visit now;
        struct passage io;
        lu_sweep(&b->p, &b->z, s, &t, 0, &w);
        if (w.tiles == 0) continue;
        lu_visit_first(&w, &now);
        do {
            v_of(&w, &now, &io);
            for (int q = 0; q < LANES; q++)
                for (int l = 0; l < LANES; l++) {
                    const int i = now.chunk * LANES + q - l;
                    const struct lu_place *a = i >= 0 ? now.head : now.tail;
                    if (!lu_alive(&w, &now, q)[l]) continue;
                    const int x = i >= 0 ? i : i + w.period;
                    const int j = 1 + a->tile.block * LANES + l, k = 1 + a->tile.plane;
                    const size_t at = plain_at(&b->plain, x, j, k);
                    const double *u = b->plain.u[at];
                    double y[NC];
                    for (int m = 0; m < NC; m++)
                        y[m] = b->p.dt / K * io.v[m * io.v_component + q * io.v_row + l];
                    v[at][0] += y[0];
                    for (int m = 1; m < NC; m++) v[at][m] += u[0] * y[m] + u[m] / u[0] * y[0];
                }
        } while (lu_visit_next(&w, &now));
    }
    (void)z;
}

static void step_size_times(const struct bench *b, plain_point *v) {
    for (size_t n = 0; n < plain_points(&b->plain); n++)
        for (int m = 0; m < NC; m++) v[n][m] = b->p.dt * b->plain.r[n][m];
}

static void close_enough(const struct bench *b, const plain_point *a, const plain_point *reference,
                         const char *what, int cores) {
    double difference = plain_difference(&b->plain, a, reference);
    if (!(difference <= 1e-12)) {
        print_error("%s, %d x %d x %d, %d cores: differs by %g\n", what, b->z.nx, b->z.ny, b->z.nz,
                    cores, difference);
        fail();
    }
}

static void lower_sweep_agrees(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++)
        for (int cores = 1; cores <= 3; cores += 2) {
            struct bench b;
            struct scratch s;
            bench_open(&b, shapes[n], 10 + (unsigned)n);
            scratch_open(&s, &b.p, cores);
            plain_point *v = plain_field(&b.plain), *expected = plain_field(&b.plain);
            step_size_times(&b, expected);
            plain_lu_lower(&b.plain, expected);
            with_team(&b, &s, cores, lu_lower);
            lower_result(&b, &s, cores, v);
            close_enough(&b, v, expected, "lower sweep", cores);
            free(v);
            free(expected);
            free(s.memory);
            bench_close(&b);
        }
}

static void both_sweeps(const struct problem *p, struct zone *z, struct scratch *s,
                        const struct team *t) {
    lu_lower(p, z, s, t);
    lu_upper(p, z, s, t);
}

/* The increment alone, so that its error is not hidden beside U: r is so large that U is lost in
 * it. */
static void upper_sweep_agrees(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct bench b;
        bench_open(&b, shapes[n], 20 + (unsigned)n);
        plain_point *v = plain_field(&b.plain), *u = plain_field(&b.plain);
        for (size_t i = 0; i < plain_points(&b.plain); i++)
            for (int m = 0; m < NC; m++) b.plain.r[i][m] *= 1e20;
        plain_put(&b.z, b.z.r, b.plain.r);
        step_size_times(&b, v);
        plain_lu_lower(&b.plain, v);
        plain_lu_upper(&b.plain, v);
        run(&b, 1, both_sweeps);
        plain_get(&b.z, b.z.u, u);
        for (size_t i = 0; i < plain_points(&b.plain); i++)
            for (int m = 0; m < NC; m++) {
                v[i][m] /= OMEGA * (2 - OMEGA);
                u[i][m] -= b.plain.u[i][m];
            }
        close_enough(&b, u, v, "upper sweep", 1);
        free(v);
        free(u);
        bench_close(&b);
    }
}

static void step_agrees(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct bench b;
        bench_open(&b, shapes[n], 30 + (unsigned)n);
        plain_point *a = plain_field(&b.plain);
        run(&b, 2, lu_step);
        plain_step(&b.plain);
        plain_get(&b.z, b.z.u, a);
        close_enough(&b, a, b.plain.u, "U of a step", 2);
        plain_get(&b.z, b.z.r, a);
        close_enough(&b, a, b.plain.r, "residual of a step", 2);
        free(a);
        bench_close(&b);
    }
}

static void prepare_makes_the_residual(void **state) {
    (void)state;
    struct bench b;
    bench_open(&b, shapes[3], 35);
    plain_point *a = plain_field(&b.plain), *expected = plain_field(&b.plain);
    run(&b, 2, solver_lu_tested.prepare);
    plain_residual(&b.plain, b.plain.u, b.plain.f, expected);
    plain_get(&b.z, b.z.r, a);
    close_enough(&b, a, expected, "first residual", 2);
    free(a);
    free(expected);
    bench_close(&b);
}

static size_t field_bytes(const struct zone *z) { return NC * (size_t)z->sc * sizeof(double); }

/* points of two fields whose bits differ; where: 1 interior points, 2 the others, 3 all */
static long differing(const struct zone *z, const double *a, const double *b, int where) {
    long n = 0;
    for (int m = 0; m < NC; m++)
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++)
                for (int i = 0; i < z->nx; i++) {
                    const int interior =
                        i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
                    const ptrdiff_t at = m * z->sc + zone_at(z, i, j, k);
                    if (where & (interior ? 1 : 2)) n += memcmp(a + at, b + at, sizeof *a) != 0;
                }
    return n;
}

static double *copy_of(const struct zone *z, const double *field) {
    double *a = malloc(field_bytes(z));
    assert_non_null(a);
    memcpy(a, field, field_bytes(z));
    return a;
}

static void three_steps(const struct problem *p, struct zone *z, struct scratch *s,
                        const struct team *t) {
    for (int n = 0; n < 3; n++) lu_step(p, z, s, t);
}

static void teams_agree_to_the_bit(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        double *u = NULL, *r = NULL;
        for (int c = 0; c < TEAMS; c++) {
            struct bench b;
            bench_open(&b, shapes[n], 40 + (unsigned)n);
            b.p.dt = 0.01;
            run(&b, teams[c], three_steps);
            if (!u) {
                u = copy_of(&b.z, b.z.u);
                r = copy_of(&b.z, b.z.r);
            } else {
                long points = differing(&b.z, b.z.u, u, 3) + differing(&b.z, b.z.r, r, 3);
                if (points) {
                    print_error("%d x %d x %d: %d cores and 1 core differ in %ld values\n", b.z.nx,
                                b.z.ny, b.z.nz, teams[c], points);
                    fail();
                }
            }
            bench_close(&b);
        }
        free(u);
        free(r);
    }
}

/* finite numbers, among them a density that is 0, in all that is no point of the zone */
static void litter(const struct zone *z, double *field) {
    static const double numbers[] = {0, -1, 1e30, -3e30, 1e-30, 7};
    unsigned n = 0;
    for (int m = 0; m < NC; m++) {
        double *p = field + m * z->sc;
        for (ptrdiff_t at = m == 0 ? -ZONE_SLACK : 0; at < z->sc + (m == NC - 1 ? ZONE_SLACK : 0);
             at++) {
            const ptrdiff_t k = at / z->sk, j = at % z->sk / z->sj, i = at % z->sk % z->sj;
            if (at < 0 || k >= z->nz || j >= z->ny || i >= z->nx)
                p[at] = numbers[(n += 5, n ^ n >> 7) % 6];
        }
    }
}

static void padding_means_nothing(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct bench a, b;
        bench_open(&a, shapes[n], 50 + (unsigned)n);
        bench_open(&b, shapes[n], 50 + (unsigned)n);
        litter(&b.z, b.z.u);
        litter(&b.z, b.z.f);
        litter(&b.z, b.z.r);
        run(&a, 1, lu_step);
        run(&b, 2, lu_step);
        assert_int_equal(differing(&a.z, a.z.u, b.z.u, 3), 0);
        assert_int_equal(differing(&a.z, a.z.r, b.z.r, 3), 0);
        bench_close(&a);
        bench_close(&b);
    }
}

static void ghosts_stay(void **state) {
    (void)state;
    for (int n = 0; n < SHAPES; n++) {
        struct bench b;
        bench_open(&b, shapes[n], 60 + (unsigned)n);
        double *u = copy_of(&b.z, b.z.u), *f = copy_of(&b.z, b.z.f), *r = copy_of(&b.z, b.z.r);
        run(&b, 3, lu_step);
        assert_int_equal(differing(&b.z, b.z.u, u, 2), 0);
        assert_int_equal(differing(&b.z, b.z.r, r, 2), 0); /* 0 there */
        assert_int_equal(differing(&b.z, b.z.f, f, 3), 0);
        assert_int_equal(differing(&b.z, b.z.u, u, 1),
                         NC * (b.z.nx - 2L) * (b.z.ny - 2L) *
                             (b.z.nz - 2L)); /* all interior points moved */
        free(u);
        free(f);
        free(r);
        bench_close(&b);
    }
}

/* One scratch serves zones of several shapes in turn, as a unit's does. */
static void scratch_is_used_again(void **state) {
    (void)state;
    enum { CORES = 3 };
    struct bench b[SHAPES], alone;
    struct problem largest;
    for (int n = 0; n < SHAPES; n++) {
        bench_open(&b[n], shapes[n], 70 + (unsigned)n);
        const struct problem *p = &b[n].p;
        if (n == 0) largest = *p;
#define GROW(member)                                                                               \
    if (largest.member < p->member) largest.member = p->member
        GROW(max_nx);
        GROW(max_ny);
        GROW(max_nz);
        GROW(max_sj);
        GROW(max_sk);
        GROW(max_sc);
#undef GROW
    }
    struct scratch s;
    scratch_open(&s, &largest, CORES);
    for (int round = 0; round < 2; round++)
        for (int n = 0; n < SHAPES; n++) with_team(&b[n], &s, CORES, lu_step);
    for (int n = 0; n < SHAPES; n++) {
        bench_open(&alone, shapes[n], 70 + (unsigned)n);
        run(&alone, 1, lu_step);
        run(&alone, 1, lu_step);
        assert_int_equal(differing(&alone.z, alone.z.u, b[n].z.u, 3), 0);
        assert_int_equal(differing(&alone.z, alone.z.r, b[n].z.r, 3), 0);
        bench_close(&alone);
        bench_close(&b[n]);
    }
    free(s.memory);
}

/* Every chunk of every tile once, its predecessors' before it, and no core waits for ever: the
 * rules of order.h tried with cores that move in turn, for many numbers of blocks, planes, chunks
 * and cores. */
enum { MAX_CORES = 64, MAX_BLOCKS = 40, MAX_PLANES = 12 };

struct march {
    int blocks, planes, chunks, cores, upper;
    unsigned done[MAX_BLOCKS][MAX_PLANES]; /* chunks, as bits; the tail is the last */
    uint64_t visits[MAX_CORES];            /* done by each core */
};

static int is_done(const struct march *r, struct lu_tile t, int blocks, int planes, int chunk) {
    if (r->upper) blocks = -blocks, planes = -planes;
    t.block += blocks, t.plane += planes;
    if (t.block < 0 || t.block >= r->blocks || t.plane < 0 || t.plane >= r->planes) return 1;
    return r->done[t.block][t.plane] >> chunk & 1;
}

/* What the flags allow must be what is done. */
static int flag(const struct march *r, const struct lu_sweep *w, struct lu_other other, int chunk) {
    return other.core < 0 ||
           r->visits[other.core] >= other.visits + 1 + (uint64_t)(w->upper ? -chunk : chunk);
}

static int may_go(const struct march *r, const struct lu_sweep *w, const struct lu_visit *v) {
    const int tail = r->chunks, y = r->upper ? v->chunk - 1 : v->chunk + 1;
    const struct lu_place *a = v->head, *b = v->tail;
    int allowed = 1, ready = 1;
    if (v->has_head) {
        allowed &= flag(r, w, a->z, v->chunk);
        ready &= is_done(r, a->tile, 0, -1, v->chunk);
        if (y >= 0) {
            allowed &= flag(r, w, a->y, y);
            /* the tail of the block before may be done in this very visit, step by step before it
             */
            ready &= is_done(r, a->tile, -1, 0, y) ||
                     (v->has_tail && y == tail && a->tile.plane == b->tile.plane);
        }
    }
    if (v->has_tail) {
        allowed &= flag(r, w, b->z, tail);
        ready &= is_done(r, b->tile, 0, -1, tail);
        if (r->upper) {
            allowed &= flag(r, w, b->y, tail - 1);
            ready &= is_done(r, b->tile, -1, 0, tail - 1) ||
                     (v->has_head && tail == 1 && a->tile.plane == b->tile.plane);
        }
    }
    if (allowed) assert_true(ready);
    return allowed;
}

static void march(struct march *r) {
    static struct lu_sweep w[MAX_CORES];
    static double nothing[8 * LANES]; /* its address stands for the lines' */
    struct zone z = {.nx = r->chunks * LANES, .ny = r->blocks * LANES + 2, .nz = r->planes + 2};
    struct lu_visit v[MAX_CORES];
    int running = 0, live[MAX_CORES];
    memset(r->done, 0, sizeof r->done);
    for (int c = 0; c < r->cores; c++) {
        memset(&w[c], 0, sizeof w[c]);
        w[c].order = lu_order(z.nx, z.ny, z.nz, r->cores);
        assert_int_equal(w[c].order.blocks, r->blocks);
        w[c].z = &z, w[c].core = c, w[c].upper = r->upper;
        w[c].tiles = lu_order_tiles(&w[c].order, c);
        w[c].memory.lines = nothing + 4 * LANES;
        for (int i = 0; i < 4; i++) w[c].place[i].number = -1;
        for (int n = 0; n < w[c].tiles; n++) {
            int back, core = lu_order_core(&w[c].order, lu_order_tile(&w[c].order, c, n), &back);
            assert_int_equal(core, c);
            assert_int_equal(back, n);
        }
        running += live[c] = w[c].tiles > 0;
        if (live[c]) lu_visit_first(&w[c], &v[c]);
        r->visits[c] = 0;
    }
    while (running) {
        int moved = 0;
        for (int c = 0; c < r->cores; c++) {
            if (!live[c] || !may_go(r, &w[c], &v[c])) continue;
            moved = 1;
            const struct lu_visit *at = &v[c];
            if (at->has_head)
                r->done[at->head->tile.block][at->head->tile.plane] ^= 1u << at->chunk;
            if (at->has_tail)
                r->done[at->tail->tile.block][at->tail->tile.plane] ^= 1u << r->chunks;
            r->visits[c]++;
            live[c] = lu_visit_next(&w[c], &v[c]);
            running -= !live[c];
        }
        if (!moved)
            fail_msg("%d cores wait for each other: %d blocks, %d planes, %d chunks, %s sweep",
                     r->cores, r->blocks, r->planes, r->chunks, r->upper ? "upper" : "lower");
    }
    for (int b = 0; b < r->blocks; b++)
        for (int k = 0; k < r->planes; k++) assert_int_equal(r->done[b][k], (2u << r->chunks) - 1);
}

static void no_core_waits_for_ever(void **state) {
    (void)state;
    static struct march r;
    for (r.cores = 1; r.cores <= MAX_CORES; r.cores += r.cores < 12 ? 1 : 13)
        for (r.blocks = 1; r.blocks <= MAX_BLOCKS; r.blocks += r.blocks < 12 ? 1 : 7)
            for (r.planes = 3; r.planes <= MAX_PLANES; r.planes += r.planes < 6 ? 1 : 3)
                for (r.chunks = 1; r.chunks <= 7; r.chunks += r.chunks < 4 ? 1 : 3)
                    for (r.upper = 0; r.upper < 2; r.upper++) march(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_core_waits_for_ever), /* first: the others would hang */
        cmocka_unit_test(lower_sweep_agrees),
        cmocka_unit_test(upper_sweep_agrees),
        cmocka_unit_test(step_agrees),
        cmocka_unit_test(prepare_makes_the_residual),
        cmocka_unit_test(teams_agree_to_the_bit),
        cmocka_unit_test(padding_means_nothing),
        cmocka_unit_test(ghosts_stay),
        cmocka_unit_test(scratch_is_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
