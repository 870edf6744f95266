/* Generation of the slices.
 *
 * Work comes in tiles, pairs of patches of some tens of triangles. A tile adds to the row-vectors
 * between the vertices of its two patches, at once in their final place, which is known since all
 * ranges were found first. Two tiles whose patches touch would meet in an entry, so tiles are
 * coloured: colour after colour, all tiles of one colour at the same time. There are no atomics,
 * and the order in which contributions meet in an entry does not depend on the number of threads.
 *
 * Columns can be made an interval at a time, so that not all values are in memory at once. Each
 * interval goes through all tiles in the same order and leaves out the pairs that it does not need,
 * so entries have the same bits as if all were made at once. A pair is computed once for each
 * interval that it adds to: only those at the border of two intervals twice where the matrices are
 * not symmetric, nearly all of them twice where they are. M_0 of columns beyond the border is made
 * beside, since the skew lag needs its transpose. */
#include "tdbem/matrices/slices_inside.h"
#include "common/run/free_all.h"
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
    free_all(colour, used);
    return ok;
}

static void plan_close(struct plan *p) {
    free_all(p->touch_start, p->touch, p->colour_start, p->tile);
}

static void plan_size(struct plan *p, const struct body *b) {
    p->size = patch_size(b->triangles);
    p->patches = (b->triangles + p->size - 1) / p->size;
}

static evn_status plan_open(struct plan *p, const struct body *b) {
    if (patches_touch(p, b) && colour_tiles(p)) return EVN_OK;
    return evn_fail(EVN_MEMORY, "matrices: no memory for the plan of %d patches", p->patches);
}

/* ---- one tile ---- */

/* What the triangles at places add by dp/dn = (1/c) beta dp/dt: the terms of soft bodies' equations
 * for dp/dn, which is constant in each step since p is linear there. */
struct admittance {
    double *beta; /* [place] */
    int *row;     /* [place]: the first row of its filter, 0: it has none */
};

/* Cubes of an octree's leaves. */
struct box {
    int16_t low[3], high[3];
};

/* The interval that is being made. */
struct job {
    const struct slices *s;
    const struct body *body;
    const struct quadrature *quadrature;
    enum shells_kind kind;
    double eta, damping, scale;          /* scale: options_scale() */
    const struct admittance *admittance; /* the pass of dp/dn = (1/c) beta dp/dt; else NULL */
    int from, to;                        /* columns from .. to-1 */
    const char
        *only; /* [column]: whether its M_0 is wanted, and no more; NULL: all of all columns */
    struct box *box; /* [patch]: of its vertices' leaves; NULL: all are near */
    char *wanted;    /* [place]: whether the triangle has a vertex that is a column wanted */
    char *patch;     /* [patch]: whether one of its triangles has */
    size_t *begin;   /* [to - from + 1]: number of values before each column */
    double *value;
    /* [range]: values of its column before it, and the range, in one place */
    struct place {
        uint32_t at;
        uint16_t first;
        uint8_t count;
    } * place;
    size_t before; /* ranges of the columns before */
};

static int has_column(const struct job *job, int j) { return j >= job->from && j < job->to; }

static int wants_column(const struct job *job, int j) {
    return has_column(job, j) && (!job->only || job->only[j]);
}

/* Row-vector (i,j); NULL where the interval has none. */
INLINE const struct place *place_of(const struct job *job, int i, int j) {
    if (!has_column(job, j)) return NULL;
    const size_t at = slices_find(job->s, i, j);
    return at == SIZE_MAX ? NULL : job->place + (at - job->before);
}

/* The values of the row-vector at `place` in column j. */
INLINE double *values_of(const struct job *job, const struct place *place, int j) {
    return job->value + job->begin[j - job->from] + place->at;
}

/* M_k(i,j), or NULL where the interval has none. */
static double *entry(const struct job *job, int k, int i, int j) {
    const struct place *at = place_of(job, i, j);
    if (!at || k < at->first || k >= at->first + at->count) return NULL;
    return values_of(job, at, j) + (k - at->first);
}

static void add_one(const struct job *job, int k, int i, int j, double value) {
    double *to = entry(job, k, i, j);
    if (to) *to += value;
}

static int admits(const struct admittance *a, int place) {
    return a->beta[place] != 0 || a->row[place];
}

/* Adds `values`, those of k0, k0+1, .., to row-vector (i,j). k outside of the range comes from
 * rounding at a multiple of delta and carries nothing. */
#if LANES == 8
INLINE void add_row(const struct job *job, int i, int j, int k0, vec values) {
    const struct place *place = place_of(job, i, j);
    if (!place) return;
    const int low = place->first - k0, high = low + place->count;
    if (low >= LANES || high <= 0) return;
    const unsigned below = low > 0 ? (1u << low) - 1 : 0,
                   upto = high < LANES ? (1u << high) - 1 : 0xff;
    const __mmask8 mine = (__mmask8)(upto & ~below);
    double *at = values_of(job, place, j) - low;
    _mm512_mask_storeu_pd(at, mine, _mm512_maskz_loadu_pd(mine, at) + (__m512d)values);
}
#else
INLINE void add_row(const struct job *job, int i, int j, int k0, const double *values, int count) {
    const struct place *place = place_of(job, i, j);
    if (!place) return;
    double *at = values_of(job, place, j);
    for (int m = 0; m < count; m++) {
        const int l = k0 + m - place->first;
        if (l >= 0 && l < place->count) at[l] += values[m * 9 * LANES];
    }
}
#endif

/* values of k become their differences in time, over a step */
static void difference(struct shells_result *r) {
    for (int i = 0; i < 9; i++) r->value[9 * r->count + i] = vec_set(0);
    r->count++;
    for (int k = r->count - 1; k > 0; k--)
        for (int i = 0; i < 9; i++) r->value[9 * k + i] -= r->value[9 * (k - 1) + i];
}

/* Adds the pairs of the first `lanes` outer triangles, which have an admittance: to the rows of the
 * inner one, and to these of the outer one's filter. */
static void scatter_admittance(const struct job *job, struct shells_result *r, const int *lane,
                               int lanes, int inner) {
    const struct body *body = job->body;
    const int *row = body->corner[inner], image = inner / body->triangles;
    difference(r);
    for (int l = 0; l < lanes; l++) {
        const double beta = job->scale * job->admittance->beta[lane[l]];
        const int *column = body->corner[lane[l]], filter = job->admittance->row[lane[l]];
        for (int b = 0; b < 3; b++)
            for (int a = 0; a < 3; a++)
                for (int m = 0; body_meets(body, row[b], column[a], image) && m < r->count; m++) {
                    const double value = r->value[9 * m + 3 * a + b][l];
                    const int k = (int)r->first[l] + m;
                    add_one(job, k, row[b], column[a], beta * value);
                    if (filter) add_one(job, k, filter + row[b], column[a], job->scale * value);
                }
    }
}

/* Adds the pairs of the first `lanes` outer triangles. Where the matrices are symmetric each value
 * goes to (i,j) and (j,i) at once, so that both have the same sum in the same order; a triangle
 * with itself has half of each. */
static void scatter(const struct job *job, struct shells_result *r, const int *lane, int lanes,
                    int inner, int image, int symmetric) {
    const int *col = job->body->corner[inner + image], turned = shells_turned(job->kind);
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
                    if (image && !body_meets(job->body, i, col[b], image / job->body->triangles))
                        continue;
                    if (!turned) add_row(job, i, col[b], k0, t[l]);
                    if (symmetric || turned) add_row(job, col[b], i, k0, t[l]);
                }
            }
#else
    for (int l = 0; l < lanes; l++)
        for (int b = 0; b < 3; b++)
            for (int a = 0; a < 3; a++) {
                const int i = job->body->corner[lane[l]][a], k0 = (int)r->first[l];
                if (image && !body_meets(job->body, i, col[b], image / job->body->triangles))
                    continue;
                const double *values = (const double *)(r->value + 3 * a + b) + l;
                if (!turned) add_row(job, i, col[b], k0, values, r->count);
                if (symmetric || turned) add_row(job, col[b], i, k0, values, r->count);
            }
#endif
}

/* Whether two triangles, the second of which may be an image's, are so near that they can have
 * values that are wanted. */
static int within_reach(const struct job *job, int p, int q) {
    const struct body *b = job->body;
    if (!job->only) return 1;
    const double reach = (1 + b->radius[p] + b->radius[q]) * (1 + 1e-12);
    double d2 = 0;
    for (int c = 0; c < 3; c++) {
        const double d = b->centre[p][c] - b->centre[q][c];
        d2 += d * d;
    }
    return d2 <= reach * reach;
}

/* Whether the interval needs one of the pairs of a vector's outer triangles with the inner one or
 * its image. All of the vector are then computed: a value's last bits depend on the others. */
static int any_needed(const struct job *job, const int *lane, int inner, int image) {
    const int symmetric = shells_symmetric(job->kind);
    const int turned = shells_turned(job->kind);
    int needed = !turned && job->wanted[inner], near = 0;
    for (int l = 0; (symmetric || turned) && l < LANES; l++) needed |= job->wanted[lane[l]];
    for (int l = 0; needed && l < LANES; l++) near |= within_reach(job, lane[l], inner + image);
    return near;
}

/* Whether two triangles, the second of which may be an image's, have vertices in near leaves. */
static int are_near(const struct body *b, int p, int q) {
    const int *v = b->corner[p], *w = b->corner[q];
    for (int e = 0; e < 9; e++)
        if (body_meets(b, v[e / 3], w[e % 3], q / b->triangles)) return 1;
    return 0;
}

/* Whether a patch and an image of another can have vertices in near leaves. */
static int patches_near(const struct job *job, int p, int q, int image) {
    const struct octree *o = job->body->near;
    const struct box *a = &job->box[p], *b = &job->box[q];
    for (int i = 0; i < 3; i++) {
        const int one = octree_turned(o, i, image, b->low[i]),
                  other = octree_turned(o, i, image, b->high[i]);
        if (a->low[i] > (one > other ? one : other) + 1 ||
            (one < other ? one : other) > a->high[i] + 1)
            return 0;
    }
    return 1;
}

/* All pairs of the listed outer triangles with one inner triangle or its image, whose place is
 * inner + image, with one rule. */
static void pairs(const struct job *job, struct shells_result *r, const int *place, int count,
                  int inner, int image, enum nearness nearness) {
    const struct rule *rule = &job->quadrature->rule[nearness];
    const int symmetric = shells_symmetric(job->kind);
    for (int at = 0; at < count; at += LANES) {
        int lane[LANES];
        for (int l = 0; l < LANES; l++) lane[l] = place[at + l < count ? at + l : count - 1];
        if (!any_needed(job, lane, inner, image)) continue;
        struct shells_outer outer;
        outer_load(&outer, job->body, lane, inner + image);
        for (int from = 0; from < rule->points; from += SHELLS_BATCH) {
            int points = rule->points - from < SHELLS_BATCH ? rule->points - from : SHELLS_BATCH;
            const int lanes = count - at < LANES ? count - at : LANES;
            shells_pair(r, job->kind, &outer, &job->body->inner[inner + image], job->eta,
                        job->damping, rule, from, points);
            if (job->admittance)
                scatter_admittance(job, r, lane, lanes, inner + image);
            else
                scatter(job, r, lane, lanes, inner, image, symmetric);
        }
    }
}

/* The triangles at places p0 .. p1-1 as outer ones, with an inner one or its image. */
static void all_pairs(const struct job *job, struct shells_result *r, int p0, int p1, int q,
                      int image) {
    const struct body *b = job->body;
    const int symmetric = shells_symmetric(job->kind);
    int list[NEARNESS][64], count[NEARNESS] = {0};
    for (int t = p0; t < p1; t++) {
        /* a pair is evaluated once, with the triangle of lower number as the outer one */
        if (symmetric && b->triangle[t] > b->triangle[q]) continue;
        if (job->admittance && !admits(job->admittance, t)) continue;
        if (!are_near(b, t, q + image)) continue;
        enum nearness n = pair_nearness(b, t, q + image);
        list[n][count[n]++] = t;
    }
    for (int n = 0; n < NEARNESS; n++) pairs(job, r, list[n], count[n], q, image, (enum nearness)n);
}

/* Outer triangles of one patch, inner ones of another, and images of these. */
static void half_tile(const struct job *job, struct shells_result *r, const struct plan *p,
                      int outer, int inner) {
    const struct body *b = job->body;
    const int q0 = inner * p->size, p0 = outer * p->size;
    const int q1 = q0 + p->size < b->triangles ? q0 + p->size : b->triangles;
    const int p1 = p0 + p->size < b->triangles ? p0 + p->size : b->triangles;
    const int turned = shells_turned(job->kind),
              outer_counts = turned || shells_symmetric(job->kind);
    if (!(!turned && job->patch[inner]) && !(outer_counts && job->patch[outer])) return;
    int near[8];
    for (int g = 0; g <= b->images; g++) near[g] = !job->box || patches_near(job, outer, inner, g);
    for (int q = q0; q < q1; q++) {
        if (!job->wanted[q] && !(outer_counts && job->patch[outer])) continue;
        for (int g = 0; g <= b->images; g++)
            if (near[g]) all_pairs(job, r, p0, p1, q, g * b->triangles);
    }
}

/* share of the time: ranges */
static const double RANGES = 0.05;

static void span_set(struct span *s, double begun, double share) {
    s->begun = begun;
    s->share = share;
}

static evn_status all_tiles(const struct job *job, const struct plan *p, const struct span *span,
                            int cores) {
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
                if (first && span_tell(span, (double)now / all)) {
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

/* The single layer of dp/dn on the triangle at place q, an image's too, at the points from `from`
 * on. */
static void points_admittance(const struct job *job, struct shells_result *r, const vec x[3], int q,
                              int from, int points) {
    const struct body *b = job->body;
    const int own = q % b->triangles;
    const double beta = job->admittance->beta[own];
    const int filter = job->admittance->row[own];
    if (!admits(job->admittance, own)) return;
    shells_potential(r, 1, x, &b->inner[q]);
    for (int l = 0; l < LANES && from + l < points; l++)
        for (int e = 0; e < 3; e++)
            for (int m = 0; m <= r->count; m++) {
                const double now = m < r->count ? r->value[3 * m + e][l] : 0;
                const double value = now - (m ? r->value[3 * (m - 1) + e][l] : 0);
                const int k = (int)r->first[l] + m, row = job->s->columns + from + l;
                add_one(job, k, row, b->corner[q][e], beta * value);
                if (filter) add_one(job, k, filter + row, b->corner[q][e], value);
            }
}

static evn_status all_points(const struct job *job, const struct slices_options *o, int cores) {
    const struct body *b = job->body;
    const struct slices *s = job->s;
    const int single = s->problem == TDBEM_SOFT;
    const double scale = single ? s->delta : 1;
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
        for (int q = 0; q < b->triangles * (b->images + 1); q++) {
            if (!job->wanted[q % b->triangles]) continue;
            if (job->admittance) {
                points_admittance(job, &r, x, q, from, o->points);
                continue;
            }
            shells_potential(&r, single, x, &b->inner[q]);
            for (int l = 0; l < LANES && from + l < o->points; l++)
                for (int e = 0; e < 3; e++) {
                    const int j = b->corner[q][e], row = s->columns + from + l;
                    const struct place *at = place_of(job, row, j);
                    if (!at) continue;
                    const int first = at->first, end = first + at->count;
                    double *to = values_of(job, at, j);
                    for (int m = 0; m < r.count; m++) {
                        int k = (int)r.first[l] + m;
                        if (k >= first && k < end) to[k - first] += scale * r.value[3 * m + e][l];
                    }
                }
        }
        shells_close(&r);
    }
    if (failed) return evn_fail(EVN_MEMORY, "matrices: no memory for the observation points");
    return EVN_OK;
}

/* ---- mass terms, skew lag ---- */

/* Rigid: eta/(2 delta) G into M_0 and out of M_1; soft: eta/2 G into M_0. Supports that meet have
 * ranges that begin at 0 and go to 1 at least. */
static void add_mass(const struct job *job) {
    const struct mesh *m = job->body->mesh;
    const int rigid = job->s->problem == TDBEM_RIGID;
    const double part = rigid ? 2 * job->s->delta : 2;
    for (int t = 0; t < m->triangles; t++) {
        double normal[3], area = mesh_normal(m, t, normal);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                const double g = area / (a == b ? 6 : 12) * job->eta / part;
                double *now = entry(job, 0, m->corner[t][a], m->corner[t][b]);
                double *before = !rigid ? NULL : entry(job, 1, m->corner[t][a], m->corner[t][b]);
                if (now) *now += g;
                if (before) *before -= g;
            }
    }
}

/* Half of dp/dn: beta/(2 delta) of each triangle's own G into M_0 and out of M_1; its filter's rows
 * likewise. */
static void add_admittance_mass(const struct job *job) {
    const struct body *b = job->body;
    for (int p = 0; p < b->triangles; p++) {
        const double beta = job->admittance->beta[p];
        const int filter = job->admittance->row[p], *corner = b->corner[p];
        double normal[3], area = mesh_normal(b->mesh, b->triangle[p], normal);
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++) {
                const double g = area / (a == c ? 6 : 12) / (2 * job->s->delta);
                for (int k = 0; k < 2; k++) {
                    const double value = k ? -g : g;
                    add_one(job, k, corner[a], corner[c], beta * value);
                    if (filter) add_one(job, k, filter + corner[a], corner[c], value);
                }
            }
    }
}

/* The skew-symmetric part Z of M_0 acts one step later, on a_(n-1). Rigid bodies with walls or gaps
 * that are thinner than a step, whose two sides then meet in M_0, would grow by that: there it acts
 * on 2 a_(n-1) - a_(n-2), which is nearer to a_n. `raw` is M_0 as it is before: parts of its
 * transpose belong to other intervals. */
static void skew_lag(const struct job *job, const struct slices_csr *raw, int thin, int cores) {
    const int further = thin && job->s->problem == TDBEM_RIGID;
    (void)cores;
#pragma omp parallel for num_threads(cores) schedule(dynamic, 16)
    for (int j = job->from; j < job->to; j++)
        for (size_t e = raw->start[j]; e < raw->start[j + 1]; e++) {
            const int i = raw->column[e];
            if (i == j) continue;
            const double mine = raw->value[e], other = raw->value[slices_csr_find(raw, i, j)];
            *entry(job, 0, i, j) = 0.5 * (mine + other);
            *entry(job, 1, i, j) += (further ? 1 : 0.5) * (mine - other);
            if (further) *entry(job, 2, i, j) -= 0.5 * (mine - other);
        }
}

/* ---- from outside ---- */

enum shells_kind options_kind(const struct slices_options *o) {
    if (o->problem == TDBEM_SOFT) return o->eta > 0 ? SHELLS_SINGLE_COMBINED : SHELLS_SINGLE;
    return o->eta > 0 ? SHELLS_COMBINED : SHELLS_HYPERSINGULAR;
}

double options_scale(const struct slices_options *o) {
    const double d = o->delta;
    if (o->problem == TDBEM_RIGID) return d;
    return o->eta > 0 ? d * d : d * d * d;
}

evn_status options_check(const struct slices_options *o, const struct mesh *mesh) {
    if (!(o->delta > 0) || !isfinite(o->delta))
        return evn_fail(EVN_USAGE, "matrices: delta %g: expected a positive length, as %.3g",
                        o->delta, 0.5 * mesh->h_mean);
    if (!(o->eta >= 0) || !isfinite(o->eta))
        return evn_fail(EVN_USAGE, "matrices: eta %g: expected 0 or more, as 0.5", o->eta);
    if (o->problem != TDBEM_RIGID && o->problem != TDBEM_SOFT)
        return evn_fail(EVN_USAGE, "matrices: no problem %d", (int)o->problem);
    if (o->beta && (o->problem != TDBEM_RIGID || !(o->eta > 0)))
        return evn_fail(EVN_USAGE, "matrices: an admittance belongs to the combined equation of "
                                   "the rigid problem, expected eta above 0");
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
                return evn_fail(
                    EVN_USAGE,
                    "matrices: observation point %d: coordinate %c is %g, expected a number", p,
                    "xyz"[c], o -> point[p][c]);
    return EVN_OK;
}

/* ---- intervals ---- */

struct slices_maker {
    struct slices *s;
    struct slices_options options;
    struct body body;
    struct quadrature quadrature;
    struct plan plan;
    struct slices_csr raw;        /* combined: M_0 before the skew lag, by columns */
    char *has_raw;                /* [columns]: whether the column's values are there */
    int lags;                     /* its skew-symmetric part acts a step later */
    struct admittance admittance; /* no arrays where options have none */
    int cores;
    int known; /* columns whose sizes are known */
    struct span progress;
};

/* ---- ranges ---- */

/* Opens slices with columns, rows and kmax, without ranges. column[columns]: vertices, NULL: all.
 */
static evn_status shape_open(struct slices **out, const struct mesh *mesh,
                             const struct slices_options *o, const int *column, int columns) {
    struct slices *s = *out = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "matrices: no memory");
    s->columns = columns;
    s->rows = slices_rows(mesh, o);
    s->kmax_points = -1;
    s->problem = o->problem;
    s->delta = o->delta;
    s->eta = o->eta;
    s->quad = o->quad;
    s->rule = o->rule;
    s->begin = calloc((size_t)columns + 1, sizeof *s->begin);
    if (!s->begin) return evn_fail(EVN_MEMORY, "matrices: no memory for %d columns", columns);
    evn_status status = o->near ? ranges_runs(s, o, column) : EVN_OK;
    return status ? status : ranges_kmax(&s->kmax, mesh, o);
}

/* How many entries each column of M_0 has. */
static void count_raw(struct slices_maker *m, int from, int to) {
    const struct slices *s = m->s;
    for (int j = from; j < to; j++) {
        size_t n = 0;
        struct slices_walk w = slices_walk(s, j);
        for (; w.row < m->body.vertices; slices_step(&w)) n += !s->first[w.at] && s->count[w.at];
        m->raw.start[j + 1] = m->raw.start[j] + n;
    }
}

/* Sizes of columns up to to-1, whose ranges are there for the first time. */
static void measure_ranges(struct slices_maker *m, int to) {
    ranges_measure(m->s, m->known, m->body.vertices);
    if (m->raw.start) count_raw(m, m->known, to);
    m->known = to;
}

evn_status slices_maker_ranges(struct slices_maker *m, int from, int to) {
    struct slices *s = m->s;
    if (from < to && from >= s->low && to <= s->high) return EVN_OK;
    if (from > m->known) return evn_fail(EVN_USAGE, "matrices: ranges are found in order");
    evn_status status = ranges_room(s, from, to);
    if (from == to) return status;
    if (m->known < s->columns)
        span_set(&m->progress, RANGES * from / s->columns, RANGES * (to - from) / s->columns);
    if (!status) status = ranges_find(s, &m->body, &m->options, m->cores, &m->progress);
    if (!status && to > m->known) measure_ranges(m, to);
    return status;
}

evn_status slices_maker_share(struct slices_maker *m, int from, int to,
                              evn_status (*complete)(struct slices *s, evn_status mine, void *arg),
                              void *arg) {
    struct slices *s = m->s;
    evn_status status = ranges_room(s, 0, s->columns);
    if (!status) status = ranges_find_near(s, &m->body, &m->options, m->cores, from, to);
    status = complete(s, status, arg);
    if (!status) measure_ranges(m, s->columns);
    return status;
}

evn_status slices_maker_sample(struct slices **out, const struct slices_maker *m, const int *column,
                               int count) {
    evn_status status = shape_open(out, m->body.mesh, &m->options, column, count);
    if (!status) status = ranges_room(*out, 0, count);
    if (!status) status = ranges_sample(*out, &m->body, &m->options, m->cores, column, count);
    if (!status) {
        ranges_measure(*out, 0, m->body.vertices);
        return EVN_OK;
    }
    slices_close(*out);
    *out = NULL;
    return status;
}

double slices_maker_plan_bytes(const struct slices_maker *m) {
    const double tiles = (double)tile_number(0, m->plan.patches);
    return tiles * (sizeof *m->plan.tile + sizeof(uint16_t));
}

/* ---- one interval ---- */

static void job_close(struct job *job) {
    free_all(job->wanted, job->patch, job->box, job->begin, job->place, job->value);
}

static evn_status job_memory(struct job *job) {
    evn_status status = evn_fail(
        EVN_MEMORY, "matrices: no memory for the values of columns %d to %d (%.1f GB)", job->from,
        job->to - 1, 8e-9 * (double)(job->s->begin[job->to] - job->s->begin[job->from]));
    job_close(job);
    return status;
}

/* The leaves of each patch's vertices. */
static int find_boxes(struct job *job, const struct plan *plan) {
    const struct body *b = job->body;
    job->box = malloc((size_t)plan->patches * sizeof *job->box);
    for (int p = 0; job->box && p < plan->patches; p++)
        for (int i = 0; i < 3; i++) job->box[p].low[i] = INT16_MAX, job->box[p].high[i] = 0;
    for (int place = 0; job->box && place < 3 * b->triangles; place++) {
        const int16_t *at = b->near->place[b->corner[place / 3][place % 3]];
        struct box *box = &job->box[place / 3 / plan->size];
        for (int i = 0; i < 3; i++) {
            if (at[i] < box->low[i]) box->low[i] = at[i];
            if (at[i] > box->high[i]) box->high[i] = at[i];
        }
    }
    return job->box != NULL;
}

/* Columns from .. to-1, all zero; with `only`, those of them alone and M_0. */
static evn_status job_open(struct job *job, const struct slices_maker *m, int from, int to,
                           const char *only) {
    const struct slices *s = m->s;
    const struct body *b = &m->body;
    *job = (struct job){.s = s,
                        .body = b,
                        .quadrature = &m->quadrature,
                        .kind = options_kind(&m->options),
                        .eta = s->eta,
                        .damping = slices_damping(b->mesh, s->problem, s->eta, s->delta),
                        .scale = options_scale(&m->options),
                        .from = from,
                        .to = to,
                        .only = only,
                        .before = slices_before(s, from)};
    const size_t columns = (size_t)(to - from), ranges = slices_before(s, to) - job->before;
    job->wanted = calloc((size_t)b->triangles, 1);
    job->patch = calloc((size_t)m->plan.patches, 1);
    job->begin = calloc(columns + 1, sizeof *job->begin);
    job->place = malloc(ranges * sizeof *job->place);
    if (!job->wanted || !job->patch || !job->begin || !job->place) return job_memory(job);
    if (b->near && !find_boxes(job, &m->plan)) return job_memory(job);
    for (int p = 0; p < b->triangles; p++)
        for (int e = 0; e < 3; e++)
            if (wants_column(job, b->corner[p][e]))
                job->wanted[p] = job->patch[p / m->plan.size] = 1;
#pragma omp parallel for num_threads(m->cores) schedule(static)
    for (size_t c = 0; c < columns; c++) {
        uint32_t sum = 0;
        const size_t begin = slices_at(s, from + (int)c), end_at = slices_at(s, from + (int)c + 1);
        const int wanted = wants_column(job, from + (int)c);
        for (size_t e = begin; e < end_at; e++) {
            const int count = !only ? s->count[e] : wanted && !s->first[e] && s->count[e];
            job->place[e - slices_at(s, from)] = (struct place){sum, s->first[e], (uint8_t)count};
            sum += (uint32_t)count;
        }
        job->begin[c + 1] = sum;
    }
    for (size_t c = 0; c < columns; c++) job->begin[c + 1] += job->begin[c];
    job->value = malloc((job->begin[columns] + 8) * sizeof *job->value);
    if (!job->value) return job_memory(job);
#pragma omp parallel for num_threads(m->cores) schedule(static)
    for (size_t c = 0; c < columns; c++)
        memset(job->value + job->begin[c], 0,
               (job->begin[c + 1] - job->begin[c]) * sizeof *job->value);
    return EVN_OK;
}

/* Thin bodies: whether the lag will do is seen from all of M_0. */
static int looks_at_lag(const struct slices_maker *m) {
    return m->options.thin && m->options.problem == TDBEM_RIGID;
}

static evn_status raw_room(struct slices_maker *m) {
    struct slices_csr *raw = &m->raw;
    const size_t columns = (size_t)m->s->columns, all = raw->start[columns];
    if (raw->column) return EVN_OK;
    raw->column = malloc((all + 1) * sizeof *raw->column);
    raw->value = malloc((all + 1) * sizeof *raw->value);
    m->has_raw = calloc(columns, 1);
    if (raw->column && raw->value && m->has_raw) return EVN_OK;
    return evn_fail(EVN_MEMORY, "matrices: no memory for the %zu entries of M_0", all);
}

/* The interval's part of it: the rows that its columns have, and their values. */
static void take_raw(struct slices_maker *m, const struct job *job) {
    const struct slices *s = m->s;
    for (int j = job->from; j < job->to; j++) {
        size_t at = m->raw.start[j];
        if (job->only && !job->only[j]) continue;
        m->has_raw[j] = 1;
        struct slices_walk w = slices_walk(s, j);
        for (; w.row < m->body.vertices; slices_step(&w)) {
            if (s->first[w.at] || !s->count[w.at]) continue;
            m->raw.column[at] = w.row;
            m->raw.value[at++] = *entry(job, 0, w.row, j);
        }
    }
}

/* Columns of M_0 that take no more than columns `low` .. to-1 with all k: the end of those from
 * `from` on. Where ranges come by parts, these are in the account. */
static int raw_cut(const struct slices_maker *m, int from, int low, int to) {
    const struct slices *s = m->s;
    const int whole = s->high - s->low == s->columns;
    const double each = whole ? 8 : 11;
    const double room = 8.0 * (double)(s->begin[to] - s->begin[low]) +
                        each * (double)(slices_before(s, to) - slices_before(s, low));
    double used = 0;
    int end = from;
    for (; end < s->columns; end++) {
        used += each * (double)(slices_before(s, end + 1) - slices_before(s, end)) +
                8.0 * (double)(m->raw.start[end + 1] - m->raw.start[end]);
        if (used > room && end > from) break;
    }
    return end;
}

/* The pairs of triangles, of an admittance too, and with `points` the points. */
static evn_status make_values(const struct slices_maker *m, const struct job *job, int points,
                              const struct span *span) {
    const int more = m->admittance.beta != NULL;
    struct span first = *span, second = *span;
    first.share = second.share = span->share / (1 + more);
    second.begun += first.share;
    evn_status status = all_tiles(job, &m->plan, &first, m->cores);
    if (!status && points) status = all_points(job, &m->options, m->cores);
    if (status) return status;
    if (!shells_symmetric(job->kind)) add_mass(job);
    if (!more) return EVN_OK;
    /* eta (d/dt V + 1/eta (1/2 + K')) */
    struct job other = *job;
    other.kind = SHELLS_SINGLE_COMBINED;
    other.eta = 1 / job->eta;
    other.damping = 0;
    other.scale = job->eta * job->s->delta;
    other.admittance = &m->admittance;
    status = all_tiles(&other, &m->plan, &second, m->cores);
    if (!status && points) status = all_points(&other, &m->options, m->cores);
    if (!status) add_admittance_mass(&other);
    return status;
}

/* Columns of M_0 whose values the skew lag of columns from .. to-1 needs and nobody has made: those
 * of their rows; of thin bodies, whose eigenvalues are looked at, and where ranges come by parts
 * all. NULL: no memory. */
static char *missing(const struct slices_maker *m, int from, int to) {
    const struct slices *s = m->s;
    char *wanted = calloc((size_t)s->columns, 1);
    if (!wanted) return NULL;
    const int all = looks_at_lag(m) || s->high - s->low < s->columns;
    if (all) memset(wanted, 1, (size_t)s->columns);
    for (int j = from; !all && j < to; j++) {
        struct slices_walk w = slices_walk(s, j);
        for (; w.row < s->columns; slices_step(&w))
            if (s->count[w.at] && !s->first[w.at]) wanted[w.row] = 1;
    }
    for (int j = 0; j < s->columns; j++)
        if (m->has_raw[j] || (j >= from && j < to)) wanted[j] = 0;
    return wanted;
}

/* Of columns `low` .. to-1 what M_0 of others gives them, a few pairs of triangles a column, in
 * their memory. */
static evn_status make_raw(struct slices_maker *m, int low, int to) {
    const int columns = m->s->columns;
    if (to - low == columns) return EVN_OK;
    char *only = missing(m, low, to);
    evn_status status = only ? EVN_OK : evn_fail(EVN_MEMORY, "matrices: no memory for M_0");
    for (int from = 0, end; !status && from < columns; from = end) {
        struct job job;
        end = from + 1;
        if (!only[from]) continue;
        end = raw_cut(m, from, low, to);
        while (!only[end - 1]) end--;
        status = slices_maker_ranges(m, from, end);
        if (!status) status = job_open(&job, m, from, end, only);
        if (status) break;
        status = make_values(m, &job, 0, &m->progress);
        if (!status) take_raw(m, &job);
        job_close(&job);
    }
    free(only);
    return status;
}

static evn_status admittance_open(struct slices_maker *m) {
    const struct slices_options *o = &m->options;
    const struct body *b = &m->body;
    struct admittance *a = &m->admittance;
    if (!o->beta) return EVN_OK;
    a->beta = malloc((size_t)b->triangles * sizeof *a->beta);
    a->row = malloc((size_t)b->triangles * sizeof *a->row);
    if (!a->beta || !a->row) return evn_fail(EVN_MEMORY, "matrices: no memory for admittances");
    for (int p = 0; p < b->triangles; p++) {
        const int filter = o->filter ? o->filter[b->triangle[p]] : -1;
        a->beta[p] = o->beta[b->triangle[p]];
        a->row[p] = (b->vertices + o->points) * (1 + filter);
        if (filter < 0) a->row[p] = 0;
    }
    return EVN_OK;
}

evn_status slices_maker_prepare(struct slices_maker **out, const struct mesh *mesh,
                                const struct slices_options *o, int cores) {
    *out = NULL;
    evn_status status = options_check(o, mesh);
    if (status) return status;
    struct slices_maker *m = calloc(1, sizeof *m);
    if (!m) return evn_fail(EVN_MEMORY, "matrices: no memory");
    m->options = *o;
    m->cores = cores < 1 ? 1 : cores;
    m->progress.options = &m->options;
    status = shape_open(&m->s, mesh, o, NULL, mesh->vertices);
    if (!status) status = body_open(&m->body, mesh, o->delta);
    m->body.near = o->near;
    if (!status) status = quadrature_open(&m->quadrature, o->rule, o->quad);
    if (!status) status = admittance_open(m);
    if (!status) plan_size(&m->plan, &m->body);
    if (!status && !shells_symmetric(options_kind(o))) {
        m->raw.rows = mesh->vertices;
        m->raw.start = calloc((size_t)mesh->vertices + 1, sizeof *m->raw.start);
        if (!m->raw.start) status = evn_fail(EVN_MEMORY, "matrices: no memory for M_0");
    }
    if (status) {
        slices_maker_close(m);
        return status;
    }
    *out = m;
    return EVN_OK;
}

evn_status slices_maker_open(struct slices_maker **out, const struct mesh *mesh,
                             const struct slices_options *o, int cores) {
    evn_status status = slices_maker_prepare(out, mesh, o, cores);
    if (!status) status = slices_maker_ranges(*out, 0, (*out)->s->columns);
    if (!status) return EVN_OK;
    slices_maker_close(*out);
    *out = NULL;
    return status;
}

void slices_maker_close(struct slices_maker *m) {
    if (!m) return;
    slices_close(m->s);
    slices_csr_free(&m->raw);
    free_all(m->has_raw, m->admittance.beta, m->admittance.row);
    plan_close(&m->plan);
    quadrature_close(&m->quadrature);
    body_close(&m->body);
    free(m);
}

const struct slices *slices_maker_slices(const struct slices_maker *m) { return m->s; }

/* Where steps are so long for thin walls that they would grow by the lag, M_0 stays as it is. */
static evn_status choose_lag(struct slices_maker *m) {
    m->lags = 1;
    return looks_at_lag(m) ? lag_holds(&m->raw, &m->lags) : EVN_OK;
}

evn_status slices_maker_next(struct slices_maker *m, int to) {
    struct slices *s = m->s;
    const int from = s->to, all = s->columns,
              combined = !shells_symmetric(options_kind(&m->options));
    if (m->known < all) return evn_fail(EVN_USAGE, "matrices: not all ranges have been found");
    free(s->value);
    s->value = NULL;
    s->from = from;
    struct job job;
    evn_status status = m->plan.tile ? EVN_OK : plan_open(&m->plan, &m->body);
    const int first = combined && !m->raw.column;
    const double share = (1 - RANGES) / all, begin = RANGES + share * from,
                 again = 0.1 * share * (to - from);
    span_set(&m->progress, begin, again);
    if (!status && combined) status = raw_room(m);
    if (!status && combined) status = make_raw(m, from, to);
    if (!status) status = slices_maker_ranges(m, from, to);
    if (!status) status = job_open(&job, m, from, to, NULL);
    if (status) return status;
    span_set(&m->progress, begin + again, share * (to - from) - again);
    status = make_values(m, &job, 1, &m->progress);
    if (!status && combined) {
        take_raw(m, &job);
        if (first) status = choose_lag(m);
        if (m->lags) skew_lag(&job, &m->raw, m->options.thin, m->cores);
    }
    if (!status) {
        s->value = job.value;
        s->to = to;
        job.value = NULL;
    }
    job_close(&job);
    return status;
}

void slices_maker_skip(struct slices_maker *m, int to) {
    free(m->s->value);
    m->s->value = NULL;
    m->s->from = m->s->to = to;
}

evn_status slices_generate(struct slices **out, const struct mesh *mesh,
                           const struct slices_options *o, int cores) {
    *out = NULL;
    struct slices_maker *m;
    evn_status status = slices_maker_open(&m, mesh, o, cores);
    if (status) return status;
    status = slices_maker_next(m, m->s->columns);
    if (!status) {
        *out = m->s;
        m->s = NULL;
    }
    slices_maker_close(m);
    return status;
}

evn_status slices_size(struct slices_size *out, const struct mesh *mesh,
                       const struct slices_options *o, int cores) {
    memset(out, 0, sizeof *out);
    struct slices_maker *m;
    evn_status status = slices_maker_open(&m, mesh, o, cores);
    if (status) return status;
    const struct slices *s = m->s;
    out->kmax = s->kmax;
    out->longest = s->longest;
    out->nnz = s->nnz;
    out->values = s->begin[s->columns];
    out->bytes = 8.0 * (double)out->values + 3.0 * (double)slices_before(s, s->columns) +
                 8.0 * (s->columns + 1);
    slices_maker_close(m);
    return EVN_OK;
}
