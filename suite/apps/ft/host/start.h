/* The field that FT begins with. */
#pragma once

#include "ft/host/transform.h"

/* Rows y0 <= y < y1 of plane z in layout Z: point n, x fastest, has the pseudo-random numbers R(2n
 * + 1) and R(2n + 2) as real and imaginary part (common/run/npb_random.h). */
void start_rows(const struct transform *t, double *plane, int z, int y0, int y1);
