/* An arena: pieces of one block of memory, given out and taken back. */
#ifndef PLACE_ARENA_H
#define PLACE_ARENA_H

#include <stddef.h>

struct arena; /* opaque; holds offsets only, no memory of the block */

/* An arena of `bytes` bytes for at most `pieces` pieces at a time; NULL: no memory. */
struct arena *arena_open(size_t bytes, int pieces);
void arena_close(struct arena *a);

/* A piece of at least `bytes`, beginning on a multiple of 256; 0, or -1: no gap is large enough. */
int arena_take(struct arena *a, size_t bytes, size_t *at);

/* Gives back the piece that begins at `at`. */
void arena_give(struct arena *a, size_t at);

#endif
