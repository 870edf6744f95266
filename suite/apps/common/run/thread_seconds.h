/* The processor time of the calling thread, which other programs on its core do not add to. */
#pragma once

#include <time.h>

static inline double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
