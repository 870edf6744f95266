/* Moments of a flat triangle inside of spherical shells around points: the inner integrals of the
 * retarded potentials, in closed form.
 *
 * All lengths here are in units of delta = c dt, so that shell s is s < r < s+1. The outer points
 * are lanes; the inner triangle is one for all of them.
 */
#pragma once

#include "tdbem/matrices/lanes.h"
#include "tdbem/matrices/quadrature.h"

/* An inner triangle. Edge e is opposite to corner e. */
struct shells_triangle {
    double corner[3][3], normal[3];
    double tangent[3][3],
        outward[3][3]; /* unit vectors of each edge: along, and out of the triangle */
    double length[3];  /* length of each edge */
    double slope[3];   /* length/(2 area): |grad N_e| */
    double turn[3][3]; /* grad N_b . outward normal of edge e */
    double curl[3][3]; /* normal x grad N_b */
    double area;
};

void shells_triangle(struct shells_triangle *t, const double corner[3][3]);

/* Outer triangles, one a lane. */
struct shells_outer {
    vec corner[3][3], normal[3], curl[3][3], area;
    vec_truth same; /* the outer triangle is the inner one */
};

/* Combinations of the integrals, for both triangles' hat functions a and b. */
enum shells_kind {
    SHELLS_COMBINED,      /* hypersingular + eta d/dt (1/2 - K), without the mass terms */
    SHELLS_HYPERSINGULAR, /* SHELLS_COMBINED for eta = 0 */
    SHELLS_SINGLE,        /* single layer, P0 in time */
    /* (d/dt + damping) of the single layer + eta (1/2 + K'), P0 in time, without the mass term. K'
     * is the transpose of K: here the OUTER triangle has the trial function, the inner one the test
     * function */
    SHELLS_SINGLE_COMBINED
};

/* The matrices are symmetric, a pair of triangles is computed once. */
static inline int shells_symmetric(enum shells_kind kind) {
    return kind == SHELLS_HYPERSINGULAR || kind == SHELLS_SINGLE;
}

/* Rows belong to the inner triangle, columns to the outer one. */
static inline int shells_turned(enum shells_kind kind) { return kind == SHELLS_SINGLE_COMBINED; }

/* Values of M_k for a lane's pair, a outer and b inner: value[9*(k - first) + 3*a + b][lane],
 * for count values of k. Not yet times delta (SHELLS_SINGLE: delta^3, SHELLS_SINGLE_COMBINED:
 * delta^2); 1/(4 pi) is in. */
struct shells_result {
    vec *value;
    vec first;
    int count; /* the largest of all lanes; lanes with fewer k have zeros */
    /* work space */
    vec *part;
    int max; /* shells that fit */
};

/* Space for triangles that no point sees in more than `shells` shells; EVN_MEMORY. */
evn_status shells_open(struct shells_result *r, int shells);
void shells_close(struct shells_result *r);

enum { SHELLS_BATCH = 16 }; /* points of the outer rule that can be done at once */

/* One batch of the outer rule, points from .. from+points-1, replaces the result's values. */
void shells_pair(struct shells_result *r, enum shells_kind kind, const struct shells_outer *outer,
                 const struct shells_triangle *inner, double eta, double damping,
                 const struct rule *rule, int from, int points);

/* The potentials of the inner triangle's hat functions at points, one a lane: double layer (of a
 * hat in time), or minus the single layer: value[3*(k - first) + b][lane]; the
 * latter not yet times delta. */
void shells_potential(struct shells_result *r, int single, const vec x[3],
                      const struct shells_triangle *inner);
