/* Moments of hat functions, and four points that have them. */
#include "tdbem/fast/spots.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Triangles that are taken as one: the square of their mean normal, or the cosine of the normals of
 * two, at least. */
static const double EVEN = 0.97;

/* Integrals of a hat over some triangles; y is the place, from the vertex on. */
struct moments {
    double mass, first[3], second[3][3]; /* 1, y, y y */
    double normal[3], turn[3][3];        /* n, n y */
};

static void add_triangle(struct moments *to, const struct mesh *m, int triangle, int corner) {
    const int *c = m->corner[triangle];
    const double *v = m->x[c[corner]], *p = m->x[c[(corner + 1) % 3]],
                 *q = m->x[c[(corner + 2) % 3]];
    double n[3];
    const double mass = mesh_normal(m, triangle, n) / 3;
    to->mass += mass;
    for (int i = 0; i < 3; i++) {
        const double a = p[i] - v[i], b = q[i] - v[i];
        to->first[i] += mass * (a + b) / 4;
        to->normal[i] += mass * n[i];
        for (int j = 0; j < 3; j++) {
            const double c1 = p[j] - v[j], c2 = q[j] - v[j];
            to->second[i][j] += mass * (2 * a * c1 + 2 * b * c2 + a * c2 + b * c1) / 20;
            to->turn[j][i] += mass * n[j] * (a + b) / 4;
        }
    }
}

/* Means about the centre. */
static void centre(struct moments *m) {
    for (int i = 0; i < 3; i++) {
        m->first[i] /= m->mass;
        m->normal[i] /= m->mass;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            m->second[i][j] = m->second[i][j] / m->mass - m->first[i] * m->first[j];
            m->turn[i][j] = m->turn[i][j] / m->mass - m->normal[i] * m->first[j];
        }
}

/* Lower triangle of the root of a positive semidefinite matrix: a = root root^T. */
static void find_root(double root[3][3], double a[3][3]) {
    const double tiny = 1e-13 * (a[0][0] + a[1][1] + a[2][2]);
    memset(root, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; k++) {
        double left = a[k][k];
        for (int l = 0; l < k; l++) left -= root[k][l] * root[k][l];
        if (left <= tiny) continue;
        root[k][k] = sqrt(left);
        for (int i = k + 1; i < 3; i++) {
            double x = a[i][k];
            for (int l = 0; l < k; l++) x -= root[i][l] * root[k][l];
            root[i][k] = x / root[k][k];
        }
    }
}

/* The corners of a tetrahedron, which have mean 0 and unit second moments, turned by the root of
 * the moments. */
static void make_spots(struct spot *to, struct moments *m, const double vertex[3],
                       struct spot surface) {
    static const double corner[SPOTS][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    double root[3][3], bend[3][3]; /* bend root^T = turn */
    centre(m);
    find_root(root, m->second);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double x = m->turn[i][k];
            for (int l = 0; l < k; l++) x -= bend[i][l] * root[k][l];
            bend[i][k] = root[k][k] > 0 ? x / root[k][k] : 0;
        }
    for (int s = 0; s < SPOTS; s++, to++) {
        *to = surface;
        to->weight = m->mass / SPOTS;
        for (int i = 0; i < 3; i++) {
            to->x[i] = vertex[i] + m->first[i];
            to->normal[i] = m->normal[i];
            for (int k = 0; k < 3; k++) {
                to->x[i] += root[i][k] * corner[s][k];
                to->normal[i] += bend[i][k] * corner[s][k];
            }
        }
    }
}

/* The numbers of the corners 3 * triangle + corner, by their vertices; NULL: no memory. */
static int *sort_corners(const struct mesh *m, int *start) {
    int *sorted = malloc(3 * (size_t)m->triangles * sizeof *sorted);
    for (int c = 0; c < 3 * m->triangles; c++) start[m->corner[c / 3][c % 3] + 2]++;
    for (int v = 2; v <= m->vertices; v++) start[v] += start[v - 1];
    for (int c = 0; sorted && c < 3 * m->triangles; c++)
        sorted[start[m->corner[c / 3][c % 3] + 1]++] = c;
    return sorted;
}

/* A spot's admittance. */
static struct spot surface_of(const struct slices_options *o, int corner) {
    return (struct spot){.beta = o->beta ? o->beta[corner / 3] : 0,
                         .filter = o->filter ? o->filter[corner / 3] : -1};
}

static int is_same(struct spot a, struct spot b) {
    return a.beta == b.beta && a.filter == b.filter;
}

/* Puts the corners of triangles that lie as the first one does, and admit as much, behind it: of
 * corner[0..corners-1]. How many they are with it. */
static int gather(const struct mesh *m, int *corner, int corners, const struct slices_options *o) {
    const struct spot first = surface_of(o, corner[0]);
    double n[3], other[3];
    int count = 1;
    mesh_normal(m, corner[0] / 3, n);
    for (int c = 1; c < corners; c++) {
        const int is = corner[c];
        mesh_normal(m, is / 3, other);
        const double even = n[0] * other[0] + n[1] * other[1] + n[2] * other[2];
        if (even < EVEN || !is_same(first, surface_of(o, is))) continue;
        corner[c] = corner[count];
        corner[count++] = is;
    }
    return count;
}

/* The spots of a vertex with these corners, which are put in another order; where normals differ
 * much or admittances at all, of each side of the edge. */
static struct spot *add_vertex(struct spot *to, const struct mesh *m, int v, int *corner,
                               int corners, const struct slices_options *o, int fine) {
    struct moments all = {0};
    const struct spot first = surface_of(o, *corner);
    int is_one = !fine;
    for (int c = 0; c < corners; c++) {
        add_triangle(&all, m, corner[c] / 3, corner[c] % 3);
        is_one &= is_same(first, surface_of(o, corner[c]));
    }
    const double *n = all.normal;
    const double even = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / (all.mass * all.mass);
    if (is_one && even > EVEN) {
        make_spots(to, &all, m->x[v], first);
        return to + SPOTS;
    }
    for (int begin = 0, end; begin < corners; begin = end, to += SPOTS) {
        struct moments one = {0};
        end = begin + (fine ? 1 : gather(m, corner + begin, corners - begin, o));
        for (int c = begin; c < end; c++) add_triangle(&one, m, corner[c] / 3, corner[c] % 3);
        make_spots(to, &one, m->x[v], surface_of(o, corner[begin]));
    }
    return to;
}

evn_status spots_open(struct spots *out, const struct mesh *m, const struct slices_options *o,
                      int fine) {
    *out = (struct spots){.mesh = m, .start = calloc((size_t)m->vertices + 2, sizeof *out->start)};
    int *sorted = out->start ? sort_corners(m, out->start) : NULL;
    out->spot = malloc(3 * SPOTS * (size_t)m->triangles * sizeof *out->spot);
    if (!sorted || !out->spot) {
        free(sorted);
        spots_close(out);
        return evn_fail(EVN_MEMORY, "fast: no memory for %d vertices", m->vertices);
    }
    struct spot *to = out->spot;
    for (int v = 0, at = 0; v < m->vertices; v++) {
        const int end = out->start[v + 1];
        out->start[v] = (int)(to - out->spot);
        to = add_vertex(to, m, v, sorted + at, end - at, o, fine);
        at = end;
    }
    out->start[m->vertices] = (int)(to - out->spot);
    free(sorted);
    return EVN_OK;
}

void spots_close(struct spots *s) {
    free(s->start);
    free(s->spot);
    *s = (struct spots){0};
}

int spots_turn(struct spot *out, const struct spots *s, const struct spot *spot,
               const struct spots_source *source) {
    const struct mirror *mirror = &s->mesh->mirror;
    const int flips = source->image ? mirror_flips(mirror, source->image) : 0;
    *out = *spot;
    if (source->filter >= 0 && spot->filter != source->filter) return 0;
    if (source->image) mirror_point(mirror, source->image, spot->x, out->x);
    for (int i = 0; i < 3; i++)
        if (flips >> i & 1) out->normal[i] = -spot->normal[i];
    if (source->filter < 0) return 1;
    memset(out->normal, 0, sizeof out->normal);
    out->beta = 1;
    return 1;
}
