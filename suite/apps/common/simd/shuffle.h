/* __builtin_shufflevector for gcc 11, which has only __builtin_shuffle: as many lanes as either
 * vector has, each index a constant from 0 on. clang and gcc since 12 have it themselves.
 *
 * Whoever shuffles includes this file, by common/simd/lanes.h or alone.
 */
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
/* indices are integers as wide as the lanes */
#    define SHUFFLE_INDEX(a)                                                                       \
        __typeof__(__builtin_choose_expr(sizeof(a)[0] == 8, 0LL, 0))                               \
            __attribute__((vector_size(sizeof(a))))
#    define __builtin_shufflevector(a, b, ...)                                                     \
        __builtin_shuffle(a, b, (SHUFFLE_INDEX(a)){__VA_ARGS__})
#endif
