/* The residual f + L(U) at one point, for kernels: one work item makes what residual_rows.h makes
 * for a lane, term by term in the same order, so that without fused operations the bits agree.
 *
 * A kernel file defines NPBMZ_ITEM first. Neighbours' velocity, pressure and g are made again for
 * each point instead of being kept: 6 derivations of 10 operations and a division. With the 132
 * operations and the division of the point itself that is about 270 instructions of an H100's
 * double-precision pipe, if a division takes ten: 19 ps a point at full rate, while the 80 bytes of
 * solution and forcing that come from memory, and the 40 of a result, take 36 ps at 3.35 TB/s. All
 * 65 loads of the solution hit a cache line that a neighbour in the group wants too, if items are
 * neighbours in i.
 */
#pragma once

#include "npbmz/host/residual_point.h"

#ifndef NPBMZ_ITEM
#    error "define NPBMZ_ITEM before the first #include: this is for kernel files"
#endif

/* the five components of a field at p, each sc doubles from the one before */
EVN_DEVICE_FUNCTION void residual_item_load(double u[NC], EVN_GLOBAL const double *p, evn_long sc) {
    u[0] = p[0];
    u[1] = p[sc];
    u[2] = p[2 * sc];
    u[3] = p[3 * sc];
    u[4] = p[4 * sc];
}

/* a point with its derived values */
EVN_DEVICE_FUNCTION void residual_item_point(struct residual_point *q, EVN_GLOBAL const double *p,
                                             evn_long sc) {
    residual_item_load(q->u, p, sc);
    residual_derive(q, 1.0 / q->u[0]);
}

/* One direction's terms from the points at distance two, `lo` doubles before p and `hi` behind it
 * .. */
EVN_DEVICE_FUNCTION void residual_item_far(double r[NC], EVN_GLOBAL const double *p, evn_long sc,
                                           evn_long lo, evn_long hi,
                                           const struct residual_row5 *linear) {
    double u[NC];
    residual_item_load(u, p - lo, sc);
    residual_linear(r, u, linear->far_lo);
    residual_item_load(u, p + hi, sc);
    residual_linear(r, u, linear->far_hi);
}
/* One direction's terms from the two points at distance one. */
EVN_DEVICE_FUNCTION void residual_item_near(double r[NC], double *e, EVN_GLOBAL const double *p,
                                            evn_long sc, evn_long stride, int d,
                                            const struct residual_row5 *linear,
                                            const struct residual_axis *x) {
    struct residual_point lo, hi;
    residual_item_point(&lo, p - stride, sc);
    residual_item_point(&hi, p + stride, sc);
    residual_near(r, e, &lo, &hi, d, linear->lo, linear->hi, x);
}

/* r += L(u) at the interior point (i,j,k) of a zone of nx x ny x nz points, whose point (0,0,0) is
 * u[0]; strides as in struct gpu_zone. *q is the point itself with its derived values. Next to the
 * sides, points at distance 2 that there are not have the factor 0: in x and y something else of
 * the zone's block is read instead, which holds finite numbers (struct zone), in z the point
 * itself. */
EVN_DEVICE_FUNCTION void residual_item_add(EVN_GLOBAL const double *u, evn_long sj, evn_long sk,
                                           evn_long sc, int nx, int ny, int nz, int i, int j, int k,
                                           const struct residual_constants *c, double r[NC],
                                           struct residual_point *q) {
    const struct residual_row5 x = residual_row5(c->axis[0].second, i, nx);
    const struct residual_row5 y = residual_row5(c->axis[1].second, j, ny);
    const struct residual_row5 z = residual_row5(c->axis[2].second, k, nz);
    double e;
    u += k * sk + j * sj + i;
    residual_item_point(q, u, sc);
    residual_here(r, &e, q, x.mid + (y.mid + z.mid), c);
    residual_item_far(r, u, sc, 2, 2, &x);
    residual_item_near(r, &e, u, sc, 1, 0, &x, &c->axis[0]);
    residual_item_far(r, u, sc, 2 * sj, 2 * sj, &y);
    residual_item_near(r, &e, u, sc, sj, 1, &y, &c->axis[1]);
    residual_item_far(r, u, sc, 2 * sk * (k >= 2), 2 * sk * (k <= nz - 3), &z);
    residual_item_near(r, &e, u, sc, sk, 2, &z, &c->axis[2]);
    r[4] += e;
}

/* r = f + L(u): the forcing of point (0,0,0) is in f[0]. */
EVN_DEVICE_FUNCTION void residual_item(EVN_GLOBAL const double *u, EVN_GLOBAL const double *f,
                                       evn_long sj, evn_long sk, evn_long sc, int nx, int ny,
                                       int nz, int i, int j, int k,
                                       const struct residual_constants *c, double r[NC],
                                       struct residual_point *q) {
    residual_item_load(r, f + (k * sk + j * sj + i), sc);
    residual_item_add(u, sj, sk, sc, nx, ny, nz, i, j, k, c, r, q);
}
