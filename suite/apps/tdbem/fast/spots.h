/* Spots: points that stand for a vertex's hat function in smooth integrals.
 *
 * Four of them have the mass, the centre and the second moments of the hat on some triangles around
 * the vertex, and normals with the mean and the first moments of these triangles' ones: what is
 * linear in the normal and quadratic in the place is integrated exactly.
 */
#ifndef TDBEM_FAST_SPOTS_H
#define TDBEM_FAST_SPOTS_H

#include "tdbem/mesh/mesh.h"

enum { SPOTS = 4 };

struct spot {
    double x[3], normal[3], weight, beta;
};

struct spots {
    int *start; /* [vertices + 1]: the spots of each vertex */
    struct spot *spot;
};

/* Of all triangles around a vertex, or with `fine`, at edges of the body and where admittances meet
 * of each of them. beta[triangles]: admittances, NULL: none. EVN_MEMORY. */
evn_status spots_open(struct spots *out, const struct mesh *mesh, const double *beta, int fine);
void spots_close(struct spots *spots);

#endif
