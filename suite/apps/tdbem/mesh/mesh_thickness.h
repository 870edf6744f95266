/* The smallest distance between parts of a surface that face each other: walls of a body, and gaps
 * between bodies or between parts of one. */
#pragma once

#include "tdbem/mesh/mesh.h"

/* Two triangles face each other if their normals point apart (through the body) or together
 * (through the air), to 60 degrees, and they have no corner in common. Images behind planes count.
 */
struct mesh_thickness {
    double wall; /* smallest distance through the body; INFINITY: nothing below `most` */
    double gap;  /* likewise through the air */
    int wall_at[2], gap_at[2]; /* the two triangles, -1: none */
};

/* Distances of `most` and more are not looked for: the smaller it is, the sooner this is done. The
 * mesh has been checked. EVN_MEMORY. */
evn_status mesh_thickness(struct mesh_thickness *out, const struct mesh *mesh, double most);
