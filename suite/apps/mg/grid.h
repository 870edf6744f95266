/* The grids of all levels: periodic cubes without ghost cells.
 *
 * Level l has n = 2^l points a side, level `finest` all of them. Rows lie along x, contiguous; rows
 * and planes are a little further apart than they are long, so that neighbours do not share sets of
 * a cache. The residual of the finest level is nowhere in memory: it lives between two stages of a
 * sweep (mg/slabs/sweep.h). */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>

enum { GRID_LEVELS = 12, GRID_SIDES = 6 };

struct level {
    int n;
    ptrdiff_t row, plane; /* doubles from one to the next */
    double *u, *r;        /* r: NULL on the finest */
};

struct grid {
    int finest;
    struct level level[GRID_LEVELS + 1]; /* levels from 1 on */
    /* Address of a plane of the finest level's u beside the swept range: its own, or that of a copy
     * from another rank. */
    double **plane;
    double *sides; /* GRID_SIDES rows a plane, of whatever level is swept (mg/slabs/sweep.c) */
    void *memory;
    size_t bytes; /* bytes of `memory` */
};

/* A level of n points a side, without memory. */
struct level level_shape(int n);

/* Bytes of a grid of n points a side; n is a power of two. */
double grid_bytes(int n);

/* Allocates its memory, untouched: untouched pages take no memory. EVN_MEMORY. */
evn_status grid_open(struct grid *grid, int n);
/* Sets `plane` to the grid's own places again. */
void grid_planes(struct grid *grid);
void grid_close(struct grid *grid);

/* Plane k, whatever side of the cube it is beyond. */
static inline double *level_plane(const struct level *level, double *field, int k) {
    return field + (ptrdiff_t)(k & (level->n - 1)) * level->plane;
}
