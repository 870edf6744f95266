/* Mesh files, told apart by the ends of their names. */
#pragma once

#include "tdbem/mesh/mesh.h"

/* The ends of names that mean a format. */
#define MESH_ENDS ".msh .off .stl .obj .ply .vtk .vtu .vtp .unv .bdf .inp"

/* Reads a file without checking what it describes. */
evn_status mesh_read(struct mesh **out, const char *file);
