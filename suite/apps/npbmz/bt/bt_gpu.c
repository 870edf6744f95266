/* BT-MZ's time step on a device: the division of zones for the kernels of bt.kernel.c, their work
 * space and arguments. Four launches a step, whatever the number of zones. */
#include "npbmz/bt/bt_gpu.h"

#include "npbmz/device/gpu.h"
#include "npbmz/host/residual.h"

#ifndef BT_SOLVER /* a variant has names of its own (../variants.h) */
#    define BT_SOLVER  gpu_bt
#    define BT_KERNELS bt_kernels
#endif

extern const evn_kernel_source BT_KERNELS;
static const evn_kernel_source *const sources[] = {&BT_KERNELS, NULL};

/* ways of cutting: by points, and by lines along x, y, z */
enum { POINTS, LINES_X, LINES_Y, LINES_Z, CUTS };

static int lines_along(const struct zone *z, int d) {
    const int inner[3] = {z->nx - 2, z->ny - 2, z->nz - 2};
    return inner[(d + 1) % 3] * inner[(d + 2) % 3];
}
static int line_pieces(const struct zone *z, int d) {
    return (lines_along(z, d) + BT_LINES - 1) / BT_LINES;
}

static int bt_pieces(const struct problem *p, const struct zone *z, int cut) {
    (void)p;
    if (cut != POINTS) return line_pieces(z, cut - LINES_X);
    return ((z->nx - 2) * (z->ny - 2) + BT_POINTS - 1) / BT_POINTS *
           ((z->nz - 2 + BT_PLANES - 1) / BT_PLANES);
}

static int bt_length(const struct zone *z, int cut) {
    return cut == LINES_X ? z->nx : cut == LINES_Y ? z->ny : cut == LINES_Z ? z->nz : 0;
}

static size_t bt_work_doubles(const struct problem *p, const struct zone *z) {
    const int n[3] = {z->nx, z->ny, z->nz};
    size_t max = 0;
    (void)p;
    for (int d = 0; d < 3; d++) {
        size_t states = (size_t)line_pieces(z, d) * (size_t)(bt_segments(n[d]) - 1);
        if (states > max) max = states;
    }
    return (size_t)(NC * z->sc) + max * BT_SAVED;
}

static evn_status bt_rhs(struct gpu *g, const struct problem *p) {
    struct bt_rhs_value rhs;
    residual_constants(&rhs.c, p);
    rhs.scale = 8 * p->h[0] * p->h[1] * p->h[2] / (p->dt * p->dt);
    return gpu_launch(g, "bt_rhs", NPBMZ_RHS, POINTS, &rhs, sizeof rhs);
}

static evn_status bt_phase(struct gpu *g, const struct problem *p, int phase) {
    if (!phase) return bt_rhs(g, p);
    const int d = phase - 1;
    const struct bt_lines_value lines = {scheme(p->h[d], DELTA(d), p->dt), d, d == 2};
    return gpu_launch(g, "bt_lines", NPBMZ_X + d, LINES_X + d, &lines, sizeof lines);
}

const struct gpu_solver BT_SOLVER = {.sources = sources,
                                     .work = bt_work_doubles,
                                     .cuts = CUTS,
                                     .pieces = bt_pieces,
                                     .length = bt_length,
                                     .phases = 4,
                                     .phase = bt_phase};
