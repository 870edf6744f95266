/* The same body twice in one place. */
#pragma once

#include "tdbem/mesh/mesh.h"

/* Refuses a component each of whose vertices lies on a vertex of one other component: equations
 * that are there twice have no one solution. Notes one whose vertices are all nearer than a tenth
 * of a mean edge. component[t]: of each triangle. EVN_USAGE, EVN_MEMORY. */
evn_status mesh_twice(struct mesh *mesh, const char *name, const int *component);
