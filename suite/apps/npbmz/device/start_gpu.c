/* Kernels of the zones' set-up. */
#include "npbmz/device/start_gpu.h"

#include "npbmz/device/start.kernel.h"
#include "npbmz/host/residual.h"
#include "npbmz/mesh/mesh.h"
#include <string.h>

static struct start_value value_of(const struct problem *p, int initial) {
    struct start_value c;
    memset(&c, 0, sizeof c);
    residual_constants(&c.residual, p);
    memcpy(c.h, p->h, sizeof c.h);
    c.lu = p->benchmark == NPBMZ_LU;
    c.fields = zone_fields(p);
    c.slack = ZONE_SLACK;
    c.initial = initial;
    return c;
}

evn_status start_launch_forcing(struct gpu *g, const struct problem *p, int cut) {
    static const char *const kernel[] = {"start_clear", "start_solution", "start_forcing"};
    const struct start_value c = value_of(p, 0);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < 3; i++)
        status = gpu_launch(g, kernel[i], NPBMZ_PHASES, cut, &c, sizeof c);
    return status;
}

evn_status start_launch_state(struct gpu *g, const struct problem *p, int cut) {
    const struct start_value c = value_of(p, 1);
    return gpu_launch(g, "start_solution", NPBMZ_PHASES, cut, &c, sizeof c);
}
