/* The exact solution, and the initial state and forcing made from it.
 *
 * The exact solution has no terms of two coordinates (exact.kernel.h), so a zone has only nx + ny +
 * nz different parts, and a point is the sum of three of them; no polynomial is evaluated point by
 * point.
 *
 * Coordinates are a zone's own: every zone begins at the origin (NAS-03-010, section 3). */
#pragma once

#include "npbmz/problem.h"

/* Part d (0 x, 1 y, 2 z) of the exact solution at index s of that direction; the constant belongs
 * to part 0. The exact solution at (i,j,k) is part 0 at i + part 1 at j + part 2 at k. */
void exact_part(const struct problem *p, const struct zone *z, int d, int s, double part[NC]);

/* Part 0 for a block of columns i0 <= i < i0 + EXACT_COLUMNS, component m of column i in
 * part[m][i-i0]; 0 from i = nx on. */
enum { EXACT_COLUMNS = 256 };
void exact_columns(const struct problem *p, const struct zone *z, int i0,
                   double part[NC][EXACT_COLUMNS]);

/* u = initial state, at all points of the zone, boundary points included. Padding is left alone.
 * One core calls it. */
void zone_initialise(const struct problem *p, struct zone *z);

/* f = -L(exact solution) at the interior points; boundary points stay as they are (0 from
 * zone_alloc).
 *
 * z->u holds the exact solution meanwhile and afterwards, so that no other field is needed: call
 * zone_initialise after it. Called by every core of the team with the same `work`:
 * zone_forcing_scratch doubles, 64-byte aligned. On return of all cores f is complete. */
void zone_forcing(const struct problem *p, struct zone *z, double *work, const struct team *t);
size_t zone_forcing_scratch(const struct problem *p, int cores);
