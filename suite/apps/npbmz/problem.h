/* The problem of NPB-MZ: classes, mesh of zones, constants, and one zone's fields.
 *
 * Inside of the application; what a program that runs it needs is in npbmz.h.
 * Source: "NAS Parallel Benchmarks, Multi-Zone Versions" (van der Wijngaart and Jin, 2003).
 */
#pragma once

#include "npbmz/benchmark.h"
#include "npbmz/mesh/gas_constants.h"
#include <evener/program.h>
#include <stddef.h>
#include <stdint.h>

/* One zone. Point (i,j,k) of component m of a field p lies at
 *     p[m*sc + k*sk + j*sj + i],   0 <= i < nx, 0 <= j < ny, 0 <= k < nz.
 *
 * Every field starts on a 64-byte boundary and sj, sk, sc are multiples of 8, so each row is
 * aligned; sj >= nx. What lies between nx and sj, between ny*sj and sk, between nz*sk and sc, and
 * 64 doubles before and after the field may be read and holds finite numbers (in u: a gas at rest,
 * so that lanes that stick out compute something harmless); it may be overwritten with finite
 * numbers. Strides are padded so that neighbours in j, k and m do not fall into the same cache set.
 */
struct zone {
    int nx, ny, nz;
    ptrdiff_t sj, sk, sc;         /* doubles from j to j+1, from k to k+1, from m to m+1 */
    int west, east, south, north; /* neighbours' numbers from 0, periodic */
    double *u;                    /* solution, NC components */
    double *f;                    /* forcing; 0 at boundary points */
    double *r;                    /* LU: residual carried from step to step; else NULL */
    double *kept; /* a loop for each phase: what its phases leave to the next; else NULL */
};

static inline ptrdiff_t zone_at(const struct zone *z, int i, int j, int k) {
    return k * z->sk + j * z->sj + i;
}

/* A team's memory, reused from zone to zone, and its clock of phases. Made by its first core, so
 * that it is near it. */
struct scratch {
    double *memory; /* solver->scratch(problem, cores) doubles, 64-byte aligned, zeroed */
    size_t doubles;
    int cores;                    /* cores of the team that it is for */
    double share;                 /* part of the unit's cores */
    double since;                 /* start of the running phase, s */
    double seconds[NPBMZ_PHASES]; /* the unit's time in each phase: that which the first core of
                                     the team has taken, times the share */
};

struct problem;

/* The team of cores that works on a zone together: a unit's, or a subteam of it. Each core calls
 * the solver with its own number; team_barrier() is where they wait for each other. */
struct team {
    int core, cores;       /* my number from 0, and how many */
    const evn_subteam *by; /* NULL: all threads of an OpenMP region */
};
static inline void team_barrier(const struct team *t) {
    if (t->cores == 1) return;
    if (t->by) {
        evn_subteam_barrier(t->by);
    } else {
#pragma omp barrier
    }
}
/* my part [*lo, *hi) of n pieces of equal size: consecutive, the remainder to the first cores */
static inline void team_share(const struct team *t, int n, int *lo, int *hi) {
    int q = n / t->cores, m = n % t->cores;
    *lo = t->core * q + (t->core < m ? t->core : m);
    *hi = *lo + q + (t->core < m);
}

/* ends the phase that ran since the last mark (call from every core; only core 0 reads the clock)
 */
void phase_mark(struct scratch *s, const struct team *t, enum npbmz_phase ended);
/* starts the clock */
void phase_start(struct scratch *s, const struct team *t);

/* A solver: one of BT, SP, LU. */
struct solver {
    const char *name;                                      /* name of the benchmark, "bt-mz" */
    size_t (*scratch)(const struct problem *p, int cores); /* doubles needed by a unit */
    /* what follows the initial state, once a zone: LU's first residual; may be NULL */
    void (*prepare)(const struct problem *p, struct zone *z, struct scratch *s,
                    const struct team *t);
    /* one time step of one zone, called by every core of the team; ghosts are filled already.
     * On return of all cores z->u holds the new interior values and nothing else has changed. */
    void (*step)(const struct problem *p, struct zone *z, struct scratch *s, const struct team *t);
    /* the step in two parts, the second being the first to read ghosts, so that they may come
     * meanwhile; NULL: it cannot be cut */
    void (*begin)(const struct problem *p, struct zone *z, struct scratch *s, const struct team *t);
    void (*finish)(const struct problem *p, struct zone *z, struct scratch *s,
                   const struct team *t);
    /* the step's phases from 0 on, where all zones go through one before any begins the next; z has
     * solver->kept(z) doubles, zeroed at first, in z->kept, if it is not 0 */
    int phases;
    void (*phase)(const struct problem *p, struct zone *z, struct scratch *s, const struct team *t,
                  int phase);
    size_t (*kept)(const struct zone *z);
};

extern const struct solver solver_bt, solver_sp, solver_lu;

struct problem {
    enum npbmz_benchmark benchmark;
    const struct solver *solver;
    char class_;    /* 'S' .. 'F' */
    int gx, gy, gz; /* points of the whole mesh */
    int xzones, yzones;
    int steps; /* the class's own number */
    double dt;
    double h[3]; /* mesh spacing, the same in every zone */
    int zones;
    struct zone *zone;                /* zones, x fastest */
    int max_nx, max_ny, max_nz;       /* largest extents over the zones */
    ptrdiff_t max_sj, max_sk, max_sc; /* largest strides over the zones */
};
