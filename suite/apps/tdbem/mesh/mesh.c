/* Checks that make triangles a scatterer: every edge between exactly two triangles, every vertex in
 * one fan, one consistent orientation with the solid on the inner side. Unused vertices and turned
 * triangles are repaired and noted; anything else is refused with the first offending element. */
#include "tdbem/mesh/mesh.h"
#include "tdbem/mesh/geometry.h"
#include "tdbem/mesh/mesh_read.h"
#include "tdbem/mesh/mesh_make.h"
#include "tdbem/mesh/mesh_tree.h"
#include "tdbem/mesh/mesh_twice.h"
#include "common/run/free_all.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */

evn_status mesh_new(struct mesh **out, int vertices, const double (*x)[3], int triangles,
                    const int (*corner)[3]) {
    *out = NULL;
    struct mesh *m = calloc(1, sizeof *m);
    const size_t v = vertices > 0 ? (size_t)vertices : 1, t = triangles > 0 ? (size_t)triangles : 1;
    if (m) {
        m->vertices = vertices;
        m->triangles = triangles;
        m->x = malloc(v * sizeof *m->x);
        m->corner = malloc(t * sizeof *m->corner);
        m->number = malloc(v * sizeof *m->number);
    }
    if (!m || !m->x || !m->corner || !m->number) {
        mesh_close(m);
        return evn_fail(EVN_MEMORY, "mesh: no memory for %d vertices and %d triangles", vertices,
                        triangles);
    }
    if (vertices > 0 && x) memcpy(m->x, x, (size_t)vertices * sizeof *m->x);
    if (triangles > 0 && corner) memcpy(m->corner, corner, (size_t)triangles * sizeof *m->corner);
    for (int i = 0; i < vertices; i++) m->number[i] = i;
    *out = m;
    return EVN_OK;
}

void mesh_close(struct mesh *m) {
    if (!m) return;
    free_all(m->x, m->corner, m->number, m->same, m->part_name, m->part, m);
}

evn_status mesh_open(struct mesh **out, const char *what) { return mesh_open_scaled(out, what, 1); }

evn_status mesh_load(struct mesh **out, const char *what, double scale) {
    *out = NULL;
    evn_status status = mesh_made(what) ? mesh_make(out, what) : mesh_read(out, what);
    for (int v = 0; !status && v < (*out)->vertices; v++)
        for (int c = 0; c < 3; c++) (*out)->x[v][c] *= scale;
    return status;
}

evn_status mesh_open_scaled(struct mesh **out, const char *what, double scale) {
    struct mesh *m = NULL;
    *out = NULL;
    evn_status status = mesh_load(&m, what, scale);
    if (!status) status = mesh_check_read(m, what);
    if (status)
        mesh_close(m);
    else
        *out = m;
    return status;
}

/* ---- small geometry ---- */

static void difference(double d[3], const double a[3], const double b[3]) {
    for (int c = 0; c < 3; c++) d[c] = a[c] - b[c];
}

static double distance2(const double a[3], const double b[3]) {
    double d[3];
    difference(d, a, b);
    return dot(d, d);
}

double mesh_normal(const struct mesh *m, int t, double normal[3]) {
    const int *c = m->corner[t];
    double a[3], b[3];
    difference(a, m->x[c[1]], m->x[c[0]]);
    difference(b, m->x[c[2]], m->x[c[0]]);
    cross(normal, a, b);
    double twice = sqrt(dot(normal, normal));
    for (int i = 0; i < 3; i++) normal[i] /= twice;
    return twice / 2;
}

/* Solid angle of a triangle seen from x, positive seen from the inner side (Van Oosterom and
 * Strackee, IEEE Trans. Biomed. Eng. 30 (1983), eq. 8). */
static double solid_angle(const struct mesh *m, int t, const double x[3]) {
    double r[3][3], n[3];
    for (int e = 0; e < 3; e++) {
        difference(r[e], m->x[m->corner[t][e]], x);
        n[e] = sqrt(dot(r[e], r[e]));
    }
    double c[3];
    cross(c, r[1], r[2]);
    return 2 * atan2(dot(r[0], c), n[0] * n[1] * n[2] + dot(r[0], r[1]) * n[2] +
                                       dot(r[1], r[2]) * n[0] + dot(r[2], r[0]) * n[1]);
}

static double segment_distance2(const double x[3], const double a[3], const double b[3]) {
    double d[3], v[3];
    difference(d, b, a);
    difference(v, x, a);
    double s = dot(v, d) / dot(d, d);
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    for (int c = 0; c < 3; c++) v[c] -= s * d[c];
    return dot(v, v);
}

static double triangle_distance2(const struct mesh *m, int t, const double x[3]) {
    const int *c = m->corner[t];
    double n[3], best = INFINITY;
    int inside = 1;
    mesh_normal(m, t, n);
    for (int e = 0; e < 3; e++) {
        const double *a = m->x[c[e]], *b = m->x[c[(e + 1) % 3]];
        double d[3], v[3], w[3];
        difference(d, b, a);
        difference(v, x, a);
        cross(w, d, v);
        if (dot(w, n) < 0) inside = 0;
        best = fmin(best, segment_distance2(x, a, b));
    }
    if (inside) {
        double v[3];
        difference(v, x, m->x[c[0]]);
        best = dot(v, n) * dot(v, n);
    }
    return best;
}

/* Whether a triangle, none of whose points is an edge from its corner, can be nearer to x. */
static int can_be_nearer(const struct mesh *m, int t, const double x[3], double best2) {
    double d[3];
    difference(d, m->x[m->corner[t][0]], x);
    const double reach = 1.000001 * (sqrt(best2) + m->h_max);
    return dot(d, d) < reach * reach;
}

int mesh_inside(const struct mesh *m, const double x[3], double *distance) {
    double angle = 0, best = INFINITY;
    for (int g = 0; g <= mirror_images(&m->mirror); g++) {
        double seen[3]; /* an image is seen as the body is from the point's image */
        mirror_point(&m->mirror, g, x, seen);
        for (int t = 0; t < m->triangles; t++) {
            angle += solid_angle(m, t, seen);
            if (distance && can_be_nearer(m, t, seen, best))
                best = fmin(best, triangle_distance2(m, t, seen));
        }
    }
    if (distance) *distance = sqrt(best);
    return angle > 2 * M_PI;
}

unsigned long long mesh_hash(const struct mesh *m) {
    uint64_t h = 0x9e3779b97f4a7c15u ^ (uint64_t)m->vertices ^ ((uint64_t)m->triangles << 32);
    for (int v = 0; v < m->vertices; v++)
        for (int c = 0; c < 3; c++) {
            double value = m->x[v][c] + 0.0; /* -0 and 0 are one place */
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            h = (h ^ bits) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        }
    for (int t = 0; t < m->triangles; t++)
        for (int c = 0; c < 3; c++) {
            h = (h ^ (uint64_t)m->corner[t][c]) * 0xc4ceb9fe1a85ec53u;
            h ^= h >> 29;
        }
    for (int c = 0; c < 3; c++) {
        uint64_t bits;
        if (!(m->mirror.axes >> c & 1)) continue;
        memcpy(&bits, &m->mirror.at[c], sizeof bits);
        h = (h ^ bits ^ (uint64_t)c << 62) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

evn_status mesh_present(const struct mesh *m, int **present, int *count) {
    *count = m->same ? m->numbers : 0;
    for (int v = 0; v < m->vertices; v++)
        if (m->number[v] >= *count) *count = m->number[v] + 1;
    *present = malloc((size_t)(*count ? *count : 1) * sizeof **present);
    if (!*present) return evn_fail(EVN_MEMORY, "mesh: no memory for the numbers of vertices");
    for (int f = 0; f < *count; f++) (*present)[f] = -1;
    for (int v = 0; v < m->vertices; v++) (*present)[m->number[v]] = v;
    for (int f = 0; m->same && f < m->numbers; f++) (*present)[f] = (*present)[m->same[f]];
    return EVN_OK;
}

/* ---- checks ---- */

struct edge {
    int low, high;      /* vertices, low < high */
    int triangle, side; /* from corner side to corner side+1 */
};

static int by_vertices(const void *a, const void *b) {
    const struct edge *e = a, *f = b;
    if (e->low != f->low) return e->low < f->low ? -1 : 1;
    if (e->high != f->high) return e->high < f->high ? -1 : 1;
    int s = 3 * (e->triangle > f->triangle) + (e->side > f->side);
    int t = 3 * (f->triangle > e->triangle) + (f->side > e->side);
    return s - t;
}

void mesh_note(struct mesh *m, const char *format, ...) {
    size_t at = strlen(m->note);
    if (at && at + 3 < sizeof m->note) {
        strcpy(m->note + at, "; ");
        at += 2;
    }
    va_list list;
    va_start(list, format);
    vsnprintf(m->note + at, sizeof m->note - at, format, list);
    va_end(list);
}

/* no area in rounding */
static int is_thin(const struct mesh *m, int t) {
    const int *c = m->corner[t];
    double side2 = 0, normal[3];
    for (int e = 0; e < 3; e++) side2 = fmax(side2, distance2(m->x[c[e]], m->x[c[(e + 1) % 3]]));
    return !(mesh_normal(m, t, normal) > 1e-12 * side2);
}

static evn_status check_elements(const struct mesh *m, const char *name) {
    for (int v = 0; v < m->vertices; v++)
        for (int c = 0; c < 3; c++)
            if (!(fabs(m->x[v][c]) <= 1e100))
                return evn_fail(EVN_USAGE, "%s: vertex %d: coordinate %c is %g, expected a number",
                                name, m->number[v], "xyz"[c], m -> x[v][c]);
    if (m->triangles < 1)
        return evn_fail(EVN_USAGE, "%s: no triangles; expected a closed surface of triangles",
                        name);
    int thin = 0, first = -1;
    for (int t = 0; t < m->triangles; t++) {
        const int *c = m->corner[t];
        for (int e = 0; e < 3; e++)
            if (c[e] < 0 || c[e] >= m->vertices)
                return evn_fail(EVN_USAGE,
                                "%s: triangle %d has vertex %d, but vertices are 0 to %d", name, t,
                                c[e], m->vertices - 1);
        for (int e = 0; e < 3; e++)
            if (c[e] == c[(e + 1) % 3])
                return evn_fail(EVN_USAGE, "%s: triangle %d has vertex %d twice", name, t,
                                m->number[c[e]]);
        thin += is_thin(m, t);
        if (thin == 1 && first < 0) first = t;
    }
    if (thin) {
        const int *c = m->corner[first];
        return evn_fail(EVN_USAGE,
                        "%s: triangle %d (vertices %d %d %d) is degenerate: its area is nothing "
                        "(%d such); collapse or remove such triangles in the mesher",
                        name, first, m->number[c[0]], m->number[c[1]], m->number[c[2]], thin);
    }
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++)
            for (int c = 0; c < 3; c++) {
                low[c] = fmin(low[c], m->x[m->corner[t][e]][c]);
                high[c] = fmax(high[c], m->x[m->corner[t][e]][c]);
            }
    for (int c = 0; c < 3; c++)
        if (low[c] == high[c])
            return evn_fail(EVN_USAGE,
                            "%s: a flat mesh, all %c = %g; expected the closed surface of a body",
                            name, "xyz"[c], low[c]);
    return EVN_OK;
}

evn_status mesh_drop_unused(struct mesh *m, const char *name) {
    evn_status status = check_elements(m, name);
    if (status) return status;
    int *to = calloc((size_t)m->vertices, sizeof *to);
    if (!to) return evn_fail(EVN_MEMORY, "mesh: no memory for %d vertices", m->vertices);
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++) to[m->corner[t][e]] = 1;
    int kept = 0, dropped = 0;
    for (int v = 0; v < m->vertices; v++)
        if (to[v]) {
            memmove(m->x[kept], m->x[v], sizeof *m->x);
            m->number[kept] = m->number[v];
            to[v] = kept++;
        } else {
            dropped += !m->same || m->same[m->number[v]] == m->number[v];
        }
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++) m->corner[t][e] = to[m->corner[t][e]];
    m->vertices = kept;
    free(to);
    m->dropped += dropped;
    if (dropped) mesh_note(m, "%d vertices that no triangle uses were dropped", dropped);
    return EVN_OK;
}

/* across[3*t + s]: 3*neighbour + side, on the other side of side s of triangle t */
static evn_status join_edges(const struct mesh *m, const char *name, int *across) {
    const size_t count = 3 * (size_t)m->triangles;
    struct edge *edge = malloc(count * sizeof *edge);
    if (!edge) return evn_fail(EVN_MEMORY, "mesh: no memory for %zu edges", count);
    for (size_t i = 0; i < count; i++) {
        int t = (int)(i / 3), s = (int)(i % 3);
        int a = m->corner[t][s], b = m->corner[t][(s + 1) % 3];
        edge[i] = (struct edge){a < b ? a : b, a < b ? b : a, t, s};
    }
    qsort(edge, count, sizeof *edge, by_vertices);
    size_t open = 0, many = 0, first_open = 0, first_many = 0;
    for (size_t i = 0, n; i < count; i += n) {
        const struct edge *e = &edge[i];
        for (n = 1; i + n < count && e[n].low == e->low && e[n].high == e->high;) n++;
        if (n == 1 && !open++) first_open = i;
        if (n > 2 && !many++) first_many = i;
        if (n != 2) continue;
        across[3 * e[0].triangle + e[0].side] = 3 * e[1].triangle + e[1].side;
        across[3 * e[1].triangle + e[1].side] = 3 * e[0].triangle + e[0].side;
    }
    evn_status status = EVN_OK;
    const struct edge *e = &edge[many ? first_many : first_open];
    if (many)
        status = evn_fail(EVN_USAGE,
                          "%s: edge %d-%d belongs to 3 triangles or more (%d, %d, %d, ..), "
                          "expected 2 (%zu such edges, and %zu open ones); remove faces inside, "
                          "give bodies that share an edge one each",
                          name, m->number[e->low], m->number[e->high], e[0].triangle, e[1].triangle,
                          e[2].triangle, many, open);
    else if (open)
        status = evn_fail(
            EVN_USAGE,
            "%s: the surface is open: edge %d-%d of triangle %d belongs to no other triangle (%zu "
            "such edges); close its holes; evener mesh FILE --thicken D makes a body of a screen",
            name, m->number[e->low], m->number[e->high], e->triangle, open);
    free(edge);
    return status;
}

static int by_corners(const void *a, const void *b) {
    const int *s = a, *t = b;
    for (int c = 0; c < 4; c++)
        if (s[c] != t[c]) return s[c] < t[c] ? -1 : 1;
    return 0;
}

/* before the edges, whose message for a doubled triangle would say less */
static evn_status check_doubles(const struct mesh *m, const char *name) {
    int(*key)[4] = malloc((size_t)m->triangles * sizeof *key);
    if (!key) return evn_fail(EVN_MEMORY, "mesh: no memory for %d triangles", m->triangles);
    for (int t = 0; t < m->triangles; t++) {
        int a = m->corner[t][0], b = m->corner[t][1], c = m->corner[t][2], swap;
        if (a > b) swap = a, a = b, b = swap;
        if (b > c) swap = b, b = c, c = swap;
        if (a > b) swap = a, a = b, b = swap;
        memcpy(key[t], (int[4]){a, b, c, t}, sizeof *key);
    }
    qsort(key, (size_t)m->triangles, sizeof *key, by_corners);
    int again = INT_MAX, first = 0, count = 0;
    for (int i = 1; i < m->triangles; i++) {
        const int doubled = !memcmp(key[i], key[i - 1], 3 * sizeof(int));
        count += doubled;
        if (!doubled || key[i][3] > again) continue;
        again = key[i][3];
        first = key[i - 1][3];
    }
    free(key);
    if (again == INT_MAX) return EVN_OK;
    const int *c = m->corner[again];
    return evn_fail(EVN_USAGE,
                    "%s: triangle %d has the same vertices %d %d %d as triangle %d (%d such); "
                    "remove doubled faces",
                    name, again, m->number[c[0]], m->number[c[1]], m->number[c[2]], first, count);
}

static double signed_volume(const struct mesh *m, int t, const double origin[3]) {
    double r[3][3], c[3];
    for (int e = 0; e < 3; e++) difference(r[e], m->x[m->corner[t][e]], origin);
    cross(c, r[1], r[2]);
    return dot(r[0], c) / 6;
}

static void turn_triangle(struct mesh *m, int t) {
    int c = m->corner[t][1];
    m->corner[t][1] = m->corner[t][2];
    m->corner[t][2] = c;
}

/* Floods each component over its edges, noting which triangles are to be turned so that all agree
 * with the component's first one. component[t] is set. */
static evn_status flood(struct mesh *m, const char *name, const int *across, int *component,
                        unsigned char *turn, int *queue) {
    for (int t = 0; t < m->triangles; t++) component[t] = -1;
    m->components = 0;
    for (int seed = 0; seed < m->triangles; seed++) {
        if (component[seed] >= 0) continue;
        int head = 0, tail = 0;
        queue[tail++] = seed;
        component[seed] = m->components++;
        turn[seed] = 0;
        while (head < tail) {
            int t = queue[head++];
            for (int s = 0; s < 3; s++) {
                int other = across[3 * t + s] / 3, side = across[3 * t + s] % 3;
                /* neighbours agree when they pass their common edge in opposite directions */
                int same = m->corner[other][side] == m->corner[t][s];
                unsigned char want = (unsigned char)(turn[t] ^ same);
                if (component[other] < 0) {
                    component[other] = component[t];
                    turn[other] = want;
                    queue[tail++] = other;
                } else if (turn[other] != want) {
                    return evn_fail(
                        EVN_USAGE,
                        "%s: the surface has one side only (as a Moebius strip or a Klein bottle): "
                        "no orientation fits at edge %d-%d between triangles %d and %d",
                        name, m->number[m->corner[t][s]], m->number[m->corner[t][(s + 1) % 3]], t,
                        other);
                }
            }
        }
    }
    return EVN_OK;
}

/* Components among others: of each whether it lies inside of an odd number of them, a cavity if it
 * is oriented like one; and two that overlap, if there are such. */
struct nesting {
    signed char *odd;      /* [component]; -1: not known, nothing but points on another one */
    int vertex, component; /* inside of others, while another of its component is not; -1: none */
};

static void nest(struct nesting *out, const struct mesh *m, const struct mesh_tree *tree,
                 const int *component, int *of_vertex) {
    for (int v = 0; v < m->vertices; v++) of_vertex[v] = -1;
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++) of_vertex[m->corner[t][e]] = component[t];
    memset(out->odd, -1, (size_t)m->components);
    out->vertex = -1;
    for (int v = 0; v < m->vertices; v++) {
        const int c = of_vertex[v];
        const int odd = mesh_tree_odd(tree, m->x[v], component, c);
        if (out->odd[c] < 0) out->odd[c] = (signed char)odd;
        if (odd >= 0 && odd != out->odd[c] && out->vertex < 0) {
            out->vertex = v;
            out->component = c;
        }
    }
}

/* Notes where triangles overlap: that cannot be a body's surface, but may have been meant, so it is
 * a warning. */
static void note_overlap(struct mesh *m, const struct mesh_tree *tree,
                         const struct nesting *nesting) {
    int t, other;
    double x[3];
    if (mesh_tree_cut(tree, &t, &other, x))
        mesh_note(
            m, "the surface cuts itself: triangle %d goes through triangle %d at %.4g, %.4g, %.4g",
            other, t, x[0], x[1], x[2]);
    else if (nesting->vertex >= 0)
        mesh_note(m,
                  "components overlap: vertex %d lies inside of another one, and others of its own "
                  "do not",
                  m->number[nesting->vertex]);
}

static evn_status find_nesting(struct mesh *m, const int *component, int *work, signed char *odd) {
    struct nesting nesting = {.odd = odd, .vertex = -1};
    struct mesh_tree *tree;
    evn_status status = mesh_tree_open(&tree, m);
    if (status) return status;
    if (m->components > 1) nest(&nesting, m, tree, component, work);
    note_overlap(m, tree, &nesting);
    mesh_tree_close(tree);
    return EVN_OK;
}

static evn_status orient(struct mesh *m, const char *name, const int *across, int *component,
                         unsigned char *turn, int *queue) {
    evn_status status = flood(m, name, across, component, turn, queue);
    if (status) return status;
    double *volume = calloc((size_t)m->components, sizeof *volume);
    double *size = calloc((size_t)m->components, sizeof *size);
    unsigned char *whole = calloc((size_t)m->components, 1);
    signed char *odd = calloc((size_t)m->components, 1);
    if (!volume || !size || !whole || !odd) {
        free_all(volume, size, whole, odd);
        return evn_fail(EVN_MEMORY, "mesh: no memory for %d components", m->components);
    }
    for (int t = 0; t < m->triangles; t++) {
        if (turn[t]) turn_triangle(m, t);
        double normal[3];
        volume[component[t]] += signed_volume(m, t, m->x[m->corner[0][0]]);
        size[component[t]] += pow(mesh_normal(m, t, normal), 1.5);
    }
    int buried = 0;
    m->cavities = 0;
    status = find_nesting(m, component, queue, odd);
    for (int c = 0; c < m->components && !status; c++) {
        if (!(fabs(volume[c]) > 1e-9 * size[c])) {
            int t = 0;
            while (component[t] != c) t++;
            status =
                evn_fail(EVN_USAGE, "%s: the component of triangle %d encloses no volume (%.3g)",
                         name, t, volume[c]);
            break;
        }
        int inner = odd[c] > 0;
        m->cavities += inner && volume[c] < 0;
        buried += inner && volume[c] > 0;
        whole[c] = volume[c] < 0 && !inner;
    }
    for (int t = 0; t < m->triangles; t++) {
        if (whole[component[t]]) turn_triangle(m, t);
        m->flipped += turn[t] ^ whole[component[t]];
    }
    if (!status && m->flipped == m->triangles)
        mesh_note(m, "all triangles were turned: their normals pointed into the solid");
    else if (!status && m->flipped)
        mesh_note(m, "%d of %d triangles were turned for a consistent orientation", m->flipped,
                  m->triangles);
    if (!status && m->cavities)
        mesh_note(m, "%d components lie inside of another one and keep their orientation",
                  m->cavities);
    if (!status && buried)
        mesh_note(m,
                  "%d components lie inside of another body and are no cavities: no sound comes to "
                  "them, leave them out",
                  buried);
    else if (!status && m->components > 1 && !m->cavities)
        mesh_note(m, "%d separate components: a union of bodies may have failed in the mesher",
                  m->components);
    free_all(volume, size, whole, odd);
    return status;
}

/* Triangles around corner e of triangle t, at most `most` of them. */
static int fan_of(const int *across, int t, int e, int most) {
    int steps = 0, at = t, side = e;
    do { /* across the side that leaves the corner, to the triangle where the next one does */
        int next = across[3 * at + side];
        at = next / 3;
        side = (next % 3 + 1) % 3;
        steps++;
    } while (at != t && steps <= most);
    return steps;
}

/* every vertex has one fan of triangles */
static evn_status check_fans(const struct mesh *m, const char *name, const int *across, int *work) {
    int *degree = work, count = 0, vertex = -1;
    memset(degree, 0, (size_t)m->vertices * sizeof *degree);
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++) degree[m->corner[t][e]]++;
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++) {
            int v = m->corner[t][e];
            if (degree[v] < 0) continue;
            if (fan_of(across, t, e, degree[v]) != degree[v] && !count++) vertex = v;
            degree[v] = -1;
        }
    if (!count) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "%s: at vertex %d several fans of triangles touch: not a manifold (%d such "
                    "vertices); give each part a vertex of its own there, or join them by more",
                    name, m->number[vertex], count);
}

/* Triangles that lie on their neighbours, as polygons that are cut wrong do: less than a tenth of a
 * degree between them. */
static void note_folds(struct mesh *m, const int *across) {
    int count = 0, triangle = 0, other = 0;
    for (int t = 0; t < m->triangles; t++)
        for (int s = 0; s < 3; s++) {
            const int u = across[3 * t + s] / 3;
            double a[3], b[3];
            if (u < t) continue;
            mesh_normal(m, t, a);
            mesh_normal(m, u, b);
            if (dot(a, b) > -0.9999985 || count++) continue;
            triangle = t;
            other = u;
        }
    if (count)
        mesh_note(m,
                  "the surface folds back onto itself: triangles %d and %d lie on each other (%d "
                  "such edges); results near them are wrong",
                  triangle, other, count);
}

void mesh_bounds(const struct mesh *m, double low[3], double high[3]) {
    for (int c = 0; c < 3; c++) {
        low[c] = high[c] = m->x[0][c];
        for (int v = 1; v < m->vertices; v++) {
            low[c] = fmin(low[c], m->x[v][c]);
            high[c] = fmax(high[c], m->x[v][c]);
        }
    }
}

/* Largest distance of two vertices. None is larger than twice the largest distance from the middle,
 * and a vertex that is nearer to the middle is not so far from any other. */
evn_status mesh_measure_longest(struct mesh *m) {
    double low[3], high[3], middle[3], radius = 0;
    struct mesh_tree *tree;
    evn_status status = mesh_tree_open(&tree, m);
    if (status) return status;
    mesh_bounds(m, low, high);
    for (int c = 0; c < 3; c++) middle[c] = 0.5 * (low[c] + high[c]);
    for (int v = 0; v < m->vertices; v++) radius = fmax(radius, sqrt(distance2(m->x[v], middle)));
    m->longest = 0;
    for (int v = 0; v < m->vertices && m->longest < 2 * radius * (1 - 4 * DBL_EPSILON); v++)
        if (sqrt(distance2(m->x[v], middle)) + radius >= m->longest * (1 - 1e-12))
            m->longest = mesh_tree_farthest(tree, m->x[v], m->longest);
    mesh_tree_close(tree);
    return EVN_OK;
}

static evn_status measure(struct mesh *m) {
    double length = 0;
    m->h_min = INFINITY;
    m->h_max = m->area = m->volume = 0;
    for (int t = 0; t < m->triangles; t++) {
        double normal[3];
        m->area += mesh_normal(m, t, normal);
        m->volume += signed_volume(m, t, m->x[m->corner[0][0]]);
        for (int e = 0; e < 3; e++) { /* each edge twice */
            double h = sqrt(distance2(m->x[m->corner[t][e]], m->x[m->corner[t][(e + 1) % 3]]));
            m->h_min = fmin(m->h_min, h);
            m->h_max = fmax(m->h_max, h);
            length += h;
        }
    }
    m->h_mean = length / (3.0 * m->triangles);
    evn_status status = mesh_measure_longest(m);
    if (!status && (m->longest > 1e3 || m->longest < 1e-3))
        mesh_note(m, "the body is %.3g long: is that the unit of length meant? (--unit mm)",
                  m->longest);
    return status;
}

evn_status mesh_check(struct mesh *m, const char *name) {
    m->note[0] = 0;
    return mesh_check_read(m, name);
}

evn_status mesh_check_read(struct mesh *m, const char *name) {
    m->dropped = m->flipped = 0;
    evn_status status = mesh_drop_unused(m, name);
    if (status) return status;
    if (m->triangles > INT_MAX / 3)
        return evn_fail(EVN_USAGE, "%s: %d triangles are more than can be handled", name,
                        m->triangles);
    const size_t t = (size_t)m->triangles, v = (size_t)m->vertices;
    int *across = malloc(3 * t * sizeof *across), *component = malloc(t * sizeof *component);
    int *queue = malloc((t > v ? t : v) * sizeof *queue);
    unsigned char *turn = malloc(t);
    if (!across || !component || !queue || !turn)
        status = evn_fail(EVN_MEMORY, "mesh: no memory for %zu triangles", t);
    if (!status) status = check_doubles(m, name);
    if (!status) status = join_edges(m, name, across);
    if (!status) status = orient(m, name, across, component, turn, queue);
    if (!status) status = join_edges(m, name, across); /* sides have changed places */
    if (!status) status = check_fans(m, name, across, queue);
    if (!status) note_folds(m, across);
    if (!status) status = measure(m);
    if (!status && m->components > 1) status = mesh_twice(m, name, component);
    free_all(across, component, queue, turn);
    return status;
}
