/* The clock: seconds since some moment, never going back. */
#ifndef EVENER_CLOCK_H
#define EVENER_CLOCK_H

#include <time.h>

static inline double evn_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
