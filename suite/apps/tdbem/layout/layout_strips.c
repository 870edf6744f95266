/* Row-vectors in strips: of each strip of consecutive rows the bundles of a block, one a slice, or
 * a few where the rows' starts lie too far apart for one. */
#include "tdbem/layout/layout_inside.h"
#include "tdbem/layout/kernel_rows.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

/* Vectors that make one bundle: `have` of them from `v` on. */
struct cut {
    int slice, start, length, far, have;
    const struct vector *v;
};

/* A core's work space for a block: where its slices' next strips begin, which strips have any
 * vectors, a strip's vectors, and how they are cut into bundles. */
struct work {
    struct slices_walk *walk;
    const double **value;
    char *has;
    struct vector *v;
    struct cut *cut;
};

/* By start; a few. */
static void sort_vectors(struct vector *v, int n) {
    for (int i = 1; i < n; i++) {
        const struct vector one = v[i];
        int to = i;
        for (; to > 0 && v[to - 1].start > one.start; to--) v[to] = v[to - 1];
        v[to] = one;
    }
}

/* Bundles of the n vectors of one slice, sorted; how many. */
static int cut_slice(const struct vector *v, int n, int slice, const struct summation_strip *is,
                     struct cut *cut) {
    int count = 0;
    for (int at = 0; at < n; count++) {
        struct cut c = {.slice = slice, .v = v + at};
        while (at + c.have < n && c.v[c.have].start - c.v->start <= is->far) {
            if (c.v[c.have].length > c.length) c.length = c.v[c.have].length;
            c.start = c.v[c.have++].start;
        }
        c.far = c.start - c.v->start > is->near;
        at += c.have;
        cut[count] = c;
    }
    return count;
}

/* Order of bundles: those of one kind follow each other, so that the kernel's branches go alike for
 * many. */
static int order(const void *left, const void *right) {
    const struct cut *a = left, *b = right;
    if (a->far != b->far) return a->far - b->far;
    if (a->length != b->length) return a->length - b->length;
    if (a->slice != b->slice) return a->slice - b->slice;
    return a->start - b->start;
}

static void write(struct layout *a, const struct cut *c, size_t value, size_t meta) {
    struct strip_bundle *b = (struct strip_bundle *)(a->meta + meta);
    b->slice = (uint16_t)c->slice;
    b->start = (uint16_t)c->start;
    b->length = (uint16_t)(c->length + (c->far ? BUNDLE_FAR : 0));
    for (int i = 0; i < c->have; i++) {
        const struct vector *v = &c->v[i];
        b->ahead[v->row] = (uint8_t)(c->start - v->start);
        for (int l = 0; l < v->length; l++)
            layout_put(a, value + (size_t)(l * a->strip + v->row), v->value[l]);
    }
}

static void find_strips(const struct layout *a, const struct slices *s, char *has, int block) {
    memset(has, !s->run, (size_t)a->strips);
    if (!s->run) return;
    for (size_t r = s->run_start[a->slice[block]]; r < s->run_start[a->slice[block + 1]]; r++) {
        const int from = s->run[r].from / a->strip, to = (s->run[r].to - 1) / a->strip;
        memset(has + from, 1, (size_t)(to - from) + 1);
    }
}

static void place_block(struct layout *a, const struct slices *s, const struct work *w,
                        const struct summation_strip *is, int block) {
    const int slices = a->slice[block + 1] - a->slice[block];
    const size_t words = (sizeof(struct strip_bundle) + (size_t)a->strip) / sizeof *a->meta;
    for (int j = 0; j < slices; j++) {
        w->value[j] = a->memory ? slices_column(s, a->slice[block] + j) : NULL;
        w->walk[j] = slices_walk(s, a->slice[block] + j);
    }
    find_strips(a, s, w->has, block);
    for (int strip = 0; strip < a->strips; strip++) {
        if (!w->has[strip]) continue;
        const size_t at = (size_t)block * (size_t)a->strips + (size_t)strip;
        const int from = strip * a->strip, max = a->rows - from;
        struct vector *v = w->v;
        int count = 0;
        for (int j = 0; j < slices; j++) {
            const int n = layout_gather(&w->walk[j], from, from + (max < a->strip ? max : a->strip),
                                        layout_last(a), &w->value[j], v);
            sort_vectors(v, n);
            count += cut_slice(v, n, j, is, w->cut + count);
            v += n;
        }
        qsort(w->cut, (size_t)count, sizeof *w->cut, order);
        size_t value = 0, meta = 0;
        for (int c = 0; c < count; c++) {
            if (a->memory) write(a, &w->cut[c], a->part[at].value + value, a->part[at].meta + meta);
            value += (size_t)(w->cut[c].length * a->strip);
            meta += words;
        }
        a->part[at].count = count;
        if (!a->memory) {
            a->part[at].value = value;
            a->part[at].meta = meta;
        }
    }
}

int layout_strips(struct layout *a, const struct slices *s, int from, int to) {
    const struct summation_strip is = summation_strip(a->is.single, a->wide);
    int failed = 0, widest = 0;
    for (int b = 0; b < a->blocks; b++)
        if (a->slice[b + 1] - a->slice[b] > widest) widest = a->slice[b + 1] - a->slice[b];
#pragma omp parallel
    {
        const size_t n = (size_t)widest, max = n * (size_t)a->strip;
        struct work w = {malloc(n * sizeof *w.walk), malloc(n * sizeof *w.value),
                         malloc((size_t)a->strips), malloc(max * sizeof *w.v),
                         malloc(max * sizeof *w.cut)};
        if (!w.walk || !w.value || !w.has || !w.v || !w.cut)
#pragma omp atomic write
            failed = 1;
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
        for (int b = 0; b < a->blocks; b++)
            if (!failed && a->slice[b] >= from && a->slice[b + 1] <= to)
                place_block(a, s, &w, &is, b);
        free_all(w.walk, w.value, w.has, w.v, w.cut);
    }
    return failed;
}
