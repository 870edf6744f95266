/* The incident waves of one column, and the right-hand sides l_n they make.
 *
 * Time integrals are exact; in space each triangle has 12 points. With L_n the integral of the
 * waves' values, for point sources also of their integrals in time, at step n, the differences
 * L_n - L_(n-1) of the right-hand side telescope, so that all l_n together vanish to round-off once
 * a plane pulse is gone: a remainder would stay on the body as a constant for ever. Those of a
 * point source need not vanish one by one, but what they would leave is the flux of x/r^3 through
 * the body, which is 0, too: each triangle's is scaled to be the angle that it is seen under.
 */
#pragma once

#include <evener/crew.h>
#include "tdbem/incident/incident.kernel.h"
#include "tdbem/incident/pulse.h"
#include <evener/tdbem.h>
#include "tdbem/matrices/slices.h"
#include <evener/status.h>

#define INCIDENT_LANES 16 /* triangles of a block */

/* Triangles at a time, in the order of a wave's delays; lanes that are none weigh 0. */
struct incident_block {
    double delay[3][INCIDENT_LANES]; /* a plane wave's at the corners: d.x/c and its own */
    double weight[INCIDENT_LANES];   /* area, times what stands before its integral in L */
    double extra[INCIDENT_LANES];    /* and in what l_n has beside L_n - L_(n-1) */
    double first, last;              /* least and largest delay */
};

/* What else a block of a point source's triangles has. */
struct incident_sphere {
    double corner[3][3][INCIDENT_LANES]; /* coordinates of the corners, from the source */
    double turn[INCIDENT_LANES];  /* what stands before f/r^2 and the integral of f over r^3 in L */
    double whole[INCIDENT_LANES]; /* factor of the latter: c, and the scale of the flux */
};

struct incident {
    enum tdbem_problem problem;
    int differs;        /* l_n is L_n - L_(n-1), of equations with a derivative in time; 0: L_n */
    int damped;         /* and the integral with the extra weight (slices_damping()) */
    struct pulse pulse; /* t0 as it is used */
    int waves;
    tdbem_wave *wave;    /* directions of length 1 */
    double direction[3]; /* of the first wave; of a point source from it to the body's middle */
    double speed, dt;
    double height;  /* the largest that the waves can be on the body together */
    double nearest; /* the least distance of a point source from a triangle over its longest edge */
    int vertices;
    /* private */
    int blocks;                     /* blocks of triangles, as many of each wave */
    struct incident_block *block;   /* of the first wave, then of the next */
    struct incident_sphere *sphere; /* likewise; NULL: no point sources */
    double start, end;              /* f is 0 outside of these, counted from t0 */
    double *share; /* sums of a step for the corners of each block's triangles, with both weights */
    int *begin;    /* [vertices + 1] in `where` */
    int *where;    /* places in `share` of each vertex's sums, in the order of triangles */
    double *now;   /* L at each vertex at step `step` */
    double *next;  /* work space: L of the step at hand */
    int step;
    evn_crew_pace pace;
    double first, last; /* least and largest delay */
};

/* `speed` c > 0; `delta` = c dt. With pulse.t0 NAN at t = 0 the wave is below 1e-9 on the body: t0
 * = 6.5 sigma - min(d.x)/c over the surface. A point source begins at t = 0 or later, so that all
 * of its wave is in the run wherever one listens: t0 = 6.5 sigma. A signal's t0 is 0 unless it
 * would be on the body before. EVN_USAGE, EVN_MEMORY. The mesh may be closed afterwards, the
 * pulse's signal not. */
evn_status incident_open(struct incident **out, const struct mesh *mesh, enum tdbem_problem problem,
                         double eta, double delta, double speed, const tdbem_incidence *incidence,
                         const struct pulse *pulse);
void incident_close(struct incident *in);

/* l_n, one entry a vertex. The wave is switched on after step 0: L_0 = 0. Fastest when n
 * follows on the last call's. Bits do not depend on the step before, nor on cores. */
void incident_load(struct incident *in, int n, double *l);

/* incident_load() within a job: core `me` gets the entries evn_crew_begin(vertices, me, cores) and
 * on; and how many cores are worth it at step n. */
void incident_part(struct incident *in, evn_crew *crew, int me, int cores, int n, double *l);
int incident_cores(const struct incident *in, const evn_crew *crew, int n);

/* Whether it is one plane wave, which at the origin is the pulse. */
int incident_single(const struct incident *in);
/* What spectra are over, `single` or not, in words. */
const char *incident_reference(int single);

/* Whether a device's kernels have all of it: plane waves of a pulse in closed form. */
int incident_plain(const struct incident *in);
/* A device's arguments then: the pulse at step n, and whether l_n is zero, far from the pulse. */
struct incident_time incident_at(const struct incident *in, int n);
int incident_quiet(const struct incident *in, int n);

/* The first step from which on all l_n are zero. */
int incident_over(const struct incident *in);

/* The time that a_n stands for: rigid t_n; soft the middle of the step before it. */
double incident_stands(const struct incident *in, int n);

/* u at a point; no number at a source. */
double incident_value(const struct incident *in, const double x[3], double t);

/* The rule of 12 points on a triangle: barycentric coordinates, and weights that sum to 1. */
enum { INCIDENT_POINTS = 12 };
extern const double incident_place[INCIDENT_POINTS][3], incident_share[INCIDENT_POINTS];

/* When a plane wave that began at 0 is at a point. */
double incident_delay(const struct incident *in, const tdbem_wave *wave, const double x[3]);

/* Largest wave on the body at t = 0, over `height`; should be next to nothing. */
double incident_early(const struct incident *in);
