/* The sphere: exact scattering of a plane wave, or a point source's, by a rigid or a soft sphere,
 * as a series in spherical Bessel functions and Legendre polynomials.
 *
 * Radius 1; x = k a is wave number times radius; incident exp(i k d.x), time factor exp(-i w t);
 * `z` is the cosine of the angle from the direction d of propagation: 1 in the shadow, -1 where the
 * wave arrives. See Bowman, Senior and Uslenghi, "Electromagnetic and acoustic scattering by simple
 * shapes", chapter 10.
 */
#pragma once

#include <complex.h>

enum { SERIES_TERMS = 160 };

struct series {
    int terms, soft;
    double x;
    double complex surface[SERIES_TERMS];  /* of P_n: the field on the surface */
    double complex outgoing[SERIES_TERMS]; /* of P_n h_n(kr): the scattered field */
};

/* 0 < x <= 100. */
void series_open(struct series *s, int soft, double x);

/* Of a point source `r` from the middle, 1.2 <= r, x <= 20, whose wave is exp(ikR)/R, R from it:
 * `z` is the cosine of the angle from the source then. */
void series_open_source(struct series *s, int soft, double x, double r);

/* On the surface: total pressure (rigid), or its normal derivative (soft). */
double complex series_surface(const struct series *s, double z);

/* Scattered pressure at r >= 1. */
double complex series_scattered(const struct series *s, double r, double z);

/* Far field F, p_s ~ F exp(ikr)/r. */
double complex series_far(const struct series *s, double z);
