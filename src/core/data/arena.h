/* An arena: an allocator of pieces of one block of memory. */
#pragma once

#include <stddef.h>

enum { ARENA_ALIGN = 256 };

/* Size of a piece of `bytes` bytes. */
static inline size_t arena_rounded(size_t bytes) {
    return (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
}

struct arena; /* opaque; only offsets, no memory of the block */

/* An arena of `bytes` bytes; NULL: no memory. */
struct arena *arena_open(size_t bytes);
void arena_close(struct arena *a);

/* Enlarges the arena; pieces stay. */
void arena_grow(struct arena *a, size_t bytes);

/* Allocates a piece of at least `bytes` for number `owner`, aligned to ARENA_ALIGN; 0, or -1: no
 * gap is large enough. */
int arena_take(struct arena *a, size_t bytes, int owner, size_t *at);

/* Frees the piece that begins at `at`. */
void arena_give(struct arena *a, size_t at);

/* Number of pieces, and the owner of the i-th, in order of addresses. */
int arena_pieces(const struct arena *a);
int arena_owner(const struct arena *a, int i);
