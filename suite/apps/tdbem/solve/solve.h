/* Solving M_0 a = b, M_0 positive definite: each time step ends with it.
 *
 * cg: conjugate gradients, scaled by the diagonal. The scaled condition number is 2 to 4 whatever
 * the mesh, so 13 to 26 iterations do (Hestenes and Stiefel 1952). Bits do not depend on cores.
 * cg:device: the same on the first device of the units.
 * cg:ranks: over ranks each has a share of the rows (solve_ranks.h); with cg each solves for
 * itself. auto: in one process cg or cg:device, whichever is sooner by a model of bytes, launches
 * and waits; over ranks cg or cg:ranks, whichever is sooner when both are tried. mumps: MUMPS's
 * Cholesky factors, as the paper has it (Bramas, Coulaud, Sylvand 2015, section 3.3); where it was
 * found at configure time. A plug-in (solve_mumps.h), opened when it is asked for.
 *
 * An M_0 that is not symmetric (slices.h) is solved by GMRES (solve_gmres.h) on the host, where
 * auto or cg is asked for.
 */
#pragma once

#include <evener/cluster.h>
#include <evener/crew.h>
#include "tdbem/matrices/slices.h"
#include <evener/status.h>

enum solver_kind {
    SOLVER_CG,
    SOLVER_CG_DEVICE,
    SOLVER_CG_RANKS,
    SOLVER_MUMPS,
    SOLVER_AUTO,
    SOLVER_GMRES
};

struct solver;
struct solve_gpu;

/* `auto`, `cg`, `cg:device`, `cg:ranks` or `mumps`. EVN_USAGE. */
evn_status solver_named(enum solver_kind *out, const char *name);

/* The same, and opens the plug-in of mumps, whose LAPACK may start threads: not before ranks are
 * forked. EVN_MISSING: it is not in this build, or not where it is looked for. */
evn_status solver_find(enum solver_kind *out, const char *name);
const char *solver_name(enum solver_kind kind);

/* The first device of the first GPU unit; NULL: there is none. */
evn_device *solver_first_device(const evn_units *units);

/* Checks that the units have the solver's needs: a device, for cg:device. EVN_USAGE. */
evn_status solver_check_units(enum solver_kind kind, const evn_units *units);

/* M_0, square; it is copied. Stops at residuals of `tolerance` times b's
 * (in the norm of the inverse diagonal); cg and GMRES. EVN_USAGE: M_0 is not positive
 * definite, or not symmetric for this solver. */
evn_status solver_open(struct solver **out, const struct slices_csr *m, enum solver_kind kind,
                       double tolerance);
void solver_close(struct solver *s);

/* auto, before solver_attach(): settles on cg or cg:device for these units, and says why in
 * `reason`: "cg:device, 143 us a step by the model, beside 412 us on 4 cores". `alone`: 0 over
 * ranks, where the host has a part in each step, and solver_share() says more. Of others `reason`
 * is "as asked for". */
void solver_settle(struct solver *s, const evn_units *units, int steps, int alone, char *reason,
                   size_t size);
enum solver_kind solver_settled(const struct solver *s);
/* After it, on ranks whose processors are the same: shares rows out for cg:ranks, and for auto
 * where that is sooner. Collective; EVN_MEMORY, EVN_STOPPED. */
evn_status solver_share(struct solver *s, evn_cluster *cluster, evn_crew *crew, char *reason,
                        size_t size);

/* Seconds of a step's solution by the model: n unknowns, entries of M_0, and cores or, for groups
 * of so many steps, a device. */
double solver_cost_on_cores(int n, size_t entries, int cores);
double solver_cost_on_device(int n, size_t entries, int steps);

/* cg:device, before the first solution: M_0 goes to the first device of the first GPU unit, with
 * room for groups of `steps` steps; `single`: a device rounds solutions to float. Nothing for
 * others. EVN_USAGE: there is no device; EVN_MEMORY, EVN_DEVICE, EVN_SYSTEM. Detach before the
 * units are closed. */
evn_status solver_attach(struct solver *s, const evn_units *units, int steps, int single);
void solver_detach(struct solver *s);
/* The device's; NULL: the host solves. What it solves by itself is told here. */
struct solve_gpu *solver_gpu(const struct solver *s);
void solver_solved(struct solver *s, int iterations);

/* `a` is a first guess and becomes the solution. EVN_BODY: it does not converge, or MUMPS failed;
 * EVN_DEVICE.
 */
evn_status solver_solve(struct solver *s, evn_crew *crew, const double *b, double *a);

/* Iterations so far (cg), and entries of M_0 or of its factor. */
long long solver_iterations(const struct solver *s);
size_t solver_entries(const struct solver *s);
