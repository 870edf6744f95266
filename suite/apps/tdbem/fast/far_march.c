/* The far field step by step. Before the first step of a period of the leaves, level by level from
 * the largest cells: what far cells give, if the level is due, and what the larger cell got, for
 * the period. After its last step, from the leaves up: its solutions to all rings. */
#include "tdbem/fast/far.h"
#include "common/simd/lanes.h"
#if LANES == 8
#    include <immintrin.h>
#endif
#include <string.h>

struct work {
    const struct far *f;
    far_state *state;
    int n; /* first step of the period */
};

/* ---- rings ---- */

static double *ring_at(const struct far *f, far_state *state, int level, int cell, int step) {
    return state + f->ring[cell] + far_place(&f->level[level], state[level], step);
}

/* ---- before a period ---- */

/* Of a pair of cells: its skeletons, and the strides of rings and of sums. */
struct pair_size {
    int rows, columns, length, due;
};

/* Row-vectors that are made doubles at a time. */
enum { BATCH = 16 };

/* The values of a pair from the n-th of the target's on. */
static void read_values(double *restrict to, const struct far_target *t, const struct far_pair *p,
                        size_t n, int values, int is_wide) {
    const double scale = (double)p->scale;
    for (int v = 0; is_wide && v < values; v++) to[v] = (double)t->wide[n + (size_t)v];
    for (int v = 0; !is_wide && v < values; v++) to[v] = scale * t->value[n + (size_t)v];
}

/* The ring's elements that the steps of a group of lanes meet `back` steps before x: of those from
 * x - LANES on, which have been loaded, where they are among them. */
INLINE vec window(const vec *loaded, const double *x, int group, int back) {
#if LANES == 8
    const ivec from = vec_iota() + LANES - back;
    if (back < LANES)
        return (vec)_mm512_permutex2var_pd((__m512d)loaded[group], (__m512i)from,
                                           (__m512d)loaded[group + 1]);
#endif
    (void)loaded;
    return vec_loadu(x + group * LANES - back);
}

/* What a pair's row-vectors of `taps` taps add to the sums of `steps` steps, 8 or 16: a value meets
 * so many elements of a ring. */
INLINE void pair_steps(const struct far *f, const struct far_target *t, const struct far_pair *p,
                       const struct pair_size *is, const double *ring, double *local, int steps,
                       int taps, int apart) {
    enum { MOST = 16 / LANES };
    const int vectors = steps / LANES;
    size_t entry = p->entry;
    for (int s = 0; s < is->columns; s++, ring += is->length)
        for (int begin = 0; begin < is->rows; begin += BATCH) {
            const int end = begin + BATCH < is->rows ? begin + BATCH : is->rows;
            double value[BATCH * TAPS], *v = value;
            read_values(value, t, p, entry * (size_t)taps, (end - begin) * taps, f->is_wide);
            for (int i = begin; i < end; i++, entry++, v += taps) {
                double *to = local + i * is->due;
                const double *x = ring - t->first[entry];
                vec sum[MOST], loaded[MOST + 1];
                for (int g = 0; g < vectors; g++) sum[g] = vec_loadu(to + g * LANES);
                for (int g = 0; g <= vectors; g++) loaded[g] = vec_loadu(x + (g - 1) * LANES);
                for (int k = 0; k < taps; k++)
                    for (int g = 0; g < vectors; g++)
                        sum[g] += v[k] * window(loaded, x, g, k * apart);
                for (int g = 0; g < vectors; g++) vec_storeu(to + g * LANES, sum[g]);
            }
        }
}

/* pair_steps() for numbers of steps and taps that it is not compiled for. */
static void pair_few(const struct far *f, const struct far_target *t, const struct far_pair *p,
                     const struct pair_size *is, const double *ring, double *local, int steps) {
    size_t n = p->entry * (size_t)f->taps, entry = p->entry;
    for (int s = 0; s < is->columns; s++, ring += is->length)
        for (int i = 0; i < is->rows; i++, entry++)
            for (int k = 0; k < f->taps; k++, n++)
                for (int q = 0; q < steps; q++)
                    local[i * is->due + q] +=
                        far_value(t, p, n) * ring[q - t->first[entry] - k * f->apart];
}

/* With taps known to the compiler, so that nothing is decided within a pair. */
static void pair_sums(const struct far *f, const struct far_target *t, const struct far_pair *p,
                      const struct pair_size *is, const double *ring, double *local, int steps) {
#define OF(n, count)                                                                               \
    if (steps == (n) && f->taps == (count)) {                                                      \
        if (f->apart == 1)                                                                         \
            pair_steps(f, t, p, is, ring, local, n, count, 1);                                     \
        else                                                                                       \
            pair_steps(f, t, p, is, ring, local, n, count, f->apart);                              \
        return;                                                                                    \
    }
    OF(16, 6)
    OF(16, 8)
    OF(8, 6)
    OF(8, 8)
    pair_few(f, t, p, is, ring, local, steps);
#undef OF
}

/* What a target's far cells give, for the steps of its level. */
static void take_far(const struct work *w, int level, int a) {
    const struct far *f = w->f;
    const int due = f->level[level].due;
    const struct far_target *t = &f->target[a];
    for (int p = 0; p < t->pairs; p++) {
        const struct far_pair *pair = &t->pair[p];
        const double *ring = ring_at(f, w->state, level, pair->source, w->n);
        const struct pair_size is = {f->skeletons->of[TARGETS][a].count,
                                     f->skeletons->of[SOURCES][pair->source].count,
                                     f->level[level].length, due};
        double *local = w->state + f->local[a] + (1 + pair->is.filter) * is.rows * due;
        for (int q = 0, steps; q < due; q += steps) {
            const int left = due - q;
            steps = left >= 16 ? 16 : left >= 8 ? 8 : left;
            pair_sums(f, t, pair, &is, ring + q, local + q, steps);
        }
    }
}

/* Where the period lies in what a level has summed. */
static int within(const struct work *w, int level) { return (w->n - 1) % w->f->level[level].due; }

/* What the larger cell got, to the rows of one of its children, which are candidates of its own; of
 * one field. */
static void take_parent(const struct work *w, int level, int a, int field) {
    const struct far *f = w->f;
    const struct cell *cell = &f->cells->cell[a];
    const struct skeleton *of = &f->skeletons->of[TARGETS][cell->parent];
    const int rows = f->skeletons->of[TARGETS][a].count;
    const int due = f->level[level].due, wide = f->level[level - 1].due;
    const double *from =
        w->state + f->local[cell->parent] + field * of->count * wide + within(w, level - 1);
    double *to = w->state + f->local[a] + field * rows * due;
    int c = 0;
    for (int b = f->cells->cell[cell->parent].child; b < a; b++)
        c += f->skeletons->of[TARGETS][b].count;
    for (int i = 0; i < rows; i++)
        for (int r = 0; r < of->count; r++) {
            const double weight = of->weight[(size_t)r * (size_t)of->candidates + (size_t)(c + i)];
            for (int q = 0; q < due; q++) to[i * due + q] += weight * from[r * wide + q];
        }
}

/* The sums of a leaf's vertices, of one field, less what a constant would make. */
static void leaf_sums(const struct work *w, int a, int field) {
    const struct far *f = w->f;
    const struct cell *cell = &f->cells->cell[a];
    const struct skeleton *of = &f->skeletons->of[TARGETS][a];
    const int period = f->period;
    const double *from = w->state + f->local[a] + field * of->count * period;
    for (int q = 0; q < period; q++) {
        const double *old = w->state + far_past(f, w->n + q - period);
        for (int v = cell->begin; v < cell->end; v++) {
            const size_t row = (size_t)(field * f->vertices + v);
            w->state[f->sums + row * (size_t)period + (size_t)q] = -f->rest[row] * old[v];
        }
    }
    for (int v = cell->begin; v < cell->end; v++) {
        double *to = w->state + f->sums + (size_t)(field * f->vertices + v) * (size_t)period;
        for (int r = 0; r < of->count; r++) {
            const double weight =
                of->weight[(size_t)r * (size_t)of->candidates + (size_t)(v - cell->begin)];
            for (int q = 0; q < period; q++) to[q] += weight * from[r * period + q];
        }
    }
}

/* The first of a level's cells that is core `me`'s, by work. */
static int share(const struct far *f, int level, int me, int cores) {
    const struct far_level *l = &f->level[level];
    const int count = f->cells->first[level + 1] - f->cells->first[level];
    const double until = l->work[count] * me / cores;
    int low = 0, high = count;
    if (me == cores) return f->cells->first[level + 1];
    while (low < high) {
        const int middle = (low + high) / 2;
        if (l->work[middle] < until)
            low = middle + 1;
        else
            high = middle;
    }
    return f->cells->first[level] + low;
}

static void begin_level(const struct work *w, int level, int me, int cores) {
    const struct far *f = w->f;
    const struct far_level *l = &f->level[level];
    const int end = share(f, level, me + 1, cores);
    for (int a = share(f, level, me, cores); a < end; a++) {
        if (!far_wants(f, a)) continue;
        const int rows = f->skeletons->of[TARGETS][a].count;
        memset(w->state + f->local[a], 0, (size_t)(f->fields * rows * l->due) * sizeof(double));
        take_far(w, level, a);
        for (int field = 0; field < f->fields; field++) {
            if (f->cells->cell[a].parent >= 0) take_parent(w, level, a, field);
            if (level == f->cells->level) leaf_sums(w, a, field);
        }
    }
}

static void begin_share(evn_crew *crew, int me, int cores, void *arg) {
    const struct work *w = arg;
    const struct far *f = w->f;
    for (int level = 0; level <= f->cells->level; level++) {
        if (!within(w, level)) begin_level(w, level, me, cores);
        evn_crew_barrier(crew);
    }
}

/* Cores that have half a million operations each. */
static int cores_for(const struct far *f, evn_crew *crew) {
    return evn_crew_cores(crew, f->values * f->period, 250000);
}

void far_begin(const struct far *f, far_state *state, int n, evn_crew *crew) {
    struct work w = {f, state, n};
    if ((n - 1) % f->period == 0) evn_crew_run(crew, NULL, cores_for(f, crew), begin_share, &w);
}

/* ---- after a period ---- */

/* The period's steps of one cell's sources, to its ring. */
static void grow_ring(const struct work *w, int level, int a) {
    const struct far *f = w->f;
    const struct far_level *l = &f->level[level];
    const struct skeleton *of = &f->skeletons->of[SOURCES][a];
    const struct cell *cell = &f->cells->cell[a];
    const int period = f->period;
    for (int r = 0; r < of->count; r++) {
        double *to = ring_at(f, w->state, level, a, w->n) + (size_t)r * (size_t)l->length;
        const double *weight = of->weight + (size_t)r * (size_t)of->candidates;
        memset(to, 0, (size_t)period * sizeof *to);
        for (int q = 0; !cell->children && q < period; q++) {
            const double *a_q = w->state + f->recent + (size_t)q * (size_t)f->vertices;
            for (int v = cell->begin; v < cell->end; v++) to[q] += weight[v - cell->begin] * a_q[v];
        }
        for (int b = cell->child; b < cell->child + cell->children; b++) {
            const double *from = ring_at(f, w->state, level + 1, b, w->n);
            const int count = f->skeletons->of[SOURCES][b].count;
            for (int k = 0; k < count; k++, from += f->level[level + 1].length)
                for (int q = 0; q < period; q++) to[q] += weight[k] * from[q];
            weight += count;
        }
    }
}

/* What has gone out of reach makes room. */
static void slide_rings(const struct work *w, int level, int begin, int end) {
    const struct far *f = w->f;
    const struct far_level *l = &f->level[level];
    for (int a = begin; a < end; a++)
        for (int r = 0; r < f->skeletons->of[SOURCES][a].count; r++) {
            double *ring = w->state + f->ring[a] + (size_t)r * (size_t)l->length;
            memmove(ring, ring + far_slide(l), (size_t)l->reach * sizeof *ring);
        }
}

static void grow_share(evn_crew *crew, int me, int cores, void *arg) {
    const struct work *w = arg;
    const struct far *f = w->f;
    for (int level = f->cells->level; level >= 0; level--) {
        const int begin = share(f, level, me, cores), end = share(f, level, me + 1, cores);
        const long frame = (w->n - 1) / far_slide(&f->level[level]);
        if ((long)w->state[level] != frame) {
            slide_rings(w, level, begin, end);
            evn_crew_barrier(crew);
            if (me == 0) w->state[level] = (double)frame;
            evn_crew_barrier(crew);
        }
        for (int a = begin; a < end; a++) grow_ring(w, level, a);
        evn_crew_barrier(crew);
    }
}

/* The mean over the last steps, by the trapezoidal rule. */
static void take_mean(const struct far *f, far_state *state, int n) {
    double *to = state + f->recent + (size_t)((n - 1) % f->period) * (size_t)f->vertices;
    const double *last = state + far_past(f, n), *first = state + far_past(f, n - f->mean);
    for (int v = 0; v < f->vertices; v++) to[v] = 0.5 * (first[v] + last[v]);
    if (!f->mean) return;
    for (int k = 1; k < f->mean; k++) {
        const double *x = state + far_past(f, n - k);
        for (int v = 0; v < f->vertices; v++) to[v] += x[v];
    }
    for (int v = 0; v < f->vertices; v++) to[v] /= f->mean;
}

void far_note(const struct far *f, far_state *state, int n, const double *a, evn_crew *crew) {
    const int q = (n - 1) % f->period;
    struct work w = {f, state, n - q};
    memcpy(state + far_past(f, n), a, (size_t)f->vertices * sizeof *a);
    if (q < f->period - 1) return;
    for (int t = n - q; t <= n; t++) take_mean(f, state, t);
    evn_crew_run(crew, NULL, cores_for(f, crew), grow_share, &w);
}
