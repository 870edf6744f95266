/* The mesh as the generator wants it: in units of delta, about its middle, triangles in the order
 * of a space-filling curve so that a block of them is a patch. */
#include "tdbem/mesh/numbering.h"
#include "tdbem/matrices/slices_inside.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct placed {
    uint64_t key;
    int triangle;
};

static int by_key(const void *a, const void *b) {
    const struct placed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->triangle - q->triangle;
}

static void order_triangles(struct body *b, struct placed *placed, const double low[3],
                            double size) {
    for (int t = 0; t < b->triangles; t++) {
        uint32_t at[3];
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int e = 0; e < 3; e++) sum += b->mesh->x[b->mesh->corner[t][e]][c] - low[c];
            at[c] = (uint32_t)fmin(sum / 3 / size * 1048576.0, 1048575.0);
        }
        placed[t] = (struct placed){numbering_hilbert(at), t};
    }
    qsort(placed, (size_t)b->triangles, sizeof *placed, by_key);
    for (int p = 0; p < b->triangles; p++) b->triangle[p] = placed[p].triangle;
}

/* Image g of the triangle at place p as an inner one. Where it turns round two corners change
 * places. */
static void fill_inner(struct body *b, int p, int g) {
    const int *c = b->mesh->corner[b->triangle[p]], at = p + g * b->triangles;
    double corner[3][3];
    for (int e = 0; e < 3; e++) {
        b->corner[at][e] = c[mirror_turns(&b->mesh->mirror, g) ? (3 - e) % 3 : e];
        memcpy(corner[e], b->x[b->corner[at][e] + g * b->vertices], sizeof corner[e]);
    }
    shells_triangle(&b->inner[at], (const double(*)[3])corner);
    b->radius[at] = 0;
    for (int k = 0; k < 3; k++)
        b->centre[at][k] = (corner[0][k] + corner[1][k] + corner[2][k]) * (1 / 3.0);
    for (int e = 0; e < 3; e++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            double d = corner[e][k] - b->centre[at][k];
            r2 += d * d;
        }
        b->radius[at] = fmax(b->radius[at], sqrt(r2));
    }
}

static void fill_triangle(struct body *b, int p) {
    const struct shells_triangle *t = &b->inner[p];
    for (int g = 0; g <= b->images; g++) fill_inner(b, p, g);
    for (int e = 0; e < 3; e++) {
        for (int k = 0; k < 3; k++) {
            b->field[FIELD_CORNER + 3 * e + k][p] = t->corner[e][k];
            b->field[FIELD_CURL + 3 * e + k][p] = t->curl[e][k];
        }
        b->field[FIELD_NORMAL + e][p] = t->normal[e];
    }
    b->field[FIELD_AREA][p] = t->area;
}

/* Vertices and their images in units of delta. */
static void fill_vertices(struct body *b) {
    for (int g = 0; g <= b->images; g++)
        for (int i = 0; i < b->vertices; i++) {
            double x[3];
            mirror_point(&b->mesh->mirror, g, b->mesh->x[i], x);
            for (int c = 0; c < 3; c++)
                b->x[i + g * b->vertices][c] = (x[c] - b->middle[c]) / b->delta;
        }
}

/* Rings and stars; star has room for the ring's corners. */
static void fill_rings(struct body *b, int *mark) {
    int *start = b->ring_start;
    memset(start, 0, ((size_t)b->vertices + 1) * sizeof *start);
    for (int p = 0; p < b->triangles; p++)
        for (int e = 0; e < 3; e++) start[b->corner[p][e] + 1]++;
    for (int v = 0; v < b->vertices; v++) start[v + 1] += start[v];
    for (int v = 0; v < b->vertices; v++) mark[v] = start[v];
    for (int p = 0; p < b->triangles; p++)
        for (int e = 0; e < 3; e++) b->ring[mark[b->corner[p][e]]++] = p;
    for (int v = 0; v < b->vertices; v++) mark[v] = -1;
    int n = 0;
    for (int v = 0; v < b->vertices; v++) {
        b->star_start[v] = n;
        for (int r = start[v]; r < start[v + 1]; r++)
            for (int e = 0; e < 3; e++) {
                int w = b->corner[b->ring[r]][e];
                if (mark[w] == v) continue;
                mark[w] = v;
                b->star[n++] = w;
            }
    }
    b->star_start[b->vertices] = n;
}

evn_status body_open(struct body *b, const struct mesh *mesh, double delta) {
    memset(b, 0, sizeof *b);
    b->mesh = mesh;
    b->delta = delta;
    b->vertices = mesh->vertices;
    b->triangles = mesh->triangles;
    b->images = mirror_images(&mesh->mirror);
    const size_t t = (size_t)mesh->triangles, v = (size_t)mesh->vertices;
    const size_t all = (size_t)b->images + 1;
    const size_t padded = (t + 2 * LANES) / LANES * LANES;
    b->triangle = malloc(t * sizeof *b->triangle);
    b->corner = malloc(all * t * sizeof *b->corner);
    b->centre = malloc(all * t * sizeof *b->centre);
    b->radius = malloc(all * t * sizeof *b->radius);
    b->inner = malloc(all * t * sizeof *b->inner);
    b->x = malloc(all * v * sizeof *b->x);
    b->ring_start = malloc((v + 1) * sizeof *b->ring_start);
    b->ring = malloc(3 * t * sizeof *b->ring);
    b->star_start = malloc((v + 1) * sizeof *b->star_start);
    b->star = malloc(9 * t * sizeof *b->star);
    struct placed *placed = malloc(t * sizeof *placed);
    int *mark = malloc(v * sizeof *mark);
    int ok = b->triangle && b->corner && b->centre && b->radius && b->inner && b->x &&
             b->ring_start && b->ring && b->star_start && b->star && placed && mark;
    for (int f = 0; f < FIELDS; f++) {
        b->field[f] = calloc(padded, sizeof **b->field);
        ok = ok && b->field[f];
    }
    if (ok) {
        double low[3], size = 0;
        for (int c = 0; c < 3; c++) {
            double high = low[c] = mesh->x[0][c];
            for (int i = 1; i < mesh->vertices; i++) {
                low[c] = fmin(low[c], mesh->x[i][c]);
                high = fmax(high, mesh->x[i][c]);
            }
            size = fmax(size, high - low[c]);
            b->middle[c] = 0.5 * (low[c] + high);
        }
        fill_vertices(b);
        order_triangles(b, placed, low, size);
        for (int p = 0; p < b->triangles; p++) fill_triangle(b, p);
        fill_rings(b, mark);
    }
    free_all(placed, mark);
    if (ok) return EVN_OK;
    body_close(b);
    return evn_fail(EVN_MEMORY, "matrices: no memory for %d triangles", mesh->triangles);
}

void body_close(struct body *b) {
    free_all(b->triangle, b->corner, b->centre, b->radius, b->inner, b->x, b->ring_start, b->ring,
             b->star_start, b->star);
    for (int f = 0; f < FIELDS; f++) free(b->field[f]);
    memset(b, 0, sizeof *b);
}

/* Whether a vertex is at one place with itself behind the planes of image g. */
static int stays(const struct body *b, int g, int v) {
    const struct mirror *mirror = &b->mesh->mirror;
    return !(mirror_flips(mirror, g) & ~mirror_on(mirror, b->mesh->x[v]));
}

enum nearness pair_nearness(const struct body *b, int p, int q) {
    double d2 = 0;
    const double H = b->radius[p] + b->radius[q];
    for (int c = 0; c < 3; c++) {
        double d = b->centre[p][c] - b->centre[q][c];
        d2 += d * d;
    }
    if (d2 >= 16 * H * H) return FAR;
    if (d2 >= 4 * H * H) return MIDDLE;
    for (int e = 0; e < 3; e++)
        for (int f = 0; f < 3; f++)
            if (b->corner[p][e] == b->corner[q][f] && stays(b, q / b->triangles, b->corner[p][e]))
                return TOUCHING;
    return NEAR;
}

void outer_load(struct shells_outer *o, const struct body *b, const int *place, int inner) {
    vec *to = (vec *)o;
    int row = 1;
    for (int l = 1; l < LANES; l++) row &= place[l] == place[0] + l;
    if (row)
        for (int f = 0; f < FIELDS; f++) to[f] = vec_loadu(b->field[f] + place[0]);
    else
        for (int f = 0; f < FIELDS; f++)
            for (int l = 0; l < LANES; l++) to[f][l] = b->field[f][place[l]];
    o->same = vec_lt(vec_set(0), vec_set(0));
    for (int l = 0; l < LANES; l++) o->same = vec_lane(o->same, l, place[l] == inner);
}
