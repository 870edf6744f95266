/* Solvers of M_0 side by side. */
#pragma once

#include "tdbem/matrices/slices.h"

/* Prints a table for M_0 of these slices. `devices`: where a device comes from; NULL: CUDA, if it
 * is there. */
evn_status bench_solvers(const struct slices *s, const char *mesh, const char *devices);
