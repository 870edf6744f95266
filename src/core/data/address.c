/* A sorted table in blocks: binary search over blocks and within one; an insertion or removal moves
 * only ranges of its block.
 *
 * Two neighbouring blocks have more than MOST / 2 ranges together, since smaller ones are merged.
 * So the number of blocks is bounded by that of ranges, and spare blocks can be kept. */
#include "data/address.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 };

struct address_range {
    const char *begin, *end;
    int region;
};

struct address_block {
    int count;
    struct address_range range[MOST];
};

void address_close(struct addresses *a) {
    for (int b = 0; b < a->room; b++) free(a->block[b]);
    free(a->block);
    *a = (struct addresses){0};
}

int address_reserve(struct addresses *a, int count) {
    const int needed = count / (MOST / 4) + 2;
    if (needed <= a->room) return 0;
    const int room = needed < 2 * a->room ? 2 * a->room : needed;
    struct address_block **more = realloc(a->block, (size_t)room * sizeof(*more));
    if (!more) return -1;
    a->block = more;
    for (; a->room < room; a->room++) {
        a->block[a->room] = malloc(sizeof **more);
        if (!a->block[a->room]) return a->room < needed ? -1 : 0;
        a->block[a->room]->count = 0;
    }
    return 0;
}

/* The last block that begins at or before an address, else the first one; there is one. */
static int block_of(const struct addresses *a, const char *address) {
    int low = 0, high = a->blocks;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (a->block[middle]->range[0].begin <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Number of ranges of a block that begin at or before an address. */
static int before(const struct address_block *b, const char *address) {
    int low = 0, high = b->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (b->range[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int address_overlaps(const struct addresses *a, const void *begin, size_t bytes) {
    const char *from = begin;
    if (!a->blocks) return -1;
    const int at = block_of(a, from);
    const struct address_block *b = a->block[at];
    const int i = before(b, from);
    if (i > 0 && b->range[i - 1].end > from) return b->range[i - 1].region;
    const struct address_range *next = i < b->count         ? &b->range[i]
                                       : at + 1 < a->blocks ? &a->block[at + 1]->range[0]
                                                            : NULL;
    return next && next->begin < from + bytes ? next->region : -1;
}

/* Makes a spare block the one at `at`. */
static struct address_block *insert_block(struct addresses *a, int at) {
    struct address_block *fresh = a->block[a->blocks];
    memmove(&a->block[at + 1], &a->block[at], (size_t)(a->blocks - at) * sizeof(*a->block));
    a->block[at] = fresh;
    a->blocks++;
    return fresh;
}

/* Halves a full block; a range behind all others begins a block of its own, so that memory that is
 * registered in order fills the blocks. */
static void split(struct addresses *a, int at, const char *address) {
    struct address_block *b = a->block[at], *next = insert_block(a, at + 1);
    const int is_last = at + 2 == a->blocks && before(b, address) == MOST;
    next->count = is_last ? 0 : MOST / 2;
    b->count = MOST - next->count;
    memcpy(next->range, &b->range[b->count], (size_t)next->count * sizeof *b->range);
}

void address_put(struct addresses *a, const void *begin, size_t bytes, int region) {
    const char *from = begin;
    if (!a->blocks) insert_block(a, 0);
    int at = block_of(a, from);
    if (a->block[at]->count == MOST) {
        split(a, at, from);
        const struct address_block *next = a->block[at + 1];
        if (!next->count || next->range[0].begin <= from) at++;
    }
    struct address_block *b = a->block[at];
    const int i = before(b, from);
    memmove(&b->range[i + 1], &b->range[i], (size_t)(b->count - i) * sizeof *b->range);
    b->range[i] = (struct address_range){from, from + bytes, region};
    b->count++;
}

/* Makes block `at` a spare one. */
static void remove_block(struct addresses *a, int at) {
    struct address_block *gone = a->block[at];
    a->blocks--;
    memmove(&a->block[at], &a->block[at + 1], (size_t)(a->blocks - at) * sizeof(*a->block));
    a->block[a->blocks] = gone;
    gone->count = 0;
}

/* Merges the block behind `at` into it if both have few ranges. */
static void merge(struct addresses *a, int at) {
    if (at < 0 || at + 1 >= a->blocks) return;
    struct address_block *b = a->block[at], *next = a->block[at + 1];
    if (b->count + next->count > MOST / 2) return;
    memcpy(&b->range[b->count], next->range, (size_t)next->count * sizeof *b->range);
    b->count += next->count;
    remove_block(a, at + 1);
}

void address_drop(struct addresses *a, const void *begin) {
    if (!a->blocks) return;
    const int at = block_of(a, begin);
    struct address_block *b = a->block[at];
    const int i = before(b, begin) - 1;
    if (i < 0 || b->range[i].begin != (const char *)begin) return;
    b->count--;
    memmove(&b->range[i], &b->range[i + 1], (size_t)(b->count - i) * sizeof *b->range);
    if (!b->count) {
        remove_block(a, at);
        merge(a, at - 1);
        return;
    }
    merge(a, at);
    merge(a, at - 1);
}

int address_find(const struct addresses *a, const void *address, size_t *offset) {
    const char *at = address;
    if (!a->blocks) return -1;
    const struct address_block *b = a->block[block_of(a, at)];
    const int i = before(b, at) - 1;
    if (i < 0 || at >= b->range[i].end) return -1;
    *offset = (size_t)(at - b->range[i].begin);
    return b->range[i].region;
}
