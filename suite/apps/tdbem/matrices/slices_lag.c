/* Whether the skew lag of thin bodies holds.
 *
 * With S and Z the symmetric and the skew-symmetric part of M_0, a_n = -S^(-1) Z (2 a_(n-1) -
 * a_(n-2)) in the skew lag alone. An eigenvalue i mu of S^(-1) Z has roots of x^2 + 2 i mu x - i mu
 * = 0, of which one leaves the unit circle at mu = 0.39. M_1 and further matrices damp a little. */
#include "tdbem/matrices/slices_inside.h"
#include <math.h>
#include <stdlib.h>

static const double lag_most = 0.4;

/* y = S x and z = Z x, from M_0 by columns */
static void parts(const struct slices_csr *raw, const double *x, double *y, double *z) {
    for (int i = 0; i < raw->rows; i++) y[i] = z[i] = 0;
    for (int j = 0; j < raw->rows; j++)
        for (size_t e = raw->start[j]; e < raw->start[j + 1]; e++) {
            const int i = raw->column[e];
            const double half = 0.5 * raw->value[e];
            y[i] += half * x[j];
            y[j] += half * x[i];
            z[i] += half * x[j];
            z[j] -= half * x[i];
        }
}

static double product(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

enum { X, B, R, P, Q, IGNORED, DIAGONAL, VECTORS };

/* v[X] = S^(-1) v[B] to some digits; 0 where S is not positive definite. */
static int solve(const struct slices_csr *raw, double *const v[VECTORS]) {
    const int n = raw->rows;
    double gamma = 0, first = 0;
    for (int i = 0; i < n; i++) v[X][i] = v[P][i] = 0;
    for (int i = 0; i < n; i++) v[R][i] = v[B][i];
    for (int k = 0; k < 200; k++) {
        double now = 0;
        for (int i = 0; i < n; i++) now += v[R][i] * v[R][i] / v[DIAGONAL][i];
        if (!k) first = now;
        if (!(now > 1e-8 * first)) break;
        for (int i = 0; i < n; i++)
            v[P][i] = v[R][i] / v[DIAGONAL][i] + (k ? now / gamma : 0) * v[P][i];
        gamma = now;
        parts(raw, v[P], v[Q], v[IGNORED]);
        const double along = product(v[P], v[Q], n);
        if (!(along > 0)) return 0;
        for (int i = 0; i < n; i++) {
            v[X][i] += gamma / along * v[P][i];
            v[R][i] -= gamma / along * v[Q][i];
        }
    }
    return 1;
}

/* The largest mu from below: S^(-1) Z is skew-symmetric in the product x.S y, and its powers turn
 * any vector to those of the largest mu. */
evn_status lag_holds(const struct slices_csr *raw, int *holds) {
    enum { POWERS = 16 };
    const int n = raw->rows;
    double *all = calloc((size_t)n * VECTORS, sizeof *all), *v[VECTORS];
    if (!all) return evn_fail(EVN_MEMORY, "matrices: no memory for %d rows", n);
    for (int k = 0; k < VECTORS; k++) v[k] = all + (size_t)k * (size_t)n;
    for (int j = 0; j < n; j++)
        for (size_t e = raw->start[j]; e < raw->start[j + 1]; e++)
            if (raw->column[e] == j) v[DIAGONAL][j] = raw->value[e];
    uint32_t random = 1;
    for (int i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        v[X][i] = (double)random / 4294967296.0 - 0.5;
    }
    *holds = 1;
    double mu = 0;
    parts(raw, v[X], v[Q], v[B]);
    double size = sqrt(product(v[X], v[Q], n));
    for (int k = 0; k < POWERS && *holds && size > 0 && mu <= lag_most; k++) {
        for (int i = 0; i < n; i++) v[B][i] /= size;
        *holds = solve(raw, v);
        parts(raw, v[X], v[Q], v[B]);
        size = sqrt(product(v[X], v[Q], n));
        mu = size;
    }
    *holds &= mu <= lag_most;
    free(all);
    return EVN_OK;
}
