/* Locally reacting surfaces: on each triangle dp/dn = (1/c) beta * dp/dt, n into the air, where the
 * admittance beta = rho c v_n / p is a number or a filter in time,
 *
 *     beta(s) = instant + sum over poles of residue/(s - pole),    s = -i w,
 *
 * a complex pole being one of two, whose conjugate is added. beta = 0 is rigid, 1 absorbs a plane
 * wave that comes along n; a real impedance Z is beta = rho c/Z.
 *
 * In the march p is linear in each step, so dp/dt is constant there, and a filter's answer to it is
 * known in closed form. Its mean over the step is what dp/dn is taken for, of which a part acts at
 * once and the rest is remembered: one complex number a pole. Since that is a projection onto the
 * steps, the sum over steps of dp/dn times dp/dt is the integral of the filter's own answer times
 * dp/dt: where the filter is passive, Re beta >= 0 for all w, so is the march's.
 */
#pragma once

#include "tdbem/mesh/mesh.h"
#include <complex.h>
#include <stdint.h>

struct pole {
    double complex at, residue;
};

struct filter {
    const char *name; /* the file */
    double instant;
    int poles;
    struct pole *pole;
};

struct boundary {
    int triangles;
    double *beta; /* [triangles]: what acts at once; of a filter with what its poles do so */
    int *filter;  /* [triangles]: its number, -1: none */
    int filters;
    struct filter *of;
    char *text; /* names of `of` */
    double dt;
    uint64_t hash; /* of all that the march depends on */
};

/* `text`: items with commas between them, each BETA for the whole surface or PART=BETA for a named
 * part of the mesh, the last one counts; BETA is a number from 0 on, or a file with lines
 *
 *     instant X
 *     pole RE IM RESIDUE_RE RESIDUE_IM          RE < 0, IM >= 0
 *
 * EVN_USAGE: a wrong item or file, no such part, a filter that is not passive, or that steps of
 * `dt` do not resolve (|pole| dt > 1). EVN_MEMORY. The mesh may be closed afterwards. */
evn_status boundary_open(struct boundary **out, const char *text, const struct mesh *mesh,
                         double dt);
/* Checks items and files of such a text, before there is a mesh or a step. */
evn_status boundary_check(const char *text);
void boundary_close(struct boundary *b);

/* A filter's admittance at an angular frequency; and a triangle's. */
double complex filter_value(const struct filter *f, double w);
double complex boundary_value(const struct boundary *b, int triangle, double w);

/* What a pole makes of steps of dt: state = decay * state + gain * x for the constant x of a step,
 * whose own mean gets instant * x, and the next one's state (of two poles, twice the real part). */
struct pole_step {
    double complex decay, gain, instant;
};
struct pole_step pole_step(const struct pole *p, double dt);
/* 1, or 2 for a pole that stands for itself and its conjugate. */
static inline double pole_weight(const struct pole *p) { return cimag(p->at) > 0 ? 2 : 1; }
