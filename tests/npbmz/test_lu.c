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

#include "check.h"
#include "npbmz/mesh/mesh.h"
#include "pair.h"

#include <omp.h>

/* below LANES rows and points, several blocks, blocks that stick out, more planes than blocks, rows
 * that end with a vector and one point behind it */
static const int shapes[][3] = {{6, 6, 6},    {16, 16, 8}, {29, 6, 8}, {57, 38, 28},
                                {13, 11, 17}, {17, 26, 5}, {9, 43, 7}, {76, 10, 6}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };
/* the step's length: long for the phases, and short enough for a few steps */
static const double LONG = 0.7, SHORT = 0.01;

static void scratch_open(struct scratch *s, const struct problem *p, int cores) {
    memset(s, 0, sizeof *s);
    s->doubles = solver_lu_tested.scratch(p, cores);
    s->memory = aligned_alloc(64, (s->doubles * sizeof(double) + 63) / 64 * 64);
    assert_non_null(s->memory);
    memset(s->memory, 0, s->doubles * sizeof(double));
}

typedef void phase_function(const struct problem *p, struct zone *z, struct scratch *s,
                            const struct team *t);

static void with_team(struct pair *b, struct scratch *s, int cores, phase_function *f) {
#pragma omp parallel num_threads(cores)
    {
        struct team t = {omp_get_thread_num(), cores, NULL};
        if (omp_get_num_threads() == cores) f(&b->p, &b->z, s, &t);
    }
}

static void run(struct pair *b, int cores, phase_function *f) {
    struct scratch s;
    scratch_open(&s, &b->p, cores);
    with_team(b, &s, cores, f);
    free(s.memory);
}

/* What the lower sweep left, as increments of U: goes through the visits as it does. */
static void lower_result(struct pair *b, struct scratch *s, int cores, plain_point *v) {
    const struct zone *z = &b->z;
    double K = 1;
    for (int d = 0; d < 3; d++) K += 2 * b->p.dt / (b->p.h[d] * b->p.h[d]) * DELTA(d);
    for (int core = 0; core < cores; core++) {
        const struct team t = {core, cores, NULL};
        struct lu_sweep w;
        struct lu_visit now;
        struct passage io;
        lu_sweep(&b->p, &b->z, s, &t, 0, &w);
        if (w.tiles == 0) continue;
        lu_visit_first(&w, &now);
        do {
            v_of(&w, &now, &io);
            for (int q = 0; q < now.steps; q++)
                for (int l = 0; l < LANES; l++) {
                    const double *vector = io.v + q % LANES * io.v_row + q / LANES * LANES;
                    const int i = now.first + q - l;
                    const struct lu_place *a = i >= 0 ? now.head : now.tail;
                    if (!lu_alive(&w, &now, now.first + q)[l]) continue;
                    const int x = i >= 0 ? i : i + w.order.period;
                    const int j = 1 + a->tile.block * LANES + l, k = 1 + a->tile.plane;
                    const size_t at = plain_at(&b->q, x, j, k);
                    const double *u = b->q.u[at];
                    double y[NC];
                    for (int m = 0; m < NC; m++)
                        y[m] = b->p.dt / K * vector[m * io.v_component + l];
                    v[at][0] += y[0];
                    for (int m = 1; m < NC; m++) v[at][m] += u[0] * y[m] + u[m] / u[0] * y[0];
                }
        } while (lu_visit_next(&w, &now));
    }
    (void)z;
}

static void step_size_times(const struct pair *b, plain_point *v) {
    for (size_t n = 0; n < plain_points(&b->q); n++)
        for (int m = 0; m < NC; m++) v[n][m] = b->p.dt * b->q.r[n][m];
}

TEST(lower_sweep_agrees) {
    for (int n = 0; n < SHAPES; n++)
        for (int cores = 1; cores <= 3; cores += 2) {
            struct pair b;
            struct scratch s;
            pair_open(&b, NPBMZ_LU, LONG, shapes[n], 1);
            scratch_open(&s, &b.p, cores);
            plain_point *v = plain_field(&b.q), *expected = plain_field(&b.q);
            step_size_times(&b, expected);
            plain_lu_lower(&b.q, expected);
            with_team(&b, &s, cores, lu_lower);
            lower_result(&b, &s, cores, v);
            pair_assert_close(&b, v, expected, "lower sweep");
            free(v);
            free(expected);
            free(s.memory);
            pair_close(&b);
        }
}

static void both_sweeps(const struct problem *p, struct zone *z, struct scratch *s,
                        const struct team *t) {
    lu_lower(p, z, s, t);
    lu_upper(p, z, s, t);
}

/* The increment alone, so that its error is not hidden beside U: r is so large that U is lost in
 * it. */
TEST(upper_sweep_agrees) {
    for (int n = 0; n < SHAPES; n++) {
        struct pair b;
        pair_open(&b, NPBMZ_LU, LONG, shapes[n], 1);
        plain_point *v = plain_field(&b.q), *u = plain_field(&b.q);
        for (size_t i = 0; i < plain_points(&b.q); i++)
            for (int m = 0; m < NC; m++) b.q.r[i][m] *= 1e20;
        plain_put(&b.z, b.z.r, b.q.r);
        step_size_times(&b, v);
        plain_lu_lower(&b.q, v);
        plain_lu_upper(&b.q, v);
        run(&b, 1, both_sweeps);
        plain_get(&b.z, b.z.u, u);
        for (size_t i = 0; i < plain_points(&b.q); i++)
            for (int m = 0; m < NC; m++) {
                v[i][m] /= OMEGA * (2 - OMEGA);
                u[i][m] -= b.q.u[i][m];
            }
        pair_assert_close(&b, u, v, "upper sweep");
        free(v);
        free(u);
        pair_close(&b);
    }
}

TEST(step_agrees) { pair_steps_agree(NPBMZ_LU, LONG, shapes, SHAPES); }

TEST(prepare_makes_the_residual) {
    struct pair b;
    pair_open(&b, NPBMZ_LU, LONG, shapes[3], 1);
    plain_point *a = plain_field(&b.q), *expected = plain_field(&b.q);
    run(&b, 2, solver_lu_tested.prepare);
    plain_residual(&b.q, b.q.u, b.q.f, expected);
    plain_get(&b.z, b.z.r, a);
    pair_assert_close(&b, a, expected, "first residual");
    free(a);
    free(expected);
    pair_close(&b);
}

TEST(teams_agree_to_the_bit) { pair_team_has_no_say(NPBMZ_LU, SHORT, shapes, SHAPES, 6); }
TEST(padding_means_nothing) { pair_padding_has_no_say(NPBMZ_LU, SHORT, shapes, SHAPES); }
TEST(others_stay) { pair_others_stay(NPBMZ_LU, LONG, shapes, SHAPES); }

/* points of two fields whose bits differ */
static long differing(const struct zone *z, const double *a, const double *b) {
    long n = 0;
    for (int m = 0; m < NC; m++)
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++)
                for (int i = 0; i < z->nx; i++) {
                    const ptrdiff_t at = m * z->sc + zone_at(z, i, j, k);
                    n += memcmp(a + at, b + at, sizeof *a) != 0;
                }
    return n;
}

/* One scratch serves zones of several shapes one after another, as a unit's does. */
TEST(scratch_is_used_again) {
    enum { CORES = 3 };
    struct pair b[SHAPES], alone;
    struct problem largest;
    for (int n = 0; n < SHAPES; n++) {
        pair_open(&b[n], NPBMZ_LU, SHORT, shapes[n], 1);
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
        pair_open(&alone, NPBMZ_LU, SHORT, shapes[n], 1);
        run(&alone, 1, lu_step);
        run(&alone, 1, lu_step);
        assert_int_equal(differing(&alone.z, alone.z.u, b[n].z.u), 0);
        assert_int_equal(differing(&alone.z, alone.z.r, b[n].z.r), 0);
        pair_close(&alone);
        pair_close(&b[n]);
    }
    free(s.memory);
}

/* Every chunk of every tile once, its predecessors' before it, and no core waits for ever: the
 * rules of order.h tried with cores that move one after another, for many numbers of blocks,
 * planes, chunks and cores, with chunks of few steps and of many. */
enum { MAX_CORES = 64, MAX_BLOCKS = 40, MAX_PLANES = 12, MAX_GROUPS = 14 };

struct march {
    int blocks, planes, groups, chunks, cores, upper; /* groups: a row is so many LANES steps */
    unsigned done[MAX_BLOCKS][MAX_PLANES];            /* chunks, as bits; the tail is the last */
    uint64_t visits[MAX_CORES];                       /* done by each core */
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
    const int tail = r->chunks;
    int y = r->upper ? v->chunk - 1 : v->chunk + 1;
    const struct lu_place *a = v->head, *b = v->tail;
    int allowed = 1, ready = 1;
    if (v->has_head) {
        allowed &= flag(r, w, a->z, v->chunk);
        ready &= is_done(r, a->tile, 0, -1, v->chunk);
        if (r->upper && v->chunk == 0 && v->steps > LANES) y = 0;
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
    struct zone z = {.nx = r->groups * LANES, .ny = r->blocks * LANES + 2, .nz = r->planes + 2};
    struct lu_visit v[MAX_CORES];
    int running = 0, live[MAX_CORES];
    memset(r->done, 0, sizeof r->done);
    r->chunks = lu_order(z.nx, z.ny, z.nz, r->cores).chunks;
    assert_true(r->chunks > 0 && r->chunks <= r->groups);
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
            fail_msg("%d cores wait for each other: %d blocks, %d planes, %d chunks of %d steps, "
                     "%s sweep",
                     r->cores, r->blocks, r->planes, r->chunks, w[0].order.steps,
                     r->upper ? "upper" : "lower");
    }
    for (int b = 0; b < r->blocks; b++)
        for (int k = 0; k < r->planes; k++) assert_int_equal(r->done[b][k], (2u << r->chunks) - 1);
}

TEST(no_core_waits_for_ever) {
    static struct march r;
    for (r.cores = 1; r.cores <= MAX_CORES; r.cores += r.cores < 12 ? 1 : 13)
        for (r.blocks = 1; r.blocks <= MAX_BLOCKS; r.blocks += r.blocks < 12 ? 1 : 7)
            for (r.planes = 3; r.planes <= MAX_PLANES; r.planes += r.planes < 6 ? 1 : 3)
                for (r.groups = 1; r.groups <= MAX_GROUPS; r.groups += r.groups < 5 ? 1 : 3)
                    for (r.upper = 0; r.upper < 2; r.upper++) march(&r);
}

RUN_TESTS(NULL, NULL)
