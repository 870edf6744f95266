/* A stencil with a branch, a recurrence along a line, an update with a norm, of six blocks that
 * differ in size; prints numbers that must be the same wherever it runs. */
#include <math.h>
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCKS 6
#define CENTRE 0.4
typedef double real;

#pragma omp declare target
static double limited(double a, double most) {
    double b = fabs(a);
    if (b > most) return a > 0 ? most : -most;
    return a;
}
static double slope(double lo, double hi) { return limited(0.5 * (hi - lo), 0.75); }
#pragma omp end declare target

static void stencil(int nz, int ny, int nx, real (*u)[ny][nx], double v[nz][ny][nx], long wall) {
    typedef float small;
    small weight = 0.125f;
#pragma omp target teams distribute parallel for collapse(3)
    for (int k = 1; k < nz - 1; k++)
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i <= nx - 2; i++) {
                if (i == wall || (i + j) % 7 == 3) {
                    v[k][j][i] = fmin(u[k][j][i], CENTRE) + slope(u[k][j][i - 1], u[k][j][i + 1]);
                    continue;
                }
                double sum = 0, side[2];
                side[0] = u[k][j][i - 1] + u[k][j][i + 1];
                side[1] = u[k][j - 1][i] + u[k][j + 1][i];
                for (int n = 0; n < 2; n++) sum += side[n];
                sum += u[k - 1][j][i] + u[k + 1][j][i];
                v[k][j][i] = CENTRE * u[k][j][i] + weight * sum;
            }
}

static void lines(int nz, int ny, int nx, double v[nz][ny][nx], double *global, const int *order) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++) {
            double kernel = 0.0;
            for (int i = 1; i < nx; i++) {
                v[k][j][i] = v[k][j][i] + 0.5 * v[k][j][i - 1];
                kernel += sqrt(fabs(v[k][j][i]));
            }
            global[k * ny + order[j]] = kernel;
        }
}

static double update(int nz, int ny, int nx, double u[nz][ny][nx], double v[nz][ny][nx],
                     const double *line) {
    double norm = 1.0, twice = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(+ : norm, twice)
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++) {
                if (i == j) continue;
                const double d = v[k][j][i] - u[k][j][i];
                u[k][j][i] += fma(0.25, d, 1e-3 * line[k * ny + j]);
                norm += d * d;
                twice += (double)abs(i - j);
            }
    return sqrt(norm) + 1e-6 * twice;
}

struct block {
    int nx, ny, nz, *order;
    double *u, *v, *line;
};

static void make(struct block *b, int n) {
    b->nx = 9 + 2 * n, b->ny = 8 + n, b->nz = 7;
    const size_t points = (size_t)b->nx * b->ny * b->nz, rows = (size_t)b->ny * b->nz;
    b->u = malloc(points * sizeof *b->u), b->v = malloc(points * sizeof *b->v);
    b->line = malloc(rows * sizeof *b->line), b->order = malloc(b->ny * sizeof *b->order);
    for (size_t p = 0; p < points; p++) b->u[p] = b->v[p] = (double)(p * 7 % 31) / 16 - 1;
    for (size_t p = 0; p < rows; p++) b->line[p] = 0;
    for (int j = 0; j < b->ny; j++) b->order[j] = b->ny - 1 - j;
    omp_register(b->u, points * sizeof *b->u);
    omp_register(b->v, points * sizeof *b->v);
    omp_register(b->line, rows * sizeof *b->line);
    omp_register(b->order, b->ny * sizeof *b->order);
}

int main(void) {
    static struct block block[BLOCKS];
    double norm[BLOCKS];
    for (int n = 0; n < BLOCKS; n++) make(&block[n], n);
    for (int step = 0; step < 3; step++) {
#pragma omp teams distribute OMP_CU(num_teams(2 : CPU : 1) dist_schedule(dynamic))
        for (int n = 0; n < BLOCKS; n++) {
            const struct block *b = &block[n];
            stencil(b->nz, b->ny, b->nx, (void *)b->u, (void *)b->v, 4);
            lines(b->nz, b->ny, b->nx, (void *)b->v, b->line, b->order);
            norm[n] = update(b->nz, b->ny, b->nx, (void *)b->u, (void *)b->v, b->line);
        }
        for (int n = 0; n < BLOCKS; n++) printf("%.13g%c", norm[n], n + 1 < BLOCKS ? ' ' : '\n');
    }
    for (int n = 0; n < BLOCKS; n++) {
        double sum = 0;
        omp_migrate(block[n].u), omp_migrate(block[n].line);
        for (int p = 0; p < block[n].nx * block[n].ny * block[n].nz; p++) sum += block[n].u[p];
        for (int p = 0; p < block[n].ny * block[n].nz; p++) sum += 1e-2 * block[n].line[p];
        printf("%.13g\n", sum);
    }
    return 0;
}
