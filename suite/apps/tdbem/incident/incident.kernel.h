/* Definitions common to host and devices: the incident wave's pulse, and its right-hand side. */
#pragma once

#include <evener/kernel.h>

/* The pulse at one time. */
struct incident_time {
    double t, t0, scale; /* scale: 1 / sigma */
    double cut;          /* sigmas from the middle where f is zero for good */
    double reach;        /* `cut` as a time */
    double ricker;       /* 1 or 0 */
    int off;             /* the wave is not switched on yet */
    int triangles;       /* number of triangles, with padding up to whole groups of items */
    int damped;          /* the integral with the extra weight is wanted, too */
};

/* The right-hand side of a step, and a first guess. */
struct incident_right {
    int rows;            /* rows of a vector */
    int columns;         /* those of M_0 */
    int triangles;       /* as incident_time has it */
    int load;            /* 0: the wave is not there; 1: L_n; 2: L_n - L_(n-1) */
    int now, last;       /* which of the kept L's these are */
    int damped;          /* not 0: L with the extra weight in it goes so many places behind L */
    int wide, step;      /* width of the sums, and the step's place in them */
    int one, two, three; /* places of the last three steps, latest first: see right.kernel.c */
    int at;              /* where solutions begin */
    int before;          /* as SOLVE_READY wants it */
};

/* exp(-u^2/2) = 2^k e for |u| <= 9: e^r with |r| <= ln(2)/2 as a polynomial, to 2e-16 of itself.
 * Returns e; *shifted is k + INCIDENT_MAGIC, whose last bits are k's. */
#define INCIDENT_MAGIC 0x1.8p52
EVN_DEVICE_FUNCTION double incident_bell(double u, double *shifted) {
    const double y = -0.5 * u * u, t = y * 0x1.71547652b82fep0 + INCIDENT_MAGIC,
                 k = t - INCIDENT_MAGIC;
    const double r = (y - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
    double e = 1. / 6227020800;
    e = e * r + 1. / 479001600;
    e = e * r + 1. / 39916800;
    e = e * r + 1. / 3628800;
    e = e * r + 1. / 362880;
    e = e * r + 1. / 40320;
    e = e * r + 1. / 5040;
    e = e * r + 1. / 720;
    e = e * r + 1. / 120;
    e = e * r + 1. / 24;
    e = e * r + 1. / 6;
    e = e * r + 0.5;
    e = e * r + 1;
    e = e * r + 1;
    *shifted = t;
    return e;
}
