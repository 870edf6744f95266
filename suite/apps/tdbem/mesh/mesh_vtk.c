/* VTK's older format: lines that begin with a word; numbers as text, or as bytes with the highest
 * first. Read are POLYDATA and UNSTRUCTURED_GRID up to the first POINT_DATA or CELL_DATA. */
#include "tdbem/mesh/mesh_formats.h"
#include "tdbem/mesh/mesh_vtk.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int find_type(const char *name, struct scalar *type) {
    static const struct {
        const char *name;
        struct scalar type;
    } types[] = {
        {"double", {'f', 8}},        {"float", {'f', 4}},          {"int", {'i', 4}},
        {"unsigned_int", {'u', 4}},  {"long", {'i', 8}},           {"unsigned_long", {'u', 8}},
        {"vtktypeint64", {'i', 8}},  {"vtktypeint32", {'i', 4}},   {"vtkIdType", {'i', 4}},
        {"short", {'i', 2}},         {"unsigned_short", {'u', 2}}, {"char", {'i', 1}},
        {"unsigned_char", {'u', 1}}, {"vtktypeuint64", {'u', 8}},  {"vtktypeint8", {'i', 1}}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (!strcmp(name, types[t].name)) {
            *type = types[t].type;
            return 1;
        }
    return 0;
}

static evn_status get_type(struct source *s, struct scalar *type) {
    char word[32];
    source_word(s, word, sizeof word);
    if (!find_type(word, type)) return source_bad(s, "\"%s\" is no type of numbers", word);
    return EVN_OK;
}

/* `count` numbers that begin on the next line; to be freed. */
static evn_status numbers(struct source *s, struct scalar type, long long count, const char *of,
                          double **to) {
    free(*to);
    *to = NULL;
    source_skip_line(s);
    if (!source_holds(s, count, s->binary ? (size_t)type.bytes : 1))
        return source_bad(s, "%s: %lld numbers are more than the file holds", of, count);
    *to = malloc(((size_t)count + 1) * sizeof **to);
    if (!*to) return evn_fail(EVN_MEMORY, "%s: no memory for %lld numbers", s->name, count);
    for (long long i = 0; i < count; i++)
        if (!source_scalar(s, type, *to + i))
            return source_bad(s, "%s: expected %lld numbers, found %lld", of, count, i);
    return EVN_OK;
}

static evn_status points(struct source *s) {
    long long count;
    struct scalar type;
    double *x = NULL;
    if (!source_integer(s, &count) || count < 0 || count > 1LL << 40)
        return source_bad(s, "POINTS: expected how many");
    if (s->points) return source_bad(s, "a second list of POINTS");
    evn_status status = get_type(s, &type);
    if (!status) status = numbers(s, type, 3 * count, "POINTS", &x);
    for (long long i = 0; i < count && !status; i++) status = source_point(s, x + 3 * i);
    free(x);
    return status;
}

/* Each cell's length before its corners: as ends and corners. */
static evn_status split(const struct source *s, struct vtk_cells *c, const double *list,
                        long long cells, long long size) {
    c->end = malloc(((size_t)cells + 1) * sizeof *c->end);
    c->corner = malloc(((size_t)size + 1) * sizeof *c->corner);
    if (!c->end || !c->corner)
        return evn_fail(EVN_MEMORY, "%s: no memory for %lld cells", s->name, cells);
    long long at = 0;
    for (long long n = 0; n < cells; n++) {
        const double length = at < size ? list[at] : -1;
        if (!(length >= 0) || length > (double)(size - at - 1) || length != floor(length))
            return source_bad(s, "cell %lld of %lld: %g corners do not fit in the list of %lld", n,
                              cells, length, size);
        at++;
        for (long long e = 0; e < (long long)length; e++) c->corner[c->corners++] = list[at++];
        c->end[n] = (double)c->corners;
    }
    c->cells = (size_t)cells;
    if (at != size)
        return source_bad(s, "%lld cells take %lld numbers of the list of %lld", cells, at, size);
    return EVN_OK;
}

/* From version 5.1 on: a list of OFFSETS, one more than there are cells, and CONNECTIVITY. */
static evn_status offsets(struct source *s, struct vtk_cells *c, long long cells, long long size) {
    char word[32];
    struct scalar type;
    source_word(s, word, sizeof word); /* OFFSETS */
    evn_status status =
        cells < 1 ? source_bad(s, "OFFSETS: %lld, expected 1 or more", cells) : get_type(s, &type);
    if (!status) status = numbers(s, type, cells, "OFFSETS", &c->end);
    if (status) return status;
    if (c->end[0] != 0) return source_bad(s, "OFFSETS: the first is %g, expected 0", c->end[0]);
    memmove(c->end, c->end + 1, ((size_t)cells - 1) * sizeof *c->end);
    if (!source_word(s, word, sizeof word) || strcmp(word, "CONNECTIVITY"))
        return source_bad(s, "\"%s\": expected CONNECTIVITY", word);
    status = get_type(s, &type);
    if (!status) status = numbers(s, type, size, "CONNECTIVITY", &c->corner);
    c->cells = (size_t)cells - 1;
    c->corners = (size_t)size;
    return status;
}

static evn_status cells_of(struct source *s, struct vtk_cells *c) {
    long long cells, size;
    if (!source_integer(s, &cells) || !source_integer(s, &size) || cells < 0 || size < 0)
        return source_bad(s, "expected numbers of cells and of the list's entries");
    if (c->end) return source_bad(s, "a second list of CELLS");
    const size_t at = s->at;
    char word[32];
    source_word(s, word, sizeof word);
    s->at = at;
    if (!strcmp(word, "OFFSETS")) return offsets(s, c, cells, size);
    if (cells > size) return source_bad(s, "%lld cells in a list of %lld", cells, size);
    double *list = NULL;
    evn_status status = numbers(s, (struct scalar){'i', 4}, size, "cells", &list);
    if (!status) status = split(s, c, list, cells, size);
    free(list);
    return status;
}

static evn_status types_of(struct source *s, struct vtk_cells *c) {
    long long count;
    if (!source_integer(s, &count) || count < 0 || (size_t)count != c->cells)
        return source_bad(s, "CELL_TYPES: expected as many as the %zu cells before", c->cells);
    evn_status status = numbers(s, (struct scalar){'i', 4}, count, "CELL_TYPES", &c->type);
    return status ? status : vtk_cells_add(s, c, 0);
}

/* Arrays that say nothing of the surface. */
static evn_status pass_field(struct source *s) {
    char word[64];
    long long arrays, parts, count;
    double *ignored = NULL;
    struct scalar type;
    source_word(s, word, sizeof word);
    if (!source_integer(s, &arrays) || arrays < 0 || arrays > 10000)
        return source_bad(s, "FIELD: expected how many arrays");
    evn_status status = EVN_OK;
    for (long long i = 0; i < arrays && !status; i++) {
        source_word(s, word, sizeof word);
        if (!source_integer(s, &parts) || !source_integer(s, &count) || parts < 0 || count < 0 ||
            (parts && count > (1LL << 40) / parts))
            return source_bad(s, "FIELD: array %s: expected two numbers and a type", word);
        status = get_type(s, &type);
        if (!status) status = numbers(s, type, parts * count, "FIELD", &ignored);
    }
    free(ignored);
    return status;
}

/* Up to a line that is empty. */
static void pass_metadata(struct source *s) {
    while (source_left(s)) {
        source_skip_line(s);
        if (source_line_ends(s, 0)) return;
    }
}

static evn_status polygons(struct source *s, int type) {
    struct vtk_cells c = {0};
    evn_status status = cells_of(s, &c);
    if (!status && type) status = vtk_cells_add(s, &c, type);
    vtk_cells_free(&c);
    return status;
}

static evn_status dataset(struct source *s, int grid, struct vtk_cells *cells) {
    char word[64];
    evn_status status = EVN_OK;
    while (!status && source_word(s, word, sizeof word)) {
        if (!strcmp(word, "POINT_DATA") || !strcmp(word, "CELL_DATA")) break;
        if (!strcmp(word, "POINTS"))
            status = points(s);
        else if (!strcmp(word, "METADATA"))
            pass_metadata(s);
        else if (!strcmp(word, "FIELD"))
            status = pass_field(s);
        else if (grid && !strcmp(word, "CELLS"))
            status = cells_of(s, cells);
        else if (grid && !strcmp(word, "CELL_TYPES"))
            status = types_of(s, cells);
        else if (!grid && !strcmp(word, "POLYGONS"))
            status = polygons(s, VTK_POLYGON);
        else if (!grid && !strcmp(word, "TRIANGLE_STRIPS"))
            status = polygons(s, VTK_STRIP);
        else if (!grid && (!strcmp(word, "LINES") || !strcmp(word, "VERTICES")))
            status = polygons(s, 0);
        else
            status =
                source_bad(s, "\"%s\": expected POINTS and %s", word, grid ? "CELLS" : "POLYGONS");
    }
    if (!status && cells->cells && !cells->type)
        return evn_fail(EVN_USAGE, "%s: CELLS without CELL_TYPES", s->name);
    return status;
}

evn_status read_vtk(struct source *s) {
    char word[64];
    static const char begin[] = "# vtk DataFile";
    if (s->size < sizeof begin || memcmp(s->data, begin, sizeof begin - 1))
        return source_bad(s, "expected \"%s Version ..\"", begin);
    source_skip_line(s);
    source_skip_line(s); /* a title */
    source_word(s, word, sizeof word);
    const int binary = !strcmp(word, "BINARY");
    if (!binary && strcmp(word, "ASCII"))
        return source_bad(s, "\"%s\": expected ASCII or BINARY", word);
    source_word(s, word, sizeof word);
    if (strcmp(word, "DATASET")) return source_bad(s, "\"%s\": expected DATASET", word);
    source_word(s, word, sizeof word);
    const int grid = !strcmp(word, "UNSTRUCTURED_GRID");
    if (!grid && strcmp(word, "POLYDATA"))
        return source_bad(
            s, "DATASET %s, expected POLYDATA or UNSTRUCTURED_GRID (ParaView: Extract Surface)",
            word);
    s->binary = binary;
    s->swap = 1;
    struct vtk_cells cells = {0};
    evn_status status = dataset(s, grid, &cells);
    vtk_cells_free(&cells);
    return status;
}
