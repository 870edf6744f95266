/* Each triangle against those whose boxes are nearer than what is known already. */
#include "tdbem/mesh/mesh_thickness.h"
#include "tdbem/mesh/geometry.h"
#include "tdbem/mesh/mesh_tree.h"
#include <math.h>
#include <string.h>

static const double FACING = -0.5; /* cosine between the normals */

struct search {
    const struct mesh *m;
    struct mesh_thickness *found;
    int triangle; /* whose partners are looked for */
    double normal[3];
    double most;
};

/* The way from triangle t to x, and its squared length. */
static double point_way(const struct mesh *m, int t, const double x[3], double way[3]) {
    double n[3], best = INFINITY;
    int inside = 1;
    const double *first = m->x[m->corner[t][0]];
    mesh_normal(m, t, n);
    const double height =
        (x[0] - first[0]) * n[0] + (x[1] - first[1]) * n[1] + (x[2] - first[2]) * n[2];
    for (int e = 0; e < 3; e++) {
        const double *p = m->x[m->corner[t][e]], *q = m->x[m->corner[t][(e + 1) % 3]];
        double side[3], to[3], up[3];
        for (int k = 0; k < 3; k++) side[k] = q[k] - p[k], to[k] = x[k] - p[k];
        cross(up, side, to);
        inside &= dot(up, n) >= 0;
        const double s = clamp(dot(to, side) / dot(side, side));
        for (int k = 0; k < 3; k++) to[k] -= s * side[k];
        if (dot(to, to) < best) memcpy(way, to, sizeof to);
        best = fmin(best, dot(to, to));
    }
    for (int k = 0; inside && k < 3; k++) way[k] = height * n[k];
    return inside ? height * height : best;
}

/* The squared distance of two triangles, and the way from the first to the second where they are
 * nearest. */
static double triangles_way(const struct mesh *m, int s, int t, double way[3]) {
    double best = INFINITY, d[3];
    const int *a = m->corner[s], *b = m->corner[t];
    for (int e = 0; e < 3; e++)
        for (int turn = 0; turn < 2; turn++) {
            const double d2 = point_way(m, turn ? t : s, m->x[turn ? a[e] : b[e]], d);
            for (int k = 0; d2 < best && k < 3; k++) way[k] = turn ? -d[k] : d[k];
            best = fmin(best, d2);
        }
    for (int e = 0; e < 3; e++)
        for (int f = 0; f < 3; f++) {
            double u[3], v[3];
            const double *p = m->x[b[e]], *q = m->x[a[f]];
            for (int k = 0; k < 3; k++) {
                u[k] = m->x[b[(e + 1) % 3]][k] - p[k];
                v[k] = m->x[a[(f + 1) % 3]][k] - q[k];
            }
            segments_way(p, u, q, v, d);
            if (dot(d, d) < best) memcpy(way, d, sizeof d);
            best = fmin(best, dot(d, d));
        }
    return best;
}

static int share_corner(const struct mesh *m, int s, int t) {
    for (int e = 0; e < 3; e++)
        for (int f = 0; f < 3; f++)
            if (m->corner[s][e] == m->corner[t][f]) return 1;
    return 0;
}

static void take(double *best, int at[2], double d, int s, int t) {
    if (d >= *best) return;
    *best = d;
    at[0] = s;
    at[1] = t;
}

/* Distances that are still of interest. */
static double reach(const struct search *w) {
    return fmin(w->most, fmax(w->found->wall, w->found->gap));
}

static double look(int t, void *arg) {
    struct search *w = arg;
    struct mesh_thickness *f = w->found;
    double normal[3], way[3];
    if (t <= w->triangle) return reach(w);
    mesh_normal(w->m, t, normal);
    if (dot(normal, w->normal) > FACING || share_corner(w->m, w->triangle, t)) return reach(w);
    const double d = sqrt(triangles_way(w->m, w->triangle, t, way));
    if (d >= w->most) return reach(w);
    const double one = dot(way, w->normal), other = dot(way, normal);
    if (one < 0 && other > 0) take(&f->wall, f->wall_at, d, w->triangle, t);
    if (one > 0 && other < 0) take(&f->gap, f->gap_at, d, w->triangle, t);
    return reach(w);
}

static evn_status find_thickness(struct mesh_thickness *out, const struct mesh *mesh, double most) {
    *out = (struct mesh_thickness){INFINITY, INFINITY, {-1, -1}, {-1, -1}};
    struct mesh_tree *tree;
    evn_status status = mesh_tree_open(&tree, mesh);
    if (status) return status;
    struct search w = {.m = mesh, .found = out, .most = most};
    for (int t = 0; t < mesh->triangles; t++) {
        w.triangle = t;
        mesh_normal(mesh, t, w.normal);
        mesh_tree_near(tree, t, reach(&w), look, &w);
    }
    mesh_tree_close(tree);
    return EVN_OK;
}

evn_status mesh_thickness(struct mesh_thickness *out, const struct mesh *mesh, double most) {
    struct mesh *whole;
    if (!mesh->mirror.axes) return find_thickness(out, mesh, most);
    evn_status status = mirror_whole(&whole, mesh);
    if (!status) status = find_thickness(out, whole, most);
    for (int i = 0; !status && i < 2; i++) {
        if (out->wall_at[i] >= 0) out->wall_at[i] %= mesh->triangles;
        if (out->gap_at[i] >= 0) out->gap_at[i] %= mesh->triangles;
    }
    mesh_close(whole);
    return status;
}
