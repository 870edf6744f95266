/* Target regions whose loops are shared out in two steps: teams distribute around, parallel for
 * within; prints numbers that must be the same wherever it runs. */
#include <omp_cu.h>
#include <stdio.h>

enum { ZONES = 4, N = 40 };
static double mesh[ZONES][N][N], line[ZONES][N];

/* Both loops are shared out. */
static void add(double (*u)[N], int from) {
#pragma omp target teams map(tofrom : u [0:N])
#pragma omp distribute
    for (int k = from; k < N; k++)
#pragma omp parallel for num_threads(2)
        for (int j = 0; j < N; j++) u[k][j] += k - 2 * j;
}

/* The inner loop has other bounds in each iteration, and work around it. */
static void triangle(double (*u)[N], double *sum) {
#pragma omp target teams distribute map(tofrom : u [0:N])
    for (int k = 0; k < N; k++) {
        double all = 0, late;
        u[k][0] = 0.5 * k;
#pragma omp parallel for reduction(+ : all) private(late)
        for (int j = 0; j <= k; j++) {
            late = u[k][j];
            all += late * late;
        }
        sum[k] = all;
    }
}

/* One step; three lines; a reduction of both loops. */
static double norm(int n, double (*u)[N]) {
    double all = 1;
    int i, j;
#pragma omp target map(tofrom : all)
#pragma omp teams reduction(+ : all)
#pragma omp distribute parallel for collapse(2) reduction(+ : all) private(i, j)
    for (j = 0; j < n; j++)
#pragma ivdep
        for (i = 0; i < N; i++) all += u[j][i];
#pragma omp target parallel for private(i)
    for (j = 0; j < n; j++)
        for (i = 1; i < N; i++) u[j][i] += u[j][i - 1];
    return all;
}

int main(void) {
    double all[ZONES];
    for (int z = 0; z < ZONES; z++)
        omp_register(mesh[z], sizeof mesh[z]), omp_register(line[z], sizeof line[z]);
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
    for (int z = 0; z < ZONES; z++) {
        add(mesh[z], z);
        triangle(mesh[z], line[z]);
        all[z] = norm(N - z, mesh[z]);
    }
    double sum = 0;
    for (int z = 0; z < ZONES; z++) {
        omp_migrate(mesh[z]), omp_migrate(line[z]);
        for (int k = 0; k < N; k++) sum += line[z][k] + mesh[z][k][k] * 0.25;
        printf("%.17g %.17g\n", all[z], sum);
    }
    return 0;
}
