/* Transforms along the axes. */
#include "ft/transform.h"
#include <stdlib.h>

/* Buffers of a group are to stay in a core's cache. */
enum { GROUP_MOST = 8, GROUP_BYTES = 256 << 10 };

int transform_open(struct transform *t, int nx, int ny, int nz) {
    *t = (struct transform){.nx = nx, .ny = ny, .nz = nz, .packs = nx / PACK_PART};
    t->group = (int)(GROUP_BYTES / (sizeof(double) * PACK * (size_t)nz));
    t->group = t->group < 1 ? 1 : t->group > GROUP_MOST ? GROUP_MOST : t->group;
    t->row = (t->packs + 1) * PACK; /* or else a column would have few sets of the caches */
    if (line_open(&t->x, t->packs) || line_open(&t->y, ny) || line_open(&t->z, nz)) return -1;
    t->x_twiddle = aligned_alloc(64, (size_t)t->packs * PACK * sizeof(double));
    if (!t->x_twiddle) return -1;
    for (int p = 0; p < t->packs; p++)
        for (int lane = 0; lane < PACK_PART; lane++) {
            double root[2];
            line_root(lane * p, nx, root);
            t->x_twiddle[p * PACK + lane] = root[0];
            t->x_twiddle[p * PACK + PACK_PART + lane] = root[1];
        }
    if (nx >= 64) return 0;
    t->x_matrix = malloc(2 * (size_t)nx * sizeof(double));
    if (!t->x_matrix) return -1;
    for (int j = 0; j < nx; j++) line_root(j, nx, t->x_matrix + 2 * j);
    return 0;
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

/* v[pack] lane  <->  v[lane] pack, of eight half packs */
INLINE void transpose_part(double part[PACK_PART][PACK_PART]) {
    for (int i = 0; i < PACK_VECS; i++)
        for (int j = 0; j <= i; j++) {
            vec a[LANES], b[LANES];
            for (int r = 0; r < LANES; r++) {
                a[r] = vec_load(&part[i * LANES + r][j * LANES]);
                b[r] = vec_load(&part[j * LANES + r][i * LANES]);
            }
            vec_transpose(a);
            vec_transpose(b);
            for (int r = 0; r < LANES; r++) {
                vec_store(&part[i * LANES + r][j * LANES], b[r]);
                vec_store(&part[j * LANES + r][i * LANES], a[r]);
            }
        }
}

/* With x = 8 b + lane and its result k = p + packs q: the line over b has been transformed into
 * packs p; what is left is a transform of eight over the lanes, for which eight packs are
 * transposed, so that a lane is a p. Its results q lie in order. */
INLINE void across_lanes(const struct transform *t, const double *packs, double *row,
                         enum line_sign sign) {
    for (int p = 0; p < t->packs; p += PACK_PART) {
        _Alignas(64) double part[2][PACK_PART][PACK_PART];
        for (int i = 0; i < PACK_PART; i++)
            for (int h = 0; h < PACK_VECS; h++) {
                const double *w = t->x_twiddle + (p + i) * PACK + h * LANES;
                const struct cnum a = cnum_times(pack_load(packs + (p + i) * PACK, h, sign),
                                                 vec_load(w), vec_load(w + PACK_PART));
                vec_store(&part[0][i][h * LANES], a.re);
                vec_store(&part[1][i][h * LANES], a.im);
            }
        transpose_part(part[0]);
        transpose_part(part[1]);
        for (int h = 0; h < PACK_VECS; h++) {
            struct cnum a[PACK_PART];
            for (int i = 0; i < PACK_PART; i++)
                a[i] = (struct cnum){vec_load(&part[0][i][h * LANES]),
                                     vec_load(&part[1][i][h * LANES])};
            transform8(a);
            for (int q = 0; q < PACK_PART; q++)
                pack_store(row + (q * t->packs + p) / PACK_PART * PACK, h, sign, a[q]);
        }
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
        line_transform(&t->x, (struct line_from){.at = row, .stride = PACK}, work,
                       (struct line_to){.at = packs, .stride = PACK}, sign);
        across_lanes(t, packs, row, sign);
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
                             int p1, enum line_sign sign, double *work) {
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
        line_end(&t->z, work, count, (struct line_to){.plane = plane, .stride = at + p * PACK},
                 sign);
    }
}

void transform_z_to_planes(const struct transform *t, const double *slab, int y,
                           const struct decay *e, double *const *plane, ptrdiff_t at, int p0,
                           int p1, enum line_sign sign, double *work) {
    if (e && sign == LINE_PLUS)
        depths_to_planes(t, slab, y, e, plane, at, p0, p1, LINE_PLUS, work);
    else if (e)
        depths_to_planes(t, slab, y, e, plane, at, p0, p1, LINE_MINUS, work);
    else if (sign == LINE_PLUS)
        depths_to_planes(t, slab, y, NULL, plane, at, p0, p1, LINE_PLUS, work);
    else
        depths_to_planes(t, slab, y, NULL, plane, at, p0, p1, LINE_MINUS, work);
}
