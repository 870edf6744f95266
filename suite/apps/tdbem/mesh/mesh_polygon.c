/* Ears: three corners in a row whose triangle is of the polygon's inside and has no other corner in
 * it. One is cut off after the other, the best shaped first; in the plane on which the polygon has
 * the largest shadow. */
#include "tdbem/mesh/mesh_polygon.h"
#include "tdbem/mesh/geometry.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CORNERS = 4096 }; /* of a polygon that is cut by ears; the work is their square */

struct outline {
    const double (*x)[3];
    const int *corner;
    double (*p)[2]; /* corners in the plane, counter-clockwise */
    double none;    /* areas below are none */
    int *next, *before;
    double *worth; /* shape of the ear at a corner, at most 1; 0: it is none */
};

/* Twice the area of the shadow of a, b, c, positive counter-clockwise. */
static double turn(const struct outline *o, int a, int b, int c) {
    const double *p = o->p[a], *q = o->p[b], *r = o->p[c];
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
}

/* The plane, by the vector area. 0 if there is no area. */
static int lay_flat(struct outline *o, int n) {
    double area[3] = {0}, size = 0;
    for (int i = 0; i < n; i++) {
        double r[2][3], c[3];
        for (int k = 0; k < 3; k++) {
            r[0][k] = o->x[o->corner[i]][k] - o->x[o->corner[0]][k];
            r[1][k] = o->x[o->corner[(i + 1) % n]][k] - o->x[o->corner[0]][k];
            size = fmax(size, fabs(r[0][k]));
        }
        cross(c, r[0], r[1]);
        for (int k = 0; k < 3; k++) area[k] += c[k];
    }
    o->none = 1e-12 * size * size;
    int up = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(area[k]) > fabs(area[up])) up = k;
    if (!(fabs(area[up]) > o->none)) return 0;
    for (int i = 0; i < n; i++) {
        const double *x = o->x[o->corner[i]];
        const double u = x[(up + 1) % 3], v = x[(up + 2) % 3];
        o->p[i][0] = area[up] > 0 ? u : v;
        o->p[i][1] = area[up] > 0 ? v : u;
    }
    return 1;
}

/* Whether triangles from the first corner cover it once: all are counter-clockwise, and together
 * they do not go all the way round. */
static int fan_will_do(const struct outline *o, int n) {
    double angle = 0;
    for (int i = 1; i + 1 < n; i++) {
        const double twice = turn(o, 0, i, i + 1);
        if (!(twice > o->none)) return 0;
        double along = 0;
        for (int c = 0; c < 2; c++)
            along += (o->p[i][c] - o->p[0][c]) * (o->p[i + 1][c] - o->p[0][c]);
        angle += atan2(twice, along);
    }
    return angle < 2 * M_PI;
}

/* The first two sides that cross each other, and where. */
static int crosses_itself(const struct outline *o, int n, double where[3]) {
    for (int i = 0; i < n; i++)
        for (int j = i + 2; j < n; j++) {
            const int a = i, b = i + 1, c = j, d = (j + 1) % n;
            const double from = turn(o, c, d, a), to = turn(o, c, d, b);
            if (fabs(from) <= o->none || fabs(to) <= o->none || (from > 0) == (to > 0)) continue;
            const double low = turn(o, a, b, c), high = turn(o, a, b, d);
            if (fabs(low) <= o->none || fabs(high) <= o->none || (low > 0) == (high > 0)) continue;
            for (int k = 0; k < 3; k++)
                where[k] = o->x[o->corner[a]][k] +
                           from / (from - to) * (o->x[o->corner[b]][k] - o->x[o->corner[a]][k]);
            return 1;
        }
    return 0;
}

static double ear(const struct outline *o, int b) {
    const int a = o->before[b], c = o->next[b];
    const double twice = turn(o, a, b, c);
    if (!(twice > o->none)) return 0;
    for (int j = o->next[c]; j != a; j = o->next[j]) {
        const int v = o->corner[j]; /* a corner may be there twice, where a hole is cut open */
        if (v == o->corner[a] || v == o->corner[b] || v == o->corner[c]) continue;
        if (turn(o, a, b, j) >= -o->none && turn(o, b, c, j) >= -o->none &&
            turn(o, c, a, j) >= -o->none)
            return 0;
    }
    double sides = 0;
    const int of[] = {a, b, c, a};
    for (int e = 0; e < 3; e++)
        sides += pow(o->p[of[e]][0] - o->p[of[e + 1]][0], 2) +
                 pow(o->p[of[e]][1] - o->p[of[e + 1]][1], 2);
    return twice / sides;
}

/* The ear of the best shape; worths may be too small where a corner that was in an ear has gone, so
 * they are found again before there is said to be none. -1: none. */
static int best_ear(struct outline *o, int first, int left) {
    for (int again = 0; again < 2; again++) {
        int best = first;
        for (int i = 0, at = first; i < left; i++, at = o->next[at]) {
            if (again) o->worth[at] = ear(o, at);
            if (o->worth[at] > o->worth[best]) best = at;
        }
        if (o->worth[best] > 0) return best;
    }
    return -1;
}

static int cut_ears(struct outline *o, int n, int (*triangle)[3]) {
    for (int i = 0; i < n; i++) {
        o->next[i] = (i + 1) % n;
        o->before[i] = (i + n - 1) % n;
    }
    for (int i = 0; i < n; i++) o->worth[i] = ear(o, i);
    for (int left = n, first = 0; left > 2; left--) {
        const int best = best_ear(o, first, left);
        if (best < 0) return 0;
        const int a = o->before[best], c = o->next[best];
        memcpy(triangle[n - left], (int[3]){o->corner[a], o->corner[best], o->corner[c]},
               sizeof *triangle);
        o->next[a] = first = c;
        o->before[c] = a;
        o->worth[a] = ear(o, a);
        o->worth[c] = ear(o, c);
    }
    return 1;
}

static const char *cut(struct outline *o, int n, int (*triangle)[3], double where[3]) {
    memcpy(where, o->x[o->corner[0]], 3 * sizeof *where);
    if (!lay_flat(o, n)) return "it has no area";
    if (fan_will_do(o, n)) {
        for (int i = 1; i + 1 < n; i++)
            memcpy(triangle[i - 1], (int[3]){o->corner[0], o->corner[i], o->corner[i + 1]},
                   sizeof *triangle);
        return NULL;
    }
    if (n > CORNERS) return "it is not convex and has more than 4096 corners";
    if (crosses_itself(o, n, where)) return "its outline crosses itself";
    return cut_ears(o, n, triangle) ? NULL : "its outline touches itself or is not flat";
}

const char *polygon_cut(const double (*x)[3], const int *corner, int n, int (*triangle)[3],
                        double where[3]) {
    const size_t size = (size_t)n;
    struct outline o = {.x = x, .corner = corner, .p = malloc(size * sizeof *o.p)};
    o.next = malloc(2 * size * sizeof *o.next);
    o.worth = malloc(size * sizeof *o.worth);
    const char *why = "there is no memory for it";
    if (o.p && o.next && o.worth) {
        o.before = o.next + n;
        why = cut(&o, n, triangle, where);
    }
    free_all(o.p, o.next, o.worth);
    return why;
}
