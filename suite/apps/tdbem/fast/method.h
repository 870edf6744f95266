/* Which method computes: the plain one, with row-vectors between all pairs of vertices, or the fast
 * one, with those of near leaves of an octree and skeletons beyond (far.h). */
#ifndef TDBEM_FAST_METHOD_H
#define TDBEM_FAST_METHOD_H

#include "tdbem/problem.h"

enum method { METHOD_AUTO, METHOD_PLAIN, METHOD_FAST };

/* `auto`, `plain`, `fast`. EVN_USAGE. */
evn_status method_find(enum method *out, const char *name);

/* Decides, of a problem that has its mesh and delta, and for the fast method renumbers the vertices
 * and makes p->octree. auto: fast from METHOD_LEAST vertices on, plain where the fast one cannot do
 * what is asked for. EVN_USAGE: fast, and it cannot; EVN_MEMORY. */
enum { METHOD_LEAST = 2500 };
evn_status method_choose(tdbem *p);

/* Makes p->far, of this rank's rows. Errors as far_open(). */
evn_status method_make(tdbem *p, const struct slices_options *slices, int cores);

/* What the far field will need: values and bytes of its row-vectors, the bytes of skeletons and of
 * a march's state, from the cells alone; a tenth or two off. */
static const double METHOD_APART = 0.2; /* times as long as a near value takes a far one to be
                                           made, with skeletons */
struct method_needs {
    double values, bytes, state;
};
struct method_needs method_expect(const tdbem *p);

#endif
