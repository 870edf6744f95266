/* LU-MZ's time step on a device: which kernels (lu.kernel.c), how often, in which pieces.
 *
 * The sweeps are waves of launches (wave.h), as many as the extents of the largest zone ask for,
 * whatever the number of zones; or a launch each, where groups may wait for each other and
 * LU_RESIDENT says so. sweeps.h chooses. They read no ghosts; the residual, which does, is the
 * last phase.
 */
#define NPBMZ_ITEM
#include "npbmz/lu/coefficients.h"
#include "npbmz/lu/wave.h"

#include "npbmz/device/gpu.h"
#include "npbmz/host/residual.h"
#include "npbmz/lu/sweeps.h"

#ifndef LU_SOLVER /* a variant has names of its own (../variants.h) */
#    define LU_SOLVER  gpu_lu
#    define LU_KERNELS lu_kernels
#endif

extern const evn_kernel_source LU_KERNELS;
static const evn_kernel_source *const sources[] = {&LU_KERNELS, NULL};

enum { BUNDLES, PLANES, CUTS };

static size_t lu_work(const struct problem *p, const struct zone *z) {
    (void)p;
    return (size_t)lu_bundles_y(z->ny) * (size_t)lu_bundles_z(z->nz) *
           (size_t)lu_bundle_doubles(z->nx);
}

static int lu_pieces(const struct problem *p, const struct zone *z, int cut) {
    (void)p;
    return cut == BUNDLES
               ? lu_bundles_y(z->ny) * lu_bundles_z(z->nz)
               : lu_plane_groups((int)z->sj, z->ny) * ((z->nz - 2 + LU_PLANES - 1) / LU_PLANES);
}

#if LU_RESIDENT

/* A wave meets the bundles with the same sum of their numbers at a time. */
static int lu_turn(const struct zone *z, int cut, int piece) {
    const int y = lu_bundles_y(z->ny);
    return cut == BUNDLES ? piece % y + piece / y : 0;
}

static evn_status sweep(struct gpu *g, const struct problem *p, const char *name, double sign) {
    struct lu_wave a = {.from = gpu_number(g) << LU_ALL_BITS, .bundles = gpu_pieces(g, BUNDLES)};
    lu_coefficients(p, sign, &a.c);
    return gpu_launch_resident(g, name, sign > 0 ? NPBMZ_LOWER : NPBMZ_UPPER, BUNDLES, &a,
                               sizeof a);
}

#else

static evn_status sweep(struct gpu *g, const struct problem *p, const char *name, double sign) {
    struct lu_wave a;
    int nx, ny, nz;
    gpu_extents(g, &nx, &ny, &nz);
    const int hyperplanes = lu_hyperplanes(nx - 2, ny - 2, nz - 2);
    const int bundles = lu_bundles_y(ny) + lu_bundles_z(nz);
    lu_coefficients(p, sign, &a.c);
    a.steps = lu_launch_steps(hyperplanes, bundles);
    evn_status status = EVN_OK;
    for (a.launch = 0; !status && a.launch < lu_launches(hyperplanes, bundles, a.steps); a.launch++)
        status = gpu_launch(g, name, sign > 0 ? NPBMZ_LOWER : NPBMZ_UPPER, BUNDLES, &a, sizeof a);
    return status;
}

#endif

static evn_status lu_sweeps(struct gpu *g, const struct problem *p) {
    evn_status status = sweep(g, p, "lu_lower", 1);
    return status ? status : sweep(g, p, "lu_upper", -1);
}

static evn_status lu_residual(struct gpu *g, const struct problem *p) {
    struct lu_operator a;
    residual_constants(&a.c, p);
    return gpu_launch(g, "lu_residual", NPBMZ_RHS, PLANES, &a, sizeof a);
}

static evn_status lu_phase(struct gpu *g, const struct problem *p, int phase) {
    return phase ? lu_residual(g, p) : lu_sweeps(g, p);
}

const struct gpu_solver LU_SOLVER = {.sources = sources,
                                     .work = lu_work,
                                     .cuts = CUTS,
                                     .pieces = lu_pieces,
#if LU_RESIDENT
                                     .turn = lu_turn,
                                     .doubles_of_flag = LU_FLAG,
                                     .otherwise = &gpu_lu,
#endif
                                     .phases = 2,
                                     .late = 1,
                                     .phase = lu_phase,
                                     .prepare = lu_residual};
