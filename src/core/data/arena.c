/* First fit over a list of pieces in the order of addresses. Pieces before the first gap are not
 * searched, so filling an arena takes one pass. */
#include "data/arena.h"
#include <stdlib.h>
#include <string.h>

struct piece {
    size_t begin, end;
    int owner;
};

struct arena {
    size_t bytes;
    int count, room;
    int dense; /* pieces before the first gap */
    struct piece *piece;
};

struct arena *arena_open(size_t bytes) {
    struct arena *a = calloc(1, sizeof *a);
    if (a) arena_grow(a, bytes);
    return a;
}

void arena_close(struct arena *a) {
    if (a) free(a->piece);
    free(a);
}

void arena_grow(struct arena *a, size_t bytes) { a->bytes = bytes / ARENA_ALIGN * ARENA_ALIGN; }

static size_t end_before(const struct arena *a, int i) { return i ? a->piece[i - 1].end : 0; }

static int need_piece(struct arena *a) {
    if (a->count < a->room) return 0;
    const int room = a->room ? 2 * a->room : 64;
    struct piece *more = realloc(a->piece, sizeof *more * (size_t)room);
    if (!more) return -1;
    a->piece = more;
    a->room = room;
    return 0;
}

int arena_take(struct arena *a, size_t bytes, int owner, size_t *at) {
    const size_t need = arena_rounded(bytes);
    if (need < bytes || need_piece(a)) return -1;
    int i = a->dense;
    while (i < a->count && a->piece[i].begin - end_before(a, i) < need) i++;
    const size_t begin = end_before(a, i);
    if (i == a->count && a->bytes - begin < need) return -1;
    memmove(&a->piece[i + 1], &a->piece[i], sizeof *a->piece * (size_t)(a->count - i));
    a->piece[i] = (struct piece){begin, begin + need, owner};
    a->count++;
    while (a->dense < a->count && a->piece[a->dense].begin == end_before(a, a->dense)) a->dense++;
    *at = begin;
    return 0;
}

void arena_give(struct arena *a, size_t at) {
    int low = 0, high = a->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (a->piece[middle].begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == a->count || a->piece[low].begin != at) return;
    a->count--;
    memmove(&a->piece[low], &a->piece[low + 1], sizeof *a->piece * (size_t)(a->count - low));
    if (a->dense > low) a->dense = low;
}

int arena_pieces(const struct arena *a) { return a->count; }
int arena_owner(const struct arena *a, int i) { return a->piece[i].owner; }
