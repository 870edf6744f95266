/* BT's and SP's memory between the passes over a zone, and the order of the passes.
 *
 * A zone's values lie in blocks of LANES points along i, so that all a line solve needs of a point
 * is in successive cache lines: the block of point (i,j,k) begins at b[k*bk + j*bj +
 * (i/LANES)*block]. bj and bk are odd numbers of cache lines, so that lines along y and z do not
 * fall into few cache sets. A unit's scratch holds the blocks, then the residual's own memory, then
 * a buffer a core. Where each phase is a loop of its own over all zones, each zone keeps its
 * blocks.
 */
#pragma once

#include "common/simd/lanes.h"
#include "npbmz/host/residual.h"
#include "npbmz/problem.h"

struct workspace {
    double *b;
    ptrdiff_t bj, bk;
    int blocks;       /* number of a row's blocks that have interior points */
    double *own;      /* this core's buffer */
    double *residual; /* the residual's, for all cores */
};

/* n doubles rounded up to an odd number of cache lines */
static inline ptrdiff_t odd_lines(ptrdiff_t n) { return ((n + 7) / 8 | 1) * 8; }

/* blocks of a row that have interior points */
static inline int inner_blocks(int nx) { return (nx - 2) / LANES + 1; }

/* Fills the shape for blocks of `block` doubles; doubles of b. */
static inline size_t workspace_shape(struct workspace *w, int block, int nx, int ny, int nz) {
    w->blocks = inner_blocks(nx);
    w->bj = odd_lines(w->blocks * block);
    w->bk = odd_lines(w->bj * ny);
    return (size_t)(w->bk * nz);
}

/* The workspace of a core that works on z; `own`: doubles of its buffer. */
static inline struct workspace workspace(const struct problem *p, const struct zone *z,
                                         const struct scratch *s, const struct team *t, int block,
                                         size_t own) {
    struct workspace w;
    const size_t blocks = workspace_shape(&w, block, z->nx, z->ny, z->nz);
    w.b = z->kept ? z->kept : s->memory;
    w.residual = s->memory + blocks;
    w.own = w.residual + residual_scratch(p, t->cores) + (size_t)t->core * own;
    return w;
}

/* Doubles of scratch for the largest zone, where the buffer has `own` doubles. */
static inline size_t workspace_scratch(const struct problem *p, int cores, int block, size_t own) {
    struct workspace w;
    return workspace_shape(&w, block, p->max_nx, p->max_ny, p->max_nz) +
           residual_scratch(p, cores) + (size_t)cores * own;
}

/* Doubles of a zone's blocks, and a vector beyond that may be read. */
static inline size_t workspace_kept(const struct zone *z, int block) {
    struct workspace w;
    return workspace_shape(&w, block, z->nx, z->ny, z->nz) + LANES;
}

struct passes {
    int cache; /* bytes a core that planes may take */
    void (*rhs)(const struct problem *p, const struct zone *z, const struct workspace *w,
                const struct team *t);
    void (*x)(const struct problem *p, const struct zone *z, const struct workspace *w,
              const struct team *t, int k0, int k1);
    void (*y)(const struct problem *p, const struct zone *z, const struct workspace *w,
              const struct team *t, int k0, int k1);
    void (*z)(const struct problem *p, struct zone *z, const struct workspace *w,
              const struct team *t);
};

/* Lines along x and along y lie in planes k, so both directions are done for a few planes before
 * the next: as many as stay in the second-level caches of the team. Evenly cut. */
static inline int planes_at_once(const struct zone *z, const struct workspace *w,
                                 const struct team *t, int cache) {
    const ptrdiff_t inner = z->nz - 2;
    ptrdiff_t fit = cache / (ptrdiff_t)sizeof(double) * t->cores / w->bk;
    if (fit < 1) fit = 1;
    const ptrdiff_t parts = (inner + fit - 1) / fit;
    return (int)((inner + parts - 1) / parts);
}

INLINE void passes_step(const struct passes *pass, const struct problem *p, struct zone *z,
                        struct scratch *s, const struct workspace *w, const struct team *t) {
    phase_start(s, t);
    pass->rhs(p, z, w, t);
    team_barrier(t);
    phase_mark(s, t, NPBMZ_RHS);
    const int planes = planes_at_once(z, w, t, pass->cache);
    for (int k = 1; k < z->nz - 1; k += planes) {
        const int end = k + planes < z->nz - 1 ? k + planes : z->nz - 1;
        pass->x(p, z, w, t, k, end);
        team_barrier(t);
        phase_mark(s, t, NPBMZ_X);
        pass->y(p, z, w, t, k, end);
        phase_mark(s, t, NPBMZ_Y);
    }
    team_barrier(t);
    phase_mark(s, t, NPBMZ_Y);
    pass->z(p, z, w, t);
    team_barrier(t);
    phase_mark(s, t, NPBMZ_Z);
}

/* One phase alone, the right-hand side or a direction, over the whole zone. */
INLINE void passes_phase(const struct passes *pass, const struct problem *p, struct zone *z,
                         struct scratch *s, const struct workspace *w, const struct team *t,
                         int phase) {
    phase_start(s, t);
    switch (phase) {
    case 0: pass->rhs(p, z, w, t); break;
    case 1: pass->x(p, z, w, t, 1, z->nz - 1); break;
    case 2: pass->y(p, z, w, t, 1, z->nz - 1); break;
    default: pass->z(p, z, w, t); break;
    }
    team_barrier(t);
    phase_mark(s, t, (enum npbmz_phase)(NPBMZ_RHS + phase));
}
