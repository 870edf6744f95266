/* Transforms along the axes. */
#include "ft/host/transform.h"
#include <stdlib.h>

/* Buffers of a group are to stay in a core's cache. What goes past the caches needs no more
 * neighbours than fill lines, and then buffers are to leave room in the first one. */
enum { GROUP_MOST = 8, GROUP_BYTES = 256 << 10, GROUP_BYTES_PAST = 32 << 10 };

/* A field of so many bytes stays in no cache from one pass to the next: what pass z writes goes
 * past them, and nobody reads first what is there. Two lanes would take eight stores to a pack. */
enum { PAST_BYTES = 64 << 20 };

/* Along x the row that is fetched meanwhile: what comes from memory takes about two rows' time. */
enum { ROWS_AHEAD = 2 };

static int open_matrix(struct transform *t) {
    t->x_matrix = malloc(2 * (size_t)t->nx * sizeof(double));
    for (int j = 0; t->x_matrix && j < t->nx; j++) line_root(j, t->nx, t->x_matrix + 2 * j);
    return t->x_matrix ? 0 : -1;
}

static int open_roots(struct transform *t) {
    t->x_twiddle = aligned_alloc(64, (size_t)t->nx * sizeof(double));
    for (int p = 0; t->x_twiddle && p < t->packs; p++) {
        const int of[4] = {p, 2 * p, 4 * p, p + t->packs};
        double root[2], *w = t->x_twiddle + p / PACK_PART * (4 * PACK) + p % PACK_PART;
        for (int i = 0; i < 4; i++, w += PACK) {
            line_root(of[i], t->nx, root);
            w[0] = root[0];
            w[PACK_PART] = root[1];
        }
    }
    return t->x_twiddle ? 0 : -1;
}

int transform_open(struct transform *t, int nx, int ny, int nz) {
    *t = (struct transform){.nx = nx, .ny = ny, .nz = nz, .packs = nx / PACK_PART};
    t->past = LANES > 2 && 2 * sizeof(double) * (size_t)nx * (size_t)ny * (size_t)nz >= PAST_BYTES;
    t->group = (int)((size_t)(t->past ? GROUP_BYTES_PAST : GROUP_BYTES) /
                     (sizeof(double) * PACK * (size_t)nz));
    t->group = t->group < 1 ? 1 : t->group > GROUP_MOST ? GROUP_MOST : t->group;
    t->row = (t->packs + 1) * PACK; /* else a column would have few sets of the caches */
    if (line_open(&t->x, t->packs) || line_open(&t->y, ny) || line_open(&t->z, nz)) return -1;
    return nx < 64 ? open_matrix(t) : open_roots(t);
}

void transform_close(struct transform *t) {
    line_close(&t->x);
    line_close(&t->y);
    line_close(&t->z);
    free(t->x_twiddle);
    free(t->x_matrix);
    *t = (struct transform){0};
}

static int longest(const struct transform *t) {
    int n = 2 * t->packs;
    if (n < t->ny) n = t->ny;
    return n < t->nz ? t->nz : n;
}

size_t transform_workspace(const struct transform *t) {
    const size_t one = (size_t)longest(t), group = (size_t)t->group * (size_t)t->nz;
    return (one < group ? group : one) * PACK;
}
size_t transform_plane(const struct transform *t) { return (size_t)t->row * (size_t)t->ny; }
size_t transform_slab(const struct transform *t) { return (size_t)t->packs * t->nz * PACK; }

/* ---- along x ------------------------------------------------------------------------------- */

/* Lanes of LANES packs from `part` on: a[lane] of pack i in lane i. */
INLINE void lanes_of(const double *part, vec a[PACK_PART]) {
    for (int h = 0; h < PACK_VECS; h++) {
        for (int i = 0; i < LANES; i++) a[h * LANES + i] = vec_load(part + i * PACK + h * LANES);
        vec_transpose(a + h * LANES);
    }
}

/* Vector h of packs p to p+7 across their lanes. With x = 8 b + lane and its result k = p + packs
 * q: the line over b has been transformed into packs p; what is left is a transform of eight over
 * the lanes, for which packs are transposed, so that a lane is a p, with the root w^p. Its results
 * q lie in order. */
INLINE void across_lanes(const struct transform *t, const double *packs, double *row, int p, int h,
                         enum line_sign sign) {
    const double *w = t->x_twiddle + p * 8 + h * LANES, *from = packs + (p + h * LANES) * PACK;
    const ptrdiff_t across = 2 * t->packs; /* from result q to the next */
    vec re[PACK_PART], im[PACK_PART];
    struct cnum a[PACK_PART], r[4];
    for (int i = 0; i < 4; i++)
        r[i] = (struct cnum){vec_load(w + i * PACK), vec_load(w + i * PACK + PACK_PART)};
    const struct roots8 roots = {&r[0], &r[1], &r[2], &r[3]};
    lanes_of(from + sign, re);
    lanes_of(from + 8 - sign, im);
    for (int i = 0; i < 4; i++) {
        a[i] = (struct cnum){re[i], im[i]};
        a[i + 4] = (struct cnum){re[i + 4], im[i + 4]};
        butterfly8_first(a, i, roots);
    }
    for (int odd = 0; odd < 2; odd++) {
        butterfly8_half(a, odd, roots);
        for (int i = 0; i < 4; i++)
            pack_store(row + 2 * p + (odd + 4 * (i & 1) + (i & 2)) * across, h, sign,
                       a[4 * odd + i]);
    }
}

/* Rows too short for that, as the definition has it. */
static void short_row(const struct transform *t, double *row, enum line_sign sign, double *work) {
    const int n = t->nx;
    for (int k = 0; k < n; k++) {
        double re = 0, im = 0;
        for (int j = 0; j < n; j++) {
            const double *w = t->x_matrix + 2 * (j * k % n);
            const double *a = row + j / PACK_PART * PACK + j % PACK_PART;
            re += a[sign] * w[0] - a[8 - sign] * w[1];
            im += a[sign] * w[1] + a[8 - sign] * w[0];
        }
        work[2 * k] = re;
        work[2 * k + 1] = im;
    }
    for (int k = 0; k < n; k++) {
        double *a = row + k / PACK_PART * PACK + k % PACK_PART;
        a[sign] = work[2 * k];
        a[8 - sign] = work[2 * k + 1];
    }
}

INLINE void rows(const struct transform *t, double *plane, int y0, int y1, enum line_sign sign,
                 double *work) {
    double *packs = work + (ptrdiff_t)t->packs * PACK;
    for (int y = y0; y < y1; y++) {
        double *row = plane + y * t->row;
        if (t->nx < 64) {
            short_row(t, row, sign, work);
            continue;
        }
        const double *soon = y + ROWS_AHEAD < t->ny ? row + ROWS_AHEAD * t->row : NULL;
        line_transform(&t->x, (struct line_from){.at = row, .stride = PACK}, work,
                       (struct line_to){.at = packs, .stride = PACK, .soon = soon}, sign);
        for (int p = 0; p < t->packs; p += PACK_PART) {
#pragma GCC unroll 4
            for (int h = 0; h < PACK_VECS; h++) across_lanes(t, packs, row, p, h, sign);
        }
    }
}

void transform_x(const struct transform *t, double *plane, int y0, int y1, enum line_sign sign,
                 double *work) {
    if (sign == LINE_PLUS)
        rows(t, plane, y0, y1, LINE_PLUS, work);
    else
        rows(t, plane, y0, y1, LINE_MINUS, work);
}

/* ---- along y ------------------------------------------------------------------------------- */

INLINE void columns(const struct transform *t, double *plane, int p0, int p1, enum line_sign sign,
                    double *work) {
    const ptrdiff_t row = t->row;
    for (int p = p0; p < p1; p++) {
        double *at = plane + p * PACK;
        line_transform(&t->y, (struct line_from){.at = at, .stride = row}, work,
                       (struct line_to){.at = at, .stride = row}, sign);
    }
}

void transform_y(const struct transform *t, double *plane, int p0, int p1, enum line_sign sign,
                 double *work) {
    if (sign == LINE_PLUS)
        columns(t, plane, p0, p1, LINE_PLUS, work);
    else
        columns(t, plane, p0, p1, LINE_MINUS, work);
}

INLINE void columns_to_slabs(const struct transform *t, const double *plane, int z,
                             double *const *slab, int p0, int p1, enum line_sign sign,
                             double *work) {
    const ptrdiff_t row = t->row;
    for (int p = p0; p < p1; p++)
        line_transform(&t->y, (struct line_from){.at = plane + p * PACK, .stride = row}, work,
                       (struct line_to){.plane = slab, .stride = ((ptrdiff_t)p * t->nz + z) * PACK},
                       sign);
}

void transform_y_to_slabs(const struct transform *t, const double *plane, int z,
                          double *const *slab, int p0, int p1, enum line_sign sign, double *work) {
    if (sign == LINE_PLUS)
        columns_to_slabs(t, plane, z, slab, p0, p1, LINE_PLUS, work);
    else
        columns_to_slabs(t, plane, z, slab, p0, p1, LINE_MINUS, work);
}

/* ---- along z ------------------------------------------------------------------------------- */

INLINE void depths(const struct transform *t, double *slab, int p0, int p1, enum line_sign sign,
                   double *work) {
    for (int p = p0; p < p1; p++) {
        double *at = slab + (ptrdiff_t)p * t->nz * PACK;
        line_transform(&t->z, (struct line_from){.at = at, .stride = PACK}, work,
                       (struct line_to){.at = at, .stride = PACK}, sign);
    }
}

void transform_z(const struct transform *t, double *slab, int p0, int p1, enum line_sign sign,
                 double *work) {
    if (sign == LINE_PLUS)
        depths(t, slab, p0, p1, LINE_PLUS, work);
    else
        depths(t, slab, p0, p1, LINE_MINUS, work);
}

INLINE void depths_to_planes(const struct transform *t, const double *slab, int y,
                             const struct decay *e, double *const *plane, ptrdiff_t at, int p0,
                             int p1, const double *soon, enum line_sign sign, double *work) {
    for (int p = p0; p < p1; p += t->group) {
        const int count = p1 - p < t->group ? p1 - p : t->group;
        for (int i = 0; i < count; i++) {
            _Alignas(64) double scale[PACK_PART];
            for (int lane = 0; e && lane < PACK_PART; lane++)
                scale[lane] = e->x[(p + i) * PACK_PART + lane] * e->y[y];
            line_begin(&t->z,
                       (struct line_from){.at = slab + (ptrdiff_t)(p + i) * t->nz * PACK,
                                          .stride = PACK,
                                          .factor = e ? e->z : NULL,
                                          .scale = scale},
                       work + (ptrdiff_t)i * t->nz * PACK, sign);
        }
        /* the group that is next */
        const double *from = p + count < p1 ? slab + (ptrdiff_t)(p + count) * t->nz * PACK
                             : soon         ? soon + (ptrdiff_t)p0 * t->nz * PACK
                                            : NULL;
        struct line_to to = {.plane = plane, .stride = at + p * PACK, .soon = from};
        if (t->past) {
            to.past = 1;
            line_end(&t->z, work, count, to, sign);
        } else {
            to.past = 0;
            line_end(&t->z, work, count, to, sign);
        }
    }
    if (t->past) vec_streamed();
}

void transform_z_to_planes(const struct transform *t, const double *slab, int y,
                           const struct decay *e, double *const *plane, ptrdiff_t at, int p0,
                           int p1, const double *soon, enum line_sign sign, double *work) {
    if (e && sign == LINE_PLUS)
        depths_to_planes(t, slab, y, e, plane, at, p0, p1, soon, LINE_PLUS, work);
    else if (e)
        depths_to_planes(t, slab, y, e, plane, at, p0, p1, soon, LINE_MINUS, work);
    else if (sign == LINE_PLUS)
        depths_to_planes(t, slab, y, NULL, plane, at, p0, p1, soon, LINE_PLUS, work);
    else
        depths_to_planes(t, slab, y, NULL, plane, at, p0, p1, soon, LINE_MINUS, work);
}
