/* Skeletons: the few vertices of a cell that speak for all of them to whatever is far.
 *
 * As sources (columns of the matrices): a_j of the cell's vertices act on all that is beyond the
 * cells near to it as m_s = sum over j of weight[s][j] a_j do at the skeleton's vertices alone. As
 * targets (rows): what comes from there at vertex i is the sum over r of weight[r][i] of what comes
 * at the skeleton's. Weights are real, and the same for all frequencies up to `highest`, so they
 * act on each step alone.
 *
 * A leaf chooses among its vertices, a larger cell among its children's skeletons (interpolative
 * decomposition, by pivoted Cholesky of the Gram matrix of what dipoles or charges there make at a
 * sample of far vertices, at some frequencies).
 */
#pragma once

#include "tdbem/mesh/octree.h"
#include "tdbem/matrices/slices.h"
#include <evener/cluster.h>

enum side { SOURCES, TARGETS, SIDES };

struct skeleton {
    int count, candidates;
    int *vertex;    /* [count] */
    double *weight; /* [count * candidates] */
};

struct skeletons {
    int cells, filters;
    char *has;                  /* [cell * filters] */
    struct skeleton *of[SIDES]; /* [cell]; count 0 where neither it nor a larger cell of it has far
                                   ones */
};

struct skeleton_options {
    const struct slices_options *slices; /* of the matrices */
    double highest;                      /* wave number; above it nothing is promised */
    double accuracy;      /* of what is left out, relative, in the mean over far vertices */
    evn_cluster *cluster; /* whose ranks choose for some cells each; NULL: this process alone */
};

/* On `cores` threads, all of them on each rank; the bits do not depend on how many. Collective.
 * EVN_MEMORY. */
evn_status skeletons_open(struct skeletons **out, const struct octree *cells,
                          const struct mesh *mesh, const struct skeleton_options *options,
                          int cores);
void skeletons_close(struct skeletons *skeletons);

/* How large they will be: the skeletons of some leaves, evenly spread, alone. `leaf`: [most] their
 * cells, `size`: [most] the mean of both sides; *count of them, at most `most`. EVN_MEMORY. */
evn_status skeletons_sample(const struct octree *cells, const struct mesh *mesh,
                            const struct skeleton_options *options, int most, int *leaf,
                            double *size, int *count);

/* Whether there is a filter of this number on a cell's vertices. */
int skeletons_have(const struct skeletons *skeletons, int cell, int filter);
