/* Which k a row-vector has, from geometry alone: M_k(i,j) can be non-zero only while a sphere of
 * radius (k-2 .. k+1) delta around a point of i's support meets j's support. Supports are
 * connected, so it is one range; it is stored whole, since a rule with few points may leave its
 * ends unsampled.
 *
 * The largest distance of two supports is one of two vertices. The smallest lies between the gap
 * along the line of the centroids and the distance of the nearest vertices; only where a multiple
 * of delta lies between these two bounds are triangles measured exactly. */
#include "tdbem/matrices/slices_inside.h"
#include "tdbem/mesh/geometry.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double clamp(double s) { return s < 0 ? 0 : s > 1 ? 1 : s; }

/* Squared distance of two segments p + s u and q + t v, 0 <= s, t <= 1 (Ericson, Real-Time
 * Collision Detection (2005), section 5.1.9). */
static double segments2(const double p[3], const double u[3], const double q[3],
                        const double v[3]) {
    double r[3];
    for (int c = 0; c < 3; c++) r[c] = p[c] - q[c];
    const double a = dot(u, u), e = dot(v, v), f = dot(v, r), k = dot(u, r), b = dot(u, v);
    const double det = a * e - b * b;
    double s = det > 1e-14 * a * e ? clamp((b * f - k * e) / det) : 0;
    double t = (b * s + f) / e;
    if (t < 0 || t > 1) {
        t = clamp(t);
        s = clamp((b * t - k) / a);
    }
    double d2 = 0;
    for (int c = 0; c < 3; c++) {
        double d = r[c] + s * u[c] - t * v[c];
        d2 += d * d;
    }
    return d2;
}

/* Squared distance of x to the inside of a triangle, if its foot is there; *height is signed. */
static double foot2(const struct shells_triangle *t, const double x[3], double *height) {
    double r[3], inside = 1;
    for (int e = 0; e < 3; e++) {
        for (int c = 0; c < 3; c++) r[c] = x[c] - t->corner[(e + 1) % 3][c];
        if (dot(r, t->outward[e]) > 0) inside = 0;
    }
    *height = dot(r, t->normal);
    return inside ? *height * *height : INFINITY;
}

static double triangles2(const struct shells_triangle *s, const struct shells_triangle *t) {
    double best = INFINITY;
    const struct shells_triangle *of[2] = {s, t};
    for (int w = 0; w < 2; w++) {
        double height[3];
        for (int e = 0; e < 3; e++) best = fmin(best, foot2(of[w], of[!w]->corner[e], &height[e]));
        for (int e = 0; e < 3; e++) { /* an edge through the other triangle */
            double h0 = height[(e + 1) % 3], h1 = height[(e + 2) % 3], x[3], none;
            if (h0 * h1 >= 0) continue;
            const double *p = of[!w]->corner[(e + 1) % 3], *q = of[!w]->corner[(e + 2) % 3];
            for (int c = 0; c < 3; c++) x[c] = (h0 * q[c] - h1 * p[c]) / (h0 - h1);
            if (foot2(of[w], x, &none) < INFINITY) return 0;
        }
    }
    for (int e = 0; e < 3; e++)
        for (int f = 0; f < 3; f++) {
            double u[3], v[3];
            for (int c = 0; c < 3; c++) {
                u[c] = s->tangent[e][c] * s->length[e];
                v[c] = t->tangent[f][c] * t->length[f];
            }
            best = fmin(best, segments2(s->corner[(e + 1) % 3], u, t->corner[(f + 1) % 3], v));
        }
    return best;
}

/* Structures of arrays for the loops over everything; triangles by their lowest vertex, so that
 * those of rows 0 .. j come first. */
struct arrays {
    double *x[3];      /* vertices */
    double *corner[9]; /* triangles */
    int *rank;         /* of the triangle at a place */
    int *needed;       /* [j]: triangles with a vertex up to j */
};

/* Lower bounds of the distances of the first `count` triangles to triangle q, along the line of the
 * centroids: low[p] = min(low[p], gap). */
static void gaps(double *restrict low, const struct arrays *s, int count,
                 const struct shells_triangle *t, const double centre[3]) {
    const double cx = centre[0], cy = centre[1], cz = centre[2];
    double r[3][3];
    for (int e = 0; e < 3; e++)
        for (int c = 0; c < 3; c++) r[e][c] = t->corner[e][c] - centre[c];
    double *const *f = s->corner;
    const double *restrict x0 = f[0], *restrict y0 = f[1], *restrict z0 = f[2];
    const double *restrict x1 = f[3], *restrict y1 = f[4], *restrict z1 = f[5];
    const double *restrict x2 = f[6], *restrict y2 = f[7], *restrict z2 = f[8];
#pragma omp simd
    for (int p = 0; p < count; p++) {
        const double ox = (x0[p] + x1[p] + x2[p]) * (1 / 3.0);
        const double oy = (y0[p] + y1[p] + y2[p]) * (1 / 3.0);
        const double oz = (z0[p] + z1[p] + z2[p]) * (1 / 3.0);
        const double ux = cx - ox, uy = cy - oy, uz = cz - oz;
        const double d2 = ux * ux + uy * uy + uz * uz;
        double a0 = (x0[p] - ox) * ux + (y0[p] - oy) * uy + (z0[p] - oz) * uz;
        double a1 = (x1[p] - ox) * ux + (y1[p] - oy) * uy + (z1[p] - oz) * uz;
        double a2 = -a0 - a1; /* about the centroid */
        double b0 = r[0][0] * ux + r[0][1] * uy + r[0][2] * uz;
        double b1 = r[1][0] * ux + r[1][1] * uy + r[1][2] * uz;
        double b2 = -b0 - b1;
        double top = a0 > a1 ? a0 : a1, bottom = b0 < b1 ? b0 : b1;
        top = a2 > top ? a2 : top;
        bottom = b2 < bottom ? b2 : bottom;
        double gap = (d2 - top + bottom) / __builtin_sqrt(d2 + 1e-300);
        low[p] = gap < low[p] ? gap : low[p];
    }
}

/* the same bound for one pair */
static double gap_of(const struct body *b, int p, int q) {
    double u[3], top = -INFINITY, bottom = INFINITY;
    for (int c = 0; c < 3; c++) u[c] = b->centre[q][c] - b->centre[p][c];
    for (int e = 0; e < 3; e++) {
        top = fmax(top, dot(b->inner[p].corner[e], u));
        bottom = fmin(bottom, dot(b->inner[q].corner[e], u));
    }
    return (bottom - top) / sqrt(dot(u, u) + 1e-300);
}

/* Squared distances of all vertices to the nearest and to the farthest vertex of j's star. */
static void reaches(double *restrict near2, double *restrict far2, const struct arrays *s,
                    const struct body *b, int j) {
    const int n = b->vertices;
    const double *restrict x = s->x[0], *restrict y = s->x[1], *restrict z = s->x[2];
    for (int v = 0; v < n; v++) {
        near2[v] = INFINITY;
        far2[v] = 0;
    }
    for (int k = b->star_start[j]; k < b->star_start[j + 1]; k++) {
        const double *w = b->x[b->star[k]];
        const double wx = w[0], wy = w[1], wz = w[2];
#pragma omp simd
        for (int v = 0; v < n; v++) {
            double dx = x[v] - wx, dy = y[v] - wy, dz = z[v] - wz;
            double d2 = dx * dx + dy * dy + dz * dz;
            near2[v] = d2 < near2[v] ? d2 : near2[v];
            far2[v] = d2 > far2[v] ? d2 : far2[v];
        }
    }
}

/* The whole part of the smallest distance of the supports of i and j, which is between `low` and
 * `high`; exactly measured are the pairs that could be below the whole part of what is known. */
static double support_floor(const struct body *b, int i, int j, double low, double high) {
    const double least = low > 0 ? floor(low) : 0;
    double known = floor(high);
    for (int s = b->ring_start[i]; s < b->ring_start[i + 1]; s++)
        for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++) {
            const int p = b->ring[s], q = b->ring[t];
            if (known <= least) return known;
            if (gap_of(b, p, q) >= known) continue;
            known = fmin(known, floor(sqrt(triangles2(&b->inner[p], &b->inner[q]))));
        }
    return known;
}

struct reach {
    double *low, *near2, *far2;
};

/* Column j, rows 0 .. j. The longest row-vector that does not fit its count is remembered. */
static void column(struct slices *s, const struct body *b, const struct arrays *arrays,
                   struct reach *w, int j, int *too_long) {
    for (int p = 0; p < arrays->needed[j]; p++) w->low[p] = INFINITY;
    for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
        gaps(w->low, arrays, arrays->needed[j], &b->inner[b->ring[t]], b->centre[b->ring[t]]);
    reaches(w->near2, w->far2, arrays, b, j);
    const int rigid = s->problem == TDBEM_RIGID;
    for (int i = 0; i <= j; i++) {
        double low = INFINITY, near2 = INFINITY, far2 = 0;
        for (int t = b->ring_start[i]; t < b->ring_start[i + 1]; t++) {
            double gap = w->low[arrays->rank[b->ring[t]]];
            low = gap < low ? gap : low;
        }
        for (int v = b->star_start[i]; v < b->star_start[i + 1]; v++) {
            double near = w->near2[b->star[v]], far = w->far2[b->star[v]];
            near2 = near < near2 ? near : near2;
            far2 = far > far2 ? far : far2;
        }
        double near = sqrt(near2), first = floor(near);
        if (low < first) first = support_floor(b, i, j, low, near);
        double last = ceil(sqrt(far2)) + (rigid ? 1 : -1);
        last = fmax(fmin(last, s->kmax), first);
        if (last - first + 1 > UINT8_MAX) {
            int n = (int)(last - first + 1);
            if (n > *too_long) *too_long = n;
            last = first;
        }
        size_t at = (size_t)j * (size_t)s->rows + (size_t)i;
        s->first[at] = (uint16_t)first;
        s->count[at] = (uint8_t)(last - first + 1);
    }
}

static int lowest(const int corner[3]) {
    int low = corner[0] < corner[1] ? corner[0] : corner[1];
    return low < corner[2] ? low : corner[2];
}

static void arrays_close(struct arrays *s) {
    for (int c = 0; c < 3; c++) free(s->x[c]);
    for (int c = 0; c < 9; c++) free(s->corner[c]);
    free(s->rank);
    free(s->needed);
}

static int arrays_open(struct arrays *s, const struct body *b) {
    const size_t n = (size_t)b->vertices, t = (size_t)b->triangles;
    int ok = 1;
    for (int c = 0; c < 3; c++) ok &= (s->x[c] = malloc(n * sizeof(double))) != NULL;
    for (int c = 0; c < 9; c++) ok &= (s->corner[c] = malloc(t * sizeof(double))) != NULL;
    s->rank = malloc(t * sizeof *s->rank);
    s->needed = calloc(n + 1, sizeof *s->needed);
    if (!ok || !s->rank || !s->needed) {
        arrays_close(s);
        return 0;
    }
    for (int c = 0; c < 3; c++)
        for (size_t v = 0; v < n; v++) s->x[c][v] = b->x[v][c];
    for (size_t p = 0; p < t; p++) s->needed[lowest(b->corner[p])]++;
    for (size_t j = 1; j < n; j++) s->needed[j] += s->needed[j - 1];
    for (size_t p = t; p-- > 0;) { /* counting down leaves each count at its beginning */
        int rank = --s->needed[lowest(b->corner[p])];
        s->rank[p] = rank;
        for (int c = 0; c < 9; c++) s->corner[c][rank] = b->inner[p].corner[c / 3][c % 3];
    }
    for (size_t j = 0; j + 1 < n; j++) s->needed[j] = s->needed[j + 1];
    s->needed[n - 1] = (int)t;
    return 1;
}

/* Row of a point: one support, the largest k one less. */
static void point_column(struct slices *s, const struct body *b, int row, const double point[3],
                         int *too_long, int *kmax) {
    double *near2 = malloc((size_t)b->triangles * sizeof *near2);
    double x[3];
    for (int c = 0; c < 3; c++) x[c] = (point[c] - b->middle[c]) / b->delta;
    for (int p = 0; p < b->triangles && near2; p++) {
        const struct shells_triangle *t = &b->inner[p];
        double height;
        near2[p] = foot2(t, x, &height);
        for (int e = 0; e < 3; e++) {
            double r[3];
            for (int c = 0; c < 3; c++) r[c] = x[c] - t->corner[(e + 1) % 3][c];
            double along = clamp(dot(r, t->tangent[e]) / t->length[e]) * t->length[e];
            for (int c = 0; c < 3; c++) r[c] -= along * t->tangent[e][c];
            near2[p] = fmin(near2[p], dot(r, r));
        }
    }
    for (int j = 0; j < s->columns && near2; j++) {
        double low2 = INFINITY, far2 = 0;
        for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
            low2 = fmin(low2, near2[b->ring[t]]);
        for (int v = b->star_start[j]; v < b->star_start[j + 1]; v++) {
            double r[3];
            for (int c = 0; c < 3; c++) r[c] = x[c] - b->x[b->star[v]][c];
            far2 = fmax(far2, dot(r, r));
        }
        double first = floor(sqrt(low2));
        double last = fmax(ceil(sqrt(far2)) - (s->problem == TDBEM_SOFT), first);
        int n = (int)fmin(last - first + 1, 1e9);
        if (n > UINT8_MAX || last > UINT16_MAX) {
            if (n > *too_long) *too_long = n;
            first = last = 0;
            n = 1;
        }
        size_t at = (size_t)j * (size_t)s->rows + (size_t)row;
        s->first[at] = (uint16_t)first;
        s->count[at] = (uint8_t)n;
        if (last > *kmax) *kmax = (int)last;
    }
    if (!near2) *kmax = -2;
    free(near2);
}

/* The ranges of i and j from those of j and i, and what all of them are together. */
static void complete(struct slices *s, int cores) {
    const size_t rows = (size_t)s->rows, n = (size_t)s->columns;
    int longest = 0;
    size_t nnz = 0;
#pragma omp parallel for num_threads(cores) schedule(static) reduction(max : longest)              \
    reduction(+ : nnz)
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j + 1; i < n; i++) {
            s->first[j * rows + i] = s->first[i * rows + j];
            s->count[j * rows + i] = s->count[i * rows + j];
        }
        for (size_t i = 0; i < rows; i++) {
            int count = s->count[j * rows + i];
            longest = count > longest ? count : longest;
            if (i < n) nnz += (size_t)count;
        }
    }
    s->longest = longest;
    s->nnz = nnz;
}

evn_status ranges_find(struct slices *s, const struct body *b, const struct slices_options *o,
                       int cores) {
    const double steps = b->mesh->longest / s->delta;
    if (!(steps < UINT16_MAX - 4))
        return evn_fail(EVN_USAGE,
                        "matrices: the body is %.3g steps of delta %.3g long, at most %d can be "
                        "kept: expected a delta of at least %.3g",
                        steps, s->delta, UINT16_MAX - 5, b->mesh->longest / (UINT16_MAX - 5));
    s->kmax = (int)floor(steps) + (o->problem == TDBEM_RIGID ? 2 : 0);
    s->kmax_points = -1;
    int too_long = 0, failed = 0, kmax_points = -1;
    struct arrays arrays;
    if (!arrays_open(&arrays, b))
        return evn_fail(EVN_MEMORY, "matrices: no memory for %d triangles", b->triangles);
#pragma omp parallel num_threads(cores) reduction(max : too_long, failed)
    {
        struct reach w;
        w.low = malloc((size_t)b->triangles * sizeof *w.low);
        w.near2 = malloc((size_t)b->vertices * sizeof *w.near2);
        w.far2 = malloc((size_t)b->vertices * sizeof *w.far2);
        failed = !w.low || !w.near2 || !w.far2;
#pragma omp for schedule(dynamic, 8)
        for (int j = b->vertices - 1; j >= 0; j--)
            if (!failed) column(s, b, &arrays, &w, j, &too_long);
        free(w.low);
        free(w.near2);
        free(w.far2);
    }
    arrays_close(&arrays);
#pragma omp parallel for num_threads(cores) schedule(dynamic, 1)                                   \
    reduction(max                                                                                  \
              : too_long, kmax_points) reduction(|                                                 \
                                                 : failed)
    for (int p = 0; p < o->points; p++) {
        point_column(s, b, b->vertices + p, o->point[p], &too_long, &kmax_points);
        if (kmax_points == -2) failed = 1;
    }
    if (failed) return evn_fail(EVN_MEMORY, "matrices: no memory for %d vertices", b->vertices);
    if (too_long)
        return evn_fail(EVN_USAGE,
                        "matrices: an entry has %d steps of delta %.3g, at most %d can be kept: "
                        "triangles of %.3g are too large for it, or a point too far",
                        too_long, s->delta, UINT8_MAX, b->mesh->h_max);
    s->kmax_points = kmax_points;
    complete(s, cores);
    return EVN_OK;
}
