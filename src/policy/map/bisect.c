/* The assignment of the coarsest level: bisections, each a multilevel scheme of its own. A part is
 * grown from one vertex, and the border between the two is improved on each level by passes in
 * which the best move is taken even if it is a bad one (Fiduccia and Mattheyses, "A Linear-Time
 * Heuristic for Improving Network Partitions", DAC 1982). */
#include "policy/map/heap.h"
#include "policy/map/levels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 60,    /* vertices up to which a graph is not coarsened */
    TRIES = 8,     /* trials of growing a part; the best one counts */
    PASSES = 2,    /* passes over a border */
    PATIENCE = 25, /* moves of a pass without a new best */
};

#define EVEN   0.003 /* allowed error, as a part of the smaller part's weight */
#define STALLS 0.95  /* ratio of two levels' vertices above which coarsening ends */

struct cut {
    const struct level *g;
    char *side;
    double share;     /* part of the weight that side 0 is to have */
    double weight[2]; /* weight of each side */
    double want[2], slack;
    double cut;
    double *all;         /* bytes of each vertex's links */
    double *gain;        /* reduction of the cut when each vertex moves */
    int *place;          /* place of each vertex in its heap; -1: none; -2: moved in this pass */
    int *trail;          /* vertices that have moved */
    struct heap heap[2]; /* of each side */
    char *best;
    void *memory;
};

static struct heap *heap_of(struct cut *c, int v) { return &c->heap[(int)c->side[v]]; }

/* ---- one border ---------------------------------------------------------------------------- */

static int cut_open(struct cut *c, const struct level *g, double share, char *side) {
    const size_t n = (size_t)g->n;
    char *memory = malloc(n * (2 * sizeof(double) + 4 * sizeof(int) + 1));
    *c = (struct cut){.g = g, .side = side, .share = share, .memory = memory};
    if (!memory) return 1;
    c->all = (double *)memory;
    c->gain = c->all + n;
    c->place = (int *)(c->gain + n);
    c->trail = c->place + n;
    c->heap[0].vertex = c->trail + n;
    c->heap[1].vertex = c->heap[0].vertex + n;
    c->best = (char *)(c->heap[1].vertex + n);
    for (int i = 0; i < 2; i++) {
        c->heap[i].place = c->place;
        c->heap[i].gain = c->gain;
    }
    double all = 0, heaviest = 0;
    for (int v = 0; v < g->n; v++) {
        all += g->weight[v];
        heaviest = fmax(heaviest, g->weight[v]);
        c->all[v] = 0;
        for (int i = g->start[v]; i < g->start[v + 1]; i++) c->all[v] += g->bytes[i];
    }
    c->want[0] = all * share;
    c->want[1] = all - c->want[0];
    c->slack = fmax(EVEN * fmin(c->want[0], c->want[1]), heaviest);
    return 0;
}

/* Computes weights and gains of the present sides. */
static void count(struct cut *c) {
    const struct level *g = c->g;
    c->weight[0] = c->weight[1] = c->cut = 0;
    for (int v = 0; v < g->n; v++) {
        double gain = 0, out = 0;
        for (int i = g->start[v]; i < g->start[v + 1]; i++) {
            const int other = c->side[g->to[i]] != c->side[v];
            gain += other ? g->bytes[i] : -g->bytes[i];
            out += other ? g->bytes[i] : 0;
        }
        c->weight[(int)c->side[v]] += g->weight[v];
        c->gain[v] = gain;
        c->cut += out / 2;
    }
}

/* Vertex v changes its side; neighbours that have not moved in this pass go to the heaps. */
static void flip(struct cut *c, int v) {
    const struct level *g = c->g;
    const int from = c->side[v];
    c->cut -= c->gain[v];
    c->gain[v] = -c->gain[v];
    c->weight[from] -= g->weight[v];
    c->weight[1 - from] += g->weight[v];
    c->side[v] = (char)(1 - from);
    for (int i = g->start[v]; i < g->start[v + 1]; i++) {
        const int o = g->to[i];
        if (o == v) continue;
        c->gain[o] += c->side[o] == from ? 2 * g->bytes[i] : -2 * g->bytes[i];
        if (c->place[o] >= 0)
            heap_sift(heap_of(c, o), c->place[o], o);
        else if (c->place[o] == -1)
            heap_push(heap_of(c, o), o);
    }
}

/* Excess of the heavier side. */
static double over(const struct cut *c) {
    return fmax(fmax(c->weight[0] - c->want[0], c->weight[1] - c->want[1]) - c->slack, 0);
}

/* The side that the next vertex leaves: the one that is too heavy, so that none of the other's best
 * vertices is lost to the limit; -1: none. */
static int leaving(const struct cut *c) {
    const int heavy = c->weight[0] > c->want[0] ? 0 : 1;
    return c->heap[heavy].n ? heavy : c->heap[1 - heavy].n ? 1 - heavy : -1;
}

/* 1 if v may leave side s: the other side must not become too heavy, nor heavier than this one is.
 */
static int may_leave(const struct cut *c, int v, int s) {
    const double then = c->weight[1 - s] + c->g->weight[v] - c->want[1 - s];
    return then <= fmax(c->slack, c->weight[s] - c->want[s] - 1e-12 * c->want[s]);
}

/* Makes one pass, and returns to the best state seen; 1 if that is better than the first. */
static int improve(struct cut *c) {
    int moves = 0, kept = 0;
    const double cut_before = c->cut, over_before = over(c);
    double least = cut_before, least_over = over_before;
    c->heap[0].n = c->heap[1].n = 0;
    for (int v = 0; v < c->g->n; v++) c->place[v] = -1;
    for (int v = 0; v < c->g->n; v++)
        if (c->gain[v] > -c->all[v] * (1 - 1e-12) || c->all[v] == 0 || over_before > 0)
            heap_push(heap_of(c, v), v);
    for (int s; moves - kept < PATIENCE && (s = leaving(c)) >= 0;) {
        const int v = c->heap[s].vertex[0];
        heap_drop(heap_of(c, v), v);
        c->place[v] = -2;
        if (!may_leave(c, v, s)) continue;
        flip(c, v);
        c->trail[moves++] = v;
        const double now = over(c);
        if (now < least_over || (now == least_over && c->cut < least * (1 - 1e-12))) {
            least = c->cut;
            least_over = now;
            kept = moves;
        }
    }
    for (int v = 0; v < c->g->n; v++) c->place[v] = -2;
    while (moves > kept) flip(c, c->trail[--moves]);
    return kept > 0;
}

static void improve_all(struct cut *c) {
    count(c);
    for (int i = 0; i < PASSES && improve(c); i++) {
    }
}

/* Grows side 0 from a vertex, always by the neighbour that adds the fewest cut bytes, until it has
 * its weight. */
static void grow(struct cut *c, int from) {
    const int n = c->g->n;
    memset(c->side, 1, (size_t)n);
    count(c);
    for (int v = 0; v < n; v++) c->place[v] = -1;
    c->heap[0].n = c->heap[1].n = 0;
    for (int i = 0, next = from; c->weight[0] < c->want[0] && i < n; i++) {
        int v = c->heap[1].n ? c->heap[1].vertex[0] : -1;
        if (v >= 0) {
            heap_drop(heap_of(c, v), v);
        } else { /* grow on in another component */
            while (c->place[next] != -1) next = next + 1 < n ? next + 1 : 0;
            v = next;
        }
        if (i && c->weight[0] + c->g->weight[v] / 2 > c->want[0]) return;
        c->place[v] = -2;
        flip(c, v);
    }
}

static void grow_best(struct cut *c, unsigned long long *seed) {
    double least = INFINITY, least_over = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        grow(c, level_draw(seed, c->g->n));
        improve_all(c);
        const double now = over(c);
        if (now > least_over || (now == least_over && c->cut >= least)) continue;
        least = c->cut;
        least_over = now;
        memcpy(c->best, c->side, (size_t)c->g->n);
    }
    memcpy(c->side, c->best, (size_t)c->g->n);
}

/* ---- many parts ---------------------------------------------------------------------------- */

/* Bisects a graph; side 0 gets `share` of the weight. 1: not enough memory. */
static int bisect(const struct level *g, double share, char *side, unsigned long long *seed) {
    struct cut c;
    int failed = cut_open(&c, g, share, side), coarser = 0;
    if (!failed && g->n > SMALL) {
        struct level coarse;
        int *into = c.trail;
        failed = level_coarsen(g, 3 * (c.want[0] + c.want[1]) / SMALL, seed, &coarse, into);
        coarser = !failed && coarse.n <= STALLS * g->n;
        if (coarser) failed = bisect(&coarse, share, c.best, seed);
        for (int v = 0; coarser && !failed && v < g->n; v++) side[v] = c.best[into[v]];
        if (!failed) level_close(&coarse);
    }
    if (!failed && coarser)
        improve_all(&c);
    else if (!failed)
        grow_best(&c, seed);
    free(c.memory);
    return failed;
}

/* Makes the graph of one side; `name`, `named`: numbers in the whole graph of its vertices. */
static int take_side(const struct level *g, const char *side, int s, const int *name,
                     struct level *part, int *named, int *place) {
    int n = 0, at = 0;
    size_t ends = 0;
    for (int v = 0; v < g->n; v++) {
        if (side[v] != s) continue;
        place[v] = n++;
        ends += (size_t)(g->start[v + 1] - g->start[v]);
    }
    if (level_open(part, n, ends)) return 1;
    for (int v = 0, p = 0; v < g->n; v++) {
        if (side[v] != s) continue;
        named[p] = name[v];
        part->weight[p] = g->weight[v];
        part->start[p++] = at;
        for (int i = g->start[v]; i < g->start[v + 1]; i++) {
            if (side[g->to[i]] != s) continue;
            part->to[at] = place[g->to[i]];
            part->bytes[at++] = g->bytes[i];
        }
    }
    part->start[n] = at;
    return 0;
}

/* Assigns the vertices of g, which have the numbers `name` in the whole graph, to units from .. end
 * - 1; `speed`: running sums of speeds. */
static int share_out(const struct level *g, const int *name, const double *speed, int from, int end,
                     int *owner, unsigned long long *seed) {
    if (end - from == 1 || g->n == 0) {
        for (int v = 0; v < g->n; v++) owner[name[v]] = from;
        return 0;
    }
    const int middle = from + (end - from) / 2;
    const size_t n = (size_t)g->n;
    char *side = malloc(n);
    int *place = malloc(2 * n * sizeof *place), *named = place ? place + n : NULL;
    const double all = speed[end] - speed[from], first = speed[middle] - speed[from];
    int failed = !side || !place || bisect(g, first / all, side, seed);
    for (int s = 0; s < 2 && !failed; s++) {
        struct level part;
        failed = take_side(g, side, s, name, &part, named, place);
        if (failed) break;
        failed = share_out(&part, named, speed, s ? middle : from, s ? end : middle, owner, seed);
        level_close(&part);
    }
    free(place);
    free(side);
    return failed;
}

int level_bisect(const struct level *g, const struct map_model *m, unsigned long long seed,
                 int *owner) {
    int *name = malloc((size_t)g->n * sizeof *name);
    double *speed = malloc(((size_t)m->units + 1) * sizeof *speed);
    int failed = !name || !speed;
    for (int v = 0; !failed && v < g->n; v++) name[v] = v;
    for (int u = 0; !failed && u < m->units; u++)
        speed[u + 1] = (u ? speed[u] : (speed[0] = 0)) + 1 / m->pace[u];
    failed = failed || share_out(g, name, speed, 0, m->units, owner, &seed);
    free(speed);
    free(name);
    return failed;
}
