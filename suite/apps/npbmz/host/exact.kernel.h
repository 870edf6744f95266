/* The exact solution of NPB-MZ as a function of one coordinate, for host and device.
 *
 * It is, for each component, a sum of a constant and of one quartic in each coordinate without
 * mixed terms ("The NAS Parallel Benchmarks", RNR-94-007, section 3).
 */
#pragma once

#include "npbmz/mesh/gas_constants.h"
#include <evener/kernel.h>

/* RNR-94-007, table of coefficients in section 3: the constant of each component. */
EVN_TABLE(double, exact_constant, 5) = {2, 1, 2, 2, 5};
/* From the same table, in x, y and z of each component, the coefficients of the first to the fourth
 * power. */
EVN_TABLE(double, exact_power, 60) = {
    0, 5,   0.02, 0.5, /* x: density */
    0, 1,   0.01, 0.4, /* x: momentum along x */
    2, 0,   0.04, 0.3, /* x: momentum along y */
    2, 0,   0.03, 0.2, /* x: momentum along z */
    4, 0.1, 0.05, 0.1, /* x: energy */
    0, 3,   0.01, 0.4, /* y: density */
    0, 2,   0.03, 0.3, /* y: momentum along x */
    0, 2,   0.03, 0.5, /* y: momentum along y */
    0, 2,   0.05, 0.1, /* y: momentum along z */
    3, 0.4, 0.04, 0.3, /* y: energy */
    4, 0.5, 0.03, 0.3, /* z: density */
    0, 3,   0.02, 0.5, /* z: momentum along x */
    0, 3,   0.05, 0.4, /* z: momentum along y */
    0, 3,   0.04, 0.3, /* z: momentum along z */
    2, 0.3, 0.03, 0.2  /* z: energy */
};

/* Contribution of coordinate d (0 x, 1 y, 2 z) at x to component m; the constant belongs to x. */
EVN_DEVICE_FUNCTION double exact_of(int d, int m, double x) {
    const int c = 4 * (NC * d + m);
    const double quartic =
        x * (exact_power[c] +
             x * (exact_power[c + 1] + x * (exact_power[c + 2] + x * exact_power[c + 3])));
    return quartic + (d == 0 ? exact_constant[m] : 0.0);
}

/* Coordinate of index s of `points` in a direction whose spacing is h. BT and SP: h is the average
 * zone's spacing, so that a zone ends near 1 but seldom at it; LU: it ends at exactly 1. */
EVN_DEVICE_FUNCTION double exact_coordinate(int lu, int s, int points, double h) {
    return lu ? (double)s / (points - 1) : s * h;
}
