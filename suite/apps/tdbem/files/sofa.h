/* Impulse responses in SOFA (AES69), convention GeneralFIR 1.0: one measurement, a receiver a
 * point.
 *
 * A SOFA file is one of netCDF-4, which libnetcdf writes; it is opened at run time, as
 * libnetcdf.so.19, .so.22 or .so. */
#pragma once

#include "tdbem/incident/incident.h"
#include <stdio.h>

struct sofa {
    double rate; /* samples a second */
    int samples;
    int first; /* sample 0 is at time first/rate: the delay */
    int receivers;
    const double (*at)[3];         /* [receivers], m */
    const struct incident *source; /* its first wave is where the sound is from */
    const double *value; /* value[i * stride + r * step]: sample i of receiver r; NAN is silence */
    size_t stride, step;
};

/* Whether the library is there. EVN_MISSING. */
evn_status sofa_find(void);

/* EVN_MISSING, EVN_MEMORY, EVN_SYSTEM: what the library says. Errors of `out` stay the stream's. */
evn_status sofa_write(FILE *out, const struct sofa *sofa);
