/* Copies of blocks by the cores of a unit. */
#include "exchange/copies.h"
#include "unit/device_ops.h"
#include "unit/share.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 128 }; /* lines asked for at a time: a quarter of a first-level cache */
enum { LINE = 64, ROWS_AHEAD = 2 };

static long long elements(const struct copy *c) { return (long long)c->n[0] * c->n[1] * c->n[2]; }

/* Room for one more; its arrays grow together. */
static int grow(struct copies *c) {
    if (c->count < c->room) return 0;
    const size_t room = c->room ? 2 * (size_t)c->room : 32;
    struct copy *copy = realloc(c->copy, room * sizeof *copy);
    if (copy) c->copy = copy;
    long long *size = realloc(c->size, room * sizeof *size);
    if (size) c->size = size;
    long long *before = realloc(c->before, room * sizeof *before);
    if (before) c->before = before;
    if (!copy || !size || !before) return -1;
    c->room = (int)room;
    return 0;
}

int copies_add_to_cores(struct copies *c, struct shape shape, size_t element,
                        const struct side *from, const struct side *to) {
    if (grow(c)) return -1;
    struct copy *copy = &c->copy[c->count];
    *copy = (struct copy){.from = (const char *)((uintptr_t)from->host + (uintptr_t)from->at),
                          .to = (char *)((uintptr_t)to->host + (uintptr_t)to->at),
                          .from_base = from->base,
                          .to_base = to->base,
                          .element = element,
                          .scale = shape.scale};
    for (int d = 0; d < 3; d++) {
        copy->from_stride[d] = from->stride[d];
        copy->to_stride[d] = to->stride[d];
        copy->n[d] = shape.n[d];
    }
    c->size[c->count++] = elements(copy);
    return 0;
}

void copies_cut(struct copies *c, int copy) {
    c->size[copy] = 0;
    c->settled = 0;
}

void copies_clear(struct copies *c) {
    c->count = c->settled = c->blocks = c->pieces = 0;
    c->sent_blocks = c->sent_pieces = c->renewals = 0;
    memset(c->spare, 0, sizeof c->spare);
}

void copies_close(struct copies *c) {
    free(c->copy);
    free(c->size);
    free(c->before);
    free(c->block);
    free(c->piece);
    free(c->next);
    free(c->renewed);
    if (c->block_buffer) device_ops.buffer_close(c->block_buffer);
    if (c->piece_buffer) device_ops.buffer_close(c->piece_buffer);
    *c = (struct copies){0};
}

/* Sums up the elements before each copy. */
static void settle(struct copies *c) {
    if (c->settled == c->count) return;
    long long sum = 0;
    for (int i = 0; i < c->count; i++) {
        c->before[i] = sum;
        sum += c->size[i];
    }
    c->settled = c->count;
}

struct copy *copies_last(struct copies *c) {
    return &c->copy[c->count - 1];
}

/* Elements begin .. end-1 of some rows of a block. */
struct rows {
    const struct copy *copy;
    long long lo, hi; /* rows lo .. hi - 1 of the block's n[0] n[1] */
    int begin, end;
};

static inline void next_row(long long *a, int *b, int n1) {
    if (++*b < n1) return;
    *b = 0;
    ++*a;
}

/* Rows whose elements lie one after another. What is written is asked for before, since stores wait
 * for their lines one after another: measured 1.4 times as fast out of a third-level cache, 1.7
 * times out of memory. */
static void copy_whole(const struct rows *r) {
    const struct copy *c = r->copy;
    const size_t bytes = (size_t)(r->end - r->begin) * c->element;
    const char *first = c->from + r->begin * c->from_stride[2];
    char *first_to = c->to + r->begin * c->to_stride[2];
    const int n1 = c->n[1];
    long long a = r->lo / n1;
    int b = (int)(r->lo % n1);
    for (long long row = r->lo; row < r->hi; row++) {
        const char *from = first + a * c->from_stride[0] + b * c->from_stride[1];
        char *to = first_to + a * c->to_stride[0] + b * c->to_stride[1];
        if (b + 1 < n1)
            for (size_t i = 0; i < bytes; i += LINE)
                __builtin_prefetch(to + c->to_stride[1] + i, 1);
        memcpy(to, from, bytes);
        next_row(&a, &b, n1);
    }
}

/* Copies whole rows in both directions. All lines are prefetched two rows ahead. */
static void copy_both_whole(const struct rows *r) {
    const struct copy *c = r->copy;
    const size_t bytes = (size_t)(r->end - r->begin) * c->element;
    const long long first = r->begin * c->from_stride[2];
    const int n1 = c->n[1];
    long long a = r->lo / n1, next_a = (r->lo + ROWS_AHEAD) / n1;
    int b = (int)(r->lo % n1), next_b = (int)((r->lo + ROWS_AHEAD) % n1);
    for (long long row = r->lo; row < r->hi; row++) {
        char *from = (char *)c->from + first + a * c->from_stride[0] + b * c->from_stride[1];
        char *to = c->to + first + a * c->to_stride[0] + b * c->to_stride[1];
        if (row + ROWS_AHEAD < r->hi) {
            const long long f = (next_a - a) * c->from_stride[0] + (next_b - b) * c->from_stride[1];
            const long long t = (next_a - a) * c->to_stride[0] + (next_b - b) * c->to_stride[1];
            for (size_t i = 0; i < bytes; i += LINE) {
                __builtin_prefetch(from + f + i, 1);
                __builtin_prefetch(to + t + i, 1);
                __builtin_prefetch(to + c->back_from + t + i, 1);
                __builtin_prefetch(from + c->back_to + f + i, 1);
            }
        }
        memcpy(to, from, bytes);
        memcpy(from + c->back_to, to + c->back_from, bytes);
        next_row(&a, &b, n1);
        next_row(&next_a, &next_b, n1);
    }
}

/* Rows whose elements do not. Inlined with `element` a constant, so that an element is a load and a
 * store. */
static inline __attribute__((always_inline)) void copy_strided(const struct rows *r,
                                                               size_t element) {
    const struct copy *c = r->copy;
    const long long fs = c->from_stride[2], ts = c->to_stride[2];
    const int n1 = c->n[1];
    long long a = r->lo / n1;
    int b = (int)(r->lo % n1);
    for (long long row = r->lo; row < r->hi; row++) {
        const char *from = c->from + a * c->from_stride[0] + b * c->from_stride[1];
        char *to = c->to + a * c->to_stride[0] + b * c->to_stride[1];
        for (int i = r->begin; i < r->end; i += AHEAD) {
            const int end = r->end - i > AHEAD ? i + AHEAD : r->end;
            for (int k = i; k < end; k++) __builtin_prefetch(to + k * ts, 1);
            for (int k = i; k < end; k++) memcpy(to + k * ts, from + k * fs, element);
        }
        next_row(&a, &b, n1);
    }
}

/* Copies both directions. A line has both given and received values, so it is written at once, and
 * all lines of the next row are prefetched meanwhile. */
static inline __attribute__((always_inline)) void copy_both(const struct rows *r, size_t element) {
    const struct copy *c = r->copy;
    const long long fs = c->from_stride[2], ts = c->to_stride[2];
    const long long back_from = c->back_from, back_to = c->back_to;
    const int n1 = c->n[1];
    long long a = r->lo / n1;
    int b = (int)(r->lo % n1);
    for (long long row = r->lo; row < r->hi; row++) {
        char *from = (char *)c->from + a * c->from_stride[0] + b * c->from_stride[1];
        char *to = c->to + a * c->to_stride[0] + b * c->to_stride[1];
        next_row(&a, &b, n1);
        const long long from_next = c->from + a * c->from_stride[0] + b * c->from_stride[1] - from;
        const long long to_next = c->to + a * c->to_stride[0] + b * c->to_stride[1] - to;
        for (int k = r->begin; k < r->end; k++) {
            char *f = from + k * fs, *t = to + k * ts;
            __builtin_prefetch(f + from_next, 1);
            __builtin_prefetch(t + to_next, 1);
            memcpy(t, f, element);
            memcpy(f + back_to, t + back_from, element);
        }
    }
}

static inline __attribute__((always_inline)) void copy_each(const struct rows *r, size_t element) {
    if (r->copy->both)
        copy_both(r, element);
    else
        copy_strided(r, element);
}

static void copy_elements(const struct rows *r) {
    switch (r->copy->element) {
    case 8: copy_each(r, 8); break;
    case 4: copy_each(r, 4); break;
    case 16: copy_each(r, 16); break;
    default: copy_each(r, r->copy->element);
    }
}

/* ---- between two resolutions ---- */

/* Index, at the source, of the first value for value i along index d. */
static inline long long source_of(int scale, int d, long long i) {
    const int way = scale >> 2 * d;
    return way & EXCHANGE_MEAN ? 2 * i : way & EXCHANGE_REPEAT ? i / 2 : i;
}

/* The values of a mean, in bytes from the first one. */
struct corners {
    long long at[8];
    int count;
};

static struct corners find_corners(const struct copy *c) {
    struct corners k = {.count = 1};
    for (int d = 2; d >= 0; d--) {
        if (!(c->scale >> 2 * d & EXCHANGE_MEAN)) continue;
        for (int i = 0; i < k.count; i++) k.at[k.count + i] = k.at[i] + c->from_stride[d];
        k.count *= 2;
    }
    return k;
}

#define MEAN_OF(type)                                                                              \
    for (size_t at = 0; at < element; at += sizeof(type)) {                                        \
        type sum, next;                                                                            \
        memcpy(&sum, from + at, sizeof sum);                                                       \
        for (int i = 1; i < k->count; i++) {                                                       \
            memcpy(&next, from + k->at[i] + at, sizeof next);                                      \
            sum += next;                                                                           \
        }                                                                                          \
        sum *= (type)1 / (type)k->count;                                                           \
        memcpy(to + at, &sum, sizeof sum);                                                         \
    }

/* Inlined with `element` and `floats` constants. */
static inline __attribute__((always_inline)) void
mean(char *to, const char *from, const struct corners *k, size_t element, int floats) {
    if (floats)
        MEAN_OF(float)
    else
        MEAN_OF(double)
}

static inline __attribute__((always_inline)) void scale_row(const struct rows *r,
                                                            const struct corners *k, char *to,
                                                            const char *from, size_t element,
                                                            int floats) {
    const struct copy *c = r->copy;
    for (int i = r->begin; i < r->end; i++) {
        const char *source = from + source_of(c->scale, 2, i) * c->from_stride[2];
        char *target = to + i * c->to_stride[2];
        if (k->count > 1)
            mean(target, source, k, element, floats);
        else
            memcpy(target, source, element);
    }
}

/* Rows of means or of repeated values. */
static void scale_rows(const struct rows *r) {
    const struct copy *c = r->copy;
    const struct corners k = find_corners(c);
    const int n1 = c->n[1], floats = c->scale & EXCHANGE_FLOATS;
    long long a = r->lo / n1;
    int b = (int)(r->lo % n1);
    for (long long row = r->lo; row < r->hi; row++) {
        const char *from = c->from + source_of(c->scale, 0, a) * c->from_stride[0] +
                           source_of(c->scale, 1, b) * c->from_stride[1];
        char *to = c->to + a * c->to_stride[0] + b * c->to_stride[1];
        if (c->element == 8 && !floats)
            scale_row(r, &k, to, from, 8, 0);
        else if (c->element == 4)
            scale_row(r, &k, to, from, 4, 1);
        else
            scale_row(r, &k, to, from, c->element, floats);
        next_row(&a, &b, n1);
    }
}

/* The block where it is now. */
static struct copy based(const struct copy *c) {
    struct copy here = *c;
    if (c->from_base) here.from = *c->from_base + (uintptr_t)c->from;
    if (c->to_base) here.to = *c->to_base + (uintptr_t)c->to;
    return here;
}

static __attribute__((noinline)) void copy_rows(const struct copy *c, long long lo, long long hi) {
    struct copy here;
    if (c->from_base || c->to_base) {
        here = based(c);
        c = &here;
    }
    const long long rows = (long long)c->n[0] * c->n[1], n2 = c->n[2];
    const long long element = (long long)c->element;
    struct rows r = {.copy = c, .hi = rows, .end = c->n[2]};
    if (rows > 1) {
        r.lo = lo / n2;
        r.hi = hi / n2;
    } else {
        r.begin = (int)lo;
        r.end = (int)hi;
    }
    if (c->scale)
        scale_rows(&r);
    else if (c->from_stride[2] != element || c->to_stride[2] != element)
        copy_elements(&r);
    else if (c->both)
        copy_both_whole(&r);
    else
        copy_whole(&r);
}

/* Elements lo .. hi-1 of a block: whole rows where there are several. The usual face of blocks in
 * one direction is a row of values that follow each other, and takes no look at what else it is. */
static inline void copy_part(const struct copy *c, long long lo, long long hi) {
    const long long size = (long long)c->element;
    if (c->n[0] != 1 || c->n[1] != 1 || c->from_stride[2] != size || c->to_stride[2] != size ||
        c->scale) {
        copy_rows(c, lo, hi);
        return;
    }
    const size_t bytes = (size_t)((hi - lo) * size);
    char *from = (char *)c->from + lo * size, *to = c->to + lo * size;
    if (c->from_base) from = *c->from_base + (uintptr_t)from;
    if (c->to_base) to = *c->to_base + (uintptr_t)to;
    memcpy(to, from, bytes);
    if (c->both) memcpy(from + c->back_to, to + c->back_from, bytes);
}

void copy_block(const struct copy *c) { copy_part(c, 0, elements(c)); }

static int is_copied(const struct copies *c, int i) {
    return c->met &&
           atomic_load_explicit(&c->met[c->copy[i].number], memory_order_relaxed) == BOTH_MET;
}

long long copies_left(const struct copies *c) {
    long long left = 0;
    for (int i = 0; i < c->count; i++)
        if (c->size[i] && !is_copied(c, i)) left += c->size[i];
    return left;
}

static long long all_elements(const struct copies *c) {
    return c->count ? c->before[c->count - 1] + c->size[c->count - 1] : 0;
}

/* The block that has an element of all. */
static int find_block(const struct copies *c, long long element) {
    int lo = 0, hi = c->count - 1;
    while (lo < hi) {
        const int mid = lo + (hi - lo + 1) / 2;
        if (c->before[mid] <= element)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Copies one of `shares` equal parts of all blocks. A part is consecutive blocks, so that a core
 * mostly copies faces of tasks that are in its caches. */
static void copy_share(const struct copies *c, int share, int shares) {
    const long long all = all_elements(c), lo = all * share / shares,
                    hi = all * (share + 1) / shares;
    if (lo == hi) return;
    for (int i = find_block(c, lo); i < c->count && c->before[i] < hi; i++) {
        const long long at = c->before[i], n = c->size[i];
        if (n && !is_copied(c, i))
            copy_part(&c->copy[i], lo > at ? lo - at : 0, hi < at + n ? hi - at : n);
    }
}

enum { SHARE = 16384, SHARES_MAX = 64 }; /* bytes that are taken at a time, at least */

void copies_begin(struct copies *c) {
    settle(c);
    const long long all = all_elements(c);
    const long long bytes = all ? all * (long long)c->copy->element : 0;
    c->shares = bytes < SHARE                ? bytes > 0
                : bytes / SHARE < SHARES_MAX ? (int)(bytes / SHARE)
                                             : SHARES_MAX;
    atomic_store_explicit(&c->taken, 0, memory_order_relaxed);
}

static void take_shares(int core, void *arg) {
    struct copies *c = arg;
    (void)core;
    if (atomic_load_explicit(&c->taken, memory_order_relaxed) >= c->shares) return;
    for (int share;
         (share = atomic_fetch_add_explicit(&c->taken, 1, memory_order_relaxed)) < c->shares;)
        copy_share(c, share, c->shares);
}

void copies_help(struct copies *c, evn_unit *unit, int alone) {
    const int left = c->shares - atomic_load_explicit(&c->taken, memory_order_relaxed);
    if (!alone && left > 1 && evn_unit_cores(unit) > 1 && !helpers_share(unit, 0, take_shares, c))
        return;
    take_shares(0, c);
}

void copies_by_cores(struct copies *c, evn_unit *unit) {
    if (!copies_left(c)) return;
    copies_begin(c);
    copies_help(c, unit, 0);
}
