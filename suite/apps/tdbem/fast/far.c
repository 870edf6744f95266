/* Making the far field: cells, skeletons, then the row-vectors between far cells' skeletons. */
#include "tdbem/fast/far.h"
#include "common/run/ranks.h"
#include "common/run/free_all.h"
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- row-vectors ---- */

static int skeleton_count(const struct far *f, enum side side, int a) {
    return f->skeletons->of[side][a].count;
}

static evn_status no_memory(void) { return evn_fail(EVN_MEMORY, "fast: no memory for far cells"); }

static size_t pair_entries(const struct far *f, int a, int b) {
    return (size_t)skeleton_count(f, TARGETS, a) * (size_t)skeleton_count(f, SOURCES, b);
}

/* Sixteen bits a value, in units of a part of the largest of the pair. */
static void take_values(int16_t *to, float *scale, const double *value, size_t values) {
    double most = 0;
    for (size_t n = 0; n < values; n++) most = fmax(most, fabs(value[n]));
    *scale = most > 0 ? (float)(most / INT16_MAX) : 1;
    for (size_t n = 0; n < values; n++) to[n] = (int16_t)lrint(value[n] / (double)*scale);
}

static void take_pair(const struct far *f, struct far_target *t, struct far_pair *pair,
                      const struct vectors_block *block, size_t entries) {
    const size_t taps = (size_t)f->taps, at = pair->entry * taps;
    for (size_t e = 0; e < entries; e++) t->first[pair->entry + e] = (uint16_t)block->first[e];
    pair->scale = 1;
    for (size_t n = 0; t->wide && n < entries * taps; n++) t->wide[at + n] = (float)block->value[n];
    if (t->value) take_values(t->value + at, &pair->scale, block->value, entries * taps);
}

static void add_pair(const struct far *f, struct far_target *t, int a, int entry, int filter) {
    const int all = octree_cells(f->cells);
    struct far_pair *pair = &t->pair[t->pairs];
    *pair = (struct far_pair){entry % all, {entry / all, filter}, 1, t->entries};
    if (filter >= 0 && !skeletons_have(f->skeletons, pair->source, filter)) return;
    t->entries += pair_entries(f, a, pair->source);
    t->pairs++;
}

static int target_open(const struct far *f, struct far_target *t, int a) {
    const struct cell *cell = &f->cells->cell[a];
    t->pair = malloc(((size_t)(cell->fars * f->fields) + 1) * sizeof *t->pair);
    for (int field = 0; t->pair && field < f->fields; field++)
        for (int p = 0; p < cell->fars && far_wants_field(f, a, field); p++)
            add_pair(f, t, a, f->cells->list[cell->far + p], field - 1);
    const size_t values = t->entries * (size_t)f->taps + 1;
    t->first = malloc((t->entries + 1) * sizeof *t->first);
    if (f->is_wide)
        t->wide = malloc(values * sizeof *t->wide);
    else
        t->value = malloc(values * sizeof *t->value);
    return t->pair && t->first && (t->wide || t->value);
}

static evn_status make_target(struct far *f, const struct vectors *vectors, int a,
                              struct vectors_block *block) {
    const struct skeleton *to = &f->skeletons->of[TARGETS][a];
    const struct vectors_side rows = {to->vertex, to->count, {0, -1}};
    struct far_target *t = &f->target[a];
    if (!target_open(f, t, a)) return no_memory();
    for (int p = 0; p < t->pairs; p++) {
        const struct skeleton *from = &f->skeletons->of[SOURCES][t->pair[p].source];
        const struct vectors_side columns = {from->vertex, from->count, t->pair[p].is};
        evn_status status = vectors_make(block, vectors, &rows, &columns);
        if (status) return status;
        take_pair(f, t, &t->pair[p], block, (size_t)rows.count * (size_t)columns.count);
    }
    return EVN_OK;
}

/* What each cell with rows that are wanted gets from far ones. */
static evn_status make_targets(struct far *f, const struct mesh *mesh,
                               const struct far_options *o) {
    const struct octree *c = f->cells;
    const int all = octree_cells(c);
    const struct slices_options *so = o->slices;
    struct vectors vectors;
    evn_status status = vectors_open(&vectors, mesh, so, o->highest, o->accuracy);
    int wanted = 0, done = 0;
    char why[1024];
    if (status) return status;
    f->taps = vectors.taps.count;
    f->apart = vectors.taps.apart;
    f->mean = vectors.taps.mean;
    f->is_wide = far_is_wide(o->accuracy);
    for (int a = 0; a < all; a++) wanted += c->cell[a].fars && far_wants(f, a);
#pragma omp parallel num_threads(o->cores)
    {
        struct vectors_block block = {0};
        const int tells = omp_get_thread_num() == 0 && so->progress;
#pragma omp for schedule(dynamic, 1)
        for (int a = 0; a < all; a++) {
            evn_status before, mine;
            int now;
#pragma omp atomic read
            before = status;
            if (before || !c->cell[a].fars || !far_wants(f, a)) continue;
            mine = make_target(f, &vectors, a, &block);
#pragma omp atomic capture
            now = ++done;
            if (!mine && tells && so->progress((double)now / wanted, so->arg)) mine = EVN_STOPPED;
            if (mine) {
#pragma omp critical(far_failure)
                if (!status) {
                    snprintf(why, sizeof why, "%s",
                             mine == EVN_STOPPED ? "fast: stopped on request" : evn_message());
#pragma omp atomic write
                    status = mine;
                }
            }
        }
        vectors_block_close(&block);
    }
    vectors_close(&vectors);
    return status ? evn_fail(status, "%s", why) : EVN_OK; /* a thread's message is its own */
}

/* ---- levels ---- */

/* Steps at a time: at most `soonest`, a multiple of the smaller cells', and no group begins within
 * them unless they lie within it. */
static int find_due(int soonest, int below, int group) {
    for (int due = soonest < 64 ? soonest : 64; due > below; due--)
        if (due % below == 0 && (group % due == 0 || due % group == 0)) return due;
    return below;
}

static void measure_level(struct far *f, int level) {
    const struct octree *c = f->cells;
    struct far_level *is = &f->level[level];
    is->soonest = UINT16_MAX;
    for (int a = c->first[level]; a < c->first[level + 1]; a++) {
        const struct far_target *t = &f->target[a];
        const double values = (double)t->entries * f->taps;
        for (size_t e = 0; e < t->entries; e++) {
            const int last = t->first[e] + f->apart * (f->taps - 1);
            if (t->first[e] < is->soonest) is->soonest = t->first[e];
            if (last > is->reach) is->reach = last;
        }
        is->work[a + 1 - c->first[level]] =
            is->work[a - c->first[level]] + (far_wants(f, a) ? values + 1 : 0);
        f->values += values;
        f->bytes += far_bytes(f->is_wide, f->taps) * (double)t->entries;
    }
}

/* All ranks have the same periods, whatever rows are theirs. */
static evn_status share_levels(struct far *f, evn_cluster *cluster) {
    struct far_level *all = NULL;
    int count = 0, mine = f->cells->level + 1;
    evn_status status =
        ranks_share(cluster, f->level, mine, sizeof *f->level, (void **)&all, &count);
    for (int e = 0; !status && e < count; e++) {
        struct far_level *is = &f->level[e % mine];
        if (all[e].soonest < is->soonest) is->soonest = all[e].soonest;
        if (all[e].reach > is->reach) is->reach = all[e].reach;
    }
    free(all);
    return status;
}

static int even(int n) { return (n + 7) / 8 * 8; }

static evn_status measure_levels(struct far *f) {
    const struct octree *c = f->cells;
    for (int level = 0; level <= c->level; level++) {
        double **work = &f->level[level].work;
        *work = calloc((size_t)(c->first[level + 1] - c->first[level]) + 1, sizeof **work);
        if (!*work) return no_memory();
        measure_level(f, level);
    }
    return EVN_OK;
}

/* From the leaves up. Rings reach back as far as row-vectors do, and a vector of lanes more, which
 * may be loaded with them; they slide on once they are half as long again. */
static void choose_periods(struct far *f, int group) {
    int below = 1;
    for (int level = f->cells->level; level >= 0; level--) {
        struct far_level *is = &f->level[level];
        is->due = below = find_due(is->soonest, below, group);
        if (level == f->cells->level) f->period = below;
        const int slide = is->reach / 2 > group ? is->reach / 2 : group;
        const int unit = f->period > group ? f->period : group;
        is->reach = 8 + even(is->reach > f->period ? is->reach : f->period);
        is->length = is->reach + (slide + unit - 1) / unit * unit;
    }
}

/* Where everything is in a state, the same for all ranks. */
static evn_status make_places(struct far *f, int group) {
    const struct octree *c = f->cells;
    const size_t all = (size_t)c->first[c->level + 1];
    f->ring = malloc(all * sizeof *f->ring);
    f->local = malloc(all * sizeof *f->local);
    if (!f->ring || !f->local) return no_memory();
    size_t at = OCTREE_LEVELS + 1; /* frames of the rings */
    for (int level = 0; level <= c->level; level++)
        for (int a = c->first[level]; a < c->first[level + 1]; a++) {
            f->ring[a] = at;
            at += (size_t)skeleton_count(f, SOURCES, a) * (size_t)f->level[level].length;
            f->local[a] = at;
            at += (size_t)f->fields * (size_t)skeleton_count(f, TARGETS, a) *
                  (size_t)f->level[level].due;
        }
    f->sums = at;
    f->recent = at += (size_t)f->fields * (size_t)f->vertices * (size_t)f->period;
    f->past = at += (size_t)f->vertices * (size_t)f->period;
    f->kept = group + f->period + f->mean;
    f->doubles = at + (size_t)f->vertices * (size_t)f->kept;
    return EVN_OK;
}

/* ---- constants ---- */

/* out of a larger cell's skeleton, or into it from the candidates: of a constant's sums. */
static void up(const struct far *f, int a, double *const *source) {
    const struct skeleton *s = &f->skeletons->of[SOURCES][a];
    const struct cell *cell = &f->cells->cell[a];
    for (int r = 0; r < s->count; r++) {
        double sum = 0;
        int c = 0;
        for (; !cell->children && c < s->candidates; c++) sum += s->weight[r * s->candidates + c];
        for (int b = cell->child; b < cell->child + cell->children; b++)
            for (int k = 0; k < skeleton_count(f, SOURCES, b); k++, c++)
                sum += s->weight[r * s->candidates + c] * source[b][k];
        source[a][r] = sum;
    }
}

static void across(const struct far *f, int a, int field, double *const *source, double *local) {
    const struct far_target *t = &f->target[a];
    const int rows = skeleton_count(f, TARGETS, a);
    for (int p = 0; p < t->pairs; p++) {
        const struct far_pair *pair = &t->pair[p];
        if (pair->is.filter != field - 1) continue;
        const size_t taps = (size_t)f->taps, entries = pair_entries(f, a, pair->source);
        for (size_t e = 0; e < entries; e++)
            for (size_t k = (pair->entry + e) * taps; k < (pair->entry + e + 1) * taps; k++)
                local[e % (size_t)rows] +=
                    far_value(t, pair, k) * source[pair->source][e / (size_t)rows];
    }
}

static void down(const struct far *f, int a, double *const *local, double *sum) {
    const struct skeleton *s = &f->skeletons->of[TARGETS][a];
    const struct cell *cell = &f->cells->cell[a];
    int c = 0;
    for (int v = cell->begin; !cell->children && v < cell->end; v++, c++)
        for (int r = 0; r < s->count; r++) sum[v] += s->weight[r * s->candidates + c] * local[a][r];
    for (int b = cell->child; b < cell->child + cell->children; b++)
        for (int k = 0; k < skeleton_count(f, TARGETS, b); k++, c++)
            for (int r = 0; r < s->count; r++)
                local[b][k] += s->weight[r * s->candidates + c] * local[a][r];
}

/* Adds to `rest` what far cells make of a constant in each row. */
static evn_status constant_sums(struct far *f) {
    const int all = octree_cells(f->cells);
    double **part = calloc(2 * (size_t)all, sizeof *part), **local = part ? part + all : NULL;
    int ok = part != NULL;
    for (int a = 0; ok && a < all; a++) {
        part[a] = calloc((size_t)skeleton_count(f, SOURCES, a) + 1, sizeof **part);
        local[a] = calloc((size_t)skeleton_count(f, TARGETS, a) + 1, sizeof **part);
        ok = part[a] && local[a];
    }
    for (int a = all - 1; ok && a >= 0; a--) up(f, a, part);
    for (int field = 0; ok && field < f->fields; field++) {
        for (int a = 0; a < all; a++)
            memset(local[a], 0, (size_t)skeleton_count(f, TARGETS, a) * sizeof **local);
        for (int a = 0; a < all; a++) {
            across(f, a, field, part, local[a]);
            down(f, a, local, f->rest + field * f->vertices);
        }
    }
    for (int a = 0; part && a < 2 * all; a++) free(part[a]);
    free(part);
    return ok ? EVN_OK : no_memory();
}

/* Adds b to a sum in two parts: exactly, but for what is below the second one's last bit. */
static void exact_add(struct exact *sum, double b) {
    const double whole = sum->high + b, part = whole - sum->high;
    sum->low += (sum->high - (whole - part)) + (b - part);
    sum->high = whole;
}

void far_add_near(struct far *f, const struct slices *s) {
    for (int j = s->from; j < s->to; j++) {
        const double *value = slices_column(s, j);
        for (struct slices_walk w = slices_walk(s, j); w.row < s->rows; slices_step(&w)) {
            const int row = far_row(f, w.row), count = s->count[w.at];
            for (int k = 0; row >= 0 && k < count; k++) exact_add(&f->near[row], value[k]);
            value += count;
        }
    }
}

/* The sums of all ranks' parts. */
static evn_status near_of_all(struct far *f, evn_cluster *cluster) {
    struct exact *all = NULL;
    const int rows = f->fields * f->vertices;
    int parts = 0;
    evn_status status = ranks_share(cluster, f->near, rows, sizeof *f->near, (void **)&all, &parts);
    if (!status) memset(f->near, 0, (size_t)rows * sizeof *f->near);
    for (int e = 0; !status && e < parts; e++) {
        exact_add(&f->near[e % rows], all[e].high);
        exact_add(&f->near[e % rows], all[e].low);
    }
    free(all);
    return status;
}

evn_status far_hold_constants(struct far *f, evn_cluster *cluster) {
    evn_status status = near_of_all(f, cluster);
    if (!status) status = constant_sums(f);
    for (int i = 0; !status && i < f->fields * f->vertices; i++)
        f->rest[i] += f->near[i].high + f->near[i].low;
    free(f->near);
    f->near = NULL;
    return status;
}

/* ---- all of it ---- */

/* What this rank makes by itself. */
static evn_status make_own(struct far *f, const struct mesh *mesh, const struct far_options *o) {
    const struct skeleton_options so = {o->slices, o->highest, o->accuracy, o->cluster};
    evn_status status = skeletons_open(&f->skeletons, f->cells, mesh, &so, o->cores);
    if (status) return status;
    f->target = calloc((size_t)f->skeletons->cells, sizeof *f->target);
    const size_t rows = (size_t)f->fields * (size_t)mesh->vertices;
    f->rest = calloc(rows, sizeof *f->rest);
    f->near = calloc(rows, sizeof *f->near);
    if (!f->target || !f->rest || !f->near) return no_memory();
    status = make_targets(f, mesh, o);
    return status ? status : measure_levels(f);
}

evn_status far_open(struct far **out, const struct octree *cells, const struct mesh *mesh,
                    const struct far_options *o) {
    struct far *f = *out = calloc(1, sizeof *f);
    evn_status status = ranks_agreed(o->cluster, f ? EVN_OK : no_memory());
    if (!status) {
        f->cells = cells;
        f->vertices = mesh->vertices;
        f->fields = 1 + o->slices->filters;
        f->rows = mesh->vertices + o->slices->points;
        f->low = o->low;
        f->high = o->high;
        status = ranks_agreed(o->cluster, make_own(f, mesh, o));
    }
    if (!status) status = share_levels(f, o->cluster);
    if (!status) choose_periods(f, o->group);
    if (!status) status = make_places(f, o->group);
    if (!status) return EVN_OK;
    far_close(f);
    *out = NULL;
    return status;
}

/* ---- a state of all ranks ---- */

/* Pieces of a state: where each is, how many doubles it has, and these. */
struct pieces {
    double *data;
    size_t count;
};

static void put_piece(struct pieces *to, const far_state *state, size_t at, size_t count) {
    if (to->data) {
        to->data[to->count] = (double)at;
        to->data[to->count + 1] = (double)count;
        memcpy(to->data + to->count + 2, state + at, count * sizeof *state);
    }
    to->count += 2 + count;
}

/* What this rank alone may have: sums of cells and of vertices for its rows. */
static void put_sums(struct pieces *to, const struct far *f, const far_state *state) {
    const struct octree *c = f->cells;
    to->count = 0;
    for (int level = 0; level <= c->level; level++)
        for (int a = c->first[level]; a < c->first[level + 1]; a++)
            for (int field = 0; field < f->fields; field++) {
                const struct cell *cell = &c->cell[a];
                const size_t own =
                    (size_t)skeleton_count(f, TARGETS, a) * (size_t)f->level[level].due;
                const size_t row = (size_t)(field * f->vertices + cell->begin);
                const size_t period = (size_t)f->period;
                if (!far_wants_field(f, a, field)) continue;
                put_piece(to, state, f->local[a] + (size_t)field * own, own);
                if (level == c->level)
                    put_piece(to, state, f->sums + row * period,
                              (size_t)(cell->end - cell->begin) * period);
            }
}

evn_status far_gather(const struct far *f, far_state *state, evn_cluster *cluster) {
    struct pieces mine = {0};
    double *all = NULL;
    int count = 0;
    put_sums(&mine, f, state);
    mine.data = malloc((mine.count + 1) * sizeof *mine.data);
    evn_status status = ranks_agreed(cluster, mine.data ? EVN_OK : no_memory());
    if (!status) put_sums(&mine, f, state);
    if (!status)
        status =
            ranks_share(cluster, mine.data, (int)mine.count, sizeof *all, (void **)&all, &count);
    for (size_t e = 0; !status && e < (size_t)count; e += 2 + (size_t)all[e + 1])
        memcpy(state + (size_t)all[e], all + e + 2, (size_t)all[e + 1] * sizeof *state);
    free_all(mine.data, all);
    return status;
}

void far_close(struct far *f) {
    if (!f) return;
    for (int a = 0; f->target && a < f->skeletons->cells; a++) {
        free_all(f->target[a].pair, f->target[a].first, f->target[a].value, f->target[a].wide);
    }
    for (int level = 0; level <= OCTREE_LEVELS; level++) free(f->level[level].work);
    free_all(f->target, f->rest, f->near, f->ring, f->local);
    skeletons_close(f->skeletons);
    free(f);
}
