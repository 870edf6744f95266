/* A tree of boxes around triangles that are neighbours along a space-filling curve, for searches
 * that would otherwise visit all triangles. */
#pragma once

#include "tdbem/mesh/mesh.h"

struct mesh_tree;

/* The mesh's corners must be vertices; it must outlive the tree and stay as it is. EVN_MEMORY. */
evn_status mesh_tree_open(struct mesh_tree **out, const struct mesh *mesh);
void mesh_tree_close(struct mesh_tree *tree);

/* Whether x is inside of an odd number of the components other than `but` (component[t] of each
 * triangle): 1 or 0; -1 where x is on one of them, or so near that rounding decides. */
int mesh_tree_odd(const struct mesh_tree *tree, const double x[3], const int *component, int but);

/* The first triangle that an edge of another one goes through, and that one: 1, and where; 0 if
 * there are none. What only touches, in points, edges or faces, is none. */
int mesh_tree_cut(const struct mesh_tree *tree, int *triangle, int *other, double where[3]);

/* The largest distance of x to a corner of the triangles; `best` if none is larger. */
double mesh_tree_farthest(const struct mesh_tree *tree, const double x[3], double best);

/* Calls look() for the triangles of leaves whose boxes are nearer to triangle t's than the reach,
 * which look() returns anew. */
void mesh_tree_near(const struct mesh_tree *tree, int triangle, double reach,
                    double (*look)(int triangle, void *arg), void *arg);
