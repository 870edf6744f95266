/* The near part by rows, made from the host's layouts in the order in which the host adds it up. */
#include "tdbem/summation/radiation_gpu.h"
#include "tdbem/summation/radiation.kernel.h"
#include "tdbem/summation/summation.h"
#include "common/run/free_all.h"
#include <stdint.h>
#include <stdlib.h>

extern const evn_kernel_source radiation_double_kernels, radiation_float_kernels;

enum { STRIP = RADIATION_STRIP, SUMS = 8 /* what the host's kernels for strips keep */ };

struct level {
    evn_kernel *add;
    evn_buffer *begin, *where, *value;
};

struct radiation_gpu {
    const struct radiation *r;
    struct solve_device d;
    int levels, columns, rows, strips, group, single;
    struct level level[RADIATION_LEVELS];
    evn_kernel *past;
    evn_buffer *latest;
};

/* ---- entries ---- */

/* A row-vector where the layout has it: `length` values from element `at` on, each `stride` after
 * the one before, k from `start` on. */
struct piece {
    int row, column, start, length, stride;
    size_t at;
    int first; /* 1: its products are added up by themselves */
};

typedef void take(void *to, const struct piece *piece);

static void walk_rows(const struct layout *l, take *take, void *to) {
    const int rows = l->bundle_rows, apart = !summation_carries(l);
    for (int tile = 0; tile < l->tiles; tile++)
        for (int j = 0; j < l->columns; j++) {
            const struct part *p = &l->part[(size_t)tile * (size_t)l->columns + (size_t)j];
            const int from = l->tile_row[tile], height = l->tile_row[tile + 1] - from;
            for (int n = 0; n < p->count; n++) {
                const uint16_t *m = l->meta + p->meta + (size_t)n * (2 + (size_t)rows);
                const size_t at = p->value + (size_t)l->where[p->where + (size_t)n] * (size_t)rows;
                for (int r = 0; r < rows; r++)
                    if (m[2 + r] < height)
                        take(to, &(struct piece){from + m[2 + r], j, m[0], m[1] & (BUNDLE_FAR - 1),
                                                 rows, at + (size_t)r, apart});
            }
        }
}

/* Walks the bundles of a strip that add to set `set`; bundles go to the `sets` sets by turns. */
static void walk_set(const struct layout *l, int strip, int set, int sets, take *take, void *to) {
    const struct part *p = &l->part[strip];
    const uint16_t *meta = l->meta + p->meta;
    size_t at = p->value;
    int first[64];
    for (int r = 0; r < l->strip; r++) first[r] = 1;
    for (int n = 0; n < p->count; n++) {
        const struct strip_bundle *b = (const struct strip_bundle *)meta;
        const int length = b->length & (BUNDLE_FAR - 1);
        for (int r = 0; r < l->strip && n % sets == set; r++) {
            const int row = strip * l->strip + r;
            if (row >= l->rows) break;
            take(to, &(struct piece){row, b->slice, b->start - b->ahead[r], length, l->strip,
                                     at + (size_t)r, first[r]});
            first[r] = 0;
        }
        at += (size_t)length * (size_t)l->strip;
        meta += (sizeof *b + (size_t)l->strip) / sizeof *meta;
    }
}

/* Each row's pieces in the order of the host's sum. */
static void walk(const struct layout *l, take *take, void *to) {
    const int sets = l->wide < SUMS ? SUMS / l->wide : 1;
    if (!l->strip) walk_rows(l, take, to);
    for (int strip = 0; l->strip && strip < l->strips; strip++)
        for (int s = 0; s < sets; s++) /* the one whose turn it would be comes first */
            walk_set(l, strip, (l->part[strip].count + s) % sets, sets, take, to);
}

static double element(const struct layout *l, size_t at) {
    return l->is.single ? (double)((const float *)l->value)[at] : ((const double *)l->value)[at];
}

/* Entries that are being made. Padding is left out. */
struct entries {
    const struct layout *l;
    int steps;
    evn_long *begin; /* [strips + 1] */
    int *have;       /* [rows]: number of entries of a row so far */
    int *where;
    void *value;
    char *first; /* [rows]: the next entry is the first of its sum */
};

static void count_entries(void *to, const struct piece *p) {
    struct entries *e = to;
    for (int n = 0; n < p->length; n++)
        e->have[p->row] += element(e->l, p->at + (size_t)n * (size_t)p->stride) != 0;
}

static void put_entries(void *to, const struct piece *p) {
    struct entries *e = to;
    e->first[p->row] |= (char)p->first;
    for (int n = 0; n < p->length; n++) {
        const double value = element(e->l, p->at + (size_t)n * (size_t)p->stride);
        if (value == 0) continue;
        const size_t at = (size_t)(e->begin[p->row / STRIP] + e->have[p->row]++) * STRIP +
                          (size_t)(p->row % STRIP);
        const int place = RADIATION_PLACE(e->steps, p->column, p->start + n);
        e->where[at] = e->first[p->row] ? ~place : place;
        e->first[p->row] = 0;
        if (e->l->is.single)
            ((float *)e->value)[at] = (float)value;
        else
            ((double *)e->value)[at] = value;
    }
}

static void begin_strips(struct entries *e, int rows, int strips) {
    for (int s = 0; s < strips; s++) {
        int max = 0;
        for (int row = s * STRIP; row < rows && row < (s + 1) * STRIP; row++) {
            if (e->have[row] > max) max = e->have[row];
            e->have[row] = 0;
        }
        e->begin[s + 1] = e->begin[s] + max;
    }
}

static evn_status send_entries(struct radiation_gpu *g, int level, struct entries *e) {
    struct level *to = &g->level[level];
    const size_t real = g->single ? sizeof(float) : sizeof(double);
    walk(e->l, count_entries, e);
    begin_strips(e, g->rows, g->strips);
    const size_t all = (size_t)e->begin[g->strips] * STRIP + 1; /* none is no buffer */
    e->where = calloc(all, sizeof *e->where);
    e->value = calloc(all, real);
    if (!e->where || !e->value)
        return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's near part");
    walk(e->l, put_entries, e);
    evn_status status =
        solve_device_send(&g->d, &to->begin, e->begin, ((size_t)g->strips + 1) * sizeof *e->begin);
    if (!status) status = solve_device_send(&g->d, &to->where, e->where, all * sizeof *e->where);
    if (!status) status = solve_device_send(&g->d, &to->value, e->value, all * real);
    evn_status finished = evn_queue_finish(g->d.queue);
    return status ? status : finished;
}

/* ---- opening ---- */

static const evn_kernel_source *source(int single) {
    return single ? &radiation_float_kernels : &radiation_double_kernels;
}

static const char *kernel_name(const struct layout *l) {
    if (l->wide < 4) return l->wide < 2 ? "radiation_one" : "radiation_two";
    return l->strip || !summation_carries(l) ? "radiation_four" : "radiation_on";
}

static evn_status open_level(struct radiation_gpu *g, int level) {
    struct entries e = {.l = radiation_layout(g->r, level), .steps = 1 << level};
    e.begin = calloc((size_t)g->strips + 1, sizeof *e.begin);
    e.have = calloc((size_t)g->rows, sizeof *e.have);
    e.first = calloc((size_t)g->rows, sizeof *e.first);
    evn_status status = EVN_OK;
    if (!e.begin || !e.have || !e.first)
        status = evn_fail(EVN_MEMORY, "td-bem: no memory for a device's near part");
    if (!status) status = send_entries(g, level, &e);
    if (!status)
        status =
            evn_kernel_get(g->d.device, source(g->single), kernel_name(e.l), &g->level[level].add);
    free_all(e.begin, e.have, e.first, e.where, e.value);
    return status;
}

/* The windows of the longest update. */
static size_t latest_bytes(const struct radiation_gpu *g) {
    return (size_t)g->columns * RADIATION_WINDOW((size_t)1 << (g->levels - 1)) *
           (g->single ? sizeof(float) : sizeof(double));
}

double radiation_gpu_bytes(const struct radiation *r) {
    double bytes = 0;
    for (int m = 0; m < radiation_levels(r); m++) {
        const struct layout *l = radiation_layout(r, m);
        /* rows of a strip differ by a few per cent */
        bytes +=
            1.1 * (double)l->nnz * (sizeof(int) + (l->is.single ? sizeof(float) : sizeof(double)));
    }
    return bytes;
}

evn_status radiation_gpu_open(struct radiation_gpu **out, const struct radiation *r,
                              struct solve_device solve) {
    *out = NULL;
    struct radiation_gpu *g = calloc(1, sizeof *g);
    if (!g) return evn_fail(EVN_MEMORY, "td-bem: no memory for a device's radiation stage");
    g->r = r;
    g->d = solve;
    g->levels = radiation_levels(r);
    evn_status status = EVN_OK;
    if (g->levels) {
        const struct layout *l = radiation_layout(r, 0);
        g->columns = l->columns;
        g->rows = l->rows;
        g->single = l->is.single;
        g->strips = (l->rows + STRIP - 1) / STRIP;
        status = evn_kernel_get(solve.device, source(g->single), "radiation_past", &g->past);
        if (!status) status = evn_buffer_open(&g->latest, solve.device, latest_bytes(g));
    }
    for (int m = 0; !status && m < g->levels; m++) status = open_level(g, m);
    if (status) {
        radiation_gpu_close(g);
        return status;
    }
    *out = g;
    return EVN_OK;
}

void radiation_gpu_close(struct radiation_gpu *g) {
    if (!g) return;
    for (int m = 0; m < g->levels; m++) {
        evn_buffer_close(g->level[m].begin);
        evn_buffer_close(g->level[m].where);
        evn_buffer_close(g->level[m].value);
    }
    evn_buffer_close(g->latest);
    free(g);
}

/* ---- an update ---- */

#define BUFFER(b)                                                                                  \
    { .buffer = (b) }
#define VALUE(v)                                                                                   \
    { .value = &(v), .bytes = sizeof(v) }

evn_status radiation_gpu_add(struct radiation_gpu *g, int p, evn_buffer *sums, int wide,
                             int ready) {
    int steps;
    const int m = radiation_level(p, &steps), left = radiation_group(g->r) - p;
    const struct level *l = &g->level[m];
    const struct radiation_update update = {
        .at = SOLVE_SOLUTION(p - steps, g->d.steps, g->d.rows),
        .stride = g->d.rows,
        .columns = g->columns,
        .rows = g->rows,
        .strips = g->strips,
        .steps = steps,
        .known = p,
        .count = steps < left ? steps : left,
        .wide = wide,
        .before = ready,
    };
    const evn_argument past[] = {BUFFER(g->d.result), BUFFER(g->d.result), BUFFER(g->latest),
                                 VALUE(update)};
    const evn_argument add[] = {BUFFER(l->begin),  BUFFER(l->where),    BUFFER(l->value),
                                BUFFER(g->latest), BUFFER(g->d.result), BUFFER(sums),
                                VALUE(update)};
    const int each =
        RADIATION_ITEMS / (steps > 4 ? steps / 4 : 1); /* rows that a group of items does */
    evn_status status = evn_launch(
        g->d.queue, g->past, (g->columns + RADIATION_ITEMS - 1) / RADIATION_ITEMS, 0, past, 4);
    if (!status) status = evn_launch(g->d.queue, l->add, (g->rows + each - 1) / each, 0, add, 7);
    return status;
}
