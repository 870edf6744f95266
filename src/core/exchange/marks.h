/* A set of faces by their indices, a bit each: the members are found in ascending order, and the
 * others 64 at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint64_t marks_word;
enum { MARKS_BITS = 64 };

static inline size_t marks_words(int count) { return (size_t)count / MARKS_BITS + 1; }

static inline void marks_set(marks_word *m, int i) {
    m[i / MARKS_BITS] |= (marks_word)1 << i % MARKS_BITS;
}

static inline void marks_clear(marks_word *m, int i) {
    m[i / MARKS_BITS] &= ~((marks_word)1 << i % MARKS_BITS);
}

/* The first member of at least i; `count` if there is none below it. */
static inline int marks_next(const marks_word *m, int i, int count) {
    while (i < count) {
        const marks_word rest = m[i / MARKS_BITS] >> i % MARKS_BITS;
        if (rest) {
            i += __builtin_ctzll(rest);
            return i < count ? i : count;
        }
        i += MARKS_BITS - i % MARKS_BITS;
    }
    return count;
}
