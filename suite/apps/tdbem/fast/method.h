/* Which method computes: the plain one, with row-vectors between all pairs of vertices, or the fast
 * one, with those of near leaves of an octree and skeletons beyond (far.h). */
#pragma once

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

/* Times as long as a value of the plain method take a far one to be made, with skeletons, and a
 * near one, which has ranges of its own and triangles at the border of near cells, of which a part
 * is used; and both in a step, with all that is not summation. */
static const double METHOD_APART = 0.3, METHOD_NEAR = 1.4, METHOD_STEP = 6, METHOD_APART_STEP = 3;

/* What the far field will need: values and bytes of its row-vectors, the bytes of skeletons and of
 * a march's state, from the cells and the skeletons of some leaves; a tenth or two off. EVN_MEMORY.
 */
struct method_needs {
    double values, bytes, state;
};
evn_status method_expect(const tdbem *p, const struct slices_options *slices,
                         struct method_needs *out);
