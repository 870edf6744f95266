/* The incident wave: a plane pulse u(x,t) = f(t - d.x/c), and the right-hand sides l_n it makes.
 *
 * Time integrals are exact; in space each triangle has 12 points. With L_n the integral of f at
 * step n, the differences L_n - L_(n-1) of the right-hand side telescope, so that all
 * l_n together vanish to round-off once the pulse is gone: a remainder would stay on the body as a
 * constant for ever.
 */
#ifndef TDBEM_INCIDENT_H
#define TDBEM_INCIDENT_H

#include <evener/crew.h>
#include "tdbem/incident/incident.kernel.h"
#include "tdbem/matrices/slices.h"
#include <evener/status.h>

enum pulse_kind { PULSE_GAUSSIAN, PULSE_RICKER };

/* gaussian: f(t) = exp(-u^2/2); ricker: f(t) = (1 - u^2) exp(-u^2/2); u = (t - t0)/sigma. Zero for
 * |u| > 9, where it is below 1e-15. */
struct pulse {
    enum pulse_kind kind;
    double sigma; /* in units of time */
    double t0;    /* when the middle passes the origin; NAN: late enough for the body, see
                     incident_open() */
};

/* `gaussian:sigma=S`, `ricker:sigma=S,t0=T`. EVN_USAGE. */
evn_status pulse_read(struct pulse *out, const char *text);
double pulse_value(const struct pulse *p, double t);

/* The angular frequency above which the spectrum is 40 dB below its maximum. */
double pulse_highest(const struct pulse *p);

/* Whether the spectrum is at most 80 dB below its maximum at an angular frequency: what is divided
 * by less is rounding, and what had not decayed at the end. */
int pulse_carries(const struct pulse *p, double w);

#define INCIDENT_LANES 16 /* triangles of a block */

/* Triangles at a time, in the order of their delays; lanes that are none weigh 0. */
struct incident_block {
    double delay[3][INCIDENT_LANES]; /* d.x/c at the corners */
    double weight[INCIDENT_LANES];   /* area, times what stands before its integral in L */
    double extra[INCIDENT_LANES];    /* and in what l_n has beside L_n - L_(n-1) */
    double first, last;              /* least and largest delay */
};

struct incident {
    enum tdbem_problem problem;
    int differs;        /* l_n is L_n - L_(n-1), of equations with a derivative in time; 0: L_n */
    int damped;         /* and the integral with the extra weight (slices_damping()) */
    struct pulse pulse; /* t0 as it is used */
    double direction[3], speed, dt;
    int vertices;
    /* private */
    int blocks; /* blocks of triangles */
    struct incident_block *block;
    double *share; /* sums of a step for the corners of each block's triangles, with both weights */
    int *begin;    /* [vertices + 1] in `where` */
    int *where;    /* places in `share` of each vertex's sums, in the order of triangles */
    double *now;   /* L at each vertex at step `step` */
    double *next;  /* work space: L of the step at hand */
    int step;
    evn_crew_pace pace;
    double first, last; /* least and largest delay */
};

/* `direction` of propagation, any length above 0; `speed` c > 0; `delta` = c dt. With pulse.t0 NAN,
 * t0 = 6.5 sigma - min(d.x)/c over the surface: at t = 0 the wave is below 1e-9 on the body.
 * EVN_USAGE, EVN_MEMORY. The mesh may be closed afterwards. */
evn_status incident_open(struct incident **out, const struct mesh *mesh, enum tdbem_problem problem,
                         double eta, double delta, double speed, const double direction[3],
                         const struct pulse *pulse);
void incident_close(struct incident *in);

/* l_n, one entry a vertex. The wave is switched on after step 0: L_0 = 0. Fastest when n
 * follows on the last call's. Bits do not depend on the step before, nor on cores. */
void incident_load(struct incident *in, int n, double *l);

/* incident_load() within a job: core `me` gets the entries evn_crew_begin(vertices, me, cores) and
 * on; and how many cores are worth it at step n. */
void incident_part(struct incident *in, evn_crew *crew, int me, int cores, int n, double *l);
int incident_cores(const struct incident *in, const evn_crew *crew, int n);

/* A device's arguments: the pulse at step n, and whether l_n is zero, far from the pulse. */
struct incident_time incident_at(const struct incident *in, int n);
int incident_quiet(const struct incident *in, int n);

/* The first step from which on all l_n are zero. */
int incident_over(const struct incident *in);

/* The time that a_n stands for: rigid t_n; soft the middle of the step before it. */
double incident_stands(const struct incident *in, int n);

/* u at a point. */
double incident_value(const struct incident *in, const double x[3], double t);

/* The rule of 12 points on a triangle: barycentric coordinates, and weights that sum to 1. */
enum { INCIDENT_POINTS = 12 };
void incident_rule(const double (**barycentric)[3], const double **weight);

/* Largest |f| on the body at t = 0; should be next to nothing. */
double incident_early(const struct incident *in);

#endif
