/* The kernels of BT and LU once more with other constants, or LU's with sweeps of one launch each,
 * from the same text, to see which are best on a device: each a solver of its own for
 * npbmz_options.solver. CMakeLists.txt makes them, in a library of their own, since only studies
 * want them.
 *
 * A variant computes the same bits. The constants of ours are in bt/bt_gpu.h and lu/wave.h. */
#pragma once

#include "npbmz/benchmark.h"

struct gpu_solver;

struct npbmz_variant {
    enum npbmz_benchmark benchmark;
    const char *what;                /* "3 rows", for people */
    const struct gpu_solver *solver; /* NULL: the benchmark's own solver */
};

/* Ours first, then the others, benchmark by benchmark; ended by one without `what`. */
extern const struct npbmz_variant npbmz_variants[];
