/* Cells of an octree over the vertices, all leaves of one level: cubes, of which those without
 * vertices are left out. Vertices are numbered along a curve through the cubes, so a cell has
 * consecutive ones.
 *
 * Two cells of one level are near if their cubes touch, else far. Each pair of vertices is either
 * in near leaves, or in one pair of far cells whose parents are near.
 *
 * Where there are planes a cell meets others' images, too, which are cells behind them. Planes go
 * through the middle of leaves' cubes, so a vertex on one is in the cube of its own image.
 */
#pragma once

#include "tdbem/mesh/mesh.h"
#include <stdint.h>
#include <stdlib.h>

enum { OCTREE_LEVELS = 12 };

struct cell {
    int begin, end;      /* vertices begin .. end-1 */
    int parent;          /* -1: the root */
    int child, children; /* of the next level, consecutive; leaves have none */
    int16_t at[3];       /* of its cube, in cubes of this level */
    int near, nears;     /* entries of `list`: cells of its level, itself among them */
    int far, fars;       /* likewise: cells of its level that its parent's near ones have; of the
                            root images of it */
};

struct octree {
    int level;                    /* of the leaves; the root is level 0 */
    int first[OCTREE_LEVELS + 2]; /* the first cell of each level; behind the leaves the end */
    double low[3], size;          /* the root's cube */
    struct cell *cell;
    int *list;           /* cell + image * octree_cells(), by images */
    int16_t (*place)[3]; /* [vertices]: the leaf's cube */
    int *leaf;           /* [vertices]: the leaf */
    int images;          /* behind planes */
    int flips[8];        /* [image]: axes across which it is turned, as bits */
    int turn[3];         /* the image of a leaf's cube p across an axis is turn - p */
};

/* Cells of all levels. */
static inline int octree_cells(const struct octree *o) { return o->first[o->level + 1]; }

/* Where the leaf's cube p is along an axis in an image. */
static inline int octree_turned(const struct octree *o, int axis, int image, int p) {
    return o->flips[image] >> axis & 1 ? o->turn[axis] - p : p;
}

/* Whether a vertex and an image of another (0: itself) are in near leaves. */
static inline int octree_near(const struct octree *o, int v, int w, int image) {
    for (int i = 0; i < 3; i++) {
        const int apart = o->place[v][i] - octree_turned(o, i, image, o->place[w][i]);
        if (apart < -1 || apart > 1) return 0;
    }
    return 1;
}

/* From the cube of a cell to that of another's image, both of one level, in leaves along the axis
 * where that is most: below two cubes of the level they touch. */
static inline int octree_apart(const struct octree *o, int level, const struct cell *a,
                               const struct cell *b, int image) {
    const int leaves = 1 << (o->level - level);
    int most = 0;
    for (int i = 0; i < 3; i++) {
        /* the lowest leaf of an image is that of the highest one */
        const int highest = o->flips[image] >> i & 1 ? leaves - 1 : 0;
        const int apart =
            a->at[i] * leaves - octree_turned(o, i, image, b->at[i] * leaves + highest);
        most = abs(apart) > most ? abs(apart) : most;
    }
    return most;
}

/* Width of the cubes of a level. */
static inline double octree_width(const struct octree *c, int level) {
    return c->size / (double)(1 << level);
}

/* Renumbers the mesh, along Hilbert's curve through a root cube of `size`, and makes cells with
 * leaves of level `level`. Size: at least the body's, where there are planes that and a leaf's.
 * EVN_MEMORY. */
evn_status octree_open(struct octree **out, struct mesh *mesh, double size, int level);
void octree_close(struct octree *octree);
