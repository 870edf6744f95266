/* Entries of the matrices by adaptive quadrature, without any of the generator's formulas: in polar
 * coordinates about the outer point's foot, where r dr = rho d rho leaves a smooth integrand
 * between the spheres r = k delta; and the outer triangle halved where two rules disagree. Slow. */
#ifndef TDBEM_POLAR_H
#define TDBEM_POLAR_H

#include "tdbem/matrices/slices.h"

enum { POLAR_K = 64 }; /* values of k, from 0 */

/* row[k] = M_k(i,j), before the skew lag, to about `tolerance` (absolute) */
void polar_row(double row[POLAR_K], const struct mesh *mesh, const struct slices_options *options,
               int i, int j, double tolerance);

/* row[k] of observation point x in column j */
void polar_point(double row[POLAR_K], const struct mesh *mesh, const struct slices_options *options,
                 const double x[3], int j);

#endif
