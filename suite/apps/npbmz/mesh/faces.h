/* Faces of zones: each zone gets its four ghost planes from its neighbours (NAS-03-010, section 3).
 *
 * A zone's planes i = 0, i = nx-1, j = 0 and j = ny-1 are filled from the first interior planes of
 * its west, east, south and north neighbours. Only the insides of these planes: edges, corners and
 * the planes k = 0 and k = nz-1 keep their initial values. Only interior points are read and only
 * boundary points written, so all zones exchange at once. */
#pragma once

#include "npbmz/problem.h"
#include <evener/exchange.h>

/* The faces that zone number `n` receives in a step: west, east, south, north, as blocks of the
 * zones' memory (zone_block()). Needs strides only, no fields. */
void zone_faces(const struct problem *p, int n, evn_face face[4]);
