/* The order of LU-MZ's sweeps (lu/order.h): every chunk of every tile once, its predecessors'
 * before it, and no core waits for ever, for many numbers of blocks, planes, chunks and cores. It
 * takes in the source of the sweeps. What they compute is test_steps.c's. Run: ctest -R '^lu$' */
#define solver_lu solver_lu_tested
#include "npbmz/lu/lu.c"
#undef solver_lu

#include "check.h"

/* Cores move one after another, with chunks of few steps and of many. */
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
