/* Bodies made on request: an icosphere, whose exact solution is known, and a box, whose coplanar
 * and right-angled triangles are the degenerate case of every formula. */
#include "tdbem/mesh/mesh_make.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mesh_made(const char *what) {
    return !strncmp(what, "sphere:", 7) || !strncmp(what, "box:", 4);
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
    double size[3], h;
    if (sscanf(what + 4, "%lf,%lf,%lf,%lf%n", &size[0], &size[1], &size[2], &h, &end) != 4 ||
        what[4 + end])
        return evn_fail(EVN_USAGE,
                        "mesh: \"%s\": expected box:a,b,c,h with three sides and the length h of "
                        "edges",
                        what);
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
    free(x);
    free(corner);
    free(finer);
    free(middle);
    return status;
}

evn_status mesh_box(struct mesh **out, const double size[3], double h) {
    *out = NULL;
    if (!(h > 0) || !(size[0] > 0) || !(size[1] > 0) || !(size[2] > 0) ||
        !(size[0] + size[1] + size[2] < 1e100))
        return evn_fail(EVN_USAGE,
                        "mesh: box:%g,%g,%g,%g: sides and h must be positive, finite numbers",
                        size[0], size[1], size[2], h);
    int n[3];
    double squares = 0;
    for (int c = 0; c < 3; c++) {
        double cuts = fmax(1, rint(size[c] / h));
        if (cuts > 400)
            return evn_fail(EVN_USAGE,
                            "mesh: box:%g,%g,%g,%g: %.0f edges along a side, at most 400", size[0],
                            size[1], size[2], h, cuts);
        n[c] = (int)cuts;
    }
    for (int c = 0; c < 3; c++) squares += 2.0 * n[c] * n[(c + 1) % 3];
    const int points = (n[0] + 1) * (n[1] + 1), triangles = (int)(2 * squares);
    /* lattice points of the surface get numbers as they are met */
    int *number = malloc((size_t)points * (size_t)(n[2] + 1) * sizeof *number);
    double(*x)[3] = malloc((size_t)(squares + 2) * sizeof *x);
    int(*corner)[3] = malloc((size_t)triangles * sizeof *corner);
    evn_status status = EVN_OK;
    if (!number || !x || !corner)
        status = evn_fail(EVN_MEMORY, "mesh: no memory for a box of %d triangles", triangles);
    int vertices = 0, t = 0;
    for (int i = 0; !status && i < points * (n[2] + 1); i++) number[i] = -1;
    for (int side = 0; !status && side < 6; side++) {
        int c = side / 2, upper = side % 2, u = (c + 1) % 3, w = (c + 2) % 3;
        for (int b = 0; b < n[w]; b++)
            for (int a = 0; a < n[u]; a++) {
                int square[4];
                for (int p = 0; p < 4; p++) { /* counter-clockwise seen along -c */
                    int at[3];
                    at[c] = upper ? n[c] : 0;
                    at[u] = a + (p == 1 || p == 2);
                    at[w] = b + (p >= 2);
                    int *v = &number[at[0] + (n[0] + 1) * at[1] + points * at[2]];
                    if (*v < 0) {
                        for (int d = 0; d < 3; d++) x[vertices][d] = size[d] * at[d] / n[d];
                        *v = vertices++;
                    }
                    square[upper ? p : 3 - p] = *v;
                }
                int turn = (a + b) & 1;
                memcpy(corner[t++], (int[3]){square[turn], square[1 + turn], square[2 + turn]},
                       sizeof *corner);
                memcpy(corner[t++],
                       (int[3]){square[2 + turn], square[(3 + turn) % 4], square[turn]},
                       sizeof *corner);
            }
    }
    if (!status)
        status = mesh_new(out, vertices, (const double(*)[3])x, triangles, (const int(*)[3])corner);
    free(number);
    free(x);
    free(corner);
    return status;
}
