/* The choice between launches and one launch for LU's sweeps: counts by the shape of the zones,
 * times by a model of four constants. */
#define NPBMZ_ITEM
#include "npbmz/lu/coefficients.h"
#include "npbmz/lu/wave.h"

#include "npbmz/device/gpu.h"
#include "npbmz/lu/sweeps.h"
#include <stdio.h>
#include <string.h>

extern const evn_kernel_source lu_resident_kernels;

/* Seconds, estimates for an H100 (docs/npbmz.md): of a launch behind another one, of a step of a
 * bundle, and of a flag from one group to the next through the second-level cache. Between 2 and 5
 * us a launch the choice is the same for all classes. */
static const double launch_s = 3e-6, step_s = 0.35e-6, flag_s = 0.5e-6;

int lu_launches(int hyperplanes, int bundles, int steps) {
    return (hyperplanes + steps - 1) / steps + bundles - 2;
}

int lu_launch_steps(int hyperplanes, int bundles) {
    int best = LU_CHUNK;
    double least = 0;
    for (int steps = LU_CHUNK; steps <= hyperplanes; steps += LU_CHUNK) {
        const double cost = lu_launches(hyperplanes, bundles, steps) * (launch_s + steps * step_s);
        if (steps == LU_CHUNK || cost < least) best = steps, least = cost;
    }
    return best;
}

struct lu_sweep_cost lu_sweep_cost(int nx, int ny, int nz) {
    struct lu_sweep_cost c;
    const int hyperplanes = lu_hyperplanes(nx - 2, ny - 2, nz - 2);
    const int bundles = lu_bundles_y(ny) + lu_bundles_z(nz);
    c.steps = lu_launch_steps(hyperplanes, bundles);
    c.launches = lu_launches(hyperplanes, bundles, c.steps);
    /* each bundle begins a chunk behind the one before, and looks at a flag a chunk */
    c.path = hyperplanes + LU_CHUNK * (bundles - 2);
    c.waits = c.path / LU_CHUNK;
    c.launches_s = c.launches * (launch_s + c.steps * step_s);
    c.one_s = launch_s + c.path * step_s + c.waits * flag_s;
    return c;
}

static const char *const names[] = {"auto", "launches", "one"};

evn_status lu_sweeps_find(enum lu_sweeps *out, const char *name) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, names[i])) {
            *out = (enum lu_sweeps)i;
            return EVN_OK;
        }
    return evn_fail(EVN_USAGE, "--sweeps: \"%.40s\" is none, expected auto, launches or one", name);
}

/* Extents of the largest zone in each direction, and the bundles of all zones. */
static int largest(const struct problem *p, int n[3]) {
    int bundles = 0;
    n[0] = n[1] = n[2] = 0;
    for (int i = 0; i < p->zones; i++) {
        const struct zone *z = &p->zone[i];
        if (z->nx > n[0]) n[0] = z->nx;
        if (z->ny > n[1]) n[1] = z->ny;
        if (z->nz > n[2]) n[2] = z->nz;
        bundles += lu_bundles_y(z->ny) * lu_bundles_z(z->nz);
    }
    return bundles;
}

/* Groups of the sweep that the device has at a time; 0: it has no such launches, or its compiler
 * refuses the kernel. */
static int room(evn_device *device) {
    evn_kernel *kernel;
    if (!evn_device_traits(device)->resident ||
        evn_kernel_get(device, &lu_resident_kernels, "lu_lower", &kernel))
        return 0;
    return evn_kernel_resident(kernel);
}

evn_status lu_sweeps_choose(const struct gpu_solver **out, const struct problem *p,
                            evn_device *device, enum lu_sweeps wanted, char *reason, size_t size) {
    int n[3];
    const int bundles = largest(p, n);
    const struct lu_sweep_cost c = lu_sweep_cost(n[0], n[1], n[2]);
    char launches[80];
    snprintf(launches, sizeof launches, "%d launch%s of %d steps", c.launches,
             c.launches == 1 ? "" : "es", c.steps);
    *out = wanted == LU_SWEEPS_ONE ? &gpu_lu_resident : &gpu_lu;
    if (wanted != LU_SWEEPS_AUTO) {
        snprintf(reason, size, "%s, as asked for",
                 wanted == LU_SWEEPS_ONE ? "one launch" : launches);
        if (wanted == LU_SWEEPS_ONE && !evn_device_traits(device)->resident)
            return evn_fail(EVN_USAGE,
                            "--sweeps one: groups of %s cannot wait for each other; expected auto "
                            "or launches",
                            evn_device_traits(device)->name);
        return EVN_OK;
    }
    const int groups = c.one_s < c.launches_s ? room(device) : 0;
    if (c.one_s >= c.launches_s)
        snprintf(reason, size, "%s, %.0f us by the model, beside %.0f us as one", launches,
                 1e6 * c.launches_s, 1e6 * c.one_s);
    else if (groups < bundles)
        snprintf(reason, size, "%s: there is room for %d groups at a time, and one launch has %d",
                 launches, groups, bundles);
    else {
        *out = &gpu_lu_resident;
        snprintf(reason, size, "one launch, %.0f us by the model, beside %.0f us as %s",
                 1e6 * c.one_s, 1e6 * c.launches_s, launches);
    }
    return EVN_OK;
}
