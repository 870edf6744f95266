/* Which k a row-vector has, from geometry alone: M_k(i,j) can be non-zero only while a sphere of
 * radius (k-2 .. k+1) delta around a point of i's support meets j's support. Supports are
 * connected, so it is one range, and that of a support and of its images behind planes is one from
 * the nearest to the farthest of them; it is stored whole, since a rule with few points may leave
 * its ends unsampled.
 *
 * The largest distance of two supports is one of two vertices. The smallest lies between the gap
 * along the line of the centroids and the distance of the nearest vertices; only where a multiple
 * of delta lies between these two bounds are triangles measured exactly.
 *
 * The range of (i,j) is that of (j,i). It is measured in one of two ways round, always with the
 * larger number as the column: at a multiple of delta rounding decides, so that the other way could
 * give another one. So the columns of an interval measure the rows before them, and all columns
 * behind the interval measure the interval's as rows. */
#include "tdbem/matrices/slices_inside.h"
#include "tdbem/mesh/geometry.h"
#include "common/run/free_all.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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
            double u[3], v[3], way[3];
            for (int c = 0; c < 3; c++) {
                u[c] = s->tangent[e][c] * s->length[e];
                v[c] = t->tangent[f][c] * t->length[f];
            }
            segments_way(s->corner[(e + 1) % 3], u, t->corner[(f + 1) % 3], v, way);
            best = fmin(best, dot(way, way));
        }
    return best;
}

/* Structures of arrays for the loops over all that belongs to rows from .. to-1: the triangles
 * around them, by the lowest of these rows that each has, so that those of rows from .. j come
 * first; and the vertices of these. */
struct arrays {
    int from, to;
    int vertices, triangles;
    double *x[3];      /* coordinates of the vertices */
    int *slot;         /* place of vertex v in these arrays, if it is there */
    double *corner[9]; /* corners of the triangles */
    int *rank;         /* number of the triangle at a place, if it is there */
    int *needed;       /* [j - from]: triangles with one of the rows from .. j */
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

/* the bound of the gap for one pair */
static double gap_of(const struct body *b, int p, int q) {
    double u[3], top = -INFINITY, bottom = INFINITY;
    for (int c = 0; c < 3; c++) u[c] = b->centre[q][c] - b->centre[p][c];
    for (int e = 0; e < 3; e++) {
        const double a = dot(b->inner[p].corner[e], u), z = dot(b->inner[q].corner[e], u);
        top = a > top ? a : top;
        bottom = z < bottom ? z : bottom;
    }
    return (bottom - top) / sqrt(dot(u, u) + 1e-300);
}

/* Squared distances of the vertices to the nearest and to the farthest vertex of j's star and its
 * images. */
static void reaches(double *restrict near2, double *restrict far2, const struct arrays *s,
                    const struct body *b, int j) {
    const int n = s->vertices;
    const double *restrict x = s->x[0], *restrict y = s->x[1], *restrict z = s->x[2];
    for (int v = 0; v < n; v++) {
        near2[v] = INFINITY;
        far2[v] = 0;
    }
    const int star = b->star_start[j + 1] - b->star_start[j];
    for (int k = 0; k < star * (b->images + 1); k++) {
        const double *w = b->x[b->star[b->star_start[j] + k % star] + k / star * b->vertices];
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
        for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
            for (int g = 0; g <= b->images; g++) {
                const int p = b->ring[s], q = b->ring[t] + g * b->triangles;
                if (known <= least) return known;
                if (!body_meets(b, i, j, g)) continue;
                if (gap_of(b, p, q) >= known) continue;
                known = fmin(known, floor(sqrt(triangles2(&b->inner[p], &b->inner[q]))));
            }
    return known;
}

/* The range of i and j, whose supports are at least `low` apart and whose stars' vertices are
 * between near2 and far2, squared. Returns 0, or more steps than can be kept. */
static int fit(uint16_t *to_first, uint8_t *to_count, const struct slices *s, const struct body *b,
               int i, int j, double low, double near2, double far2) {
    double near = sqrt(near2), first = floor(near);
    if (low < first) first = support_floor(b, i, j, low, near);
    double last = ceil(sqrt(far2)) + options_reach(s->problem, s->eta);
    last = fmax(fmin(last, s->kmax), first);
    const int n = (int)(last - first + 1), fits = n <= UINT8_MAX;
    *to_first = (uint16_t)first;
    *to_count = (uint8_t)(fits ? n : 1);
    return fits ? 0 : n;
}

struct reach {
    double *low, *near2, *far2;
};

/* Where the ranges of rows i, i + 1, .. of a column go: to places `step` apart. */
struct target {
    uint16_t *first;
    uint8_t *count;
    size_t step;
};

/* Column j, rows from the arrays' first to `last_row`. The longest row-vector that does not fit its
 * count is remembered. */
static void column(const struct slices *s, const struct body *b, const struct arrays *arrays,
                   struct reach *w, int j, int last_row, struct target to, int *too_long) {
    const int needed = arrays->needed[last_row - arrays->from];
    for (int p = 0; p < needed; p++) w->low[p] = INFINITY;
    for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
        for (int g = 0; g <= b->images; g++) {
            const int q = b->ring[t] + g * b->triangles;
            gaps(w->low, arrays, needed, &b->inner[q], b->centre[q]);
        }
    reaches(w->near2, w->far2, arrays, b, j);
    for (int i = arrays->from; i <= last_row; i++) {
        double low = INFINITY, near2 = INFINITY, far2 = 0;
        for (int t = b->ring_start[i]; t < b->ring_start[i + 1]; t++) {
            double gap = w->low[arrays->rank[b->ring[t]]];
            low = gap < low ? gap : low;
        }
        for (int v = b->star_start[i]; v < b->star_start[i + 1]; v++) {
            const int slot = arrays->slot[b->star[v]];
            double near = w->near2[slot], far = w->far2[slot];
            near2 = near < near2 ? near : near2;
            far2 = far > far2 ? far : far2;
        }
        const size_t at = (size_t)(i - arrays->from) * to.step;
        const int n = fit(to.first + at, to.count + at, s, b, i, j, low, near2, far2);
        if (n > *too_long) *too_long = n;
    }
}

/* The lowest of the rows that a triangle has; `to` if it has none. */
static int lowest(const struct arrays *s, const int corner[3]) {
    int low = s->to;
    for (int e = 0; e < 3; e++)
        if (corner[e] >= s->from && corner[e] < low) low = corner[e];
    return low;
}

static void arrays_close(struct arrays *s) {
    for (int c = 0; c < 3; c++) free(s->x[c]);
    for (int c = 0; c < 9; c++) free(s->corner[c]);
    free_all(s->slot, s->rank, s->needed);
}

/* How many triangles have each row as their lowest, to needed[row + 1 - from]; and which vertices
 * these have, to slot. */
static void arrays_count(struct arrays *s, const struct body *b) {
    for (int v = 0; v < b->vertices; v++) s->slot[v] = -1;
    for (int p = 0; p < b->triangles; p++) {
        const int low = lowest(s, b->corner[p]);
        if (low == s->to) continue;
        s->needed[low - s->from + 1]++;
        s->triangles++;
        for (int e = 0; e < 3; e++) s->slot[b->corner[p][e]] = 0;
    }
    for (int v = 0; v < b->vertices; v++)
        if (!s->slot[v]) s->slot[v] = s->vertices++;
}

static void arrays_fill(struct arrays *s, const struct body *b) {
    for (int v = 0; v < b->vertices; v++)
        for (int c = 0; c < 3 && s->slot[v] >= 0; c++) s->x[c][s->slot[v]] = b->x[v][c];
    const int rows = s->to - s->from;
    for (int j = 0; j < rows; j++) s->needed[j + 1] += s->needed[j];
    for (int p = 0; p < b->triangles; p++) {
        const int low = lowest(s, b->corner[p]);
        if (low == s->to) continue;
        const int rank = s->needed[low - s->from]++; /* which becomes the count up to this row */
        s->rank[p] = rank;
        for (int c = 0; c < 9; c++) s->corner[c][rank] = b->inner[p].corner[c / 3][c % 3];
    }
}

static int arrays_open(struct arrays *s, const struct body *b, int from, int to) {
    *s = (struct arrays){.from = from, .to = to};
    s->slot = malloc((size_t)b->vertices * sizeof *s->slot);
    s->rank = malloc((size_t)b->triangles * sizeof *s->rank);
    s->needed = calloc((size_t)(to - from) + 1, sizeof *s->needed);
    int ok = s->slot && s->rank && s->needed;
    if (ok) arrays_count(s, b);
    const size_t n = (size_t)s->vertices + 1, t = (size_t)s->triangles + 1;
    for (int c = 0; c < 3; c++) ok = ok && (s->x[c] = malloc(n * sizeof(double)));
    for (int c = 0; c < 9; c++) ok = ok && (s->corner[c] = malloc(t * sizeof(double)));
    if (ok)
        arrays_fill(s, b);
    else
        arrays_close(s);
    return ok;
}

static int reach_open(struct reach *w, const struct arrays *s) {
    w->low = malloc(((size_t)s->triangles + 1) * sizeof *w->low);
    w->near2 = malloc(((size_t)s->vertices + 1) * sizeof *w->near2);
    w->far2 = malloc(((size_t)s->vertices + 1) * sizeof *w->far2);
    return w->low && w->near2 && w->far2;
}

static void reach_close(struct reach *w) { free_all(w->low, w->near2, w->far2); }

/* Squared distance of a point to a triangle. */
static double point_distance2(const struct shells_triangle *t, const double x[3]) {
    double height, near2 = foot2(t, x, &height);
    for (int e = 0; e < 3; e++) {
        double r[3];
        for (int c = 0; c < 3; c++) r[c] = x[c] - t->corner[(e + 1) % 3][c];
        double along = clamp(dot(r, t->tangent[e]) / t->length[e]) * t->length[e];
        for (int c = 0; c < 3; c++) r[c] -= along * t->tangent[e][c];
        near2 = fmin(near2, dot(r, r));
    }
    return near2;
}

/* Squared distances of a point to the triangles that are wanted, or to images of them. */
static void point_distances(const struct body *b, const double x[3], const char *wanted,
                            double *near2) {
    for (int p = 0; p < b->triangles; p++) near2[p] = INFINITY;
    for (int q = 0; q < b->triangles * (b->images + 1); q++) {
        const int p = q % b->triangles;
        if (wanted[p]) near2[p] = fmin(near2[p], point_distance2(&b->inner[q], x));
    }
}

/* Row of a point in column j: one support, the largest k one less. `low2` is the squared distance
 * of j's support. Returns 0, or more steps than can be kept. */
static int point_range(uint16_t *to_first, uint8_t *to_count, const struct slices *s,
                       const struct body *b, const double x[3], double low2, int j) {
    double far2 = 0;
    const int star = b->star_start[j + 1] - b->star_start[j];
    for (int k = 0; k < star * (b->images + 1); k++) {
        const int v = b->star[b->star_start[j] + k % star] + k / star * b->vertices;
        double r[3];
        for (int c = 0; c < 3; c++) r[c] = x[c] - b->x[v][c];
        far2 = fmax(far2, dot(r, r));
    }
    double first = floor(sqrt(low2));
    double last = fmax(ceil(sqrt(far2)) - (s->problem == TDBEM_SOFT), first);
    int n = (int)fmin(last - first + 1, 1e9);
    const int fits = n <= UINT8_MAX && last <= UINT16_MAX;
    *to_first = (uint16_t)(fits ? first : 0);
    *to_count = (uint8_t)(fits ? n : 1);
    return fits ? 0 : (int)fmin(last, 1e9);
}

static int vertices_range(uint16_t *first, uint8_t *count, const struct slices *s,
                          const struct body *b, int i, int j) {
    double near2 = INFINITY, far2 = 0;
    const int begin = b->star_start[j], star = b->star_start[j + 1] - begin;
    for (int v = b->star_start[i]; v < b->star_start[i + 1]; v++)
        for (int w = 0; w < star * (b->images + 1); w++) {
            const double *x = b->x[b->star[v]],
                         *y = b->x[b->star[begin + w % star] + w / star * b->vertices];
            double r[3];
            if (!body_meets(b, i, j, w / star)) continue;
            for (int c = 0; c < 3; c++) r[c] = x[c] - y[c];
            const double r2 = dot(r, r);
            near2 = r2 < near2 ? r2 : near2;
            far2 = r2 > far2 ? r2 : far2;
        }
    return fit(first, count, s, b, i, j, 0, near2, far2);
}

int range_one(uint16_t *first, uint8_t *count, const struct slices *s, const struct body *b, int i,
              const double x[3], int j) {
    if (i < b->vertices) return vertices_range(first, count, s, b, i < j ? i : j, i < j ? j : i);
    double low2 = INFINITY;
    for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
        low2 = fmin(low2, point_distance2(&b->inner[b->ring[t]], x));
    return point_range(first, count, s, b, x, low2, j);
}

/* Columns whose ranges are made: `column[c]`, to the slices' column c, or low + c. */
struct columns {
    const int *column;
    int low, count;
};

static int column_at(const struct columns *is, int c) {
    return is->column ? is->column[c] : is->low + c;
}

static int place_of(const struct columns *is, int c) { return is->column ? c : is->low + c; }

/* Finds the rows of all points; non-zero without memory. */
static int points_find(const struct slices *s, const struct body *b, const struct slices_options *o,
                       int cores, const struct columns *is, int *too_long) {
    int failed = 0, longest = 0;
    char *wanted = calloc((size_t)b->triangles, 1);
    if (!wanted) return 1;
    for (int c = 0; c < is->count; c++)
        for (int j = column_at(is, c), t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
            wanted[b->ring[t]] = 1;
#pragma omp parallel for num_threads(cores) schedule(dynamic, 1) reduction(max : longest, failed)
    for (int p = 0; p < o->points; p++) {
        double *near2 = malloc((size_t)b->triangles * sizeof *near2), x[3];
        failed |= !near2;
        if (!near2) continue;
        for (int c = 0; c < 3; c++) x[c] = (o->point[p][c] - b->middle[c]) / b->delta;
        point_distances(b, x, wanted, near2);
        for (int c = 0; c < is->count; c++) {
            const int j = column_at(is, c);
            const size_t at =
                slices_find(s, b->vertices + p, place_of(is, c)) - slices_before(s, s->low);
            double low2 = INFINITY;
            for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
                low2 = fmin(low2, near2[b->ring[t]]);
            const int n = point_range(s->first + at, s->count + at, s, b, x, low2, j);
            if (n > longest) longest = n;
        }
        free(near2);
    }
    free(wanted);
    if (longest > *too_long) *too_long = longest;
    return failed;
}

/* A filter's rows have the ranges of those that they repeat, in columns of its triangles. */
static void filters_find(const struct slices *s, const struct body *b,
                         const struct slices_options *o, const struct columns *is) {
    for (int c = 0; c < is->count; c++)
        for (int f = 0; f < o->filters; f++) {
            const int j = column_at(is, c);
            const int place = place_of(is, c);
            const size_t from = slices_at(s, place), end = slices_at(s, place + 1);
            const size_t rows = (end - from) / (size_t)(1 + o->filters);
            const size_t to = from + (size_t)(1 + f) * rows;
            int has = 0;
            for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++)
                has |= o->filter[b->triangle[b->ring[t]]] == f;
            memcpy(s->first + to, s->first + from, rows * sizeof *s->first);
            if (has)
                memcpy(s->count + to, s->count + from, rows * sizeof *s->count);
            else
                memset(s->count + to, 0, rows * sizeof *s->count);
        }
}

/* The ranges of i and j from those of j and i, both of the interval. */
static void complete(const struct slices *s, int cores) {
    const size_t rows = (size_t)s->rows, low = (size_t)s->low, n = (size_t)(s->high - s->low);
#pragma omp parallel for num_threads(cores) schedule(static)
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) {
            s->first[j * rows + low + i] = s->first[i * rows + low + j];
            s->count[j * rows + low + i] = s->count[i * rows + low + j];
        }
}

evn_status ranges_kmax(int *kmax, const struct mesh *mesh, const struct slices_options *o) {
    const double steps = mesh->longest / o->delta;
    if (!(steps < UINT16_MAX - 4))
        return evn_fail(EVN_USAGE,
                        "matrices: the body is %.3g steps of delta %.3g long, at most %d can be "
                        "kept: expected a delta of at least %.3g",
                        steps, o->delta, UINT16_MAX - 5, mesh->longest / (UINT16_MAX - 5));
    *kmax = (int)floor(steps) + 1 + options_reach(o->problem, o->eta);
    return EVN_OK;
}

static evn_status no_room(const struct body *b) {
    return evn_fail(EVN_MEMORY, "matrices: no memory for the ranges of %d vertices", b->vertices);
}

evn_status range_too_far(const struct body *b, int steps) {
    return evn_fail(EVN_USAGE,
                    "matrices: an entry has %d steps of delta %.3g, at most %d can be kept: "
                    "triangles of %.3g are too large for it, or a point or a plane too far",
                    steps, b->delta, UINT8_MAX, b->mesh->h_max);
}

/* Columns from .. to-1 by all cores: rows from the arrays' first to the column itself, or, if
 * `across` is set, to the arrays' last, put as columns of these rows. */
struct sweep {
    const struct slices *s;
    const struct body *b;
    const struct arrays *arrays;
    const struct columns *is; /* NULL: from .. to-1 */
    int from, to, across;
    struct span span;
    int too_long, failed, stopped;
};

static void sweep_column(struct sweep *w, struct reach *reach, int c, int *too_long) {
    const struct slices *s = w->s;
    const struct arrays *a = w->arrays;
    const int j = w->is ? column_at(w->is, c) : c;
    const size_t rows = (size_t)s->rows;
    const size_t at = w->across ? (size_t)j : (size_t)(c - (w->is ? 0 : s->low)) * rows;
    const struct target to = {s->first + at, s->count + at, w->across ? rows : 1};
    column(s, w->b, a, reach, j, w->across || w->is ? a->to - 1 : j, to, too_long);
}

static void sweep(struct sweep *w, int cores) {
    int too_long = 0, failed = 0, stopped = 0, done = 0;
    const int all = w->to - w->from;
#pragma omp parallel num_threads(cores) reduction(max : too_long, failed)
    {
        struct reach reach;
        failed = !reach_open(&reach, w->arrays);
#pragma omp for schedule(dynamic, 8)
        for (int c = w->to - 1; c >= w->from; c--) {
            int stop, now;
#pragma omp atomic read
            stop = stopped;
            if (failed || stop) continue;
            sweep_column(w, &reach, c, &too_long);
#pragma omp atomic capture
            now = ++done;
            const int first = omp_get_thread_num() == 0;
            if (first && now % 16 == 0 && span_tell(&w->span, (double)now / all)) {
#pragma omp atomic write
                stopped = 1;
            }
        }
        reach_close(&reach);
    }
    if (too_long > w->too_long) w->too_long = too_long;
    w->failed |= failed;
    w->stopped |= stopped;
}

/* The interval's columns and the rows before them. */
static int sweep_before(struct sweep *w, int cores) {
    struct arrays arrays;
    if (!arrays_open(&arrays, w->b, 0, w->s->high)) return 1;
    w->arrays = &arrays;
    w->from = w->s->low;
    w->to = w->s->high;
    sweep(w, cores);
    arrays_close(&arrays);
    return w->failed || w->stopped;
}

/* Sweeps over the columns behind the interval, whose rows in it are the interval's own columns. */
static int sweep_behind(struct sweep *w, int cores, double share) {
    struct arrays arrays;
    if (w->s->high == w->b->vertices) return 0;
    if (!arrays_open(&arrays, w->b, w->s->low, w->s->high)) return 1;
    w->arrays = &arrays;
    w->from = w->s->high;
    w->to = w->b->vertices;
    w->across = 1;
    w->span.begun += w->span.share;
    w->span.share = share;
    sweep(w, cores);
    arrays_close(&arrays);
    return w->failed || w->stopped;
}

/* The range of row i of a column, to `at`. Of two of the columns the later one puts its own there
 * and that of the other's row, which is the same. */
static int near_range(const struct slices *s, const struct body *b, const struct columns *is, int i,
                      int c, size_t at) {
    const int j = column_at(is, c), both = !is->column && i >= is->low && i < is->low + is->count;
    if (both && i > j) return 0;
    const int n = range_one(s->first + at, s->count + at, s, b, i, NULL, j);
    const size_t to = both ? slices_find(s, j, i) - slices_before(s, s->low) : at;
    s->first[to] = s->first[at];
    s->count[to] = s->count[at];
    return n;
}

/* The vertices' rows that have ranges. */
static void near_columns(const struct slices *s, const struct body *b, const struct columns *is,
                         int cores, int *longest) {
    int too_long = 0;
#pragma omp parallel for num_threads(cores) schedule(dynamic, 8) reduction(max : too_long)
    for (int c = 0; c < is->count; c++) {
        struct slices_walk w = slices_walk(s, place_of(is, c));
        for (; w.row < b->vertices; slices_step(&w)) {
            const int n = near_range(s, b, is, w.row, c, w.at);
            if (n > too_long) too_long = n;
        }
    }
    *longest = too_long;
}

static evn_status near_find(struct slices *s, const struct body *b, const struct slices_options *o,
                            int cores, const struct columns *is) {
    int too_long = 0;
    near_columns(s, b, is, cores, &too_long);
    if (points_find(s, b, o, cores, is, &too_long)) return no_room(b);
    if (too_long) return range_too_far(b, too_long);
    filters_find(s, b, o, is);
    return EVN_OK;
}

evn_status ranges_find_near(struct slices *s, const struct body *b, const struct slices_options *o,
                            int cores, int from, int to) {
    const struct columns is = {.low = from, .count = to - from};
    return near_find(s, b, o, cores, &is);
}

evn_status ranges_find(struct slices *s, const struct body *b, const struct slices_options *o,
                       int cores, const struct span *span) {
    const int n = b->vertices;
    if (o->near) return ranges_find_near(s, b, o, cores, s->low, s->high);
    struct sweep w = {.s = s, .b = b, .span = *span};
    const double before = s->low + s->high, behind = 2.0 * (n - s->high);
    w.span.share *= before / (before + behind);
    if (sweep_before(&w, cores) || sweep_behind(&w, cores, span->share - w.span.share))
        return w.stopped ? evn_fail(EVN_STOPPED, "matrices: stopped on request") : no_room(b);
    const struct columns is = {.low = s->low, .count = s->high - s->low};
    if (points_find(s, b, o, cores, &is, &w.too_long)) return no_room(b);
    if (w.too_long) return range_too_far(b, w.too_long);
    complete(s, cores);
    filters_find(s, b, o, &is);
    return EVN_OK;
}

evn_status ranges_sample(struct slices *s, const struct body *b, const struct slices_options *o,
                         int cores, const int *column, int count) {
    struct arrays arrays;
    const struct columns is = {.column = column, .count = count};
    if (o->near) return near_find(s, b, o, cores, &is);
    if (!arrays_open(&arrays, b, 0, b->vertices)) return no_room(b);
    const struct slices_options deaf = {.progress = NULL};
    struct sweep w = {
        .s = s, .b = b, .arrays = &arrays, .is = &is, .to = count, .span = {.options = &deaf}};
    sweep(&w, cores);
    arrays_close(&arrays);
    if (w.failed || points_find(s, b, o, cores, &is, &w.too_long)) return no_room(b);
    if (w.too_long) return range_too_far(b, w.too_long);
    filters_find(s, b, o, &is);
    return EVN_OK;
}

/* Adds rows behind those that there are; to the last run if it is of the same column and ends
 * there. */
static void add_run(struct slices *s, size_t *runs, size_t begin, int from, int to) {
    const size_t at = s->run[*runs].at;
    if (*runs > begin && s->run[*runs - 1].to == from)
        s->run[*runs - 1].to = to;
    else
        s->run[(*runs)++] = (struct slices_run){from, to, at};
    s->run[*runs].at = at + (size_t)(to - from); /* where the one after it begins */
}

/* Appends the runs of one column's rows, and again for each filter. */
static void column_runs(struct slices *s, size_t *runs, const struct octree *o,
                        const struct cell *leaf, int filters) {
    const int vertices = o->cell[0].end, rows = s->rows / (1 + filters);
    const size_t begin = *runs;
    for (int from = 0; from < s->rows; from += rows) {
        for (int n = 0; n < leaf->nears && o->list[leaf->near + n] < octree_cells(o); n++) {
            const struct cell *near = &o->cell[o->list[leaf->near + n]];
            add_run(s, runs, begin, from + near->begin, from + near->end);
        }
        if (vertices < rows) add_run(s, runs, begin, from + vertices, from + rows);
    }
}

evn_status ranges_runs(struct slices *s, const struct slices_options *options, const int *column) {
    const struct octree *o = options->near;
    const size_t each = 1 + (size_t)options->filters;
    size_t most = 1, runs = 0;
    for (int c = 0; c < s->columns; c++)
        most += each * ((size_t)o->cell[o->leaf[column ? column[c] : c]].nears + 1);
    s->run_start = malloc(((size_t)s->columns + 1) * sizeof *s->run_start);
    s->run = malloc(most * sizeof *s->run);
    if (!s->run_start || !s->run)
        return evn_fail(EVN_MEMORY, "matrices: no memory for the near rows of %d columns",
                        s->columns);
    s->run->at = 0;
    for (int c = 0; c < s->columns; c++) {
        s->run_start[c] = runs;
        column_runs(s, &runs, o, &o->cell[o->leaf[column ? column[c] : c]], options->filters);
    }
    s->run_start[s->columns] = runs;
    return EVN_OK;
}

evn_status ranges_room(struct slices *s, int from, int to) {
    const size_t entries = slices_before(s, to) - slices_before(s, from);
    free_all(s->first, s->count);
    s->low = from;
    s->high = to;
    s->first = malloc((entries + 1) * sizeof *s->first);
    s->count = malloc((entries + 1) * sizeof *s->count);
    if (s->first && s->count) return EVN_OK;
    s->low = s->high = 0;
    return evn_fail(EVN_MEMORY, "matrices: no memory for %zu row-vectors", entries);
}

void ranges_measure(struct slices *s, int from, int vertices) {
    for (int j = from; j < s->high; j++) {
        size_t sum = 0;
        for (struct slices_walk w = slices_walk(s, j); w.row < s->rows; slices_step(&w)) {
            const int count = s->count[w.at], last = s->first[w.at] + count - 1;
            sum += (size_t)count;
            if (count > s->longest) s->longest = count;
            if (w.row < vertices)
                s->nnz += (size_t)count;
            else if (last > s->kmax_points)
                s->kmax_points = last;
        }
        s->begin[j + 1] = s->begin[j] + sum;
    }
}
