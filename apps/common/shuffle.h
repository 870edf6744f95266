/* __builtin_shufflevector for gcc 11, which has only __builtin_shuffle: as many lanes as either
 * vector has, each index a constant from 0 on. clang and gcc since 12 have it themselves.
 *
 * Whoever shuffles includes this file, by common/lanes.h or alone.
 */
#ifndef COMMON_SHUFFLE_H
#define COMMON_SHUFFLE_H

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
/* the type of a comparison is integers as wide as the lanes, which indices must be */
#    define __builtin_shufflevector(a, b, ...)                                                     \
        __builtin_shuffle(a, b, (__typeof__((a) == (b))){__VA_ARGS__})
#endif

#endif
