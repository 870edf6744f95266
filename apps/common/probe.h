/* Probes: what the machine allows at most, measured in the same run as what is compared with it. */
#ifndef COMMON_PROBE_H
#define COMMON_PROBE_H

#include <evener.h>
#include <stddef.h>

/* Floating-point operations a second of fused multiply-adds on registers, all cores of all units at
 * once. */
double probe_fma(evn_units *units);

/* Bytes a second that a triad a = b + s c moves (two read, one written), all cores of all units at
 * once, each core on arrays of its own that are together `bytes` large. 0 if there is no memory for
 * it. */
double probe_bandwidth(evn_units *units, size_t bytes);

#endif
