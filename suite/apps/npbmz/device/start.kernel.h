/* Arguments of kernels for the set-up of a batch's zones (start.kernel.c). */
#pragma once

#include "npbmz/device/gpu_zone.h"
#include "npbmz/host/residual_point.h"

struct start_value {
    struct residual_constants residual;
    double h[3]; /* mesh spacing */
    int lu;      /* LU's coordinates, not those of BT and SP */
    int fields;  /* fields of a zone: u, f and, for LU, r */
    int slack;   /* doubles before and behind a field: ZONE_SLACK */
    int initial; /* start_solution: the initial state, not the exact solution */
};
