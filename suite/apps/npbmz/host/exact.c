/* The exact solution, the initial state blended from its boundary values, and the forcing.
 *
 * Cost: a point of the initial state takes 5 x (3 additions, 4 subtractions, 2 products) and 40 B
 * of stores, so it runs at the speed of memory.
 */
#include "npbmz/host/exact.h"

#include "npbmz/host/exact.kernel.h"
#include "common/simd/lanes.h"
#include "npbmz/host/residual.h"

static double coordinate(const struct problem *p, const struct zone *z, int d, int s) {
    const int points[3] = {z->nx, z->ny, z->nz};
    return exact_coordinate(p->benchmark == NPBMZ_LU, s, points[d], p->h[d]);
}

static void part_at(int d, double x, double part[NC]) {
    for (int m = 0; m < NC; m++) part[m] = exact_of(d, m, x);
}

void exact_part(const struct problem *p, const struct zone *z, int d, int s, double part[NC]) {
    part_at(d, coordinate(p, z, d, s), part);
}

void exact_columns(const struct problem *p, const struct zone *z, int i0,
                   double part[NC][EXACT_COLUMNS]) {
    for (int i = 0; i < EXACT_COLUMNS; i++) {
        double a[NC] = {0};
        if (i0 + i < z->nx) exact_part(p, z, 0, i0 + i, a);
        for (int m = 0; m < NC; m++) part[m][i] = a[m];
    }
}

/* Along one direction the boundary values are joined linearly. What of that depends on the
 * coordinate x of this direction is x times the difference of the part at 1 and at 0. */
static void join(const struct problem *p, const struct zone *z, int d, int s, double a[NC]) {
    double x = coordinate(p, z, d, s), at0[NC], at1[NC];
    part_at(d, 0.0, at0);
    part_at(d, 1.0, at1);
    for (int m = 0; m < NC; m++) a[m] = at0[m] + x * (at1[m] - at0[m]);
}

/* three joins a, b, c into one value: a + b + c - ab - ac - bc + abc */
static inline vec blend(vec a, vec b, vec c) { return 1.0 - (1.0 - a) * (1.0 - b) * (1.0 - c); }

/* Stores a row's block of LANES points, those before `end` only. */
static inline void store_before(double *u, vec a, int i, int end) {
    ivec inside = vec_iota() + (int64_t)i < (int64_t)end - (ivec){0};
    vec_store(u, vec_select(inside, a, vec_load(u)));
}

/* Row (j,k) of a face: the exact solution, x + y + z. */
static void face_row(const struct zone *z, int i0, int i1, ptrdiff_t at,
                     double x[NC][EXACT_COLUMNS], const double y[NC], const double zz[NC]) {
    for (int m = 0; m < NC; m++) {
        double *u = z->u + m * z->sc + at, yz = y[m] + zz[m];
        for (int i = i0; i < i1; i += LANES)
            store_before(u + i, vec_load(&x[m][i - i0]) + yz, i, i1);
    }
}

void zone_initialise(const struct problem *p, struct zone *z) {
    int nx = z->nx, ny = z->ny, nz = z->nz;
    _Alignas(64) double x[NC][EXACT_COLUMNS], xj[NC][EXACT_COLUMNS];
    double x0[NC], x1[NC], y[NC], yj[NC], zz[NC], zj[NC];
    part_at(0, 0.0, x0);
    part_at(0, 1.0, x1);
    for (int i0 = 0; i0 < nx; i0 += EXACT_COLUMNS) {
        int i1 = nx < i0 + EXACT_COLUMNS ? nx : i0 + EXACT_COLUMNS;
        exact_columns(p, z, i0, x);
        for (int i = i0; i < i1; i++) {
            double a[NC];
            join(p, z, 0, i, a);
            for (int m = 0; m < NC; m++) xj[m][i - i0] = a[m];
        }
        for (int i = i1; i < i0 + EXACT_COLUMNS; i++)
            for (int m = 0; m < NC; m++) xj[m][i - i0] = 0;

        /* On a face the coordinate across it counts as 0 or 1, wherever the zone ends. Where two
         * faces meet they disagree: bottom and top win over south and north, those over west and
         * east. */
        for (int k = 0; k < nz; k++) {
            if (k == 0 || k == nz - 1)
                part_at(2, k ? 1.0 : 0.0, zz);
            else
                exact_part(p, z, 2, k, zz);
            join(p, z, 2, k, zj);
            for (int j = 0; j < ny; j++) {
                ptrdiff_t at = zone_at(z, 0, j, k);
                exact_part(p, z, 1, j, y);
                if (k == 0 || k == nz - 1) {
                    face_row(z, i0, i1, at, x, y, zz);
                    continue;
                }
                if (j == 0 || j == ny - 1) {
                    part_at(1, j ? 1.0 : 0.0, y);
                    face_row(z, i0, i1, at, x, y, zz);
                    continue;
                }
                join(p, z, 1, j, yj);
                for (int m = 0; m < NC; m++) {
                    double *u = z->u + m * z->sc + at;
                    double yz = y[m] + zz[m], yjz = yj[m] + zz[m], yzj = y[m] + zj[m];
                    for (int i = i0; i < i1; i += LANES) {
                        vec xi = vec_load(&x[m][i - i0]);
                        vec a = vec_load(&xj[m][i - i0]) + yz;
                        store_before(u + i, blend(a, xi + yjz, xi + yzj), i, i1);
                    }
                    if (i0 == 0) u[0] = x0[m] + yz;
                    if (i1 == nx) u[nx - 1] = x1[m] + yz;
                }
            }
        }
    }
}

size_t zone_forcing_scratch(const struct problem *p, int cores) {
    return residual_scratch(p, cores);
}

void zone_forcing(const struct problem *p, struct zone *z, double *work, const struct team *t) {
    _Alignas(64) double x[NC][EXACT_COLUMNS];
    double y[NC], zz[NC];
    int lo, hi;
    team_share(t, z->ny * z->nz, &lo, &hi);
    for (int i0 = 0; i0 < z->nx; i0 += EXACT_COLUMNS) {
        int i1 = z->nx < i0 + EXACT_COLUMNS ? z->nx : i0 + EXACT_COLUMNS;
        exact_columns(p, z, i0, x);
        for (int row = lo; row < hi; row++) {
            int j = row % z->ny, k = row / z->ny;
            exact_part(p, z, 1, j, y);
            exact_part(p, z, 2, k, zz);
            face_row(z, i0, i1, zone_at(z, 0, j, k), x, y, zz);
        }
    }
    team_barrier(t);
    residual(p, z, z->u, NULL, -1.0, z->f, work, t);
    team_barrier(t);
}
