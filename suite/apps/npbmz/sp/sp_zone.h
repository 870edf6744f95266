/* Definitions common to SP's kernels and their host: a zone's work space, the division of zones,
 * constants.
 *
 * Work space: the right-hand side between the phases, 7 values of each interior point (five
 * right-hand sides, 1/rho, the speed of sound), component by component, i fastest, rows of nx-2
 * points rounded up to SP_ROUND; then, for lines of more than 2 SP_ROWS interior points, their
 * windows (sp.kernel.c). Zones of classes A to C have no such lines: 7 doubles a point. */
#pragma once

#include "npbmz/device/gpu_zone.h"
#include "npbmz/sp/penta.h"

enum {
    SP_ROUND = 4, /* doubles read from device memory at a time */
    /* residual: points of a plane that a group takes, and planes */
    SP_POINTS = 128,
    SP_PLANES = 8,
    /* lines of a group, its items (one for each end), rows of each end that local memory holds,
     * and values of a row there: 5 right-hand sides, 3 reciprocal pivots, 3 entries above them */
    SP_LINES = 16,
    SP_ITEMS = 2 * SP_LINES,
    SP_ROWS = 16,
    SP_VALUES = NC + 6,
    /* what the phases hand on of a point */
    SP_RHO = NC,
    SP_A,
    SP_HANDED
};

/* Ways of cutting a zone: for the residual, and for the lines of direction d. */
enum { SP_CUT_POINTS, SP_CUT_LINES };

/* Interior points of a zone: counts, doubles of a row, and of a component. */
struct sp_inside {
    int mx, my, mz, row;
    evn_long points;
};

INLINE struct sp_inside sp_inside(int nx, int ny, int nz) {
    struct sp_inside in;
    in.mx = nx - 2;
    in.my = ny - 2;
    in.mz = nz - 2;
    in.row = (nx - 2 + SP_ROUND - 1) / SP_ROUND * SP_ROUND;
    in.points = (evn_long)in.row * in.my * in.mz;
    return in;
}

/* Interior points of a line of direction d, lines of a zone, and groups for them. */
INLINE int sp_length(const struct sp_inside *in, int d) {
    return d == 0 ? in->mx : d == 1 ? in->my : in->mz;
}
INLINE int sp_lines_of(const struct sp_inside *in, int d) {
    return d == 0 ? in->my * in->mz : d == 1 ? in->mx * in->mz : in->mx * in->my;
}
INLINE int sp_line_groups(const struct sp_inside *in, int d) {
    return (sp_lines_of(in, d) + SP_LINES - 1) / SP_LINES;
}

/* Windows of a line of m interior points. */
INLINE int sp_windows(int m) { return ((m + 1) / 2 + SP_ROWS - 1) / SP_ROWS; }

/* The value of kernel sp_lines. */
struct sp_lines_value {
    struct penta c;
    double scale; /* 1/(dt eps4): right-hand sides are divided by dt eps4 as the matrices are */
    evn_long direction;
};
