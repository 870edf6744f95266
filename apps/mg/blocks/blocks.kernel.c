/* The operators of mg/blocks/blocks.c on a device, term by term in the same order, so that without
 * fused operations the bits are the host's; and copies of faces. An item does a point, a group
 * points of one plane; of sums of squares an item does a row. */
#include "mg/blocks/blocks.kernel.h"

EVN_DEVICE_FUNCTION double faces_at(EVN_GLOBAL const double *x, evn_long p, evn_long row,
                                    evn_long plane) {
    return x[p - row] + x[p + row] + x[p - plane] + x[p + plane];
}
EVN_DEVICE_FUNCTION double edges_at(EVN_GLOBAL const double *x, evn_long p, evn_long row,
                                    evn_long plane) {
    return x[p - row - plane] + x[p + row - plane] + x[p - row + plane] + x[p + row + plane];
}

EVN_DEVICE_FUNCTION double stencil_at(EVN_GLOBAL const double *x, evn_long p,
                                      const struct block_stencil c, double base) {
    const double face = faces_at(x, p, c.row, c.plane), edge = edges_at(x, p, c.row, c.plane);
    const double left = faces_at(x, p - 1, c.row, c.plane),
                 before = edges_at(x, p - 1, c.row, c.plane);
    const double right = faces_at(x, p + 1, c.row, c.plane),
                 after = edges_at(x, p + 1, c.row, c.plane);
    return base + c.weight[0] * x[p] + c.weight[1] * (x[p - 1] + x[p + 1] + face) +
           c.weight[2] * (edge + left + right) + c.weight[3] * (before + after);
}

EVN_KERNEL(mb_stencil, BLOCK_ITEMS, (EVN_BUFFER(double, all), EVN_VALUE(struct block_stencil, c))) {
    const int points = c.count[0] * c.count[1], tiles = (points + BLOCK_ITEMS - 1) / BLOCK_ITEMS;
    const int first = EVN_GROUP % tiles * BLOCK_ITEMS;
    const evn_long plane = (c.from[2] + EVN_GROUP / tiles) * c.plane;
    EVN_ITEMS(e) {
        const int q = first + e, j = q / c.count[0], i = q - j * c.count[0];
        if (q < points) {
            const evn_long p = plane + (c.from[1] + j) * c.row + c.from[0] + i;
            all[c.y + p] = stencil_at(all, c.x + p, c, all[c.b + p]);
        }
    }
}

/* What a row of fine points gives to the coarse one at `p`. */
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
