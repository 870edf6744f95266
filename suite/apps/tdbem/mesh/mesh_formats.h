/* The formats of mesh files, a file each. */
#pragma once

#include "tdbem/mesh/mesh_source.h"

/* Each reads the whole source, and says what is wrong with its form. EVN_USAGE, EVN_MEMORY. */
evn_status read_msh(struct source *s); /* Gmsh 2 and 4 */
evn_status read_off(struct source *s); /* Geomview */
evn_status read_stl(struct source *s); /* text and bytes */
evn_status read_obj(struct source *s); /* Wavefront */
evn_status read_ply(struct source *s); /* text and bytes of both orders */
evn_status read_vtk(struct source *s); /* VTK's older format */
evn_status read_vtu(struct source *s); /* VTK's XML: unstructured grids and polygons */
evn_status read_unv(struct source *s); /* I-DEAS */
evn_status read_bdf(struct source *s); /* Nastran */
evn_status read_inp(struct source *s); /* Abaqus */
/* NumCalc's folder of an object, whose name the source has; reads its files itself */
evn_status read_numcalc(struct source *s);
