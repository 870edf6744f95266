/* What residual_item() gives at every interior point of a zone, for test_gpu_residual.c. */
#define NPBMZ_ITEM
#include "npbmz/device/gpu_zone.h"
#include "npbmz/device/residual.kernel.h"

#define ITEMS 64

/* Structs and arrays of an item are declared in a function like this one: where they are declared
 * in the item loop itself and their address is taken, gcc 12 does not vectorise it. */
EVN_DEVICE_FUNCTION void probe(EVN_GLOBAL const double *field, EVN_GLOBAL double *to,
                               const struct gpu_zone *z, int i, int j, int k,
                               const struct residual_constants *c) {
    double r[NC];
    struct residual_point q;
    residual_item(field + z->u, field + z->f, z->sj, z->sk, z->sc, z->nx, z->ny, z->nz, i, j, k, c,
                  r, &q);
    to += k * z->sk + j * z->sj + i;
    to[0] = r[0];
    to[z->sc] = r[1];
    to[2 * z->sc] = r[2];
    to[3 * z->sc] = r[3];
    to[4 * z->sc] = r[4];
    to[5 * z->sc] = q.u[0];
    to[6 * z->sc] = q.u[1];
    to[7 * z->sc] = q.u[2];
    to[8 * z->sc] = q.u[3];
    to[9 * z->sc] = q.u[4];
    to[10 * z->sc] = q.v[0];
    to[11 * z->sc] = q.v[1];
    to[12 * z->sc] = q.v[2];
    to[13 * z->sc] = q.p;
    to[14 * z->sc] = q.g;
}

/* Piece number `part` is row part % (ny-2) + 1 of plane part / (ny-2) + 1. Component m of the
 * residual goes to field m of the work space, which have the zone's layout; u, v, p and g, ten
 * values, to the ten fields behind them. */
EVN_KERNEL(residual_probe, ITEMS,
           (EVN_IN(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct residual_constants, c))) {
    const struct gpu_piece piece = pieces[EVN_GROUP];
    const struct gpu_zone z = zones[piece.zone];
    const int j = piece.part % (z.ny - 2) + 1, k = piece.part / (z.ny - 2) + 1;
    for (int i0 = 1; i0 < z.nx - 1; i0 += ITEMS) {
        EVN_ITEMS(l) {
            if (i0 + l < z.nx - 1) probe(field, work + z.work, &z, i0 + l, j, k, &c);
        }
    }
}
