/* Norms, surface integral and hash of the zones of a batch: what norms.c computes, in its order.
 *
 * A group takes a plane of a zone. It makes the squares of a row, ITEMS points at a time, into
 * local memory, where as many items as the host's vectors have lanes add up, each component by
 * itself, what the host adds up in that lane. So the expensive part, the points, is done by all
 * items, and the order of the sum is the host's: where nothing is fused, the bits are too. A second
 * kernel, in which one group a zone has something to do, adds up the planes.
 *
 * Cost: norms of BT and SP read the solution 13 times and the forcing once, all but 80 bytes a
 * point from caches, and take the 270 instructions of residual_item() and 30 for the error: in the
 * order of a residual, once a run. The hash reads 40 bytes a point.
 */
#define NPBMZ_ITEM
#include "npbmz/host/exact.kernel.h"
#include "npbmz/device/norms.kernel.h"
#include "npbmz/device/residual.kernel.h"

#define ITEMS     32
#define MAX_LANES 8

/* Adds ITEMS squares of each component, square[m*ITEMS + l], to the lanes' sums. ITEMS is a
 * multiple of the number of lanes, and a row begins with the first lane. */
#define ADD_SQUARES                                                                                \
    EVN_BARRIER;                                                                                   \
    EVN_SHARE(s, NC *c.lanes) {                                                                    \
        const int m = s / c.lanes;                                                                 \
        double a = sum[s];                                                                         \
        for (int l = s - m * c.lanes; l < ITEMS; l += c.lanes) a += square[m * ITEMS + l];         \
        sum[s] = a;                                                                                \
    }                                                                                              \
    EVN_BARRIER;

#define CLEAR_SUMS                                                                                 \
    EVN_SHARE(s, NC *MAX_LANES) { sum[s] = 0; }                                                    \
    EVN_BARRIER;

/* the lanes' sums of component m, added up in order */
EVN_DEVICE_FUNCTION double lanes_sum(EVN_LOCAL const double *sum, int m, int lanes) {
    double a = sum[m * lanes];
    for (int l = 1; l < lanes; l++) a += sum[m * lanes + l];
    return a;
}

EVN_DEVICE_FUNCTION void put_squares(EVN_LOCAL double *square, int l, const double a[NC]) {
    square[l] = a[0] * a[0];
    square[ITEMS + l] = a[1] * a[1];
    square[2 * ITEMS + l] = a[2] * a[2];
    square[3 * ITEMS + l] = a[3] * a[3];
    square[4 * ITEMS + l] = a[4] * a[4];
}

/* for a point that does not count */
EVN_DEVICE_FUNCTION void put_zeros(EVN_LOCAL double *square, int l) {
    square[l] = 0;
    square[ITEMS + l] = 0;
    square[2 * ITEMS + l] = 0;
    square[3 * ITEMS + l] = 0;
    square[4 * ITEMS + l] = 0;
}

/* ---- residual -------------------------------------------------------------------------------- */

/* f + L(u) of an interior point */
EVN_DEVICE_FUNCTION void square_residual(EVN_LOCAL double *square, int l,
                                         EVN_GLOBAL const double *field, const struct gpu_zone *z,
                                         const struct residual_constants *c, int i, int j, int k) {
    double r[NC];
    struct residual_point q;
    residual_item(field + z->u, field + z->f, z->sj, z->sk, z->sc, z->nx, z->ny, z->nz, i, j, k, c,
                  r, &q);
    put_squares(square, l, r);
}

/* LU's residual, which is carried from step to step */
EVN_DEVICE_FUNCTION void square_carried(EVN_LOCAL double *square, int l,
                                        EVN_GLOBAL const double *field, const struct gpu_zone *z,
                                        int i, int j, int k) {
    double r[NC];
    residual_item_load(r, field + z->r + k * z->sk + j * z->sj + i, z->sc);
    put_squares(square, l, r);
}

/* BT and SP: one plane */
EVN_KERNEL(norms_residual, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct norms_value, c))) {
    EVN_LOCAL_ARRAY(double, square, NC *ITEMS);
    EVN_LOCAL_ARRAY(double, sum, NC *MAX_LANES);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int k = pieces[EVN_GROUP].part;
    CLEAR_SUMS
    if (k >= 1 && k <= z.nz - 2)
        for (int j = 1; j < z.ny - 1; j++)
            for (int i0 = 0; i0 < z.nx - 1; i0 += ITEMS) {
                EVN_ITEMS(l) {
                    put_zeros(square, l);
                    if (i0 + l >= 1 && i0 + l <= z.nx - 2)
                        square_residual(square, l, field, &z, &c.residual, i0 + l, j, k);
                }
                ADD_SQUARES
            }
    EVN_SHARE(m, NC) { work[z.work + norms_at_residual(k) + m] = lanes_sum(sum, m, c.lanes); }
}

/* LU: one plane */
EVN_KERNEL(norms_carried, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct norms_value, c))) {
    EVN_LOCAL_ARRAY(double, square, NC *ITEMS);
    EVN_LOCAL_ARRAY(double, sum, NC *MAX_LANES);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int k = pieces[EVN_GROUP].part;
    CLEAR_SUMS
    if (k >= 1 && k <= z.nz - 2)
        for (int j = 1; j < z.ny - 1; j++)
            for (int i0 = 0; i0 < z.nx - 1; i0 += ITEMS) {
                EVN_ITEMS(l) {
                    put_zeros(square, l);
                    if (i0 + l >= 1 && i0 + l <= z.nx - 2)
                        square_carried(square, l, field, &z, i0 + l, j, k);
                }
                ADD_SQUARES
            }
    EVN_SHARE(m, NC) { work[z.work + norms_at_residual(k) + m] = lanes_sum(sum, m, c.lanes); }
}

/* ---- error ----------------------------------------------------------------------------------- */

/* component m of the exact solution at a point whose coordinates are x, y, z */
EVN_DEVICE_FUNCTION double exact_at(int m, double x, double y, double z) {
    return exact_of(0, m, x) + (exact_of(1, m, y) + exact_of(2, m, z));
}

EVN_DEVICE_FUNCTION void square_error(EVN_LOCAL double *square, int l,
                                      EVN_GLOBAL const double *field, const struct gpu_zone *z,
                                      const struct norms_value *c, int i, int j, int k) {
    const double x = exact_coordinate(c->lu, i, z->nx, c->h[0]);
    const double y = exact_coordinate(c->lu, j, z->ny, c->h[1]);
    const double zz = exact_coordinate(c->lu, k, z->nz, c->h[2]);
    double a[NC];
    residual_item_load(a, field + z->u + k * z->sk + j * z->sj + i, z->sc);
    a[0] -= exact_at(0, x, y, zz);
    a[1] -= exact_at(1, x, y, zz);
    a[2] -= exact_at(2, x, y, zz);
    a[3] -= exact_at(3, x, y, zz);
    a[4] -= exact_at(4, x, y, zz);
    put_squares(square, l, a);
}

/* One plane. LU: interior points only. */
EVN_KERNEL(norms_error, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct norms_value, c))) {
    EVN_LOCAL_ARRAY(double, square, NC *ITEMS);
    EVN_LOCAL_ARRAY(double, sum, NC *MAX_LANES);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int k = pieces[EVN_GROUP].part, edge = c.lu ? 1 : 0;
    const int blocks = norms_blocks(z.nx, c.columns);
    for (int b = 0; b < blocks; b++) {
        const int begin = b * c.columns, end = evn_imin(begin + c.columns, z.nx);
        CLEAR_SUMS
        if (k >= edge && k < z.nz - edge)
            for (int j = edge; j < z.ny - edge; j++)
                for (int i0 = begin; i0 < end; i0 += ITEMS) {
                    EVN_ITEMS(l) {
                        put_zeros(square, l);
                        if (i0 + l >= edge && i0 + l < z.nx - edge)
                            square_error(square, l, field, &z, &c, i0 + l, j, k);
                    }
                    ADD_SQUARES
                }
        EVN_SHARE(m, NC) {
            work[z.work + norms_at_error(z.nz, b, k) + m] = lanes_sum(sum, m, c.lanes);
        }
        EVN_BARRIER;
    }
}

/* ---- surface integral ------------------------------------------------------------------------ */

EVN_DEVICE_FUNCTION double pressure(EVN_GLOBAL const double *u, evn_long sc) {
    const double m1 = u[sc], m2 = u[2 * sc], m3 = u[3 * sc];
    return C2 * (u[4 * sc] - (m1 * m1 + m2 * m2 + m3 * m3) / (2 * u[0]));
}

/* Pressure over `count` points, those between the ends twice: corners of two cells. */
EVN_DEVICE_FUNCTION double line_sum(EVN_GLOBAL const double *u, evn_long sc, evn_long stride,
                                    int count) {
    double sum = 0;
    for (int a = 0; a < count; a++)
        sum += (a == 0 || a == count - 1 ? 1 : 2) * pressure(u + a * stride, sc);
    return sum;
}

/* line number `line` of norms_lines(); the box is that of zone_surface() */
EVN_DEVICE_FUNCTION double surface_line(EVN_GLOBAL const double *u, const struct gpu_zone *z,
                                        int line) {
    const int ni = z->nx - 2, nj = z->ny - 3, nk = z->nz - 3;
    const int horizontal = line < 2 * nj;
    const int n = horizontal ? nj : nk, rest = horizontal ? line : line - 2 * nj;
    const int face = rest / n, b = rest - face * n; /* 0 1, or 0 1 2 3 */
    const int along_y = !horizontal && face >= 2;
    const int i = along_y && face == 3 ? ni : 1;
    const int j = horizontal ? 1 + b : !along_y && face == 1 ? nj : 1;
    const int k = !horizontal ? 2 + b : face == 1 ? nk + 1 : 2;
    return line_sum(u + k * z->sk + j * z->sj + i, z->sc, along_y ? z->sj : 1, along_y ? nj : ni);
}

/* All pieces of a zone share its lines. */
EVN_KERNEL(norms_surface, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct norms_value, c))) {
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int lines = norms_lines(z.ny, z.nz);
    for (int first = pieces[EVN_GROUP].part * ITEMS; first < lines; first += z.nz * ITEMS) {
        EVN_ITEMS(l) {
            if (first + l < lines)
                work[z.work + norms_at_line(z.nx, z.nz, c.columns, first + l)] =
                    surface_line(field + z.u, &z, first + l);
        }
    }
}

/* sum over the lines of a face, those between the ends twice */
EVN_DEVICE_FUNCTION double face_sum(EVN_GLOBAL const double *line, int count) {
    double sum = 0;
    for (int b = 0; b < count; b++) sum += (b == 0 || b == count - 1 ? 1 : 2) * line[b];
    return sum;
}

/* ---- hash ------------------------------------------------------------------------------------ */

/* mix(b + n g) of norms.h */
EVN_DEVICE_FUNCTION evn_ulong hash_of(double value, evn_ulong n) {
    const evn_ulong golden = ((evn_ulong)0x9e3779b9 << 32) | 0x7f4a7c15;
    evn_ulong x = evn_bits(value) + n * golden;
    x ^= x >> 32;
    x *= ((evn_ulong)0xd6e8feb8 << 32) | 0x6659fd93;
    x ^= x >> 29;
    x *= golden;
    return x ^ (x >> 32);
}

/* one plane of all components */
EVN_KERNEL(norms_hash, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct norms_value, c))) {
    EVN_LOCAL_ARRAY(evn_ulong, part, ITEMS);
    EVN_PRIVATE(evn_ulong, mine);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int k = pieces[EVN_GROUP].part;
    EVN_ITEMS(l) { EVN_OWN(mine, l) = 0; }
    for (int m = 0; m < NC; m++)
        for (int j = 0; j < z.ny; j++) {
            const evn_long row = z.u + m * z.sc + k * z.sk + j * z.sj;
            const evn_ulong n = (((evn_ulong)m * z.nz + k) * z.ny + j) * z.nx + 1;
            for (int i0 = 0; i0 < z.nx; i0 += ITEMS) {
                EVN_ITEMS(l) {
                    if (i0 + l < z.nx) EVN_OWN(mine, l) += hash_of(field[row + i0 + l], n + i0 + l);
                }
            }
        }
    EVN_ITEMS(l) { part[l] = EVN_OWN(mine, l); }
    EVN_BARRIER;
    EVN_FIRST {
        evn_ulong a = 0;
        for (int l = 0; l < ITEMS; l++) a += part[l];
        const evn_long at = z.work + norms_at_hash(z.nx, z.nz, c.columns, k);
        work[at] = (double)(a >> 32);
        work[at + 1] = (double)(a & 0xffffffff);
    }
}

/* ---- a zone ---------------------------------------------------------------------------------- */

/* The zone's first piece adds up all of them and puts the results into their place. */
EVN_KERNEL(norms_zone, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct norms_value, c))) {
    EVN_LOCAL_ARRAY(double, face, 6);
    (void)field;
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int first = pieces[EVN_GROUP].part == 0;
    const double interior = (z.nx - 2.0) * (z.ny - 2.0) * (z.nz - 2.0);
    EVN_GLOBAL double *to = work + z.work;
    if (first && c.norms) {
        EVN_SHARE(m, NC) {
            double residual = 0, error = 0;
            for (int k = 0; k < z.nz; k++) residual += to[norms_at_residual(k) + m];
            /* sums of planes that do not count are 0 */
            for (int b = 0; b < norms_blocks(z.nx, c.columns); b++)
                for (int k = 0; k < z.nz; k++) error += to[norms_at_error(z.nz, b, k) + m];
            to[NORMS_RESIDUAL + m] = evn_sqrt(residual / interior);
            to[NORMS_ERROR + m] = evn_sqrt(error / interior);
        }
        if (c.lu) {
            EVN_SHARE(f, 6) {
                const int nj = z.ny - 3, nk = z.nz - 3;
                const int line = f < 2 ? f * nj : 2 * nj + (f - 2) * nk;
                face[f] =
                    face_sum(to + norms_at_line(z.nx, z.nz, c.columns, line), f < 2 ? nj : nk);
            }
            EVN_BARRIER;
        }
        EVN_FIRST {
            double surface = 0;
            if (c.lu) {
                const double xy = face[0] + face[1], xz = face[2] + face[3], yz = face[4] + face[5];
                surface =
                    0.25 * (c.h[0] * c.h[1] * xy + c.h[0] * c.h[2] * xz + c.h[1] * c.h[2] * yz);
            }
            to[NORMS_SURFACE] = surface;
        }
    }
    if (first && c.hashes) {
        EVN_FIRST {
            evn_ulong a = 0;
            for (int k = 0; k < z.nz; k++) {
                const evn_long at = norms_at_hash(z.nx, z.nz, c.columns, k);
                a += ((evn_ulong)to[at] << 32) + (evn_ulong)to[at + 1];
            }
            to[NORMS_HASH] = (double)(a >> 32);
            to[NORMS_HASH + 1] = (double)(a & 0xffffffff);
        }
    }
}

/* Moves the results of all zones together: those of zone n of the batch to NORMS_RESULT n. That may
 * be where the results of an earlier zone are, since a zone's work space is no smaller than its
 * results and a multiple of 32, but never where those of a later one are. So one group moves them
 * in order, ITEMS zones at a time, of which it reads all before it writes one. */
EVN_KERNEL(norms_collect, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct norms_value, c))) {
    EVN_PRIVATE_ARRAY(double, result, NORMS_END);
    (void)field;
    (void)pieces;
    if (EVN_GROUP == 0)
        for (int n = 0; n < c.zones; n += ITEMS) {
            EVN_ITEMS(l) {
                if (n + l < c.zones)
                    for (int s = 0; s < NORMS_END; s++)
                        if (s < NORMS_HASH ? c.norms : c.hashes)
                            EVN_OWN_AT(result, s, l) = work[zones[n + l].work + s];
            }
            EVN_BARRIER;
            EVN_ITEMS(l) {
                if (n + l < c.zones)
                    for (int s = 0; s < NORMS_END; s++)
                        if (s < NORMS_HASH ? c.norms : c.hashes)
                            work[(evn_long)(n + l) * NORMS_RESULT + s] = EVN_OWN_AT(result, s, l);
            }
            EVN_BARRIER;
        }
}
