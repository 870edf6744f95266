/* Reductions of all kinds of numbers, in loops whose variables are declared before; prints numbers
 * that must be the same wherever it runs. */
#include <omp_cu.h>
#include <stdio.h>

enum { N = 1000 };
static double u[N];
static int a[N];

static void reduce(int n, const double *u, const int *a, double *out, long *whole) {
    double least = 1e9, most = -1e9, some;
    float small = 3;
    int i, first = 77, all = 1, bits = 0x7fff, odd = 5;
    long sum = 1000, product = 1;
    unsigned high = 0, low = 4000000000u;
    unsigned long long big = 1;
    (void)i;
#pragma omp target teams distribute parallel for private(some, i) reduction(min                    \
                                                                            : least, small)        \
    reduction(max                                                                                  \
              : most)
    for (i = 0; i < n; i++) {
        some = u[i] * 2;
        if (some < least) least = some;
        if (some > most) most = some;
        if ((float)some < small) small = (float)some;
    }
#pragma omp target teams distribute parallel for reduction(+ : sum, all, big) reduction(* : product) \
    reduction(max : high) reduction(min : low, first) reduction(^ : odd)
    for (i = 0; i < n; i++) {
        if (a[i] == 3) continue;
        sum += a[i];
        all += 1;
        big += 4611686018427387904ULL;
        if (i % 400 == 0) product = product * 3;
        if ((unsigned)a[i] + 3000000000u > high) high = (unsigned)a[i] + 3000000000u;
        if ((unsigned)a[i] + 3000000000u < low) low = (unsigned)a[i] + 3000000000u;
        if (a[i] < first) first = a[i];
        odd ^= a[i];
    }
#pragma omp target teams distribute parallel for reduction(& : bits)
    for (i = 0; i < n; i++) bits &= a[i] | 0x700;
    out[0] = least, out[1] = most, out[2] = small;
    whole[0] = sum, whole[1] = all, whole[2] = (long)(big % 1000003), whole[3] = product;
    whole[4] = high, whole[5] = low, whole[6] = first, whole[7] = odd, whole[8] = bits;
}

int main(void) {
    double out[2][3];
    long whole[2][9];
    for (int i = 0; i < N; i++) u[i] = (i * 7919 % 1009) - 500.5, a[i] = i * 31 % 257 - 20;
    omp_register(u, sizeof u), omp_register(a, sizeof a);
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
    for (int once = 0; once < 2; once++) reduce(once * N, u, a, out[once], whole[once]);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) printf("%.17g ", out[k][i]);
        for (int i = 0; i < 9; i++) printf("%ld ", whole[k][i]);
        printf("\n");
    }
    return 0;
}
