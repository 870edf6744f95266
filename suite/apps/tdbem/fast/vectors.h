/* Row-vectors between vertices that are far from each other: of the plain method's operators, but
 * with points for hat functions in space (spots.h), and taps in time (taps.h). All have as many
 * taps. Nothing depends on how vertices are grouped.
 */
#pragma once

#include "tdbem/fast/spots.h"
#include "tdbem/fast/taps.h"
#include "tdbem/matrices/slices.h"

struct vectors {
    enum tdbem_problem problem;
    double eta, delta, damping; /* slices_damping() */
    const struct mesh *mesh;
    struct spots spots;
    struct taps taps;
};

/* highest: wave number; accuracy: relative, in the mean. The mesh must outlive it. EVN_MEMORY. */
evn_status vectors_open(struct vectors *out, const struct mesh *mesh,
                        const struct slices_options *options, double highest, double accuracy);
void vectors_close(struct vectors *vectors);

/* Row-vectors of some rows in some columns, in the room of those before; {0} at first. */
struct vectors_block {
    int *first;    /* [j * rows + i]: k of the first tap of the i-th row in the j-th column */
    double *value; /* [(j * rows + i) * taps.count]: of the taps, taps.apart steps apart */
    double *field; /* of the rows' spots, a lane each */
    size_t entries, fields;
};

struct vectors_side {
    const int *vertex;
    int count;
    struct spots_source is; /* of columns */
};

/* EVN_MEMORY. */
evn_status vectors_make(struct vectors_block *block, const struct vectors *vectors,
                        const struct vectors_side *row, const struct vectors_side *column);
void vectors_block_close(struct vectors_block *block);
