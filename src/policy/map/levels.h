/* Multilevel scheme for `map` (Karypis and Kumar, "Multilevel k-way Partitioning Scheme for
 * Irregular Graphs", Journal of Parallel and Distributed Computing 48, 1998): coarsen the graph of
 * tasks level by level, bisect the coarsest until each unit has its share, and on the way back
 * improve the borders on each level under the model of repair.h.
 *
 * Random numbers come from an own generator with a fixed seed, and work is limited by counting, so
 * the same input gives the same answer everywhere. */
#pragma once

#include "policy/map/repair.h"

/* A graph: vertex v weighs weight[v], and entries start[v] .. start[v + 1] - 1 are its links. */
struct level {
    int n;
    int *start, *to;
    double *bytes, *weight;
    void *memory; /* block of all arrays; NULL: another owner */
};

/* Allocates a graph of n vertices with at most `ends` entries. 1: not enough memory. */
int level_open(struct level *g, int n, size_t ends);
void level_close(struct level *g);
double level_weight(const struct level *g);

/* A random integer, 0 to below - 1. */
static inline int level_draw(unsigned long long *seed, int below) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*seed >> 32) * (unsigned long long)below >> 32);
}

/* Joins pairs of vertices, those with much exchange for their weight first, up to the weight
 * `heaviest`; into[v] is v's vertex in the coarser graph. 1: not enough memory, and nothing to
 * close. */
int level_coarsen(const struct level *fine, double heaviest, unsigned long long *seed,
                  struct level *coarse, int *into);

/* Assigns the vertices to the units of `m` by recursive bisection; another seed makes another
 * assignment. 1: not enough memory. */
int level_bisect(const struct level *g, const struct map_model *m, unsigned long long seed,
                 int *owner);

/* Improvement of borders between units, by local searches under a limit of each unit's load. */
struct borders;
struct borders *borders_open(const struct map_model *m);
void borders_close(struct borders *b);
/* Goes to level g from the coarser one whose vertex into[v] v is in, NULL: from none; owner[]
 * becomes that of g's vertices. */
void borders_start(struct borders *b, const struct level *g, const int *into, int *owner);
/* Improves the level; `loose`: allowed excess of a unit over the mean, as a fraction. */
void borders_improve(struct borders *b, const struct level *g, int *owner, double loose);
