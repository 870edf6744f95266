/* Least squares at equidistant frequencies: all that taps are to do in the band, 0 beyond twice of
 * it. */
#include "tdbem/fast/taps.h"
#include <math.h>
#include <string.h>

enum { NODES = 256 };

static double sinc(double x) { return x == 0 ? 1 : sin(x) / x; }

struct equations {
    double matrix[TAPS][TAPS], right[DEGREES + 1][TAPS]; /* the last: a row of ones */
};

static double place(const struct taps *t, int l) { return t->apart * (l - 0.5 * (t->count - 1)); }

double taps_mean(const struct taps *t, double theta) {
    if (!t->mean) return 1;
    return sinc(0.5 * t->mean * theta) / sinc(0.5 * theta) * cos(0.5 * theta);
}

static void add_matrix(struct equations *e, const struct taps *t, double theta, double weight) {
    for (int l = 0; l < t->count; l++)
        for (int k = 0; k < t->count; k++)
            e->matrix[l][k] += weight * cos(theta * (place(t, l) - place(t, k)));
}

/* Real part of exp(i theta place) (i theta)^d times the factor. */
static void add_right(struct equations *e, const struct taps *t, double theta, double factor) {
    for (int d = 0; d < DEGREES; d++) {
        const double value = factor * pow(theta, d);
        for (int l = 0; l < t->count; l++)
            e->right[d][l] += value * cos(theta * place(t, l) + d * 0.5 * M_PI);
    }
}

/* Cholesky's factor in place, and the solutions. */
static void solve(struct equations *e, int n) {
    for (int k = 0; k < n; k++)
        for (int i = k; i < n; i++) {
            double x = e->matrix[i][k];
            for (int l = 0; l < k; l++) x -= e->matrix[i][l] * e->matrix[k][l];
            e->matrix[i][k] = i == k ? sqrt(x) : x / e->matrix[k][k];
        }
    for (int d = 0; d <= DEGREES; d++) {
        double *x = e->right[d];
        for (int k = 0; k < n; k++) {
            for (int l = 0; l < k; l++) x[k] -= e->matrix[k][l] * x[l];
            x[k] /= e->matrix[k][k];
        }
        for (int k = n - 1; k >= 0; k--) {
            for (int l = k + 1; l < n; l++) x[k] -= e->matrix[l][k] * x[l];
            x[k] /= e->matrix[k][k];
        }
    }
}

static double sum(const double *x, int n) {
    double all = 0;
    for (int l = 0; l < n; l++) all += x[l];
    return all;
}

/* The nearest solutions that are exact for what does not change. */
static void take(struct taps *t, const struct equations *e) {
    const double *one = e->right[DEGREES], all = sum(one, t->count);
    for (int d = 0; d < DEGREES; d++) {
        const double missing = ((d == 0) - sum(e->right[d], t->count)) / all;
        for (int l = 0; l < t->count; l++) t->of[d][l] = e->right[d][l] + missing * one[l];
    }
}

void taps_make(struct taps *t, enum tdbem_problem problem, double highest, double accuracy) {
    const int rigid = problem == TDBEM_RIGID, power = rigid ? 3 : 2;
    const double calm = fmin(2 * highest, (highest + M_PI) / 2);
    /* with less of it the equations are singular to rounding */
    const double ridge = 0.03 * fmin(accuracy, 1e-3) + 2e-7;
    struct equations e = {{{0}}, {{0}}};
    memset(t, 0, sizeof *t);
    /* with ten the equations are singular to rounding, and nothing is nearer */
    t->count = accuracy < 3e-4 ? TAPS : 6;
    /* as far as the band allows: what taps make of high frequencies, where the plain method's far
     * field has next to nothing, can feed modes of thin walls */
    t->apart = (int)fmax(1, 0.6 / highest);
    t->mean = t->apart > 1 ? t->apart : 0;
    t->shift = rigid ? 0.5 : 0;
    t->most = 1.6 / highest;
    for (int n = 0; n < NODES; n++) {
        const double theta = highest * (n + 0.5) / NODES,
                     beyond = calm + (M_PI - calm) * (n + 0.5) / NODES;
        const double mean = taps_mean(t, theta), rest = taps_mean(t, beyond) * ridge;
        add_matrix(&e, t, theta, mean * mean);
        add_right(&e, t, theta, mean * pow(sinc(theta / 2), power));
        add_matrix(&e, t, beyond, rest * rest);
    }
    for (int l = 0; l < t->count; l++) e.right[DEGREES][l] = 1;
    solve(&e, t->count);
    take(t, &e);
}
