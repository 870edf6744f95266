/* The right-hand side of NPB's BT as one loop of which a kernel is made, against the application's
 * own: prints the largest difference, relative to the largest value. */
#include "npbmz/host/residual.h"
#include "npbmz/host/residual_rows.h"
#include <math.h>
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 21, NY = 14, NZ = 11, SJ = 24, SK = SJ * NY, SC = SK * NZ, BEYOND = 64 };

#pragma omp declare target
/* Boundary points take no part in fourth differences. */
static double inside(int s, int n) { return s >= 1 && s <= n - 2 ? 1.0 : 0.0; }
static double pressure(double r, double a, double b, double c, double e) {
    return C2 * (e - 0.5 * (a * a + b * b + c * c) / r);
}
static double heat(double r, double a, double b, double c, double e) {
    return (1 - C15) * 0.5 * (a * a + b * b + c * c) / (r * r) + C15 * e / r;
}
#pragma omp end declare target

static void right_hand_side(int nz, int ny, int nx, double u[5][nz][ny][nx],
                            double f[5][nz][ny][nx], double r[5][nz][ny][nx], double hx, double hy,
                            double hz) {
#pragma omp target teams distribute parallel for collapse(3)
    for (int k = 1; k < nz - 1; k++)
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                const double h[3] = {hx, hy, hz}, second[3] = {DELTA(0), DELTA(1), DELTA(2)};
                const double rho = u[0][k][j][i],
                             here[3] = {u[1][k][j][i] / rho, u[2][k][j][i] / rho,
                                        u[3][k][j][i] / rho};
                const double g =
                    heat(rho, u[1][k][j][i], u[2][k][j][i], u[3][k][j][i], u[4][k][j][i]);
                double sum[5];
                for (int m = 0; m < 5; m++) sum[m] = f[m][k][j][i];
                for (int d = 0; d < 3; d++) {
                    const int di = d == 0, dj = d == 1, dk = d == 2;
                    const int s = d == 0 ? i : d == 1 ? j : k, n = d == 0 ? nx : d == 1 ? ny : nz;
                    const double a = -1 / (2 * h[d]), t = C34 / (h[d] * h[d]);
                    const double dissipation = second[d] / (h[d] * h[d]);
                    for (int side = -1; side <= 1; side += 2) {
                        const int kk = k + side * dk, jj = j + side * dj, ii = i + side * di;
                        const double r1 = u[0][kk][jj][ii], e1 = u[4][kk][jj][ii];
                        const double m1[3] = {u[1][kk][jj][ii], u[2][kk][jj][ii], u[3][kk][jj][ii]};
                        const double p = pressure(r1, m1[0], m1[1], m1[2], e1);
                        const double v = m1[d] / r1, flux = side * a * v;
                        sum[0] += flux * r1;
                        for (int m = 0; m < 3; m++) {
                            const double t1 = m == d ? t * (4.0 / 3) : t;
                            sum[1 + m] += flux * m1[m] + t1 * (m1[m] / r1 - here[m]);
                            if (m == d) sum[1 + m] += side * a * p;
                        }
                        sum[4] += flux * (e1 + p) + t * (heat(r1, m1[0], m1[1], m1[2], e1) - g);
                        sum[4] += t / 6 * (v * v - here[d] * here[d]);
                        for (int m = 0; m < 5; m++)
                            sum[m] += dissipation * (u[m][kk][jj][ii] - u[m][k][j][i]);
                    }
                    for (int m = 0; m < 5; m++) {
                        double fourth = 0;
                        for (int q = -1; q <= 1; q++) {
                            if (inside(s + q, n) == 0) continue;
                            const int k0 = k + q * dk, j0 = j + q * dj, i0 = i + q * di;
                            fourth += (q == 0 ? -2 : 1) *
                                      (inside(s + q + 1, n) * u[m][k0 + dk][j0 + dj][i0 + di] -
                                       2 * u[m][k0][j0][i0] +
                                       inside(s + q - 1, n) * u[m][k0 - dk][j0 - dj][i0 - di]);
                        }
                        sum[m] -= EPS4 * fourth;
                    }
                }
                for (int m = 0; m < 5; m++) r[m][k][j][i] = sum[m];
            }
}

static double random_number(unsigned *seed) {
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) / 16777216.0;
}

static double *padded(void) {
    double *field = aligned_alloc(64, (5 * SC + 2 * BEYOND) * sizeof *field);
    for (int p = 0; p < 5 * SC + 2 * BEYOND; p++) field[p] = 1 + (p > 4 * SC);
    return field + BEYOND;
}

static double (*compact(void))[NZ][NY][NX] {
    double(*field)[NZ][NY][NX] = calloc(5, sizeof *field);
    omp_register(field, 5 * sizeof *field);
    return field;
}

int main(void) {
    const double h[3] = {0.05, 0.07, 0.1};
    double *theirs = padded(), *force = padded(), *result = padded();
    double(*u)[NZ][NY][NX] = compact(), (*f)[NZ][NY][NX] = compact(), (*r)[NZ][NY][NX] = compact();
    unsigned seed = 1;
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < NZ; k++)
            for (int j = 0; j < NY; j++)
                for (int i = 0; i < NX; i++) {
                    const int at = m * SC + k * SK + j * SJ + i;
                    u[m][k][j][i] = theirs[at] = (m == 0 || m == 4) + 0.3 * random_number(&seed);
                    f[m][k][j][i] = force[at] = random_number(&seed);
                }
    const struct zone z = {.nx = NX, .ny = NY, .nz = NZ, .sj = SJ, .sk = SK, .sc = SC};
    struct problem p = {.h = {h[0], h[1], h[2]}, .max_ny = NY, .max_sj = SJ};
    const struct team alone = {0, 1, NULL};
    double *work = aligned_alloc(64, (residual_scratch(&p, 1) + 8) / 8 * 8 * sizeof *work);
    residual(&p, &z, theirs, force, 1, result, work, &alone);
#pragma omp teams distribute OMP_CU(num_teams(auto))
    for (int once = 0; once < 1; once++) right_hand_side(NZ, NY, NX, u, f, r, h[0], h[1], h[2]);
    omp_migrate(r);
    double most = 0, largest = 0;
    for (int m = 0; m < 5; m++)
        for (int k = 1; k < NZ - 1; k++)
            for (int j = 1; j < NY - 1; j++)
                for (int i = 1; i < NX - 1; i++) {
                    const double own = result[m * SC + k * SK + j * SJ + i];
                    const double d = fabs(own - r[m][k][j][i]);
                    if (!(d <= most)) most = d;
                    if (fabs(own) > largest) largest = fabs(own);
                }
    printf("%.1e of %.3g: %s\n", most, largest, most <= 1e-12 * largest ? "same" : "OTHER");
    return 0;
}
