/* Row-vectors of any rows in any columns: all pairs of the triangles around the rows with those
 * around the columns, each once. */
#include "tdbem/matrices/slices_inside.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

struct slices_body {
    struct slices shape; /* what ranges depend on */
    struct slices_options options;
    enum shells_kind kind;
    double damping, scale;
    struct body body;
    struct quadrature quadrature;
};

evn_status slices_body_open(struct slices_body **out, const struct mesh *mesh,
                            const struct slices_options *o) {
    *out = NULL;
    evn_status status = options_check(o, mesh);
    if (status) return status;
    if (o->beta) return evn_fail(EVN_USAGE, "matrices: entries are made without admittances");
    if (mesh->mirror.axes)
        return evn_fail(EVN_USAGE, "matrices: entries and blocks are made without planes");
    struct slices_body *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "matrices: no memory");
    s->options = *o;
    s->shape = (struct slices){.problem = o->problem, .eta = o->eta, .delta = o->delta};
    s->kind = options_kind(o);
    s->scale = options_scale(o);
    s->damping = slices_damping(mesh, o->problem, o->eta, o->delta);
    status = ranges_kmax(&s->shape.kmax, mesh, o);
    if (!status) status = body_open(&s->body, mesh, o->delta);
    if (!status) status = quadrature_open(&s->quadrature, o->rule, o->quad);
    if (!status) {
        *out = s;
        return EVN_OK;
    }
    slices_body_close(s);
    return status;
}

void slices_body_close(struct slices_body *s) {
    if (!s) return;
    quadrature_close(&s->quadrature);
    body_close(&s->body);
    free(s);
}

/* The triangles around rows or columns, in the order of places, and which row or column each of
 * their corners is, -1 if none. */
struct side {
    int count;
    int *place;
    int (*of)[3];
};

struct slices_desk {
    const struct slices_body *body; /* whose sizes the room has */
    struct shells_result result;
    int *mark; /* [vertices]: which row or column a vertex is, -1 */
    struct side row, column;
    int *outer; /* one list of places a nearness */
    size_t vectors, values, points;
    double (*point)[3]; /* in units of delta, of the rows that are points */
    int *point_row;
};

static void side_close(struct side *s) { free_all(s->place, s->of); }

static void desk_close(struct slices_desk *d) {
    if (!d) return;
    shells_close(&d->result);
    free(d->mark);
    side_close(&d->row);
    side_close(&d->column);
    free_all(d->outer, d->point, d->point_row, d);
}

static int side_open(struct side *s, size_t triangles) {
    s->place = malloc(triangles * sizeof *s->place);
    s->of = malloc(triangles * sizeof *s->of);
    return s->place && s->of;
}

static evn_status desk_open(struct slices_desk **out, const struct slices_body *body) {
    struct slices_desk *d = aligned_alloc(64, (sizeof *d + 63) / 64 * 64); /* it has vectors */
    const size_t t = (size_t)body->body.triangles, v = (size_t)body->body.vertices;
    int ok = d != NULL;
    if (ok) {
        memset(d, 0, sizeof *d);
        d->body = body;
        d->mark = malloc(v * sizeof *d->mark);
        d->outer = malloc(NEARNESS * t * sizeof *d->outer);
        ok = d->mark && d->outer && side_open(&d->row, t) && side_open(&d->column, t) &&
             !shells_open(&d->result, UINT8_MAX);
    }
    for (size_t i = 0; ok && i < v; i++) d->mark[i] = -1;
    *out = d;
    if (ok) return EVN_OK;
    desk_close(d);
    *out = NULL;
    return evn_fail(EVN_MEMORY, "matrices: no memory for blocks of %zu triangles", t);
}

void slices_block_close(struct slices_block *block) {
    desk_close(block->desk);
    free_all(block->first, block->count, block->begin, block->value);
    memset(block, 0, sizeof *block);
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int corner_of(const int corner[3], int v) {
    return corner[0] == v ? 0 : corner[1] == v ? 1 : 2;
}

/* A triangle is listed at the first of its corners that is wanted. */
static void side_fill(struct side *s, const struct body *b, int *mark, const int *vertex,
                      int count) {
    s->count = 0;
    for (int n = 0; n < count; n++)
        if (vertex[n] < b->vertices) mark[vertex[n]] = n;
    for (int n = 0; n < count; n++) {
        const int v = vertex[n];
        for (int t = v < b->vertices ? b->ring_start[v] : 0;
             v < b->vertices && t < b->ring_start[v + 1]; t++) {
            const int *corner = b->corner[b->ring[t]];
            int listed = 0;
            for (int e = 0; e < corner_of(corner, v); e++) listed |= mark[corner[e]] >= 0;
            if (!listed) s->place[s->count++] = b->ring[t];
        }
    }
    qsort(s->place, (size_t)s->count, sizeof *s->place, by_number);
    for (int t = 0; t < s->count; t++)
        for (int e = 0; e < 3; e++) s->of[t][e] = mark[b->corner[s->place[t]][e]];
    for (int n = 0; n < count; n++)
        if (vertex[n] < b->vertices) mark[vertex[n]] = -1;
}

static evn_status block_points(struct slices_desk *d, const int *row, int rows) {
    const struct slices_body *s = d->body;
    const struct body *b = &s->body;
    size_t n = 0;
    for (int i = 0; i < rows; i++) n += row[i] >= b->vertices;
    free_all(d->point, d->point_row);
    d->points = 0;
    d->point = malloc((n + 1) * sizeof *d->point);
    d->point_row = malloc((n + 1) * sizeof *d->point_row);
    if (!d->point || !d->point_row)
        return evn_fail(EVN_MEMORY, "matrices: no memory for the points of a block");
    for (int i = 0; i < rows; i++) {
        if (row[i] < b->vertices) continue;
        const double *x = s->options.point[row[i] - b->vertices];
        for (int c = 0; c < 3; c++) d->point[d->points][c] = (x[c] - b->middle[c]) / b->delta;
        d->point_row[d->points++] = i;
    }
    return EVN_OK;
}

static evn_status block_ranges(struct slices_block *block, const int *row, const int *column) {
    const struct slices_desk *d = block->desk;
    const struct slices_body *s = d->body;
    size_t at = 0, point = 0;
    block->begin[0] = 0;
    for (int i = 0; i < block->rows; i++) {
        const double *x = row[i] < s->body.vertices ? NULL : d->point[point++];
        for (int j = 0; j < block->columns; j++, at++) {
            const int n = range_one(&block->first[at], &block->count[at], &s->shape, &s->body,
                                    row[i], x, column[j]);
            if (n) return range_too_far(&s->body, n);
            block->begin[at + 1] = block->begin[at] + block->count[at];
        }
    }
    return EVN_OK;
}

/* The rooms grow only: those of the largest block so far are kept. */
static evn_status block_room(struct slices_block *block) {
    struct slices_desk *d = block->desk;
    const size_t vectors = (size_t)block->rows * (size_t)block->columns;
    if (block->first && vectors <= d->vectors) return EVN_OK;
    free_all(block->first, block->count, block->begin);
    d->vectors = vectors;
    block->first = malloc((vectors + 1) * sizeof *block->first);
    block->count = malloc((vectors + 1) * sizeof *block->count);
    block->begin = malloc((vectors + 1) * sizeof *block->begin);
    if (block->first && block->count && block->begin) return EVN_OK;
    d->vectors = 0;
    return evn_fail(EVN_MEMORY, "matrices: no memory for a block of %zu row-vectors", vectors);
}

static evn_status block_values(struct slices_block *block) {
    struct slices_desk *d = block->desk;
    const size_t values = block->begin[(size_t)block->rows * (size_t)block->columns];
    if (!block->value || values > d->values) {
        free(block->value);
        block->value = malloc((values + 1) * sizeof *block->value);
        d->values = values;
    }
    if (!block->value)
        return evn_fail(EVN_MEMORY, "matrices: no memory for a block of %zu values", values);
    memset(block->value, 0, values * sizeof *block->value);
    return EVN_OK;
}

/* Adds `count` values, `step` apart, from k0 on; what is outside of the range carries nothing. */
static void add(struct slices_block *block, int i, int j, int k0, const double *value, int step,
                int count, double factor) {
    const size_t at = (size_t)i * (size_t)block->columns + (size_t)j;
    const int shift = k0 - block->first[at], end = block->count[at];
    double *to = block->value + block->begin[at];
    for (int m = shift < 0 ? -shift : 0; m < count && m + shift < end; m++)
        to[m + shift] += factor * value[m * step];
}

/* One lane's pair: outer hat a against inner hat b to (row of a, column of b), or, turned, to (row
 * of b, column of a). A triangle with itself, where the matrices are symmetric: half of each. */
static void add_pair(struct slices_block *block, const int *outer, const int *inner, int lane,
                     int turned, int half) {
    const struct shells_result *r = &block->desk->result;
    const double factor = block->desk->body->scale * (half ? 0.5 : 1);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const double *value = (const double *)(r->value + 3 * a + b) + lane;
            const int i = turned ? inner[b] : outer[a], j = turned ? outer[a] : inner[b];
            const int k0 = (int)r->first[lane];
            if (i >= 0 && j >= 0) add(block, i, j, k0, value, 9 * LANES, r->count, factor);
            if (half && outer[b] >= 0 && inner[a] >= 0)
                add(block, outer[b], inner[a], k0, value, 9 * LANES, r->count, factor);
        }
}

/* Adds the pairs of an inner triangle with the listed outer ones, numbers in `out`. */
static void add_pairs(struct slices_block *block, const struct side *out, const int *list,
                      int count, const struct side *in, int q, enum nearness nearness, int turned) {
    const struct slices_desk *d = block->desk;
    const struct slices_body *s = d->body;
    const struct rule *rule = &s->quadrature.rule[nearness];
    struct shells_result *r = &block->desk->result;
    for (int at = 0; at < count; at += LANES) {
        int place[LANES], number[LANES];
        for (int l = 0; l < LANES; l++) {
            number[l] = list[at + l < count ? at + l : count - 1];
            place[l] = out->place[number[l]];
        }
        struct shells_outer outer;
        outer_load(&outer, &s->body, place, in->place[q]);
        for (int from = 0; from < rule->points; from += SHELLS_BATCH) {
            const int points = rule->points - from;
            shells_pair(r, s->kind, &outer, &s->body.inner[in->place[q]], s->options.eta,
                        s->damping, rule, from, points < SHELLS_BATCH ? points : SHELLS_BATCH);
            for (int l = 0; l < LANES && at + l < count; l++) {
                const int same = shells_symmetric(s->kind) && place[l] == in->place[q];
                add_pair(block, out->of[number[l]], in->of[q], l, turned, same);
            }
        }
    }
}

/* All pairs of outer and inner triangles; `symmetric`: each pair is computed with the triangle of
 * the lower number as the outer one, a triangle with itself not turned. */
static void add_sides(struct slices_block *block, const struct side *out, const struct side *in,
                      int turned) {
    const struct slices_desk *d = block->desk;
    const struct body *b = &d->body->body;
    const int symmetric = shells_symmetric(d->body->kind);
    for (int q = 0; q < in->count; q++) {
        int count[NEARNESS] = {0};
        const int number = b->triangle[in->place[q]];
        for (int p = 0; p < out->count; p++) {
            const int other = b->triangle[out->place[p]];
            if (symmetric && (turned ? other >= number : other > number)) continue;
            const enum nearness n = pair_nearness(b, out->place[p], in->place[q]);
            d->outer[(size_t)n * (size_t)b->triangles + (size_t)count[n]++] = p;
        }
        for (int n = 0; n < NEARNESS; n++)
            add_pairs(block, out, d->outer + (size_t)n * (size_t)b->triangles, count[n], in, q,
                      (enum nearness)n, turned);
    }
}

/* The mass terms: see slices.c. */
static void add_mass(struct slices_block *block) {
    const struct slices_desk *d = block->desk;
    const struct slices_options *o = &d->body->options;
    const int rigid = o->problem == TDBEM_RIGID;
    const double part = rigid ? 2 * o->delta : 2;
    for (int p = 0, q = 0; p < d->row.count && q < d->column.count;) {
        const int place = d->row.place[p], other = d->column.place[q];
        if (place == other) {
            const double area = d->body->body.inner[place].area * o->delta * o->delta;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) {
                    const double g = area / (a == b ? 6 : 12) * o->eta / part;
                    const int i = d->row.of[p][a], j = d->column.of[q][b];
                    if (i >= 0 && j >= 0) add(block, i, j, 0, &g, 1, 1, 1);
                    if (i >= 0 && j >= 0 && rigid) add(block, i, j, 1, &g, 1, 1, -1);
                }
        }
        p += place <= other;
        q += other <= place;
    }
}

/* The rows that are points, LANES of them at a time. */
static void add_points(struct slices_block *block) {
    const struct slices_desk *d = block->desk;
    const struct slices_body *s = d->body;
    const int single = s->options.problem == TDBEM_SOFT, points = (int)d->points;
    struct shells_result *r = &block->desk->result;
    for (int from = 0; from < points; from += LANES) {
        vec x[3];
        for (int l = 0; l < LANES; l++)
            for (int c = 0; c < 3; c++)
                x[c][l] = d->point[from + l < points ? from + l : points - 1][c];
        for (int q = 0; q < d->column.count; q++) {
            shells_potential(r, single, x, &s->body.inner[d->column.place[q]]);
            for (int l = 0; l < LANES && from + l < points; l++)
                for (int e = 0; e < 3; e++) {
                    const int i = d->point_row[from + l], j = d->column.of[q][e];
                    const double *value = (const double *)(r->value + e) + l;
                    if (j >= 0)
                        add(block, i, j, (int)r->first[l], value, 3 * LANES, r->count,
                            single ? s->options.delta : 1);
                }
        }
    }
}

static evn_status block_check(const struct slices_body *s, const int *row, int rows,
                              const int *column, int columns) {
    const int vertices = s->body.vertices, all = vertices + s->options.points;
    for (int i = 0; i < rows; i++)
        if (row[i] < 0 || row[i] >= all)
            return evn_fail(EVN_USAGE, "matrices: row %d of a block is %d, expected 0 to %d", i,
                            row[i], all - 1);
    for (int j = 0; j < columns; j++)
        if (column[j] < 0 || column[j] >= vertices)
            return evn_fail(EVN_USAGE, "matrices: column %d of a block is %d, expected 0 to %d", j,
                            column[j], vertices - 1);
    return EVN_OK;
}

/* Room for the blocks of this body. */
static evn_status block_desk(struct slices_block *block, const struct slices_body *s) {
    if (block->desk && block->desk->body == s) return EVN_OK;
    slices_block_close(block);
    return desk_open(&block->desk, s);
}

evn_status slices_block(struct slices_block *block, const struct slices_body *s, const int *row,
                        int rows, const int *column, int columns) {
    evn_status status = block_check(s, row, rows, column, columns);
    if (!status) status = block_desk(block, s);
    if (status) return status;
    struct slices_desk *d = block->desk;
    block->rows = rows;
    block->columns = columns;
    side_fill(&d->row, &s->body, d->mark, row, rows);
    side_fill(&d->column, &s->body, d->mark, column, columns);
    status = block_points(d, row, rows);
    if (!status) status = block_room(block);
    if (!status) status = block_ranges(block, row, column);
    if (!status) status = block_values(block);
    if (status) return status;
    const int turned = shells_turned(s->kind);
    if (!turned) add_sides(block, &d->row, &d->column, 0);
    if (turned || shells_symmetric(s->kind)) add_sides(block, &d->column, &d->row, 1);
    if (!shells_symmetric(s->kind)) add_mass(block);
    add_points(block);
    return EVN_OK;
}
