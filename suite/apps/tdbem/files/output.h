/* Output files of a march: tables of points and vertices, the surface as VTK XML files, spectra and
 * the far field. The caller publishes the files, unless a folder is given. Tables are CSV or NPZ,
 * whose arrays have the names in brackets, by step or frequency first. EVN_MEMORY. */
#ifndef TDBEM_OUTPUT_H
#define TDBEM_OUTPUT_H

#include "tdbem/files/format.h"
#include "tdbem/incident/incident.h"
#include "tdbem/mesh/mesh.h"
#include <complex.h>
#include <evener/output.h>

/* ---- tables ---- */

/* Rows of numbers, kept until they are written. */
struct table {
    int columns;
    size_t rows, room;
    double *value;
};
/* A new row, to be filled; NULL without memory. */
double *table_row(struct table *t);

/* t, then scattered and total pressure of each point [t scattered total point c]. */
evn_status output_points(FILE *out, enum format format, const struct table *t,
                         const struct incident *in, double eta, int points,
                         const double (*point)[3]);
/* n, the time that a_n stands for, then one column a vertex, called by the numbers in `number`
 * [t a vertex]. */
evn_status output_vertices(FILE *out, enum format format, const struct table *t, const int *number);

/* ---- the surface ---- */

/* Makes the folder if it is not there, and tries to write in it. EVN_USAGE. */
evn_status output_folder(const char *folder);

/* DIR/surface_000040.vtu: one field at the vertices. */
evn_status output_surface(const char *folder, int step, const struct mesh *mesh, const char *name,
                          const double *a);
/* DIR/surface.pvd: the files of steps every, 2 every, .. last that are there, at the times that
 * their a_n stand for. */
evn_status output_collection(const char *folder, int every, int last, const struct incident *in);

/* ---- spectra: sums that grow by one term a step ---- */

struct spectra {
    int count, columns, soft;
    double dt, speed;
    struct pulse pulse;
    double *w;                /* angular frequencies */
    double complex *a;        /* [count * columns]: sum over n of a_n exp(i w t_n) */
    double complex *incident; /* [count]: of f at the origin */
};
evn_status spectra_open(struct spectra *s, int count, const double *w, int columns,
                        const struct incident *in);
void spectra_close(struct spectra *s);
void spectra_add(struct spectra *s, int n, const double *a, const struct incident *in);

/* Transform of the unknown at vertex v over that of the pulse at the origin, NAN where the pulse
 * has next to nothing (pulse_carries()), with the transform of
 * its shape in time: a hat (rigid), or constant in each step (soft). */
double complex spectra_value(const struct spectra *s, int f, int v);
/* p_s ~ F exp(ikr)/r for |x| = r -> infinity in the direction `to`, of length 1. */
double complex spectra_far(const struct spectra *s, int f, const struct mesh *mesh,
                           const double to[3]);

/* [w vertex x spectrum] */
evn_status output_spectrum(FILE *out, enum format format, const struct spectra *s,
                           const struct mesh *mesh);
/* Angles 0 .. 180 degrees from the direction of the wave in steps of 5, in two planes
 * [w theta direction F]. */
evn_status output_far_field(FILE *out, enum format format, const struct spectra *s,
                            const struct mesh *mesh, const double direction[3]);

#endif
