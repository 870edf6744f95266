/* Rows of points by adaptive quadrature, without any of the generator's formulas: in polar
 * coordinates about the point's foot, where r dr = rho d rho leaves a smooth integrand between the
 * spheres r = k delta. */
#pragma once

#include "tdbem/matrices/slices.h"

enum { POLAR_K = 64 }; /* values of k, from 0 */

/* row[k] of observation point x in column j */
void polar_point(double row[POLAR_K], const struct mesh *mesh, const struct slices_options *options,
                 const double x[3], int j);
