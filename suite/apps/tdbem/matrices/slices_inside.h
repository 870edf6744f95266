/* Data common to the generator's parts: the mesh in units of delta, in the order of work. */
#pragma once

#include "tdbem/matrices/shells.h"
#include "tdbem/matrices/slices.h"

/* Fields of a triangle as an outer one, structure of arrays. */
enum { FIELD_CORNER = 0, FIELD_NORMAL = 9, FIELD_CURL = 12, FIELD_AREA = 21, FIELDS = 22 };

/* Triangles are at places, along a space-filling curve; `triangle` gives their numbers in the mesh,
 * on which depends which of two is the outer one. */
struct body {
    const struct mesh *mesh;
    const struct octree *near; /* see slices_options */
    int vertices, triangles;
    int images; /* behind planes: image g of the triangle at a place is at place + g * triangles in
                   corner, centre, radius and inner; of vertex v at v + g * vertices in x */
    double delta;
    int *triangle;                 /* [place]: number of the triangle */
    int (*corner)[3];              /* [place]: vertices of the triangle */
    double (*centre)[3];           /* [place]: centre, in units of delta */
    double *radius;                /* [place]: largest distance of centre and corner */
    struct shells_triangle *inner; /* [place]: the triangle as the inner one */
    double *field[FIELDS];         /* [place]: numbers padded to whole vectors */
    double (*x)[3];                /* vertices in units of delta, about the middle of the body */
    double middle[3];              /* not yet in units of delta */
    int *ring_start, *ring;        /* places of the triangles around each vertex */
    int *star_start, *star;        /* vertices of these triangles, each once */
};

evn_status body_open(struct body *b, const struct mesh *mesh, double delta);
void body_close(struct body *b);

/* Whether a vertex and an image of another are to meet. */
static inline int body_meets(const struct body *b, int i, int j, int image) {
    return !b->near || octree_near(b->near, i, j, image);
}

/* Checks options; EVN_USAGE. */
evn_status options_check(const struct slices_options *o, const struct mesh *mesh);

enum shells_kind options_kind(const struct slices_options *o);

/* The power of delta that shells_pair()'s values are to be multiplied by. */
double options_scale(const struct slices_options *o);

/* The largest k that a shell up to rho = ceil(r/delta) adds to is ceil + options_reach(). */
static inline int options_reach(enum tdbem_problem problem, double eta) {
    return problem == TDBEM_RIGID ? 1 : eta > 0 ? 0 : -1;
}

/* Largest k that the body's matrices can have. EVN_USAGE: more than can be kept. */
evn_status ranges_kmax(int *kmax, const struct mesh *mesh, const struct slices_options *o);

/* M_0 by columns, before the skew lag, of a rigid body with thin parts: whether steps can be
 * trusted that have its skew-symmetric part a step later. EVN_MEMORY. */
evn_status lag_holds(const struct slices_csr *raw, int *holds);

/* Progress of the generation: work done before, and in all. */
struct span {
    const struct slices_options *options;
    double begun, share;
};
/* Says so; by one thread. Non-zero: stop. */
static inline int span_tell(const struct span *s, double done) {
    const struct slices_options *o = s->options;
    return o->progress && o->progress(s->begun + s->share * done, o->arg);
}

/* Computes first and count of k of the row-vectors of columns s->low .. s->high-1, all rows.
 * EVN_USAGE, EVN_MEMORY, EVN_STOPPED. */
evn_status ranges_find(struct slices *s, const struct body *b, const struct slices_options *o,
                       int cores, const struct span *span);

/* Of columns from .. to-1 of these alone, with rows of near leaves (options' `near`). */
evn_status ranges_find_near(struct slices *s, const struct body *b, const struct slices_options *o,
                            int cores, int from, int to);

/* Finds the ranges of `count` columns anywhere, one after another. */
evn_status ranges_sample(struct slices *s, const struct body *b, const struct slices_options *o,
                         int cores, const int *column, int count);

/* The range of one row-vector, i a vertex or vertices + the number of the point at x, which is in
 * units of delta about the middle. Returns 0, or more steps than can be kept. */
int range_one(uint16_t *first, uint8_t *count, const struct slices *s, const struct body *b, int i,
              const double x[3], int j);

/* EVN_USAGE: an entry has so many steps. */
evn_status range_too_far(const struct body *b, int steps);

/* Runs of the rows in leaves near to each column, and of the points; column[columns]: its vertex,
 * NULL: its number. An image is near only where the column itself is. EVN_MEMORY. */
evn_status ranges_runs(struct slices *s, const struct slices_options *options, const int *column);

/* Room for the ranges of columns from .. to-1, instead of others. EVN_MEMORY. */
evn_status ranges_room(struct slices *s, int from, int to);

/* Sizes as far as the ranges go that are there, for columns from `from` on: begin, longest, nnz and
 * kmax_points, which are known for those before. */
void ranges_measure(struct slices *s, int from, int vertices);

/* Distance of the triangles at two places, the second of which may be an image's. */
enum nearness pair_nearness(const struct body *b, int p, int q);

/* Loads a vector of outer triangles; `place` has LANES entries. */
void outer_load(struct shells_outer *o, const struct body *b, const int *place, int inner);
