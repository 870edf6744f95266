/* Definitions common to FT's kernels and their host side. */
#pragma once

#include <evener/kernel.h>

/* A group has ENGINE_ITEMS items and complex numbers for ENGINE_POINTS points in its memory, 32
 * KiB: as many lines as there is room for, a lane each. */
enum { ENGINE_ITEMS = 256, ENGINE_LOG = 11, ENGINE_POINTS = 1 << ENGINE_LOG };

/* Position of point j of lines, in doubles: way j of a table. A line has a number on its device and
 * a global number; its pack p begins at at + here*(device number) + all*(global number) + pack*p */
struct engine_way {
    evn_long at, here, all, pack;
};

/* A line's length and its tables (struct line of line.h). */
struct engine_line {
    int n, log, passes, log_first, log_last;
    int twiddle, order; /* where they begin */
};

/* Lines along y or z: a launch. */
struct engine_lines {
    struct engine_line line;
    int first, count; /* lines, their numbers here */
    int log_packs, sign;
    int from, to; /* ways that lines are read and written */
    int decays;   /* begin of the axes' factors in the table, if not 0 */
    int x, y, z;
};

/* Rows along x: a launch. */
struct engine_rows {
    struct engine_line line; /* transform over packs */
    int first, count;        /* planes, their numbers here */
    int log_y, log_x, sign;
    int from, to;
    int twiddle; /* of the lanes; of short rows the matrix */
};

/* The field at the start: a launch. */
struct engine_start {
    evn_ulong factor, seed, mask, leap;
    double scale;
    int first, count, log_y, log_packs, to;
    int unused;
};

/* Rows of planes as they are, or times what decays: a launch. */
struct engine_copy {
    int first, count, log_y, log_packs;
    int from, to; /* ways that rows are read and written */
    int decays;   /* 1: times the factors of x, y, z */
    int x, y, z;  /* begin of the axes' factors in the table */
};

struct engine_points {
    evn_long result; /* where values go in memory */
    int count, unused;
};
