/* The phases of an SP-MZ step, each a pass over the zone, and the memory they share.
 *
 * Inside of SP; the step itself is solver_sp, and tests call the phases one by one. */
#pragma once

#include "npbmz/host/workspace.h"

/* A block of the workspace holds, LANES doubles each, the five right-hand sides, 1/rho and the
 * speed of sound; the momentum is read from u. Component c of a point is c*LANES + i%LANES doubles
 * behind the beginning. Of points that are not interior only that they may be read and written is
 * promised. */
enum { SP_RHO_INV = NC, SP_SOUND, SP_BLOCK = (NC + 2) * LANES };

struct workspace sp_work(const struct problem *p, const struct zone *z, const struct scratch *s,
                         const struct team *t);

/* dt (f + L(u)) / (dt eps4), transformed to x, with 1/rho and a: right-hand sides are divided by dt
 * eps4 as the matrices are. */
void sp_rhs(const struct problem *p, const struct zone *z, const struct workspace *w,
            const struct team *t);
/* Solves the lines along x or y in the planes k0 <= k < k1, and makes of the answer the right-hand
 * side of the next direction, divided by dt eps4 again. */
void sp_x(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1);
void sp_y(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1);
/* Solves the lines along z and adds the increment to u. */
void sp_z(const struct problem *p, struct zone *z, const struct workspace *w, const struct team *t);
