/* What the types of VTK's cells mean (VTK's file formats: vtkCellType.h has their numbers). */
#include "tdbem/mesh/mesh_vtk.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>

static evn_status polygon(struct source *s, long long label, int n, const long long *corner) {
    evn_status status = source_polygon(s, label, s->at);
    for (int i = 0; i < n && !status; i++) status = source_corner(s, corner[i]);
    return status;
}

/* Every other triangle of a strip is turned round. */
static evn_status strip(struct source *s, long long label, int n, const long long *corner) {
    evn_status status = EVN_OK;
    for (int i = 0; i + 2 < n && !status; i++)
        status = polygon(s, label, 3,
                         (long long[3]){corner[i], corner[i + 1 + i % 2], corner[i + 2 - i % 2]});
    return status;
}

static evn_status cell(struct source *s, long long label, int type, int n,
                       const long long *corner) {
    static const signed char nodes[] = {[5] = 3, [9] = 4, [22] = 6, [23] = 8, [28] = 9, [34] = 7};
    const int expected = type >= 0 && type < (int)sizeof nodes ? nodes[type] : 0;
    if (expected && n != expected)
        return source_bad(s, "cell %lld of type %d has %d corners, expected %d", label, type, n,
                          expected);
    if (expected) return source_element(s, label, expected, corner);
    if ((type == VTK_POLYGON || type == VTK_STRIP) && n < 3)
        return source_bad(s, "cell %lld: %d corners, expected 3 or more", label, n);
    if (type == VTK_POLYGON) return polygon(s, label, n, corner);
    if (type == VTK_STRIP) return strip(s, label, n, corner);
    if (type == 8 && n == 4) /* a pixel, in the order of its coordinates */
        return polygon(s, label, 4, (long long[4]){corner[0], corner[1], corner[3], corner[2]});
    if ((type >= 0 && type <= 4) || type == 21 || type == 35) return EVN_OK; /* points, lines */
    s->solids++;
    if ((type >= 10 && type <= 16) || (type >= 24 && type <= 33) || type == 42) return EVN_OK;
    return source_bad(s, "cell %lld is of type %d; expected triangles, quadrangles or polygons",
                      label, type);
}

evn_status vtk_cells_add(struct source *s, const struct vtk_cells *cells, int type) {
    s->noun = "cell";
    size_t longest = 0, from = 0;
    for (size_t c = 0; c < cells->cells; c++) {
        const double end = cells->end[c];
        if (!(end >= (double)from) || end > (double)cells->corners || end != floor(end))
            return source_bad(s, "cell %zu ends at corner %g of %zu", c, end, cells->corners);
        if ((size_t)end - from > longest) longest = (size_t)end - from;
        from = (size_t)end;
    }
    if (from != cells->corners)
        return source_bad(s, "cells have %zu corners, and the list has %zu", from, cells->corners);
    long long *corner = malloc((longest + 1) * sizeof *corner);
    if (!corner) return evn_fail(EVN_MEMORY, "%s: no memory for a cell", s->name);
    evn_status status = EVN_OK;
    from = 0;
    for (size_t c = 0; c < cells->cells && !status; c++) {
        const size_t end = (size_t)cells->end[c];
        const double of = cells->type ? cells->type[c] : type;
        for (size_t i = from; i < end; i++)
            corner[i - from] =
                fabs(cells->corner[i]) < 1e15 ? (long long)floor(cells->corner[i]) : -1;
        status =
            cell(s, (long long)c, of >= 0 && of < 256 ? (int)of : -1, (int)(end - from), corner);
        from = end;
    }
    free(corner);
    return status;
}

void vtk_cells_free(struct vtk_cells *cells) { free_all(cells->corner, cells->end, cells->type); }
