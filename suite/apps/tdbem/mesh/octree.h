/* Cells of an octree over the vertices, all leaves of one level: cubes, of which those without
 * vertices are left out. Vertices are numbered along a curve through the cubes, so a cell has
 * consecutive ones.
 *
 * Two cells of one level are near if their cubes touch, else far. Each pair of vertices is either
 * in near leaves, or in one pair of far cells whose parents are near.
 */
#ifndef TDBEM_OCTREE_H
#define TDBEM_OCTREE_H

#include "tdbem/mesh/mesh.h"
#include <stdint.h>

enum { OCTREE_LEVELS = 12 };

struct cell {
    int begin, end;      /* vertices begin .. end-1 */
    int parent;          /* -1: the root */
    int child, children; /* of the next level, consecutive; leaves have none */
    int16_t at[3];       /* of its cube, in cubes of this level */
    int near, nears;     /* entries of `list`: cells of its level, itself among them */
    int far, fars;       /* likewise: cells of its level that its parent's near ones have */
};

struct octree {
    int level;                    /* of the leaves; the root is level 0 */
    int first[OCTREE_LEVELS + 2]; /* the first cell of each level; behind the leaves the end */
    double low[3], size;          /* the root's cube */
    struct cell *cell;
    int *list;
    int16_t (*place)[3]; /* [vertices]: the leaf's cube */
    int *leaf;           /* [vertices]: the leaf */
};

/* Whether two vertices are in near leaves. */
static inline int octree_near(const struct octree *o, int v, int w) {
    for (int i = 0; i < 3; i++) {
        const int apart = o->place[v][i] - o->place[w][i];
        if (apart < -1 || apart > 1) return 0;
    }
    return 1;
}

/* Width of the cubes of a level. */
static inline double octree_width(const struct octree *c, int level) {
    return c->size / (double)(1 << level);
}

/* Renumbers the mesh, along Hilbert's curve through a root cube of `size` (at least the body's),
 * and makes cells with leaves of level `level`. EVN_MEMORY. */
evn_status octree_open(struct octree **out, struct mesh *mesh, double size, int level);
void octree_close(struct octree *octree);

#endif
