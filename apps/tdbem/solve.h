/* Solving M_0 a = b, M_0 symmetric positive definite: each time step ends with it.
 *
 * cg: conjugate gradients, scaled by the diagonal. The scaled condition number is 2 to 4 whatever
 * the mesh, so 13 to 26 iterations do (Hestenes and Stiefel 1952). No dependence on threads.
 * mumps: MUMPS's Cholesky factors, as the paper has it (Bramas, Coulaud, Sylvand 2015,
 * section 3.3); where it was found at configure time.
 */
#ifndef TDBEM_SOLVE_H
#define TDBEM_SOLVE_H

#include "crew.h"
#include "slices.h"
#include <evener/status.h>

enum solver_kind { SOLVER_CG, SOLVER_MUMPS };

struct solver;

/* `cg` or `mumps`. EVN_USAGE; EVN_MISSING: mumps is not in this build. */
evn_status solver_find(enum solver_kind *out, const char *name);

/* M_0, square; it is copied. Stops at residuals of `tolerance` times b's
 * (in the norm of the inverse diagonal); cg only. EVN_USAGE: M_0 is not positive definite. */
evn_status solver_open(struct solver **out, const struct slices_csr *m, enum solver_kind kind,
                       double tolerance);
void solver_close(struct solver *s);

/* `a` is a first guess and becomes the solution. EVN_BODY: it does not converge, or MUMPS failed.
 */
evn_status solver_solve(struct solver *s, struct crew *crew, const double *b, double *a);

/* Iterations so far (cg), and entries of M_0 or of its factor. */
long long solver_iterations(const struct solver *s);
size_t solver_entries(const struct solver *s);

#endif
