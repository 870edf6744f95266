/* Numbering the vertices along a space-filling curve, or a short tour through all of them, so that
 * neighbours in number are neighbours in space and the row-vectors of a slice change slowly from
 * row to row. */
#pragma once

#include "tdbem/mesh/mesh.h"
#include <stdint.h>

enum numbering { NUMBERING_NONE, NUMBERING_MORTON, NUMBERING_HILBERT, NUMBERING_TSP };

/* `none`, `morton`, `hilbert`, `tsp`; EVN_USAGE for anything else */
evn_status numbering_find(enum numbering *out, const char *name);

/* Renumbers the vertices; mesh->number follows. NONE goes back to the file's order. */
evn_status mesh_renumber(struct mesh *mesh, enum numbering numbering);

/* mesh_renumber() along a curve through the cube of `size` from `low` on, which holds the body. */
evn_status mesh_renumber_in(struct mesh *mesh, enum numbering numbering, double size,
                            const double low[3]);

/* Place of a point on the curve; coordinates are integers of 20 bits. */
uint64_t numbering_morton(const uint32_t at[3]);
uint64_t numbering_hilbert(const uint32_t at[3]);
