/* What the body makes of any sound, from the pressures of a run: the transfer function of a point
 * is its pressure's transform over that of the incident wave at the origin, exp(-i w t); the
 * impulse response is that in time, as a filter at some sample rate: whose discrete transform the
 * transfer function is. Both end at the highest frequency that pulse and mesh carry; over the last
 * fifth of the band the filter's transform falls to zero as a cosine does. Times count from when
 * the wave passes the origin. */
#ifndef TDBEM_RESPONSE_H
#define TDBEM_RESPONSE_H

#include "tdbem/files/output.h"

/* Pressures at points over the steps of a run. */
struct response_source {
    const struct table *table; /* t, then scattered and total pressure of each point */
    const struct incident *incident;
    double highest; /* angular frequency that is carried */
    int points;
    const double (*point)[3];
};

/* The filter of a run of so many rows: its samples, of which number 0 is at time first/rate. */
struct response_filter {
    double rate; /* samples a unit of time */
    int samples, first;
    int frequencies; /* of 0, 1, .. periods in its length, the last of them carried */
};

/* EVN_USAGE: a rate that does not show the highest frequency, a run shorter than two periods of it,
 * more samples than there can be. */
evn_status response_plan(struct response_filter *out, const struct incident *in, double highest,
                         double rate, int rows);

/* At `count` angular frequencies; 0: those of 0, 1, .. periods in the run, as far as they are
 * carried. NAN where the pulse has next to nothing. [w scattered total point], frequencies first;
 * CSV: w, then real and imaginary part of either for each point. EVN_MEMORY. */
evn_status output_transfer(FILE *out, enum format format, const struct response_source *from,
                           int count, const double *w);

/* [t scattered total point rate]; CSV: t, then scattered and total of each point; WAV: total, a
 * channel a point. EVN_MEMORY. */
evn_status output_impulse(FILE *out, enum format format, const struct response_source *from,
                          const struct response_filter *filter);

#endif
