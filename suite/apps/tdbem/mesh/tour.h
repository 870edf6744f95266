/* A short way through all vertices, as the travelling salesman looks for. */
#pragma once

#include "tdbem/mesh/mesh.h"

/* at: the vertices along a first way, as along a curve; made shorter until no exchange of two of
 * its steps makes it so any more. EVN_MEMORY. */
evn_status mesh_tour(const struct mesh *mesh, int *at);
