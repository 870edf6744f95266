/* Rows are lanes. With distances r in steps, R from y to x over r, normals n of x and m of y, and
 * d = r + shift - centre, the kernels are c0 + c1 s + c2 s^2 times exp(-s d)/r, s = i omega dt:
 *
 *     rigid  -(d/dn + eta d/dt) (d/dm - beta d/dt):  with a = n.R, b = m.R, e = 3 a b - n.m
 *            c0 = e/r^2     c1 = (e - eta b - beta a)/r     c2 = (a - eta) (b - beta)
 *     soft   d/dt + damping - eta d/dn; the damping's steps end half a step sooner than the others'
 *            c0 = damping - eta a/r     c1 = 1 + damping/2 - eta a     c2 = damping/12
 *
 * The exponential is its series, so an entry is a polynomial in s. */
#include "tdbem/fast/vectors.h"
#include "tdbem/matrices/lanes.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, NORMAL = 3, WEIGHT = 6, FIELDS };

evn_status vectors_open(struct vectors *v, const struct mesh *mesh, const struct slices_options *o,
                        double highest, double accuracy) {
    *v = (struct vectors){.problem = o->problem,
                          .eta = o->eta,
                          .delta = o->delta,
                          .damping = slices_damping(mesh, o->problem, o->eta, o->delta),
                          .mesh = mesh};
    taps_make(&v->taps, o->problem, highest * o->delta, accuracy);
    return spots_open(&v->spots, mesh, o, accuracy < 3e-4);
}

void vectors_close(struct vectors *v) { spots_close(&v->spots); }

void vectors_block_close(struct vectors_block *b) {
    free_all(b->first, b->value, b->field);
    *b = (struct vectors_block){0};
}

static int spots_of(const struct vectors *v, int vertex) {
    return v->spots.start[vertex + 1] - v->spots.start[vertex];
}

/* Spots that a group of lanes has. */
static int most_spots(const struct vectors *v, const int *row, int lanes) {
    int most = 0;
    for (int l = 0; l < lanes; l++)
        if (spots_of(v, row[l]) > most) most = spots_of(v, row[l]);
    return most;
}

/* To FIELDS vectors for each spot of `lanes` rows; lanes without one have it without weight. */
static void load_rows(double *to, const struct vectors *v, const int *row, int lanes, int most) {
    for (int p = 0; p < most; p++)
        for (int l = 0; l < LANES; l++) {
            const int vertex = row[l < lanes ? l : 0], is = p < spots_of(v, vertex);
            const struct spot *s = &v->spots.spot[v->spots.start[vertex] + (is ? p : 0)];
            double *at = to + (size_t)p * FIELDS * LANES + l;
            for (int c = 0; c < 3; c++) {
                at[(X + c) * LANES] = s->x[c] / v->delta;
                at[(NORMAL + c) * LANES] = s->normal[c];
            }
            at[WEIGHT * LANES] = is ? s->weight : 0;
        }
}

/* Adds a pair of spots to the polynomial. */
INLINE void add_spots(vec sum[DEGREES], const double *x, const struct spot *y, double delta,
                      double eta, double damping, vec centre, double shift, double most,
                      int rigid) {
    vec R[3], a = vec_set(0), b = vec_set(0), both = vec_set(0), r2 = vec_set(0), c[3];
    for (int i = 0; i < 3; i++) {
        const vec n = vec_load(x + (NORMAL + i) * LANES);
        R[i] = vec_load(x + (X + i) * LANES) - y->x[i] / delta;
        r2 += R[i] * R[i];
        a += n * R[i];
        if (rigid) b += y->normal[i] * R[i];
        if (rigid) both += n * y->normal[i];
    }
    const vec r = vec_root(r2), one = vec_quotient(vec_set(1), r);
    a *= one;
    b *= one;
    if (rigid) {
        const vec e = 3 * (a * b) - both;
        c[0] = e * (one * one);
        c[1] = (e - eta * b - y->beta * a) * one;
        c[2] = (a - eta) * (b - y->beta);
    } else {
        c[0] = damping - eta * (a * one);
        c[1] = (1 + damping / 2) - eta * a;
        c[2] = vec_set(damping / 12);
    }
    const vec weight = y->weight * one * vec_load(x + WEIGHT * LANES);
    const vec late = vec_max(vec_min(centre - r - shift, vec_set(most)), vec_set(-most));
    for (int m = 0; m < 3; m++) {
        vec part = weight * c[m];
        for (int d = m; d < DEGREES; d++) {
            sum[d] += part;
            part *= late * (1.0 / (d - m + 1));
        }
    }
}

/* A column's row-vectors with a group of rows. */
INLINE void column_sums(struct vectors_block *block, const struct vectors *v, int spots,
                        const vec *centre, int column, const struct spots_source *source, size_t at,
                        int lanes, int rigid) {
    const struct taps *t = &v->taps;
    const double scale = 0.25 / M_PI / pow(v->delta, rigid ? 3 : 2); /* areas in steps */
    vec sum[DEGREES];
    for (int d = 0; d < DEGREES; d++) sum[d] = vec_set(0);
    for (int q = v->spots.start[column]; q < v->spots.start[column + 1]; q++) {
        struct spot y;
        if (!spots_turn(&y, &v->spots, &v->spots.spot[q], source)) continue;
        for (int p = 0; p < spots; p++)
            add_spots(sum, block->field + (size_t)p * FIELDS * LANES, &y, v->delta, v->eta,
                      v->damping, *centre, t->shift, t->most, rigid);
    }
    for (int k = 0; k < t->count; k++) {
        vec value = vec_set(0);
        for (int d = 0; d < DEGREES; d++) value += t->of[d][k] * sum[d];
        for (int l = 0; l < lanes; l++)
            block->value[(at + (size_t)l) * (size_t)t->count + (size_t)k] = scale * value[l];
    }
}

/* The first taps of a column with a group of rows, and the middles of all taps. */
static vec find_first(const struct vectors *v, const int *row, int lanes, int column, int image,
                      int *first) {
    double y[3];
    mirror_point(&v->mesh->mirror, image, v->mesh->x[column], y);
    vec centre = vec_set(0);
    for (int l = 0; l < LANES; l++) {
        const double *x = v->mesh->x[row[l < lanes ? l : 0]];
        double r2 = 0;
        for (int i = 0; i < 3; i++) r2 += (x[i] - y[i]) * (x[i] - y[i]);
        const double middle = sqrt(r2) / v->delta + v->taps.shift;
        const double begin = fmax(1, floor(middle + taps_begin(&v->taps) + 0.5));
        centre[l] = begin - taps_begin(&v->taps);
        if (l < lanes) first[l] = (int)begin;
    }
    return centre;
}

static evn_status make_room(struct vectors_block *b, const struct vectors *v, size_t entries,
                            size_t fields) {
    if (!b->first || entries > b->entries) {
        free_all(b->first, b->value);
        b->entries = entries;
        b->first = malloc((entries + 1) * sizeof *b->first);
        b->value = malloc((entries + 1) * (size_t)v->taps.count * sizeof *b->value);
    }
    if (!b->field || fields > b->fields) {
        free(b->field);
        b->fields = fields;
        b->field = aligned_alloc(64, (fields * sizeof *b->field + 63) / 64 * 64 + 64);
    }
    if (b->first && b->value && b->field) return EVN_OK;
    vectors_block_close(b);
    return evn_fail(EVN_MEMORY, "fast: no memory for far row-vectors");
}

evn_status vectors_make(struct vectors_block *block, const struct vectors *v,
                        const struct vectors_side *rows, const struct vectors_side *columns) {
    const size_t most = (size_t)most_spots(v, rows->vertex, rows->count);
    evn_status status =
        make_room(block, v, (size_t)rows->count * (size_t)columns->count, most * FIELDS * LANES);
    for (int i = 0; !status && i < rows->count; i += LANES) {
        const int lanes = rows->count - i < LANES ? rows->count - i : LANES;
        const int *row = rows->vertex + i, spots = most_spots(v, row, lanes);
        load_rows(block->field, v, row, lanes, spots);
        for (int j = 0; j < columns->count; j++) {
            const int column = columns->vertex[j];
            const size_t at = (size_t)j * (size_t)rows->count + (size_t)i;
            const vec centre =
                find_first(v, row, lanes, column, columns->is.image, block->first + at);
            if (v->problem == TDBEM_RIGID)
                column_sums(block, v, spots, &centre, column, &columns->is, at, lanes, 1);
            else
                column_sums(block, v, spots, &centre, column, &columns->is, at, lanes, 0);
        }
    }
    return status;
}
