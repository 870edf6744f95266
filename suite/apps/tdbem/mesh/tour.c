/* 2-opt: a stretch of the tour is turned round where that makes it shorter. Tried are pairs of ends
 * that an edge of the mesh joins; a vertex is left alone until one of its two neighbours on the
 * tour has changed. */
#include "tdbem/mesh/tour.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tour {
    const struct mesh *m;
    int *at, *place;    /* vertices along the tour, and where each is */
    int *begin, *joins; /* vertices that an edge joins with v: joins[begin[v]], .. */
    char *done;
};

/* 0 beyond an end of the tour */
static double length(const struct tour *t, int p, int q) {
    const int n = t->m->vertices;
    if (p < 0 || q < 0 || p >= n || q >= n) return 0;
    const double *a = t->m->x[t->at[p]], *b = t->m->x[t->at[q]];
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* Places p to q, p < q, the other way round. */
static void turn(struct tour *t, int p, int q) {
    const int end[] = {p - 1, p, q, q + 1};
    for (int i = 0; i < 4; i++)
        if (end[i] >= 0 && end[i] < t->m->vertices) t->done[t->at[end[i]]] = 0;
    for (; p < q; p++, q--) {
        const int v = t->at[p];
        t->at[p] = t->at[q];
        t->at[q] = v;
        t->place[t->at[p]] = p;
        t->place[v] = q;
    }
}

/* Makes v and w neighbours, v's step forward (1) or back (-1) being given up, if that pays. */
static int join(struct tour *t, int v, int w, int step) {
    const int p = t->place[v], q = t->place[w];
    const double gain = length(t, p, p + step) + length(t, q, q + step) - length(t, p, q) -
                        length(t, p + step, q + step);
    if (!(gain > 1e-9 * length(t, p, q))) return 0;
    if (step > 0)
        turn(t, (p < q ? p : q) + 1, p < q ? q : p);
    else
        turn(t, p < q ? p : q, (p < q ? q : p) - 1);
    return 1;
}

static int improve(struct tour *t, int v) {
    for (int e = t->begin[v]; e < t->begin[v + 1]; e++)
        if (join(t, v, t->joins[e], 1) || join(t, v, t->joins[e], -1)) return 1;
    return 0;
}

/* Each edge is of two triangles, which go along it in opposite directions. */
static void find_joins(struct tour *t) {
    const struct mesh *m = t->m;
    for (int i = 0; i < 3 * m->triangles; i++) t->begin[m->corner[i / 3][i % 3] + 1]++;
    for (int v = 0; v < m->vertices; v++) t->begin[v + 1] += t->begin[v];
    int *next = t->place; /* not needed yet */
    memcpy(next, t->begin, sizeof *next * (size_t)m->vertices);
    for (int i = 0; i < 3 * m->triangles; i++)
        t->joins[next[m->corner[i / 3][i % 3]]++] = m->corner[i / 3][(i + 1) % 3];
}

evn_status mesh_tour(const struct mesh *m, int *at) {
    const size_t n = (size_t)m->vertices;
    struct tour t = {m,
                     at,
                     malloc(n * sizeof *t.place),
                     calloc(n + 1, sizeof *t.begin),
                     malloc(3 * (size_t)m->triangles * sizeof *t.joins),
                     calloc(n, 1)};
    const int ok = t.place && t.begin && t.joins && t.done;
    if (ok) {
        find_joins(&t);
        for (int p = 0; p < m->vertices; p++) t.place[at[p]] = p;
        for (int changed = 1; changed;) {
            changed = 0;
            for (int v = 0; v < m->vertices; v++) {
                if (t.done[v]) continue;
                t.done[v] = 1;
                while (improve(&t, v)) changed = 1;
            }
        }
    }
    free_all(t.place, t.begin, t.joins, t.done);
    return ok ? EVN_OK : evn_fail(EVN_MEMORY, "order: no memory for %d vertices", m->vertices);
}
