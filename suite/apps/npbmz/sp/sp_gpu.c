/* SP-MZ on a device: four launches a step (sp.kernel.c). */
#include "npbmz/device/gpu.h"
#include "npbmz/host/residual.h"
#include "npbmz/host/residual_point.h"
#include "npbmz/sp/sp_zone.h"

extern const evn_kernel_source sp_kernels;
static const evn_kernel_source *const sources[] = {&sp_kernels, NULL};

static struct sp_inside inside(const struct zone *z) { return sp_inside(z->nx, z->ny, z->nz); }

/* Work space of a zone: a line's last window stays in local memory, and one direction after another
 * uses the room for the others. */
static size_t work(const struct problem *p, const struct zone *z) {
    (void)p;
    const struct sp_inside in = inside(z);
    size_t max = 0;
    for (int d = 0; d < 3; d++) {
        size_t rows = (size_t)(sp_windows(sp_length(&in, d)) - 1) * SP_ROWS;
        size_t kept = rows * SP_VALUES * SP_ITEMS * (size_t)sp_line_groups(&in, d);
        if (kept > max) max = kept;
    }
    return (size_t)in.points * SP_HANDED + max;
}

static int pieces(const struct problem *p, const struct zone *z, int cut) {
    (void)p;
    const struct sp_inside in = inside(z);
    if (cut == SP_CUT_POINTS)
        return (in.mx * in.my + SP_POINTS - 1) / SP_POINTS * ((in.mz + SP_PLANES - 1) / SP_PLANES);
    return sp_line_groups(&in, cut - SP_CUT_LINES);
}

static evn_status rhs(struct gpu *g, const struct problem *p) {
    struct residual_constants c;
    residual_constants(&c, p);
    return gpu_launch(g, "sp_rhs", NPBMZ_RHS, SP_CUT_POINTS, &c, sizeof c);
}

static evn_status phase(struct gpu *g, const struct problem *p, int number) {
    if (!number) return rhs(g, p);
    const int d = number - 1;
    const struct sp_lines_value v = {.c = penta_constants(p->h[d], DELTA(d), p->dt),
                                     .scale = 1 / (p->dt * EPS4),
                                     .direction = d};
    return gpu_launch(g, "sp_lines", NPBMZ_X + d, SP_CUT_LINES + d, &v, sizeof v);
}

const struct gpu_solver gpu_sp = {.sources = sources,
                                  .work = work,
                                  .cuts = SP_CUT_LINES + 3,
                                  .pieces = pieces,
                                  .phases = 4,
                                  .phase = phase};
