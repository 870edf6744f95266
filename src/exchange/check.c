/* Checks of faces: tasks and regions that do not exist, blocks beyond their region, and values that
 * two faces copy at the same time.
 *
 * The last check is exact: faces whose boxes are apart (boxes.c) do not overlap; the others are
 * compared value by value. A face sets a bit for each value that it writes in a stretch of memory,
 * and no other face may find it set. */
#include "exchange/areas.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- one face ------------------------------------------------------------------------------ */

int exchange_reach(long long at, const long long stride[3], const int n[3], long long *lo,
                   long long *hi) {
    *lo = *hi = at;
    for (int d = 0; d < 3; d++) {
        long long length;
        if (__builtin_mul_overflow(stride[d], (long long)n[d] - 1, &length)) return -1;
        long long *end = length < 0 ? lo : hi;
        if (__builtin_add_overflow(*end, length, end)) return -1;
    }
    return 0;
}

static evn_status too_large(const char *noun, int number, const evn_face *f, size_t element) {
    return evn_fail(EVN_USAGE,
                    "%s: face %d of %d x %d x %d values of %zu bytes reaches further than "
                    "bytes can be counted",
                    noun, number, f->n[0], f->n[1], f->n[2], element);
}

/* One side of a face. */
static evn_status check_side(const evn_loop *loop, size_t element, int number, const evn_face *f,
                             int to) {
    const int task = to ? f->to : f->from, slot = to ? f->to_region : f->from_region;
    const int slots = loop->place ? loop->regions : 1;
    if (slot < 0 || slot >= slots)
        return evn_fail(EVN_USAGE, "exchange: face %d %s region %d of task %d, which has %s%d",
                        number, to ? "writes" : "reads", slot, task,
                        slots > 1 ? "regions 0 to " : "region ", slots - 1);
    long long lo, hi, bytes;
    int n[3];
    exchange_extents(f, to, n);
    if (exchange_reach(to ? f->to_at : f->from_at, to ? f->to_stride : f->from_stride, n, &lo,
                       &hi) ||
        __builtin_mul_overflow(lo, (long long)element, &bytes) || hi == LLONG_MAX ||
        __builtin_mul_overflow(hi + 1, (long long)element, &bytes))
        return too_large("exchange", number, f, element);
    if (!loop->place) return EVN_OK;
    if (loop->region[task * slots + slot] < 0)
        return evn_fail(EVN_USAGE,
                        "exchange: face %d %s region %d of task %d, which has none there", number,
                        to ? "writes" : "reads", slot, task);
    const size_t have = evn_place_bytes(loop->place, loop->region[task * slots + slot]);
    if (lo >= 0 && bytes <= (long long)have) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "exchange: face %d %s values %lld to %lld of region %d of task %d, which has "
                    "%zu (%zu bytes)",
                    number, to ? "writes" : "reads", lo, hi, slot, task, have / element, have);
}

static const char *const along[] = {"first", "second", "third"};

evn_status exchange_check_resolution(const char *noun, int number, const evn_face *f,
                                     size_t element) {
    int means = 0;
    for (int d = 0; d < 3; d++) {
        if (f->resolution[d] != EVN_SAME && f->resolution[d] != EVN_MEAN &&
            f->resolution[d] != EVN_REPEAT)
            return evn_fail(EVN_USAGE,
                            "%s: face %d has resolution %d along its %s index, expected "
                            "EVN_SAME, EVN_MEAN or EVN_REPEAT",
                            noun, number, (int)f->resolution[d], along[d]);
        if (f->resolution[d] != EVN_MEAN) continue;
        means = 1;
        if (f->n[d] > INT_MAX / 2) return too_large(noun, number, f, element);
    }
    if (!means) return EVN_OK;
    if (f->numbers != EVN_DOUBLES && f->numbers != EVN_FLOATS)
        return evn_fail(EVN_USAGE,
                        "%s: face %d takes means of numbers %d, expected EVN_DOUBLES or "
                        "EVN_FLOATS",
                        noun, number, f->numbers);
    if (element % (size_t)f->numbers)
        return evn_fail(EVN_USAGE,
                        "%s: face %d takes means of values of %zu bytes, which are no whole "
                        "number of %s of %d bytes",
                        noun, number, element, f->numbers == EVN_DOUBLES ? "doubles" : "floats",
                        f->numbers);
    return EVN_OK;
}

static evn_status check_face(const evn_loop *loop, size_t element, int number, const evn_face *f,
                             void *const *host) {
    const int tasks = loop->problem->tasks;
    if (f->from < 0 || f->from >= tasks || f->to < 0 || f->to >= tasks)
        return evn_fail(EVN_USAGE,
                        "exchange: face %d goes from task %d to task %d; there are tasks 0 to %d",
                        number, f->from, f->to, tasks - 1);
    if (f->n[0] < 0 || f->n[1] < 0 || f->n[2] < 0)
        return evn_fail(EVN_USAGE, "exchange: face %d has %d x %d x %d values; none may be below 0",
                        number, f->n[0], f->n[1], f->n[2]);
    evn_status status = exchange_check_resolution("exchange", number, f, element);
    if (status || !f->n[0] || !f->n[1] || !f->n[2]) return status;
    if (!loop->place && ((evn_loop_has(loop, f->from) && !host[f->from]) ||
                         (evn_loop_has(loop, f->to) && !host[f->to])))
        return evn_fail(EVN_USAGE,
                        "exchange: face %d goes from task %d to task %d, and task %d "
                        "has no memory",
                        number, f->from, f->to, host[f->from] ? f->to : f->from);
    long long bytes = (long long)element;
    for (int d = 0; d < 3; d++)
        if (__builtin_mul_overflow(bytes, (long long)f->n[d], &bytes))
            return too_large("exchange", number, f, element);
    status = check_side(loop, element, number, f, 0);
    return status ? status : check_side(loop, element, number, f, 1);
}

evn_status exchange_check_faces(const evn_loop *loop, size_t element, int number, int count,
                                const evn_face *face, void *const *host) {
    if (!element || element > LLONG_MAX)
        return evn_fail(EVN_USAGE, "exchange: values of %zu bytes, expected 1 or more", element);
    if (count < 0 || (count && !face))
        return evn_fail(EVN_USAGE, "exchange: %d faces%s", count,
                        count < 0 ? ", expected 0 or more" : ", and none are given");
    if (!loop->place && !host)
        return evn_fail(EVN_USAGE, "exchange: neither regions nor the tasks' memory are given");
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count; i++)
        status = check_face(loop, element, number + i, &face[i], host);
    return status;
}

/* ---- faces among each other ---------------------------------------------------------------- */

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

/* The same for all values of an area. */
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

/* Reports area `mine`, which found a bit set. */
static evn_status overlap(const evn_exchange *x, const struct cluster *c, const struct area *mine,
                          long long hit) {
    const struct area *other = mine;
    memset(c->bit, 0, (size_t)((c->hi - c->lo) / c->grain + 63) / 64 * sizeof *c->bit);
    take_bits(c->bit, hit, 1, 1);
    for (int i = 0; i < c->count; i++)
        if (&c->area[i] != mine && c->area[i].written && take_area(c, &c->area[i], 0) >= 0) {
            other = &c->area[i];
            break;
        }
    const struct face *f = mine->face, *g = other->face;
    const struct part *p = &x->part[mine->written ? f->to : f->from];
    const long long begin = x->place ? 0 : (long long)(uintptr_t)p->host;
    const long long value = (c->lo + hit * c->grain - begin) / (long long)x->element;
    if (other == mine)
        return evn_fail(EVN_USAGE,
                        "exchange: face %d writes value %lld of region %d of task %d "
                        "more than once",
                        f->number, value, p->slot, p->task);
    return evn_fail(EVN_USAGE,
                    "exchange: face %d %s value %lld of region %d of task %d, which face %d writes "
                    "at the same time",
                    f->number, mine->written ? "writes" : "reads", value, p->slot, p->task,
                    g->number);
}

/* All writes first, then reads. */
static evn_status check_cluster(const evn_exchange *x, struct cluster *c) {
    c->bit = calloc((size_t)((c->hi - c->lo) / c->grain + 63) / 64, sizeof *c->bit);
    if (!c->bit)
        return evn_fail(EVN_MEMORY, "exchange: no memory to check %d faces for overlaps", x->faces);
    evn_status status = EVN_OK;
    for (int written = 1; written >= 0; written--)
        for (int i = 0; !status && i < c->count; i++) {
            const struct area *a = &c->area[i];
            if (a->written != written) continue;
            const long long hit = take_area(c, a, written);
            if (hit >= 0) status = overlap(x, c, a, hit);
        }
    free(c->bit);
    return status;
}

static int by_address(const void *a, const void *b) {
    const struct area *x = a, *y = b;
    if (x->region != y->region) return x->region < y->region ? -1 : 1;
    if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
    if (x->face != y->face) return x->face < y->face ? -1 : 1;
    return x->written - y->written;
}

static struct area area_of(const evn_exchange *x, const struct face *f, int to) {
    const struct part *p = &x->part[to ? f->to : f->from];
    const long long element = (long long)x->element;
    const long long begin = x->place ? 0 : (long long)(uintptr_t)p->host;
    struct area a = {.face = f,
                     .written = to,
                     .region = x->place  ? p->region
                               : p->host ? 0
                                         : 1 + p->task,
                     .at = begin + element * (to ? f->of.to_at : f->of.from_at),
                     .stride = to ? f->of.to_stride : f->of.from_stride};
    exchange_extents(&f->of, to, a.n);
    exchange_reach(to ? f->of.to_at : f->of.from_at, a.stride, a.n, &a.lo, &a.hi);
    a.lo = begin + element * a.lo;
    a.hi = begin + element * (a.hi + 1);
    return a;
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
static evn_status check_areas(const evn_exchange *x, const struct area *area, int areas) {
    evn_status status = EVN_OK;
    for (int i = 0, next; !status && i < areas; i = next) {
        struct cluster c = {.area = &area[i],
                            .lo = area[i].lo,
                            .hi = area[i].hi,
                            .grain = (long long)x->element,
                            .element = x->element};
        int written = area[i].written;
        for (next = i + 1;
             next < areas && area[next].region == area[i].region && area[next].lo < c.hi; next++) {
            if (area[next].hi > c.hi) c.hi = area[next].hi;
            c.grain = common_divisor(c.grain, area[next].lo - c.lo);
            written |= area[next].written;
        }
        c.count = next - i;
        const struct part *p = &x->part[area[i].written ? area[i].face->to : area[i].face->from];
        const long long base = x->place ? 0 : (long long)(uintptr_t)p->host;
        if (written && !boxes_are_apart(&c, base)) status = check_cluster(x, &c);
    }
    return status;
}

/* Marks the parts of which faces from `before` on are, and all others of their regions. Without a
 * place a region is a task's. */
static char *touch(const evn_exchange *x, int before) {
    const int regions = x->place && x->first_room > 0;
    char *part = calloc((size_t)x->parts + 1, 1);
    char *region = regions ? calloc(x->first_room, 1) : NULL;
    if (!part || (regions && !region)) {
        free(part);
        free(region);
        return NULL;
    }
    for (int i = before; i < x->faces; i++)
        for (int to = 0; to < 2; to++) {
            const int of = to ? x->face[i].to : x->face[i].from;
            part[of] = 1;
            if (region) region[x->part[of].region] = 1;
        }
    for (int i = 0; region && i < x->parts; i++) part[i] = region[x->part[i].region];
    free(region);
    return part;
}

/* The areas in touched parts; `area` NULL: their number alone. */
static int find_areas(const evn_exchange *x, const char *touched, struct area *area) {
    int count = 0;
    for (int i = 0; i < x->parts; i++) {
        if (!touched[i]) continue;
        for (int at = x->part[i].first; at >= 0; at = x->entry[at / 2].next[at % 2]) {
            if (area) area[count] = area_of(x, &x->face[at / 2], at % 2);
            count++;
        }
    }
    return count;
}

evn_status exchange_check_overlaps(const evn_exchange *x, int before) {
    if (x->faces == before) return EVN_OK;
    char *touched = touch(x, before);
    struct area *area =
        touched ? malloc((size_t)find_areas(x, touched, NULL) * sizeof *area) : NULL;
    evn_status status =
        area ? EVN_OK
             : evn_fail(EVN_MEMORY, "exchange: no memory to check %d faces for overlaps", x->faces);
    if (area) {
        const int areas = find_areas(x, touched, area);
        qsort(area, (size_t)areas, sizeof *area, by_address);
        status = check_areas(x, area, areas);
    }
    free(area);
    free(touched);
    return status;
}
