/* Forms of loops, types, clauses and statements that kernels are made of. */
#include <omp_cu.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 300, FIRST = 3, TWICE = FIRST * 2 };
typedef int64_t count;
static double half = 0.5;

#pragma omp declare target
static int odd(int n) { return n & 1; }
static long steps(int n) { /* of Collatz' rule */
    long s = 0;
    while (n > 1) {
        n = odd(n) ? 3 * n + 1 : n / 2;
        if (++s == 100) break;
    }
    return s;
}
#pragma omp end declare target

static void types(int n, int *a, long *b, float *c, double *d, count (*e)[TWICE]) {
    int late;
    const double class = 2;
    float f[3] = {1, 2, 3};
    (void)f;
#pragma omp target teams distribute parallel for private(late) map(tofrom : a [0:n])
    for (int i = 0; i < n; i++) {
        const float table[3] = {1.5f, 2.5F, .5f};
        int half_of = i / 2, this[2][2];
        this[0][1] = i % 3, this[1][0] = 0x1f, late = this[0][1];
        a[i] = (this[1][0] ^ (i << 2)) | (late == 1);
        b[i] = (long)i * 10000000019LL + steps(i + 1);
        c[i] = table[late] * (float)half_of;
        d[i] = half * class + (double)c[i] - (i > 20 ? -1e-3 : FIRST);
        do late--;
        while (late > -4);
        for (int k = 0, m = 1; k < TWICE; k++, m += 2) {
            if (k == FIRST)
                continue;
            else if (k > FIRST + 1)
                break;
            e[i][k] = m * late;
        }
    }
}

static void bounds(int from, int to, double *u) {
#pragma omp target teams distribute parallel for simd
    for (int i = from; i <= to; i++) {
#pragma omp simd
        for (int k = 0; k < 1; k++) u[i + 4] += i;
        {
            double u = i; /* another one */
            u += 1;
            if (u < -10) continue;
        }
    }
}

static double sums(int n, const double *u, const double *v) {
    double s = 0, t = 100;
#pragma omp target teams distribute parallel for reduction(+ : s) reduction(+ : t)
    for (int i = 0; i < n; i++) {
        if (odd(i)) continue;
        s += u[i];
        t = t - v[i];
    }
    return s + 2 * t;
}

static int a[N];
static long b[N];
static float c[N];
static double d[N], u[N];
static count e[N][TWICE];

int main(void) {
    double result[3] = {0};
    omp_register(a, sizeof a), omp_register(b, sizeof b), omp_register(c, sizeof c);
    omp_register(d, sizeof d), omp_register(e, sizeof e), omp_register(u, sizeof u);
    for (int i = 0; i < N; i++) u[i] = i * 0.25;
#pragma omp teams distribute OMP_CU(num_teams(1                                                    \
                                              : CPU : 1)) default(none)                            \
    shared(a, b, c, d, e, u, result)
    for (int once = 0; once < 1; once++) {
        types(N, a, b, c, d, e);
        bounds(-3, 11, u);
        bounds(5, 4, u);
        bounds(0, 250, u + 8);
        result[0] = sums(N, u, d);
        result[1] = sums(0, u, d);
        result[2] = sums(1, u + N - 1, d);
    }
    omp_migrate(a), omp_migrate(b), omp_migrate(c), omp_migrate(d), omp_migrate(e), omp_migrate(u);
    double sum = 0;
    long all = 0;
    for (int i = 0; i < N; i++) sum += c[i] + d[i] + u[i], all += a[i] + b[i] * (i % 5);
    for (int i = 0; i < N * TWICE; i++) all += e[i / TWICE][i % TWICE] * i;
    printf("%.13g %ld %.13g %.13g %.13g\n", sum, all, result[0], result[1], result[2]);
    return 0;
}
