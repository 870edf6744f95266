/* The clock. */
#ifndef EVENER_CLOCK_H
#define EVENER_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since some moment, never going back. */
double evn_now(void);

#ifdef __cplusplus
}
#endif
#endif
