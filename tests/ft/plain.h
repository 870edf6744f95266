/* FT straight after its specification: sums over all points of a line, one point at a time, nothing
 * shared with suite/apps/ft. */
#pragma once

#include <complex.h>

/* out[k] = sum over j of in[j] e^(sign 2 pi i jk / n), in long double. */
void plain_line(int n, int sign, const double complex *in, double complex *out);

/* `steps` steps on n[0] x n[1] x n[2] points: the last field, x fastest, to be freed, and each
 * step's checksum. */
double complex *plain_ft(const int n[3], int steps, double complex *sum);
