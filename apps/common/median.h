/* The middle of some samples. */
#ifndef COMMON_MEDIAN_H
#define COMMON_MEDIAN_H

/* Of n samples, which are sorted in place; the lower half's end for an even n. */
double median(double *sample, int n);

#endif
