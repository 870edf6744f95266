/* A sorted table: asked by binary search, and what is put in moves the rest. Memory is mostly
 * registered in order, and then nothing has to move. */
#include "place/address.h"
#include <stdlib.h>
#include <string.h>

int address_reserve(struct addresses *a, int count) {
    if (count <= a->room) return 0;
    const int room = count < 16 ? 16 : count / 2 * 3;
    struct address_range *more = realloc(a->range, (size_t)room * sizeof *more);
    if (!more) return -1;
    a->range = more;
    a->room = room;
    return 0;
}

/* How many ranges begin at or before an address. */
static int before(const struct addresses *a, const char *address) {
    int low = 0, high = a->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (a->range[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int address_overlaps(const struct addresses *a, const void *begin, size_t bytes) {
    const char *from = begin;
    const int i = before(a, from);
    if (i > 0 && a->range[i - 1].end > from) return a->range[i - 1].region;
    if (i < a->count && a->range[i].begin < from + bytes) return a->range[i].region;
    return -1;
}

void address_put(struct addresses *a, const void *begin, size_t bytes, int region) {
    const char *from = begin;
    const int i = before(a, from);
    memmove(&a->range[i + 1], &a->range[i], (size_t)(a->count - i) * sizeof *a->range);
    a->range[i] = (struct address_range){from, from + bytes, region};
    a->count++;
}

void address_drop(struct addresses *a, const void *begin) {
    const int i = before(a, begin) - 1;
    if (i < 0 || a->range[i].begin != (const char *)begin) return;
    a->count--;
    memmove(&a->range[i], &a->range[i + 1], (size_t)(a->count - i) * sizeof *a->range);
}

int address_find(const struct addresses *a, const void *address, size_t *offset) {
    const char *at = address;
    const int i = before(a, at) - 1;
    if (i < 0 || at >= a->range[i].end) return -1;
    *offset = (size_t)(at - a->range[i].begin);
    return a->range[i].region;
}
