/* The matrices, from geometry to where the march needs them, within the memory that they may take.
 *
 * Ranges come first, so that all sizes are known. Then values are made, or read from a file, by
 * intervals of columns, which go to their places in the layout, the radiation stage, M_0 and the
 * points' k = 0, and are forgotten. Where the layout has no room, its blocks go to disk, and as
 * many as fit come back for good when all are made.
 */
#pragma once

#include "tdbem/problem.h"

/* Makes p->layout, stream, radiation, solver, now, and what the shape says of them. The problem has
 * its mesh, points and delta. EVN_USAGE: options, the file, the folder for scratch, or less memory
 * than is needed, all before anything is integrated; EVN_MEMORY, EVN_SYSTEM, EVN_STOPPED. */
evn_status matrices_open(tdbem *p);

/* matrices_open() over ranks (p->cluster), in two steps: the sizes of all blocks; and, once p->rank
 * has the rank of each, the columns of this rank's, by all ranks together. */
evn_status matrices_plan(tdbem *p);
evn_status matrices_make(tdbem *p);
void matrices_close(tdbem *p); /* what the first has begun */

/* The tasks and their weights alone: of many columns from some of them, without integrating. */
evn_status matrices_tasks(tdbem *p);

/* What the matrices will need, reckoned from some columns, without integrating. The problem is as
 * for matrices_open(), and stays so. */
struct matrices_needs {
    int kmax;
    double values;                /* of the matrices */
    double bytes;                 /* of the layout */
    double far_values, far_bytes; /* of the fast method's far field, if it is that */
    double memory;                /* of the process at most, where all is in memory */
    double least;                 /* likewise, where blocks go to disk as far as possible */
};
evn_status matrices_expect(tdbem *p, struct matrices_needs *out);
