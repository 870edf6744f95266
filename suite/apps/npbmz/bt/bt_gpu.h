/* Arguments and memory of BT's kernels (bt.kernel.c).
 *
 * A zone's work space begins with the right-hand side, which the phases turn into the increment: in
 * the layout of u, NC components of sc doubles. States of the eliminations follow (bt.kernel.c);
 * the directions share that space. */
#pragma once

#include "npbmz/host/residual_point.h"
#include "npbmz/bt/gas.h"

#ifndef BT_ROWS       /* others are variants (../variants.h) */
#    define BT_ROWS 3 /* rows whose C the group's memory holds */
#endif

enum {
    BT_POINTS = 128,               /* items of a group in bt_rhs */
    BT_PLANES = 8,                 /* planes that a group of bt_rhs marches over */
    BT_ITEMS = 32,                 /* items of a group in bt_lines */
    BT_LINES = BT_ITEMS / 2,       /* lines of a group: two items a line, one from each end */
    BT_STATE = NC + NC * NC,       /* doubles of a row's y and C */
    BT_GAS = 6,                    /* doubles of a row's struct gas */
    BT_SAVED = BT_STATE * BT_ITEMS /* doubles of a state of all items */
};

/* rows that an item eliminates of a line of n points; the other end may have one less */
INLINE int bt_half(int n) { return n / 2 - 1; }
/* into how many segments they are cut */
INLINE int bt_segments(int n) { return (bt_half(n) + BT_ROWS - 1) / BT_ROWS; }

struct bt_rhs_value {
    struct residual_constants c;
    double scale; /* scale of bt_rhs() (bt.h) */
};

struct bt_lines_value {
    struct scheme c;
    int d;         /* lines along x, y or z: 0, 1, 2 */
    int is_update; /* the increments are added to u, instead of replacing the right-hand side */
};
