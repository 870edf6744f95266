/* Bodies made on request, and the icosphere, whose exact solution is known. */
#include "tdbem/mesh/mesh_make.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mesh_made(const char *what) {
    return !strncmp(what, "sphere:", 7) || !strncmp(what, "box:", 4) ||
           !strncmp(what, "aircraft:", 9);
}

evn_status mesh_make(struct mesh **out, const char *what) {
    *out = NULL;
    int end = -1;
    if (!strncmp(what, "sphere:", 7)) {
        int level;
        if (sscanf(what + 7, "%d%n", &level, &end) != 1 || what[7 + end])
            return evn_fail(EVN_USAGE, "mesh: \"%s\": expected sphere:L with a level L", what);
        return mesh_sphere(out, level);
    }
    if (!strncmp(what, "aircraft:", 9)) {
        int edges;
        if (sscanf(what + 9, "%d%n", &edges, &end) != 1 || what[9 + end])
            return evn_fail(EVN_USAGE,
                            "mesh: \"%s\": expected aircraft:N with N edges from nose to tail",
                            what);
        return mesh_aircraft(out, edges);
    }
    double size[3], h;
    if (sscanf(what + 4, "%lf,%lf,%lf,%lf%n", &size[0], &size[1], &size[2], &h, &end) != 4 ||
        what[4 + end])
        return evn_fail(
            EVN_USAGE,
            "mesh: \"%s\": expected box:a,b,c,h with three sides and the length h of edges", what);
    return mesh_box(out, size, h);
}

/* The vertex half-way between a and b, made once: kept with the lower of the two. */
struct middle {
    int other, vertex;
};

static int half_way(struct middle (*middle)[6], double (*x)[3], int *vertices, int a, int b) {
    int low = a < b ? a : b, high = a < b ? b : a, n = 0;
    while (n < 6 && middle[low][n].vertex && middle[low][n].other != high) n++;
    if (n < 6 && middle[low][n].vertex) return middle[low][n].vertex;
    int v = (*vertices)++;
    middle[low][n] = (struct middle){high, v};
    double length = 0;
    for (int c = 0; c < 3; c++) {
        x[v][c] = x[a][c] + x[b][c];
        length += x[v][c] * x[v][c];
    }
    length = sqrt(length);
    for (int c = 0; c < 3; c++) x[v][c] /= length;
    return v;
}

/* Faces of the icosahedron: the 20 triples of vertices an edge apart from each other. */
static void icosahedron(int (*corner)[3], const double (*x)[3]) {
    int faces = 0;
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++)
            for (int c = b + 1; c < 12; c++) {
                const int v[3] = {a, b, c};
                int near = 0;
                for (int e = 0; e < 3; e++) {
                    const double *p = x[v[e]], *q = x[v[(e + 1) % 3]];
                    near += p[0] * q[0] + p[1] * q[1] + p[2] * q[2] > 0.4; /* cosine: 1/sqrt(5) */
                }
                if (near < 3) continue;
                double volume = 0;
                for (int e = 0; e < 3; e++)
                    volume += x[a][e] * (x[b][(e + 1) % 3] * x[c][(e + 2) % 3] -
                                         x[b][(e + 2) % 3] * x[c][(e + 1) % 3]);
                memcpy(corner[faces++], (int[3]){a, volume > 0 ? b : c, volume > 0 ? c : b},
                       sizeof *corner);
            }
}

evn_status mesh_sphere(struct mesh **out, int level) {
    *out = NULL;
    if (level < 0 || level > 8)
        return evn_fail(EVN_USAGE, "mesh: sphere:%d: expected a level from 0 to 8", level);
    int triangles = 20, vertices = 12;
    for (int l = 0; l < level; l++) triangles *= 4;
    const size_t max = (size_t)triangles / 2 + 2;
    double(*x)[3] = malloc(max * sizeof *x);
    int(*corner)[3] = malloc((size_t)triangles * sizeof *corner);
    int(*finer)[3] = malloc((size_t)triangles * sizeof *finer);
    struct middle(*middle)[6] = malloc(max * sizeof *middle);
    evn_status status = EVN_OK;
    if (!x || !corner || !finer || !middle)
        status = evn_fail(EVN_MEMORY, "mesh: no memory for a sphere of level %d", level);
    if (!status) {
        /* the icosahedron: three golden rectangles */
        const double golden = 0.5 * (1 + sqrt(5)), scale = 1 / sqrt(1 + golden * golden);
        for (int v = 0; v < 12; v++) {
            int axis = v / 4;
            double one = (v & 1) ? scale : -scale, long_side = (v & 2) ? -golden : golden;
            x[v][(axis + 0) % 3] = one;
            x[v][(axis + 1) % 3] = long_side * scale;
            x[v][(axis + 2) % 3] = 0;
        }
        icosahedron(corner, (const double(*)[3])x);
        for (int l = 0, count = 20; l < level; l++, count *= 4) {
            memset(middle, 0, (size_t)vertices * sizeof *middle);
            for (int t = 0; t < count; t++) {
                const int *c = corner[t];
                int m[3];
                for (int e = 0; e < 3; e++)
                    m[e] = half_way(middle, x, &vertices, c[e], c[(e + 1) % 3]);
                memcpy(finer[4 * t], (int[3]){c[0], m[0], m[2]}, sizeof *finer);
                memcpy(finer[4 * t + 1], (int[3]){c[1], m[1], m[0]}, sizeof *finer);
                memcpy(finer[4 * t + 2], (int[3]){c[2], m[2], m[1]}, sizeof *finer);
                memcpy(finer[4 * t + 3], (int[3]){m[0], m[1], m[2]}, sizeof *finer);
            }
            int(*swap)[3] = corner;
            corner = finer;
            finer = swap;
        }
        status = mesh_new(out, vertices, (const double(*)[3])x, triangles, (const int(*)[3])corner);
    }
    free_all(x, corner, finer, middle);
    return status;
}
