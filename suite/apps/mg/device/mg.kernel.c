/* The operators of mg/slabs/rows.h on a device, term by term in the same order, so that without
 * fused operations the bits are the host's.
 *
 * mg_up is one pass over a level: a group marches along z with the planes it needs of u and of r in
 * registers, three of each, and a plane comes in while the one two behind it goes out. An item has
 * a strip of rows of a column; local memory has what it gives to its neighbours: the strip's ends,
 * and of each row the part of a sum that the columns beside it take. What tiles and ranges read
 * beyond their own they compute again. u is written beside what is read, since a neighbour may not
 * have read it yet. mg_last is P A as one operator, planes of u in registers. */
#include "mg/device/device.kernel.h"

EVN_DEVICE_FUNCTION evn_long plane_at(const struct device_level *l, EVN_GLOBAL const int *slot,
                                      int k) {
    return slot[l->slots + (k & (l->n - 1))] * l->plane;
}

/* Bit i: whether plane first + i has a charge. The same for all items. */
EVN_DEVICE_FUNCTION evn_ulong charged(EVN_GLOBAL const struct device_charge *charge, int first,
                                      int n) {
    evn_ulong planes = 0;
    for (int q = 0; q < DEVICE_CHARGES; q++) {
        const int after = (charge[q].z - first) & (n - 1);
        if (after < 64) planes |= (evn_ulong)1 << after;
    }
    return planes;
}
EVN_DEVICE_FUNCTION double charges_at(EVN_GLOBAL const struct device_charge *charge, double r,
                                      int x, int y, int k) {
    for (int q = 0; q < DEVICE_CHARGES; q++)
        if (charge[q].z == k && charge[q].y == y && charge[q].x == x) r += charge[q].value;
    return r;
}

enum {
    U_ROW = UP_X + 4,     /* items of a row of the tile with two points around it */
    Z_ROW = UP_X / 2 + 3, /* coarse points of a row that the tile needs */
    Z_PLANE = Z_ROW * (UP_Y / 2 + 3),
    Z_EACH = (Z_PLANE + UP_ITEMS - 1) / UP_ITEMS /* coarse points of an item */
};

/* Rows at the ends of each item's strip, for its neighbours: sums of the planes below and above,
 * then the plane between them. */
#define ENDS (2 * UP_ITEMS)

/* Q z at an item's point of row j: the mean of two rows and two columns of `mean`, the mean of two
 * planes of z. Where the same twice gives itself it is taken once; strips begin on even rows. */
EVN_DEVICE_FUNCTION double interpolated(EVN_LOCAL const double *mean, int i, int j) {
    const int x = i % U_ROW, after = x / 2 + 1, before = x / 2 + (x & 1);
    EVN_LOCAL const double *row = mean + (i / U_ROW * (UP_ROWS / 2) + j / 2) * Z_ROW;
    const double b = row[Z_ROW + before], a = row[Z_ROW + after];
    if (j & 1) return 0.5 * (b + a);
    return 0.5 * (0.5 * (row[before] + b) + 0.5 * (row[after] + a));
}

/* Items of the same column in the strips before and behind, and of the columns beside; an item at
 * an edge takes itself, since nobody uses what it makes of that. */
EVN_DEVICE_FUNCTION int strip_before(int i) { return i < U_ROW ? i : i - U_ROW; }
EVN_DEVICE_FUNCTION int strip_behind(int i) { return i < UP_ITEMS - U_ROW ? i + U_ROW : i; }
EVN_DEVICE_FUNCTION double beside(EVN_LOCAL const double *side, int i, int j) {
    return side[j * UP_ITEMS + evn_imax(i - 1, 0)] +
           side[j * UP_ITEMS + evn_imin(i + 1, UP_ITEMS - 1)];
}

/* A row's value above or below row j of an item's strip, where `own` is the strip's. */
#define BEFORE(own, j, i, ends, part)                                                              \
    ((j) ? EVN_OWN_AT(own, (j) ? (j)-1 : 0, i) : ends[(part) + strip_before(i)])
#define BEHIND(own, j, i, ends, part)                                                              \
    ((j) < UP_ROWS - 1 ? EVN_OWN_AT(own, (j) < UP_ROWS - 1 ? (j) + 1 : 0, i)                       \
                       : ends[(part) + strip_behind(i)])

/* Rows of an item are in registers only where all loops over them are unrolled, which NVIDIA's
 * compiler does not do by itself for 10.0 and later. */
#ifdef EVN_CUDA
#    define UNROLL _Pragma("unroll")
#else
#    define UNROLL
#endif

EVN_KERNEL(mg_up, UP_ITEMS,
           (EVN_IN(double, old), EVN_BUFFER(double, u), EVN_IN(double, v), EVN_IN(double, z),
            EVN_IN(int, slot), EVN_IN(int, range), EVN_IN(struct device_charge, charge),
            EVN_VALUE(struct up_value, c))) {
    EVN_LOCAL_ARRAY(double, mean, Z_PLANE);
    EVN_LOCAL_ARRAY(double, first, ENDS);
    EVN_LOCAL_ARRAY(double, last, ENDS);
    EVN_LOCAL_ARRAY(double, side, UP_ROWS *UP_ITEMS);
    EVN_PRIVATE_ARRAY(double, z0, Z_EACH);
    EVN_PRIVATE_ARRAY(int, place, UP_ROWS);
    EVN_PRIVATE_ARRAY(int, coarse, Z_EACH);
    EVN_PRIVATE_ARRAY(double, u0, UP_ROWS); /* u of planes t - 2, t - 1 and t */
    EVN_PRIVATE_ARRAY(double, u1, UP_ROWS);
    EVN_PRIVATE_ARRAY(double, u2, UP_ROWS);
    EVN_PRIVATE_ARRAY(double, r0, UP_ROWS); /* r of planes t - 3, t - 2 and t - 1 */
    EVN_PRIVATE_ARRAY(double, r1, UP_ROWS);
    EVN_PRIVATE_ARRAY(double, r2, UP_ROWS);
    EVN_PRIVATE_ARRAY(double, sum, UP_ROWS); /* sums of the planes below and above */
    EVN_PRIVATE_ARRAY(double, base, UP_ROWS);
    const int n = c.here.n, wrap = n - 1, across = (n + UP_X - 1) / UP_X;
    const int tiles = across * ((n + UP_Y - 1) / UP_Y), tile = EVN_GROUP % tiles;
    const int x0 = tile % across * UP_X, y0 = tile / across * UP_Y;
    const int begin = range[2 * (EVN_GROUP / tiles)], end = range[2 * (EVN_GROUP / tiles) + 1];
    const evn_ulong charges = c.finest ? charged(charge, begin - 1, n) : 0;
    UNROLL for (int q = 0; q < Z_EACH; q++) {
        EVN_ITEMS(i) {
            const int e = evn_imin(i + q * UP_ITEMS, Z_PLANE - 1), m = c.below.n - 1;
            const int x = (x0 / 2 + e % Z_ROW - 2) & m, y = (y0 / 2 + e / Z_ROW - 2) & m;
            EVN_OWN_AT(coarse, q, i) = y * (int)c.below.row + x;
            EVN_OWN_AT(z0, q, i) =
                z[plane_at(&c.below, slot, ((begin - 2) & wrap) / 2 - (~begin & 1)) +
                  EVN_OWN_AT(coarse, q, i)];
        }
    }
    UNROLL for (int j = 0; j < UP_ROWS; j++) {
        EVN_ITEMS(i) {
            const int x = (x0 + i % U_ROW - 2) & wrap,
                      y = (y0 + i / U_ROW * UP_ROWS + j - 2) & wrap;
            EVN_OWN_AT(place, j, i) = y * (int)c.here.row + x;
            EVN_OWN_AT(u0, j, i) = EVN_OWN_AT(u1, j, i) = 0;
            EVN_OWN_AT(r0, j, i) = EVN_OWN_AT(r1, j, i) = 0;
        }
    }
    for (int t = begin - 2; t < end + 2; t++) {
        const evn_long high = plane_at(&c.below, slot, (t & wrap) / 2),
                       from = plane_at(&c.here, slot, t);
        UNROLL for (int q = 0; q < Z_EACH; q++) {
            EVN_ITEMS(i) {
                const double z1 = t & 1 ? EVN_OWN_AT(z0, q, i) : z[high + EVN_OWN_AT(coarse, q, i)];
                if (i + q * UP_ITEMS < Z_PLANE)
                    mean[i + q * UP_ITEMS] = 0.5 * (EVN_OWN_AT(z0, q, i) + z1);
                EVN_OWN_AT(z0, q, i) = z1;
            }
        }
        EVN_BARRIER;
        UNROLL for (int j = 0; j < UP_ROWS; j++) {
            EVN_ITEMS(i) {
                const double q = interpolated(mean, i, j);
                EVN_OWN_AT(u2, j, i) = c.finest ? old[from + EVN_OWN_AT(place, j, i)] + q : q;
                EVN_OWN_AT(sum, j, i) = EVN_OWN_AT(u0, j, i) + EVN_OWN_AT(u2, j, i);
            }
        }
        EVN_ITEMS(i) {
            first[i] = EVN_OWN_AT(sum, 0, i);
            first[UP_ITEMS + i] = EVN_OWN_AT(u1, 0, i);
            last[i] = EVN_OWN_AT(sum, UP_ROWS - 1, i);
            last[UP_ITEMS + i] = EVN_OWN_AT(u1, UP_ROWS - 1, i);
        }
        EVN_BARRIER;
        if (t >= begin) {
            const int k = (t - 1) & wrap, any = (int)(charges >> (t - begin)) & 1;
            const evn_long right = plane_at(&c.here, slot, k);
            UNROLL for (int j = 0; j < UP_ROWS; j++) {
                EVN_ITEMS(i) {
                    const double edge = BEFORE(sum, j, i, last, 0) + BEHIND(sum, j, i, first, 0);
                    const double face = EVN_OWN_AT(sum, j, i) + (BEFORE(u1, j, i, last, UP_ITEMS) +
                                                                 BEHIND(u1, j, i, first, UP_ITEMS));
                    EVN_OWN_AT(base, j, i) = (-8.0 / 3) * EVN_OWN_AT(u1, j, i) + (1.0 / 6) * edge;
                    side[j * UP_ITEMS + i] = (1.0 / 6) * face + (1.0 / 12) * edge;
                }
            }
            EVN_BARRIER;
            UNROLL for (int j = 0; j < UP_ROWS; j++) {
                EVN_ITEMS(i) {
                    const double a = EVN_OWN_AT(base, j, i) + beside(side, i, j);
                    double d = c.finest ? -a : v[right + EVN_OWN_AT(place, j, i)] - a;
                    if (any)
                        d = charges_at(charge, d, (x0 + i % U_ROW - 2) & wrap,
                                       (y0 + i / U_ROW * UP_ROWS + j - 2) & wrap, k);
                    EVN_OWN_AT(r2, j, i) = d;
                    EVN_OWN_AT(sum, j, i) = EVN_OWN_AT(r0, j, i) + d;
                }
            }
        }
        if (t >= begin + 2) {
            const evn_long to = plane_at(&c.here, slot, t - 2);
            EVN_ITEMS(i) {
                first[i] = EVN_OWN_AT(sum, 0, i);
                first[UP_ITEMS + i] = EVN_OWN_AT(r1, 0, i);
                last[i] = EVN_OWN_AT(sum, UP_ROWS - 1, i);
                last[UP_ITEMS + i] = EVN_OWN_AT(r1, UP_ROWS - 1, i);
            }
            EVN_BARRIER;
            UNROLL for (int j = 0; j < UP_ROWS; j++) {
                EVN_ITEMS(i) {
                    const double edge = BEFORE(sum, j, i, last, 0) + BEHIND(sum, j, i, first, 0);
                    const double face = EVN_OWN_AT(sum, j, i) + (BEFORE(r1, j, i, last, UP_ITEMS) +
                                                                 BEHIND(r1, j, i, first, UP_ITEMS));
                    EVN_OWN_AT(base, j, i) =
                        c.c0 * EVN_OWN_AT(r1, j, i) + c.c1 * face + c.c2 * edge;
                    side[j * UP_ITEMS + i] = c.c1 * EVN_OWN_AT(r1, j, i) + c.c2 * face;
                }
            }
            EVN_BARRIER;
            UNROLL for (int j = 0; j < UP_ROWS; j++) {
                EVN_ITEMS(i) {
                    const int x = i % U_ROW - 2, y = i / U_ROW * UP_ROWS + j - 2;
                    if (x >= 0 && x < UP_X && y >= 0 && y < UP_Y && x0 + x < n && y0 + y < n)
                        u[to + EVN_OWN_AT(place, j, i)] =
                            EVN_OWN_AT(u0, j, i) + (EVN_OWN_AT(base, j, i) + beside(side, i, j));
                }
            }
        }
        UNROLL for (int j = 0; j < UP_ROWS; j++) {
            EVN_ITEMS(i) {
                EVN_OWN_AT(u0, j, i) = EVN_OWN_AT(u1, j, i);
                EVN_OWN_AT(u1, j, i) = EVN_OWN_AT(u2, j, i);
                EVN_OWN_AT(r0, j, i) = EVN_OWN_AT(r1, j, i);
                EVN_OWN_AT(r1, j, i) = EVN_OWN_AT(r2, j, i);
            }
        }
    }
}

/* Weight of a coordinate for coarse point 2 i + 1 of an axis: 1 there, 1/2 beside it, else 0. */
EVN_DEVICE_FUNCTION double along(int x, int i, int n) {
    const int d = (x - 2 * i) & (n - 1);
    return d == 1 ? 1 : d == 0 || d == 2 ? 0.5 : 0;
}
EVN_DEVICE_FUNCTION double restricted_charges(EVN_GLOBAL const struct device_charge *charge,
                                              double r, int n, int i, int j, int k) {
    for (int q = 0; q < DEVICE_CHARGES; q++) {
        const double weight =
            0.5 * charge[q].value * along(charge[q].y, j, n) * along(charge[q].z, k, n);
        const int middle = charge[q].x / 2, before = (middle + n / 2 - 1) & (n / 2 - 1);
        if (weight == 0) continue;
        if (middle == i) r += weight * along(charge[q].x, middle, n);
        if (!(charge[q].x & 1) && before == i) r += weight * 0.5;
    }
    return r;
}

enum {
    F_ROW = 2 * LAST_X + 3, /* fine points that a tile of coarse ones needs */
    F_PLANE = F_ROW * (2 * LAST_Y + 3),
    F_EACH = (F_PLANE + LAST_ITEMS - 1) / LAST_ITEMS /* fine points of an item */
};

/* r = P (v - A u) of coarse planes */
EVN_KERNEL(mg_last, LAST_ITEMS,
           (EVN_IN(double, u), EVN_BUFFER(double, r), EVN_IN(int, slot), EVN_IN(int, range),
            EVN_IN(struct device_charge, charge), EVN_VALUE(struct pair_value, c))) {
    EVN_LOCAL_ARRAY(double, a, F_PLANE);
    EVN_LOCAL_ARRAY(double, b, F_PLANE);
    EVN_LOCAL_ARRAY(double, five, F_ROW *LAST_Y);
    EVN_LOCAL_ARRAY(double, three, F_ROW *LAST_Y);
    EVN_PRIVATE_ARRAY(double, keep, 3 * F_EACH);
    EVN_PRIVATE_ARRAY(int, place, F_EACH);
    const int n = c.here.n, wrap = n - 1, m = c.below.n, across = (m + LAST_X - 1) / LAST_X;
    const int tiles = across * ((m + LAST_Y - 1) / LAST_Y), tile = EVN_GROUP % tiles;
    const int x0 = tile % across * LAST_X, y0 = tile / across * LAST_Y;
    const int begin = range[2 * (EVN_GROUP / tiles)], end = range[2 * (EVN_GROUP / tiles) + 1];
    const evn_ulong charges = charged(charge, 2 * begin, n);
    for (int q = 0; q < F_EACH; q++) {
        EVN_ITEMS(i) {
            const int e = evn_imin(i + q * LAST_ITEMS, F_PLANE - 1);
            const int x = (2 * x0 + e % F_ROW - 1) & wrap, y = (2 * y0 + e / F_ROW - 1) & wrap;
            EVN_OWN_AT(place, q, i) = y * (int)c.here.row + x;
            for (int p = 0; p < 3; p++)
                EVN_OWN_AT(keep, 3 * q + p, i) =
                    u[plane_at(&c.here, slot, 2 * begin - 1 + p) + EVN_OWN_AT(place, q, i)];
        }
    }
    for (int k = begin; k < end; k++) {
        const evn_long fourth = plane_at(&c.here, slot, 2 * k + 2),
                       fifth = plane_at(&c.here, slot, 2 * k + 3);
        for (int q = 0; q < F_EACH; q++) {
            EVN_ITEMS(i) {
                const int e = i + q * LAST_ITEMS;
                const double u3 = u[fourth + EVN_OWN_AT(place, q, i)],
                             u4 = u[fifth + EVN_OWN_AT(place, q, i)];
                const double here = EVN_OWN_AT(keep, 3 * q + 2, i);
                const double far = EVN_OWN_AT(keep, 3 * q, i) + u4;
                const double near = EVN_OWN_AT(keep, 3 * q + 1, i) + u3;
                if (e < F_PLANE) {
                    a[e] = here + 0.5 * near;
                    b[e] = near + 0.25 * far + 1.5 * here;
                }
                EVN_OWN_AT(keep, 3 * q, i) = here;
                EVN_OWN_AT(keep, 3 * q + 1, i) = u3;
                EVN_OWN_AT(keep, 3 * q + 2, i) = u4;
            }
        }
        EVN_BARRIER;
        EVN_SHARE_AMONG(e, F_ROW * LAST_Y, LAST_ITEMS) {
            const int at = e % F_ROW + 2 * (e / F_ROW) * F_ROW;
            const double near_a = a[at + F_ROW] + a[at + 3 * F_ROW],
                         near_b = b[at + F_ROW] + b[at + 3 * F_ROW],
                         far_a = a[at] + a[at + 4 * F_ROW], far_b = b[at] + b[at + 4 * F_ROW],
                         here_a = a[at + 2 * F_ROW], here_b = b[at + 2 * F_ROW];
            const double tt = here_a + 0.5 * near_a, tb = here_b + 0.5 * near_b;
            five[e] = near_b + 0.25 * far_b + 1.5 * here_b - tt;
            three[e] = near_a + 0.25 * far_a + 1.5 * here_a + tb + 2 * tt;
        }
        EVN_BARRIER;
        const evn_long to = plane_at(&c.below, slot, k);
        const int any = (int)(charges >> 2 * (k - begin)) & 7;
        EVN_SHARE_AMONG(e, LAST_X * LAST_Y, LAST_ITEMS) {
            const int lx = e % LAST_X, ly = e / LAST_X, at = ly * F_ROW + 2 * lx;
            const double far = five[at] + five[at + 4], near = five[at + 1] + five[at + 3];
            const double minus = near + 0.25 * far + 1.5 * five[at + 2];
            const double plus = three[at + 2] + 0.5 * (three[at + 1] + three[at + 3]);
            double d = (plus - minus) * (1.0 / 3);
            if (any) d = restricted_charges(charge, d, n, x0 + lx, y0 + ly, k);
            if (x0 + lx < m && y0 + ly < m) r[to + (y0 + ly) * c.below.row + x0 + lx] = d;
        }
        EVN_BARRIER;
    }
}

EVN_DEVICE_FUNCTION double across_rows(EVN_GLOBAL const double *r, evn_long a, evn_long b,
                                       evn_long c) {
    return r[b] + 0.5 * (r[a] + r[c]);
}

/* Contribution of a plane of r to coarse point (i, j). */
EVN_DEVICE_FUNCTION double plane_gives(EVN_GLOBAL const double *r, evn_long row, int n, int i,
                                       int j, double weight) {
    const evn_long a = 2 * j * row, b = a + row, c = ((2 * j + 2) & (n - 1)) * row;
    const int x0 = 2 * i, x1 = x0 + 1, x2 = (x0 + 2) & (n - 1);
    return weight * (across_rows(r, a + x1, b + x1, c + x1) +
                     0.5 * (across_rows(r, a + x0, b + x0, c + x0) +
                            across_rows(r, a + x2, b + x2, c + x2)));
}

/* P r of coarse planes */
EVN_KERNEL(mg_down, POINT_ITEMS,
           (EVN_IN(double, r), EVN_BUFFER(double, to), EVN_IN(int, slot), EVN_IN(int, range),
            EVN_VALUE(struct pair_value, c))) {
    const int m = c.below.n, tiles = (m * m + POINT_ITEMS - 1) / POINT_ITEMS;
    const int first = EVN_GROUP % tiles * POINT_ITEMS;
    const int begin = range[2 * (EVN_GROUP / tiles)], end = range[2 * (EVN_GROUP / tiles) + 1];
    for (int k = begin; k < end; k++) {
        const evn_long low = plane_at(&c.here, slot, 2 * k),
                       middle = plane_at(&c.here, slot, 2 * k + 1),
                       high = plane_at(&c.here, slot, 2 * k + 2), out = plane_at(&c.below, slot, k);
        EVN_ITEMS(e) {
            const int i = (first + e) & (m - 1), j = (first + e) / m;
            if (j < m)
                to[out + j * c.below.row + i] =
                    plane_gives(r + low, c.here.row, c.here.n, i, j, 0.25) +
                    plane_gives(r + middle, c.here.row, c.here.n, i, j, 0.5) +
                    plane_gives(r + high, c.here.row, c.here.n, i, j, 0.25);
        }
    }
}

/* A column's sums in memory, of rows at y0, y, y1 of three planes. */
struct column {
    double centre, face, edge;
};
EVN_DEVICE_FUNCTION struct column column_of(EVN_GLOBAL const double *p, EVN_GLOBAL const double *c,
                                            EVN_GLOBAL const double *q, evn_long y0, evn_long y,
                                            evn_long y1) {
    struct column s;
    s.centre = c[y];
    s.face = (p[y] + q[y]) + (c[y0] + c[y1]);
    s.edge = (p[y0] + q[y0]) + (p[y1] + q[y1]);
    return s;
}

/* Sums around a point of a column that an item keeps: rows y0, y, y1 from element `at` on. */
#define COLUMN(s, p, c, q, at, i)                                                                  \
    do {                                                                                           \
        s.centre = EVN_OWN_AT(c, at + 1, i);                                                       \
        s.face = (EVN_OWN_AT(p, at + 1, i) + EVN_OWN_AT(q, at + 1, i)) +                           \
                 (EVN_OWN_AT(c, at, i) + EVN_OWN_AT(c, at + 2, i));                                \
        s.edge = (EVN_OWN_AT(p, at, i) + EVN_OWN_AT(q, at, i)) +                                   \
                 (EVN_OWN_AT(p, at + 2, i) + EVN_OWN_AT(q, at + 2, i));                            \
    } while (0)

/* r = v - A u of planes of the finest level, for its norm. An item marches along z with the three
 * columns of three planes that its point needs. */
EVN_KERNEL(mg_residual, POINT_ITEMS,
           (EVN_IN(double, u), EVN_BUFFER(double, r), EVN_IN(int, slot), EVN_IN(int, range),
            EVN_IN(struct device_charge, charge), EVN_VALUE(struct pair_value, c))) {
    EVN_PRIVATE_ARRAY(int, place, 9);
    EVN_PRIVATE_ARRAY(double, u0, 9); /* u of planes k - 1, k and k + 1 */
    EVN_PRIVATE_ARRAY(double, u1, 9);
    EVN_PRIVATE_ARRAY(double, u2, 9);
    const int n = c.here.n, wrap = n - 1, tiles = (n * n + POINT_ITEMS - 1) / POINT_ITEMS;
    const int from = EVN_GROUP % tiles * POINT_ITEMS;
    const int begin = range[2 * (EVN_GROUP / tiles)], end = range[2 * (EVN_GROUP / tiles) + 1];
    const evn_ulong charges = charged(charge, begin, n);
    for (int q = 0; q < 9; q++) {
        EVN_ITEMS(e) {
            const int x = (from + e + q / 3 - 1) & wrap, y = ((from + e) / n + q % 3 - 1) & wrap;
            EVN_OWN_AT(place, q, e) = y * (int)c.here.row + x;
            EVN_OWN_AT(u0, q, e) = u[plane_at(&c.here, slot, begin - 1) + EVN_OWN_AT(place, q, e)];
            EVN_OWN_AT(u1, q, e) = u[plane_at(&c.here, slot, begin) + EVN_OWN_AT(place, q, e)];
        }
    }
    for (int k = begin; k < end; k++) {
        const evn_long here = plane_at(&c.here, slot, k), above = plane_at(&c.here, slot, k + 1);
        const int any = (int)(charges >> (k - begin)) & 1;
        for (int q = 0; q < 9; q++) {
            EVN_ITEMS(e) { EVN_OWN_AT(u2, q, e) = u[above + EVN_OWN_AT(place, q, e)]; }
        }
        EVN_ITEMS(e) {
            struct column l, m, o;
            COLUMN(l, u0, u1, u2, 0, e);
            COLUMN(m, u0, u1, u2, 3, e);
            COLUMN(o, u0, u1, u2, 6, e);
            const double left = (1.0 / 6) * l.face + (1.0 / 12) * l.edge;
            const double right = (1.0 / 6) * o.face + (1.0 / 12) * o.edge;
            double v = -((-8.0 / 3) * m.centre + (1.0 / 6) * m.edge + (left + right));
            if (any) v = charges_at(charge, v, (from + e) & wrap, (from + e) / n, k);
            if ((from + e) / n < n) r[here + EVN_OWN_AT(place, 4, e)] = v;
        }
        for (int q = 0; q < 9; q++) {
            EVN_ITEMS(e) {
                EVN_OWN_AT(u0, q, e) = EVN_OWN_AT(u1, q, e);
                EVN_OWN_AT(u1, q, e) = EVN_OWN_AT(u2, q, e);
            }
        }
    }
}

/* The squares of planes of it: eight sums, by x mod 8, rows from the fifth on and the first four
 * last, as the host has them. A group does a range. */
EVN_KERNEL(mg_squares, SQUARE_ITEMS,
           (EVN_IN(double, r), EVN_BUFFER(double, square), EVN_IN(int, slot), EVN_IN(int, range),
            EVN_VALUE(struct pair_value, c))) {
    const int n = c.here.n;
    for (int k = range[2 * EVN_GROUP]; k < range[2 * EVN_GROUP + 1]; k++) {
        const evn_long here = plane_at(&c.here, slot, k);
        EVN_ITEMS(l) {
            double sum = 0;
            for (int j = 4; j < n + 4; j++) {
                const evn_long row = here + (j & (n - 1)) * c.here.row + l;
                for (int i = 0; i < n; i += 8) sum += r[row + i] * r[row + i];
            }
            square[8 * k + l] = sum;
        }
    }
}

/* u = S r on the coarsest level, 2 points a side */
EVN_KERNEL(mg_coarsest, 8,
           (EVN_IN(double, r), EVN_BUFFER(double, u), EVN_IN(int, slot),
            EVN_VALUE(struct up_value, c))) {
    EVN_ITEMS(e) {
        const int x = e & 1, y = e >> 1 & 1, k = e >> 2;
        const evn_long here = plane_at(&c.here, slot, k), other = plane_at(&c.here, slot, k + 1);
        const evn_long b = y * c.here.row, a = (1 - y) * c.here.row;
        const struct column m = column_of(r + other, r + here, r + other, a + x, b + x, a + x);
        const struct column o =
            column_of(r + other, r + here, r + other, a + 1 - x, b + 1 - x, a + 1 - x);
        const double beside = c.c1 * o.centre + c.c2 * o.face;
        u[here + b + x] = c.c0 * m.centre + c.c1 * m.face + c.c2 * m.edge + (beside + beside);
    }
}

EVN_KERNEL(mg_clear, POINT_ITEMS, (EVN_BUFFER(double, u), EVN_VALUE(evn_long, count))) {
    for (evn_long at = (evn_long)EVN_GROUP * POINT_ITEMS; at < count;
         at += (evn_long)EVN_GROUPS * POINT_ITEMS) {
        EVN_ITEMS(i) {
            if (at + i < count) u[at + i] = 0;
        }
    }
}
