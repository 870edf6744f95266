/* The transforms of FT along the three axes, on the two layouts of its field.
 *
 * A field of nx x ny x nz complex points is kept in packs of eight neighbours along x (line.h),
 * nx/8 of them a row. In layout Z a plane z is [y][pack], contiguous, and x and y are transformed;
 * in layout Y a slab y is [pack][z], and z is. A transpose takes packs from one to the other, and
 * is part of the pass before it: what a pass makes goes at once where the next one wants it. So a
 * transform of all three axes reads and writes each point twice, 64 bytes, wherever the two layouts
 * are larger than the caches.
 *
 * Nothing here knows of tasks or threads: callers give each thread a workspace.
 */
#pragma once

#include "ft/host/line.h"

struct transform {
    int nx, ny, nz; /* powers of two, nx from 8 on */
    int packs;      /* packs of a row: nx/8 */
    ptrdiff_t row;  /* doubles from row to row of a plane */
    int past;      /* whether fields are so large that what goes to layout Z goes past the caches */
    int group;     /* lines along z that go to layout Z together: a plane gets so many packs side
                      by side, and not one here and one there */
    struct line x; /* over the packs of a row, of which each lane makes one */
    struct line y, z;
    double *x_twiddle; /* roots of the transform over lanes, w^p of nx: four packs for eight p, as
                          struct roots8 has them */
    double *x_matrix;  /* nx < 64: w^(jk) of nx, real, imaginary */
};

/* 0, or -1 without memory */
int transform_open(struct transform *t, int nx, int ny, int nz);
void transform_close(struct transform *t);

/* doubles that a thread works with, 64-byte aligned */
size_t transform_workspace(const struct transform *t);
/* doubles of a plane of layout Z, and of a slab of layout Y */
size_t transform_plane(const struct transform *t);
size_t transform_slab(const struct transform *t);

/* A plane's rows along x, in place, rows y0 <= y < y1. */
void transform_x(const struct transform *t, double *plane, int y0, int y1, enum line_sign sign,
                 double *work);

/* A plane along y, packs p0 <= p < p1 of its rows: in place; or as plane z into layout Y, the slab
 * of y at slab[y]. */
void transform_y(const struct transform *t, double *plane, int p0, int p1, enum line_sign sign,
                 double *work);
void transform_y_to_slabs(const struct transform *t, const double *plane, int z,
                          double *const *slab, int p0, int p1, enum line_sign sign, double *work);

/* The decay of one step: of frequency (p, q, r) it is x[p] y[q] z[r]. */
struct decay {
    double *x, *y, *z;
};

/* A slab along z, packs p0 <= p < p1: in place; or into layout Z, pack p of plane z to plane[z] +
 * at + 16 p, with what it has multiplied by the decay before, that of row y (NULL: as it is);
 * `soon` is the slab that comes next (NULL: there is none). */
void transform_z(const struct transform *t, double *slab, int p0, int p1, enum line_sign sign,
                 double *work);
void transform_z_to_planes(const struct transform *t, const double *slab, int y,
                           const struct decay *decay, double *const *plane, ptrdiff_t at, int p0,
                           int p1, const double *soon, enum line_sign sign, double *work);
