/* For programs: the clock. */
#ifndef EVENER_CLOCK_H
#define EVENER_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since a fixed moment; monotonic. */
double evn_now(void);

#ifdef __cplusplus
}
#endif
#endif
