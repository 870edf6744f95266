/* Series of VTK's XML files that ParaView plays: DIR/NAME_000040.vtu for some of the steps, and
 * DIR/NAME.pvd with their times. Real numbers have 64 bits, appended as they are. */
#pragma once

#include <evener/status.h>

/* Makes the folder if it is not there, and tries to write in it. EVN_USAGE. */
evn_status vtk_folder(const char *folder);

enum { VTK_FIELDS = 2 };

/* Points, cells of 1, 3 or 4 of them, and values at the points. */
struct vtk_piece {
    int points, cells, corners;
    const double (*x)[3];
    const int *corner; /* [cells * corners] */
    const int *number; /* of each point in a file of the user's; NULL: as they are here */
    struct {
        const char *name; /* NULL: there is none */
        const double *value;
    } field[VTK_FIELDS];
};

/* DIR/NAME_000040.vtu. EVN_SYSTEM, EVN_MEMORY. */
evn_status vtk_write(const char *folder, const char *name, int step, const struct vtk_piece *piece);

/* DIR/NAME.pvd: the files of steps every, 2 every, .. last that are there; that of step n is at
 * (n - before) dt. */
evn_status vtk_collect(const char *folder, const char *name, int every, int last, double before,
                       double dt);

/* Cells of a list of points (rows 0) or of a grid, as tdbem_grid has it, whose corners all have a
 * row that is not below 0; to be freed, *cells of so many `corners`. NULL: no memory. */
int *vtk_cells(int points, const int grid[2], int closed, const int *row, int *cells, int *corners);
