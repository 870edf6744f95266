/* The levels of the multilevel scheme: each joins vertices of the one before in pairs. */
#include "policy/map/levels.h"
#include <math.h>
#include <stdlib.h>

int level_open(struct level *g, int n, size_t ends) {
    const size_t numbers = (size_t)n + ends, whole = (size_t)n + 1 + ends;
    char *memory = map_model_memory(numbers * sizeof(double) + whole * sizeof(int));
    *g = (struct level){.n = n, .memory = memory};
    if (!memory) return 1;
    g->weight = (double *)memory;
    g->bytes = g->weight + n;
    g->start = (int *)(g->bytes + ends);
    g->to = g->start + n + 1;
    return 0;
}

void level_close(struct level *g) {
    free(g->memory);
    *g = (struct level){0};
}

double level_weight(const struct level *g) {
    double sum = 0;
    for (int v = 0; v < g->n; v++) sum += g->weight[v];
    return sum;
}

enum { WINDOW = 4096, AHEAD = 8 };

/* Shuffles the vertices: in order of their numbers a grid would be joined along its rows. Windows
 * of them keep memory that is near together. */
static void shuffle(int *order, int n, unsigned long long *seed) {
    for (int i = 0; i < n; i++) {
        const int first = i / WINDOW * WINDOW, k = first + level_draw(seed, i - first + 1);
        order[i] = i;
        order[i] = order[k];
        order[k] = i;
    }
}

/* Finds the free neighbour that exchanges most with v for their weights; -1: none. *hub: the
 * neighbour that exchanges most, free or not; n: none. `left`: weights of those that are free. */
static int partner(const struct level *g, const float *left, int v, double limit, int *hub) {
    double best = 0, most = 0;
    int mine = -1;
    *hub = g->n;
    for (int i = g->start[v]; i < g->start[v + 1]; i++) {
        const int o = g->to[i];
        if (g->bytes[i] > most) {
            most = g->bytes[i];
            *hub = o;
        }
        if (left[o] > limit) continue;
        const double rating = g->bytes[i] / left[o] * g->bytes[i];
        if (!(rating > best)) continue;
        best = rating;
        mine = o;
    }
    return mine;
}

/* Finds each vertex's mate; a vertex without one is its own. Two vertices without free neighbours
 * become mates if they have a neighbour in common (a hub), or no links at all: the leaves of a star
 * would stay alone otherwise. `waiting`: n + 1 entries of scratch; `left`: n. */
static void match(const struct level *g, double heaviest, const int *order, int *waiting,
                  float *left, int *mate) {
    const double tiny = 1e-3 * level_weight(g) / g->n + 1e-30;
    for (int v = 0; v <= g->n; v++) waiting[v] = -1;
    for (int v = 0; v < g->n; v++) {
        mate[v] = -1;
        left[v] = (float)(g->weight[v] + tiny);
    }
    for (int i = 0; i < g->n; i++) {
        const int v = order[i];
        int hub;
        if (mate[v] >= 0) continue;
        left[v] = INFINITY;
        int o = partner(g, left, v, heaviest - g->weight[v] + tiny, &hub);
        if (o < 0) {
            const int w = waiting[hub];
            waiting[hub] = v;
            if (w >= 0 && mate[w] == w && g->weight[v] + g->weight[w] <= heaviest) {
                o = w;
                waiting[hub] = -1;
            }
        }
        mate[v] = o < 0 ? v : o;
        if (o < 0) continue;
        mate[o] = v;
        left[o] = INFINITY;
    }
}

/* Makes the links of the vertex that v and its mate become; `slot`: position of each vertex's
 * entry. */
static int join(const struct level *fine, int v, const int *into, int *slot, struct level *coarse,
                int begin, int at) {
    for (int i = fine->start[v]; i < fine->start[v + 1]; i++) {
        const int o = into[fine->to[i]];
        if (o == into[v]) continue;
        if (slot[o] < begin) {
            slot[o] = at;
            coarse->to[at] = o;
            coarse->bytes[at++] = fine->bytes[i];
        } else {
            coarse->bytes[slot[o]] += fine->bytes[i];
        }
    }
    return at;
}

int level_coarsen(const struct level *fine, double heaviest, unsigned long long *seed,
                  struct level *coarse, int *into) {
    const size_t n = (size_t)fine->n;
    int *order = map_model_memory((3 * n + 1) * sizeof *order + n * sizeof(float)), vertices = 0,
        at = 0;
    if (!order) return 1;
    int *mate = order + n, *slot = mate + n;
    shuffle(order, fine->n, seed);
    match(fine, heaviest, order, slot, (float *)(slot + n + 1), mate);
    for (int v = 0; v < fine->n; v++) into[v] = mate[v] < v ? into[mate[v]] : vertices++;
    const int failed = level_open(coarse, vertices, (size_t)fine->start[fine->n]);
    for (int c = 0; !failed && c < vertices; c++) slot[c] = -1;
    for (int v = 0; !failed && v < fine->n; v++) {
        if (v + AHEAD < fine->n) { /* a mate may be anywhere */
            const int begin_of = fine->start[mate[v + AHEAD]];
            __builtin_prefetch(&fine->to[begin_of]);
            __builtin_prefetch(&fine->bytes[begin_of]);
        }
        if (mate[v] < v) continue;
        const int c = into[v], begin = at;
        coarse->start[c] = begin;
        coarse->weight[c] = fine->weight[v] + (mate[v] > v ? fine->weight[mate[v]] : 0);
        at = join(fine, v, into, slot, coarse, begin, at);
        if (mate[v] > v) at = join(fine, mate[v], into, slot, coarse, begin, at);
    }
    if (!failed) coarse->start[vertices] = at;
    free(order);
    return failed;
}
