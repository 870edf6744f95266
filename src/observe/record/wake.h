/* What it takes to wake a unit. */
#pragma once

#include <evener/machine.h>

/* Lower quartile of the seconds from a call until a thread that sleeps on another core of the
 * machine has begun, and in *own of those that the call itself takes; NaN: it is not this one,
 * there is no other core, or no thread. Takes some ms at most where cores are free. */
double record_wake(const evn_machine *machine, double *own);
