/* The levels that the library has, ascending, as suite/apps/tdbem/library.cmake writes them. */
#pragma once

#include "common/simd/isa.h"
#include "tdbem/library/functions.h"

extern const struct isa tdbem_isas[];
extern const struct tdbem_functions *const tdbem_levels[];
