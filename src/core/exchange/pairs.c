/* Pairs of opposite faces: neighbouring tasks send values beside those that they receive, mostly in
 * the same cache lines. Cores copy such a pair together, so that each line is loaded once instead
 * of twice. */
#include "exchange/plan.h"
#include "base/argument.h"
#include <stdlib.h>

enum { BESIDE = 4096 }; /* distance between reads and writes, bytes: a page */

/* A face by the parts that it is between, and where it is in the first of them. */
struct place_of {
    int lo, hi, face;
    long long at;
};

static int by_place(const void *a, const void *b) {
    const struct place_of *x = a, *y = b;
    if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
    if (x->hi != y->hi) return x->hi < y->hi ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

static struct place_of find_place(const struct face *f, int number) {
    struct place_of p = {.lo = f->from, .hi = f->to, .face = number, .at = f->of.from_at};
    if (f->from > f->to)
        p = (struct place_of){.lo = f->to, .hi = f->from, .face = number, .at = f->of.to_at};
    if (f->from == f->to && f->of.to_at < p.at) p.at = f->of.to_at;
    return p;
}

static int is_beside(const evn_exchange *x, long long a, long long b) {
    const long long apart = a > b ? a - b : b - a;
    return apart < BESIDE / (long long)x->element;
}

static int are_a_pair(const evn_exchange *x, const struct face *f, const struct face *g) {
    int same = f->from == g->to && f->to == g->from;
    for (int d = 0; d < 3; d++)
        same = same && !f->of.resolution[d] && !g->of.resolution[d] && f->of.n[d] == g->of.n[d] &&
               f->of.from_stride[d] == g->of.to_stride[d] &&
               f->of.to_stride[d] == g->of.from_stride[d];
    return same && is_beside(x, f->of.from_at, g->of.to_at) &&
           is_beside(x, f->of.to_at, g->of.from_at);
}

evn_status exchange_find_pairs(evn_exchange *x, int before) {
    const int count = x->faces - before;
    const size_t n = count ? (size_t)count : 1;
    struct place_of *order = malloc(n * sizeof *order);
    if (!order) return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces", x->faces);
    for (int i = 0; i < count; i++) order[i] = find_place(&x->face[before + i], before + i);
    qsort(order, (size_t)count, sizeof *order, by_place);
    for (int i = 0; i + 1 < count; i++) {
        struct face *f = &x->face[order[i].face], *g = &x->face[order[i + 1].face];
        if (!are_a_pair(x, f, g)) continue;
        f->back = order[i + 1].face;
        g->back = order[i].face;
        i++;
    }
    free(order);
    return EVN_OK;
}
