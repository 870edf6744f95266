/* Generation of the slices.
 *
 * Work comes in tiles, pairs of patches of some tens of triangles. A tile adds to the row-vectors
 * between the vertices of its two patches, at once in their final place, which is known since all
 * ranges were found first. Two tiles whose patches touch would meet in an entry, so tiles are
 * coloured: colour after colour, all tiles of one colour at the same time. No pair is computed
 * twice, there are no atomics, and the order in which contributions meet in an entry does not
 * depend on the number of threads. */
#include "slices_inside.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#    include <omp.h>
#endif

/* ---- patches, tiles, colours ---- */

struct plan {
    int patches, size;        /* patch p has places p*size .. */
    int *touch_start, *touch; /* patches that share a vertex, itself among them, ascending */
    int colours;
    size_t *colour_start; /* tiles of each colour */
    struct tile {
        int a, b; /* a <= b */
    } * tile;
};

/* Patches depend on the mesh only: with fewer triangles they are smaller, so that a colour has
 * tiles enough for several threads. */
static int patch_size(int triangles) {
    int size = triangles / 48 / 8 * 8;
    return size < 16 ? 16 : size > 64 ? 64 : size;
}

static int compare_ints(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int patches_touch(struct plan *p, const struct body *b) {
    size_t room = 16 * (size_t)p->patches + 64, n = 0;
    p->touch_start = malloc(((size_t)p->patches + 1) * sizeof *p->touch_start);
    p->touch = malloc(room * sizeof *p->touch);
    int *mark = malloc((size_t)p->patches * sizeof *mark);
    int ok = p->touch_start && p->touch && mark;
    for (int i = 0; ok && i < p->patches; i++) mark[i] = -1;
    for (int i = 0; ok && i < p->patches; i++) {
        p->touch_start[i] = (int)n;
        int end = (i + 1) * p->size < b->triangles ? (i + 1) * p->size : b->triangles;
        for (int place = i * p->size; place < end; place++)
            for (int e = 0; e < 3; e++) {
                int v = b->corner[place][e];
                for (int r = b->ring_start[v]; r < b->ring_start[v + 1]; r++) {
                    int other = b->ring[r] / p->size;
                    if (mark[other] == i) continue;
                    mark[other] = i;
                    if (n == room) {
                        int *more = realloc(p->touch, 2 * room * sizeof *more);
                        if (!more) {
                            free(mark);
                            return 0;
                        }
                        p->touch = more;
                        room *= 2;
                    }
                    p->touch[n++] = other;
                }
            }
        qsort(p->touch + p->touch_start[i], n - (size_t)p->touch_start[i], sizeof *p->touch,
              compare_ints);
    }
    if (ok) p->touch_start[p->patches] = (int)n;
    free(mark);
    return ok;
}

static size_t tile_number(int a, int b) { /* a <= b */
    return (size_t)b * ((size_t)b + 1) / 2 + (size_t)a;
}

enum { COLOURS = 4096 };

/* Greedy: the lowest colour that no tile in the way has. Tiles {a,b} and {c,d} are in each other's
 * way if a touches c and b touches d, or a touches d and b touches c. */
static int colour_tiles(struct plan *p) {
    const size_t tiles = tile_number(0, p->patches);
    uint16_t *colour = malloc(tiles * sizeof *colour);
    size_t *used = calloc(COLOURS, sizeof *used);
    p->colour_start = calloc(COLOURS + 1, sizeof *p->colour_start);
    p->tile = malloc(tiles * sizeof *p->tile);
    int ok = colour && used && p->colour_start && p->tile;
    for (size_t t = 0; ok && t < tiles; t++) colour[t] = UINT16_MAX;
    size_t stamp = 0;
    for (int b = 0; ok && b < p->patches; b++)
        for (int a = 0; a <= b; a++) {
            stamp++;
            for (int i = p->touch_start[a]; i < p->touch_start[a + 1]; i++)
                for (int j = p->touch_start[b]; j < p->touch_start[b + 1]; j++) {
                    int c = p->touch[i], d = p->touch[j];
                    size_t other = c <= d ? tile_number(c, d) : tile_number(d, c);
                    if (colour[other] < COLOURS) used[colour[other]] = stamp;
                }
            int free_colour = 0;
            while (free_colour < COLOURS && used[free_colour] == stamp) free_colour++;
            if (free_colour == COLOURS) ok = 0;
            colour[tile_number(a, b)] = (uint16_t)free_colour;
            if (ok) p->colour_start[free_colour + 1]++;
            if (free_colour + 1 > p->colours) p->colours = free_colour + 1;
        }
    for (int c = 0; ok && c < p->colours; c++) {
        p->colour_start[c + 1] += p->colour_start[c];
        used[c] = p->colour_start[c];
    }
    for (int b = 0; ok && b < p->patches; b++)
        for (int a = 0; a <= b; a++)
            p->tile[used[colour[tile_number(a, b)]]++] = (struct tile){a, b};
    free(colour);
    free(used);
    return ok;
}

static void plan_close(struct plan *p) {
    free(p->touch_start);
    free(p->touch);
    free(p->colour_start);
    free(p->tile);
}

static evn_status plan_open(struct plan *p, const struct body *b) {
    memset(p, 0, sizeof *p);
    p->size = patch_size(b->triangles);
    p->patches = (b->triangles + p->size - 1) / p->size;
    if (patches_touch(p, b) && colour_tiles(p)) return EVN_OK;
    plan_close(p);
    return evn_fail(EVN_MEMORY, "matrices: no memory for the plan of %d patches", p->patches);
}

/* ---- one tile ---- */

struct job {
    struct slices *s;
    const struct body *body;
    const struct quadrature *quadrature;
    enum shells_kind kind;
    double eta, scale; /* delta, or delta^3 */
    /* [j * rows + i]: values of column j before row i, and the range, in one place */
    struct place {
        uint32_t at;
        uint16_t first;
        uint8_t count;
    } * place;
};

/* Adds `values`, those of k0, k0+1, .., to row-vector (i,j). k outside of the range comes from
 * rounding at a multiple of delta and carries nothing. */
#if LANES == 8
INLINE void add_row(const struct job *job, int i, int j, int k0, vec values) {
    const struct place place = job->place[(size_t)j * (size_t)job->s->rows + (size_t)i];
    const int low = place.first - k0, high = low + place.count;
    if (low >= LANES || high <= 0) return;
    const unsigned below = low > 0 ? (1u << low) - 1 : 0,
                   upto = high < LANES ? (1u << high) - 1 : 0xff;
    const __mmask8 mine = (__mmask8)(upto & ~below);
    double *at = job->s->value + (ptrdiff_t)(job->s->begin[j] + place.at) - low;
    _mm512_mask_storeu_pd(at, mine, _mm512_maskz_loadu_pd(mine, at) + (__m512d)values);
}
#else
INLINE void add_row(const struct job *job, int i, int j, int k0, const double *values, int count) {
    const struct place place = job->place[(size_t)j * (size_t)job->s->rows + (size_t)i];
    double *at = job->s->value + job->s->begin[j] + place.at;
    for (int m = 0; m < count; m++) {
        const int l = k0 + m - place.first;
        if (l >= 0 && l < place.count) at[l] += values[m * 9 * LANES];
    }
}
#endif

/* Adds the pairs of the first `lanes` outer triangles. Where the matrices are symmetric each value
 * goes to (i,j) and (j,i) at once, so that both have the same sum in the same order; a triangle
 * with itself has half of each. */
static void scatter(const struct job *job, struct shells_result *r, const int *lane, int lanes,
                    int inner, int symmetric) {
    const int *col = job->body->corner[inner];
    vec factor = vec_set(job->scale);
    for (int l = 0; l < lanes; l++)
        if (symmetric && lane[l] == inner) factor[l] *= 0.5;
    for (int i = 0; i < 9 * r->count; i++) r->value[i] *= factor;
#if LANES == 8
    int first[LANES];
    for (int l = 0; l < LANES; l++) first[l] = (int)r->first[l];
    for (int m = 0; m < r->count; m += LANES)
        for (int b = 0; b < 3; b++)
            for (int a = 0; a < 3; a++) {
                vec t[LANES];
                for (int n = 0; n < LANES; n++)
                    t[n] = m + n < r->count ? r->value[9 * (m + n) + 3 * a + b] : vec_set(0);
                vec_transpose(t);
                for (int l = 0; l < lanes; l++) {
                    const int i = job->body->corner[lane[l]][a], k0 = first[l] + m;
                    add_row(job, i, col[b], k0, t[l]);
                    if (symmetric) add_row(job, col[b], i, k0, t[l]);
                }
            }
#else
    for (int l = 0; l < lanes; l++)
        for (int b = 0; b < 3; b++)
            for (int a = 0; a < 3; a++) {
                const int i = job->body->corner[lane[l]][a], k0 = (int)r->first[l];
                const double *values = (const double *)(r->value + 3 * a + b) + l;
                add_row(job, i, col[b], k0, values, r->count);
                if (symmetric) add_row(job, col[b], i, k0, values, r->count);
            }
#endif
}

/* All pairs of the listed outer triangles with one inner triangle, with one rule. */
static void pairs(const struct job *job, struct shells_result *r, const int *place, int count,
                  int inner, enum nearness nearness) {
    const struct rule *rule = &job->quadrature->rule[nearness];
    const int symmetric = job->kind != SHELLS_COMBINED;
    for (int at = 0; at < count; at += LANES) {
        int lane[LANES];
        for (int l = 0; l < LANES; l++) lane[l] = place[at + l < count ? at + l : count - 1];
        struct shells_outer outer;
        outer_load(&outer, job->body, lane, inner);
        for (int from = 0; from < rule->points; from += SHELLS_BATCH) {
            int points = rule->points - from < SHELLS_BATCH ? rule->points - from : SHELLS_BATCH;
            shells_pair(r, job->kind, &outer, &job->body->inner[inner], job->eta, rule, from,
                        points);
            scatter(job, r, lane, count - at < LANES ? count - at : LANES, inner, symmetric);
        }
    }
}

/* Outer triangles of one patch, inner ones of another. */
static void half_tile(const struct job *job, struct shells_result *r, const struct plan *p,
                      int outer, int inner) {
    const struct body *b = job->body;
    const int symmetric = job->kind != SHELLS_COMBINED;
    const int q0 = inner * p->size, p0 = outer * p->size;
    const int q1 = q0 + p->size < b->triangles ? q0 + p->size : b->triangles;
    const int p1 = p0 + p->size < b->triangles ? p0 + p->size : b->triangles;
    for (int q = q0; q < q1; q++) {
        int list[NEARNESS][64], count[NEARNESS] = {0};
        for (int t = p0; t < p1; t++) {
            /* of a pair evaluated once, the triangle of lower number is the outer one */
            if (symmetric && b->triangle[t] > b->triangle[q]) continue;
            enum nearness n = pair_nearness(b, t, q);
            list[n][count[n]++] = t;
        }
        for (int n = 0; n < NEARNESS; n++) pairs(job, r, list[n], count[n], q, (enum nearness)n);
    }
}

static evn_status all_tiles(const struct job *job, const struct plan *p,
                            const struct slices_options *o, int cores) {
    int failed = 0, stopped = 0;
    const double all = (double)p->colour_start[p->colours];
    size_t done = 0;
#pragma omp parallel num_threads(cores)
    {
        struct shells_result r;
        int mine = shells_open(&r, job->s->longest) != EVN_OK, first = 1;
        if (mine) {
#pragma omp atomic write
            failed = 1;
        }
#ifdef _OPENMP
        first = omp_get_thread_num() == 0;
#endif
#pragma omp barrier
        for (int c = 0; c < p->colours; c++) {
#pragma omp for schedule(dynamic, 1)
            for (size_t t = p->colour_start[c]; t < p->colour_start[c + 1]; t++) {
                int stop;
#pragma omp atomic read
                stop = stopped;
                if (failed || stop) continue;
                const struct tile tile = p->tile[t];
                half_tile(job, &r, p, tile.a, tile.b);
                if (tile.a != tile.b) half_tile(job, &r, p, tile.b, tile.a);
                size_t now;
#pragma omp atomic capture
                now = ++done;
                if (first && o->progress && o->progress((double)now / all, o->arg)) {
#pragma omp atomic write
                    stopped = 1;
                }
            }
        }
        shells_close(&r);
    }
    if (failed) return evn_fail(EVN_MEMORY, "matrices: no memory for a thread's work space");
    if (stopped) return evn_fail(EVN_STOPPED, "matrices: stopped on request");
    return EVN_OK;
}

/* ---- observation points ---- */

static evn_status all_points(const struct job *job, const struct slices_options *o, int cores) {
    const struct body *b = job->body;
    struct slices *s = job->s;
    const double scale = job->kind == SHELLS_SINGLE ? s->delta : 1;
    int failed = 0;
#pragma omp parallel for num_threads(cores) schedule(dynamic, 1) reduction(| : failed)
    for (int from = 0; from < o->points; from += LANES) {
        struct shells_result r;
        if (shells_open(&r, UINT8_MAX)) {
            failed = 1;
            continue;
        }
        vec x[3];
        for (int l = 0; l < LANES; l++) {
            const double *point = o->point[from + l < o->points ? from + l : o->points - 1];
            for (int c = 0; c < 3; c++) x[c][l] = (point[c] - b->middle[c]) / s->delta;
        }
        for (int q = 0; q < b->triangles; q++) {
            shells_potential(&r, job->kind, x, &b->inner[q]);
            for (int l = 0; l < LANES && from + l < o->points; l++)
                for (int e = 0; e < 3; e++) {
                    const int j = b->corner[q][e], row = s->columns + from + l;
                    const size_t at = (size_t)j * (size_t)s->rows + (size_t)row;
                    const int first = s->first[at], end = first + s->count[at];
                    double *to = s->value + s->begin[j] + job->place[at].at - first;
                    for (int m = 0; m < r.count; m++) {
                        int k = (int)r.first[l] + m;
                        if (k >= first && k < end) to[k] += scale * r.value[3 * m + e][l];
                    }
                }
        }
        shells_close(&r);
    }
    if (failed) return evn_fail(EVN_MEMORY, "matrices: no memory for the observation points");
    return EVN_OK;
}

/* ---- mass terms, skew lag ---- */

static double *entry(const struct job *job, int k, int i, int j) {
    const struct slices *s = job->s;
    const size_t e = (size_t)j * (size_t)s->rows + (size_t)i;
    if (k < s->first[e] || k >= s->first[e] + s->count[e]) return NULL;
    return s->value + s->begin[j] + job->place[e].at + (k - s->first[e]);
}

/* eta/(2 delta) G into M_0 and out of M_1; supports that meet have ranges that begin at 0 and go to
 * 2 */
static void add_mass(const struct job *job) {
    const struct mesh *m = job->body->mesh;
    for (int t = 0; t < m->triangles; t++) {
        double normal[3], area = mesh_normal(m, t, normal);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                double g = area / (a == b ? 6 : 12) * job->eta / (2 * job->s->delta);
                *entry(job, 0, m->corner[t][a], m->corner[t][b]) += g;
                *entry(job, 1, m->corner[t][a], m->corner[t][b]) -= g;
            }
    }
}

/* The skew-symmetric part of M_0 acts one step later. */
static void skew_lag(const struct job *job, int cores) {
    const int n = job->s->columns;
    (void)cores;
#pragma omp parallel for num_threads(cores) schedule(dynamic, 16)
    for (int j = 1; j < n; j++)
        for (int i = 0; i < j; i++) {
            double *up = entry(job, 0, i, j), *down = entry(job, 0, j, i);
            if (!up) continue;
            double z = 0.5 * (*up - *down), mean = 0.5 * (*up + *down);
            *up = *down = mean;
            *entry(job, 1, i, j) += z;
            *entry(job, 1, j, i) -= z;
        }
}

/* ---- from outside ---- */

enum shells_kind options_kind(const struct slices_options *o) {
    if (o->problem == TDBEM_SOFT) return SHELLS_SINGLE;
    return o->eta > 0 ? SHELLS_COMBINED : SHELLS_HYPERSINGULAR;
}

evn_status options_check(const struct slices_options *o, const struct mesh *mesh) {
    if (!(o->delta > 0) || !isfinite(o->delta))
        return evn_fail(EVN_USAGE, "matrices: delta %g: expected a positive length, as %.3g",
                        o->delta, 0.5 * mesh->h_mean);
    if (!(o->eta >= 0) || !isfinite(o->eta))
        return evn_fail(EVN_USAGE, "matrices: eta %g: expected 0 or more, as 0.5", o->eta);
    if (o->problem != TDBEM_RIGID && o->problem != TDBEM_SOFT)
        return evn_fail(EVN_USAGE, "matrices: no problem %d", (int)o->problem);
    if (o->quad < 0 || o->quad > 6)
        return evn_fail(EVN_USAGE, "matrices: --quad %d, expected 0 to 6", o->quad);
    if (o->rule && o->rule != 3 && o->rule != 6 && o->rule != 7 && o->rule != 12 && o->rule != 16)
        return evn_fail(EVN_USAGE, "matrices: no rule of %d points; there are 3, 6, 7, 12, 16",
                        o->rule);
    if (o->points < 0 || o->points > 1000000)
        return evn_fail(EVN_USAGE, "matrices: %d observation points, expected 0 to 1000000",
                        o->points);
    for (int p = 0; p < o->points; p++)
        for (int c = 0; c < 3; c++)
            if (!(fabs(o->point[p][c]) <= 1e100))
                return evn_fail(EVN_USAGE,
                                "matrices: observation point %d: coordinate %c is %g, expected a "
                                "number",
                                p, "xyz"[c], o -> point[p][c]);
    return EVN_OK;
}

/* With ranges, without values. */
static evn_status slices_shape(struct slices **out, const struct body *body,
                               const struct slices_options *o, int cores) {
    *out = NULL;
    struct slices *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "matrices: no memory");
    s->columns = body->vertices;
    s->rows = body->vertices + o->points;
    s->problem = o->problem;
    s->delta = o->delta;
    s->eta = o->problem == TDBEM_RIGID ? o->eta : 0;
    s->quad = o->quad;
    s->rule = o->rule;
    const size_t entries = (size_t)s->rows * (size_t)s->columns;
    s->first = malloc(entries * sizeof *s->first);
    s->count = malloc(entries * sizeof *s->count);
    s->begin = malloc(((size_t)s->columns + 1) * sizeof *s->begin);
    evn_status status = EVN_OK;
    if (!s->first || !s->count || !s->begin)
        status = evn_fail(EVN_MEMORY, "matrices: no memory for %zu row-vectors", entries);
    if (!status) status = ranges_find(s, body, o, cores);
    if (status) {
        slices_close(s);
        return status;
    }
    s->begin[0] = 0;
    for (int j = 0; j < s->columns; j++) {
        const uint8_t *count = s->count + (size_t)j * (size_t)s->rows;
        size_t sum = 0;
        for (int i = 0; i < s->rows; i++) sum += count[i];
        s->begin[j + 1] = s->begin[j] + sum;
    }
    *out = s;
    return EVN_OK;
}

static evn_status fill(struct slices *s, const struct body *body, const struct slices_options *o,
                       int cores) {
    struct job job = {.s = s,
                      .body = body,
                      .kind = options_kind(o),
                      .eta = s->eta,
                      .scale =
                          s->problem == TDBEM_SOFT ? s->delta * s->delta * s->delta : s->delta};
    struct quadrature quadrature;
    struct plan plan;
    evn_status status = quadrature_open(&quadrature, o->rule, o->quad);
    if (status) return status;
    job.quadrature = &quadrature;
    status = plan_open(&plan, body);
    if (status) {
        quadrature_close(&quadrature);
        return status;
    }
    const size_t rows = (size_t)s->rows;
    job.place = malloc(rows * (size_t)s->columns * sizeof *job.place);
    s->value = malloc((s->begin[s->columns] + 8) * sizeof *s->value);
    if (!job.place || !s->value) {
        status = evn_fail(EVN_MEMORY, "matrices: no memory for %zu values (%.1f GB)",
                          s->begin[s->columns], 8e-9 * (double)s->begin[s->columns]);
    } else {
#pragma omp parallel for num_threads(cores) schedule(static)
        for (int j = 0; j < s->columns; j++) {
            uint32_t sum = 0;
            for (size_t e = (size_t)j * rows; e < (size_t)(j + 1) * rows; e++) {
                job.place[e] = (struct place){sum, s->first[e], s->count[e]};
                sum += s->count[e];
            }
            memset(s->value + s->begin[j], 0, (s->begin[j + 1] - s->begin[j]) * sizeof *s->value);
        }
    }
    if (!status) status = all_tiles(&job, &plan, o, cores);
    if (!status) status = all_points(&job, o, cores);
    if (!status && job.kind == SHELLS_COMBINED) {
        add_mass(&job);
        skew_lag(&job, cores);
    }
    free(job.place);
    plan_close(&plan);
    quadrature_close(&quadrature);
    return status;
}

evn_status slices_generate(struct slices **out, const struct mesh *mesh,
                           const struct slices_options *o, int cores) {
    *out = NULL;
    if (cores < 1) cores = 1;
    evn_status status = options_check(o, mesh);
    struct body body;
    if (!status) status = body_open(&body, mesh, o->delta);
    if (status) return status;
    struct slices *s;
    status = slices_shape(&s, &body, o, cores);
    if (!status) status = fill(s, &body, o, cores);
    body_close(&body);
    if (status)
        slices_close(s);
    else
        *out = s;
    return status;
}

evn_status slices_size(struct slices_size *out, const struct mesh *mesh,
                       const struct slices_options *o, int cores) {
    memset(out, 0, sizeof *out);
    evn_status status = options_check(o, mesh);
    struct body body;
    if (!status) status = body_open(&body, mesh, o->delta);
    if (status) return status;
    struct slices *s;
    status = slices_shape(&s, &body, o, cores < 1 ? 1 : cores);
    body_close(&body);
    if (status) return status;
    out->kmax = s->kmax;
    out->longest = s->longest;
    out->nnz = s->nnz;
    out->values = s->begin[s->columns];
    out->bytes = 8.0 * (double)out->values + 3.0 * s->rows * s->columns + 8.0 * (s->columns + 1);
    slices_close(s);
    return EVN_OK;
}

void slices_close(struct slices *s) {
    if (!s) return;
    free(s->first);
    free(s->count);
    free(s->begin);
    free(s->value);
    free(s);
}

void slices_mass(const struct mesh *m, const double *x, double *y) {
    for (int v = 0; v < m->vertices; v++) y[v] = 0;
    for (int t = 0; t < m->triangles; t++) {
        const int *c = m->corner[t];
        double normal[3], area = mesh_normal(m, t, normal);
        double sum = x[c[0]] + x[c[1]] + x[c[2]];
        for (int a = 0; a < 3; a++) y[c[a]] += area / 12 * (sum + x[c[a]]);
    }
}

const double *slices_row(const struct slices *s, int i, int j, int *first, int *count) {
    const size_t e = (size_t)j * (size_t)s->rows;
    const double *value = s->value + s->begin[j];
    for (int r = 0; r < i; r++) value += s->count[e + (size_t)r];
    *first = s->first[e + (size_t)i];
    *count = s->count[e + (size_t)i];
    return value;
}

evn_status slices_matrix(struct slices_csr *m, const struct slices *s, int k, int with_points) {
    memset(m, 0, sizeof *m);
    m->rows = with_points ? s->rows : s->columns;
    const size_t rows = (size_t)s->rows;
    m->start = calloc((size_t)m->rows + 2, sizeof *m->start);
    size_t n = 0;
    for (int j = 0; m->start && j < s->columns; j++)
        for (int i = 0; i < m->rows; i++) {
            const size_t e = (size_t)j * rows + (size_t)i;
            int has = k >= s->first[e] && k < s->first[e] + s->count[e];
            m->start[i + 2] += (size_t)has;
            n += (size_t)has;
        }
    m->column = malloc((n + 1) * sizeof *m->column);
    m->value = malloc((n + 1) * sizeof *m->value);
    if (!m->start || !m->column || !m->value) {
        slices_csr_free(m);
        return evn_fail(EVN_MEMORY, "matrices: no memory for the %zu entries of M_%d", n, k);
    }
    for (int i = 0; i < m->rows; i++) m->start[i + 2] += m->start[i + 1];
    for (int j = 0; j < s->columns; j++) { /* start[i+1] walks to the end of row i */
        const double *value = s->value + s->begin[j];
        for (int i = 0; i < m->rows; i++) {
            const size_t e = (size_t)j * rows + (size_t)i;
            const int first = s->first[e], count = s->count[e];
            if (k >= first && k < first + count) {
                size_t at = m->start[i + 1]++;
                m->column[at] = j;
                m->value[at] = value[k - first];
            }
            value += count;
        }
    }
    return EVN_OK;
}

void slices_csr_free(struct slices_csr *m) {
    free(m->start);
    free(m->column);
    free(m->value);
    memset(m, 0, sizeof *m);
}
