/* Output files of a march: tables of probes and vertices, spectra and the far field, as CSV or NPZ,
 * whose arrays have the names in brackets, by step or frequency first. The caller publishes the
 * files. EVN_MEMORY. */
#pragma once

#include "tdbem/boundary/boundary.h"
#include "tdbem/files/format.h"
#include "tdbem/files/npz.h"
#include "tdbem/incident/incident.h"
#include "tdbem/mesh/mesh.h"
#include <complex.h>
#include <evener/output.h>

/* Rows of numbers, kept until they are written. */
struct table {
    int columns;
    size_t rows, room;
    double *value;
};
/* A new row, to be filled; NULL without memory. */
double *table_row(struct table *t);

/* Copies a table whose columns are pairs, one of each point with a row, to one with a pair for each
 * of `count` points: that of row[i], NAN where row[i] is below 0. EVN_MEMORY; the caller frees
 * to->value in any case. */
evn_status table_spread(struct table *to, const struct table *from, int count, const int *row);

/* Pressures at probes over the steps of a run. */
struct probes {
    const struct table *table; /* t, then scattered and total pressure of each */
    const struct incident *incident;
    double eta, highest; /* angular frequency that is carried */
    int count;
    const double (*at)[3];
    int grid[2]; /* 0: they are a list */
};
/* What every archive has of them [point c grid]. */
void probes_npz(struct npz *z, const struct probes *from);

/* t, then scattered and total pressure of each probe [t scattered total]. */
evn_status output_probes(FILE *out, enum format format, const struct probes *from);
/* n, the time that a_n stands for, then one column a vertex, called by the numbers in `number`
 * [t a vertex]. */
evn_status output_vertices(FILE *out, enum format format, const struct table *t, const int *number);

struct spectra {
    int count, columns, soft;
    int single; /* incident_single() */
    double dt, speed;
    double *w;                /* angular frequencies */
    char *carried;            /* whether the pulse has them, pulse_carries() */
    double complex *a;        /* [count * columns]: sum over n of a_n exp(i w t_n) */
    double complex *incident; /* [count]: of f */
};
evn_status spectra_open(struct spectra *s, int count, const double *w, int columns,
                        const struct incident *in);
void spectra_close(struct spectra *s);
void spectra_add(struct spectra *s, int n, const double *a, const struct incident *in);

/* Transform of the unknown at vertex v over that of the pulse, NAN where the pulse
 * has next to nothing (pulse_carries()), with the transform of
 * its shape in time: a hat (rigid), or constant in each step (soft). */
double complex spectra_value(const struct spectra *s, int f, int v);
/* p_s ~ F exp(ikr)/r for |x| = r -> infinity in the direction `to`, of length 1. */
double complex spectra_far(const struct spectra *s, int f, const struct mesh *mesh,
                           const struct boundary *boundary, const double to[3]);

/* [w vertex x spectrum] */
evn_status output_spectrum(FILE *out, enum format format, const struct spectra *s,
                           const struct mesh *mesh);
/* Angles 0 .. 180 degrees from the direction of the wave in steps of 5, in two planes
 * [w theta direction F]. */
evn_status output_far_field(FILE *out, enum format format, const struct spectra *s,
                            const struct mesh *mesh, const struct boundary *boundary,
                            const double direction[3]);
