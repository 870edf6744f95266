/* Cells of VTK, which both of its file formats have. */
#pragma once

#include "tdbem/mesh/mesh_source.h"

/* Lists of corners of cells, of cell c before end[c]; numbers as the file has them. */
struct vtk_cells {
    double *corner, *end, *type;
    size_t corners, cells;
};

/* Adds the surfaces among them; `type` is that of all cells if cells->type is NULL. Points and
 * lines are passed over. EVN_USAGE: lists that fit nothing, a type that is no surface that is read.
 */
evn_status vtk_cells_add(struct source *s, const struct vtk_cells *cells, int type);
void vtk_cells_free(struct vtk_cells *cells);

enum { VTK_STRIP = 6, VTK_POLYGON = 7 };
