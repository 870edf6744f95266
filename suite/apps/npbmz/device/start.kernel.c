/* Initial data of zones, computed on the device that has them: a zone's block as zone_clear() makes
 * it, the forcing and the initial state of exact.h. Nothing has to come from the host: every byte
 * of the block is written here.
 *
 * A group takes a plane of a zone, an item a point. The host makes tables of the solution's parts;
 * here each point evaluates those it needs, three to nine quartics a component, which takes less
 * than a table would take to come. Term by term it is what the host computes, in its order: where
 * nothing is fused, the bits are the same.
 *
 * Cost: the block is written once, u twice more, and read once for the forcing with the 270
 * instructions of residual_item(): three steps' worth of memory traffic, once a run.
 */
#define NPBMZ_ITEM
#include "npbmz/device/residual.kernel.h"
#include "npbmz/device/start.kernel.h"
#include "npbmz/host/exact.kernel.h"

#define ITEMS 64

/* a gas at rest: density and energy 1 */
EVN_DEVICE_FUNCTION double at_rest(int m) { return m == 0 || m == NC - 1 ? 1 : 0; }

/* One plane: u's real points 0, and beside them a gas at rest. The first and the last one take what
 * lies before and behind u, and each its share of the other fields, which are 0. */
EVN_KERNEL(start_clear, ITEMS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct start_value, c))) {
    (void)work;
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int k = pieces[EVN_GROUP].part, last = k == z.nz - 1;
    const int sj = (int)z.sj, beside = (int)(z.sk - z.ny * z.sj);
    const int above = last ? (int)(z.sc - z.nz * z.sk) : 0;
    for (int m = 0; m < NC; m++) {
        EVN_GLOBAL double *plane = field + z.u + m * z.sc + k * z.sk;
        for (int j = 0; j < z.ny; j++) {
            EVN_SHARE(i, sj) { plane[j * z.sj + i] = i < z.nx ? 0 : at_rest(m); }
        }
        EVN_SHARE(i, beside) { plane[z.ny * z.sj + i] = at_rest(m); }
        EVN_SHARE(i, above) { plane[z.sk + i] = at_rest(m); }
    }
    const int before = k == 0 ? c.slack : 0, behind = last ? c.slack : 0;
    EVN_SHARE(i, before) { field[z.u - c.slack + i] = at_rest(0); }
    EVN_SHARE(i, behind) { field[z.u + NC * z.sc + i] = at_rest(NC - 1); }
    /* all from there to the end of the block, which begins with u's slack */
    const evn_long from = z.u + NC * z.sc + c.slack;
    const evn_long count = z.u - c.slack + c.fields * (z.f - z.u) - from;
    const evn_long begin = count * k / z.nz, end = count * (k + 1) / z.nz;
    const int mine = (int)(end - begin);
    EVN_SHARE(i, mine) { field[from + begin + i] = 0; }
}

/* A point's coordinates as the exact solution counts them, and as boundary values are joined. */
struct start_point {
    double x, y, z;
    int face; /* a boundary point, where the coordinate across counts as 0 or 1 */
};

/* Where two faces meet, bottom and top win over south and north, those over west and east. */
EVN_DEVICE_FUNCTION struct start_point start_point(const struct start_value *c,
                                                   const struct gpu_zone *z, int i, int j, int k) {
    struct start_point q;
    q.x = exact_coordinate(c->lu, i, z->nx, c->h[0]);
    q.y = exact_coordinate(c->lu, j, z->ny, c->h[1]);
    q.z = exact_coordinate(c->lu, k, z->nz, c->h[2]);
    q.face = 0;
    if (c->initial) {
        const int bottom = k == 0 || k == z->nz - 1, south = j == 0 || j == z->ny - 1;
        const int west = i == 0 || i == z->nx - 1;
        if (bottom) q.z = k ? 1 : 0;
        if (!bottom && south) q.y = j ? 1 : 0;
        if (!bottom && !south && west) q.x = i ? 1 : 0;
        q.face = bottom || south || west;
    }
    return q;
}

/* The part that depends on x of the values on the two sides across direction d, interpolated
 * linearly. */
EVN_DEVICE_FUNCTION double start_join(int d, int m, double x) {
    const double at0 = exact_of(d, m, 0.0), at1 = exact_of(d, m, 1.0);
    return at0 + x * (at1 - at0);
}

/* component m: the exact solution on faces, and inside the three joins a, b, c blended into
 * a + b + c - ab - ac - bc + abc */
EVN_DEVICE_FUNCTION double start_initial(int m, const struct start_point *q) {
    const double x = exact_of(0, m, q->x), y = exact_of(1, m, q->y), z = exact_of(2, m, q->z);
    const double yz = y + z;
    if (q->face) return x + yz;
    const double a = start_join(0, m, q->x) + yz;
    const double b = x + (start_join(1, m, q->y) + z);
    const double c = x + (y + start_join(2, m, q->z));
    return 1.0 - (1.0 - a) * (1.0 - b) * (1.0 - c);
}

EVN_DEVICE_FUNCTION double start_exact(int m, const struct start_point *q) {
    return exact_of(0, m, q->x) + (exact_of(1, m, q->y) + exact_of(2, m, q->z));
}

/* One plane of u. */
EVN_KERNEL(start_solution, ITEMS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct start_value, c))) {
    (void)work;
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int k = pieces[EVN_GROUP].part;
    for (int j = 0; j < z.ny; j++) {
        EVN_SHARE(i, z.nx) {
            EVN_GLOBAL double *u = field + z.u + k * z.sk + j * z.sj + i;
            const struct start_point q = start_point(&c, &z, i, j, k);
            for (int m = 0; m < NC; m++)
                u[m * z.sc] = c.initial ? start_initial(m, &q) : start_exact(m, &q);
        }
    }
}

/* f = -L(u) at an interior point */
EVN_DEVICE_FUNCTION void start_force(EVN_GLOBAL double *field, const struct gpu_zone *z,
                                     const struct residual_constants *c, int i, int j, int k) {
    double r[NC] = {0, 0, 0, 0, 0};
    struct residual_point q;
    residual_item_add(field + z->u, z->sj, z->sk, z->sc, z->nx, z->ny, z->nz, i, j, k, c, r, &q);
    EVN_GLOBAL double *f = field + z->f + k * z->sk + j * z->sj + i;
    for (int m = 0; m < NC; m++) f[m * z->sc] = -r[m];
}

/* One plane; u holds the exact solution. */
EVN_KERNEL(start_forcing, ITEMS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct start_value, c))) {
    (void)work;
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int k = pieces[EVN_GROUP].part;
    if (k >= 1 && k <= z.nz - 2)
        for (int j = 1; j < z.ny - 1; j++) {
            EVN_SHARE(i, z.nx - 2) { start_force(field, &z, &c.residual, i + 1, j, k); }
        }
}
