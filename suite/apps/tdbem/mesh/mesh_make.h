/* Bodies made on request: `sphere:L` and `box:a,b,c,h`. */
#ifndef TDBEM_MESH_MAKE_H
#define TDBEM_MESH_MAKE_H

#include "tdbem/mesh/mesh.h"

/* whether `what` asks for one of them */
int mesh_made(const char *what);

/* EVN_USAGE: the specification is wrong; the message shows the right form. Not yet checked. */
evn_status mesh_make(struct mesh **out, const char *what);

/* Icosphere: the icosahedron's triangles cut in four `level` times (0 to 8), vertices on the unit
 * sphere; 10*4^level + 2 vertices. */
evn_status mesh_sphere(struct mesh **out, int level);

/* The box 0..size[0] x .. x 0..size[2], each side cut into about size/h squares of two triangles,
 * whose diagonals alternate. */
evn_status mesh_box(struct mesh **out, const double size[3], double h);

#endif
