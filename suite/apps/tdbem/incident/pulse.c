/* Pulses: their values, integrals and spectra. */
#include "tdbem/incident/pulse.h"
#include "tdbem/incident/incident.kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double cut = PULSE_CUT;

static evn_status bad_pulse(const char *text, const char *why) {
    return evn_fail(EVN_USAGE,
                    "pulse: \"%s\": %s, expected gaussian:sigma=S, ricker:sigma=S,t0=T, or a "
                    "signal's file .csv or .wav",
                    text, why);
}

evn_status pulse_read(struct pulse *out, const char *text) {
    *out = (struct pulse){.t0 = NAN};
    if (signal_is(text)) {
        out->kind = PULSE_SIGNAL;
        return signal_open(&out->signal, text);
    }
    const size_t length = strcspn(text, ":");
    if (length == 8 && !strncmp(text, "gaussian", 8))
        out->kind = PULSE_GAUSSIAN;
    else if (length == 6 && !strncmp(text, "ricker", 6))
        out->kind = PULSE_RICKER;
    else
        return bad_pulse(text, "there is no such pulse");
    for (const char *p = text + length; *p;) {
        p++;
        double *to;
        if (!strncmp(p, "sigma=", 6)) {
            to = &out->sigma;
            p += 6;
        } else if (!strncmp(p, "t0=", 3)) {
            to = &out->t0;
            p += 3;
        } else {
            return bad_pulse(text, "what it takes is sigma and t0");
        }
        char *end;
        *to = strtod(p, &end);
        if (end == p || !isfinite(*to) || (*end && *end != ','))
            return bad_pulse(text, "there is no number");
        p = end;
    }
    if (!(out->sigma > 0)) return bad_pulse(text, "sigma is not above 0");
    return EVN_OK;
}

/* exp(-u^2/2) for |u| <= cut. A function of the C library could not be computed for several u at
 * once. */
static inline double bell(double u) {
    double t, scale;
    const double e = incident_bell(u, &t);
    uint64_t bits;
    memcpy(&bits, &t, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    memcpy(&scale, &bits, sizeof scale);
    return e * scale;
}

/* `ricker`: 1 or 0. Without branches, for several u at once. */
static inline double pulse_at(double ricker, double u) {
    const double size = fabs(u), near = size < cut ? size : cut;
    const double f = (1 - ricker * near * near) * bell(near);
    return size <= cut ? f : 0; /* not for NaN */
}

void pulse_close(struct pulse *p) {
    signal_close(p->signal);
    p->signal = NULL;
}

double pulse_value(const struct pulse *p, double t) {
    if (p->signal) return signal_value(p->signal, t - p->t0, NULL);
    return pulse_at(p->kind == PULSE_RICKER, (t - p->t0) / p->sigma);
}

/* The integral of f over the time up to u sigmas from the middle: all of it, or nothing, to the bit
 * wherever f is 0. */
static double integral(const struct pulse *p, double u) {
    if (p->kind == PULSE_RICKER) return fabs(u) <= cut ? p->sigma * u * bell(u) : 0;
    const double all = p->sigma * sqrt(2 * M_PI);
    return u > cut ? all : u < -cut ? 0 : 0.5 * all * erfc(-M_SQRT1_2 * u);
}

void pulse_sample(const struct pulse *p, int count, const double *since, double *f, double *sum) {
    if (p->signal) {
        for (int i = 0; i < count; i++)
            f[i] = signal_value(p->signal, since[i], sum ? &sum[i] : NULL);
        return;
    }
    const double ricker = p->kind == PULSE_RICKER, scale = 1 / p->sigma;
#pragma omp simd
    for (int i = 0; i < count; i++) f[i] = pulse_at(ricker, since[i] * scale);
    for (int i = 0; sum && i < count; i++) sum[i] = integral(p, since[i] * scale);
}

void pulse_extent(const struct pulse *p, double *begin, double *end) {
    *begin = p->signal ? p->signal->begin : -cut * p->sigma;
    *end = p->signal ? p->signal->end : cut * p->sigma;
}

double pulse_lead(const struct pulse *p) { return p->signal ? -p->signal->begin : 6.5 * p->sigma; }

double pulse_tail(const struct pulse *p) { return p->signal ? p->signal->end : 6.5 * p->sigma; }

double pulse_most(const struct pulse *p) { return p->signal ? p->signal->most : 1; }

/* Spectra: exp(-(w sigma)^2/2), and (w sigma)^2 times that, which is largest at w sigma = sqrt(2).
 */
double pulse_highest(const struct pulse *p) {
    if (p->signal) return p->signal->highest;
    return (p->kind == PULSE_RICKER ? 3.91 : 3.035) / p->sigma;
}

int pulse_carries(const struct pulse *p, double w) {
    if (p->signal) return signal_level(p->signal, w) >= 1e-4;
    const double x = w * p->sigma, bell = exp(-0.5 * x * x);
    return (p->kind == PULSE_RICKER ? 0.5 * M_E * x * x * bell : bell) >= 1e-4;
}

void pulse_words(const struct pulse *p, char *out, size_t size) {
    if (p->signal)
        snprintf(out, size, "signal:%016llx,t0=%.17g", (unsigned long long)p->signal->hash, p->t0);
    else
        snprintf(out, size, "%s:sigma=%.17g,t0=%.17g",
                 p->kind == PULSE_RICKER ? "ricker" : "gaussian", p->sigma, p->t0);
}
