/* Writing a mesh. */
#pragma once

#include "tdbem/mesh/mesh.h"

#define MESH_WRITE_ENDS ".obj, .off, .ply or .stl"

/* Whether a file's name has an end that means a format that is written. */
int mesh_writes(const char *file);

/* Writes the mesh, whole or not at all, in the present numbering; all digits of coordinates, but in
 * STL, which has floats. EVN_SYSTEM: the file. */
evn_status mesh_write(const struct mesh *mesh, const char *file);
