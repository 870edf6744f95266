/* From what a file has to triangles: the same for all formats. */
#pragma once

#include "tdbem/mesh/mesh_source.h"

/* Points of polygons that have an edge for themselves are joined where they lie at one place,
 * within 1e-6 of the body's size; polygons are cut into triangles. Says so in the mesh's note.
 * Surfaces that only touch have no such edges, and stay apart.
 * EVN_USAGE: a corner that is not there, a polygon that cannot be cut. */
evn_status mesh_mend(struct mesh **out, struct source *s);
