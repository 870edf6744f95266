/* Single entries, for looking up and for comparing with other computations: the same integrals as
 * the slices', with only the triangle pairs that these entries need, and before the skew lag. */
#include "tdbem/matrices/slices_inside.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct look {
    const struct body *body;
    const struct slices_options *options;
    enum shells_kind kind;
    double damping;
    struct quadrature quadrature;
    struct shells_result result;
    double *row; /* [kmax + 1] of the entry at hand */
    int kmax;
};

/* Adds N_a of the outer triangle against N_b of the inner one, for one pair of places. */
static void add_pair(struct look *w, int outer, int inner, int a, int b, double factor) {
    int lane[LANES];
    struct shells_outer o;
    for (int l = 0; l < LANES; l++) lane[l] = outer;
    outer_load(&o, w->body, lane, inner);
    const struct rule *rule = &w->quadrature.rule[pair_nearness(w->body, outer, inner)];
    struct shells_result *r = &w->result;
    for (int from = 0; from < rule->points; from += SHELLS_BATCH) {
        int points = rule->points - from < SHELLS_BATCH ? rule->points - from : SHELLS_BATCH;
        shells_pair(r, w->kind, &o, &w->body->inner[inner], w->options->eta, w->damping, rule, from,
                    points);
        for (int m = 0; m < r->count; m++) {
            int k = (int)r->first[0] + m;
            if (k <= w->kmax) w->row[k] += factor * r->value[9 * m + 3 * a + b][0];
        }
    }
}

static int corner_of(const struct body *b, int place, int v) {
    const int *c = b->corner[place];
    return c[0] == v ? 0 : c[1] == v ? 1 : 2;
}

static void matrix_row(struct look *w, int i, int j) {
    const struct body *b = w->body;
    const double delta = w->options->delta;
    const double scale = options_scale(w->options);
    const int rigid = w->options->problem == TDBEM_RIGID;
    for (int s = b->ring_start[i]; s < b->ring_start[i + 1]; s++)
        for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++) {
            const int p = b->ring[s], q = b->ring[t];
            const int a = corner_of(b, p, i), c = corner_of(b, q, j);
            if (shells_turned(w->kind)) {
                add_pair(w, q, p, c, a, scale);
            } else if (!shells_symmetric(w->kind) || b->triangle[p] < b->triangle[q]) {
                add_pair(w, p, q, a, c, scale);
            } else if (p == q) {
                add_pair(w, p, p, a, c, 0.5 * scale);
                add_pair(w, p, p, c, a, 0.5 * scale);
            } else {
                add_pair(w, q, p, c, a, scale);
            }
            if (!shells_symmetric(w->kind) && p == q) {
                double area = b->inner[p].area * delta * delta;
                double g = area / (a == c ? 6 : 12) * w->options->eta / (rigid ? 2 * delta : 2);
                w->row[0] += g;
                if (rigid) w->row[1] -= g;
            }
        }
}

static void point_row(struct look *w, const double point[3], int j) {
    const struct body *b = w->body;
    struct shells_result *r = &w->result;
    const int single = w->options->problem == TDBEM_SOFT;
    const double scale = single ? w->options->delta : 1;
    vec x[3];
    for (int c = 0; c < 3; c++) x[c] = vec_set((point[c] - b->middle[c]) / b->delta);
    for (int t = b->ring_start[j]; t < b->ring_start[j + 1]; t++) {
        const int q = b->ring[t], e = corner_of(b, q, j);
        shells_potential(r, single, x, &b->inner[q]);
        for (int m = 0; m < r->count; m++) {
            int k = (int)r->first[0] + m;
            if (k <= w->kmax) w->row[k] += scale * r->value[3 * m + e][0];
        }
    }
}

static int by_place(const void *p, const void *q) {
    const struct slices_entry *a = *(const struct slices_entry *const *)p;
    const struct slices_entry *b = *(const struct slices_entry *const *)q;
    if (a->j != b->j) return a->j < b->j ? -1 : 1;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    return a < b ? -1 : a > b;
}

static evn_status look_up(struct look *w, struct slices_entry **sorted, int count) {
    int i = -1, j = -1;
    for (int e = 0; e < count; e++) {
        struct slices_entry *s = sorted[e];
        if (s->i != i || s->j != j) {
            i = s->i;
            j = s->j;
            memset(w->row, 0, ((size_t)w->kmax + 1) * sizeof *w->row);
            if (i < w->body->vertices)
                matrix_row(w, i, j);
            else
                point_row(w, w->options->point[i - w->body->vertices], j);
        }
        s->value = s->k <= w->kmax ? w->row[s->k] : 0;
    }
    return EVN_OK;
}

evn_status slices_entries(struct slices_entry *entry, int count, const struct mesh *mesh,
                          const struct slices_options *o) {
    evn_status status = options_check(o, mesh);
    if (status) return status;
    if (mesh->mirror.axes)
        return evn_fail(EVN_USAGE, "matrices: entries are looked up without planes");
    if (o->beta) return evn_fail(EVN_USAGE, "matrices: entries are looked up without admittances");
    for (int e = 0; e < count; e++) {
        const struct slices_entry *s = &entry[e];
        if (s->k < 0 || s->i < 0 || s->j < 0 || s->i >= mesh->vertices + o->points ||
            s->j >= mesh->vertices)
            return evn_fail(
                EVN_USAGE,
                "matrices: entry %d: k %d, i %d, j %d, expected k from 0, i below %d, j "
                "below %d",
                e, s->k, s->i, s->j, mesh->vertices + o->points, mesh->vertices);
    }
    double far = mesh->longest;
    for (int p = 0; p < o->points; p++)
        for (int v = 0; v < mesh->vertices; v += 1) {
            double d2 = 0;
            for (int c = 0; c < 3; c++) {
                double d = o->point[p][c] - mesh->x[v][c];
                d2 += d * d;
            }
            far = fmax(far, sqrt(d2));
        }
    if (!(far / o->delta < UINT16_MAX) || !(mesh->h_max / o->delta < 1000))
        return evn_fail(EVN_USAGE,
                        "matrices: delta %.3g is too small for distances of %.3g and triangles of "
                        "%.3g",
                        o->delta, far, mesh->h_max);
    struct look w = {.options = o,
                     .kind = options_kind(o),
                     .damping = slices_damping(mesh, o->problem, o->eta, o->delta)};
    struct body body;
    status = body_open(&body, mesh, o->delta);
    if (status) return status;
    w.body = &body;
    w.kmax = (int)(far / o->delta) + 4;
    w.row = malloc(((size_t)w.kmax + 1) * sizeof *w.row);
    struct slices_entry **sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    if (!w.row || !sorted)
        status = evn_fail(EVN_MEMORY, "matrices: no memory for %d entries", count);
    if (!status) status = quadrature_open(&w.quadrature, o->rule, o->quad);
    if (!status) status = shells_open(&w.result, (int)(2 * mesh->h_max / o->delta) + 8);
    if (!status) {
        for (int e = 0; e < count; e++) sorted[e] = &entry[e];
        qsort(sorted, (size_t)count, sizeof *sorted, by_place);
        status = look_up(&w, sorted, count);
    }
    shells_close(&w.result);
    quadrature_close(&w.quadrature);
    body_close(&body);
    free(w.row);
    free(sorted);
    return status;
}
