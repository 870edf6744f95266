/* Overlaps of areas: values that are written twice, or written and read.
 *
 * The check is exact: areas whose boxes are apart (boxes.c) do not overlap; the others are compared
 * value by value. An area sets a bit for each value that it writes in a stretch of memory, and no
 * other one may find it set. */
#include "exchange/areas.h"
#include <evener/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks for bits that are set among `count` from `from` on, and sets them if asked to. The first
 * one that was set; -1. */
static long long take_bits(uint64_t *bit, long long from, long long count, int set) {
    while (count > 0) {
        const int first = (int)(from % 64), n = count < 64 - first ? (int)count : 64 - first;
        const uint64_t mask = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << first;
        uint64_t *word = &bit[from / 64];
        if (*word & mask) return from - first + __builtin_ctzll(*word & mask);
        if (set) *word |= mask;
        from += n;
        count -= n;
    }
    return -1;
}

/* take() for each row of an area: the first value that was taken before, or -1. */
static long long take_area(const struct cluster *c, const struct area *a, int set) {
    const int *n = a->n;
    const long long width = (long long)c->element / c->grain;
    const int whole = a->stride[2] == 1;
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++) {
            const long long row =
                (a->at - c->lo) / c->grain + (i * a->stride[0] + j * a->stride[1]) * width;
            for (int k = 0; k < (whole ? 1 : n[2]); k++) {
                const long long hit = take_bits(c->bit, row + k * a->stride[2] * width,
                                                whole ? n[2] * width : width, set);
                if (hit >= 0) return hit;
            }
        }
    return -1;
}

/* "3", "3 of rank 1" */
static const char *name(const struct area *a, char text[32]) {
    const int length = snprintf(text, 32, "%d", a->face);
    if (a->rank >= 0) snprintf(text + length, 32 - (size_t)length, " of rank %d", a->rank);
    return text;
}

/* Reports area `mine`, which found a bit set. */
static evn_status overlap(const char *noun, const struct cluster *c, const struct area *mine,
                          long long hit) {
    const struct area *other = mine;
    memset(c->bit, 0, (size_t)((c->hi - c->lo) / c->grain + 63) / 64 * sizeof *c->bit);
    take_bits(c->bit, hit, 1, 1);
    for (int i = 0; i < c->count; i++)
        if (&c->area[i] != mine && c->area[i].written && take_area(c, &c->area[i], 0) >= 0) {
            other = &c->area[i];
            break;
        }
    const long long value = (c->lo + hit * c->grain - mine->base) / (long long)c->element;
    char a[32], b[32];
    if (other == mine)
        return evn_fail(EVN_USAGE,
                        "%s: face %s writes value %lld of region %d of task %d more than once",
                        noun, name(mine, a), value, mine->slot, mine->task);
    return evn_fail(EVN_USAGE,
                    "%s: face %s %s value %lld of region %d of task %d, which face %s writes at "
                    "the same time",
                    noun, name(mine, a), mine->written ? "writes" : "reads", value, mine->slot,
                    mine->task, name(other, b));
}

/* All writes first, then reads. */
static evn_status check_cluster(const char *noun, struct cluster *c) {
    c->bit = calloc((size_t)((c->hi - c->lo) / c->grain + 63) / 64, sizeof *c->bit);
    if (!c->bit)
        return evn_fail(EVN_MEMORY, "%s: no memory to check %d blocks for overlaps", noun,
                        c->count);
    evn_status status = EVN_OK;
    for (int written = 1; written >= 0; written--)
        for (int i = 0; !status && i < c->count; i++) {
            const struct area *a = &c->area[i];
            if (a->written != written) continue;
            const long long hit = take_area(c, a, written);
            if (hit >= 0) status = overlap(noun, c, a, hit);
        }
    free(c->bit);
    return status;
}

static int by_address(const void *a, const void *b) {
    const struct area *x = a, *y = b;
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->face != y->face) return x->face < y->face ? -1 : 1;
    return x->written - y->written;
}

static long long common_divisor(long long a, long long b) {
    while (b) {
        const long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Cuts the sorted areas into clusters, and checks each in which something is written. */
evn_status areas_check(const char *noun, size_t element, struct area *area, int areas) {
    evn_status status = EVN_OK;
    if (areas) qsort(area, (size_t)areas, sizeof *area, by_address);
    for (int i = 0, next; !status && i < areas; i = next) {
        struct cluster c = {.area = &area[i],
                            .lo = area[i].lo,
                            .hi = area[i].hi,
                            .grain = (long long)element,
                            .element = element};
        int written = area[i].written;
        for (next = i + 1;
             next < areas && area[next].region == area[i].region && area[next].lo < c.hi; next++) {
            if (area[next].hi > c.hi) c.hi = area[next].hi;
            c.grain = common_divisor(c.grain, area[next].lo - c.lo);
            written |= area[next].written;
        }
        c.count = next - i;
        if (written && !boxes_are_apart(&c)) status = check_cluster(noun, &c);
    }
    return status;
}
