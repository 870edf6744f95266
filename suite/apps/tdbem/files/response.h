/* What the body makes of any sound, from the pressures of a run: the transfer function of a point
 * is its pressure's transform over that of the incident wave at the origin, exp(-i w t); the
 * impulse response is that in time, as a filter at some sample rate: whose discrete transform the
 * transfer function is. Both end at the highest frequency that pulse and mesh carry; over the last
 * fifth of the band the filter's transform falls to zero as a cosine does. Times count from when
 * the wave passes the origin or leaves its source. */
#pragma once

#include "tdbem/files/output.h"

/* The filter of a run of so many rows: its samples, of which number 0 is at time first/rate. */
struct response_filter {
    double rate; /* samples a unit of time */
    int samples, first;
    int frequencies; /* of 0, 1, .. periods in its length, the last of them carried */
    int missing;     /* of these, where the pulse has next to nothing and the filter nothing */
};

/* EVN_USAGE: a rate that does not show the highest frequency, a run shorter than two periods of it,
 * more samples than there can be. */
evn_status response_plan(struct response_filter *out, const struct incident *in, double highest,
                         double rate, int rows);

/* Frequencies of 0, 1, .. periods in a run of so many rows that are carried. */
double response_count(const struct incident *in, double highest, double rows);

/* At `count` angular frequencies; 0: those of response_count(). NAN where the pulse has next to
 * nothing. [w scattered total]; CSV: w, then real and imaginary part of either for each point.
 * EVN_MEMORY. */
evn_status output_transfer(FILE *out, enum format format, const struct probes *from, int count,
                           const double *w);

/* [t scattered total rate]; CSV: t, then scattered and total of each point; WAV: total, a
 * channel a point; SOFA: files/sofa.h. EVN_MEMORY. */
evn_status output_impulse(FILE *out, enum format format, const struct probes *from,
                          const struct response_filter *filter);
