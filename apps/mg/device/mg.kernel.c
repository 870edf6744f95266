/* The operators of mg/slabs/rows.h on a device, term by term in the same order, so that without
 * fused operations the bits are the host's.
 *
 * mg_up is one pass over a level: a group marches along z with the planes it needs of u and of r in
 * local memory, three of each, and a plane comes in while the one two behind it goes out. What
 * tiles and ranges read beyond their own they compute again. u is written beside what is read,
 * since a neighbour may not have read it yet. mg_last is P A as one operator, planes of u in
 * registers. */
#include "mg/device/device.kernel.h"

EVN_DEVICE_FUNCTION evn_long plane_at(const struct device_level *l, EVN_GLOBAL const int *slot,
                                      int k) {
    return slot[l->slots + (k & (l->n - 1))] * l->plane;
}

/* Q z at point (x, y): the mean of two planes of z, of two rows, of two columns, where the same
 * twice gives itself. */
EVN_DEVICE_FUNCTION double interpolated(EVN_GLOBAL const double *z0, EVN_GLOBAL const double *z1,
                                        evn_long row, int n, int x, int y) {
    const int m = n - 1;
    const int y1 = y / 2, y0 = (y1 - (~y & 1)) & m, x1 = x / 2, x0 = (x1 - (~x & 1)) & m;
    const evn_long a = y0 * row, b = y1 * row;
    const double before = 0.5 * (0.5 * (z0[a + x0] + z1[a + x0]) + 0.5 * (z0[b + x0] + z1[b + x0]));
    const double here = 0.5 * (0.5 * (z0[a + x1] + z1[a + x1]) + 0.5 * (z0[b + x1] + z1[b + x1]));
    return 0.5 * (before + here);
}

/* The sums across a row at one place: of the edges and of the faces, rows at p .. p + 2 row of
 * three planes. (From the first row on: gcc 11 takes negative places for some before the array.) */
EVN_DEVICE_FUNCTION double edges_of(EVN_LOCAL const double *p, EVN_LOCAL const double *q, int row) {
    return (p[0] + q[0]) + (p[2 * row] + q[2 * row]);
}
EVN_DEVICE_FUNCTION double faces_of(EVN_LOCAL const double *p, EVN_LOCAL const double *c,
                                    EVN_LOCAL const double *q, int row) {
    return (p[row] + q[row]) + (c[0] + c[2 * row]);
}

/* Whether plane k has a charge: the same for all items. */
EVN_DEVICE_FUNCTION int charged(EVN_GLOBAL const struct device_charge *charge, int k) {
    int any = 0;
    for (int q = 0; q < DEVICE_CHARGES; q++) any |= charge[q].z == k;
    return any;
}
EVN_DEVICE_FUNCTION double charges_at(EVN_GLOBAL const struct device_charge *charge, double r,
                                      int x, int y, int k) {
    for (int q = 0; q < DEVICE_CHARGES; q++)
        if (charge[q].z == k && charge[q].y == y && charge[q].x == x) r += charge[q].value;
    return r;
}

enum {
    U_ROW = UP_X + 4, /* rows of the tile with what it needs around it, of u and of r */
    U_PLANE = U_ROW * (UP_Y + 4),
    R_ROW = UP_X + 2,
    R_PLANE = R_ROW * (UP_Y + 2),
    SUMS = U_ROW * (UP_Y + 2)
};

EVN_KERNEL(mg_up, UP_ITEMS,
           (EVN_IN(double, old), EVN_BUFFER(double, u), EVN_IN(double, v), EVN_IN(double, z),
            EVN_IN(int, slot), EVN_IN(int, range), EVN_IN(struct device_charge, charge),
            EVN_VALUE(struct up_value, c))) {
    EVN_LOCAL_ARRAY(double, lu, 3 * U_PLANE);
    EVN_LOCAL_ARRAY(double, lr, 3 * R_PLANE);
    EVN_LOCAL_ARRAY(double, base, SUMS);
    EVN_LOCAL_ARRAY(double, side, SUMS);
    const int n = c.here.n, wrap = n - 1, across = (n + UP_X - 1) / UP_X;
    const int tiles = across * ((n + UP_Y - 1) / UP_Y), tile = EVN_GROUP % tiles;
    const int x0 = tile % across * UP_X, y0 = tile / across * UP_Y;
    const int begin = range[2 * (EVN_GROUP / tiles)], end = range[2 * (EVN_GROUP / tiles) + 1];
    for (int t = begin - 2; t < end + 2; t++) {
        const int up = (t & wrap) / 2, even = ~t & 1;
        const evn_long low = plane_at(&c.below, slot, up - even),
                       high = plane_at(&c.below, slot, up), from = plane_at(&c.here, slot, t);
        EVN_LOCAL double *enters = lu + (t + 3) % 3 * U_PLANE;
        EVN_SHARE(e, U_PLANE) {
            const int x = (x0 + e % U_ROW - 2) & wrap, y = (y0 + e / U_ROW - 2) & wrap;
            const double q = interpolated(z + low, z + high, c.below.row, c.below.n, x, y);
            enters[e] = c.finest ? old[from + y * c.here.row + x] + q : q;
        }
        EVN_BARRIER;
        if (t >= begin) {
            const int k = (t - 1) & wrap, any = c.finest && charged(charge, k);
            const evn_long right = plane_at(&c.here, slot, k);
            EVN_LOCAL const double *below = lu + (t + 1) % 3 * U_PLANE,
                                   *here = lu + (t + 2) % 3 * U_PLANE;
            EVN_LOCAL double *r = lr + (t + 2) % 3 * R_PLANE;
            EVN_SHARE(e, SUMS) {
                const int at = e + U_ROW;
                const double edge = edges_of(below + e, enters + e, U_ROW);
                const double face = faces_of(below + e, here + e, enters + e, U_ROW);
                base[e] = (-8.0 / 3) * here[at] + (1.0 / 6) * edge;
                side[e] = (1.0 / 6) * face + (1.0 / 12) * edge;
            }
            EVN_BARRIER;
            EVN_SHARE(e, R_PLANE) {
                const int lx = e % R_ROW, ly = e / R_ROW, at = ly * U_ROW + lx + 1;
                const int x = (x0 + lx - 1) & wrap, y = (y0 + ly - 1) & wrap;
                const double a = base[at] + (side[at - 1] + side[at + 1]);
                double d = c.finest ? -a : v[right + y * c.here.row + x] - a;
                if (any) d = charges_at(charge, d, x, y, k);
                r[e] = d;
            }
            EVN_BARRIER;
        }
        if (t >= begin + 2) {
            const evn_long to = plane_at(&c.here, slot, t - 2);
            EVN_LOCAL const double *below = lr + t % 3 * R_PLANE,
                                   *here = lr + (t + 1) % 3 * R_PLANE,
                                   *above = lr + (t + 2) % 3 * R_PLANE,
                                   *leaves = lu + (t + 1) % 3 * U_PLANE;
            EVN_SHARE(e, R_ROW * UP_Y) {
                const int at = e + R_ROW;
                const double edge = edges_of(below + e, above + e, R_ROW);
                const double face = faces_of(below + e, here + e, above + e, R_ROW);
                base[e] = c.c0 * here[at] + c.c1 * face + c.c2 * edge;
                side[e] = c.c1 * here[at] + c.c2 * face;
            }
            EVN_BARRIER;
            EVN_SHARE(e, UP_X * UP_Y) {
                const int lx = e % UP_X, ly = e / UP_X, at = ly * R_ROW + lx + 1;
                if (x0 + lx < n && y0 + ly < n)
                    u[to + (y0 + ly) * c.here.row + x0 + lx] =
                        leaves[(ly + 2) * U_ROW + lx + 2] +
                        (base[at] + (side[at - 1] + side[at + 1]));
            }
            EVN_BARRIER;
        }
    }
}

/* What a coordinate has to do with coarse point 2 i + 1 of an axis: 1 there, 1/2 beside it, else 0.
 */
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
    F_EACH = (F_PLANE + LAST_ITEMS - 1) / LAST_ITEMS /* of them an item's */
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
    const int n = c.here.n, wrap = n - 1, m = c.below.n, across = (m + LAST_X - 1) / LAST_X;
    const int tiles = across * ((m + LAST_Y - 1) / LAST_Y), tile = EVN_GROUP % tiles;
    const int x0 = tile % across * LAST_X, y0 = tile / across * LAST_Y;
    const int begin = range[2 * (EVN_GROUP / tiles)], end = range[2 * (EVN_GROUP / tiles) + 1];
    for (int q = 0; q < F_EACH; q++) {
        EVN_ITEMS(i) {
            const int e = evn_imin(i + q * LAST_ITEMS, F_PLANE - 1);
            const int x = (2 * x0 + e % F_ROW - 1) & wrap, y = (2 * y0 + e / F_ROW - 1) & wrap;
            const evn_long at = y * c.here.row + x;
            for (int p = 0; p < 3; p++)
                EVN_OWN_AT(keep, 3 * q + p, i) = u[plane_at(&c.here, slot, 2 * begin - 1 + p) + at];
        }
    }
    for (int k = begin; k < end; k++) {
        const evn_long fourth = plane_at(&c.here, slot, 2 * k + 2),
                       fifth = plane_at(&c.here, slot, 2 * k + 3);
        for (int q = 0; q < F_EACH; q++) {
            EVN_ITEMS(i) {
                const int e = evn_imin(i + q * LAST_ITEMS, F_PLANE - 1);
                const int x = (2 * x0 + e % F_ROW - 1) & wrap, y = (2 * y0 + e / F_ROW - 1) & wrap;
                const double u3 = u[fourth + y * c.here.row + x],
                             u4 = u[fifth + y * c.here.row + x];
                const double here = EVN_OWN_AT(keep, 3 * q + 2, i);
                const double far = EVN_OWN_AT(keep, 3 * q, i) + u4;
                const double near = EVN_OWN_AT(keep, 3 * q + 1, i) + u3;
                if (i + q * LAST_ITEMS < F_PLANE) {
                    a[e] = here + 0.5 * near;
                    b[e] = near + 0.25 * far + 1.5 * here;
                }
                EVN_OWN_AT(keep, 3 * q, i) = here;
                EVN_OWN_AT(keep, 3 * q + 1, i) = u3;
                EVN_OWN_AT(keep, 3 * q + 2, i) = u4;
            }
        }
        EVN_BARRIER;
        EVN_SHARE(e, F_ROW * LAST_Y) {
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
        const int any = charged(charge, 2 * k) | charged(charge, 2 * k + 1) |
                        charged(charge, (2 * k + 2) & wrap);
        EVN_SHARE(e, LAST_X * LAST_Y) {
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

/* What a plane of r gives to coarse point (i, j). */
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

/* r = v - A u of planes of the finest level, for its norm */
EVN_KERNEL(mg_residual, POINT_ITEMS,
           (EVN_IN(double, u), EVN_BUFFER(double, r), EVN_IN(int, slot), EVN_IN(int, range),
            EVN_IN(struct device_charge, charge), EVN_VALUE(struct pair_value, c))) {
    const int n = c.here.n, wrap = n - 1, tiles = (n * n + POINT_ITEMS - 1) / POINT_ITEMS;
    const int first = EVN_GROUP % tiles * POINT_ITEMS;
    const int begin = range[2 * (EVN_GROUP / tiles)], end = range[2 * (EVN_GROUP / tiles) + 1];
    for (int k = begin; k < end; k++) {
        const evn_long below = plane_at(&c.here, slot, k - 1), here = plane_at(&c.here, slot, k),
                       above = plane_at(&c.here, slot, k + 1);
        const int any = charged(charge, k);
        EVN_ITEMS(e) {
            const int x = (first + e) & wrap, y = (first + e) / n;
            if (y < n) {
                const evn_long b = y * c.here.row, a = ((y - 1) & wrap) * c.here.row,
                               d = ((y + 1) & wrap) * c.here.row;
                const int x0 = (x - 1) & wrap, x1 = (x + 1) & wrap;
                const struct column l =
                    column_of(u + below, u + here, u + above, a + x0, b + x0, d + x0);
                const struct column m =
                    column_of(u + below, u + here, u + above, a + x, b + x, d + x);
                const struct column o =
                    column_of(u + below, u + here, u + above, a + x1, b + x1, d + x1);
                const double left = (1.0 / 6) * l.face + (1.0 / 12) * l.edge;
                const double right = (1.0 / 6) * o.face + (1.0 / 12) * o.edge;
                double v = -((-8.0 / 3) * m.centre + (1.0 / 6) * m.edge + (left + right));
                if (any) v = charges_at(charge, v, x, y, k);
                r[here + b + x] = v;
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
