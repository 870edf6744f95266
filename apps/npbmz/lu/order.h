/* Who computes which tile of an LU sweep, and when: tiles dealt to cores, progress told by flags.
 *
 * A tile is one plane k of one block of LANES rows; it depends on the tile of the block before it
 * and on that of the plane before it. Its rows are worked through in chunks of LANES steps, skewed:
 * at step t lane l is at i = t - l, so the last lanes of a tile run LANES-1 steps longer than it
 * has chunks. These left-over steps (its `tail`) are done together with the first chunk of the
 * core's next tile, which leaves exactly those lanes free: a core marches from tile to tile without
 * draining its lanes.
 *
 * Tiles are dealt round robin in an order that respects the dependencies: `cores` blocks at a time,
 * plane by plane. So as long as there are that many blocks, a core stays in its block for all
 * planes, with what the planes pass on in its own cache; the blocks left over are shared plane by
 * plane. A core tells its progress after each chunk, and waits chunk by chunk: neighbouring tiles
 * run almost at the same time.
 *
 * The upper sweep is the same backwards.
 */
#ifndef NPBMZ_LU_ORDER_H
#define NPBMZ_LU_ORDER_H

#include "../lanes.h"
#include "../problem.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

struct lu_order {
    int blocks, planes; /* tiles, planes from 0 */
    int chunks;         /* of a tile, without its tail */
    int cores;          /* that take part, the first of the team */
};

/* For a team of `team` cores. With more cores than blocks, a multiple of the number of blocks works
 * better than somewhat more cores (a core that stays in its block does not drain its lanes); the
 * others are idle. */
static inline struct lu_order lu_order(int nx, int ny, int nz, int team) {
    struct lu_order o = {.blocks = (ny - 2 + LANES - 1) / LANES,
                         .planes = nz - 2,
                         .chunks = (nx - 1 + LANES - 1) / LANES,
                         .cores = team};
    const int even = team - team % o.blocks;
    if (team > o.blocks && 3 * even >= 2 * team) o.cores = even;
    return o;
}

struct lu_tile {
    int block, plane;
};

/* the blocks before this one go round all cores */
static inline int lu_order_left_over(const struct lu_order *o) {
    return o->blocks - o->blocks % o->cores;
}

/* tile number n of a core */
static inline struct lu_tile lu_order_tile(const struct lu_order *o, int core, int n) {
    int at = core + n * o->cores;
    int from = lu_order_left_over(o), width = o->cores;
    int group = at / (o->cores * o->planes);
    int first = group * o->cores;
    if (first >= from) first = from, width = o->blocks - from;
    at -= first * o->planes;
    return (struct lu_tile){first + at % width, at / width};
}

/* the core that has a tile; *n is its number there */
static inline int lu_order_core(const struct lu_order *o, struct lu_tile t, int *n) {
    int from = lu_order_left_over(o), width = o->cores;
    int first = t.block - t.block % o->cores;
    if (first >= from) width = o->blocks - from;
    int at = first * o->planes + t.plane * width + (t.block - first);
    *n = at / o->cores;
    return at % o->cores;
}

static inline int lu_order_tiles(const struct lu_order *o, int core) {
    if (core >= o->cores) return 0;
    return (o->blocks * o->planes - core + o->cores - 1) / o->cores;
}

/* May a core do the tail of tile a and the first chunk of its next tile b in one go? Not if b might
 * wait for that very tail, through tiles of other cores. It does not if they are of the same block.
 * If b is in the next round of blocks, its first chunk waits for chunk n of what the n-th block
 * before it has from plane 0 on, and a is o->cores blocks before it. */
static inline int lu_order_joins(const struct lu_order *o, struct lu_tile a, struct lu_tile b) {
    if (a.block == b.block) return 1;
    return b.block < lu_order_left_over(o) && o->cores < o->planes * o->chunks;
}

/* How far a core is, for the others to see: chunks done, a tail counted as one more chunk. In a
 * cache line of its own. 0 outside of the sweep. */
struct lu_progress {
    _Atomic uint64_t done;
    char line[128 - sizeof(uint64_t)];
};

static inline void lu_progress_tell(struct lu_progress *p, uint64_t done) {
    atomic_store_explicit(&p->done, done, memory_order_release);
}

static inline void lu_progress_wait(struct lu_progress *p, uint64_t need) {
    for (int spins = 0; atomic_load_explicit(&p->done, memory_order_acquire) < need; spins++) {
        if (spins > 2000) /* more threads than processors? */
            sched_yield();
#if defined(__x86_64__) || defined(__i386__)
        else
            __builtin_ia32_pause();
#endif
    }
}

#endif
