/* FT, plainly. */
#include "ft/plain.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const long double pi = 3.141592653589793238462643383279502884L;

void plain_line(int n, int sign, const double complex *in, double complex *out) {
    long double complex *root = malloc((size_t)n * sizeof *root);
    for (int j = 0; j < n; j++) root[j] = cosl(2 * pi * j / n) + sign * I * sinl(2 * pi * j / n);
    for (int k = 0; k < n; k++) {
        long double complex s = 0;
        for (int j = 0; j < n; j++) s += in[j] * root[(long)j * k % n];
        out[k] = (double complex)s;
    }
    free(root);
}

/* All lines along one axis, `step` points from one of a line to the next. */
static void along(double complex *field, long points, int n, long step, int sign) {
    double complex *root = malloc((size_t)n * sizeof *root),
                   *line = malloc((size_t)n * sizeof *line);
    for (int j = 0; j < n; j++)
        root[j] = (double complex)(cosl(2 * pi * j / n) + sign * I * sinl(2 * pi * j / n));
    for (long at = 0; at < points; at++) {
        if (at / step % n) continue; /* not where a line begins */
        for (int j = 0; j < n; j++) line[j] = field[at + j * step];
        for (int k = 0; k < n; k++) {
            double complex s = 0;
            for (int j = 0; j < n; j++) s += line[j] * root[(long)j * k % n];
            field[at + k * step] = s;
        }
    }
    free(root);
    free(line);
}

static void transform(double complex *field, const int n[3], int sign) {
    const long points = (long)n[0] * n[1] * n[2];
    along(field, points, n[0], 1, sign);
    along(field, points, n[1], n[0], sign);
    along(field, points, n[2], (long)n[0] * n[1], sign);
}

static double frequency(long i, int n) { return (double)(i < n / 2 ? i : i - n); }

static double complex checksum(const double complex *w, const int n[3]) {
    double complex s = 0;
    for (long j = 1; j <= 1024; j++)
        s += w[j % n[0] + n[0] * (3 * j % n[1] + (long)n[1] * (5 * j % n[2]))];
    return s / ((double)n[0] * n[1] * n[2]);
}

double complex *plain_ft(const int n[3], int steps, double complex *sum) {
    const long points = (long)n[0] * n[1] * n[2];
    double complex *v = malloc((size_t)points * sizeof *v), *w = malloc((size_t)points * sizeof *w);
    uint64_t x = 314159265;
    for (long i = 0; i < 2 * points; i++) {
        x = x * 1220703125 % ((uint64_t)1 << 46);
        ((double *)v)[i] = (double)x / (double)((uint64_t)1 << 46);
    }
    transform(v, n, 1);
    memset(w, 0, (size_t)points * sizeof *w);
    for (int t = 1; t <= steps; t++) {
        for (long i = 0; i < points; i++) {
            const double p = frequency(i % n[0], n[0]), q = frequency(i / n[0] % n[1], n[1]);
            const double r = frequency(i / n[0] / n[1], n[2]);
            w[i] = v[i] * exp(-4e-6 * M_PI * M_PI * (p * p + q * q + r * r) * t);
        }
        transform(w, n, -1);
        sum[t - 1] = checksum(w, n);
    }
    free(v);
    return w;
}
