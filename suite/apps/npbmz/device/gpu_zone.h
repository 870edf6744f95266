/* A batch of zones as kernels see it: a table in device memory, and the work of each group.
 *
 * All zones of a batch are processed in one launch a phase. Fields of all zones are in one buffer,
 * the arena; their work space in another. Kernels of NPB-MZ all have the same five parameters,
 *
 *     EVN_KERNEL(name, items, (EVN_BUFFER(double, field), EVN_BUFFER(double, work),
 *                              EVN_IN(struct gpu_zone, zones), EVN_IN(struct gpu_piece, pieces),
 *                              EVN_VALUE(struct my_constants, c)))
 *
 * and begin by reading their group's work: pieces[EVN_GROUP]. */
#pragma once

#include <evener/kernel.h>

/* One zone, as struct zone of problem.h. Offsets count doubles; point (i,j,k) of component m of u
 * is field[u + m*sc + k*sk + j*sj + i]. */
struct gpu_zone {
    evn_long u, f, r;    /* in `field`; r is LU's residual */
    evn_long work;       /* in `work`: where this zone's work space begins, a multiple of 32 */
    evn_long sj, sk, sc; /* strides of u, f, r */
    int nx, ny, nz;
    int number; /* number of the zone in the whole mesh */
};

/* Work of a group: piece number `part` (from 0) of zone zones[zone] of the batch. */
struct gpu_piece {
    int zone, part;
};
