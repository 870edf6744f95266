/* The mesh: a block for each leaf of a tree, and the faces between blocks. */
#pragma once

#include "adaptive/block.h"
#include "adaptive/quadtree.h"
#include <evener/exchange.h>

/* Beyond each side of a block. */
struct beyond {
    char coarser[SIDES], finer[SIDES]; /* 1: blocks of the next level above, below */
};

struct mesh {
    struct quadtree tree;
    double square; /* the side of the whole */
    struct block **block;
    struct beyond *beyond;
};

/* Opens a mesh of the roots, without values. -1: no memory. */
int adaptive_mesh_open(struct mesh *mesh, int roots, int levels, double square);
void adaptive_mesh_close(struct mesh *mesh);

/* A block of zeros, to be freed; NULL: no memory. */
struct block *mesh_new_block(void);

struct frame mesh_frame(const struct mesh *mesh, int leaf);
double mesh_finest(const struct mesh *mesh); /* side of the smallest cell there may be */

/* Goes on to the next tree: kept blocks stay where they are, born ones are new memory, or NULL
 * where `makes` is 0. `before` gets the blocks of before, whose gone ones mesh_forget() frees once
 * born blocks have their values. */
int mesh_change(struct mesh *mesh, struct change *change, int makes, struct mesh *before);
void mesh_forget(struct mesh *before, const struct change *change);

/* Values of a born block from its origins. */
void mesh_bear(struct mesh *mesh, int leaf, const struct change *change, const struct mesh *before);

/* Faces that write ghosts, and those that write finer fluxes, between blocks of which `born` (NULL:
 * all) has one at least. Doubles from the beginning of a block. */
struct faces {
    evn_face *ghost, *flux;
    int ghosts, fluxes;
};
int mesh_faces(const struct mesh *mesh, const char *born, struct faces *faces);
void adaptive_faces_close(struct faces *faces);
