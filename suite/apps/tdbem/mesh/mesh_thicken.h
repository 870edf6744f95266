/* Open surfaces, screens, with a thickness: closed bodies. */
#pragma once

#include "tdbem/mesh/mesh.h"

/* A mesh as mesh_read() leaves it becomes two of it, half of `thickness` to either side along the
 * vertices' normals, and a rim between them along each open edge. At creases vertices go as far as
 * keeps the faces that far apart, at most twice half of it. `name` begins the messages. EVN_USAGE:
 * the surface has no open edge, an edge of three triangles or more, or no two sides (a Moebius
 * strip). EVN_MEMORY. The result is not checked yet. */
evn_status mesh_thicken(struct mesh **out, const struct mesh *open, double thickness,
                        const char *name);
