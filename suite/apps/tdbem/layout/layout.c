/* Conversion of slices into layouts: first all positions, then each slice is copied. */
#include "tdbem/layout/layout_inside.h"
#include "tdbem/layout/kernel_rows.h"
#include "common/run/free_all.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

evn_status layout_find(struct layout_options *out, const char *text) {
    out->br = out->bc = 0;
    if (!strcmp(text, "rows")) {
        out->kind = LAYOUT_ROWS;
    } else if (!strcmp(text, "contiguous")) {
        out->kind = LAYOUT_CONTIGUOUS;
    } else {
        char rest;
        if (sscanf(text, "full:%dx%d%c", &out->br, &out->bc, &rest) != 2 || out->br < 1 ||
            out->br > 4096 || out->bc < 1 || out->bc > 4096)
            return evn_fail(EVN_USAGE,
                            "layout: \"%s\" is none, expected rows, contiguous or full:BRxBC with "
                            "BR and BC from 1 to 4096, as full:32x16",
                            text);
        out->kind = LAYOUT_FULL;
    }
    return EVN_OK;
}

/* About a hundred blocks, so that units of quite different speeds come within some per cent of each
 * other; but of enough slices that a block's sums take little time beside its values (with 8 they
 * would take a tenth), and of no more than lets very many units share evenly. */
int layout_per_block(int columns) {
    const int n = columns / 96;
    return n < 24 ? 24 : n > 128 ? 128 : n;
}

int layout_gather(struct slices_walk *walk, int from, int to, int last, const double **value,
                  struct vector *v) {
    struct slices_walk w = *walk;
    int n = 0;
    for (; w.row < to; slices_step(&w)) {
        const int first = w.s->first[w.at], count = w.s->count[w.at],
                  skip = first == 0 && count > 0;
        const int end = first + count <= last ? first + count : last + 1;
        if (end > first + skip)
            v[n++] = (struct vector){w.row - from, first + skip, end - first - skip,
                                     *value ? *value + skip : NULL};
        if (*value) *value += count;
    }
    *walk = w;
    return n;
}

/* Start and length that serve n vectors in common. */
static void common(const struct vector *v, int n, int *start, int *length) {
    int end = 0;
    *start = v[0].start;
    for (int i = 0; i < n; i++) {
        if (v[i].start < *start) *start = v[i].start;
        if (v[i].start + v[i].length > end) end = v[i].start + v[i].length;
    }
    *length = end - *start;
}

/* How many of the next `max` vectors, sorted, one bundle takes: all, unless one lies far off. */
static int bundle_take(const struct vector *v, int max) {
    enum { APART = 4 };
    int taken = 1;
    while (taken < max && v[taken].start - v[0].start <= APART) taken++;
    return taken;
}

/* How many of the vectors from v[0] on, in order of rows, one block of Full-Blocking takes. */
static int full_take(const struct vector *v, int n, int br, int bc) {
    int start = v[0].start, end = start + v[0].length, taken = 1;
    for (; taken < n && v[taken].row - v[0].row < br; taken++) {
        int s = v[taken].start < start ? v[taken].start : start;
        int e = v[taken].start + v[taken].length;
        if (e < end) e = end;
        if (e - s > bc) break;
        start = s;
        end = e;
    }
    return taken;
}

/* Vectors that make one bundle: those from `at` on. */
struct cut {
    int at, have, start, length;
};

/* A core's work space: vectors of a tile, twice, how many of each start, and how they are cut into
 * bundles, twice. */
struct work {
    struct vector *v, *other;
    int *at;
    struct cut *cut, *sorted;
};
enum { STARTS = UINT16_MAX + 2 }; /* entries of `at`: one more than there are starts */

/* By start, then by length; rows stay ascending where both are equal. */
static void sort_vectors(const struct work *w, int n) {
    struct vector *v = w->v, *other = w->other;
    int *at = w->at, range = 256, deepest = 0;
    for (int pass = 0; pass < 2; pass++) {
        memset(at, 0, sizeof *at * (size_t)(range + 1));
        for (int i = 0; i < n; i++) {
            at[(pass ? v[i].start : v[i].length) + 1]++;
            if (v[i].start > deepest) deepest = v[i].start;
        }
        for (int k = 0; k < range; k++) at[k + 1] += at[k];
        for (int i = 0; i < n; i++) other[at[pass ? v[i].start : v[i].length]++] = v[i];
        struct vector *swap = v;
        v = other;
        other = swap;
        range = deepest + 1;
    }
}

/* Cuts n sorted vectors into bundles, and orders these by length: the kernel's loop over l then
 * ends alike for many bundles in a row, which branch prediction rewards. */
static int cut_bundles(const struct work *w, int n, int take) {
    int count = 0, longest = 0;
    for (int b = 0; b < n; count++) {
        struct cut *c = &w->sorted[count];
        c->at = b;
        c->have = bundle_take(w->v + b, n - b < take ? n - b : take);
        common(w->v + b, c->have, &c->start, &c->length);
        if (c->length > longest) longest = c->length;
        b += c->have;
    }
    int done = 0;
    for (int length = 1; length <= longest; length++)
        for (int c = 0; c < count; c++)
            if (w->sorted[c].length == length) w->cut[done++] = w->sorted[c];
    return count;
}

/* Places a tile's rows in bundles, and counts elements while the layout is planned; writes them
 * once the layout has its memory. */
static void place_rows(struct layout *a, const struct work *w, int n, int height, struct part *p) {
    const int take = a->bundle_rows;
    sort_vectors(w, n);
    size_t value = 0, meta = 0;
    uint32_t where = 0;
    const int count = cut_bundles(w, n, take);
    for (int b = 0; b < count; b++) {
        const struct cut *c = &w->cut[b];
        const struct vector *v = w->v + c->at;
        if (a->memory) {
            uint16_t *m = a->meta + p->meta + meta;
            a->where[p->where + (size_t)b] = where;
            *m++ = (uint16_t)c->start;
            *m++ = (uint16_t)c->length;
            for (int r = 0; r < take; r++) m[r] = (uint16_t)(r < c->have ? v[r].row : height);
            for (int r = 0; r < c->have; r++)
                for (int l = 0; l < v[r].length; l++) {
                    const size_t at =
                        p->value + value + (size_t)((v[r].start - c->start + l) * take + r);
                    layout_put(a, at, v[r].value[l]);
                }
        }
        value += (size_t)(c->length * take);
        meta += 2 + (size_t)take;
        where += (uint32_t)c->length;
    }
    p->count = count;
    if (a->memory) return;
    p->value = value;
    p->meta = meta;
}

static void place_full(struct layout *a, const struct work *w, int n, struct part *p) {
    const size_t size = (size_t)a->tall * (size_t)a->is.bc;
    int count = 0;
    for (int b = 0; b < n; count++) {
        const struct vector *v = w->v + b;
        const int have = full_take(v, n - b, a->is.br, a->is.bc);
        int start, length;
        common(v, have, &start, &length);
        if (a->memory) {
            a->full[p->meta + (size_t)count] =
                (struct full){.row = (uint32_t)v[0].row, .start = (uint16_t)start};
            for (int r = 0; r < have; r++)
                for (int l = 0; l < v[r].length; l++) {
                    const size_t at =
                        p->value + (size_t)count * size +
                        (size_t)((v[r].start - start + l) * a->tall + v[r].row - v[0].row);
                    layout_put(a, at, v[r].value[l]);
                }
        }
        b += have;
    }
    p->count = count;
    if (a->memory) return;
    p->value = (size_t)count * size;
    p->meta = (size_t)count;
}

static void place_contiguous(struct layout *a, const struct work *w, int n, int j) {
    const size_t rows = (size_t)a->rows;
    const struct part *p = &a->part[j]; /* one part holds for all tiles */
    for (int i = 0; i < n; i++) {
        const struct vector *v = &w->v[i];
        a->meta[p->meta + (size_t)v->row] = (uint16_t)v->start;
        for (int l = 0; l < v->length; l++) {
            const size_t at = p->value + (size_t)l * rows + (size_t)v->row;
            layout_put(a, at, v->value[l]);
        }
    }
}

static void place(struct layout *a, const struct slices *s, const struct work *w, int j) {
    const double *value = a->memory ? slices_column(s, j) : NULL;
    struct slices_walk walk = slices_walk(s, j);
    const int last = layout_last(a);
    if (a->is.kind == LAYOUT_CONTIGUOUS) {
        int n = layout_gather(&walk, 0, a->rows, last, &value, w->v);
        place_contiguous(a, w, n, j);
        return;
    }
    for (int t = 0; t < a->tiles; t++) {
        const int from = a->tile_row[t], to = a->tile_row[t + 1];
        struct part *p = &a->part[(size_t)t * (size_t)a->columns + (size_t)j];
        int n = layout_gather(&walk, from, to, last, &value, w->v);
        if (a->is.kind == LAYOUT_ROWS)
            place_rows(a, w, n, to - from, p);
        else
            place_full(a, w, n, p);
    }
}

/* Rows of a tile: its sums stay in a second-level cache, with room for the values that pass by. Not
 * fewer, since fewer rows have fewer starts in common and bundles are padded more. Tiles are of
 * equal size. */
static int tile_rows(const struct layout_options *o, int wide, int rows) {
    int tile = o->tile ? o->tile : 131072 / (wide * (o->single ? 4 : 8));
    if (!o->tile && tile < 1024) tile = 1024;
    if (o->kind == LAYOUT_FULL && tile < 4 * o->br) tile = 4 * o->br;
    if (tile > TILE_MAX) tile = TILE_MAX;
    int tiles = (rows + tile - 1) / tile;
    return (rows + tiles - 1) / tiles;
}

/* One pass over slices, each by one core. */
static int each_slice(struct layout *a, const struct slices *s, int from, int to) {
    int failed = 0;
    if (a->strip) return layout_strips(a, s, from, to);
#pragma omp parallel
    {
        const size_t n = (size_t)a->rows + 1;
        struct work w = {malloc(n * sizeof *w.v), malloc(n * sizeof *w.v),
                         malloc(STARTS * sizeof *w.at), malloc(n * sizeof *w.cut),
                         malloc(n * sizeof *w.cut)};
        if (!w.v || !w.other || !w.at || !w.cut || !w.sorted)
#pragma omp atomic write
            failed = 1;
#pragma omp barrier
#pragma omp for schedule(dynamic, 8)
        for (int j = from; j < to; j++)
            if (!failed) place(a, s, &w, j);
        free_all(w.v, w.other, w.at, w.cut, w.sorted);
    }
    return failed;
}

static evn_status no_memory(void) {
    return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the matrices' layout");
}

static evn_status check(const struct layout_options *o, int longest) {
    if (o->group < 1 || o->group > GROUP_MAX)
        return evn_fail(EVN_USAGE, "td-bem: groups of %d steps, expected 1 to %d", o->group,
                        GROUP_MAX);
    if (o->kind == LAYOUT_FULL && o->bc < longest)
        return evn_fail(EVN_USAGE,
                        "layout: full:%dx%d: the longest row-vector has %d values, so a block "
                        "needs at least as many columns: full:%dx%d",
                        o->br, o->bc, longest, o->br, (longest + 15) / 16 * 16);
    if (o->kind == LAYOUT_FULL && (o->br < 1 || o->br > TILE_MAX / 4))
        return evn_fail(EVN_USAGE, "layout: full blocks of %d rows, expected 1 to %d", o->br,
                        TILE_MAX / 4);
    return EVN_OK;
}

size_t layout_parts(const struct layout *a) {
    return a->strip ? (size_t)a->blocks * (size_t)a->strips : (size_t)a->tiles * (size_t)a->columns;
}

static int cut(struct layout *a) {
    const int per = a->is.per_block ? a->is.per_block : layout_per_block(a->columns);
    int tile = tile_rows(&a->is, a->wide, a->rows);
    if (a->strip) {
        tile = (tile + a->strip - 1) / a->strip * a->strip;
        a->strips = (a->rows + a->strip - 1) / a->strip;
    }
    a->blocks = (a->columns + per - 1) / per;
    a->tiles = (a->rows + tile - 1) / tile;
    a->slice = malloc(sizeof *a->slice * (size_t)(a->blocks + 1));
    a->tile_row = malloc(sizeof *a->tile_row * (size_t)(a->tiles + 1));
    a->part = calloc(layout_parts(a), sizeof *a->part);
    a->begin = calloc((size_t)a->blocks + 1, sizeof *a->begin);
    if (!a->slice || !a->tile_row || !a->part || !a->begin) return -1;
    for (int b = 0; b <= a->blocks; b++) a->slice[b] = (int)((long long)a->columns * b / a->blocks);
    for (int t = 0; t <= a->tiles; t++) a->tile_row[t] = t * tile < a->rows ? t * tile : a->rows;
    return 0;
}

static size_t up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

static size_t real(const struct layout *a) { return a->is.single ? sizeof(float) : sizeof(double); }

/* The n-th part of a block, in the order in which they are used: tile, slice; or strip. */
static size_t part_of(const struct layout *a, int block, int n) {
    if (a->strip) return (size_t)block * (size_t)a->strips + (size_t)n;
    const int slices = a->slice[block + 1] - a->slice[block];
    return (size_t)(n / slices) * (size_t)a->columns + (size_t)(a->slice[block] + n % slices);
}

/* Where the next part begins, or how much there is. */
struct extent {
    size_t value, meta, where;
};

/* Memory of a part; `p` has its sizes until they become its place. */
static struct extent part_size(const struct layout *a, const struct part *p) {
    if (a->is.kind == LAYOUT_CONTIGUOUS)
        return (struct extent){(size_t)a->rows * (size_t)a->padded, (size_t)a->rows, 0};
    const int rows = a->is.kind == LAYOUT_ROWS && !a->strip;
    return (struct extent){p->value, p->meta, rows ? (size_t)p->count : 0};
}

static void advance(struct extent *at, struct extent by) {
    at->value += by.value;
    at->meta += by.meta;
    at->where += by.where;
}

/* Places each part of a block. */
static void place_block(struct layout *a, int block) {
    const int whole = a->is.kind == LAYOUT_CONTIGUOUS,
              slices = a->slice[block + 1] - a->slice[block];
    const int parts = a->strip ? a->strips : whole ? slices : a->tiles * slices;
    const size_t describes = a->is.kind == LAYOUT_FULL ? sizeof *a->full : sizeof *a->meta;
    const size_t begin = a->begin[block];
    struct extent all = {0};
    for (int n = 0; n < parts; n++) advance(&all, part_size(a, &a->part[part_of(a, block, n)]));
    const size_t where_at = up(begin + all.value * real(a), sizeof *a->where);
    const size_t meta_at = up(where_at + all.where * sizeof *a->where, describes);
    a->begin[block + 1] = up(meta_at + all.meta * describes, BLOCK_ALIGN);
    a->values += all.value;
    *(a->is.kind == LAYOUT_FULL ? &a->fulls : &a->metas) += all.meta;
    struct extent at = {begin / real(a), meta_at / describes, where_at / sizeof *a->where};
    for (int n = 0; n < parts; n++) {
        struct part *p = &a->part[part_of(a, block, n)];
        const struct extent size = part_size(a, p);
        p->value = at.value;
        p->meta = at.meta;
        p->where = at.where;
        advance(&at, size);
    }
    for (int n = slices; whole && n < a->tiles * slices;
         n++) /* a slice is the same for all tiles */
        a->part[part_of(a, block, n)] = a->part[a->slice[block] + n % slices];
}

/* Neighbours in a bad numbering are no neighbours on the surface: strips would be mostly padding.
 */
static int worth_strips(const struct layout *a) { return 3 * a->nnz >= 2 * a->values; }

static void forget(struct layout *a) {
    free_all(a->slice, a->tile_row, a->part, a->begin, a->away);
    a->slice = a->tile_row = NULL;
    a->part = NULL;
    a->begin = NULL;
    a->values = a->metas = a->nnz = 0;
    a->strip = a->strips = 0;
}

evn_status layout_begin(struct layout **out, int columns, int rows,
                        const struct layout_options *options) {
    *out = NULL;
    evn_status status = check(options, 1);
    if (status) return status;
    struct layout *a = calloc(1, sizeof *a);
    if (!a) return no_memory();
    a->is = *options;
    for (a->wide = 1; a->wide < options->group;) a->wide *= 2;
    a->columns = columns;
    a->rows = rows;
    a->depth = a->padded = 1;
    a->bundle_rows = summation_bundle_rows(options->single, a->wide);
    a->tall = (options->br + a->bundle_rows - 1) / a->bundle_rows * a->bundle_rows;
    /* for the last few steps alone a strip's rows have too different lengths, most of them none */
    if (options->kind == LAYOUT_ROWS && !options->last)
        a->strip = summation_strip(options->single, a->wide).rows;
    if (cut(a)) {
        layout_close(a);
        return no_memory();
    }
    *out = a;
    return EVN_OK;
}

/* The longest row-vector, the largest k, and how many values there are. */
static void survey(struct layout *a, const struct slices *s, int from, int to) {
    int longest = a->padded, deepest = a->depth;
    const int last = layout_last(a);
    size_t nnz = 0;
#pragma omp parallel for schedule(static) reduction(max : longest, deepest) reduction(+ : nnz)
    for (size_t at = slices_at(s, from); at < slices_at(s, to); at++) {
        const int first = s->first[at], all = first + s->count[at] - 1,
                  end = all < last ? all : last;
        const int n = end - (first > 1 ? first : 1) + 1;
        if (n <= 0) continue;
        if (n > longest) longest = n;
        if (end > deepest) deepest = end;
        nnz += (size_t)n;
    }
    a->padded = longest;
    a->depth = deepest;
    a->nnz += nnz;
}

evn_status layout_add(struct layout *a, const struct slices *s, int from, int to) {
    survey(a, s, from, to);
    evn_status status = check(&a->is, a->padded);
    if (!status && a->is.kind != LAYOUT_CONTIGUOUS && each_slice(a, s, from, to))
        status = no_memory();
    return status;
}

evn_status layout_end(struct layout *a, int *again) {
    for (int b = 0; b < a->blocks; b++) place_block(a, b);
    if (again) *again = a->strip && !worth_strips(a);
    if (again && *again) {
        forget(a);
        return cut(a) ? no_memory() : EVN_OK;
    }
    /* a padded row-vector reaches so far beyond the oldest step, and what is loaded for strips
     * three elements further */
    a->front = (a->is.kind == LAYOUT_FULL ? a->is.bc : a->padded) + 3;
    a->bytes = (double)a->begin[a->blocks];
    return EVN_OK;
}

evn_status layout_plan(struct layout **out, const struct slices *s,
                       const struct layout_options *options) {
    evn_status status = layout_begin(out, s->columns, s->rows, options);
    for (int again = 1; !status && again;) {
        status = layout_add(*out, s, 0, s->columns);
        if (!status) status = layout_end(*out, &again);
    }
    if (!status) return EVN_OK;
    layout_close(*out);
    *out = NULL;
    return status;
}

void layout_align(struct layout *a, size_t align) {
    const size_t describes = a->is.kind == LAYOUT_FULL ? sizeof *a->full : sizeof *a->meta;
    size_t begin = 0;
    for (int b = 0; b < a->blocks; b++) {
        const size_t by = begin - a->begin[b], bytes = a->begin[b + 1] - a->begin[b];
        const int count = a->slice[b + 1] - a->slice[b];
        for (int n = 0; n < (a->strip ? a->strips : a->tiles * count); n++) {
            struct part *p = &a->part[part_of(a, b, n)];
            p->value += by / real(a);
            p->meta += by / describes;
            p->where += by / sizeof *a->where;
        }
        a->begin[b] = begin;
        begin += up(bytes, align);
    }
    a->begin[a->blocks] = begin;
    a->bytes = (double)begin;
}

/* Large pages: the values are read from end to end, and small ones would be a table look-up every 4
 * kB. Some bytes more, since kernels read whole vectors. */
evn_status layout_reserve(struct layout *a, int large_pages) {
    const size_t page = (size_t)2 << 20, bytes = a->begin[a->blocks] + BLOCK_ALIGN;
    const int large = large_pages && bytes >= 2 * page;
    a->range_bytes = large ? up(bytes, page) + page : bytes;
    a->range = mmap(NULL, a->range_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->range == MAP_FAILED) {
        a->range = NULL;
        return evn_fail(EVN_MEMORY, "td-bem: no addresses for the matrices' layout, %.3g GB",
                        (double)a->range_bytes * 1e-9);
    }
    madvise(a->range, a->range_bytes, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    a->memory = large ? (char *)up((size_t)a->range, page) : a->range;
    a->value = a->memory;
    a->meta = (uint16_t *)a->memory;
    a->full = (struct full *)a->memory;
    a->where = (uint32_t *)a->memory;
    return EVN_OK;
}

evn_status layout_fill(struct layout *a, const struct slices *s, int from, int to) {
    if (!each_slice(a, s, from, to)) return EVN_OK;
    return evn_fail(EVN_MEMORY, "td-bem: not enough memory to lay the matrices out");
}

evn_status layout_open(struct layout **out, const struct slices *s,
                       const struct layout_options *options) {
    evn_status status = layout_plan(out, s, options);
    if (!status) status = layout_reserve(*out, 1);
    if (!status) status = layout_fill(*out, s, 0, (*out)->columns);
    if (!status) return EVN_OK;
    layout_close(*out);
    *out = NULL;
    return status;
}

void layout_forget(const struct layout *a, int block) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t from = (a->begin[block] + page - 1) / page * page;
    const size_t to = a->begin[block + 1] / page * page;
    if (to > from) madvise(a->memory + from, to - from, MADV_DONTNEED);
}

size_t layout_tables(const struct layout *a) { return layout_parts(a) * sizeof *a->part; }

size_t layout_largest(const struct layout *a) {
    size_t max = 0;
    for (int b = 0; b < a->blocks; b++)
        if (layout_has(a, b) && a->begin[b + 1] - a->begin[b] > max)
            max = a->begin[b + 1] - a->begin[b];
    return max;
}

void layout_close(struct layout *a) {
    if (!a) return;
    forget(a);
    if (a->range) munmap(a->range, a->range_bytes);
    free(a);
}

struct layout_fill layout_full_fill(const struct slices *s, int rows, int br, int bc) {
    struct layout_fill f = {0};
    struct vector *v = malloc(sizeof *v * (size_t)rows);
    if (!v) return f;
    for (int j = 0; j < s->columns; j++) {
        const double *value = NULL;
        struct slices_walk walk = slices_walk(s, j);
        const int n = layout_gather(&walk, 0, rows, INT_MAX - 1, &value, v);
        for (int i = 0; i < n; i++) f.nnz += (size_t)v[i].length;
        for (int b = 0; b < n; f.blocks++) b += full_take(v + b, n - b, br, bc);
    }
    free(v);
    f.fill = f.blocks ? (double)f.nnz / ((double)f.blocks * br * bc) : 0;
    return f;
}

/* Of vectors from each on to the last; least[n] is 0. */
static double least_from_first(const struct vector *v, int n, int count,
                               const struct layout_size *size, double *least) {
    least[n] = 0;
    for (int i = n - 1; i >= 0; i--) {
        least[i] = INFINITY;
        for (int b = 0; b < count; b++) {
            const int taken = full_take(v + i, n - i, size[b].br, size[b].bc);
            least[i] = fmin(least[i], size[b].seconds + least[i + taken]);
        }
    }
    return *least;
}

double layout_full_least(const struct slices *s, int rows, int every, int count,
                         const struct layout_size *size) {
    struct vector *v = malloc(sizeof *v * (size_t)rows);
    double *least = malloc(sizeof *least * ((size_t)rows + 1)), sum = 0;
    int columns = 0;
    for (int j = every / 2; v && least && j < s->columns; j += every, columns++) {
        const double *value = NULL;
        struct slices_walk walk = slices_walk(s, j);
        const int n = layout_gather(&walk, 0, rows, INT_MAX - 1, &value, v);
        sum += least_from_first(v, n, count, size, least);
    }
    free_all(v, least);
    return columns ? sum / columns : NAN;
}
