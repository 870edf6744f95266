/* What ordinary OpenMP loops have: small integers, characters, sizeof, loops down and by steps of
 * any integer, clauses of how and where, first values of own variables, functions of math.h that
 * have one right result. */
#include <float.h>
#include <math.h>
#include <omp_cu.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 300 };
struct mixed {
    char kind;
    short half;
    unsigned char bytes[3];
    double x;
};

static void small(int n, signed char *c, unsigned char *b, short *s, unsigned short *t, bool *f,
                  char *text, struct mixed *m, short add, char plain, bool yes, size_t *z,
                  double *out) {
    unsigned char top = 3, most = 0;
    short low = 9;
    bool flag[2] = {true, false};
    (void)flag;
#pragma omp target teams distribute parallel for private(flag) reduction(+ : top) reduction(max    \
                                                                                            : most) \
    reduction(min : low)
    for (int i = 0; i < n; i++) {
        const bool odd = i & 6;
        int some[3 * (2 + 2) - 8 / 2];
        for (int k = 0; k < 8; k++) some[k] = i + k;
        c[i] = (signed char)(c[i] * 3 + add);
        b[i] += (unsigned char)(i * 7);
        s[i] = (short)(s[i] - c[i] * 1000);
        t[i] = (unsigned short)~t[i];
        flag[0] = (i * 4) & 127, flag[1] = !flag[0];
        f[i] = i & 4;
        f[i] = f[i] + flag[0] + odd + yes;
        f[i] = f[i] ^ flag[1];
        text[i] = i % 5 ? (char)('\x61' + i % 26 + '\101' - 'A') : i % 3 ? '\n' : '\'';
        m[i].kind = (char)(plain + 1);
        m[i].half = (short)(m[i].half + i);
        m[i].bytes[i % 3] = b[i];
        m[i].x += sizeof(struct mixed) + sizeof m[i].bytes + sizeof(long) * m[i].half;
        z[i] = sizeof(double) * (size_t)i + sizeof c[0];
        top += 3 + (unsigned char)(some[7] - some[i % 8] - 7 + i % 8);
        if (b[i] > most) most = b[i];
        if (s[i] < low) low = s[i];
    }
    out[0] = top + most, out[1] = low;
}

static void loops(int n, long *a, int use) {
    unsigned from = 245;
    short k;
    size_t stride = 7;
#pragma omp target teams distribute parallel for schedule(static, 4) device(0)
    for (int i = n - 1; i >= 0; i--) a[i] = i;
#pragma omp target teams distribute parallel for simd simdlen(4) if (target                        \
                                                                     : use > 2) default(shared)
    for (unsigned i = from; i > 3; i -= 11) a[i] += 1000 * (long)i;
#pragma omp target parallel for if (use) num_threads(2) schedule(dynamic)
    for (size_t i = 2; i < (size_t)n; i = i + stride) a[i] -= (long)(i * 5000000000);
#pragma omp target teams distribute parallel for collapse(2) dist_schedule(static)
    for (long j = 20; j > -1; j -= 4)
        for (unsigned char i = 200; i <= 204; i += 2) a[j + i] ^= j * 3 + i;
#pragma omp target teams distribute parallel for
    for (k = 99; k >= 1; --k) a[k] += 2 * k;
#pragma omp target teams distribute parallel for
    for (unsigned i = 5; i < 5; i++) a[i] = -1;
#pragma omp target teams distribute parallel for nowait
    for (long long i = -3; i < n - 4; i += 2) a[i + 4] += i;
#pragma omp taskwait
}

static void first(int n, double *u) {
    double w = 0.5;
    struct mixed m = {'x', 3, {1, 2, 3}, 7};
    const double *const v = u + n;
#pragma omp target teams distribute parallel for firstprivate(w, m, v)
    for (int i = 0; i < n; i++) {
        m.bytes[1] = (unsigned char)(m.bytes[0] + i);
        u[i] = w * m.bytes[1] + m.half + v[i];
    }
}

static void exact(int n, double *u, float *f, int *whole, double *out) {
    double least = DBL_MAX;
#pragma omp target teams distribute parallel for reduction(min : least)
    for (int i = 0; i != n; i++) {
        const double x = (i - 100) * 0.37, y = i % 7 - 2.5;
        const float g = (float)x, h = (float)y;
        u[i] = floor(x) + 2 * ceil(x) + 3 * trunc(x) + 5 * round(x) + 7 * rint(x) +
               9 * nearbyint(x) + fmod(x, y) + 100 * remainder(x, y) + copysign(3, y) + fdim(x, y) +
               sqrt(fabs(x)) + fma(x, y, 1) + fmin(x, y) * fmax(x, y);
        f[i] = sqrtf(fabsf(g)) + fmodf(g, h) + floorf(g) * fmaxf(g, h) + fmaf(g, h, 1) +
               copysignf(2, h);
        const double none = (x - x) / (i % 3), far = i % 4 ? x : INFINITY;
        whole[i] = isnan(none) + 2 * !!isinf(far) + 4 * !!isfinite(far) + 8 * !!signbit(y) +
                   16 * abs(i - 7) + (int)labs(i - 9L) + (int)lround(x) * 32;
        if (u[i] < least && far < DBL_MAX) least = u[i];
    }
    *out = least;
}

static signed char c[N];
static unsigned char b[N];
static short s[N];
static unsigned short t[N];
static bool f[N];
static char text[N];
static struct mixed m[N];
static size_t z[N];
static long a[N];
static double u[2 * N], v[N];
static float g[N];
static int w[N];

static double sum(const void *memory, size_t bytes) {
    double all = 0;
    for (size_t i = 0; i < bytes; i++)
        all += (double)(i % 97 + 1) * ((const unsigned char *)memory)[i];
    return all;
}

int main(void) {
    void *const all[] = {c, b, s, t, f, text, z, a, u, v, g, w, m};
    const size_t bytes[] = {sizeof c, sizeof b, sizeof s, sizeof t, sizeof f, sizeof text, sizeof z,
                            sizeof a, sizeof u, sizeof v, sizeof g, sizeof w, sizeof m};
    double out[3];
    for (int i = 0; i < 13; i++) omp_register(all[i], bytes[i]);
    for (int i = 0; i < N; i++)
        c[i] = (signed char)i, s[i] = (short)(i * 99), u[N + i] = i, m[i].half = 5;
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
    for (int once = 0; once < 1; once++) {
        small(N - 2, c, b, s, t, f, text, m, 5, 'p', true, z + 2, out);
        loops(N, a, 3);
        first(N, u);
        exact(N, v, g, w, out + 2);
    }
    for (int i = 0; i < 13; i++) omp_migrate(all[i]);
    for (int i = 0; i < 12; i++) printf("%.17g ", sum(all[i], bytes[i]));
    double x = 0;
    for (int i = 0; i < N; i++) x += m[i].x + m[i].kind + m[i].half * 3 + m[i].bytes[i % 3] * i;
    printf("%.17g %.17g %.17g %.17g\n", x, out[0], out[1], out[2]);
    return 0;
}
