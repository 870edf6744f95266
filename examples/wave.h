/* Common to wave.cpp and its kernels. A block has a layer of its neighbours' cells around it,
 * so that its rows have nx + 2 cells; `velocity` is two such planes, along x and along y. */
enum { NX, NY, AT_LEFT, AT_BOTTOM, SHAPE }; /* numbers of a block's shape: cells, and walls (1) */

#define PRESSURE(p, u, v, at, row) (p[at] - 0.4 * (u[at + 1] - u[at] + v[at + row] - v[at]))
#define ALONG_X(p, u, at)          (u[at] - 0.4 * (p[at] - p[at - 1]))
#define ALONG_Y(p, v, at, row)     (v[at] - 0.4 * (p[at] - p[at - row]))
