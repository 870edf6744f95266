/* Symmetric quadrature rules on triangles, and which of them a pair of triangles gets. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>

struct rule {
    int points;
    double (*at)[3]; /* barycentric coordinates */
    double *weight;  /* sum 1: times the triangle's area */
};

/* Distance of two triangles in units of H, the sum of their radii (largest distance from the
 * centroid to a vertex); gap = distance of the centroids - H. */
enum nearness {
    TOUCHING, /* coincident, or sharing an edge or a vertex */
    NEAR,     /* gap < H */
    MIDDLE,   /* gap < 3 H */
    FAR,
    NEARNESS
};

/* One rule a nearness: 12, 7, 6 and 3 points; with quad > 0 16, 7, 6, 3 points on each of 4^quad
 * parts. */
struct quadrature {
    struct rule rule[NEARNESS];
};

/* `uniform` is 0, or the points of the one rule that all pairs get */
evn_status quadrature_open(struct quadrature *q, int uniform, int quad);
void quadrature_close(struct quadrature *q);

/* The rule of 3, 6, 7, 12 or 16 points (degrees 2, 4, 5, 6, 8), `quad` times refined. */
evn_status rule_open(struct rule *rule, int points, int quad);
void rule_close(struct rule *rule);
