/* NPB-MZ written plainly: the yardstick that the fast code is held against.
 *
 * Textbook form, scalar, one point after another, one 5x5 matrix after another, sharing no code
 * with suite/apps/npbmz: what agrees with it is right for another reason than having been copied.
 * Sources: "NAS Parallel Benchmarks, Multi-Zone Versions" (NAS-03-010) and "The NAS Parallel
 * Benchmarks" (RNR-94-007), sections 3 and 4.
 *
 * A field is an array of points, a point is five numbers (density, momenta, energy); point (i,j,k),
 * all from 0, is number (k*ny + j)*nx + i. Directions d are 0, 1, 2 for x, y, z.
 */
#ifndef NPBMZ_PLAIN_H
#define NPBMZ_PLAIN_H

#include "npbmz/problem.h" /* struct zone, for plain_get and plain_put; enum npbmz_benchmark */

typedef double plain_point[5];

struct plain_zone {
    int nx, ny, nz;
    int west, east, south, north; /* numbers from 0 */
    double h[3];
    double dt;
    enum npbmz_benchmark benchmark;
    plain_point *u; /* solution */
    plain_point *f; /* forcing */
    plain_point *r; /* LU: residual from step to step; NULL for BT and SP */
};

struct plain {
    enum npbmz_benchmark benchmark;
    int gx, gy, gz, xzones, yzones, zones, steps;
    double dt, h[3];
    struct plain_zone *zone;
};

/* Points of a zone, and the number of point (i,j,k). */
size_t plain_points(const struct plain_zone *z);
size_t plain_at(const struct plain_zone *z, int i, int j, int k);
/* A field of the zone's size, all 0; the caller frees it. Ends the program if there is no memory.
 */
plain_point *plain_field(const struct plain_zone *z);

/* A whole mesh: cut, initial state and forcing, before the first exchange; LU's first residual too.
 * Class S, W, A, B or C. */
void plain_open(struct plain *p, enum npbmz_benchmark b, char class_);
void plain_close(struct plain *p);

/* One zone by itself, of any size from 5 points a side up, with spacings and step of your choice;
 * all fields 0 (LU: with r). No neighbours. */
void plain_zone_open(struct plain_zone *z, enum npbmz_benchmark b, int nx, int ny, int nz,
                     const double h[3], double dt);
void plain_zone_close(struct plain_zone *z);

/* A sound gas that differs from point to point: density 1 to 2, velocities -0.5 to 0.5, pressure
 * 0.5 to 1.5; the same for the same seed. */
void plain_gas(const struct plain_zone *z, plain_point *u, unsigned seed);
/* Numbers from -1 to 1, all five components; boundary points 0 if `interior_only`. */
void plain_noise(const struct plain_zone *z, plain_point *a, unsigned seed, int interior_only);

/* From and to the layout of suite/apps/npbmz: `field` is z->u, z->f, z->r or scratch of that
 * layout. */
void plain_get(const struct zone *z, const double *field, plain_point *a);
void plain_put(const struct zone *z, double *field, const plain_point *a);
/* A plain zone of the same size with a copy of the solution and forcing (and r) of z of problem p.
 */
void plain_zone_of(struct plain_zone *q, const struct problem *p, const struct zone *z);

/* Largest |a-b| over the points, over the largest |b|, component by component, then the largest of
 * the five. Not a number where either has one. */
double plain_difference(const struct plain_zone *z, const plain_point *a, const plain_point *b);

/* u = initial state, boundary and interior. */
void plain_initial(const struct plain_zone *z, plain_point *u);
/* out = L(u) at interior points, 0 at boundary points. */
void plain_operator(const struct plain_zone *z, const plain_point *u, plain_point *out);
/* out = f + L(u) at interior points, 0 at boundary points; f may be NULL. */
void plain_residual(const struct plain_zone *z, const plain_point *u, const plain_point *f,
                    plain_point *out);
/* f = -L(exact solution). */
void plain_forcing(const struct plain_zone *z, plain_point *f);

/* One step of one zone, ghosts filled. */
void plain_step(const struct plain_zone *z);
/* All zones' ghost planes from their neighbours. */
void plain_exchange(struct plain *p);
/* Section of the perturbed runs: interior points of zone n (from 1) times 1 + 0.01 ((5n^2+3n) mod
 * 17). */
void plain_perturb(struct plain *p);
/* LU: r from u; nothing for BT and SP. Call it after changing u and before the first step. */
void plain_prepare(struct plain *p);
/* `steps` times exchange and step. */
void plain_run(struct plain *p, int steps);

/* Norms of one zone, and of all zones (sums). The residual norm of BT and SP computes f + L(u)
 * afresh; of LU it takes r. */
void plain_zone_residual_norm(const struct plain_zone *z, double norm[5]);
void plain_zone_error_norm(const struct plain_zone *z, double norm[5]);
double plain_zone_surface(const struct plain_zone *z);
void plain_residual_norm(const struct plain *p, double norm[5]);
void plain_error_norm(const struct plain *p, double norm[5]);
double plain_surface(const struct plain *p);

#endif
