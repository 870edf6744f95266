/* The spatial operator of NPB-MZ, L(U): convection, diffusion, dissipation, and the residual f +
 * L(U) (section 3 of the NPB report; the same for BT, SP and LU, and for the forcing). */
#pragma once

#include "npbmz/problem.h"

struct residual_constants; /* defined in residual_point.h */

/* doubles of scratch that residual() needs, for the largest zone of p and a team of `cores` */
size_t residual_scratch(const struct problem *p, int cores);

/* out = scale * (f + L(u)) at the interior points of the zone's rows; out has the zone's layout
 * (strides sj, sk, sc). In the interior rows (1 <= j <= ny-2, 1 <= k <= nz-2) the points i = 0, i =
 * nx-1 and the padding up to sj are set to 0; other rows are not touched. f == NULL counts as 0.
 *
 * Called by every core of the team with the same `work` (residual_scratch doubles, 64-byte
 * aligned). No barrier inside at the end: the caller waits before it reads what others wrote. */
void residual(const struct problem *p, const struct zone *z, const double *u, const double *f,
              double scale, double *out, double *work, const struct team *t);

/* Coefficients of the operator, for the mesh spacing of p. */
void residual_constants(struct residual_constants *c, const struct problem *p);
