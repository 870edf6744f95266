/* LU's sweeps on a device: a zone is cut into bundles of grid lines, and launches march a wave
 * through all bundles of all zones together.
 *
 * A bundle is LU_LINES_Y x LU_LINES_Z lines along x, a line an item of one group. At step s,
 * counted over the whole zone, all items of all bundles are at points of the hyperplane
 *
 *     (i-1) + (j-1) + (k-1) = s,
 *
 * so a point's predecessors in x, y and z were all done one step before: in x by the item itself,
 * in y and z by a neighbour, or by the bundle beside or below if the item is at the bundle's edge.
 * Within a bundle a barrier a step keeps that order. Between bundles a launch does: launch n takes
 * the bundle (b,c) through steps (n-b-c) S to (n-b-c+1) S - 1, so that it finds all that it needs
 * from (b-1,c) and (b,c-1) in memory. No bundle has to fill or drain: from launch to launch its
 * items go on where they were. The upper sweep is the same from the other end.
 *
 * A zone of H hyperplanes takes H/S + B + C - 2 launches for B x C bundles, each of S steps: many
 * short launches cost launching, few long ones waiting. lu_gpu.c takes the S for which the sum is
 * least. In class C that is 18 launches of 20 steps a sweep, and 11 in class B, 5 in class A, 1 in
 * classes S and W, where a launch for each hyperplane would be 220, 137, 72, 10 and 32: at 3 us
 * each far more than the 150 us in which class C's bytes of a sweep come from an H100's memory.
 *
 * With LU_RESIDENT=1, a variant for devices that can (EVN_ALL_RESIDENT), a sweep is one launch
 * of as many groups as are at work at a time, and a flag of each bundle says how far it is. A group
 * takes a bundle through all of its steps, a chunk as soon as the bundles beside and below are far
 * enough, and then the next of its bundles. Those come in the order in which a wave meets them, so
 * that a group waits for earlier ones alone: the first bundle that is not done never waits. Flags
 * are never put back, since the number of the sweep is in them.
 */
#pragma once

#include "npbmz/device/gpu_zone.h"
#include "npbmz/host/residual_point.h"
#include "npbmz/lu/point.h"

#ifndef NPBMZ_ITEM
#    error "the sweeps' values are numbers, not lanes: define NPBMZ_ITEM before including wave.h"
#endif

/* others are variants (../variants.h) */
#ifndef LU_CHUNK
#    define LU_CHUNK 4 /* steps for which a group fetches the solution at a time */
#endif
#ifndef LU_AT_ONCE
#    define LU_AT_ONCE 2 /* steps of u and r on their way from memory at a time (lower sweep) */
#endif
#ifndef LU_RESIDENT
#    define LU_RESIDENT 0 /* 1: one launch a sweep */
#endif
#ifndef LU_GROUPS
#    define LU_GROUPS 4 /* that a multiprocessor shall have at a time */
#endif

enum {
    LU_LINES_Y = 16, /* lines of a bundle */
    LU_LINES_Z = 8,
    LU_ITEMS = LU_LINES_Y * LU_LINES_Z,
    LU_CARRY = 3 * NC, /* what an item keeps from launch to launch */
    LU_RESIDUAL_ITEMS = 128,
    LU_PLANES = 8 /* that a group of the residual marches over */
};

/* the value of the sweeps' kernels */
struct lu_wave {
    struct lu_coefficients c;
#if LU_RESIDENT
    evn_long from; /* flags of this sweep: this and the steps done, or LU_ALL of them */
    int bundles;   /* bundles of all zones */
#else
    int launch; /* number of the launch, from 0 */
    int steps;  /* S, a multiple of LU_CHUNK */
#endif
};

/* Constants of LU's residual, as one argument of its kernels. */
struct lu_operator {
    struct residual_constants c;
};

EVN_DEVICE_FUNCTION int lu_round_up(int n, int to) { return (n + to - 1) / to * to; }

/* bundles of a zone along y, along z */
EVN_DEVICE_FUNCTION int lu_bundles_y(int ny) { return (ny - 2 + LU_LINES_Y - 1) / LU_LINES_Y; }
EVN_DEVICE_FUNCTION int lu_bundles_z(int nz) { return (nz - 2 + LU_LINES_Z - 1) / LU_LINES_Z; }

/* hyperplanes of a zone, or of a part of it, and up to a whole number of chunks */
EVN_DEVICE_FUNCTION int lu_hyperplanes(int x, int y, int z) {
    return lu_round_up(x + y + z - 2, LU_CHUNK);
}

/* Work space. Step q of a bundle, counted from its own first one, has LU_ITEMS values of each
 * component of v (lower sweep to upper sweep), then come what it passes on to the next bundle in
 * y, LU_LINES_Z values a component and step, to the next one in z, LU_LINES_Y of them, and what its
 * items keep. */
enum {
    LU_STEP_V = NC * LU_ITEMS,
    LU_STEP_Y = NC * LU_LINES_Z,
    LU_STEP_Z = NC * LU_LINES_Y,
    LU_STEP = LU_STEP_V + LU_STEP_Y + LU_STEP_Z
};
/* steps that there is room for in each bundle of a zone */
EVN_DEVICE_FUNCTION int lu_room(int nx) { return lu_hyperplanes(nx - 2, LU_LINES_Y, LU_LINES_Z); }
/* doubles of a bundle */
EVN_DEVICE_FUNCTION evn_long lu_bundle_doubles(int nx) {
    return (evn_long)lu_room(nx) * LU_STEP + LU_CARRY * LU_ITEMS;
}

/* A bundle's flag, of the buffer of flags: there is one for so many doubles of work space, which is
 * fewer than any bundle's. */
enum { LU_FLAG = LU_STEP, LU_ALL_BITS = 20, LU_ALL = (1 << LU_ALL_BITS) - 1 };

/* groups for the interior rows of a plane */
EVN_DEVICE_FUNCTION int lu_plane_groups(int sj, int ny) {
    return (sj * (ny - 2) + LU_RESIDUAL_ITEMS - 1) / LU_RESIDUAL_ITEMS;
}
