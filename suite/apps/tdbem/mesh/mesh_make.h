/* Bodies made on request: `sphere:L`, `box:a,b,c,h` and `aircraft:N`. */
#pragma once

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

/* An aircraft of cubes, 60 to 400 edges of them from nose to tail, which are 1 apart; squares as
 * the box has them. Made so that 193 edges give the 23,962 vertices of the airplane of Bramas,
 * Coulaud and Sylvand, and, with steps of half a mean edge, its 341 matrices. */
evn_status mesh_aircraft(struct mesh **out, int edges);
