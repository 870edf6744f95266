/* Spots: points that stand for a vertex's hat function in smooth integrals.
 *
 * Four of them have the mass, the centre and the second moments of the hat on some triangles around
 * the vertex, and normals with the mean and the first moments of these triangles' ones: what is
 * linear in the normal and quadratic in the place is integrated exactly.
 */
#pragma once

#include "tdbem/matrices/slices.h"

enum { SPOTS = 4 };

struct spot {
    double x[3], normal[3], weight, beta;
    int filter; /* -1: none */
};

/* Where sound comes from: a body or an image of it, and what of it. */
struct spots_source {
    int image;  /* behind planes; 0: itself */
    int filter; /* -1: the equation's terms; else what triangles with this filter give where dp/dn =
                   (1/c) dp/dt */
};

struct spots {
    const struct mesh *mesh;
    int *start; /* [vertices + 1]: the spots of each vertex */
    struct spot *spot;
};

/* Of all triangles around a vertex, at edges of the body and where admittances meet of each side,
 * with `fine` of each triangle. Of the options it takes admittances. EVN_MEMORY. */
evn_status spots_open(struct spots *out, const struct mesh *mesh,
                      const struct slices_options *options, int fine);
void spots_close(struct spots *spots);

/* The spot as one of such a source; 0: it is none. */
int spots_turn(struct spot *out, const struct spots *spots, const struct spot *spot,
               const struct spots_source *source);
