/* Definitions common to kernels and host for norms on a device: arguments of kernels, and the
 * layout of a zone's work space.
 *
 * A zone's work space begins with its results. Partial sums follow, of planes of k, in the error
 * norm of blocks of columns of a plane as on the host, and of lines of the surface integral: about
 * 16 nz + 2 ny doubles for a zone of one block. All offsets are in doubles. */
#pragma once

#include "npbmz/device/gpu_zone.h"
#include "npbmz/host/residual_point.h"

/* A zone's results; the hash in two halves, whole numbers below 2^32. */
enum {
    NORMS_RESIDUAL = 0,
    NORMS_ERROR = NC,
    NORMS_SURFACE = 2 * NC,
    NORMS_HASH = 2 * NC + 1, /* high half, low half */
    NORMS_END = NORMS_HASH + 2,
    NORMS_RESULT = 16 /* doubles of a zone's results */
};

struct norms_value {
    struct residual_constants residual;
    double h[3];       /* mesh spacing */
    int lu;            /* LU's definitions, not those of BT and SP */
    int lanes;         /* lanes of the host's vectors: squares are summed as the host sums them */
    int columns;       /* columns of a block of the error norm: EXACT_COLUMNS */
    int zones;         /* zones of the batch */
    int norms, hashes; /* wanted, or not */
};

EVN_DEVICE_FUNCTION int norms_blocks(int nx, int columns) { return (nx + columns - 1) / columns; }

/* sums of squares of the residual in plane k, NC of them */
EVN_DEVICE_FUNCTION evn_long norms_at_residual(int k) { return NORMS_RESULT + (evn_long)k * NC; }

/* sums of squares of the error in block b of the columns of plane k */
EVN_DEVICE_FUNCTION evn_long norms_at_error(int nz, int b, int k) {
    return NORMS_RESULT + ((evn_long)(b + 1) * nz + k) * NC;
}

/* the hash's sum over plane k, its two halves */
EVN_DEVICE_FUNCTION evn_long norms_at_hash(int nx, int nz, int columns, int k) {
    return norms_at_error(nz, norms_blocks(nx, columns), 0) + (evn_long)k * 2;
}

/* pressure summed along lines, which the surface integral adds up: on the surface of the box of
 * zone_surface() .. */
EVN_DEVICE_FUNCTION evn_long norms_at_line(int nx, int nz, int columns, int line) {
    return norms_at_hash(nx, nz, columns, nz) + line;
}
/* places of the sums of lines: two faces of lines along x, one line for each j; then two of lines
 * along x and two of lines along y, one line for each k */
EVN_DEVICE_FUNCTION int norms_lines(int ny, int nz) { return 2 * (ny - 3) + 4 * (nz - 3); }
