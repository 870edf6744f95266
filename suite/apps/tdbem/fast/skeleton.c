/* Level by level from the leaves up: a larger cell's candidates are its children's skeletons. */
#include "tdbem/fast/skeleton.h"
#include "tdbem/fast/spots.h"
#include "common/run/ranks.h"
#include "common/run/free_all.h"
#include <evener/crew.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FREQUENCIES = 6,       /* 0 to the highest */
    SAMPLE = 240,          /* far vertices, half of them within three cells */
    ROWS = 2 * FREQUENCIES /* of what a candidate makes at one of these: real and imaginary parts */
};

struct field {
    const struct octree *cells;
    const struct mesh *mesh;
    struct skeleton_options is;
    struct spots spots;
    struct spot *mean; /* [vertices]: one at each, with the normal and admittance of those around */
};

static evn_status field_open(struct field *f) {
    f->mean = calloc((size_t)f->mesh->vertices, sizeof *f->mean);
    if (!f->mean) return evn_fail(EVN_MEMORY, "fast: no memory");
    evn_status status = spots_open(&f->spots, f->mesh, f->is.slices, 0);
    for (int v = 0; !status && v < f->mesh->vertices; v++) {
        struct spot *mean = &f->mean[v];
        memcpy(mean->x, f->mesh->x[v], sizeof mean->x);
        mean->filter = -1;
        for (int n = f->spots.start[v]; n < f->spots.start[v + 1]; n++) {
            const struct spot *s = &f->spots.spot[n];
            for (int i = 0; i < 3; i++) mean->normal[i] += s->weight * s->normal[i];
            mean->beta += s->weight * s->beta;
            mean->weight += s->weight;
            if (s->filter >= 0) mean->filter = s->filter;
        }
        double *n = mean->normal;
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int i = 0; i < 3 && length > 0; i++) n[i] /= length;
        mean->beta /= mean->weight;
    }
    return status;
}

static void field_close(struct field *f) {
    spots_close(&f->spots);
    free(f->mean);
}

/* ---- what candidates make at a far vertex ---- */

/* Adds what one spot makes at another to value[2 f], value[2 f + 1] of each frequency f. With G =
 * exp(-ikr)/r and normals nx where the field is tested and ny where its source is: rigid -(d/dnx +
 * ik eta) (d/dny - ik beta) G, soft (ik + 1/longest) G + eta d/dnx G. */
static void add_spot(const struct field *f, const struct spot *to, const struct spot *from,
                     double weight, double value[ROWS]) {
    const double eta = f->is.slices->eta, beta = from->beta;
    double r2 = 0, nx = 0, ny = 0, both = 0;
    for (int i = 0; i < 3; i++) {
        const double d = to->x[i] - from->x[i];
        r2 += d * d;
        nx += d * to->normal[i];
        ny += d * from->normal[i];
        both += to->normal[i] * from->normal[i];
    }
    const double r = sqrt(r2), one = 1 / r;
    nx *= one;
    ny *= one;
    const double step = f->is.highest / (FREQUENCIES - 1);
    const double cs = cos(step * r), sn = -sin(step * r);
    double re = weight * one, im = 0; /* G */
    for (int m = 0; m < FREQUENCIES; m++) {
        const double k = m * step;
        double a, b; /* the value is (a + ib) G */
        if (f->is.slices->problem == TDBEM_RIGID) {
            /* G' = (-1/r - ik) G, G'' - G'/r = (3/r^2 + 3ik/r - k^2) G */
            const double cross = nx * ny;
            a = (3 * one * one - k * k) * cross - one * one * both;
            b = 3 * k * one * cross - k * one * both;
            /* -ik eta (1/r + ik) ny - ik beta (1/r + ik) nx - k^2 eta beta */
            a += k * k * (eta * ny + beta * nx - eta * beta);
            b -= k * one * (eta * ny + beta * nx);
        } else {
            a = 1 / f->mesh->longest - eta * one * nx;
            b = k - eta * k * nx;
        }
        value[2 * m] += a * re - b * im;
        value[2 * m + 1] += a * im + b * re;
        const double turned = re * cs - im * sn;
        im = re * sn + im * cs;
        re = turned;
    }
}

/* ---- the Gram matrix of a cell's candidates ---- */

/* Vertices beyond the near cells, v + image * vertices: about `most`, evenly of those within three
 * cells, or of the rest; how many. */
static int sample(const struct field *f, int a, int level, int beyond, int most, int *out) {
    const struct octree *c = f->cells;
    const int first = c->first[level], cells = c->first[level + 1] - first;
    const int leaves = 1 << (c->level - level);
    long all = 0, seen = 0;
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        const long wanted = all < most ? all : most;
        for (int b = 0; b < cells * (c->images + 1); b++) {
            const int image = b / cells;
            const struct cell *cell = &c->cell[first + b % cells];
            const int apart = octree_apart(c, level, &c->cell[a], cell, image);
            if (apart < 2 * leaves || (apart > 3 * leaves) != beyond) continue;
            const long before = seen, size = cell->end - cell->begin;
            if (!pass) all += size;
            if (pass) seen += size;
            for (; pass && count < wanted; count++) {
                const long next = ((count + 1) * all + wanted - 1) / wanted - 1;
                if (next >= seen) break;
                out[count] = cell->begin + (int)(next - before) + image * f->mesh->vertices;
            }
        }
    }
    return count;
}

/* Room of a thread for the largest cell. */
struct room {
    int candidates; /* at most */
    double *value;  /* [candidates * ROWS] of one far vertex */
    double *row;    /* [ROWS * candidates], scaled */
    double *gram;   /* [candidates * candidates] */
    double *factor; /* likewise: column k of the Cholesky factor from k * candidates on */
    double *left;   /* [candidates]: what is left of the diagonal */
    int *pivot;     /* [candidates] */
};

/* A row-vector times itself, of each of ROWS. */
static void add_rows(double *restrict gram, const double *restrict row, int n) {
    for (int i = 0; i < n; i++) {
        double *to = gram + (size_t)i * (size_t)n, own[ROWS];
        for (int r = 0; r < ROWS; r++) own[r] = row[r * n + i];
#pragma omp simd
        for (int j = 0; j <= i; j++) {
            double sum = to[j];
            for (int r = 0; r < ROWS; r++) sum += own[r] * row[r * n + j];
            to[j] = sum;
        }
    }
}

/* What candidates make at a far vertex, as sources of this kind, or what it makes at them as one.
 */
static void add_far(const struct field *f, const int *candidate, int n, int v, enum side side,
                    int filter, struct room *w) {
    const struct spot *mean = &f->mean[v % f->mesh->vertices];
    const struct spots_source is = {.image = v / f->mesh->vertices, .filter = filter},
                              own = {.filter = filter}, whole = {.image = is.image, .filter = -1};
    struct spot far, spot;
    int any = side == TARGETS;
    if (!spots_turn(&far, &f->spots, mean, side == SOURCES ? &whole : &is)) return;
    memset(w->value, 0, (size_t)n * ROWS * sizeof *w->value);
    for (int c = 0; c < n; c++)
        for (int s = f->spots.start[candidate[c]]; s < f->spots.start[candidate[c] + 1]; s++) {
            const struct spot *at = &f->spots.spot[s];
            double *value = w->value + (size_t)c * ROWS;
            if (side == TARGETS)
                add_spot(f, at, &far, at->weight, value);
            else if (spots_turn(&spot, &f->spots, at, &own))
                add_spot(f, &far, &spot, at->weight, value), any = 1;
        }
    if (!any) return;
    for (int m = 0; m < FREQUENCIES; m++) {
        double norm = 0;
        for (int c = 0; c < n; c++)
            for (int part = 0; part < 2; part++) {
                const double y = w->value[c * ROWS + 2 * m + part];
                norm += y * y;
            }
        const double scale = norm > 0 ? 1 / sqrt(norm) : 0;
        for (int part = 0; part < 2; part++)
            for (int c = 0; c < n; c++)
                w->row[(2 * m + part) * n + c] = scale * w->value[c * ROWS + 2 * m + part];
    }
    add_rows(w->gram, w->row, n);
}

/* Pivots until what is left is below accuracy^2 of all; how many. */
static int factorise(struct room *w, int n, double accuracy) {
    double all = 0, left = 0;
    for (int i = 0; i < n; i++) all += w->left[i] = w->gram[i * n + i];
    left = all;
    int rank = 0;
    while (rank < n && left > accuracy * accuracy * all) {
        double *column = w->factor + (size_t)rank * (size_t)n;
        int p = 0;
        for (int i = 1; i < n; i++)
            if (w->left[i] > w->left[p]) p = i;
        if (!(w->left[p] > 1e-14 * all)) break;
        const double root = sqrt(w->left[p]);
        for (int i = 0; i < n; i++) {
            double x = w->gram[i > p ? i * n + p : p * n + i];
            for (int k = 0; k < rank; k++)
                x -= w->factor[(size_t)k * (size_t)n + (size_t)i] *
                     w->factor[(size_t)k * (size_t)n + (size_t)p];
            column[i] = x / root;
        }
        left = 0;
        for (int i = 0; i < n; i++) {
            w->left[i] = fmax(w->left[i] - column[i] * column[i], 0);
            if (i == p) w->left[i] = -1;
            left += fmax(w->left[i], 0);
        }
        w->pivot[rank++] = p;
    }
    return rank;
}

/* weight = L^-T l of each candidate, those of the skeleton themselves. */
static void find_weights(const struct room *w, int n, struct skeleton *s) {
    for (int c = 0; c < n; c++) {
        for (int r = s->count - 1; r >= 0; r--) {
            double x = w->factor[(size_t)r * (size_t)n + (size_t)c];
            for (int k = r + 1; k < s->count; k++)
                x -= w->factor[(size_t)r * (size_t)n + (size_t)w->pivot[k]] * s->weight[k * n + c];
            s->weight[r * n + c] = x / w->factor[(size_t)r * (size_t)n + (size_t)w->pivot[r]];
        }
    }
    for (int r = 0; r < s->count; r++)
        for (int k = 0; k < s->count; k++) s->weight[k * n + w->pivot[r]] = k == r;
}

/* ---- all cells ---- */

static int is_needed(const struct octree *c, int a) {
    for (; a >= 0; a = c->cell[a].parent)
        if (c->cell[a].fars) return 1;
    return 0;
}

static int candidates_of(const struct skeletons *all, const struct octree *c, int a, enum side side,
                         int *out) {
    const struct cell *cell = &c->cell[a];
    int n = 0;
    for (int v = cell->begin; !cell->children && v < cell->end; v++, n++)
        if (out) out[n] = v;
    for (int b = cell->child; b < cell->child + cell->children; b++) {
        const struct skeleton *s = &all->of[side][b];
        if (out) memcpy(out + n, s->vertex, (size_t)s->count * sizeof *out);
        n += s->count;
    }
    return n;
}

static int room_open(struct room *w, int n) {
    const size_t most = (size_t)n + 1;
    *w = (struct room){.candidates = n,
                       .value = malloc(most * ROWS * sizeof(double)),
                       .row = malloc(most * ROWS * sizeof(double)),
                       .gram = malloc(most * most * sizeof(double)),
                       .factor = malloc(most * most * sizeof(double)),
                       .left = malloc(most * sizeof(double)),
                       .pivot = malloc(most * sizeof(int))};
    return w->value && w->row && w->gram && w->factor && w->left && w->pivot;
}

static void room_close(struct room *w) {
    free_all(w->value, w->row, w->gram, w->factor, w->left, w->pivot);
}

/* Room for its vertices and weights. 0: no memory. */
static int skeleton_open(struct skeleton *s) {
    s->vertex = malloc(((size_t)s->count + 1) * sizeof *s->vertex);
    s->weight = malloc(((size_t)s->count * (size_t)s->candidates + 1) * sizeof *s->weight);
    return s->vertex && s->weight;
}

/* 0: no memory. */
static int choose(const struct field *f, struct skeletons *all, int a, int level, enum side side,
                  struct room *w, int *candidate) {
    struct skeleton *s = &all->of[side][a];
    int far[2 * SAMPLE + 2];
    const int n = candidates_of(all, f->cells, a, side, candidate);
    int fars = sample(f, a, level, 0, SAMPLE / 2, far);
    fars += sample(f, a, level, 1, SAMPLE - fars, far + fars);
    memset(w->gram, 0, (size_t)n * (size_t)n * sizeof *w->gram);
    for (int t = 0; t < fars; t++)
        for (int filter = -1; filter < f->is.slices->filters; filter++)
            add_far(f, candidate, n, far[t], side, filter, w);
    s->candidates = n;
    s->count = factorise(w, n, f->is.accuracy);
    if (!skeleton_open(s)) return 0;
    for (int r = 0; r < s->count; r++) s->vertex[r] = candidate[w->pivot[r]];
    find_weights(w, n, s);
    return 1;
}

/* The cells of a level that need skeletons; of more than `most` as many, evenly spread. */
static int needed(const struct octree *c, int level, int most, int *out) {
    const int first = c->first[level], last = c->first[level + 1];
    long all = 0, seen = 0;
    int count = 0;
    for (int a = first; a < last; a++) all += is_needed(c, a);
    const int wanted = all < most ? (int)all : most;
    for (int a = first; a < last; a++)
        if (is_needed(c, a) && seen++ == (2L * count + 1) * all / (2L * wanted)) out[count++] = a;
    return count;
}

/* The skeletons of these cells of a level. 0: no memory. */
static int choose_some(const struct field *f, struct skeletons *all, int level, const int *cell,
                       int count, int cores) {
    int most = 0, ok = 1;
    for (int i = 0; i < count; i++)
        for (int side = 0; side < SIDES; side++) {
            const int n = candidates_of(all, f->cells, cell[i], (enum side)side, NULL);
            if (n > most) most = n;
        }
#pragma omp parallel num_threads(cores) reduction(& : ok)
    {
        struct room room;
        int *candidate = malloc(((size_t)most + 1) * sizeof *candidate);
        ok &= room_open(&room, most) && candidate;
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < count; i++)
            for (int side = 0; ok && side < SIDES; side++)
                ok &= choose(f, all, cell[i], level, (enum side)side, &room, candidate);
        room_close(&room);
        free(candidate);
    }
    return ok;
}

static evn_status no_memory(void) { return evn_fail(EVN_MEMORY, "fast: no memory for skeletons"); }

/* ---- over ranks ---- */

/* A skeleton in numbers: count, candidates, vertices, weights. */
static size_t numbers_of(const struct skeleton *s) {
    return 2 + (size_t)s->count * (size_t)(1 + s->candidates);
}

static void put_numbers(double *to, const struct skeleton *s) {
    *to++ = s->count;
    *to++ = s->candidates;
    for (int r = 0; r < s->count; r++) *to++ = s->vertex[r];
    memcpy(to, s->weight, (numbers_of(s) - 2 - (size_t)s->count) * sizeof *to);
}

/* 0: no memory. */
static int take_numbers(struct skeleton *s, const double *from) {
    s->count = (int)*from++;
    s->candidates = (int)*from++;
    if (!skeleton_open(s)) return 0;
    for (int r = 0; r < s->count; r++) s->vertex[r] = (int)*from++;
    memcpy(s->weight, from, (numbers_of(s) - 2 - (size_t)s->count) * sizeof *from);
    return 1;
}

/* Skeletons number n of these cells: both sides of the first, of the second, .. */
static struct skeleton *skeleton_at(const struct skeletons *all, const int *cell, int n) {
    return &all->of[n % SIDES][cell[n / SIDES]];
}

/* Of `count` skeletons from .. to-1 are here; the others come from the other ranks. */
static evn_status share(const struct field *f, struct skeletons *all, const int *cell, int count,
                        int from, int to) {
    size_t numbers = 0;
    for (int n = from; n < to; n++) numbers += numbers_of(skeleton_at(all, cell, n));
    double *mine = malloc((numbers + 1) * sizeof *mine), *at = mine, *every = NULL;
    for (int n = from; mine && n < to; at += numbers_of(skeleton_at(all, cell, n++)))
        put_numbers(at, skeleton_at(all, cell, n));
    int of_all, ok = 1;
    evn_status status = ranks_agreed(f->is.cluster, mine ? EVN_OK : no_memory());
    if (!status)
        status =
            ranks_share(f->is.cluster, mine, (int)numbers, sizeof *mine, (void **)&every, &of_all);
    at = every;
    for (int n = 0; !status && ok && n < count; at += numbers_of(skeleton_at(all, cell, n++)))
        if (n < from || n >= to) ok = take_numbers(skeleton_at(all, cell, n), at);
    free_all(mine, every);
    return status ? status : ranks_agreed(f->is.cluster, ok ? EVN_OK : no_memory());
}

static evn_status choose_level(const struct field *f, struct skeletons *all, int level, int cores) {
    const int cells = f->cells->first[level + 1] - f->cells->first[level];
    int *cell = malloc(((size_t)cells + 1) * sizeof *cell), from = 0;
    const int count = cell ? needed(f->cells, level, cells, cell) : 0;
    int to = count;
    evn_cluster *cluster = f->is.cluster;
    if (cluster) {
        const int me = evn_cluster_rank(cluster), ranks = evn_cluster_size(cluster);
        from = evn_crew_begin(count, me, ranks);
        to = evn_crew_begin(count, me + 1, ranks);
    }
    const int ok = cell && choose_some(f, all, level, cell + from, to - from, cores);
    evn_status status = ranks_agreed(cluster, ok ? EVN_OK : no_memory());
    if (!status && cluster) status = share(f, all, cell, SIDES * count, SIDES * from, SIDES * to);
    free(cell);
    return status;
}

static void find_filters(const struct field *f, struct skeletons *all) {
    for (int a = 0; a < all->cells; a++) {
        const struct cell *cell = &f->cells->cell[a];
        for (int s = f->spots.start[cell->begin]; s < f->spots.start[cell->end]; s++)
            if (f->spots.spot[s].filter >= 0)
                all->has[a * all->filters + f->spots.spot[s].filter] = 1;
    }
}

int skeletons_have(const struct skeletons *all, int cell, int filter) {
    return all->has[cell * all->filters + filter];
}

/* None chosen yet. */
static evn_status begin(struct skeletons **out, struct field *f) {
    struct skeletons *all = *out = calloc(1, sizeof *all);
    if (!all) return no_memory();
    all->cells = octree_cells(f->cells);
    all->filters = f->is.slices->filters;
    all->has = calloc((size_t)(all->cells * all->filters) + 1, 1);
    int ok = all->has != NULL;
    for (int side = 0; side < SIDES; side++) {
        all->of[side] = calloc((size_t)all->cells, sizeof *all->of[side]);
        ok &= all->of[side] != NULL;
    }
    evn_status status = field_open(f);
    if (!status && !ok) status = no_memory();
    if (!status) find_filters(f, all);
    return status;
}

static evn_status end(struct skeletons **all, struct field *f, evn_status status) {
    field_close(f);
    if (!status) return EVN_OK;
    skeletons_close(*all);
    *all = NULL;
    return status;
}

evn_status skeletons_open(struct skeletons **out, const struct octree *c, const struct mesh *m,
                          const struct skeleton_options *o, int cores) {
    struct field field = {.cells = c, .mesh = m, .is = *o};
    evn_status status = begin(out, &field);
    status = ranks_agreed(o->cluster, status);
    for (int level = c->level; !status && level >= 0; level--)
        status = choose_level(&field, *out, level, cores);
    return end(out, &field, status);
}

evn_status skeletons_sample(const struct octree *c, const struct mesh *m,
                            const struct skeleton_options *o, int most, int *leaf, double *size,
                            int *count) {
    struct field field = {.cells = c, .mesh = m, .is = *o};
    struct skeletons *all;
    evn_status status = begin(&all, &field);
    *count = status ? 0 : needed(c, c->level, most, leaf);
    if (!status && !choose_some(&field, all, c->level, leaf, *count, 1)) status = no_memory();
    for (int i = 0; !status && i < *count; i++)
        size[i] = 0.5 * (all->of[SOURCES][leaf[i]].count + all->of[TARGETS][leaf[i]].count);
    status = end(&all, &field, status);
    skeletons_close(all);
    return status;
}

void skeletons_close(struct skeletons *all) {
    if (!all) return;
    for (int side = 0; side < SIDES; side++) {
        for (int a = 0; all->of[side] && a < all->cells; a++) {
            free_all(all->of[side][a].vertex, all->of[side][a].weight);
        }
        free(all->of[side]);
    }
    free_all(all->has, all);
}
