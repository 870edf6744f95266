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
    int cores;
};

static inline struct lu_order lu_order(const struct zone *z, int cores) {
    return (struct lu_order){.blocks = (z->ny - 2 + LANES - 1) / LANES,
                             .planes = z->nz - 2,
                             .chunks = (z->nx - 1 + LANES - 1) / LANES,
                             .cores = cores};
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
    return (o->blocks * o->planes - core + o->cores - 1) / o->cores;
}

/* May a core do the tail of tile a and the first chunk of its next tile b in one go? Not if b may
 * wait, through other cores' tiles, for that very tail: blocks and planes both ahead. (A block that
 * waits for itself in an earlier plane waits for the same chunk of it, not for its tail.) */
static inline int lu_order_joins(struct lu_tile a, struct lu_tile b) {
    return b.block <= a.block || b.plane < a.plane;
}

/* One chunk: number `chunk` of tile b; chunk 0 goes together with the tail of tile a. Tiles are a
 * core's numbers; -1: none. */
struct lu_visit {
    int a, b, chunk;
};

static inline int lu_order_joined(const struct lu_order *o, int core, int a) {
    return lu_order_joins(lu_order_tile(o, core, a), lu_order_tile(o, core, a + 1));
}

/* the first visit of the lower sweep, and of the upper one, of a core that has tiles */
static inline struct lu_visit lu_visit_first(void) { return (struct lu_visit){-1, 0, 0}; }
static inline struct lu_visit lu_visit_last(int tiles) {
    return (struct lu_visit){tiles - 1, -1, 0};
}

/* from visit to visit; 0 at the end */
static inline int lu_visit_next(const struct lu_order *o, int core, int tiles, struct lu_visit *v) {
    if (v->b < 0) { /* drained */
        if (v->a == tiles - 1) return 0;
        *v = (struct lu_visit){-1, v->a + 1, 0};
    } else if (v->chunk + 1 < o->chunks) {
        v->chunk++;
    } else {
        int a = v->b, more = a + 1 < tiles && lu_order_joined(o, core, a);
        *v = (struct lu_visit){a, more ? a + 1 : -1, 0};
    }
    return 1;
}

static inline int lu_visit_before(const struct lu_order *o, int core, struct lu_visit *v) {
    if (v->chunk > 0) {
        v->chunk--;
    } else if (v->a >= 0) {
        *v = (struct lu_visit){-1, v->a, o->chunks - 1};
    } else {
        if (v->b == 0) return 0;
        *v = (struct lu_visit){v->b - 1, -1, 0};
        return 1;
    }
    if (v->chunk == 0 && v->b > 0 && lu_order_joined(o, core, v->b - 1)) v->a = v->b - 1;
    return 1;
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
