/* A wave's function of time f, and its integral: pulses in closed form, and a user's own signal. */
#pragma once

#include "tdbem/incident/signal.h"
#include <evener/status.h>
#include <stdint.h>

#define PULSE_CUT 9 /* sigmas from the middle where f is zero for good */

enum pulse_kind { PULSE_GAUSSIAN, PULSE_RICKER, PULSE_SIGNAL };

/* gaussian: f(t) = exp(-u^2/2); ricker: f(t) = (1 - u^2) exp(-u^2/2); u = (t - t0)/sigma. Zero for
 * |u| > 9, where it is below 1e-15. signal: that of a file at t - t0. */
struct pulse {
    enum pulse_kind kind;
    double sigma; /* in units of time; 0 of a signal */
    double t0;    /* when the middle, of a signal its time 0, passes the origin or leaves a source;
                     NAN: late enough for the body, see incident_open() */
    struct signal *signal; /* NULL: none; copies of the pulse share it */
};

/* `gaussian:sigma=S`, `ricker:sigma=S,t0=T`, or a signal's file, see signal_open(). EVN_USAGE,
 * EVN_MEMORY. What it has opened pulse_close() gives back. */
evn_status pulse_read(struct pulse *out, const char *text);
void pulse_close(struct pulse *p);

double pulse_value(const struct pulse *p, double t);

/* f at `count` times, counted from t0, and, unless `sum` is NULL, the integrals of f up to these.
 */
void pulse_sample(const struct pulse *p, int count, const double *since, double *f, double *sum);

/* Outside of *begin .. *end, counted from t0, f is zero. */
void pulse_extent(const struct pulse *p, double *begin, double *end);
/* Outside of -lead .. tail, counted from t0, it is next to nothing: below 1e-9. */
double pulse_lead(const struct pulse *p);
double pulse_tail(const struct pulse *p);

double pulse_most(const struct pulse *p); /* the largest |f| */

/* The angular frequency above which the spectrum is 40 dB below its maximum. */
double pulse_highest(const struct pulse *p);

/* Whether the spectrum is at most 80 dB below its maximum at an angular frequency: what is divided
 * by less is rounding, and what had not decayed at the end. Of a signal it takes a sum over all
 * samples. */
int pulse_carries(const struct pulse *p, double w);

/* As --pulse has it; of a signal "signal:" and a hash. */
void pulse_words(const struct pulse *p, char *out, size_t size);
