/* Mesh files in all formats, what is mended, what is refused and how the refusal reads; every
 * prefix and thousands of random changes of good files, none of which may crash. Run: ctest -R
 * tdbem-mesh; EVENER_FUZZ=N test-tdbem-mesh for N times as many changes */
#include "check.h"
#include "tdbem/mesh/mesh.h"
#include "tdbem/mesh/mesh_make.h"
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
    FILE *f = fopen(path(name), "wb");
    assert_non_null(f);
    assert_true(fwrite(data, 1, size, f) == size);
    fclose(f);
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

static const struct format {
    const char *file;
    void (*write)(struct text *t, const struct mesh *m);
    int exact; /* vertices and their order survive */
} formats[] = {{"a.off", to_off, 1},        {"b.obj", to_obj, 1},   {"c.stl", to_stl, 0},
               {"d.STL", to_stl_binary, 0}, {"e.msh", to_msh2, 1},  {"f.msh", to_msh2_binary, 1},
               {"g.msh", to_msh40, 1},      {"h.msh", to_msh41, 1}, {"i.msh", to_msh41_binary, 1}};
enum { FORMATS = sizeof formats / sizeof *formats };

static struct mesh *body(const char *what) {
    struct mesh *m;
    if (mesh_open(&m, what)) fail_msg("%s", evn_message());
    return m;
}

static void all_formats_give_the_same_body(void **state) {
    (void)state;
    struct mesh *m = body("sphere:1");
    for (int f = 0; f < FORMATS; f++) {
        struct text t = {0};
        struct mesh *r;
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
        mesh_close(r);
    }
    mesh_close(m);
}

static void files_of_gmsh(void **state) {
    (void)state;
    static const char *const files[] = {"ellipsoid22.msh", "ellipsoid22b.msh", "ellipsoid41.msh",
                                        "ellipsoid41b.msh"};
    for (int f = 0; f < 4; f++) {
        char name[256];
        snprintf(name, sizeof name, "%s/%s", TDBEM_DATA, files[f]);
        struct mesh *m = body(name);
        assert_int_equal(m->vertices - m->triangles / 2, 2);
        assert_int_equal(m->components, 1);
        assert_true(m->volume > 0.75 * 4 / 3. * M_PI * 1.2 && m->volume < 4 / 3. * M_PI * 1.2);
        mesh_close(m);
    }
}

static void polygons_are_cut(void **state) {
    (void)state;
    static const char off[] =
        "OFF\n8 6 12\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
        "4 3 2 1 0\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";
    static const char obj[] =
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    for (int f = 0; f < 2; f++) {
        struct mesh *m;
        const char *text = f ? obj : off;
        if (open_text(&m, f ? "cube.obj" : "cube.off", text, strlen(text)))
            fail_msg("%s", evn_message());
        assert_int_equal(m->vertices, 8);
        assert_int_equal(m->triangles, 12);
        assert_true(fabs(m->volume - 1) < 1e-15 && fabs(m->area - 6) < 1e-14);
        assert_true(fabs(m->longest - sqrt(3)) < 1e-15 && m->h_min == 1);
        mesh_close(m);
    }
}

static void generated_bodies(void **state) {
    (void)state;
    for (int level = 0; level <= 4; level++) {
        char what[16];
        snprintf(what, sizeof what, "sphere:%d", level);
        struct mesh *m = body(what);
        assert_int_equal(m->vertices, 10 * (1 << 2 * level) + 2);
        assert_int_equal(m->triangles, 20 * (1 << 2 * level));
        assert_int_equal(m->flipped, 0);
        for (int v = 0; v < m->vertices; v++)
            assert_true(fabs(hypot(hypot(m->x[v][0], m->x[v][1]), m->x[v][2]) - 1) < 1e-15);
        if (level == 3) assert_true(fabs(m->h_mean - 0.151) < 5e-4 && m->longest == 2);
        mesh_close(m);
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
    static const char *const wrong[] = {
        "sphere:",      "sphere:-1",     "sphere:99",       "sphere:2a", "box:1,1,1", "box:1,1,1,0",
        "box:1,1,1,1,", "box:1,nan,1,1", "box:1,1,1e9,0.1", "sphere",    "",          "thing.vtk"};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        assert_int_equal(mesh_open(&m, wrong[w]), EVN_USAGE);
        assert_null(m);
    }
    assert_int_equal(mesh_open(&m, "/no/such/file.msh"), EVN_SYSTEM);
}

/* ---- what is mended ---- */

static void orientation_and_unused_vertices(void **state) {
    (void)state;
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
    assert_int_equal(count, m->vertices + 1);
    assert_int_equal(present[0], -1);
    assert_int_equal(present[5], 4);
    free(present);
    mesh_close(r);
    mesh_close(m);
    free(t.data);
}

/* two cubes beside each other, and one within another */
static void components(void **state) {
    (void)state;
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
static void many_components(void **state) {
    (void)state;
    enum { PAIRS = 4000, N = 2 * PAIRS };
    struct mesh *m = body("box:1,1,1,1"), *r;
    double(*x)[3] = malloc(8 * N * sizeof *x);
    int(*corner)[3] = malloc(12 * N * sizeof *corner);
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
    mesh_close(r);
    mesh_close(m);
    free(x);
    free(corner);
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

static void bad_meshes(void **state) {
    (void)state;
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
    struct mesh *box = body("box:1,1,1,1"); /* no volume: pressed flat but for a tilt */
    for (int v = 0; v < 8; v++) box->x[v][2] = 1e-12 * box->x[v][2] + box->x[v][0];
    assert_int_equal(mesh_check(box, "pressed"), EVN_USAGE);
    mesh_close(box);
}

static void bad_files(void **state) {
    (void)state;
    static const char *const ends[] = {"a.off", "a.obj", "a.stl", "a.msh"};
    for (int e = 0; e < 4; e++) {
        refuse(ends[e], "", "is empty");
        refuse(ends[e], "nonsense\n", "");
    }
    refuse("a.off", "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n", "ends after 3 of 4 vertices");
    refuse("a.off", TETRA "3 0 2 1\n", "ends after 1 of 4 faces");
    refuse("a.off", TETRA "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n3 0 2 1\n",
           "line 11: more text after");
    refuse("a.off", TETRA "3 0 2 1\n2 0 1\n", "line 8: face 1");
    refuse("a.off", TETRA "3 0 2\n3 0 1 3\n", "line 7: face 0: expected 3 vertices, found 2");
    refuse("a.off", "OFF\n1000000000000 4 0\n", "number of vertices");
    refuse("a.off", "OFF\n4 -4 0\n", "number of faces");
    refuse("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n", "triangle 0 has vertex 3");
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
           "triangle 0: coordinate x of a corner is nan");
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
    refuse("a.msh", MSH("$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n"), "node 1 is there twice");
    refuse("a.msh", MSH("$Nodes\n99999999\n1 0 0 0\n"), "more than the file holds");
    refuse("a.msh", MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 2 0 1 2 3\n$EndElements\n"),
           "element 7: there is no node 2");
    refuse("a.msh",
           MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 3 0 1 1 1 1\n$EndElements\n"),
           "element 7 is a quadrangle");
    refuse("a.msh",
           MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 9 0 1 1 1 1 1 1\n$EndElements\n"),
           "element 7 is a triangle of second order");
    refuse("a.msh", MSH("$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n7 77 0 1 1\n$EndElements\n"),
           "there is no type 77");
    free(t.data);
}

/* ---- no file may crash ---- */

/* Every proper beginning of a file is refused, unless only blanks are missing. */
static void beginnings_are_refused(void **state) {
    (void)state;
    struct mesh *m = body("sphere:0"), *r;
    for (int f = 0; f < FORMATS; f++) {
        struct text t = {0};
        formats[f].write(&t, m);
        size_t full = t.size;
        while (strchr(" \n", t.data[full - 1])) full--;
        const size_t step = t.size > 3000 ? 7 : 1;
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

static void changed_files_never_crash(void **state) {
    (void)state;
    struct mesh *m = body("sphere:0"), *r;
    unsigned long long seed = 12345;
    const char *more = getenv("EVENER_FUZZ");
    const int rounds = 150 * (more ? atoi(more) : 1);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_formats_give_the_same_body),
        cmocka_unit_test(files_of_gmsh),
        cmocka_unit_test(polygons_are_cut),
        cmocka_unit_test(generated_bodies),
        cmocka_unit_test(orientation_and_unused_vertices),
        cmocka_unit_test(components),
        cmocka_unit_test(many_components),
        cmocka_unit_test(bad_meshes),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(beginnings_are_refused),
        cmocka_unit_test(changed_files_never_crash),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
