/* Order of the tiles of an LU sweep: tiles dealt to cores, progress told by flags.
 *
 * A tile is one plane k of one block of LANES rows; it depends on the tile of the block before it
 * and on that of the plane before it. Its rows are worked through in chunks of steps, skewed:
 * at step t lane l is at i = t - l, so the last lanes of a tile run LANES-1 steps longer than it
 * has chunks. These left-over steps, its tail, are done together with the first chunk of the core's
 * next tile, which leaves exactly those lanes free: a core marches from tile to tile without
 * draining its lanes.
 *
 * Each core has blocks that follow each other, so that its rows stay in its cache from sweep to
 * sweep, and does them plane by plane. If there are at least twice as many cores as blocks, several
 * cores share a block and take its planes in rotation. Neighbours run almost at the same time: a
 * core tells its progress after each chunk and waits chunk by chunk. No core can wait for ever:
 * blocks wait for blocks before them only, and within a block the tail of a plane and the first
 * chunk of a later one for nothing but what precedes both.
 *
 * The upper sweep is the same backwards.
 */
#pragma once

#include "common/simd/lanes.h"
#include "npbmz/problem.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

struct lu_order {
    int blocks, planes; /* tiles; planes from 0 */
    int period;         /* steps of a tile, without its tail: a multiple of LANES */
    int steps;  /* steps of a chunk; a tile's last one has what is left, a multiple of LANES */
    int chunks; /* chunks of a tile, without its tail */
    int groups; /* groups of cores, each of which has some of the blocks */
    int share;  /* cores of a group; the cores that are left over are idle */
};

/* The more steps a chunk has, the less is spent between chunks. But a core begins two chunks after
 * the one that has the blocks before, and where cores share a block, each a chunk after the other:
 * then chunks are short, unless the longer way costs less than a sixteenth of a core's steps. */
enum { LU_STEPS = 8 };
static inline int lu_order_steps(const struct lu_order *o) {
    const int64_t later = (o->groups - 1) * 2 * (LU_STEPS - LANES);
    const int64_t all = (int64_t)((o->blocks + o->groups - 1) / o->groups) * o->planes * o->period;
    return o->share > 1 || later > all / 16 ? LANES : LU_STEPS;
}

static inline struct lu_order lu_order(int nx, int ny, int nz, int cores) {
    struct lu_order o = {.blocks = (ny - 2 + LANES - 1) / LANES,
                         .planes = nz - 2,
                         .period = (nx - 1 + LANES - 1) / LANES * LANES};
    o.groups = cores < o.blocks ? cores : o.blocks;
    o.share = cores / o.groups < o.planes ? cores / o.groups : o.planes;
    o.steps = lu_order_steps(&o);
    o.chunks = (o.period + o.steps - 1) / o.steps;
    return o;
}

struct lu_tile {
    int block, plane;
};

/* the blocks [*lo, *hi) of a group */
static inline void lu_order_blocks(const struct lu_order *o, int group, int *lo, int *hi) {
    const struct team groups = {group, o->groups, NULL};
    team_share(&groups, o->blocks, lo, hi);
}

static inline int lu_order_tiles(const struct lu_order *o, int core) {
    int lo, hi, group = core / o->share, first = core % o->share;
    if (group >= o->groups) return 0;
    lu_order_blocks(o, group, &lo, &hi);
    return (hi - lo) * ((o->planes - first + o->share - 1) / o->share);
}

/* tile number n of a core */
static inline struct lu_tile lu_order_tile(const struct lu_order *o, int core, int n) {
    int lo, hi, group = core / o->share, first = core % o->share;
    lu_order_blocks(o, group, &lo, &hi);
    return (struct lu_tile){lo + n % (hi - lo), first + o->share * (n / (hi - lo))};
}

/* The core that has a tile; *n is its number there. */
static inline int lu_order_core(const struct lu_order *o, struct lu_tile t, int *n) {
    /* the first `more` groups have one block more, as with team_share() */
    const int each = o->blocks / o->groups, more = o->blocks % o->groups, big = more * (each + 1);
    const int group = t.block < big ? t.block / (each + 1) : more + (t.block - big) / each;
    int lo, hi;
    lu_order_blocks(o, group, &lo, &hi);
    *n = t.plane / o->share * (hi - lo) + t.block - lo;
    return group * o->share + t.plane % o->share;
}

/* Progress of a core, read by others: visits (tile.h) done. In a cache line of its own. 0 outside
 * of the sweep. */
struct lu_progress {
    _Atomic uint64_t done;
    char line[128 - sizeof(uint64_t)];
};

static inline void lu_progress_tell(struct lu_progress *p, uint64_t done) {
    atomic_store_explicit(&p->done, done, memory_order_release);
}

/* Returns when at least `need` visits are done; how many there are. */
static inline uint64_t lu_progress_wait(struct lu_progress *p, uint64_t need) {
    for (int spins = 0;; spins++) {
        uint64_t done = atomic_load_explicit(&p->done, memory_order_acquire);
        if (done >= need) return done;
        if (spins > 2000) /* more threads than processors? */
            sched_yield();
#if defined(__x86_64__) || defined(__i386__)
        else
            __builtin_ia32_pause();
#elif defined(__aarch64__)
        else /* yield does nothing on cores with one hardware thread */
            __asm__ volatile("isb" : : : "memory");
#endif
    }
}
