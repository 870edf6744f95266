/* Sweeps: one pass over a range of a level's planes that does all that the way up does there, and
 * on the finest level what the next way down begins with.
 *
 * Strip after strip of some rows, and within one plane after plane, four stages follow each other,
 * each as closely as its operands allow:
 *
 *     u = u + Q z      of plane t        (below the finest level: u = Q z)
 *     r = v - A u      of plane t - 1
 *     u = u + S r      of plane t - 2
 *     P (v - A u)      of the coarse plane that needs no plane of u behind t - 2 (finest level)
 *
 * so that a strip of u comes from memory once and goes there once, r is three planes of it in
 * cache, and the last residual is nowhere, but for its squares after the last cycle. A strip begins
 * where the one before has ended, of each stage: what it has need of there is u, and three rows of
 * r a plane, which are kept. Memory is u's own: what the stages read of planes outside of the range
 * they compute themselves, in planes aside that begin as copies of the neighbours' (finest level)
 * or as nothing (below). So ranges can be swept at the same time, and a plane's bits do not depend
 * on how planes are cut into ranges. */
#pragma once

#include "mg/charges.h"
#include "mg/grid.h"
#include "mg/slabs/rows.h"

enum {
    SWEEP_RESTRICT = 1, /* the residual goes to the level below */
    SWEEP_SQUARES = 2,  /* the sums of its squares, of each plane, to `square` */
    SWEEP_ASIDE = 4     /* planes aside: two below a range and two above */
};

/* Data common to all ranges. */
struct problem {
    struct grid grid;
    struct smoother smoother;
    struct charges charges;
    double *square; /* eight a plane of the finest level: by x mod 8 */
};

/* A thread's scratch for sweeps: planes of a level's size or larger. */
struct work {
    double *r;     /* three planes of the residual */
    double *aside; /* SWEEP_ASIDE planes, for levels below the finest */
    double *row;   /* some rows, of the last residual */
    double *sides; /* as the grid's, of the planes beside a range */
    int strip;     /* bytes of a strip's part of a plane */
    void *memory;
};

/* For the finest level of n points a side; 0, or -1: no memory. */
ptrdiff_t work_doubles(int n);
int work_open(struct work *work, int n);
void work_close(struct work *work);

/* Planes [begin, end) of level l, at least 2. `aside`: on the finest level what sweep_aside() has
 * filled, below NULL. The level below must be done everywhere. `what`: on the finest level of
 * what residual the fourth stage does, as far as the range alone can tell: sweep_edges() does the
 * rest when all ranges are done. */
void sweep_up(const struct problem *p, struct work *work, int l, int begin, int end, double *aside,
              int what);
void sweep_edges(const struct problem *p, struct work *work, int begin, int end, int what);

/* The planes next to [begin, end) of the finest level as they are before any range is swept. */
void sweep_aside(const struct problem *p, int begin, int end, double *aside);

/* The fourth stage alone, of all of the range: what a cycle needs to begin with. */
void sweep_residual(const struct problem *p, struct work *work, int begin, int end, int what);

/* r of level l to r of level l - 1, for planes [begin, end) of the latter. */
void sweep_down(const struct problem *p, int l, int begin, int end);

/* All of levels 1 to `top`: from its r to its u. By one thread. */
void sweep_below(const struct problem *p, struct work *work, int top);
