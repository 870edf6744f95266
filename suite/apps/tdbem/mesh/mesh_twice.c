/* Vertices of components that lie on each other, by a table of cells. */
#include "tdbem/mesh/mesh_twice.h"
#include "tdbem/mesh/mesh_cells.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>

/* A vertex of a component, and its distance to the nearest vertex of another one. */
struct pair {
    const struct mesh *m;
    const int *of; /* component of each vertex */
    const double *x;
    int component, other; /* other -1: any but its own, which is then taken */
    double nearest;
};

static int meet(int vertex, void *arg) {
    struct pair *p = arg;
    const int c = p->of[vertex];
    if (p->other < 0 ? c == p->component : c != p->other) return 0;
    double d2 = 0;
    for (int k = 0; k < 3; k++) d2 += pow(p->m->x[vertex][k] - p->x[k], 2);
    p->other = c;
    p->nearest = fmin(p->nearest, sqrt(d2));
    return 0;
}

/* For each component the other one that its vertices lie on so far, -1: none, -2: not all of them
 * do; and how far away they are at most. */
static void follow(const struct mesh *m, const struct cells *cells, const int *of, int *other,
                   double *away) {
    for (int c = 0; c < m->components; c++) other[c] = -1;
    for (int v = 0; v < m->vertices; v++) {
        const int c = of[v];
        if (other[c] == -2) continue;
        struct pair pair = {m, of, m->x[v], c, other[c], INFINITY};
        cells_each(cells, m->x[v], meet, &pair);
        other[c] = isfinite(pair.nearest) ? pair.other : -2;
        away[c] = fmax(away[c], pair.nearest);
    }
}

static evn_status say(struct mesh *m, const char *name, const int *other, const double *away) {
    int count = 0, near = 0;
    double most = 0;
    for (int c = 0; c < m->components; c++) {
        if (other[c] < 0) continue;
        count += away[c] <= 1e-6 * m->longest;
        near += away[c] > 1e-6 * m->longest;
        if (away[c] > 1e-6 * m->longest) most = fmax(most, away[c]);
    }
    if (count)
        return evn_fail(EVN_USAGE,
                        "%s: a body is there twice: each vertex of %d of %d components lies on a "
                        "vertex of another one; delete the copy",
                        name, count, m->components);
    if (near)
        mesh_note(m,
                  "%d components nearly coincide with another one: at most %.3g between them, with "
                  "a mean edge of %.3g; is a body there twice?",
                  near, most, m->h_mean);
    return EVN_OK;
}

evn_status mesh_twice(struct mesh *m, const char *name, const int *component) {
    double low[3] = {INFINITY, INFINITY, INFINITY};
    struct cells cells = {0};
    int *of = malloc((size_t)m->vertices * sizeof *of);
    int *other = malloc((size_t)m->components * sizeof *other);
    double *away = calloc((size_t)m->components, sizeof *away);
    evn_status status = of && other && away
                            ? EVN_OK
                            : evn_fail(EVN_MEMORY, "mesh: no memory for %d vertices", m->vertices);
    for (int v = 0; v < m->vertices; v++)
        for (int k = 0; k < 3; k++) low[k] = fmin(low[k], m->x[v][k]);
    if (!status)
        status =
            cells_open(&cells, (const double(*)[3])m->x, (size_t)m->vertices, low, 0.1 * m->h_mean);
    if (!status) {
        for (int t = 0; t < m->triangles; t++)
            for (int e = 0; e < 3; e++) of[m->corner[t][e]] = component[t];
        for (int v = 0; v < m->vertices; v++) cells_add(&cells, v);
        follow(m, &cells, of, other, away);
        status = say(m, name, other, away);
    }
    cells_close(&cells);
    free_all(of, other, away);
    return status;
}
