/* Medians. */
#pragma once

/* Median of n samples, which are sorted in place; the lower middle for an even n. */
double median(double *sample, int n);
