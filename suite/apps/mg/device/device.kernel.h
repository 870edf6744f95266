/* Definitions common to kernels and host: levels, charges, arguments of kernels.
 *
 * Planes of a level are in slots of a device's buffers: plane k's is slot[level.slots + k] of the
 * table of kernels. A launch processes ranges of planes, [begin, end) in `range`, each divided into
 * tiles in x and y; a group has one tile of one range. */
#pragma once

#include <evener/kernel.h>

enum {
    UP_X = 32, /* a tile of mg_up */
    UP_Y = 32,
    UP_ROWS = 6, /* rows of an item, one below the other, in a tile with two points around it */
    UP_ITEMS = (UP_X + 4) * (UP_Y + 4) / UP_ROWS,
    UP_GROUPS = 256, /* least number of groups of a launch, where planes suffice */
    UP_MOST = 62,    /* planes of a range: charged() has 64 */
    LAST_X = 32,     /* a tile of mg_last, in coarse points */
    LAST_Y = 8,
    LAST_ITEMS = 256,
    LAST_GROUPS = 1024,
    LAST_MOST = 31,
    POINT_ITEMS = 128, /* where an item does a point of each plane */
    SQUARE_ITEMS = 8
};

struct device_level {
    evn_long row, plane; /* doubles from one to the next */
    int n, slots;
};

/* u = (u) + Q z, r = v - A u, u + S r */
struct up_value {
    struct device_level here, below;
    double c0, c1, c2; /* coefficients of the smoother */
    int finest;        /* u is not 0 before, and v is charges */
};

/* P (v - A u), P r or v - A u */
struct pair_value {
    struct device_level here, below;
};

struct device_charge {
    double value;
    int x, y, z, unused;
};
enum { DEVICE_CHARGES = 20 };
