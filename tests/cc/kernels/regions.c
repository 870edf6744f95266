/* Regions of several loops, and data directives; prints numbers that must be the same wherever it
 * runs. */
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 200, M = 30 };

static void shared_out(int n, double u[n], double v[n], double w[M][N], double *out) {
    int i, j, t = 3;
    double sum = 0, scale = 2;
#pragma omp target parallel private(j, t) firstprivate(scale) reduction(+ : sum)
    {
        double own = 0.5;
        t = 4;
#pragma omp for schedule(static) nowait
        for (i = 0; i < n; i++) u[i] = i * scale + t;
#pragma omp barrier
        own += 1;
#pragma omp single
        {
            u[3] = u[2] + own;
            if (u[4] > 0) v[0] = u[5];
        }
        for (t = 0; t < 3; t++) {
#pragma omp for private(own)
            for (i = 1; i < n; i++) {
                own = u[i - 1] + t;
                v[i] += own;
            }
#pragma omp for
            for (i = 0; i < n; i++) u[i] += v[i], sum += (int)v[i] % 7;
        }
        own = 1.25;
#pragma omp for collapse(2)
        for (j = 0; j < M; j++)
            for (i = j; i < N; i++) w[j][i] = u[i] * j + own;
    }
    out[0] = sum, out[1] = t + scale;
}

static void data(int n, double *a, double *b, int *kind, double *out) {
    double local[N];
    for (int i = 0; i < N; i++) local[i] = i;
#pragma omp target enter data map(to : a [0:n]) map(alloc : b[:n])
#pragma omp target data map(tofrom : kind [0:n], local) if (n > 0)
    {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++) b[i] = a[i] + local[i], kind[i] += i % 3;
#pragma omp target update from(b [2:4])
        out[2] = b[3] + b[5];
        a[7] = -100;
#pragma omp target update to(a [7:1])
#pragma omp target teams distribute parallel for
        for (int i = 0; i < n; i++) local[i] += a[i] + b[i];
    }
    for (int i = 0; i < N; i++) out[3] += local[i] * i + kind[i];
#pragma omp target exit data map(from : b [0:n]) map(release : a [0:n])
    for (int i = 0; i < n; i++) out[4] += a[i] + b[i] * i;
#pragma omp target teams distribute parallel for map(to : a [0:n]) map(from : b [0:n])
    for (int i = 0; i < n; i++) b[i] = a[i] * 3;
    for (int i = 0; i < n; i++) out[5] += b[i] * i;
}

static double u[N], v[N], w[M][N];
static int kind[N];

int main(void) {
    double out[6] = {0}, all = 0;
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    for (int i = 0; i < N; i++) a[i] = i * 0.5, b[i] = -1, v[i] = i % 11;
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
    for (int once = 0; once < 1; once++) {
        shared_out(N, u, v, w, out);
        data(N, a, b, kind, out);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) all += u[i] + v[i] * j + w[j][i] * (i % 5);
    printf("%.15g", all);
    for (int i = 0; i < 6; i++) printf(" %.15g", out[i]);
    printf("\n");
    free(a), free(b);
    return 0;
}
