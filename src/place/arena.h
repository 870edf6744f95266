/* An arena: pieces of one block of memory, given out and taken back. */
#ifndef PLACE_ARENA_H
#define PLACE_ARENA_H

#include <stddef.h>

enum { ARENA_ALIGN = 256 };

/* What `bytes` bytes take of an arena. */
static inline size_t arena_rounded(size_t bytes) {
    return (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
}

struct arena; /* opaque; holds offsets only, no memory of the block */

/* An arena of `bytes` bytes; NULL: no memory. */
struct arena *arena_open(size_t bytes);
void arena_close(struct arena *a);

/* It has more bytes; pieces stay. */
void arena_grow(struct arena *a, size_t bytes);

/* A piece of at least `bytes` for `owner`, a number, beginning on a multiple of ARENA_ALIGN; 0, or
 * -1: no gap is large enough. */
int arena_take(struct arena *a, size_t bytes, int owner, size_t *at);

/* Gives back the piece that begins at `at`. */
void arena_give(struct arena *a, size_t at);

/* Number of pieces, and whose the i-th one is, in order of their beginning. */
int arena_pieces(const struct arena *a);
int arena_owner(const struct arena *a, int i);

#endif
