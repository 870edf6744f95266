/* SP's changes of variables, point by point: between the conserved variables and the characteristic
 * ones of each direction (RNR-94-007, section 4.2: T_x^-1, T_x^-1 T_y, T_y^-1 T_z and T_z).
 *
 * For host and device.
 */
#pragma once

#include "npbmz/host/value.h"

#define HALF_ROOT 0.70710678118654752440 /* sqrt(1/2) */

/* From x to y: scale times T_y^-1 T_x r. */
INLINE void sp_x_to_y(double scale, const vec r[NC], vec s[NC]) {
    double b = scale * HALF_ROOT, weight = 0.5 * scale;
    vec mean = weight * (r[3] + r[4]);
    s[0] = -scale * r[1];
    s[1] = scale * r[0];
    s[2] = b * (r[3] - r[4]);
    s[3] = mean - b * r[2];
    s[4] = mean + b * r[2];
}

/* From y to z: scale times T_z^-1 T_y r. */
INLINE void sp_y_to_z(double scale, const vec r[NC], vec s[NC]) {
    double b = scale * HALF_ROOT, weight = 0.5 * scale;
    vec mean = weight * (r[3] + r[4]);
    s[0] = b * (r[3] - r[4]);
    s[1] = -scale * r[2];
    s[2] = scale * r[1];
    s[3] = mean - b * r[0];
    s[4] = mean + b * r[0];
}

/* From conserved variables to x: scale times T_x^-1 r, at density rho, velocity v and pressure p;
 * and 1/rho and the speed of sound, as they are wanted later. */
INLINE void sp_to_x(double scale, vec rho, const vec v[3], vec p, const vec r[NC], vec s[NC],
                    vec *rho_inv, vec *a) {
    vec both = 1.0 / (rho * p);
    vec i = both * p;
    vec kap = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    *rho_inv = i;
    *a = vec_sqrt(C1 * p * i);
    /* c2 / a^2 = (c2/c1) rho/p */
    vec t1 = (kap * r[0] - v[0] * r[1] - v[1] * r[2] - v[2] * r[3] + r[4]) *
             ((scale * C2 / C1) * (rho * rho) * both);
    vec b = (scale * HALF_ROOT) * i;
    vec t2 = b * (v[0] * r[0] - r[1]);
    vec t3 = (HALF_ROOT * i) * *a * t1;
    vec scaled = scale * i;
    s[0] = scale * r[0] - t1;
    s[1] = scaled * (r[3] - v[2] * r[0]);
    s[2] = scaled * (v[1] * r[0] - r[2]);
    s[3] = t3 - t2;
    s[4] = t3 + t2;
}

/* From z back to conserved variables: T_z r at density rho, velocity v, speed of sound a, total
 * energy of a unit of mass e. */
INLINE void sp_from_z(vec rho, const vec v[3], vec a, vec e, const vec r[NC], vec s[NC]) {
    vec a2 = a * a;
    vec kap = e - (1 / (C1 * C2)) * a2;
    vec b = HALF_ROOT * rho;
    vec t1 = (b / a) * (r[3] + r[4]);
    vec t2 = r[2] + t1;
    vec t3 = b * (r[3] - r[4]);
    vec m1 = rho * r[0], m2 = rho * r[1];
    s[0] = t2;
    s[1] = v[0] * t2 - m2;
    s[2] = v[1] * t2 + m1;
    s[3] = v[2] * t2 + t3;
    s[4] = v[1] * m1 - v[0] * m2 + kap * t2 + (1 / C2) * (a2 * t1) + v[2] * t3;
}
