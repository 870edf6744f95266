/* Numbers that say what a solution is: norms, surface integral, sums and hash; and the perturbation
 * that makes zones differ.
 *
 * Norms: NAS-03-010, section 4. All are taken zone by zone, by one core, in an order of points that
 * depends on the zone's size alone, and then combined in order of zones: the bits are the same
 * whatever units and cores computed.
 */
#pragma once

#include "npbmz/problem.h"

struct norms {
    double residual[NC]; /* XCR: norm of the residual */
    double error[NC];    /* XCE: norm of the solution error */
    double surface;      /* XCI: surface integral, LU only; else 0 */
};

/* Root of the mean square of r, a field of the zone's layout, over interior points: the residual
 * f + L(u) that residual() made with scale 1 (BT, SP) or z->r (LU). */
void zone_residual_norm(const struct zone *z, const double *r, double norm[NC]);

/* Norm of u minus the exact solution, as zone_residual_norm() takes it. LU: over interior points;
 * BT and SP: the squares at boundary points are added too, but the sum is divided by the number of
 * interior points all the same. */
void zone_error_norm(const struct problem *p, const struct zone *z, double norm[NC]);

/* LU: integral of the pressure over the surface of a box inside of the zone (RNR-94-007, section
 * 4.1). */
double zone_surface(const struct problem *p, const struct zone *z);

/* *total = sum over the zones, in their order. */
void norms_sum(const struct norms *zone, int zones, struct norms *total);

/* Sum of each component of u over interior points, one after another: i fastest, then j, then k. */
void zone_sums(const struct zone *z, double sum[NC]);

/* Multiplies u at the interior points of zone `number` (from 0) by 1 + 0.01 ((5n^2 + 3n) mod 17), n
 * = number + 1. Official runs of SP and LU start all zones alike and therefore cannot see a wrong
 * neighbour; runs perturbed so can. */
void zone_perturb(struct zone *z, int number);

/* 64-bit hash of the bits of u at all points, boundary points too, padding not.
 *
 * Let b(n) be the bits of the n-th value, n from 0, in order of component, k, j, i, i fastest.
 * Modulo 2^64, the zone's hash is the sum over n of mix(b(n) + (n+1) g), with g =
 * 0x9e3779b97f4a7c15 (the golden ratio), mix(x): x ^= x >> 32; x *= 0xd6e8feb86659fd93; x ^= x >>
 * 29; x *= g; x ^= x >> 32. As a sum it may be taken in any order and in parts. The problem's hash
 * is h after h = 0; for each zone in order: h = mix(h + its hash + g). */
uint64_t zone_hash(const struct zone *z);
uint64_t problem_hash(const uint64_t *zone_hash, int zones);
