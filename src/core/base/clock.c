/* The clock: the system's monotonic one. */
#include <evener/clock.h>
#include <time.h>

double evn_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
