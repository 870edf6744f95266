/* The summation's kernels of one precision, for all numbers of steps; included once for each.
 *
 * Given: REAL, REAL_BYTES, and what summation_kernel.h wants beside WIDE. */
#define WIDE 1
#include "tdbem/summation/summation_kernel.h"
#undef WIDE
#define WIDE 2
#include "tdbem/summation/summation_kernel.h"
#undef WIDE
#define WIDE 4
#include "tdbem/summation/summation_kernel.h"
#undef WIDE
#define WIDE 8
#include "tdbem/summation/summation_kernel.h"
#undef WIDE
#define WIDE 16
#include "tdbem/summation/summation_kernel.h"
#undef WIDE
#define WIDE 32
#include "tdbem/summation/summation_kernel.h"
#undef WIDE
