/* The mappings of Scotch as candidates of `map`. */
#include "policy/map/choice.h"
#include "base/library.h"
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scotch's own declarations as far as they are needed, of scotch.h 7.0: its objects are made and
 * freed by it, and its numbers are 32 bits wide, which is looked at when it is opened. */
typedef int32_t number;
typedef void object;

enum { STRATEGY_DEFAULT = 0, STRATEGY_QUALITY = 1, STRATEGY_BALANCE = 4, OPTION_DETERMINISTIC = 0 };

/* clang-format off */
#define CALLS(X) \
    X(int, numSizeof, (void)) \
    X(void, version, (int *, int *, int *)) \
    X(void, memFree, (void *)) \
    X(object *, contextAlloc, (void)) \
    X(int, contextInit, (object *)) \
    X(void, contextExit, (object *)) \
    X(int, contextRandomClone, (object *)) \
    X(void, contextRandomSeed, (object *, number)) \
    X(void, contextRandomReset, (object *)) \
    X(int, contextOptionSetNum, (object *, int, number)) \
    X(int, contextThreadSpawn, (object *, int, const int *)) \
    X(int, contextBindGraph, (object *, const object *, object *)) \
    X(object *, graphAlloc, (void)) \
    X(int, graphInit, (object *)) \
    X(void, graphExit, (object *)) \
    X(int, graphBuild, (object *, number, number, const number *, const number *, const number *, \
                        const number *, number, const number *, const number *)) \
    X(int, graphMap, (object *, const object *, object *, number *)) \
    X(object *, archAlloc, (void)) \
    X(int, archInit, (object *)) \
    X(void, archExit, (object *)) \
    X(int, archCmpltw, (object *, number, const number *)) \
    X(object *, stratAlloc, (void)) \
    X(int, stratInit, (object *)) \
    X(void, stratExit, (object *)) \
    X(int, stratGraphMapBuild, (object *, number, number, double))
/* clang-format on */

static struct calls {
#define X(answer, name, parameters) answer(*name) parameters;
    CALLS(X)
#undef X
} scotch;

static const char *const names_of_calls[] = {
#define X(answer, name, parameters) "SCOTCH_" #name,
    CALLS(X)
#undef X
        NULL};

static const char *refuse(void *const *call, char *text, size_t size) {
    struct calls c;
    int version, release, patch;
    memcpy(&c, call, sizeof c);
    c.version(&version, &release, &patch);
    if (version != 7)
        snprintf(text, size, "is Scotch %d.%d.%d, and 7 is needed", version, release, patch);
    else if (c.numSizeof() != (int)sizeof(number))
        snprintf(text, size, "has numbers of %d bits, and 32 are needed", 8 * c.numSizeof());
    else
        return NULL;
    return text;
}

/* Names in Debian, by Scotch's CMake files, by its Makefile. */
static const char *const names[] = {"libscotch-7.0.so", "libscotch.so.7.0", "libscotch.so", NULL};
static const struct library library = {
    "schedule: map cuts fewer bytes with Scotch",
    "EVENER_SCOTCH",
    names,
    "install libscotch-7.0, or set EVENER_SCOTCH to the file of its library",
    names_of_calls,
    refuse};

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static evn_status missing;
static char said[512]; /* version and file of the library, or the reason why there is none */

static void open_once(void) {
    void *call[sizeof names_of_calls / sizeof *names_of_calls];
    char file[256];
    _Static_assert(sizeof call == sizeof scotch + sizeof *call, "a pointer for each name");
    missing = library_open(&library, call, file, sizeof file);
    if (missing) {
        snprintf(said, sizeof said, "%s", evn_message());
        return;
    }
    int version, release, patch;
    memcpy(&scotch, call, sizeof scotch);
    scotch.version(&version, &release, &patch);
    snprintf(said, sizeof said, "%d.%d.%d, %s", version, release, patch, file);
}

evn_status map_scotch_open(void) {
    pthread_once(&opened, open_once);
    return missing;
}

evn_status map_scotch_look(char *text, size_t size) {
    if (map_scotch_open()) return evn_fail(missing, "%s", said);
    snprintf(text, size, "%s", said);
    return EVN_OK;
}

enum {
    SCOTCH_LOAD = 1 << 24, /* sum of the weights: Scotch's numbers are whole and 32 bits wide */
    SCOTCH_BYTES = 1 << 28,
    SCOTCH_SPEED = 1 << 14,
};

/* Protects Scotch's reader of strategies, which keeps its place in static memory. */
static pthread_mutex_t scotch_lock = PTHREAD_MUTEX_INITIALIZER;

struct whole_graph {
    number *start, *neighbour, *bytes, *weight, *speed, *owner;
};

static void whole_close(struct whole_graph *w) {
    free(w->start);
    free(w->neighbour);
    free(w->bytes);
    free(w->weight);
    free(w->speed);
    free(w->owner);
}

static number whole(double value, double scale) { return (number)fmax(1, value * scale); }

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

/* Objects of a mapping. */
struct mapping {
    object *context, *graph, *bound, *units, *how;
};

static void mapping_free(const struct mapping *x) {
    object *const all[] = {x->context, x->graph, x->bound, x->units, x->how};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) scotch.memFree(all[i]);
}

/* Makes the objects of a mapping. 1: not enough memory. */
static int mapping_make(struct mapping *x) {
    *x = (struct mapping){scotch.contextAlloc(), scotch.graphAlloc(), scotch.graphAlloc(),
                          scotch.archAlloc(), scotch.stratAlloc()};
    if (x->context && x->graph && x->bound && x->units && x->how) return 0;
    mapping_free(x);
    return 1;
}

/* Maps in a context that is open. */
static int map_within(const struct mapping *x, const struct map_model *m,
                      const struct whole_graph *w, number strategy, double ratio) {
    int failed = scotch.contextRandomClone(x->context);
    scotch.contextRandomSeed(x->context, 1);
    scotch.contextRandomReset(x->context);
    failed |= scotch.contextOptionSetNum(x->context, OPTION_DETERMINISTIC, 1);
    failed |= scotch.contextThreadSpawn(x->context, 1, NULL);
    failed |= scotch.graphInit(x->graph) | scotch.graphInit(x->bound);
    failed |= scotch.archInit(x->units) | scotch.stratInit(x->how);
    if (failed) return 1;
    failed = scotch.graphBuild(x->graph, 0, m->tasks, w->start, NULL, w->weight, NULL,
                               m->start[m->tasks], w->neighbour, w->bytes) ||
             scotch.archCmpltw(x->units, m->units, w->speed) ||
             scotch.stratGraphMapBuild(x->how, strategy, m->units, ratio) ||
             scotch.contextBindGraph(x->context, x->graph, x->bound) ||
             scotch.graphMap(x->bound, x->units, x->how, w->owner);
    scotch.stratExit(x->how);
    scotch.archExit(x->units);
    scotch.graphExit(x->bound);
    scotch.graphExit(x->graph);
    return failed;
}

/* Maps with one of its strategies, a balance ratio and a seed, on this thread
 * alone and with numbers of its own, so that the answer is always the same. 1:
 * it could not. */
static int scotch_map(const struct map_model *m, struct whole_graph *w, number strategy,
                      double ratio, int *owner) {
    struct mapping x;
    if (mapping_make(&x)) return 1;
    int failed = scotch.contextInit(x.context);
    if (!failed) {
        failed = map_within(&x, m, w, strategy, ratio);
        scotch.contextExit(x.context);
    }
    mapping_free(&x);
    for (int t = 0; !failed && t < m->tasks; t++) {
        failed = w->owner[t] < 0 || w->owner[t] >= m->units;
        owner[t] = w->owner[t];
    }
    return failed;
}

/* The i-th of Scotch's mappings; 1: there is none. */
int map_scotch(const struct map_model *m, int i, int *owner) {
    static const struct {
        number strategy;
        double ratio;
    } kind[] = {
        {STRATEGY_DEFAULT, 0.005},
        {STRATEGY_BALANCE, 0.03},
        {STRATEGY_QUALITY, 0.005},
        {STRATEGY_QUALITY, 0.03},
    };
    struct whole_graph w;
    /* a node of three tasks has nothing that the simple candidates would not find, and Scotch 7.0.3
     * loses memory there */
    if (m->tasks < 4 && (m->is_part || m->routes.kinds)) return 1;
    if (i >= (int)(sizeof kind / sizeof *kind) || whole_open(&w, m)) return 1;
    pthread_mutex_lock(&scotch_lock);
    int failed = scotch_map(m, &w, kind[i].strategy, kind[i].ratio, owner);
    pthread_mutex_unlock(&scotch_lock);
    whole_close(&w);
    return failed || map_feed(m, owner);
}
