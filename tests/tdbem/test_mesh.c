/* Mesh files in all formats, what is mended, what is refused and how the refusal reads; every
 * prefix and thousands of random changes of good files, none of which may crash. Run: ctest -R
 * tdbem_mesh; EVENER_FUZZ=N test-tdbem_mesh for N times as many changes */
#include "body.h"
#include "tdbem/mesh/mesh_make.h"
#include "tdbem/mesh/mesh_thickness.h"
#include <math.h>
#include <unistd.h>

#ifndef TDBEM_DATA
#    define TDBEM_DATA "tests/tdbem/data"
#endif

static char folder[] = "/tmp/evener-mesh-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *path(const char *name) {
    static char p[256];
    snprintf(p, sizeof p, "%s/%s", folder, name);
    return p;
}

/* ---- files as text in memory ---- */

struct text {
    char *data;
    size_t size, room;
};

static void put_bytes(struct text *t, const void *data, size_t size) {
    if (t->size + size + 1 > t->room) {
        t->room = 2 * (t->room + size + 1);
        t->data = realloc(t->data, t->room);
        assert_non_null(t->data);
    }
    memcpy(t->data + t->size, data, size);
    t->size += size;
}

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...) {
    char line[256];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    put_bytes(t, line, strlen(line));
}

static void write_file(const char *name, const void *data, size_t size) {
    OWN(file) *f = fopen(path(name), "wb");
    assert_non_null(f);
    assert_true(fwrite(data, 1, size, f) == size);
}

static evn_status open_text(struct mesh **m, const char *name, const void *data, size_t size) {
    write_file(name, data, size);
    evn_status status = mesh_open(m, path(name));
    unlink(path(name));
    return status;
}

/* ---- writers of the formats ---- */

static void to_off(struct text *t, const struct mesh *m) {
    put(t, "OFF # a comment\n%d %d 0\n\n", m->vertices, m->triangles);
    for (int v = 0; v < m->vertices; v++)
        put(t, "%.17g %.17g %.17g%s\n", m->x[v][0], m->x[v][1], m->x[v][2],
            v % 3 ? "" : " 255 0 0");
    for (int f = 0; f < m->triangles; f++)
        put(t, "3 %d %d %d%s\n", m->corner[f][0], m->corner[f][1], m->corner[f][2],
            f % 3 ? "" : " 0.5 0.5 0.5");
}

static void to_obj(struct text *t, const struct mesh *m) {
    put(t, "# a comment\nmtllib x.mtl\no thing\n");
    for (int v = 0; v < m->vertices; v++)
        put(t, "v %.17g %.17g %.17g\r\nvn 0 0 1\n", m->x[v][0], m->x[v][1], m->x[v][2]);
    for (int f = 0; f < m->triangles; f++) {
        const int *c = m->corner[f];
        switch (f % 4) {
        case 0: put(t, "f %d %d %d\n", c[0] + 1, c[1] + 1, c[2] + 1); break;
        case 1: put(t, "f %d/1 %d/2/3 \\\n %d//4\n", c[0] + 1, c[1] + 1, c[2] + 1); break;
        case 2: put(t, "f %d %d %d # end\n", c[0] + 1, c[1] + 1, c[2] + 1); break;
        default: put(t, "f %d %d %d\n", c[0] - m->vertices, c[1] - m->vertices, c[2] - m->vertices);
        }
    }
}

static void to_stl(struct text *t, const struct mesh *m) {
    put(t, "solid with a name\n");
    for (int f = 0; f < m->triangles; f++) {
        put(t, " facet normal 0 0 0\n  outer loop\n");
        for (int e = 0; e < 3; e++) {
            const double *x = m->x[m->corner[f][e]];
            put(t, "   vertex %.9e %.9e %.9e\n", x[0], x[1], x[2]);
        }
        put(t, "  endloop\n endfacet\n");
    }
    put(t, "endsolid with a name\n");
}

static void to_stl_binary(struct text *t, const struct mesh *m) {
    char head[80] = "solid, although it is binary";
    uint32_t count = (uint32_t)m->triangles;
    put_bytes(t, head, sizeof head);
    put_bytes(t, &count, 4);
    for (int f = 0; f < m->triangles; f++) {
        float record[12] = {0};
        for (int e = 0; e < 3; e++)
            for (int c = 0; c < 3; c++) record[3 + 3 * e + c] = (float)m->x[m->corner[f][e]][c];
        put_bytes(t, record, sizeof record);
        put_bytes(t, "\0\0", 2);
    }
}

/* with tags that have gaps, and elements of other types */
static int tag_of(int v) { return 10 + 3 * v; }

static void to_msh2(struct text *t, const struct mesh *m) {
    put(t, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 "
           "\"skin\"\n$EndPhysicalNames\n");
    put(t, "$Nodes\n%d\n", m->vertices);
    for (int v = 0; v < m->vertices; v++)
        put(t, "%d %.17g %.17g %.17g\n", tag_of(v), m->x[v][0], m->x[v][1], m->x[v][2]);
    put(t, "$EndNodes\n$Elements\n%d\n1 15 2 0 1 %d\n", m->triangles + 2, tag_of(0));
    for (int f = 0; f < m->triangles; f++)
        put(t, "%d 2 2 1 7 %d %d %d\n", f + 2, tag_of(m->corner[f][0]), tag_of(m->corner[f][1]),
            tag_of(m->corner[f][2]));
    put(t, "9999 1 0 %d %d\n$EndElements\n", tag_of(0), tag_of(1));
}

static void put_int(struct text *t, int32_t v) { put_bytes(t, &v, 4); }
static void put_size(struct text *t, int64_t v) { put_bytes(t, &v, 8); }

static void to_msh2_binary(struct text *t, const struct mesh *m) {
    put(t, "$MeshFormat\n2.2 1 8\n");
    put_int(t, 1);
    put(t, "\n$EndMeshFormat\n$Nodes\n%d\n", m->vertices);
    for (int v = 0; v < m->vertices; v++) {
        put_int(t, tag_of(v));
        put_bytes(t, m->x[v], 24);
    }
    put(t, "\n$EndNodes\n$Elements\n%d\n", m->triangles + 1);
    const int32_t point[] = {15, 1, 2, 1, 0, 1, tag_of(0)}, block[] = {2, m->triangles, 2};
    put_bytes(t, point, sizeof point);
    put_bytes(t, block, sizeof block);
    for (int f = 0; f < m->triangles; f++) {
        put_int(t, f + 2);
        put_int(t, 1);
        put_int(t, 7);
        for (int e = 0; e < 3; e++) put_int(t, tag_of(m->corner[f][e]));
    }
    put(t, "\n$EndElements\n");
}

static void to_msh40(struct text *t, const struct mesh *m) {
    put(t, "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n0 0 1 0\n7 0 0 0 1 1 1 0 "
           "0\n$EndEntities\n");
    put(t, "$Nodes\n2 %d\n7 2 0 5\n", m->vertices);
    for (int v = 0; v < m->vertices; v++) {
        if (v == 5) put(t, "8 2 1 %d\n", m->vertices - 5); /* with parameters */
        put(t, "%d %.17g %.17g %.17g%s\n", tag_of(v), m->x[v][0], m->x[v][1], m->x[v][2],
            v < 5 ? "" : " 0.5 0.5");
    }
    put(t, "$EndNodes\n$Elements\n2 %d\n1 0 15 1\n1 %d\n7 2 2 %d\n", m->triangles + 1, tag_of(0),
        m->triangles);
    for (int f = 0; f < m->triangles; f++)
        put(t, "%d %d %d %d\n", f + 2, tag_of(m->corner[f][0]), tag_of(m->corner[f][1]),
            tag_of(m->corner[f][2]));
    put(t, "$EndElements\n");
}

static void to_msh41(struct text *t, const struct mesh *m) {
    put(t, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 %d 1 99999\n2 7 0 5\n", m->vertices);
    for (int block = 0; block < 2; block++) {
        int from = block ? 5 : 0, to = block ? m->vertices : 5;
        if (block) put(t, "2 8 1 %d\n", m->vertices - 5);
        for (int v = from; v < to; v++) put(t, "%d\n", tag_of(v));
        for (int v = from; v < to; v++)
            put(t, "%.17g %.17g %.17g%s\n", m->x[v][0], m->x[v][1], m->x[v][2],
                block ? " 0.5 0.5" : "");
    }
    put(t, "$EndNodes\n$Elements\n2 %d 1 99999\n0 1 15 1\n1 %d\n2 7 2 %d\n", m->triangles + 1,
        tag_of(0), m->triangles);
    for (int f = 0; f < m->triangles; f++)
        put(t, "%d %d %d %d\n", f + 2, tag_of(m->corner[f][0]), tag_of(m->corner[f][1]),
            tag_of(m->corner[f][2]));
    put(t, "$EndElements\n");
}

static void to_msh41_binary(struct text *t, const struct mesh *m) {
    put(t, "$MeshFormat\n4.1 1 8\n");
    put_int(t, 1);
    put(t, "\n$EndMeshFormat\n$Nodes\n");
    const int64_t head[] = {1, m->vertices, 1, 99999};
    put_bytes(t, head, sizeof head);
    put_int(t, 2);
    put_int(t, 7);
    put_int(t, 0);
    put_size(t, m->vertices);
    for (int v = 0; v < m->vertices; v++) put_size(t, tag_of(v));
    for (int v = 0; v < m->vertices; v++) put_bytes(t, m->x[v], 24);
    put(t, "\n$EndNodes\n$Elements\n");
    const int64_t elements[] = {1, m->triangles, 1, 99999};
    put_bytes(t, elements, sizeof elements);
    put_int(t, 2);
    put_int(t, 7);
    put_int(t, 2);
    put_size(t, m->triangles);
    for (int f = 0; f < m->triangles; f++) {
        put_size(t, f + 1);
        for (int e = 0; e < 3; e++) put_size(t, tag_of(m->corner[f][e]));
    }
    put(t, "\n$EndElements\n");
}

/* ---- PLY ---- */

static void put_header(struct text *t, const struct mesh *m, const char *format) {
    put(t, "ply\nformat %s 1.0\ncomment made here\nelement vertex %d\nproperty double x\n", format,
        m->vertices);
    put(t, "property float64 y\nproperty double z\nproperty uchar red\nelement face %d\n",
        m->triangles);
    put(t, "property list uchar int vertex_indices\nproperty short group\nend_header\n");
}

static void to_ply(struct text *t, const struct mesh *m) {
    put_header(t, m, "ascii");
    for (int v = 0; v < m->vertices; v++)
        put(t, "%.17g %.17g %.17g 255\n", m->x[v][0], m->x[v][1], m->x[v][2]);
    for (int f = 0; f < m->triangles; f++)
        put(t, "3 %d %d %d -7\n", m->corner[f][0], m->corner[f][1], m->corner[f][2]);
}

/* bytes of this machine, or turned round */
static void put_turned(struct text *t, const void *data, size_t size, int turn) {
    char bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = ((const char *)data)[turn ? size - 1 - i : i];
    put_bytes(t, bytes, size);
}

static void put_ply(struct text *t, const struct mesh *m, int turn) {
    for (int v = 0; v < m->vertices; v++) {
        for (int c = 0; c < 3; c++) put_turned(t, &m->x[v][c], 8, turn);
        put_bytes(t, "\377", 1);
    }
    for (int f = 0; f < m->triangles; f++) {
        put_bytes(t, "\3", 1);
        for (int e = 0; e < 3; e++) put_turned(t, &m->corner[f][e], 4, turn);
        put_bytes(t, "\1\2", 2);
    }
}

static void to_ply_little(struct text *t, const struct mesh *m) {
    put_header(t, m, "binary_little_endian");
    put_ply(t, m, 0);
}

static void to_ply_big(struct text *t, const struct mesh *m) {
    put_header(t, m, "binary_big_endian");
    put_ply(t, m, 1);
}

/* ---- VTK ---- */

static void to_vtk(struct text *t, const struct mesh *m) {
    put(t, "# vtk DataFile Version 3.0\na body\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\n");
    put(t, "time 1 1 double\n0.5\nPOINTS %d double\n", m->vertices);
    for (int v = 0; v < m->vertices; v++)
        put(t, "%.17g %.17g %.17g\n", m->x[v][0], m->x[v][1], m->x[v][2]);
    put(t, "METADATA\nINFORMATION 0\n\nPOLYGONS %d %d\n", m->triangles, 4 * m->triangles);
    for (int f = 0; f < m->triangles; f++)
        put(t, "3 %d %d %d\n", m->corner[f][0], m->corner[f][1], m->corner[f][2]);
}

static void put_points_turned(struct text *t, const struct mesh *m) {
    for (int v = 0; v < m->vertices; v++)
        for (int c = 0; c < 3; c++) put_turned(t, &m->x[v][c], 8, 1);
}

static void to_vtk_binary(struct text *t, const struct mesh *m) {
    const int32_t three = 3, triangle = 5, line[] = {2, 0, 1}, segment = 3;
    put(t, "# vtk DataFile Version 2.0\na body\nBINARY\nDATASET UNSTRUCTURED_GRID\n");
    put(t, "POINTS %d double\n", m->vertices);
    put_points_turned(t, m);
    put(t, "\nCELLS %d %d\n", m->triangles + 1, 4 * m->triangles + 3);
    for (int i = 0; i < 3; i++) put_turned(t, line + i, 4, 1);
    for (int f = 0; f < m->triangles; f++) {
        put_turned(t, &three, 4, 1);
        for (int e = 0; e < 3; e++) put_turned(t, &m->corner[f][e], 4, 1);
    }
    put(t, "\nCELL_TYPES %d\n", m->triangles + 1);
    put_turned(t, &segment, 4, 1);
    for (int f = 0; f < m->triangles; f++) put_turned(t, &triangle, 4, 1);
    put(t, "\n");
}

static void to_vtk_offsets(struct text *t, const struct mesh *m) {
    put(t, "# vtk DataFile Version 5.1\na body\nBINARY\nDATASET POLYDATA\nPOINTS %d double\n",
        m->vertices);
    put_points_turned(t, m);
    put(t, "\nPOLYGONS %d %d\nOFFSETS vtktypeint64\n", m->triangles + 1, 3 * m->triangles);
    for (int64_t f = 0; f <= m->triangles; f++) {
        const int64_t end = 3 * f;
        put_turned(t, &end, 8, 1);
    }
    put(t, "\nCONNECTIVITY vtktypeint64\n");
    for (int f = 0; f < 3 * m->triangles; f++) {
        const int64_t v = m->corner[f / 3][f % 3];
        put_turned(t, &v, 8, 1);
    }
    put(t, "\n");
}

/* ---- VTU: arrays as text, as base64, or appended as bytes ---- */

enum kind { TEXT, BASE64, APPENDED };

static void put_base64(struct text *t, const char *data, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < size ? (unsigned char)data[i + k] : 0);
        char four[4];
        for (size_t k = 0; k < 4; k++)
            four[k] = i + k > size ? '=' : digits[bits >> (18 - 6 * k) & 63];
        put_bytes(t, four, 4);
    }
}

/* An array that is in `data` as bytes and written as `kind`; bytes are kept for behind all else. */
static void put_array(struct text *t, struct text *behind, enum kind kind, const char *name,
                      const char *type, const struct text *data) {
    struct text bytes = {0};
    put_size(&bytes, (int64_t)data->size);
    put_bytes(&bytes, data->data, data->size);
    put(t, "<DataArray type=\"%s\" Name=\"%s\" format=\"%s\" ", type, name,
        kind == TEXT     ? "ascii"
        : kind == BASE64 ? "binary"
                         : "appended");
    if (kind == APPENDED) put(t, "offset=\"%zu\"/>\n", behind->size);
    if (kind == APPENDED) put_bytes(behind, bytes.data, bytes.size);
    if (kind != APPENDED) put(t, ">\n");
    if (kind == BASE64) put_base64(t, bytes.data, bytes.size);
    for (size_t i = 0; kind == TEXT && i < data->size; i += 8) {
        double x;
        int64_t n;
        memcpy(&x, data->data + i, 8);
        memcpy(&n, data->data + i, 8);
        if (*type == 'F')
            put(t, "%.17g\n", x);
        else
            put(t, "%lld\n", (long long)n);
    }
    if (kind != APPENDED) put(t, "</DataArray>\n");
    free(bytes.data);
}

static void put_vtu(struct text *t, const struct mesh *m, enum kind kind) {
    struct text points = {0}, corners = {0}, ends = {0}, types = {0}, behind = {0};
    put_bytes(&points, m->x, sizeof *m->x * (size_t)m->vertices);
    for (int f = 0; f < m->triangles; f++) {
        for (int e = 0; e < 3; e++) put_size(&corners, m->corner[f][e]);
        put_size(&ends, 3 * (f + 1));
        put_size(&types, 5);
    }
    put(t, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
           "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n");
    put(t, "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n<Points>\n", m->vertices,
        m->triangles);
    put_array(t, &behind, kind, "Points", "Float64", &points);
    put(t, "</Points>\n<Cells>\n");
    put_array(t, &behind, kind, "connectivity", "Int64", &corners);
    put_array(t, &behind, kind, "offsets", "Int64", &ends);
    put_array(t, &behind, kind, "types", "Int64", &types);
    put(t, "</Cells>\n</Piece>\n</UnstructuredGrid>\n");
    if (kind == APPENDED) {
        put(t, "<AppendedData encoding=\"raw\">\n_");
        put_bytes(t, behind.data, behind.size);
        put(t, "\n</AppendedData>\n");
    }
    put(t, "</VTKFile>\n");
    free(points.data);
    free(corners.data);
    free(ends.data);
    free(types.data);
    free(behind.data);
}

static void to_vtu(struct text *t, const struct mesh *m) { put_vtu(t, m, TEXT); }
static void to_vtu_base64(struct text *t, const struct mesh *m) { put_vtu(t, m, BASE64); }
static void to_vtu_appended(struct text *t, const struct mesh *m) { put_vtu(t, m, APPENDED); }

/* ---- finite elements ---- */

static void to_unv(struct text *t, const struct mesh *m) {
    put(t, "    -1\n   151\nmade here\n    -1\n    -1\n  2411\n");
    for (int v = 0; v < m->vertices; v++) {
        char x[3][40];
        for (int c = 0; c < 3; c++) {
            snprintf(x[c], sizeof x[c], "%.16e", m->x[v][c]);
            *strchr(x[c], 'e') = 'D';
        }
        put(t, "%10d%10d%10d%10d\n%s %s %s\n", tag_of(v), 1, 1, 11, x[0], x[1], x[2]);
    }
    put(t, "    -1\n    -1\n  2412\n%10d%10d%10d%10d%10d%10d\n", 1, 11, 2, 1, 7, 2);
    put(t, "%10d%10d%10d\n%10d%10d\n", 0, 1, 1, tag_of(0), tag_of(1));
    for (int f = 0; f < m->triangles; f++)
        put(t, "%10d%10d%10d%10d%10d%10d\n%10d%10d%10d\n", f + 2, f % 2 ? 91 : 41, 2, 1, 7, 3,
            tag_of(m->corner[f][0]), tag_of(m->corner[f][1]), tag_of(m->corner[f][2]));
    put(t, "    -1\n");
}

static void to_bdf(struct text *t, const struct mesh *m) {
    put(t, "SOL 101\nCEND\nBEGIN BULK\n$ a comment\nMAT1,1,2.+11,,.3\n");
    for (int f = 0; f < m->triangles; f++) {
        const int *c = m->corner[f];
        if (f % 2)
            put(t, "CTRIA3  %8d%8d%8d%8d%8d\n", f + 1, 1, tag_of(c[0]), tag_of(c[1]), tag_of(c[2]));
        else
            put(t, "CTRIA3,%d,1,%d,%d,%d\n", f + 1, tag_of(c[0]), tag_of(c[1]), tag_of(c[2]));
    }
    for (int v = 0; v < m->vertices; v++) {
        const double *x = m->x[v];
        if (v % 2)
            put(t, "GRID*   %16d%16s%16.9e%16.9e*A\n*A      %16.9e\n", tag_of(v), "", x[0], x[1],
                x[2]);
        else
            put(t, "grid,%d,,%.9g,%.9g,%.9g\n", tag_of(v), x[0], x[1], x[2]);
    }
    put(t, "ENDDATA\n");
}

static void to_inp(struct text *t, const struct mesh *m) {
    put(t, "*Heading\n** a comment\n*Node, nset=all\n");
    for (int v = 0; v < m->vertices; v++)
        put(t, "%d, %.17g, %.17g, %.17g\n", tag_of(v), m->x[v][0], m->x[v][1], m->x[v][2]);
    put(t, "*ELEMENT, TYPE=T3D2\n1, %d, %d\n*Element, type=S3R, elset=skin\n", tag_of(0),
        tag_of(1));
    for (int f = 0; f < m->triangles; f++)
        put(t, f % 2 ? "%d, %d, %d, %d\n" : "%d, %d,\n%d, %d\n", f + 2, tag_of(m->corner[f][0]),
            tag_of(m->corner[f][1]), tag_of(m->corner[f][2]));
    put(t, "*Elset, elset=a\n1, 2\n");
}

static const struct format {
    const char *file;
    void (*write)(struct text *t, const struct mesh *m);
    int exact; /* vertices and their order survive */
} formats[] = {
    {"a.off", to_off, 1},        {"b.obj", to_obj, 1},        {"c.stl", to_stl, 0},
    {"d.STL", to_stl_binary, 0}, {"e.msh", to_msh2, 1},       {"f.msh", to_msh2_binary, 1},
    {"j.ply", to_ply, 1},        {"k.ply", to_ply_little, 1}, {"l.ply", to_ply_big, 1},
    {"m.vtk", to_vtk, 1},        {"n.vtk", to_vtk_binary, 1}, {"o.vtk", to_vtk_offsets, 1},
    {"p.vtu", to_vtu, 1},        {"q.vtu", to_vtu_base64, 1}, {"r.vtu", to_vtu_appended, 1},
    {"s.unv", to_unv, 1},        {"t.bdf", to_bdf, 0},        {"u.inp", to_inp, 1},
    {"g.msh", to_msh40, 1},      {"h.msh", to_msh41, 1},      {"i.msh", to_msh41_binary, 1}};
enum { FORMATS = sizeof formats / sizeof *formats };

TEST(all_formats_give_the_same_body) {
    OWN(mesh) *m = body("sphere:1");
    for (int f = 0; f < FORMATS; f++) {
        struct text t = {0};
        OWN(mesh) *r;
        formats[f].write(&t, m);
        if (open_text(&r, formats[f].file, t.data, t.size)) fail_msg("%s", evn_message());
        assert_int_equal(r->vertices, m->vertices);
        assert_int_equal(r->triangles, m->triangles);
        assert_string_equal(r->note, "");
        if (formats[f].exact) {
            assert_memory_equal(r->x, m->x, sizeof *m->x * (size_t)m->vertices);
            assert_memory_equal(r->corner, m->corner, sizeof *m->corner * (size_t)m->triangles);
        } else {
            for (int c = 0; c < m->triangles; c++)
                for (int e = 0; e < 3; e++)
                    for (int k = 0; k < 3; k++)
                        assert_true(fabs(r->x[r->corner[c][e]][k] - m->x[m->corner[c][e]][k]) <
                                    1e-7);
        }
        free(t.data);
    }
}

TEST(files_of_gmsh) {
    static const char *const files[] = {"ellipsoid22.msh", "ellipsoid22b.msh", "ellipsoid41.msh",
                                        "ellipsoid41b.msh"};
    double volume = 0;
    for (int f = 0; f < 4; f++) {
        char name[256];
        snprintf(name, sizeof name, "%s/%s", TDBEM_DATA, files[f]);
        OWN(mesh) *m = body(name);
        assert_int_equal(m->vertices, 15);
        assert_int_equal(m->triangles, 26);
        assert_int_equal(m->components, 1);
        if (!f) volume = m->volume;
        assert_true(fabs(m->volume - volume) < 1e-14);
        assert_true(m->volume > 0.4 * 4 / 3. * M_PI * 1.2 && m->volume < 4 / 3. * M_PI * 1.2);
    }
}

TEST(polygons_are_cut) {
    static const char off[] =
        "OFF\n8 6 12\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
        "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";
    static const char obj[] =
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    for (int f = 0; f < 2; f++) {
        OWN(mesh) *m;
        const char *text = f ? obj : off;
        if (open_text(&m, f ? "cube.obj" : "cube.off", text, strlen(text)))
            fail_msg("%s", evn_message());
        assert_int_equal(m->vertices, 8);
        assert_int_equal(m->triangles, 12);
        assert_true(fabs(m->volume - 1) < 1e-15 && fabs(m->area - 6) < 1e-14);
        assert_true(fabs(m->longest - sqrt(3)) < 1e-15 && m->h_min == 1);
    }
}

static struct mesh *open_or_fail(const char *name, const char *text) {
    struct mesh *m;
    if (open_text(&m, name, text, strlen(text))) fail_msg("%s", evn_message());
    return m;
}

/* A prism over an outline of n corners, its ends as polygons; whichever corner comes first. */
static void to_prism(struct text *t, const double (*p)[2], int n, int first) {
    t->size = 0;
    put(t, "OFF\n%d %d 0\n", 2 * n, n + 2);
    for (int z = 0; z < 2; z++)
        for (int i = 0; i < n; i++) put(t, "%.17g %.17g %d\n", p[i][0], p[i][1], z);
    for (int z = 0; z < 2; z++) {
        put(t, "%d", n);
        for (int i = 0; i < n; i++) put(t, " %d", z ? n + (first + i) % n : (first + n - i) % n);
        put(t, "\n");
    }
    for (int i = 0; i < n; i++) put(t, "4 %d %d %d %d\n", i, (i + 1) % n, n + (i + 1) % n, n + i);
    put_bytes(t, "", 1);
}

/* Concave ends, ends with corners on straight sides, and a spiral: no triangle lies on another one,
 * so areas of all triangles together are those of the outline. */
TEST(concave_polygons_are_cut) {
    static const double u[][2] = {{3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}, {0, 0}, {3, 0}},
                        straight[][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {1, 2}, {0, 2}, {0, 1}},
                        spiral[][2] = {{0, 0}, {5, 0}, {5, 5}, {1, 5}, {1, 2}, {3, 2},
                                       {3, 3}, {2, 3}, {2, 4}, {4, 4}, {4, 1}, {0, 1}};
    static const struct {
        const double (*p)[2];
        int n;
        double area, around;
    } of[] = {{u, 8, 5, 12}, {straight, 7, 4, 8}, {spiral, 12, 15, 32}};
    struct text t = {0};
    for (int k = 0; k < 3; k++)
        for (int first = 0; first < of[k].n; first++) {
            to_prism(&t, of[k].p, of[k].n, first);
            OWN(mesh) *m = open_or_fail("prism.off", t.data);
            assert_int_equal(m->triangles, 4 * of[k].n - 4);
            assert_true(fabs(m->volume - of[k].area) < 1e-12);
            assert_true(fabs(m->area - 2 * of[k].area - of[k].around) < 1e-12);
            assert_string_equal(m->note, "");
        }
    free(t.data);
}

/* Faces with vertices of their own, as at seams of textures, are one surface; the numbers of all
 * are still those of the file. Cubes that touch stay two. */
TEST(vertices_at_one_place) {
    struct mesh *box = body("box:1,1,1,1"), *m;
    struct text t = {0};
    for (int f = 0; f < box->triangles; f++)
        for (int e = 0; e < 3; e++) {
            const double *x = box->x[box->corner[f][e]];
            put(&t, "v %.17g %.17g %.17g\n", x[0], x[1], x[2] + (f % 2 ? 1e-9 : 0));
        }
    for (int f = 0; f < box->triangles; f++)
        put(&t, "f %d %d %d\n", 3 * f + 1, 3 * f + 2, 3 * f + 3);
    put_bytes(&t, "", 1);
    m = open_or_fail("seams.obj", t.data);
    assert_int_equal(m->vertices, 8);
    assert_int_equal(m->dropped, 0);
    assert_non_null(strstr(m->note, "28 vertices at open edges were merged"));
    int *present, count;
    assert_ok(mesh_present(m, &present, &count));
    assert_int_equal(count, 36);
    for (int v = 0; v < count; v++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs(m->x[present[v]][c] - box->x[box->corner[v / 3][v % 3]][c]) < 1e-8);
    free(present);
    mesh_close(m);

    t.size = 0;
    put(&t, "OFF\n%d %d 0\n", 2 * box->vertices, 2 * box->triangles);
    for (int v = 0; v < 2 * box->vertices; v++)
        put(&t, "%.17g %.17g %.17g\n", box->x[v % 8][0] + v / 8, box->x[v % 8][1],
            box->x[v % 8][2]);
    for (int f = 0; f < 2 * box->triangles; f++) {
        const int *c = box->corner[f % 12], up = f / 12 * 8;
        put(&t, "3 %d %d %d\n", c[0] + up, c[1] + up, c[2] + up);
    }
    put_bytes(&t, "", 1);
    m = open_or_fail("touching.off", t.data);
    assert_int_equal(m->components, 2);
    assert_null(strstr(m->note, "merged"));
    assert_null(strstr(m->note, "coincide"));
    mesh_close(m);
    mesh_close(box);
    free(t.data);
}

/* A tetrahedron of second order, its middle nodes moved out: every node is a vertex. And
 * quadrangles of first and second order. */
TEST(elements_of_gmsh) {
    static const char first[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n"
        "5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n$Elements\n6\n1 3 0 4 3 2 1\n"
        "2 3 0 5 6 7 8\n3 3 0 1 2 6 5\n4 3 0 2 3 7 6\n5 3 0 3 4 8 7\n6 3 0 4 1 5 8\n$EndElements\n";
    OWN(mesh) *m = open_or_fail("cube.msh", first);
    assert_true(m->vertices == 8 && m->triangles == 12 && fabs(m->volume - 1) < 1e-14);
    assert_string_equal(m->note, "");
    mesh_close(m);
    static const char second[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n1 0 0 0\n2 2 0 0\n3 0 2 0\n4 0 0 2\n"
        "5 1 0 0\n6 1 1 0\n7 0 1 0\n8 0 0 1\n9 1 0 1\n10 0 1 1\n$EndNodes\n$Elements\n4\n"
        "1 9 0 1 3 2 7 6 5\n2 9 0 1 2 4 5 9 8\n3 9 0 2 3 4 6 10 9\n4 9 0 3 1 4 7 8 "
        "10\n$EndElements\n";
    m = open_or_fail("tetra.msh", second);
    assert_true(m->vertices == 10 && m->triangles == 16 && fabs(m->volume - 8 / 6.) < 1e-14);
    assert_non_null(strstr(m->note, "4 elements of second order"));
    assert_int_equal(m->flipped, 0);
}

/* NumCalc's folder: two files; elements that are no surface are passed over. */
TEST(folder_of_numcalc) {
    struct mesh *box = body("box:1,1,1,0.5"), *m;
    struct text t = {0}, e = {0};
    put(&t, "%d\n", box->vertices);
    for (int v = 0; v < box->vertices; v++)
        put(&t, "%d %.17g %.17g %.17g\n", tag_of(v), box->x[v][0], box->x[v][1], box->x[v][2]);
    put(&e, "%d\n0 %d %d %d 2 0 1\n", box->triangles + 1, tag_of(0), tag_of(1), tag_of(2));
    for (int f = 0; f < box->triangles; f++)
        put(&e, "%d %d %d %d 0 0 0\n", f + 1, tag_of(box->corner[f][0]), tag_of(box->corner[f][1]),
            tag_of(box->corner[f][2]));
    write_file("Nodes.txt", t.data, t.size);
    assert_int_equal(mesh_open(&m, folder), EVN_SYSTEM);
    write_file("Elements.txt", e.data, e.size);
    if (mesh_open(&m, folder)) fail_msg("%s", evn_message());
    assert_memory_equal(m->x, box->x, sizeof *m->x * (size_t)m->vertices);
    assert_memory_equal(m->corner, box->corner, sizeof *m->corner * (size_t)m->triangles);
    mesh_close(m);
    write_file("Elements.txt", e.data, e.size - 12);
    assert_int_equal(mesh_open(&m, folder), EVN_USAGE);
    assert_non_null(strstr(evn_message(), "Elements.txt: line"));
    unlink(path("Nodes.txt"));
    unlink(path("Elements.txt"));
    mesh_close(box);
    free(t.data);
    free(e.data);
}

TEST(scales) {
    OWN(mesh) *m, *one = body("sphere:1");
    assert_ok(mesh_open_scaled(&m, "sphere:1", 0.001));
    assert_true(fabs(m->volume / one->volume - 1e-9) < 1e-20);
    assert_true(m->longest == 0.002);
}

/* Checks two copies of a body, the second one moved along z. */
static evn_status twice(struct mesh **m, const char *what, double by) {
    OWN(mesh) *one = body(what);
    const int n = one->vertices, all = one->triangles;
    HEAP double(*x)[3] = malloc(2 * (size_t)n * sizeof *x);
    HEAP int(*corner)[3] = malloc(2 * (size_t)all * sizeof *corner);
    for (int v = 0; v < 2 * n; v++)
        for (int c = 0; c < 3; c++) x[v][c] = one->x[v % n][c] + (v < n || c < 2 ? 0 : by);
    for (int t = 0; t < 2 * all; t++)
        for (int e = 0; e < 3; e++) corner[t][e] = one->corner[t % all][e] + t / all * n;
    assert_ok(mesh_new(m, 2 * n, (const double(*)[3])x, 2 * all, (const int(*)[3])corner));
    return mesh_check(*m, "two");
}

TEST(a_body_twice) {
    OWN(mesh) *m;
    assert_int_equal(twice(&m, "sphere:1", 0), EVN_USAGE);
    assert_non_null(strstr(evn_message(), "a body is there twice"));
    mesh_close(m);
    assert_int_equal(twice(&m, "sphere:1", 1e-9), EVN_USAGE);
    mesh_close(m);
    assert_ok(twice(&m, "sphere:1", 1e-3));
    assert_non_null(strstr(m->note, "2 components nearly coincide"));
    mesh_close(m);
    assert_ok(twice(&m, "sphere:1", 3));
    assert_null(strstr(m->note, "coincide"));
}

TEST(generated_bodies) {
    for (int level = 0; level <= 4; level++) {
        char what[16];
        snprintf(what, sizeof what, "sphere:%d", level);
        OWN(mesh) *m = body(what);
        assert_int_equal(m->vertices, 10 * (1 << 2 * level) + 2);
        assert_int_equal(m->triangles, 20 * (1 << 2 * level));
        assert_int_equal(m->flipped, 0);
        for (int v = 0; v < m->vertices; v++)
            assert_true(fabs(hypot(hypot(m->x[v][0], m->x[v][1]), m->x[v][2]) - 1) < 1e-15);
        if (level == 3) assert_true(fabs(m->h_mean - 0.151) < 5e-4 && m->longest == 2);
    }
    struct mesh *m = body("box:2,1,0.5,0.25");
    assert_true(fabs(m->volume - 1) < 1e-14 && fabs(m->area - 7) < 1e-13);
    assert_int_equal(m->triangles, 4 * (8 * 4 + 8 * 2 + 4 * 2));
    assert_int_equal(m->flipped, 0);
    assert_true(fabs(m->longest - sqrt(5.25)) < 1e-14);
    double inside[3] = {1.9, 0.1, 0.4}, outside[3] = {2.1, 0.5, 0.25}, distance;
    assert_true(mesh_inside(m, inside, &distance) && fabs(distance - 0.1) < 1e-14);
    assert_true(!mesh_inside(m, outside, &distance) && fabs(distance - 0.1) < 1e-14);
    mesh_close(m);
    for (int edges = 60; edges <= 193; edges += 19) { /* a closed surface, one and without a hole */
        char what[32];
        snprintf(what, sizeof what, "aircraft:%d", edges);
        m = body(what);
        assert_true(m->components == 1 && !m->flipped);
        assert_int_equal(m->triangles, 2 * (m->vertices - 2));
        if (edges == 193)
            assert_true(m->vertices == 23962 && (int)(m->longest / (0.5 * m->h_mean)) == 339);
        mesh_close(m);
    }
    static const char *const wrong[] = {"sphere:",
                                        "sphere:-1",
                                        "sphere:99",
                                        "sphere:2a",
                                        "box:1,1,1",
                                        "box:1,1,1,0",
                                        "box:1,1,1,1,",
                                        "box:1,nan,1,1",
                                        "box:1,1,1e9,0.1",
                                        "sphere",
                                        "",
                                        "thing.xyz",
                                        "aircraft:",
                                        "aircraft:59",
                                        "aircraft:401",
                                        "aircraft:99x"};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        assert_int_equal(mesh_open(&m, wrong[w]), EVN_USAGE);
        assert_null(m);
    }
    assert_int_equal(mesh_open(&m, "/no/such/file.msh"), EVN_SYSTEM);
}

/* The largest distance is that of all pairs, to the bit. */
TEST(largest_distance) {
    static const char *const bodies[] = {"sphere:0", "sphere:1",      "sphere:2",
                                         "sphere:3", "box:1,2,3,0.5", "box:0.1,0.7,0.3,0.07"};
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (int bent = 0; bent < 2; bent++) {
            OWN(mesh) *m = body(bodies[b]);
            double most = 0;
            for (int v = 0; v < m->vertices; v++)
                if (bent) m->x[v][0] += 0.3 * m->x[v][1] * m->x[v][1] + 0.1 * m->x[v][2];
            assert_ok(mesh_check(m, "bent"));
            for (int v = 0; v < m->vertices; v++)
                for (int w = 0; w < v; w++) {
                    double d2 = 0;
                    for (int c = 0; c < 3; c++) d2 += pow(m->x[v][c] - m->x[w][c], 2);
                    most = fmax(most, sqrt(d2));
                }
            assert_true(m->longest == most);
        }
}

/* ---- what is mended ---- */

TEST(orientation_and_unused_vertices) {
    struct mesh *m = body("sphere:1"), *r;
    struct text t = {0};
    for (int f = 3; f < 20; f++) { /* seventeen turned */
        int c = m->corner[f][0];
        m->corner[f][0] = m->corner[f][1];
        m->corner[f][1] = c;
    }
    to_off(&t, m);
    if (open_text(&r, "a.off", t.data, t.size)) fail_msg("%s", evn_message());
    assert_int_equal(r->flipped, 17);
    assert_non_null(strstr(r->note, "17 of 80"));
    assert_true(r->volume > 3.6);
    mesh_close(r);
    mesh_close(m);

    m = body("box:1,1,1,0.5"); /* all turned, and unused vertices */
    for (int f = 0; f < m->triangles; f++) {
        int c = m->corner[f][0];
        m->corner[f][0] = m->corner[f][1];
        m->corner[f][1] = c;
    }
    t.size = 0;
    put(&t, "OFF\n%d %d 0\n9 9 9\n", m->vertices + 2, m->triangles);
    for (int v = 0; v < m->vertices; v++)
        put(&t, "%.17g %.17g %.17g\n", m->x[v][0], m->x[v][1], m->x[v][2]);
    put(&t, "7 7 7\n");
    for (int f = 0; f < m->triangles; f++)
        put(&t, "3 %d %d %d\n", m->corner[f][0] + 1, m->corner[f][1] + 1, m->corner[f][2] + 1);
    if (open_text(&r, "a.off", t.data, t.size)) fail_msg("%s", evn_message());
    assert_int_equal(r->flipped, m->triangles);
    assert_int_equal(r->dropped, 2);
    assert_non_null(strstr(r->note, "2 vertices"));
    assert_non_null(strstr(r->note, "all triangles were turned"));
    assert_true(fabs(r->volume - 1) < 1e-14 && fabs(r->longest - sqrt(3)) < 1e-14);
    for (int v = 0; v < r->vertices; v++) assert_int_equal(r->number[v], v + 1);
    int *present, count;
    assert_int_equal(mesh_present(r, &present, &count), EVN_OK);
    assert_int_equal(count, m->vertices + 2);
    assert_int_equal(present[0], -1);
    assert_int_equal(present[count - 1], -1);
    assert_int_equal(present[5], 4);
    free(present);
    mesh_close(r);
    mesh_close(m);
    free(t.data);
}

/* two cubes beside each other, and one within another */
TEST(components) {
    struct mesh *m = body("box:1,1,1,1"), *r;
    for (int inner = 0; inner <= 1; inner++) {
        double x[16][3];
        int corner[24][3];
        for (int v = 0; v < 16; v++)
            for (int c = 0; c < 3; c++)
                x[v][c] = v < 8   ? m->x[v][c]
                          : inner ? 0.25 + 0.5 * m->x[v - 8][c]
                                  : 2 + m->x[v - 8][c];
        for (int t = 0; t < 24; t++)
            for (int e = 0; e < 3; e++) /* the inner one like a cavity */
                corner[t][e] = t < 12 ? m->corner[t][e] : 8 + m->corner[t - 12][inner ? 2 - e : e];
        assert_int_equal(mesh_new(&r, 16, (const double(*)[3])x, 24, (const int(*)[3])corner),
                         EVN_OK);
        if (mesh_check(r, "two")) fail_msg("%s", evn_message());
        assert_int_equal(r->components, 2);
        assert_int_equal(r->flipped, 0);
        assert_true(fabs(r->volume - (inner ? 0.875 : 2)) < 1e-14);
        assert_non_null(strstr(r->note, inner ? "inside" : "separate"));
        mesh_close(r);
    }
    mesh_close(m);
}

/* Many of them, each with a smaller one inside that is oriented like a cavity; more than can be
 * compared one by one in any time. */
TEST(many_components) {
    enum { PAIRS = 4000, N = 2 * PAIRS };
    OWN(mesh) *m = body("box:1,1,1,1"), *r;
    HEAP double(*x)[3] = malloc(8 * N * sizeof *x);
    HEAP int(*corner)[3] = malloc(12 * N * sizeof *corner);
    assert_true(x && corner);
    for (int k = 0; k < N; k++) {
        const int inner = k % 2, at[3] = {k / 2 % 16, k / 32 % 16, k / 512};
        for (int v = 0; v < 8; v++)
            for (int c = 0; c < 3; c++)
                x[8 * k + v][c] = 2 * at[c] + (inner ? 0.25 + 0.5 * m->x[v][c] : m->x[v][c]);
        for (int t = 0; t < 12; t++)
            for (int e = 0; e < 3; e++)
                corner[12 * k + t][e] = 8 * k + m->corner[t][inner ? 2 - e : e];
    }
    assert_ok(mesh_new(&r, 8 * N, (const double(*)[3])x, 12 * N, (const int(*)[3])corner));
    assert_ok(mesh_check(r, "many"));
    assert_int_equal(r->components, N);
    assert_int_equal(r->flipped, 0);
    assert_non_null(strstr(r->note, "4000 components lie inside"));
    assert_null(strstr(r->note, "overlap"));
    assert_true(fabs(r->volume - 0.875 * PAIRS) < 1e-8);
}

/* ---- what is refused ---- */

static void refuse(const char *name, const char *text, const char *why) {
    struct mesh *m;
    assert_int_equal(open_text(&m, name, text, strlen(text)), EVN_USAGE);
    assert_null(m);
    if (!strstr(evn_message(), why) || strchr(evn_message(), '\n'))
        fail_msg("%s: \"%s\" does not say \"%s\"", text, evn_message(), why);
}

/* the tetrahedron that most bad ones are made from */
#define TETRA "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"

TEST(bad_meshes) {
    struct mesh *m;
    const char good[] = TETRA "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
    assert_int_equal(open_text(&m, "a.off", good, strlen(good)), EVN_OK);
    mesh_close(m);
    refuse("a.off", "OFF\n4 3 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n",
           "open: edge 0-2 of triangle 0");
    refuse("a.off",
           "OFF\n4 4 0\n0 0 0\n1 nan 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n",
           "vertex 1: coordinate y is nan");
    refuse("a.off",
           "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1e999\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n",
           "vertex 3: coordinate z is inf");
    refuse("a.off", TETRA "3 0 2 1\n3 0 1 3\n3 1 2 2\n3 2 0 3\n", "triangle 2 has vertex 2 twice");
    refuse("a.off", TETRA "3 0 2 1\n3 0 1 3\n3 1 2 4\n3 2 0 3\n", "face 2: vertex 4");
    refuse("a.off", TETRA "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 2 1\n",
           "triangle 3 has the same vertices 0 2 1 as triangle 0");
    refuse("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2\n3 1 3 2\n",
           "flat mesh, all z = 0");
    refuse("a.off",
           "OFF\n4 4 0\n0 0 0\n1 0 0\n2 1e-14 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n",
           "triangle 0 (vertices 0 2 1) is degenerate");
    refuse("a.off", "OFF\n0 0 0\n", "no triangles");
    /* a bow tie, whose sides cross */
    refuse("a.off",
           "OFF\n8 1 0\n0 0 0\n2 2 0\n2 0 0\n0 1 0\n0 0 1\n2 2 1\n2 0 1\n0 1 1\n4 0 1 2 3\n",
           "line 11: face 0 of 4 corners cannot be cut into triangles, near 0.6667, 0.6667, 0: its "
           "outline "
           "crosses itself (1 such)");
    /* three triangles at an edge */
    refuse("a.off",
           "OFF\n5 7 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n"
           "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n3 0 1 4\n3 1 3 4\n3 3 0 4\n",
           "edge 0-1 belongs to 3 triangles");
    /* two tetrahedra that share a vertex */
    refuse("a.off",
           "OFF\n7 8 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n-1 0 0\n0 -1 0\n0 0 -1\n"
           "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n3 0 4 5\n3 0 6 4\n3 4 6 5\n3 5 6 0\n",
           "at vertex 0 several fans");
    /* a Moebius strip of five triangles is open; a Klein bottle or projective plane is closed and
     * one-sided */
    refuse("a.off",
           "OFF\n5 5 0\n0 0 0\n1 0 .2\n1 1 .4\n0 1 .6\n-1 0 .8\n"
           "3 0 1 2\n3 1 2 3\n3 2 3 4\n3 3 4 0\n3 4 0 1\n",
           "open: edge");
    refuse("a.off", /* the projective plane of six vertices */
           "OFF\n6 10 0\n0 0 0\n1 0 0\n.3 .9 .1\n-.8 .6 .2\n-.8 -.6 .4\n.3 -.9 .8\n"
           "3 0 1 2\n3 0 2 3\n3 0 3 4\n3 0 4 5\n3 0 5 1\n3 1 2 4\n3 2 3 5\n3 3 4 1\n3 4 5 2\n3 5 1 "
           "3\n",
           "one side only");
    OWN(mesh) *box = body("box:1,1,1,1"); /* no volume: pressed flat but for a tilt */
    for (int v = 0; v < 8; v++) box->x[v][2] = 1e-12 * box->x[v][2] + box->x[v][0];
    assert_int_equal(mesh_check(box, "pressed"), EVN_USAGE);
}

TEST(bad_files) {
    static const char *const ends[] = {"a.off", "a.obj", "a.stl", "a.msh", "a.ply",
                                       "a.vtk", "a.vtu", "a.unv", "a.bdf", "a.inp"};
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        refuse(ends[e], "", "is empty");
        refuse(ends[e], "nonsense\n", "");
    }
    refuse("a.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n", "ends after 3 of 4 vertices");
    refuse("a.off", TETRA "3 0 2 1\n", "ends after 1 of 4 faces");
    refuse("a.off", TETRA "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n3 0 2 1\n",
           "line 11: more text after");
    refuse("a.off", TETRA "3 0 2 1\n2 0 1\n", "line 8: face 1");
    refuse("a.off", TETRA "3 0 2\n3 0 1 3\n", "the file ends after 1 of 4 faces");
    refuse("a.off", "OFF\n1000000000000 4 0\n", "number of vertices");
    refuse("a.off", "OFF\n4 -4 0\n", "number of faces");
    refuse("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n",
           "line 3: face 0: vertex 3, but vertices are 1 to 2");
    refuse("a.obj", "v 0 0 0\nf 1 2\n", "line 2: face: 2 corners");
    refuse("a.obj", "v 0 0 0\nf 0 1 1\n", "\"0\" is no corner");
    refuse("a.obj", "v 0 0 0\nf -2 1 1\n", "\"-2\" is no vertex");
    refuse("a.obj", "v 0 0\nv 1 2 3\n", "line 1: vertex 0");
    refuse("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 x 0\n",
           "line 5: facet 0");
    refuse("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
           "expected \"vertex\"");
    refuse("a.stl", "solid\nendsolid\n", "no triangles");
    refuse("a.stl",
           "solid\nfacet normal 0 0 1\nouter loop\nvertex nan 0 0\nvertex 1 0 0\nvertex 1 1 0\n"
           "endloop\nendfacet\nendsolid\n",
           "vertex 0: coordinate x is nan");
    const char head[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    refuse("a.msh", head, "no section $Nodes");
    refuse("a.msh", "$MeshFormat\n3.0 0 8\n$EndMeshFormat\n", "version 3");
    refuse("a.msh", "$NOD\n4\n", "version 1 is not read");
    refuse("a.msh", "$MeshFormat\n4.1 0 4\n$EndMeshFormat\n", "numbers of 4 bytes");
    refuse("a.msh", "$MeshFormat\n4.1 1 8\n\0\0\0\1", "other byte order");
    struct text t = {0};
#define MSH(...)                                                                                   \
    (t.size = 0, put(&t, "%s", head), put(&t, __VA_ARGS__), put_bytes(&t, "", 1), t.data)
    refuse("a.msh", MSH("$Nodes\n3\n1 0 0 0\n2 1 0 0\n$EndNodes\n"), "expected node 3 of 3");
    refuse("a.msh", MSH("$Nodes\n1\n1 0 0 0\n2 1 0 0\n$EndNodes\n"), "more than was promised");
    refuse("a.msh", MSH("$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n$Elements\n0\n$EndElements\n"),
           "node 1 is there twice");
    refuse("a.msh", MSH("$Nodes\n99999999\n1 0 0 0\n"), "more than the file holds");
    refuse("a.msh", MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 2 0 1 2 3\n$EndElements\n"),
           "element 7: there is no node 2");
    refuse("a.msh",
           MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 21 0 1 1 1 1 1 1 1 1 1 "
               "1\n$EndElements\n"),
           "element 7 is of third order or more; expected first or second order");
    refuse("a.msh",
           MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 4 0 1 1 1 1\n$EndElements\n"),
           "1 elements with a volume and no surface");
    refuse("a.msh", MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 77 0 1 1\n$EndElements\n"),
           "there is no type 77");
    free(t.data);
}

TEST(bad_files_of_other_formats) {
#define PLY "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
    refuse("a.ply", PLY "property float z\nelement face 0\nend_header\n0 0 0\n",
           "element face: expected a property list vertex_indices");
    refuse("a.ply", PLY "end_header\n0 0\n", "expected properties x, y and z");
    refuse("a.ply", PLY "property float z\nend_header\n0 0 0\n", "a cloud of points");
    refuse("a.ply", PLY "property half z\nend_header\n", "line 6: \"half\" is no type of numbers");
    refuse("a.ply", PLY "element tristrips 1\nend_header\n", "triangle strips are not read");
    refuse("a.ply",
           "ply\nformat ascii 1.0\nelement vertex 999999999999\nproperty float x\n"
           "property float y\nproperty float z\nend_header\n0 0 0\n",
           "more than the file holds");
#define VTK(dataset) "# vtk DataFile Version 3.0\n\nASCII\nDATASET " dataset "\n"
    refuse("a.vtk", VTK("STRUCTURED_GRID"), "expected POLYDATA or UNSTRUCTURED_GRID");
    refuse("a.vtk", VTK("POLYDATA") "POINTS 3 double\n0 0 0 1 0 0 0 1\n", "expected 9 numbers");
    refuse("a.vtk", VTK("POLYDATA") "POINTS 1 double\n0 0 0\nPOLYGONS 1 4\n3 0 1 2\n",
           "cell 0: vertex 1, but vertices are 0 to 0");
    refuse("a.vtk", VTK("POLYDATA") "POINTS 1 double\n0 0 0\nPOLYGONS 1 4\n9 0 0 0\n",
           "9 corners do not fit");
    refuse("a.vtk", VTK("UNSTRUCTURED_GRID") "POINTS 1 double\n0 0 0\nCELLS 1 4\n3 0 0 0\n",
           "CELLS without CELL_TYPES");
    refuse(
        "a.vtk",
        VTK("UNSTRUCTURED_GRID") "POINTS 1 double\n0 0 0\nCELLS 1 5\n4 0 0 0 0\nCELL_TYPES 1\n10\n",
        "1 elements with a volume and no surface");
    refuse("a.vtu", "<VTKFile compressor=\"vtkZLibDataCompressor\"></VTKFile>",
           "compressed arrays are not read");
    refuse("a.vtu", "<VTKFile><UnstructuredGrid><Piece/><Piece/></VTKFile>", "expected one Piece");
    refuse("a.vtu", "<VTKFile><UnstructuredGrid>", "no end, expected </VTKFile>");
    refuse("a.unv", "    -1\n  2411\n 1 1 1 11\n 0 0 z\n    -1\n", "node 1: expected three");
    refuse("a.unv", "    -1\n  2412\n 1 93 1 1 1 10\n 1 1 1 1 1 1 1 1 1 1\n    -1\n",
           "third order");
    refuse("a.bdf", "GRID,1,7,0.,0.,0.\nENDDATA\n", "in coordinate system 7");
    refuse("a.bdf", "GRID,1,,0.,0.,zero\nENDDATA\n", "line 1: GRID 1: \"zero\" is no coordinate");
    refuse("a.bdf", "INCLUDE 'b.bdf'\n", "INCLUDE is not followed");
    refuse("a.bdf", "GRID,1,,0.,0.,0.\n", "expected ENDDATA");
    refuse("a.inp", "*NODE\n1, 0, 0, x\n", "line 2: *NODE: \"x\"");
    refuse("a.inp", "*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=S3\n1, 1, 1\n", "element 1: 2 nodes");
    refuse("a.inp", "*PART\n*NODE\n1, 0, 0, 0\n*PART\n", "a second *PART");
    refuse("a.inp", "*NODE, INPUT=nodes.txt\n", "INPUT= of *NODE is not followed");
}

/* How Nastran may write a number, in fields of eight columns. */
TEST(numbers_of_nastran) {
    OWN(mesh) *m = open_or_fail(
        "a.nas",
        "GRID           1       0  -1.5-10.           0.0\nGRID           2           1.5+0\n"
        "GRID           3                    2.D0\nGRID\t4\t\t\t\t1.\n"
        "CTRIA3         1       1       1       3       2\n"
        "CTRIA6,2,1,1,2,4\nCTRIA3,3,1,2,3,4\nCTRIAR,4,1,3,1,4\nENDDATA\n");
    const double x[4][3] = {{-0.15, 0, 0}, {1.5, 0, 0}, {0, 2, 0}, {0, 0, 1}};
    assert_int_equal(m->vertices, 4);
    assert_memory_equal(m->x, x, sizeof x);
}

/* ---- no file may crash ---- */

/* Every proper beginning of a file is refused, unless only blanks are missing. */
TEST(beginnings_are_refused) {
    struct mesh *m = body("sphere:0"), *r;
    for (int f = 0; f < FORMATS; f++) {
        struct text t = {0};
        formats[f].write(&t, m);
        size_t full = t.size;
        while (strchr(" \n", t.data[full - 1])) full--;
        const size_t step = 1 + t.size / 150;
        for (size_t size = 0; size < full; size += step) {
            evn_status status = open_text(&r, formats[f].file, t.data, size);
            if (status != EVN_OK) {
                assert_true(status == EVN_USAGE && evn_message()[0]);
                continue;
            }
            /* a last number may have lost digits, a name its end; the body must be whole */
            assert_int_equal(r->triangles, m->triangles);
            assert_true(full - size < 30);
            mesh_close(r);
        }
        free(t.data);
    }
    mesh_close(m);
}

TEST(changed_files_never_crash) {
    struct mesh *m = body("sphere:0"), *r;
    unsigned long long seed = 12345;
    const char *more = getenv("EVENER_FUZZ");
    const int rounds = 60 * (more ? atoi(more) : 1);
    int refusals = 0, all = 0;
#define DRAW(n)                                                                                    \
    ((seed = seed * 6364136223846793005ULL + 1442695040888963407ULL), (seed >> 33) % (n))
    for (int f = 0; f < FORMATS; f++) {
        struct text t = {0};
        formats[f].write(&t, m);
        char *copy = malloc(2 * t.size + 64);
        assert_non_null(copy);
        for (int n = 0; n < rounds; n++) {
            size_t size = t.size;
            memcpy(copy, t.data, size);
            for (size_t change = 0, changes = 1 + DRAW(4); change < changes; change++) {
                size_t at = DRAW(size), length = 1 + DRAW(40), from = DRAW(size);
                if (at + length > size) length = size - at;
                if (from + length > size) length = size - from;
                switch (DRAW(6)) {
                case 0: copy[at] = (char)DRAW(256); break;
                case 1: copy[at] ^= (char)(1 << DRAW(8)); break;
                case 2: copy[at] = "0123456789-.e \n$#/\\"[DRAW(19)]; break;
                case 3: memmove(copy + at, copy + from, length); break;
                case 4: /* cut out */
                    memmove(copy + at, copy + at + length, size - at - length);
                    size -= size > length ? length : 0;
                    break;
                default: /* a huge or negative number */
                    if (at + 4 <= size) memcpy(copy + at, DRAW(2) ? "\xff\xff\xff\x7f" : "-999", 4);
                }
                if (!size) size = 1;
            }
            evn_status status = open_text(&r, formats[f].file, copy, size);
            all++;
            if (status) {
                refusals++;
                assert_true(status == EVN_USAGE && evn_message()[0]);
                assert_null(strchr(evn_message(), '\n'));
                continue;
            }
            assert_true(r->volume > 0 && isfinite(r->longest) && r->triangles >= 4);
            mesh_close(r);
        }
        free(copy);
        free(t.data);
    }
    assert_true(refusals > all / 4);
    mesh_close(m);
}

/* ---- walls and gaps ---- */

static struct mesh_thickness thickness(const struct mesh *m, double most) {
    struct mesh_thickness t;
    assert_int_equal(mesh_thickness(&t, m, most), EVN_OK);
    return t;
}

TEST(walls_and_gaps_have_their_distance) {
    OWN(mesh) *m = body("box:1,0.7,0.05,0.25");
    struct mesh_thickness t = thickness(m, INFINITY);
    assert_true(fabs(t.wall - 0.05) < 1e-14);
    assert_true(isinf(t.gap) && t.gap_at[0] == -1 && t.wall_at[0] >= 0 && t.wall_at[1] >= 0);
    assert_true(isinf(thickness(m, 0.05).wall));
    mesh_close(m);
    assert_ok(twice(&m, "box:1,0.7,0.2,0.25", 0.23));
    t = thickness(m, 10);
    assert_true(fabs(t.wall - 0.2) < 1e-14);
    assert_true(fabs(t.gap - 0.03) < 1e-14);
    mesh_close(m);
    assert_ok(twice(&m, "sphere:3", 2.01));
    assert_true(fabs(thickness(m, 1).gap - 0.01) < 1e-14); /* of two corners */
}

RUN_TESTS(make_folder, remove_folder)
