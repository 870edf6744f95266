/* The mappings of Scotch as candidates of `map`. */
#include "schedule/map/choice.h"
#include <math.h>
#include <stdlib.h>

#ifdef EVENER_HAVE_SCOTCH
#    include <pthread.h>
#    include <scotch.h>
#    include <stdint.h>

enum {
    SCOTCH_LOAD = 1 << 24, /* sum of the weights: Scotch's numbers are whole and 32 bits wide */
    SCOTCH_BYTES = 1 << 28,
    SCOTCH_SPEED = 1 << 14,
};

/* Protects Scotch's reader of strategies, which keeps its place in static memory. */
static pthread_mutex_t scotch_lock = PTHREAD_MUTEX_INITIALIZER;

struct whole_graph {
    SCOTCH_Num *start, *neighbour, *bytes, *weight, *speed, *owner;
};

static void whole_close(struct whole_graph *w) {
    free(w->start);
    free(w->neighbour);
    free(w->bytes);
    free(w->weight);
    free(w->speed);
    free(w->owner);
}

static SCOTCH_Num whole(double value, double scale) { return (SCOTCH_Num)fmax(1, value * scale); }

/* The model in whole numbers, none below 1. 1: not enough memory. */
static int whole_open(struct whole_graph *w, const struct map_model *m) {
    const size_t n = (size_t)m->tasks, ends = (size_t)m->start[m->tasks];
    *w = (struct whole_graph){
        .start = malloc((n + 1) * sizeof *w->start),
        .neighbour = malloc((ends + 1) * sizeof *w->neighbour),
        .bytes = malloc((ends + 1) * sizeof *w->bytes),
        .weight = malloc(n * sizeof *w->weight),
        .speed = malloc((size_t)m->units * sizeof *w->speed),
        .owner = malloc(n * sizeof *w->owner),
    };
    if (!w->start || !w->neighbour || !w->bytes || !w->weight || !w->speed || !w->owner) {
        whole_close(w);
        return 1;
    }
    double load = 0, bytes = 0, speed = 0;
    for (size_t t = 0; t < n; t++) load += m->weight[t];
    for (size_t i = 0; i < ends; i++) bytes += m->bytes[i];
    for (int u = 0; u < m->units; u++) speed += 1 / m->pace[u];
    for (size_t t = 0; t < n; t++) w->weight[t] = whole(m->weight[t], SCOTCH_LOAD / load);
    for (size_t t = 0; t <= n; t++) w->start[t] = m->start[t];
    for (size_t i = 0; i < ends; i++) {
        w->neighbour[i] = m->neighbour[i];
        w->bytes[i] = whole(m->bytes[i], SCOTCH_BYTES / bytes);
    }
    for (int u = 0; u < m->units; u++) w->speed[u] = whole(1 / m->pace[u], SCOTCH_SPEED / speed);
    return 0;
}

/* Maps with one of its strategies, a balance ratio and a seed, on this thread
 * alone and with numbers of its own, so that the answer is always the same. 1:
 * it could not. */
static int scotch_map(const struct map_model *m, struct whole_graph *w, SCOTCH_Num strategy,
                      double ratio, int *owner) {
    SCOTCH_Context context;
    SCOTCH_Graph graph, bound;
    SCOTCH_Arch units;
    SCOTCH_Strat how;
    int failed = SCOTCH_contextInit(&context);
    if (failed) return 1;
    failed |= SCOTCH_contextRandomClone(&context);
    SCOTCH_contextRandomSeed(&context, 1);
    SCOTCH_contextRandomReset(&context);
    failed |= SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    failed |= SCOTCH_contextThreadSpawn(&context, 1, NULL);
    failed |= SCOTCH_graphInit(&graph) | SCOTCH_graphInit(&bound);
    failed |= SCOTCH_archInit(&units) | SCOTCH_stratInit(&how);
    if (!failed) {
        failed = SCOTCH_graphBuild(&graph, 0, m->tasks, w->start, NULL, w->weight, NULL,
                                   m->start[m->tasks], w->neighbour, w->bytes) ||
                 SCOTCH_archCmpltw(&units, m->units, w->speed) ||
                 SCOTCH_stratGraphMapBuild(&how, strategy, m->units, ratio) ||
                 SCOTCH_contextBindGraph(&context, &graph, &bound) ||
                 SCOTCH_graphMap(&bound, &units, &how, w->owner);
        SCOTCH_stratExit(&how);
        SCOTCH_archExit(&units);
        SCOTCH_graphExit(&bound);
        SCOTCH_graphExit(&graph);
    }
    SCOTCH_contextExit(&context);
    for (int t = 0; !failed && t < m->tasks; t++) {
        failed = w->owner[t] < 0 || w->owner[t] >= m->units;
        owner[t] = w->owner[t];
    }
    return failed;
}

/* The i-th of its mappings; 1: there is none. */
int map_scotch(const struct map_model *m, int i, int *owner) {
    static const struct {
        SCOTCH_Num strategy;
        double ratio;
    } kind[] = {
        {SCOTCH_STRATDEFAULT, 0.005},
        {SCOTCH_STRATBALANCE, 0.03},
        {SCOTCH_STRATQUALITY, 0.005},
        {SCOTCH_STRATQUALITY, 0.03},
    };
    struct whole_graph w;
    /* without links there is nothing to keep together; nor has a node of three tasks anything that
     * the simple candidates would not find. In both cases Scotch 7.0.3 loses memory */
    const int few = m->tasks < 4 && (m->is_part || m->routes.kinds);
    if (m->start[m->tasks] == 0 || few) return 1;
    if (i >= (int)(sizeof kind / sizeof *kind) || m->units < 2 || m->tasks < m->units ||
        whole_open(&w, m))
        return 1;
    pthread_mutex_lock(&scotch_lock);
    int failed = scotch_map(m, &w, kind[i].strategy, kind[i].ratio, owner);
    pthread_mutex_unlock(&scotch_lock);
    whole_close(&w);
    return failed || map_feed(m, owner);
}

#else

int map_scotch(const struct map_model *m, int i, int *owner) {
    (void)m, (void)i, (void)owner;
    return 1;
}

#endif
