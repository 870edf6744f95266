/* First fit over a list of pieces in order of their beginning. There are as many pieces as a device
 * has zones, and they move rarely, so a list that is searched from the front is enough. */
#include "place/arena.h"
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256 };

struct piece {
    size_t begin, end;
};

struct arena {
    size_t bytes;
    int count, room;
    struct piece piece[];
};

static size_t rounded(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

struct arena *arena_open(size_t bytes, int pieces) {
    struct arena *a = malloc(sizeof *a + sizeof *a->piece * (size_t)pieces);
    if (!a) return NULL;
    a->bytes = bytes / ALIGN * ALIGN;
    a->count = 0;
    a->room = pieces;
    return a;
}

void arena_close(struct arena *a) { free(a); }

int arena_take(struct arena *a, size_t bytes, size_t *at) {
    const size_t need = rounded(bytes);
    if (a->count == a->room || need < bytes) return -1;
    size_t begin = 0;
    int i = 0;
    for (; i < a->count && a->piece[i].begin - begin < need; i++) begin = a->piece[i].end;
    if (i == a->count && a->bytes - begin < need) return -1;
    memmove(&a->piece[i + 1], &a->piece[i], sizeof *a->piece * (size_t)(a->count - i));
    a->piece[i] = (struct piece){begin, begin + need};
    a->count++;
    *at = begin;
    return 0;
}

void arena_give(struct arena *a, size_t at) {
    int i = 0;
    while (i < a->count && a->piece[i].begin != at) i++;
    if (i == a->count) return;
    a->count--;
    memmove(&a->piece[i], &a->piece[i + 1], sizeof *a->piece * (size_t)(a->count - i));
}
