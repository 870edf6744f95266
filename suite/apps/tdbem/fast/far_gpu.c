/* Tables for groups of items, level by level, and launches before and after each period. */
#include "tdbem/fast/far_gpu.h"
#include "tdbem/fast/far.kernel.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source far_short_kernels, far_float_kernels;

enum { LEVELS = OCTREE_LEVELS + 1 };

/* Groups of items, from level to level. */
struct groups {
    int first[LEVELS + 1];
    evn_buffer *part;
};

struct far_gpu {
    const struct far *f;
    evn_device *device;
    evn_queue *queue;
    evn_kernel *across, *leaves, *means, *slide, *grow;
    struct groups targets, vertices, sources;
    evn_buffer *link, *candidate, *first, *value, *weight, *rest;
    int states;
    evn_buffer **there; /* [states] */
    far_state **state;  /* [states]: the host's */
    char *is_fast;      /* [states]: what goes to and fro of it is registered with the device */
};

static evn_status no_memory(void) {
    return evn_fail(EVN_MEMORY, "fast: no memory for a device's far field");
}

/* ---- tables ---- */

/* What grows, and is sent when it is whole. */
struct table {
    size_t size, count, room; /* of an entry; entries */
    char *data;               /* NULL: no memory, or none yet */
    int failed;
};

static void add(struct table *t, const void *entry) {
    if (t->count == t->room) {
        char *more = realloc(t->data, (t->room = 2 * t->room + 64) * t->size);
        if (!more) t->failed = 1;
        if (!more) return;
        t->data = more;
    }
    memcpy(t->data + t->count++ * t->size, entry, t->size);
}

struct tables {
    const struct far *f;
    struct table target, vertex, source, link, candidate;
    size_t *weight[SIDES], *entry; /* [cell]: where they begin */
    size_t weights, entries;
};

static evn_status open_tables(struct tables *t, const struct far *f) {
    const size_t all = (size_t)octree_cells(f->cells);
    *t = (struct tables){.f = f,
                         .target.size = sizeof(struct far_rows),
                         .vertex.size = sizeof(struct far_rows),
                         .source.size = sizeof(struct far_ring),
                         .link.size = sizeof(struct far_link),
                         .candidate.size = sizeof(evn_long)};
    size_t **list[] = {&t->weight[SOURCES], &t->weight[TARGETS], &t->entry};
    for (int i = 0; i < 3; i++)
        if (!(*list[i] = malloc((all + 1) * sizeof **list[i]))) return no_memory();
    for (size_t a = 0; a < all; a++) {
        t->entry[a] = t->entries;
        t->entries += f->target[a].entries;
        for (int side = 0; side < SIDES; side++) {
            const struct skeleton *s = &f->skeletons->of[side][a];
            t->weight[side][a] = t->weights;
            t->weights += (size_t)s->count * (size_t)s->candidates;
        }
    }
    return EVN_OK;
}

static void close_tables(struct tables *t) {
    free_all(t->target.data, t->vertex.data, t->source.data, t->link.data, t->candidate.data,
             t->weight[SOURCES], t->weight[TARGETS], t->entry);
}

static void add_groups(struct table *t, struct far_rows rows) {
    for (rows.from = 0; rows.from < rows.count; rows.from += FAR_ITEMS) add(t, &rows);
}

/* A target's pairs with far cells, of one field; they lie by fields. */
static void add_links(struct tables *t, int a, int field, struct far_rows *rows) {
    const struct far *f = t->f;
    rows->link = (int)t->link.count;
    for (int p = 0; p < f->target[a].pairs; p++) {
        const struct far_pair *pair = &f->target[a].pair[p];
        if (pair->is.filter != field - 1) continue;
        const struct far_link link = {.entry = (evn_long)(t->entry[a] + pair->entry),
                                      .ring = (evn_long)f->ring[pair->source],
                                      .scale = (double)pair->scale,
                                      .columns = f->skeletons->of[SOURCES][pair->source].count};
        add(&t->link, &link);
    }
    rows->links = (int)t->link.count - rows->link;
}

/* The first of a cell's rows among the candidates of the larger cell. */
static int candidate_of(const struct far *f, enum side side, int a) {
    int c = 0;
    for (int b = f->cells->cell[f->cells->cell[a].parent].child; b < a; b++)
        c += f->skeletons->of[side][b].count;
    return c;
}

static void add_target(struct tables *t, int level, int a, int field) {
    const struct far *f = t->f;
    const int rows = f->skeletons->of[TARGETS][a].count, parent = f->cells->cell[a].parent;
    const int due = f->level[level].due;
    struct far_rows is = {.to = (evn_long)f->local[a] + (evn_long)field * rows * due,
                          .count = rows * due,
                          .rows = rows};
    add_links(t, a, field, &is);
    if (parent >= 0) {
        const struct skeleton *above = &f->skeletons->of[TARGETS][parent];
        is.weight = (evn_long)t->weight[TARGETS][parent] + candidate_of(f, TARGETS, a);
        is.above_rows = above->count;
        is.stride = above->candidates;
        is.above =
            (evn_long)f->local[parent] + (evn_long)field * above->count * f->level[level - 1].due;
    }
    add_groups(&t->target, is);
}

static void add_vertices(struct tables *t, int a, int field) {
    const struct far *f = t->f;
    const struct cell *cell = &f->cells->cell[a];
    const struct skeleton *above = &f->skeletons->of[TARGETS][a];
    const int row = field * f->vertices + cell->begin, rows = cell->end - cell->begin;
    add_groups(&t->vertex, (struct far_rows){.to = (evn_long)f->sums + (evn_long)row * f->period,
                                             .weight = (evn_long)t->weight[TARGETS][a],
                                             .above = (evn_long)f->local[a] +
                                                      (evn_long)field * above->count * f->period,
                                             .above_rows = above->count,
                                             .stride = above->candidates,
                                             .count = rows * f->period,
                                             .rows = rows,
                                             .first = row});
}

static void add_source(struct tables *t, int level, int a) {
    const struct far *f = t->f;
    const struct skeleton *s = &f->skeletons->of[SOURCES][a];
    const struct cell *cell = &f->cells->cell[a];
    struct far_ring is = {.to = (evn_long)f->ring[a],
                          .weight = (evn_long)t->weight[SOURCES][a],
                          .candidates = (int)t->candidate.count,
                          .stride = s->candidates,
                          .count = s->count * f->period};
    if (!s->count) return;
    for (int v = cell->begin; !cell->children && v < cell->end; v++)
        add(&t->candidate, &(evn_long){(evn_long)f->recent + v});
    for (int b = cell->child; b < cell->child + cell->children; b++)
        for (int k = 0; k < f->skeletons->of[SOURCES][b].count; k++)
            add(&t->candidate,
                &(evn_long){(evn_long)f->ring[b] + (evn_long)k * f->level[level + 1].length});
    for (; is.from < is.count; is.from += FAR_ITEMS) add(&t->source, &is);
}

static void fill_tables(struct far_gpu *g, struct tables *t) {
    const struct far *f = g->f;
    const struct octree *c = f->cells;
    for (int level = 0; level <= c->level; level++) {
        for (int a = c->first[level]; a < c->first[level + 1]; a++) {
            add_source(t, level, a);
            for (int field = 0; field < f->fields && far_wants(f, a); field++) {
                add_target(t, level, a, field);
                if (level == c->level) add_vertices(t, a, field);
            }
        }
        g->targets.first[level + 1] = (int)t->target.count;
        g->vertices.first[level + 1] = (int)t->vertex.count;
        g->sources.first[level + 1] = (int)t->source.count;
    }
}

/* ---- opening ---- */

static size_t value_bytes(const struct far *f) {
    return f->is_wide ? sizeof(float) : sizeof(int16_t);
}

/* A buffer; none is no buffer. */
static evn_status make_room(struct far_gpu *g, evn_buffer **out, size_t bytes) {
    return evn_buffer_open(out, g->device, bytes + 8);
}

static evn_status send(struct far_gpu *g, evn_buffer **out, const void *data, size_t bytes) {
    evn_status status = make_room(g, out, bytes);
    return status || !bytes ? status : evn_copy_to_device(g->queue, *out, 0, data, bytes);
}

static evn_status send_table(struct far_gpu *g, evn_buffer **out, const struct table *t) {
    return t->failed ? no_memory() : send(g, out, t->data, t->count * t->size);
}

/* From cell to cell, as the host has them. */
static evn_status send_cells(struct far_gpu *g, const struct tables *t) {
    const struct far *f = g->f;
    const size_t taps = (size_t)f->taps, each = value_bytes(f);
    evn_status status = make_room(g, &g->first, t->entries * sizeof(uint16_t));
    if (!status) status = make_room(g, &g->value, t->entries * taps * each);
    if (!status) status = make_room(g, &g->weight, t->weights * sizeof(double));
    for (int a = 0; !status && a < octree_cells(f->cells); a++) {
        const struct far_target *is = &f->target[a];
        const void *value = is->wide ? (const void *)is->wide : is->value;
        if (is->entries)
            status = evn_copy_to_device(g->queue, g->first, t->entry[a] * sizeof *is->first,
                                        is->first, is->entries * sizeof *is->first);
        if (!status && is->entries)
            status = evn_copy_to_device(g->queue, g->value, t->entry[a] * taps * each, value,
                                        is->entries * taps * each);
        for (int side = 0; !status && side < SIDES; side++) {
            const struct skeleton *s = &f->skeletons->of[side][a];
            const size_t count = (size_t)s->count * (size_t)s->candidates;
            if (count)
                status =
                    evn_copy_to_device(g->queue, g->weight, t->weight[side][a] * sizeof(double),
                                       s->weight, count * sizeof(double));
        }
    }
    return status;
}

static evn_status send_all(struct far_gpu *g) {
    const struct far *f = g->f;
    const size_t rows = (size_t)f->fields * (size_t)f->vertices;
    struct tables t;
    evn_status status = open_tables(&t, f);
    if (!status) fill_tables(g, &t);
    if (!status) status = send_table(g, &g->targets.part, &t.target);
    if (!status) status = send_table(g, &g->vertices.part, &t.vertex);
    if (!status) status = send_table(g, &g->sources.part, &t.source);
    if (!status) status = send_table(g, &g->link, &t.link);
    if (!status) status = send_table(g, &g->candidate, &t.candidate);
    if (!status) status = send(g, &g->rest, f->rest, rows * sizeof *f->rest);
    if (!status) status = send_cells(g, &t);
    evn_status finished = evn_queue_finish(g->queue);
    close_tables(&t);
    return status ? status : finished;
}

static evn_status open_kernels(struct far_gpu *g) {
    const evn_kernel_source *source = g->f->is_wide ? &far_float_kernels : &far_short_kernels;
    const struct {
        const char *name;
        evn_kernel **kernel;
    } of[] = {{"far_across", &g->across},
              {"far_leaves", &g->leaves},
              {"far_means", &g->means},
              {"far_slide", &g->slide},
              {"far_grow", &g->grow}};
    evn_status status = EVN_OK;
    for (size_t i = 0; !status && i < sizeof of / sizeof *of; i++)
        status = evn_kernel_get(g->device, source, of[i].name, of[i].kernel);
    return status;
}

static evn_status open_all(struct far_gpu *g) {
    evn_status status = evn_queue_open(&g->queue, g->device);
    g->there = calloc((size_t)g->states, sizeof *g->there);
    g->state = calloc((size_t)g->states, sizeof *g->state);
    g->is_fast = calloc((size_t)g->states, 1);
    if (!status && (!g->there || !g->state || !g->is_fast)) status = no_memory();
    if (!status) status = open_kernels(g);
    for (int i = 0; !status && i < g->states; i++)
        status = make_room(g, &g->there[i], g->f->doubles * sizeof(double));
    return status ? status : send_all(g);
}

double far_gpu_bytes(const struct far *f, int states) {
    double weights = 0;
    for (int a = 0; a < f->skeletons->cells; a++)
        for (int side = 0; side < SIDES; side++)
            weights += (double)f->skeletons->of[side][a].count *
                       (f->skeletons->of[side][a].candidates + 1);
    /* a tenth for tables */
    return 1.1 * (f->bytes + 8 * weights) + 8.0 * states * (double)f->doubles;
}

evn_status far_gpu_open(struct far_gpu **out, const struct far *f, evn_device *device, int states) {
    struct far_gpu *g = *out = calloc(1, sizeof *g);
    if (!g) return no_memory();
    g->f = f;
    g->device = device;
    g->states = states;
    evn_status status = open_all(g);
    if (!status) return EVN_OK;
    far_gpu_close(g);
    *out = NULL;
    return status;
}

void far_gpu_close(struct far_gpu *g) {
    if (!g) return;
    if (g->queue) evn_queue_finish(g->queue); /* after a failure something may be left */
    for (int i = 0; g->is_fast && i < g->states; i++)
        if (g->is_fast[i]) evn_host_memory_unregister(g->state[i] + g->f->sums, g->device);
    for (int i = 0; g->there && i < g->states; i++) evn_buffer_close(g->there[i]);
    evn_buffer *buffer[] = {g->targets.part, g->vertices.part, g->sources.part,
                            g->link,         g->candidate,     g->first,
                            g->value,        g->weight,        g->rest};
    for (size_t i = 0; i < sizeof buffer / sizeof *buffer; i++) evn_buffer_close(buffer[i]);
    if (g->queue) evn_queue_close(g->queue);
    free_all(g->there, g->state, g->is_fast, g);
}

/* ---- states ---- */

/* The frames of rings are the host's. */
enum { FRAMES = OCTREE_LEVELS + 1 };

evn_status far_gpu_take(struct far_gpu *g, int number, far_state *state) {
    const size_t bytes = g->f->doubles * sizeof *state;
    const size_t moves = (g->f->doubles - g->f->sums) * sizeof *state; /* sums and solutions */
    g->state[number] = state;
    g->is_fast[number] = !evn_host_memory_register(g->device, state + g->f->sums, moves);
    evn_status status = evn_copy_to_device(g->queue, g->there[number], 0, state, bytes);
    evn_status finished = evn_queue_finish(g->queue);
    return status ? status : finished;
}

evn_status far_gpu_home(struct far_gpu *g, int number) {
    const size_t from = FRAMES * sizeof(far_state);
    evn_status status = evn_copy_to_host(g->queue, g->state[number] + FRAMES, g->there[number],
                                         from, g->f->doubles * sizeof(far_state) - from);
    evn_status finished = evn_queue_finish(g->queue);
    return status ? status : finished;
}

/* ---- a period ---- */

#define BUFFER(b)                                                                                  \
    { .buffer = (b) }
#define VALUE(v)                                                                                   \
    { .value = &(v), .bytes = sizeof(v) }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Where step n is in the rings of a level. */
static int place(const struct far_gpu *g, int number, int level, int n) {
    return far_place(&g->f->level[level], g->state[number][level], n);
}

static struct far_now now(const struct far_gpu *g, int number, int level, int n) {
    const struct far *f = g->f;
    const struct far_level *l = &f->level[level];
    return (struct far_now){.sums = (evn_long)f->sums,
                            .recent = (evn_long)f->recent,
                            .past = (evn_long)f->past,
                            .n = n,
                            .period = f->period,
                            .steps = f->period,
                            .length = l->length,
                            .ring = place(g, number, level, n),
                            .reach = l->reach,
                            .slide = far_slide(l),
                            .taps = f->taps,
                            .apart = f->apart,
                            .mean = f->mean,
                            .vertices = f->vertices,
                            .kept = f->kept};
}

/* A level's groups of items. */
static evn_status launch(struct far_gpu *g, evn_kernel *kernel, const struct groups *groups,
                         int level, const evn_argument *argument, int arguments) {
    const int count = groups->first[level + 1] - groups->first[level];
    if (!count) return EVN_OK;
    return evn_launch(g->queue, kernel, count, 0, argument, arguments);
}

static evn_status begin_level(struct far_gpu *g, int number, int level, int n) {
    const struct far *f = g->f;
    struct far_now a = now(g, number, level, n);
    const evn_argument argument[] = {
        BUFFER(g->targets.part), BUFFER(g->link),          BUFFER(g->first), BUFFER(g->value),
        BUFFER(g->weight),       BUFFER(g->there[number]), VALUE(a)};
    a.group = g->targets.first[level];
    a.steps = f->level[level].due;
    a.stride = level ? f->level[level - 1].due : 0;
    a.from = level ? (n - 1) % a.stride : 0;
    return launch(g, g->across, &g->targets, level, argument, COUNT(argument));
}

static evn_status make_sums(struct far_gpu *g, int number, int n) {
    const int level = g->f->cells->level;
    struct far_now a = now(g, number, level, n);
    const evn_argument argument[] = {BUFFER(g->vertices.part), BUFFER(g->rest), BUFFER(g->weight),
                                     BUFFER(g->there[number]), VALUE(a)};
    a.stride = g->f->period;
    return launch(g, g->leaves, &g->vertices, level, argument, COUNT(argument));
}

evn_status far_gpu_begin(struct far_gpu *g, int number, int n) {
    const struct far *f = g->f;
    const size_t at = f->sums * sizeof(double);
    const size_t bytes = (f->recent - f->sums) * sizeof(double);
    evn_status status = EVN_OK;
    if ((n - 1) % f->period) return EVN_OK;
    for (int level = 0; !status && level <= f->cells->level; level++)
        if ((n - 1) % f->level[level].due == 0) status = begin_level(g, number, level, n);
    if (!status) status = make_sums(g, number, n);
    if (!status)
        status =
            evn_copy_to_host(g->queue, g->state[number] + f->sums, g->there[number], at, bytes);
    evn_status finished = evn_queue_finish(g->queue);
    return status ? status : finished;
}

static evn_status make_means(struct far_gpu *g, int number, int n) {
    const struct far *f = g->f;
    const struct far_now a = now(g, number, f->cells->level, n);
    const evn_argument argument[] = {BUFFER(g->there[number]), VALUE(a)};
    const long count = (long)f->period * f->vertices;
    return evn_launch(g->queue, g->means, (int)((count + FAR_ITEMS - 1) / FAR_ITEMS), 0, argument,
                      COUNT(argument));
}

static evn_status slide_level(struct far_gpu *g, int number, int level, int n) {
    const struct far_level *l = &g->f->level[level];
    const double frame = (n - 1) / far_slide(l);
    struct far_now a = now(g, number, level, n);
    const evn_argument argument[] = {BUFFER(g->sources.part), BUFFER(g->there[number]), VALUE(a)};
    if (g->state[number][level] == frame) return EVN_OK;
    a.group = g->sources.first[level];
    g->state[number][level] = frame;
    return launch(g, g->slide, &g->sources, level, argument, COUNT(argument));
}

static evn_status grow_level(struct far_gpu *g, int number, int level, int n) {
    const struct far *f = g->f;
    evn_status status = slide_level(g, number, level, n);
    struct far_now a = now(g, number, level, n);
    const evn_argument argument[] = {BUFFER(g->sources.part), BUFFER(g->candidate),
                                     BUFFER(g->weight), BUFFER(g->there[number]), VALUE(a)};
    a.group = g->sources.first[level];
    a.stride = level == f->cells->level ? f->vertices : 1;
    a.from = level == f->cells->level ? 0 : place(g, number, level + 1, n);
    return status ? status : launch(g, g->grow, &g->sources, level, argument, COUNT(argument));
}

evn_status far_gpu_note(struct far_gpu *g, int number, int n, const double *a) {
    const struct far *f = g->f;
    const int q = (n - 1) % f->period;
    const size_t at = far_past(f, n), bytes = (size_t)f->vertices * sizeof *a;
    double *here = g->state[number] + at;
    memcpy(here, a, bytes);
    evn_status status = evn_copy_to_device(g->queue, g->there[number], at * sizeof *a, here, bytes);
    if (q < f->period - 1) return status;
    if (!status) status = make_means(g, number, n - q);
    for (int level = f->cells->level; !status && level >= 0; level--)
        status = grow_level(g, number, level, n - q);
    return status;
}
