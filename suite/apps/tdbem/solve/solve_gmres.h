/* GMRES (Saad and Schultz 1986), restarted, on the host: for an M_0 that is not symmetric, whose
 * skew-symmetric part could not be left for the step after. Its symmetric part is positive
 * definite, with which restarts converge. Bits do not depend on cores, as those of solve_cg.h. */
#pragma once

#include "tdbem/solve/solve_cg.h"

struct solve_gmres;

/* `matrix`, scaled by its diagonal, is to outlive it. EVN_MEMORY. */
evn_status solve_gmres_open(struct solve_gmres **out, const struct solve_matrix *matrix,
                            double tolerance);
void solve_gmres_close(struct solve_gmres *s);

/* As solve_cg(). */
evn_status solve_gmres(struct solve_gmres *s, evn_crew *crew, const double *b, double *a,
                       int *iterations);
