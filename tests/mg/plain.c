/* The specification in the shortest words. */
#include "mg/plain.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cube {
    int n;
    double *at;
};

static double *point(const struct cube *c, int x, int y, int z) {
    const int m = c->n - 1;
    return &c->at[(x & m) + (long)c->n * ((y & m) + (long)c->n * (z & m))];
}

static struct cube cube_new(int n) {
    return (struct cube){n, calloc((size_t)n * (size_t)n * (size_t)n, sizeof(double))};
}

static double weigh(const struct cube *c, const double w[4], int x, int y, int z) {
    double sum[4] = {0};
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                sum[abs(dx) + abs(dy) + abs(dz)] += *point(c, x + dx, y + dy, z + dz);
    return w[0] * sum[0] + w[1] * sum[1] + w[2] * sum[2] + w[3] * sum[3];
}

#define ALL_POINTS(n)                                                                              \
    for (int z = 0; z < (n); z++)                                                                  \
        for (int y = 0; y < (n); y++)                                                              \
            for (int x = 0; x < (n); x++)

/* r = v - A u */
static void residual(struct cube *r, const struct cube *v, const struct cube *u) {
    static const double a[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
    ALL_POINTS(u->n) * point(r, x, y, z) = *point(v, x, y, z) - weigh(u, a, x, y, z);
}

static void smooth(struct cube *u, const struct cube *r, int b) {
    static const double s[2][4] = {{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0},
                                   {-3.0 / 17, 1.0 / 33, -1.0 / 61, 0}};
    ALL_POINTS(u->n) * point(u, x, y, z) += weigh(r, s[b], x, y, z);
}

static void restrict_to(struct cube *coarse, const struct cube *fine) {
    static const double p[4] = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};
    ALL_POINTS(coarse->n)
    *point(coarse, x, y, z) = weigh(fine, p, 2 * x + 1, 2 * y + 1, 2 * z + 1);
}

/* Along an axis an odd point takes one coarse value, an even one the mean of two. */
static void interpolate(struct cube *fine, const struct cube *coarse) {
    ALL_POINTS(fine->n) {
        double sum = 0;
        for (int q = 0; q < 8; q++)
            sum += *point(coarse, x / 2 - (!(x & 1) && q & 1), y / 2 - (!(y & 1) && q & 2),
                          z / 2 - (!(z & 1) && q & 4));
        *point(fine, x, y, z) += sum / 8;
    }
}

void plain_charges(int n, int charge[20][4]) {
    uint64_t most[20], number = 314159265;
    for (int i = 0; i < 20; i++) most[i] = i < 10 ? 0 : UINT64_MAX;
    ALL_POINTS(n) {
        number = number * 1220703125 % ((uint64_t)1 << 46);
        for (int kind = 0; kind < 2; kind++) {
            const int first = 10 * kind, last = first + 9;
            int at = last;
            if (kind ? number >= most[last] : number <= most[last]) continue;
            for (; at > first && (kind ? number < most[at - 1] : number > most[at - 1]); at--) {
                most[at] = most[at - 1];
                memcpy(charge[at], charge[at - 1], sizeof charge[at]);
            }
            most[at] = number;
            memcpy(charge[at], (int[4]){x, y, z, kind ? -1 : 1}, sizeof charge[at]);
        }
    }
}

static void cycle(struct cube *u, struct cube *r, const struct cube *v, int top, int b) {
    for (int l = top; l > 1; l--) restrict_to(&r[l - 1], &r[l]);
    for (int l = 1; l <= top; l++) {
        const size_t n = (size_t)u[l].n;
        if (l < top) memset(u[l].at, 0, n * n * n * sizeof(double));
        if (l > 1) {
            interpolate(&u[l], &u[l - 1]);
            residual(&r[l], l < top ? &r[l] : v, &u[l]);
        }
        smooth(&u[l], &r[l], b);
    }
    residual(&r[top], v, &u[top]);
}

double *plain_mg(int n, int steps, int b, double *norm) {
    struct cube u[13], r[13], v = cube_new(n);
    int charge[20][4], top = 0;
    for (int m = 2; m <= n; m *= 2) {
        u[++top] = cube_new(m);
        r[top] = cube_new(m);
    }
    plain_charges(n, charge);
    for (int i = 0; i < 20; i++)
        *point(&v, charge[i][0], charge[i][1], charge[i][2]) = charge[i][3];
    residual(&r[top], &v, &u[top]);
    for (int s = 0; s < steps; s++) cycle(u, r, &v, top, b);
    double sum = 0;
    ALL_POINTS(n) sum += *point(&r[top], x, y, z) * *point(&r[top], x, y, z);
    *norm = sqrt(sum / n / n / n);
    for (int l = 1; l <= top; l++) {
        if (l < top) free(u[l].at);
        free(r[l].at);
    }
    free(v.at);
    return u[top].at;
}
