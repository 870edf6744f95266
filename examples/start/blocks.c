/* Blocks of unequal length are smoothed, on cores and devices from the same text:
 *     evener-cc --kernels -O2 blocks.c -o blocks -lm
 *     EVENER_UNITS=1:CPU:1,1:GPU:1 EVENER_DEVICES=emulated ./blocks
 * `omp target` loops in a body become kernels; registered memory follows its block to the unit. */
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 24, STEPS = 10 };
#define LENGTH(block) (1000 * (1 + (block) % 7))

static double smooth(int n, double *u, double *v) {
    double change = 0;
#pragma omp target teams distribute parallel for
    for (int i = 1; i < n - 1; i++) v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1];
#pragma omp target teams distribute parallel for reduction(+ : change)
    for (int i = 1; i < n - 1; i++) {
        change += (v[i] - u[i]) * (v[i] - u[i]);
        u[i] = v[i];
    }
    return change;
}

int main(void) {
    double *u[BLOCKS], *v[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) {
        const int n = LENGTH(block);
        u[block] = calloc(2 * n, sizeof **u);
        v[block] = u[block] + n;
        if (!u[block] || omp_register(u[block], 2 * n * sizeof **u)) return 1;
        for (int i = 0; i < n; i++) u[block][i] = i % 10;
    }
    for (int step = 0; step < STEPS; step++) {
        double change = 0;
#pragma omp teams distribute OMP_CU(num_teams(auto)) reduction(+ : change)
        for (int block = 0; block < BLOCKS; block++)
            change += smooth(LENGTH(block), u[block], v[block]);
        if (step % 3 == 0) printf("step %d: change %.6f\n", step, change);
    }
}
