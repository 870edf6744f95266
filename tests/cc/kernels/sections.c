/* Sections that do not begin at element 0, as programs have them that count from 1; prints numbers
 * that must be the same wherever it runs. */
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 150, M = 12, ZONES = 4 };

struct zone {
    double *p;
    int *kind, n;
};

static void clauses(struct zone *z, const double *q, double (*u)[M]) {
    const int n = z->n;
    double *p = z->p;
#pragma omp target teams distribute parallel for map(tofrom : p [1:n]) map(to : q [1:n])
    for (int i = 1; i <= n; i++) p[i] = 2 * p[i] + q[i];
#pragma omp target teams distribute parallel for map(tofrom : z->p [1:n], z->kind [1:n])
    for (int i = 1; i <= n; i++) z->p[i] += z->kind[i]++;
#pragma omp target teams distribute parallel for map(tofrom : p [n / 2:n - n / 2 + 1])
    for (int i = n / 2; i <= n; i++) p[i] += i;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : u [2:n - 2] [1:M - 2])
    for (int i = 2; i < n; i++)
        for (int j = 1; j < M - 1; j++) u[i][j] = u[i][j] * 3 + i * j;
}

/* Element 0 of one array is an element of another. */
static void data(double *a, double *b, int *kind, int n, double *out) {
    int i;
#pragma omp target data map(tofrom : a [1:n], b [1:n]) map(to : kind [1:n])
    {
#pragma omp target teams distribute parallel for
        for (int k = 1; k <= n; k++) b[k] += a[k] * 2 + kind[k];
#pragma omp target parallel
        {
#pragma omp for
            for (i = 1; i <= n; i++) a[i] += b[i];
#pragma omp single
            b[2] += a[1] + b[n];
#pragma omp for
            for (i = 2; i <= n; i++) a[i] += b[2];
        }
        kind[3] = 1000;
#pragma omp target update to(kind [3:1]) from(a [n:1])
        out[0] += a[n];
#pragma omp target teams distribute parallel for
        for (int k = 1; k <= n; k++) a[k] += kind[k];
    }
}

/* Other sections of the array are other units', or there is none. */
static void parts(double *whole, int z, const double *none, int nothing) {
    const int first = z * N + 1;
#pragma omp target data map(tofrom : whole [first:N]) map(to : none [1:nothing])
    {
#pragma omp target teams distribute parallel for
        for (int i = first; i < first + N; i++) whole[i] += nothing ? none[i] : i;
    }
#pragma omp target teams distribute parallel for map(tofrom : whole [first:nothing])
    for (int i = first; i < first + nothing; i++) whole[i] = none[i];
}

/* A section that the clause of the loop does not mean. */
static void beside(double *p) {
#pragma omp target enter data map(to : p [1:10])
#pragma omp target teams distribute parallel for map(tofrom : p [11:N - 10])
    for (int i = 11; i <= N; i++) p[i] += i;
#pragma omp target exit data map(from : p [1:10])
}

static double room[ZONES][2 * N], mesh[ZONES][N][M], all[ZONES * N], known[N], last[N], other[N];
static int kinds[ZONES][N + 1];

/* Hides from compilers that the pointer is to no element. */
static __attribute__((noinline)) double *from_1(double *p) { return p - 1; }

static void once(int z) {
    double out = 0, *known_from_1 = from_1(known);
    struct zone zone = {from_1(room[z]), kinds[z], N};
    clauses(&zone, room[z] + N - 1, mesh[z]);
    data(from_1(room[z]), room[z] + N - 1, kinds[z], N, &out);
    parts(from_1(all), z, NULL, 0);
    if (z) return;
#pragma omp target teams distribute parallel for map(tofrom : known_from_1 [1:N])
    for (int i = 1; i <= N; i++) known_from_1[i] += i + out;
    beside(from_1(other));
}

int main(void) {
    double sum[5] = {0}, *last_from_1 = from_1(last);
    for (int i = 0; i < ZONES * 2 * N; i++) room[i / (2 * N)][i % (2 * N)] = i % 17 * 0.5;
    for (int i = 0; i < ZONES * N * M; i++) mesh[i / (N * M)][i / M % N][i % M] = i % 23;
    for (int i = 0; i < ZONES * N; i++) all[i] = kinds[i / N][i % N + 1] = i % 7;
    omp_register(known, sizeof known);
#pragma omp target enter data map(to : last_from_1 [1:N])
    for (int step = 0; step < 2; step++) {
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
        for (int z = 0; z < ZONES; z++) once(z);
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
        for (int z = 0; z < 1; z++) {
#pragma omp target teams distribute parallel for
            for (int i = 1; i <= N; i++) last_from_1[i] += i;
        }
    }
#pragma omp target teams distribute parallel for
    for (int i = 1; i <= N; i++) last_from_1[i] *= i;
#pragma omp target exit data map(from : last_from_1 [1:N])
    omp_migrate(known);
    for (int i = 0; i < ZONES * 2 * N; i++) sum[0] += room[i / (2 * N)][i % (2 * N)] * (i % 13);
    for (int i = 0; i < ZONES * N * M; i++) sum[1] += mesh[i / (N * M)][i / M % N][i % M] * (i % 5);
    for (int i = 0; i < ZONES * N; i++)
        sum[2] += all[i] * (i % 3), sum[3] += kinds[i / N][i % N + 1];
    for (int i = 0; i < N; i++) sum[4] += known[i] * i + last[i] - other[i];
    for (int i = 0; i < 5; i++) printf("%.17g ", sum[i]);
    printf("\n");
    return 0;
}
