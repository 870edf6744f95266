/* A signal: samples from a file, their spectrum, and the function between them. */
#include "tdbem/incident/signal.h"
#include "common/run/hash.h"
#include "tdbem/incident/signal_file.h"
#include "common/run/free_all.h"
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HALF = 16,       /* samples that the window reaches to each side */
    PERIOD = 32,     /* nodes of a period of the highest frequency */
    MOST = 200000000 /* nodes */
};
static const double beta = 8.96;       /* of Kaiser's window: -90 dB */
static const double pass = 0.8 * M_PI; /* it passes so much, in units of the samples' spacing */

/* x[0], x[stride], ..: n of them, a power of 2, to out[0 .. n-1]. */
static void transform(size_t n, const double complex *x, size_t stride, double complex *out) {
    if (n == 1) {
        *out = *x;
        return;
    }
    const size_t half = n / 2;
    transform(half, x, 2 * stride, out);
    transform(half, x + stride, 2 * stride, out + half);
    for (size_t k = 0; k < half; k++) {
        const double complex odd = cexp(2 * M_PI * I * (double)k / (double)n) * out[half + k];
        out[half + k] = out[k] - odd;
        out[k] += odd;
    }
}

/* The largest value of the spectrum, and where it is 40 dB below that for good; on a grid of four
 * places or more for each that the samples tell apart. */
static evn_status find_spectrum(struct signal *s) {
    size_t n = 64, last = 0;
    while (n < 4 * (size_t)s->samples) n *= 2;
    double complex *x = calloc(2 * n, sizeof *x);
    if (!x) return evn_fail(EVN_MEMORY, "pulse: not enough memory for %d samples", s->samples);
    for (int i = 0; i < s->samples; i++) x[i] = s->sample[i];
    transform(n, x, 1, x + n);
    for (size_t k = 0; k <= n / 2; k++) s->spectrum = fmax(s->spectrum, cabs(x[n + k]));
    for (size_t k = 0; k <= n / 2; k++)
        if (cabs(x[n + k]) > 0.01 * s->spectrum) last = k;
    s->highest = 2 * M_PI * (double)(last + 1) / (double)n / s->spacing;
    free(x);
    return EVN_OK;
}

double signal_level(const struct signal *s, double w) {
    const double complex turn = cexp(I * w * s->spacing);
    double complex sum = 0;
    for (int i = s->samples - 1; i >= 0; i--) sum = sum * turn + s->sample[i];
    return cabs(sum) / s->spectrum;
}

/* The modified Bessel function I_0(x), and I_1(x)/x. */
static double bessel(double x, double *slope) {
    double sum = 1, term = 1, of_slope = 0.5, other = 0.5;
    for (int k = 1; k < 40; k++) {
        term *= 0.25 * x * x / k / k;
        other *= 0.25 * x * x / k / (k + 1);
        sum += term;
        of_slope += other;
    }
    *slope = of_slope;
    return sum;
}

/* The window times sin(pi x)/(pi x), and its slope. */
static double kernel(double x, double *slope) {
    const double inside = 1 - x * x / HALF / HALF;
    *slope = 0;
    if (inside <= 0) return 0;
    double of_window, unused;
    const double whole = bessel(beta, &unused);
    const double window = bessel(beta * sqrt(inside), &of_window) / whole;
    const double turn = -beta * beta * x / HALF / HALF * of_window / whole;
    if (fabs(x) < 1e-9) return window;
    const double y = M_PI * x, sinc = sin(y) / y;
    *slope = turn * sinc + window * (cos(y) - sinc) / x;
    return window * sinc;
}

/* The weights of the 2 HALF samples around a place that is `x` behind one of them, the HALF-th, of
 * value and slope; constants are kept. */
static void weigh(double x, double value[2 * HALF], double slope[2 * HALF]) {
    double sum = 0, sum_slope = 0;
    for (int i = 0; i < 2 * HALF; i++) {
        value[i] = kernel(x + HALF - 1 - i, &slope[i]);
        sum += value[i];
        sum_slope += slope[i];
    }
    for (int i = 0; i < 2 * HALF; i++) {
        value[i] /= sum;
        slope[i] = (slope[i] - value[i] * sum_slope) / sum;
    }
}

static evn_status make_nodes(struct signal *s, const char *path) {
    const size_t parts = (size_t)ceil(fmax(PERIOD * s->highest * s->spacing / (2 * M_PI), 1));
    s->nodes = ((size_t)s->samples - 1 + 2 * HALF) * parts + 1;
    s->step = s->spacing / (double)parts;
    if (s->nodes > MOST)
        return evn_fail(EVN_USAGE, "pulse: %s: %d samples are too many, expected at most %zu", path,
                        s->samples, MOST / parts);
    s->node = malloc(3 * s->nodes * sizeof *s->node);
    if (!s->node)
        return evn_fail(EVN_MEMORY, "pulse: not enough memory for %d samples", s->samples);
    for (size_t part = 0; part < parts; part++) {
        double value[2 * HALF], slope[2 * HALF];
        weigh((double)part / (double)parts, value, slope);
        for (size_t at = part; at < s->nodes; at += parts) {
            const long first = (long)(at / parts) - 2 * HALF + 1;
            double *node = s->node + 3 * at;
            node[0] = node[1] = 0;
            for (int i = 0; i < 2 * HALF; i++) {
                if (first + i < 0 || first + i >= s->samples) continue;
                node[0] += value[i] * s->sample[first + i];
                node[1] += slope[i] * s->sample[first + i];
            }
            node[1] /= (double)parts;
        }
    }
    s->node[2] = 0;
    for (size_t at = 0; at + 1 < s->nodes; at++) {
        double *n = s->node + 3 * at;
        n[5] = n[2] + s->step * ((n[0] + n[3]) / 2 + (n[1] - n[4]) / 12);
    }
    return EVN_OK;
}

double signal_value(const struct signal *s, double t, double *sum) {
    const double place = (t - s->begin) / s->step;
    const int before = !(place > 0), after = place >= (double)(s->nodes - 1);
    if (before || after) {
        if (sum) *sum = before ? 0 : s->node[3 * s->nodes - 1];
        return 0;
    }
    const size_t at = (size_t)place;
    const double *n = s->node + 3 * at, x = place - (double)at, y = 1 - x;
    if (sum)
        *sum = n[2] + s->step * x *
                          (n[0] * (1 - x * x + x * x * x / 2) +
                           n[1] * x * (0.5 - x * (2. / 3) + x * x / 4) +
                           n[3] * x * x * (1 - x / 2) + n[4] * x * x * (x / 4 - 1. / 3));
    return y * y * ((1 + 2 * x) * n[0] + x * n[1]) + x * x * ((1 + 2 * y) * n[3] - y * n[4]);
}

int signal_is(const char *path) {
    const char *end = strrchr(path, '.');
    return end && (!strcmp(end, ".csv") || !strcmp(end, ".wav"));
}

static evn_status open_signal(struct signal *s, const char *path) {
    evn_status status = signal_read(path, &s->sample, &s->samples, &s->first, &s->spacing);
    if (status) return status;
    for (int i = 0; i < s->samples; i++) s->most = fmax(s->most, fabs(s->sample[i]));
    if (!(s->most > 0)) return evn_fail(EVN_USAGE, "pulse: %s: all samples are 0", path);
    s->hash = hash_bytes(HASH_SEED, s->sample, (size_t)s->samples * sizeof *s->sample);
    s->hash = hash_bytes(s->hash, &s->first, sizeof s->first);
    s->hash = hash_bytes(s->hash, &s->spacing, sizeof s->spacing);
    status = find_spectrum(s);
    if (status) return status;
    if (!isfinite(s->spectrum))
        return evn_fail(EVN_USAGE, "pulse: %s: its samples, up to %.3g, are too large to add up",
                        path, s->most);
    if (!(s->highest * s->spacing <= pass))
        return evn_fail(EVN_USAGE,
                        "pulse: %s: at %.4g its spectrum is not 40 dB below its maximum, which its "
                        "samples, %.4g apart, cannot show; expected one without frequencies above "
                        "%.4g, 0.8 of half their rate",
                        path, s->highest, s->spacing, pass / s->spacing);
    s->begin = s->first - HALF * s->spacing;
    s->end = s->first + (s->samples - 1 + HALF) * s->spacing;
    return make_nodes(s, path);
}

evn_status signal_open(struct signal **out, const char *path) {
    *out = NULL;
    struct signal *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "pulse: not enough memory");
    evn_status status = open_signal(s, path);
    if (status) {
        signal_close(s);
        return status;
    }
    *out = s;
    return EVN_OK;
}

void signal_close(struct signal *s) {
    if (!s) return;
    free_all(s->sample, s->node, s);
}
