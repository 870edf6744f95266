/* Samples of a signal from a file, see signal_open(). */
#pragma once

#include <evener/status.h>

/* *sample is to be freed, also after a failure. EVN_USAGE, EVN_MEMORY. */
evn_status signal_read(const char *path, double **sample, int *samples, double *first,
                       double *spacing);
