/* The operators of mg/blocks/blocks.c on a device, term by term in the same order, so that without
 * fused operations the bits are the host's; and copies of faces. Of stencils an item does a column
 * of some planes, of the operators between levels a point, of sums of squares a row. */
#include "mg/blocks/blocks.kernel.h"

/* The part of a group, items `across` x rows at one plane after another: its first column, which is
 * one before the first point that it makes, its first row and its planes. */
struct stencil_part {
    int x, y, begin, end;
};
EVN_DEVICE_FUNCTION struct stencil_part part_of_group(const struct block_stencil c, int group) {
    const int across = 1 << c.shift, down = BLOCK_ITEMS >> c.shift;
    const int wide = (c.count[0] + across - 3) / (across - 2),
              tiles = wide * ((c.count[1] + down - 1) / down);
    struct stencil_part s;
    s.x = group % tiles % wide * (across - 2) - 1;
    s.y = group % tiles / wide * down;
    s.begin = group / tiles * BLOCK_PLANES;
    s.end = s.begin + BLOCK_PLANES < c.count[2] ? s.begin + BLOCK_PLANES : c.count[2];
    return s;
}

/* y = b + W x. An item has a column of x: it keeps two planes' centres and sums of both rows beside
 * it in registers and reads three values a plane, not 27. A column's centre and the sums of its
 * faces and edges lie in the group's memory, for its neighbours along x. */
EVN_KERNEL(mb_stencil, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_stencil, c))) {
    EVN_LOCAL_ARRAY(double, centre, BLOCK_ITEMS);
    EVN_LOCAL_ARRAY(double, face, BLOCK_ITEMS);
    EVN_LOCAL_ARRAY(double, edge, BLOCK_ITEMS);
    EVN_PRIVATE_ARRAY(double, keep, 4); /* centres, then sums, of the plane below and of this one */
    const struct stencil_part part = part_of_group(c, EVN_GROUP);
    const int last = (1 << c.shift) - 1;
    const evn_long corner =
        (c.from[2] + part.begin) * c.plane + (c.from[1] + part.y) * c.row + c.from[0] + part.x;
    EVN_ITEMS(e) {
        const int i = e & last, j = e >> c.shift;
        for (int v = 0; v < 4; v++) EVN_OWN_AT(keep, v, e) = 0;
        if (part.x + i <= c.count[0] && part.y + j < c.count[1]) {
            const evn_long p = c.x + corner + j * c.row + i;
            EVN_OWN_AT(keep, 0, e) = all[p - c.plane];
            EVN_OWN_AT(keep, 1, e) = all[p];
            EVN_OWN_AT(keep, 2, e) = all[p - c.row - c.plane] + all[p + c.row - c.plane];
            EVN_OWN_AT(keep, 3, e) = all[p - c.row] + all[p + c.row];
        }
    }
    for (int k = 0; k < part.end - part.begin; k++) {
        EVN_ITEMS(e) {
            const int i = e & last, j = e >> c.shift;
            if (part.x + i <= c.count[0] && part.y + j < c.count[1]) {
                const evn_long p = c.x + corner + (k + 1) * c.plane + j * c.row + i;
                const double above = all[p], before = all[p - c.row], after = all[p + c.row];
                centre[e] = EVN_OWN_AT(keep, 1, e);
                face[e] = EVN_OWN_AT(keep, 3, e) + EVN_OWN_AT(keep, 0, e) + above;
                edge[e] = EVN_OWN_AT(keep, 2, e) + before + after;
                EVN_OWN_AT(keep, 0, e) = EVN_OWN_AT(keep, 1, e);
                EVN_OWN_AT(keep, 1, e) = above;
                EVN_OWN_AT(keep, 2, e) = EVN_OWN_AT(keep, 3, e);
                EVN_OWN_AT(keep, 3, e) = before + after;
            }
        }
        EVN_BARRIER;
        EVN_ITEMS(e) {
            const int i = e & last, j = e >> c.shift;
            if (i > 0 && i < last && part.x + i < c.count[0] && part.y + j < c.count[1]) {
                const evn_long p = corner + k * c.plane + j * c.row + i;
                all[c.y + p] = all[c.b + p] + c.weight[0] * centre[e] +
                               c.weight[1] * (centre[e - 1] + centre[e + 1] + face[e]) +
                               c.weight[2] * (edge[e] + face[e - 1] + face[e + 1]) +
                               c.weight[3] * (edge[e - 1] + edge[e + 1]);
            }
        }
        EVN_BARRIER;
    }
}

/* Contribution of a row of fine points to the coarse point at `p`. */
EVN_DEVICE_FUNCTION double row_gives(EVN_GLOBAL const double *x, evn_long p, double weight,
                                     double side) {
    return weight * x[p] + side * (x[p - 1] + x[p + 1]);
}

/* P r: coarse point i, from 1, is fine point 2 i. */
EVN_KERNEL(mb_down, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_between, c))) {
    const int points = c.count[0] * c.count[1], tiles = (points + BLOCK_ITEMS - 1) / BLOCK_ITEMS;
    const int first = EVN_GROUP % tiles * BLOCK_ITEMS, k = 1 + EVN_GROUP / tiles;
    EVN_ITEMS(e) {
        const int q = first + e, j = q / c.count[0], i = q - j * c.count[0];
        if (q < points) {
            const evn_long row = c.from.row, low = c.from.plane;
            const evn_long p = c.from.at + 2 * k * low + 2 * (j + 1) * row + 2 * (i + 1);
            double y = 0;
            y += row_gives(all, p - row - low, 0.125, 0.0625);
            y += row_gives(all, p - low, 0.25, 0.125);
            y += row_gives(all, p + row - low, 0.125, 0.0625);
            y += row_gives(all, p - row, 0.25, 0.125);
            y += row_gives(all, p, 0.5, 0.25);
            y += row_gives(all, p + row, 0.25, 0.125);
            y += row_gives(all, p - row + low, 0.125, 0.0625);
            y += row_gives(all, p + low, 0.25, 0.125);
            y += row_gives(all, p + row + low, 0.125, 0.0625);
            all[c.to.at + k * c.to.plane + (j + 1) * c.to.row + i + 1] = y;
        }
    }
}

/* u + Q z, ghost cells too. */
EVN_KERNEL(mb_up, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_between, c))) {
    const int points = c.count[0] * c.count[1], tiles = (points + BLOCK_ITEMS - 1) / BLOCK_ITEMS;
    const int first = EVN_GROUP % tiles * BLOCK_ITEMS, k = EVN_GROUP / tiles;
    EVN_ITEMS(e) {
        const int q = first + e, j = q / c.count[0], i = q - j * c.count[0];
        if (q < points) {
            const evn_long z0 = c.from.at + k / 2 * c.from.plane,
                           z1 = c.from.at + (k + 1) / 2 * c.from.plane;
            const evn_long a = z0 + j / 2 * c.from.row, b = z0 + (j + 1) / 2 * c.from.row;
            const evn_long d = z1 + j / 2 * c.from.row, f = z1 + (j + 1) / 2 * c.from.row;
            const evn_long to = c.to.at + k * c.to.plane + j * c.to.row + i;
            const int x = i / 2, next = (i + 1) / 2;
            const double sum = 0.25 * (all[a + x] + all[b + x] + all[d + x] + all[f + x]);
            const double other =
                0.25 * (all[a + next] + all[b + next] + all[d + next] + all[f + next]);
            all[to] = (c.add ? all[to] : 0) + (i & 1 ? 0.5 * (sum + other) : sum);
        }
    }
}

EVN_KERNEL(mb_faces, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_faces, c))) {
    const int points = c.a * c.b, tiles = (points + BLOCK_ITEMS - 1) / BLOCK_ITEMS;
    const int first = EVN_GROUP % tiles * BLOCK_ITEMS, face = EVN_GROUP / tiles;
    const evn_long from = face ? c.from[1] : c.from[0], to = face ? c.to[1] : c.to[0];
    EVN_ITEMS(e) {
        const int q = first + e, b = q / c.a, a = q - b * c.a;
        if (q < points) all[to + a * c.to_a + b * c.to_b] = all[from + a * c.from_a + b * c.from_b];
    }
}

EVN_KERNEL(mb_rows, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_rows, c))) {
    const int rows = c.count[1] * c.count[2];
    EVN_ITEMS(e) {
        const int q = EVN_GROUP * BLOCK_ITEMS + e, k = q / c.count[1], j = q - k * c.count[1];
        if (q < rows) {
            const evn_long p = c.x.at + (k + 1) * c.x.plane + (j + 1) * c.x.row + 1;
            double sum = 0;
            for (int i = 0; i < c.count[0]; i++) sum += all[p + i] * all[p + i];
            all[c.to + q] = sum;
        }
    }
}

EVN_KERNEL(mb_clear, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_zeros, c))) {
    for (evn_long at = (evn_long)EVN_GROUP * BLOCK_ITEMS; at < c.count;
         at += (evn_long)EVN_GROUPS * BLOCK_ITEMS) {
        EVN_ITEMS(i) {
            if (at + i < c.count) all[c.at + at + i] = 0;
        }
    }
}

EVN_KERNEL(mb_charges, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_charges, c))) {
    EVN_ITEMS(i) {
        if (i < c.count) all[c.at[i]] = c.value[i];
    }
}
