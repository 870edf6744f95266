/* The exchange of boundary values: each zone pulls its four ghost planes from its neighbours
 * (NAS-03-010, section 3). */
#ifndef NPBMZ_EXCHANGE_H
#define NPBMZ_EXCHANGE_H

#include "problem.h"
#include <evener/exchange.h>

/* The faces that zone number `n` receives in a step: west, east, south, north, as blocks of the
 * zones' memory (zone_block()). Needs strides only, no fields. */
void zone_faces(const struct problem *p, int n, evn_face face[4]);

/* Fills u of zone z at i = 0, i = nx-1, j = 0 and j = ny-1 from the first interior planes of its
 * west, east, south and north neighbours, all of whose u this core can read. Only the insides of
 * these planes: edges, corners and the planes k = 0 and k = nz-1 keep their initial values.
 *
 * Only interior points are read and only boundary points written, so zones may do this all at once
 * and in any order, as long as no zone is stepped meanwhile. Called by every core of the team; no
 * barrier inside, the caller waits before the step. */
void zone_exchange(const struct problem *p, struct zone *z, const struct team *t);

/* Bytes that zone_exchange copies into z. */
double zone_exchange_bytes(const struct zone *z);

#endif
