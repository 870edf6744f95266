/* Meshes as OBJ, which has parts, OFF and PLY in text, and as STL in bytes. */
#include "tdbem/mesh/mesh_write.h"
#include <evener/output.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static void put(const struct mesh *m, FILE *out, const char *vertex, const char *triangle,
                int base) {
    int before = -1;
    for (int v = 0; v < m->vertices; v++)
        fprintf(out, "%s%.17g %.17g %.17g\n", vertex, m->x[v][0], m->x[v][1], m->x[v][2]);
    for (int t = 0; t < m->triangles; t++) {
        const int part = m->parts ? m->part[t] : -1;
        if (base && part != before)
            fprintf(out, "g %s\n", part < 0 ? "default" : m->part_name[part]);
        before = part;
        fprintf(out, "%s%d %d %d\n", triangle, m->corner[t][0] + base, m->corner[t][1] + base,
                m->corner[t][2] + base);
    }
}

static void write_obj(const struct mesh *m, FILE *out) { put(m, out, "v ", "f ", 1); }

static void write_off(const struct mesh *m, FILE *out) {
    fprintf(out, "OFF\n%d %d 0\n", m->vertices, m->triangles);
    put(m, out, "", "3 ", 0);
}

static void write_ply(const struct mesh *m, FILE *out) {
    fprintf(out,
            "ply\nformat ascii 1.0\nelement vertex %d\nproperty double x\nproperty double y\n"
            "property double z\nelement face %d\nproperty list uchar int vertex_indices\n"
            "end_header\n",
            m->vertices, m->triangles);
    put(m, out, "", "3 ", 0);
}

static void write_stl(const struct mesh *m, FILE *out) {
    const char head[80] = "triangles";
    const uint32_t count = (uint32_t)m->triangles;
    fwrite(head, sizeof head, 1, out);
    fwrite(&count, sizeof count, 1, out);
    for (int t = 0; t < m->triangles; t++) {
        char record[50] = {0};
        float value[12];
        double normal[3];
        mesh_normal(m, t, normal);
        for (int c = 0; c < 3; c++) value[c] = (float)normal[c];
        for (int i = 0; i < 9; i++) value[3 + i] = (float)m->x[m->corner[t][i / 3]][i % 3];
        memcpy(record, value, sizeof value);
        fwrite(record, sizeof record, 1, out);
    }
}

static const struct {
    const char *end;
    void (*write)(const struct mesh *m, FILE *out);
} formats[] = {{".obj", write_obj}, {".off", write_off}, {".ply", write_ply}, {".stl", write_stl}};
enum { FORMATS = sizeof formats / sizeof *formats };

/* FORMATS: none */
static size_t find(const char *file) {
    const char *end = strrchr(file, '.');
    size_t f = 0;
    while (f < FORMATS && (!end || strcasecmp(end, formats[f].end))) f++;
    return f;
}

int mesh_writes(const char *file) { return find(file) < FORMATS; }

evn_status mesh_write(const struct mesh *m, const char *file) {
    evn_output *out;
    const size_t f = find(file);
    if (f == FORMATS)
        return evn_fail(EVN_USAGE, "%s: expected a name that ends with " MESH_WRITE_ENDS, file);
    evn_status status = evn_output_open(&out, NULL, file);
    if (status) return status;
    formats[f].write(m, evn_output_stream(out));
    status = evn_output_commit(out);
    evn_output_close(out);
    return status;
}
