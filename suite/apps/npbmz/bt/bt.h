/* The phases of a BT-MZ step, each a pass over the zone, and the memory they share.
 *
 * Inside of BT; the step itself is solver_bt, and tests call the phases one by one. */
#pragma once

#include "npbmz/host/workspace.h"

/* A block of the workspace holds, LANES doubles each, the right-hand side (which the phases make
 * into the increment) and the gas that the matrices are made of: value c of a point is c*LANES +
 * i%LANES doubles behind the beginning. Points that are not interior hold anything, even NaN. */
enum {
    BT_X = 0,           /* NC values: density, momenta, energy */
    BT_V = NC,          /* velocities m_n / rho along x, y, z */
    BT_ENERGY = NC + 3, /* E / rho */
    BT_PRESSURE,        /* p / rho */
    BT_VOLUME,          /* 1 / rho */
    BT_VALUES,
    BT_BLOCK = BT_VALUES * LANES
};

struct workspace bt_work(const struct problem *p, const struct zone *z, const struct scratch *s,
                         const struct team *t);

/* The blocks: the gas, and the right-hand side scale * (f + L(u)) with the scale dt / (tau_x tau_y
 * tau_z), tau_d = dt / (2 h_d). */
void bt_rhs(const struct problem *p, const struct zone *z, const struct workspace *w,
            const struct team *t);
/* Solve the lines along x, y or z; along x and y in the planes k0 <= k < k1. With right-hand side r
 * and the matrix M of the report, x becomes tau_d M^-1 r, since matrices are divided by tau_d; the
 * scale of bt_rhs makes good for that. The last adds the increment to the interior points of u. */
void bt_x(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1);
void bt_y(const struct problem *p, const struct zone *z, const struct workspace *w,
          const struct team *t, int k0, int k1);
void bt_z(const struct problem *p, struct zone *z, const struct workspace *w, const struct team *t);
