/* Cutting a plane polygon into triangles. */
#pragma once

/* Cuts a polygon of n corners, the points corner[0 .. n-1] of x, into n - 2 triangles of the same
 * corners and orientation: from its first corner where that will do, as always for convex ones,
 * else ear by ear. NULL; or why it cannot be cut, and where. */
const char *polygon_cut(const double (*x)[3], const int *corner, int n, int (*triangle)[3],
                        double where[3]);
