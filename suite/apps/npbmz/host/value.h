/* The value that pointwise arithmetic is written over: LANES doubles on a host core, one double in
 * a device's work item.
 *
 * Headers that hold the arithmetic of a point or of a row of a line include this one and use `vec`
 * with + - * /, vec_set, vec_sqrt and INLINE only, so that one text serves both. A kernel file
 * defines NPBMZ_ITEM before it includes any of them; then the text is in the dialect of
 * evener/kernel.h, whose pitfalls hold (no designated initialisers, no compound literals).
 */
#pragma once

#ifdef NPBMZ_ITEM
#    include <evener/kernel.h>

typedef double vec;
#    define INLINE      EVN_DEVICE_FUNCTION
#    define vec_set(a)  (a)
#    define vec_sqrt(a) evn_sqrt(a)
#else
#    include "common/simd/lanes.h"
#endif

#include "npbmz/mesh/gas_constants.h"
