/* A signal from a file, as a function of time.
 *
 * The samples are interpolated as a function that has no frequencies above half their rate, by sums
 * of sin(x)/x within Kaiser's window of 16 samples to each side (-90 dB up to 0.8 of that). That is
 * done once, at 32 places or more a period of the highest frequency that it has; between two of
 * these the function is the cubic with their values and slopes, and its integral that cubic's, to
 * the bit one function wherever it is wanted. */
#pragma once

#include <evener/status.h>
#include <stddef.h>
#include <stdint.h>

struct signal {
    double begin, end; /* it is 0 before and after */
    double highest;    /* angular frequency above which its spectrum is 40 dB below its maximum */
    double most;       /* the largest |f| at a sample */
    uint64_t hash;     /* of samples and times */
    /* private */
    int samples;
    double *sample, first, spacing;
    size_t nodes;
    double step;     /* time between nodes */
    double *node;    /* [3 * nodes]: f, step f', the integral of f up to there */
    double spectrum; /* the largest |sum of sample exp(iwt)| */
};

/* Whether a name is one of a signal's file. */
int signal_is(const char *path);

/* FILE.csv: lines of t and p, evenly spaced within a hundredth of a step, a line of titles before
 * them and lines that begin with #. FILE.wav: one channel, PCM of 16, 24 or 32 bits, whose largest
 * is 1, or floating point; its first sample is at time 0. EVN_USAGE: the file, where it is wrong;
 * or a signal that has frequencies above 0.8 of half the rate of its samples. EVN_MEMORY. */
evn_status signal_open(struct signal **out, const char *path);
void signal_close(struct signal *s);

/* f at a time, and, unless `sum` is NULL, its integral up to there. */
double signal_value(const struct signal *s, double t, double *sum);

/* |sum of sample exp(i w t)| over its largest value. */
double signal_level(const struct signal *s, double w);
