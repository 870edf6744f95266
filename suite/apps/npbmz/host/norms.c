/* Norms, surface integral, sums and hash of a zone; norms.h says what each is.
 *
 * Floors: both norms read each value once and spend one or two fused operations a vector, five
 * independent chains (one a component) that hide their latency; memory bounds them. Squares are
 * summed lane by lane within a plane of k, planes are added to the zone's sum: short sums keep the
 * rounding small, and the order never changes. */
#include "npbmz/host/norms.h"

#include "npbmz/host/exact.h"
#include "common/simd/lanes.h"

static double lanes_sum(vec a) {
    double s = a[0];
    for (int l = 1; l < LANES; l++) s += a[l];
    return s;
}

static void mean_root(const struct zone *z, double sum[NC]) {
    double interior = (z->nx - 2.0) * (z->ny - 2.0) * (z->nz - 2.0);
    for (int m = 0; m < NC; m++) sum[m] = sqrt(sum[m] / interior);
}

void zone_residual_norm(const struct zone *z, const double *r, double norm[NC]) {
    int nx = z->nx;
    ptrdiff_t sc = z->sc;
    for (int m = 0; m < NC; m++) norm[m] = 0;
    for (int k = 1; k < z->nz - 1; k++) {
        vec plane[NC] = {0};
        for (int j = 1; j < z->ny - 1; j++) {
            const double *row = r + zone_at(z, 0, j, k);
            for (int i = 0; i < nx; i += LANES) {
                ivec inside = vec_interior(i, nx);
                for (int m = 0; m < NC; m++) {
                    vec a = vec_select(inside, vec_load(row + m * sc + i), (vec){0});
                    plane[m] += a * a;
                }
            }
        }
        for (int m = 0; m < NC; m++) norm[m] += lanes_sum(plane[m]);
    }
    mean_root(z, norm);
}

void zone_error_norm(const struct problem *p, const struct zone *z, double norm[NC]) {
    _Alignas(64) double x[NC][EXACT_COLUMNS];
    double y[NC], zz[NC];
    /* the points that count: from edge to extent - edge - 1 */
    int edge = p->benchmark == NPBMZ_LU ? 1 : 0, nx = z->nx;
    for (int m = 0; m < NC; m++) norm[m] = 0;
    for (int i0 = 0; i0 < nx; i0 += EXACT_COLUMNS) {
        int i1 = nx < i0 + EXACT_COLUMNS ? nx : i0 + EXACT_COLUMNS;
        exact_columns(p, z, i0, x);
        for (int k = edge; k < z->nz - edge; k++) {
            vec plane[NC] = {0};
            exact_part(p, z, 2, k, zz);
            for (int j = edge; j < z->ny - edge; j++) {
                exact_part(p, z, 1, j, y);
                const double *row = z->u + zone_at(z, 0, j, k);
                for (int i = i0; i < i1; i += LANES) {
                    ivec at = vec_iota() + (int64_t)i;
                    ivec inside = (at >= (int64_t)edge) & (at < (int64_t)(nx - edge));
                    for (int m = 0; m < NC; m++) {
                        vec exact = vec_load(&x[m][i - i0]) + (y[m] + zz[m]);
                        vec a = vec_load(row + m * z->sc + i) - exact;
                        a = vec_select(inside, a, (vec){0});
                        plane[m] += a * a;
                    }
                }
            }
            for (int m = 0; m < NC; m++) norm[m] += lanes_sum(plane[m]);
        }
    }
    mean_root(z, norm);
}

static double pressure(const struct zone *z, ptrdiff_t at) {
    const double *u = z->u + at;
    double m1 = u[z->sc], m2 = u[2 * z->sc], m3 = u[3 * z->sc];
    return C2 * (u[4 * z->sc] - (m1 * m1 + m2 * m2 + m3 * m3) / (2 * u[0]));
}

/* Pressure summed over the four corners of every cell of a face of the box: points from a0 to a1
 * and from b0 to b1, strides sa and sb. An inner point is a corner of four cells, one at an edge of
 * two. */
static double face_sum(const struct zone *z, ptrdiff_t at, int a0, int a1, ptrdiff_t sa, int b0,
                       int b1, ptrdiff_t sb) {
    double sum = 0;
    for (int b = b0; b <= b1; b++) {
        double line = 0;
        for (int a = a0; a <= a1; a++)
            line += (a == a0 || a == a1 ? 1 : 2) * pressure(z, at + a * sa + b * sb);
        sum += (b == b0 || b == b1 ? 1 : 2) * line;
    }
    return sum;
}

double zone_surface(const struct problem *p, const struct zone *z) {
    /* the benchmark's box: one short of the interior at high y, one late at low z */
    int i0 = 1, i1 = z->nx - 2, j0 = 1, j1 = z->ny - 3, k0 = 2, k1 = z->nz - 2;
    ptrdiff_t sj = z->sj, sk = z->sk;
    const double *h = p->h;
    double xy =
        face_sum(z, k0 * sk, i0, i1, 1, j0, j1, sj) + face_sum(z, k1 * sk, i0, i1, 1, j0, j1, sj);
    double xz =
        face_sum(z, j0 * sj, i0, i1, 1, k0, k1, sk) + face_sum(z, j1 * sj, i0, i1, 1, k0, k1, sk);
    double yz = face_sum(z, i0, j0, j1, sj, k0, k1, sk) + face_sum(z, i1, j0, j1, sj, k0, k1, sk);
    return 0.25 * (h[0] * h[1] * xy + h[0] * h[2] * xz + h[1] * h[2] * yz);
}

void norms_sum(const struct norms *zone, int zones, struct norms *total) {
    *total = (struct norms){0};
    for (int n = 0; n < zones; n++) {
        for (int m = 0; m < NC; m++) {
            total->residual[m] += zone[n].residual[m];
            total->error[m] += zone[n].error[m];
        }
        total->surface += zone[n].surface;
    }
}

void zone_sums(const struct zone *z, double sum[NC]) {
    double s[NC] = {0}; /* five chains at once, each in its own order */
    for (int k = 1; k < z->nz - 1; k++)
        for (int j = 1; j < z->ny - 1; j++) {
            const double *row = z->u + zone_at(z, 0, j, k);
            for (int i = 1; i < z->nx - 1; i++)
                for (int m = 0; m < NC; m++) s[m] += row[m * z->sc + i];
        }
    for (int m = 0; m < NC; m++) sum[m] = s[m];
}

void zone_perturb(struct zone *z, int number) {
    int64_t n = number + 1;
    /* rounded twice on every machine, not once where there are fused operations */
    volatile double more = 0.01 * (double)((5 * n * n + 3 * n) % 17);
    double factor = 1 + more;
    for (int m = 0; m < NC; m++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++) {
                double *row = z->u + m * z->sc + zone_at(z, 0, j, k);
                for (int i = 1; i < z->nx - 1; i++) row[i] *= factor;
            }
}

static const uint64_t golden = 0x9e3779b97f4a7c15;

static inline uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93;
    x ^= x >> 29;
    x *= golden;
    return x ^ x >> 32;
}

uint64_t zone_hash(const struct zone *z) {
    uint64_t sum = 0, n = 1;
    for (int m = 0; m < NC; m++)
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++) {
                const double *row = z->u + m * z->sc + zone_at(z, 0, j, k);
                for (int i = 0; i < z->nx; i++) {
                    union {
                        double value;
                        uint64_t bits;
                    } u = {row[i]};
                    sum += mix(u.bits + (n + (uint64_t)i) * golden);
                }
                n += (uint64_t)z->nx;
            }
    return sum;
}

uint64_t problem_hash(const uint64_t *zone_hash, int zones) {
    uint64_t h = 0;
    for (int n = 0; n < zones; n++) h = mix(h + zone_hash[n] + golden);
    return h;
}
